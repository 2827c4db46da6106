package portal

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/server"
	"example.dev/ingestor/internal/server/doctor"
	"example.dev/ingestor/internal/term"
)

// reportFormats are the output formats of doctor.
var reportFormats = []string{"text", "json"}

// newDoctor returns the command that checks the environment of the server.
func newDoctor(v *output.Output, paths *[]string) *cobra.Command {
	var format string
	var strict bool
	cmd := &cobra.Command{
		Use:   "doctor [options]",
		Short: "Check the database, the disk, the clocks, tasks, jobs and sources",
		Long: `Checks what the server depends on, whether it runs or not, and changes nothing:

  database   can be opened, and has the version that this program supports
  integrity  is not damaged: a SQLite file is read completely, which takes about
             a second for each GB; PostgreSQL is asked for damaged pages
  jobs       the queue is not damaged, no job is stuck, none failed in the last day
  clock      agrees with PostgreSQL and with clusters that have an address in
             the configuration
  tasks      none is stuck
  sources    could be read the last time
  disk       has space, and can be written to

Each line is ok, warning or error, the check, and what was found; the line below
says what to do.

Exit codes: 0 no errors, 1 the result could not be written, 2 errors (with --strict,
also warnings), 4 invalid flags or configuration.`,
		Example: `  # While the server runs, or while it is down
  portal-backend doctor

  # For monitoring
  portal-backend doctor --format json --strict`,
		Args: flags.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return examine(cmd.Context(), v, *paths, format, strict)
		},
	}
	cmd.Flags().StringVar(&format, "format", reportFormats[0], "`format` of the result: "+strings.Join(reportFormats, ", "))
	cmd.Flags().BoolVar(&strict, "strict", false, "fail on warnings too")
	flags.Complete(cmd, map[string][]string{"format": reportFormats})
	return cmd
}

func examine(ctx context.Context, v *output.Output, paths []string, format string, strict bool) error {
	if !slices.Contains(reportFormats, format) {
		return flags.Usagef("see "+Name+" doctor --help", "cannot use --format %q: want %s", format, strings.Join(reportFormats, " or "))
	}
	c, err := load(v, paths)
	if err != nil {
		return err
	}
	found := server.Examine(ctx, c, v.Env.Now)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	text, err := resultText(v, format, found)
	if err != nil {
		return err
	}
	if err := write(v, text); err != nil {
		return err
	}
	if worst := doctor.Worst(found); worst == doctor.Error || strict && worst == doctor.Warning {
		return &app.Exit{Code: app.ExitInvalid}
	}
	return nil
}

// resultText formats the result of the checks.
func resultText(v *output.Output, format string, found []doctor.Result) ([]byte, error) {
	if format == "json" {
		text, err := json.MarshalIndent(map[string]any{"status": doctor.Worst(found), "checks": found}, "", "  ")
		return append(text, '\n'), err
	}
	style := v.Out()
	colour := map[string]func(string) string{doctor.OK: style.Green, doctor.Warning: style.Yellow, doctor.Error: style.Red}
	var b strings.Builder
	for _, r := range found {
		fmt.Fprintf(&b, "%s %s: %s\n", colour[r.Status](r.Status), r.Check, term.Safe(r.Message))
		if r.Hint != "" {
			fmt.Fprintf(&b, "  %s\n", term.Safe(r.Hint))
		}
	}
	return []byte(b.String()), nil
}
