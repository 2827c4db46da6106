// Package flags holds the flags that several commands have, their parsing, and
// usage errors.
package flags

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.dev/ingestor/internal/app"
)

// Execute runs a command in env.
func Execute(ctx context.Context, env *app.Env, cmd *cobra.Command) error {
	cmd.SetArgs(env.Args)
	cmd.SetIn(env.Stdin)
	cmd.SetOut(env.Stdout)
	cmd.SetErr(env.Stderr)
	if len(env.Args) == 2 && env.Args[0] == manual {
		return writeManual(cmd, env.Args[1])
	}
	return cmd.ExecuteContext(ctx)
}

// Program completes the command of a program, which has all its flags and subcommands:
// flags are listed in the order in which they were declared, and errors are left to the
// caller.
func Program(root *cobra.Command) *cobra.Command {
	root.Version = app.BuildText()
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return Usage(unknownFlag(cmd, err), Help(cmd)) })
	for _, cmd := range append(root.Commands(), root) {
		cmd.Flags().SortFlags = false
		// The usage line already mentions the options.
		cmd.DisableFlagsInUseLine = true
	}
	return root
}

// Usage returns a usage error.
func Usage(err error, hint string) error {
	return &app.Exit{Code: app.ExitUsage, Err: err, Hint: hint}
}

// Usagef returns a usage error with a formatted message.
func Usagef(hint, format string, args ...any) error {
	return Usage(fmt.Errorf(format, args...), hint)
}

// Given returns the flags that were set, except boolean flags that were set to
// false.
func Given(f *pflag.FlagSet) map[string]bool {
	given := map[string]bool{}
	f.Visit(func(f *pflag.Flag) { given[f.Name] = f.Value.String() != "false" })
	return given
}

// Together returns an error if more than one of the flags was given.
func Together(given map[string]bool, names ...string) error {
	var found []string
	for _, n := range names {
		if given[n] {
			found = append(found, "--"+n)
		}
	}
	if len(found) < 2 {
		return nil
	}
	return Usage(errors.New("cannot use "+strings.Join(found, " and ")+" together"), "remove one of them")
}

// Complete registers the values of flags for shell completion. Flags that the
// command does not have are skipped.
func Complete(cmd *cobra.Command, values map[string][]string) {
	for flag, all := range values {
		if cmd.Flag(flag) == nil {
			continue
		}
		// It fails only for a flag that does not exist.
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(all, cobra.ShellCompDirectiveNoFileComp))
	}
}

// CompleteFiles makes shells complete the names of files with definitions.
func CompleteFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yaml", "yml", "json"}, cobra.ShellCompDirectiveFilterFileExt
}

// Pattern parses a regular expression for names; nil if text is empty.
func Pattern(flag, text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, Usagef(flag+" takes a regular expression of RE2", "cannot use name pattern %q: %w", text, err)
	}
	return re, nil
}
