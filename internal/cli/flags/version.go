package flags

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.dev/ingestor/internal/app"
)

// OnlyV reports whether -v is the only argument. That printed the version before -v
// became the short form of --verbose, so that scripts may still expect it.
func OnlyV(env *app.Env) bool { return slices.Equal(env.Args, []string{"-v"}) }

// PrintVersion prints the version, and a warning: for a program that can do nothing else with
// -v alone.
func PrintVersion(cmd *cobra.Command) error {
	if err := warnVersion(cmd, "-v alone prints the version, and is --verbose with other arguments; write --version"); err != nil {
		return err
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", cmd.Name(), cmd.Version)
	return err
}

// NoteVersion warns, if -v is the only argument, that it does not print the version: for a
// program that reads standard input then.
func NoteVersion(cmd *cobra.Command, env *app.Env) {
	if OnlyV(env) {
		_ = warnVersion(cmd, "-v is --verbose, and standard input is read; --version prints the version")
	}
}

func warnVersion(cmd *cobra.Command, text string) error {
	_, err := fmt.Fprintf(cmd.ErrOrStderr(), "%s: warning: %s\n", cmd.Name(), text)
	return err
}

// Deprecate hides the short form of a flag in help. The result reports whether the short form
// was used, once the flags are parsed.
func Deprecate(f *pflag.FlagSet, name string) (used func() bool) {
	w := new(written)
	// pflag writes to the output of the set only when a deprecated flag is used; cobra would
	// copy that to standard output.
	f.SetOutput(w)
	f.Lookup(name).ShorthandDeprecated = "use --" + name
	return func() bool { return bool(*w) }
}

// written is a writer that keeps whether something was written.
type written bool

// Write discards p.
func (w *written) Write(p []byte) (int, error) {
	*w = true
	return len(p), nil
}
