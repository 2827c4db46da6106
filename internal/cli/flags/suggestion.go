package flags

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.dev/ingestor/internal/text"
)

// unknownFlag returns the error of a flag that a command does not have, with the flag that was
// meant; it returns other errors as they are.
func unknownFlag(cmd *cobra.Command, err error) error {
	missing, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	group := missing.GetSpecifiedShortnames()
	if group == "" {
		name := missing.GetSpecifiedName()
		return fmt.Errorf("unknown flag --%s%s", name, didYouMean("--", meant(name, names)))
	}
	// After a single dash the rest of the argument, from the unknown letter on, may be a flag
	// that lacks a dash: -recursive is read as -r -e -c and so on.
	short, _ := utf8.DecodeRuneInString(group)
	name, _, _ := strings.Cut(group, "=")
	if len(name) == utf8.RuneLen(short) {
		return fmt.Errorf("unknown flag -%c", short)
	}
	return fmt.Errorf("unknown flag -%c%s", short, didYouMean("--", meant(name, names)))
}

// meant returns the name that a word is a typo or the beginning of, the shortest if there are
// several; empty if there is none.
func meant(word string, names []string) string {
	if near := text.Nearest(word, names); near != "" || len(word) < 3 {
		return near
	}
	best := ""
	for _, name := range names {
		if strings.HasPrefix(name, word) && (best == "" || len(name) < len(best)) {
			best = name
		}
	}
	return best
}

// didYouMean returns the end of a message that suggests a name; empty without one.
func didYouMean(dashes, name string) string {
	if name == "" {
		return ""
	}
	return "; did you mean " + dashes + name + "?"
}

// subcommands returns the names of the commands below a command.
func subcommands(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			names = append(names, c.Name())
		}
	}
	return names
}
