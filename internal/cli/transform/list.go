package transform

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/term"
)

func newList(v *output.Output) *cobra.Command {
	o := &rendering{}
	cmd := &cobra.Command{
		Use:   "list [options]",
		Short: "List the templates that definitions can choose",
		Long: `Lists the templates of a folder and the built-in ones: the name by which a
definition chooses each, where it comes from, and its purpose.`,
		Example: `  # The built-in templates
  xrd-transform list

  # With your own templates
  xrd-transform list --templates templates/`,
		Args: flags.NoArguments,
		RunE: body(func(_ context.Context, given map[string]bool, _ []string) error {
			if err := o.settleTemplates(given); err != nil {
				return err
			}
			return list(v, o.templates)
		}),
	}
	o.bindTemplates(cmd.Flags())
	return cmd
}

func list(v *output.Output, dir string) error {
	t, err := openTemplates(v, dir)
	if err != nil {
		return err
	}
	defer t.close()
	rows := make([][]string, 0, len(t.folder.Files()))
	for _, f := range t.folder.Files() {
		from := "built in"
		if f.Layer > 0 {
			from = filepath.Join(dir, f.Path)
		}
		rows = append(rows, []string{f.Group, term.Safe(f.Name), term.Safe(from), term.Safe(f.Description)})
	}
	_, err = fmt.Fprint(v.Env.Stdout, term.Table(rows, []string{"GROUP", "NAME", "FROM", "PURPOSE"}, v.Out()))
	return output.Failure(err)
}
