package flags

import (
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"example.dev/ingestor/internal/text"
)

// Help returns a hint to the help of a command.
func Help(cmd *cobra.Command) string { return "see " + cmd.CommandPath() + " --help" }

// Subcommand is for a command that takes a subcommand or nothing.
func Subcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return Usagef(Help(cmd), "unknown command %q%s", args[0], didYouMean("", meant(args[0], subcommands(cmd))))
}

// Files is for a command that takes files, and may have subcommands: it refuses a first
// argument that is not a file but a typo of a subcommand.
func Files(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	near := text.Nearest(args[0], subcommands(cmd))
	if near == "" {
		return nil
	}
	if _, err := os.Lstat(args[0]); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return Usagef(Help(cmd), "no file and no command is named %q%s", args[0], didYouMean("", near))
}

// NoArguments is for commands that take only flags.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return Usagef(Help(cmd), "cannot use argument %q: %s takes only flags", args[0], cmd.CommandPath())
}
