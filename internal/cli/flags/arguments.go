package flags

import (
	"strings"

	"github.com/spf13/cobra"
)

// Help returns a hint to the help of a command.
func Help(cmd *cobra.Command) string { return "see " + cmd.CommandPath() + " --help" }

// Subcommand is for a command that takes a subcommand or nothing.
func Subcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := Help(cmd)
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "? " + Help(cmd)
	}
	return Usagef(hint, "unknown command %q", args[0])
}

// NoArguments is for commands that take only flags.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return Usagef(Help(cmd), "cannot use argument %q: %s takes only flags", args[0], cmd.CommandPath())
}
