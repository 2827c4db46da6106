package provide

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/provide/migration"
	"example.dev/ingestor/internal/report"
	"example.dev/ingestor/sink/portal"
)

// backstage holds the flags that select the Backstage to read.
type backstage struct{ url, tokenFile string }

func (b *backstage) bind(f *pflag.FlagSet) {
	f.StringVar(&b.url, "from", "", "`address` of Backstage's backend, such as https://backstage.example.org (required)")
	f.StringVar(&b.tokenFile, "from-token-file", "", "`file` with a token of Backstage (default: the token in "+envFrom+")")
}

// connect returns the Backstage, which has the same timeout and authorities as the portal.
// It sends no request yet.
func (b *backstage) connect(env *app.Env, like *connection) (*portal.Portal, error) {
	if b.url == "" {
		return nil, flags.Usagef("set --from, for example --from https://backstage.example.org", "no Backstage given")
	}
	c := connection{url: b.url, tokenFile: b.tokenFile, caFile: like.caFile, timeout: like.timeout, tokenFlag: "--from-token-file", tokenEnv: envFrom}
	return c.connect(env, portal.Options{Name: "Backstage"})
}

// failed returns the exit error if Backstage cannot be read; undone says what was not done.
func (b *backstage) failed(err error, undone string) error {
	hint := "try again; the catalog may have changed while it was read"
	if e, ok := errors.AsType[*portal.Error](err); ok {
		hint = b.hint(e)
	}
	return &app.Exit{Code: app.ExitFailed, Err: fmt.Errorf("%s: %w", undone, err), Hint: hint}
}

func (b *backstage) hint(e *portal.Error) string {
	if errors.Is(e, portal.ErrLarge) {
		return "check Backstage for an entity, or a task, of this size"
	}
	switch e.Problem {
	case portal.Unauthenticated:
		return "set --from-token-file or " + envFrom + " to a static token of backend.auth.externalAccess in Backstage, or to the token of a user"
	case portal.Forbidden:
		return "check that the token may read the catalog: catalog.entity.read and catalog.location.read, and scaffolder.task.read for --tasks"
	case portal.Missing, portal.Strange:
		return "set --from to the address of Backstage's backend (backend.baseUrl), without a sign-in proxy in front of it"
	}
	return e.Hint()
}

// reportFormats are the formats of reports of a migration.
var reportFormats = []string{report.Text, report.JSON, migration.Markdown}

// bindFormat defines the flag for the format of a report.
func bindFormat(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "output-format", report.Text, "`format` of the report: "+strings.Join(reportFormats, ", "))
	flags.Complete(cmd, map[string][]string{"output-format": reportFormats})
}

// parseReportFormat returns an error if there is no such format.
func parseReportFormat(name string) error {
	if slices.Contains(reportFormats, name) {
		return nil
	}
	return flags.Usagef("see --output-format in the help", "cannot use output format %q: want %s", name, strings.Join(reportFormats, ", "))
}

// present writes a report of a migration; all is the report as JSON.
func (p *push) present(sections []migration.Section, all any) error {
	if p.outputFormat == report.JSON {
		return p.writeJSON(all)
	}
	return p.write(migration.Write(sections, p.outputFormat, p.Out()))
}
