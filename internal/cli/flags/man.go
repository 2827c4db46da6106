package flags

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"example.dev/ingestor/internal/app"
)

// manual is the argument with which a release asks a program for its manual pages: a name
// that no file or subcommand has.
const manual = "__man"

// writeManual writes the manual pages of a program and its subcommands to a folder.
func writeManual(root *cobra.Command, dir string) error {
	date, err := time.Parse(time.DateOnly, app.Date)
	if err != nil {
		return fmt.Errorf("cannot write manual pages: the build has no date: %w", err)
	}
	root.DisableAutoGenTag = true
	header := &doc.GenManHeader{Section: "1", Source: root.Name() + " " + app.BuildVersion(), Manual: "User commands", Date: &date}
	if err := doc.GenManTree(root, header, dir); err != nil {
		return fmt.Errorf("cannot write manual pages: %w", err)
	}
	return nil
}
