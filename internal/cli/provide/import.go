package provide

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/provide/migration"
	"example.dev/ingestor/sink/portal"
	"example.dev/ingestor/sink/spool"
)

// importProvider is the default provider of imported entities.
const importProvider = "backstage-import"

const nothingImported = "nothing was imported"

// importing is the command import.
type importing struct {
	*push
	from  backstage
	tasks string

	source *portal.Portal
}

func newImport(env *app.Env) *cobra.Command {
	m := &importing{push: &push{common: newCommon(env, nothingImported)}}
	cmd := &cobra.Command{
		Use:   "import [options]",
		Short: "Import the catalog of a Backstage",
		Long: `Imports the catalog of a running Backstage. Files that the portal can read are
registered as locations, so that their entities follow the files. Other entities,
such as users and groups of a directory, are pushed as they are now. Then it
prints what became of the entities of each kind, and what was left out and why.

Everything is read before anything changes: if Backstage does not answer, or its
list is not complete, nothing is imported. Importing again updates what has
changed, and removes pushed entities that Backstage no longer has.

Tasks are not imported. --tasks writes them to a file, one JSON object per line,
without parameters and steps, which may contain secrets.

Exit codes: 0 success, 1 failure, 2 the portal refused entities, 3 Backstage has
no entities, 4 invalid flags.`,
		Example: `  # See what would be imported
  portal-provide import --from https://backstage.example.org --from-token-file backstage.token --api-url http://localhost:7007 --dry-run

  # Import, and keep the history of tasks
  portal-provide import --from https://backstage.example.org --from-token-file backstage.token \
    --api-url https://portal.example.org --token-file token --tasks tasks.ndjson`,
		Args: flags.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := m.settle(flags.Given(cmd.Flags())); err != nil {
				return err
			}
			return m.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	m.from.bind(f)
	m.connection.bind(f, " (required)")
	f.StringVar(&m.provider, "provider", importProvider, "`name` of the provider that owns the pushed entities")
	f.StringVar(&m.tasks, "tasks", "", "`file` to write the tasks of Backstage to")
	f.BoolVar(&m.dryRun, "dry-run", false, "show what would be imported, and change nothing")
	f.BoolVar(&m.allowRemovals, "allow-removals", false, "allow the removal of more than half of the provider's entities")
	bindFormat(cmd, &m.outputFormat)
	m.Output.Bind(f)
	return cmd
}

func (m *importing) settle(given map[string]bool) (err error) {
	if err := m.common.settle(given, nil); err != nil {
		return err
	}
	if err := parseReportFormat(m.outputFormat); err != nil {
		return err
	}
	if m.source, err = m.from.connect(m.Env, &m.connection); err != nil {
		return err
	}
	m.portal, err = m.toPortal(portal.Options{Provider: m.provider})
	return err
}

// toPortal returns the portal that --api-url names.
func (p *push) toPortal(opts portal.Options) (*portal.Portal, error) {
	if p.url == "" {
		return nil, flags.Usagef("set --api-url, for example --api-url http://localhost:7007", "no portal given")
	}
	return p.connect(p.Env, opts)
}

func (m *importing) run(ctx context.Context) error {
	im := migration.NewImport(m.source, m.portal)
	defer im.Close() //nolint:errcheck // it is a temporary file
	reading := m.Progress("reading", "entities")
	err := im.Read(ctx, func(n int) { reading.Update(n, 0) })
	reading.Done()
	if err != nil {
		return m.from.failed(err, nothingImported)
	}
	if im.Len() == 0 {
		return &app.Exit{Code: app.ExitNothing, Err: errors.New(nothingImported + ": Backstage has no entities"), Hint: "check that the token may read the catalog"}
	}
	s, err := spool.New(spool.Options{})
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // it is a temporary file
	planning := m.Progress("checking", "entities")
	err = im.Plan(ctx, s, planning.Update)
	planning.Done()
	if err != nil {
		return m.failed(err)
	}
	r := im.Report()
	if err := m.history(ctx, r); err != nil {
		return err
	}
	if m.dryRun {
		r.DryRun = true
		r.Refuse(im.Foresee(s))
	} else if err := m.carryOut(ctx, im, s, r); err != nil {
		return err
	}
	if err := m.present(r.Sections(), r); err != nil {
		return err
	}
	if len(r.Refused) > 0 {
		return &app.Exit{Code: app.ExitInvalid}
	}
	return nil
}

// carryOut pushes entities, then registers locations. A location that the portal could
// not read before may contain entities that the provider has: the push releases them.
func (m *importing) carryOut(ctx context.Context, im *migration.Import, s *spool.Spool, r *migration.ImportReport) error {
	if err := m.deliver(ctx, im, s, r); err != nil {
		return err
	}
	done := 0
	for _, l := range im.Locations {
		if !l.Wanted() {
			continue
		}
		if _, err := m.portal.Register(ctx, l.Address()); err != nil {
			return &app.Exit{Code: app.ExitFailed, Err: fmt.Errorf("the entities were pushed, and %d of %d locations registered: %w", done, r.Registered, err), Hint: "run the import again; repeating it is safe"}
		}
		done++
	}
	return nil
}

// deliver pushes the entities. Without any, there is a push only if it removes something.
func (m *importing) deliver(ctx context.Context, im *migration.Import, s *spool.Spool, r *migration.ImportReport) error {
	if s.Len() == 0 {
		has, err := m.portal.Count(ctx)
		switch {
		case err != nil:
			return m.failed(err)
		case has == 0:
			return nil
		case !m.allowRemovals:
			return m.shrinks(&portal.ShrinkError{Provider: m.provider, Has: has})
		}
	}
	if err := m.guard(ctx, s.Len()); err != nil {
		return err
	}
	lines, err := s.Reader()
	if err != nil {
		return err
	}
	pushing := m.Progress("pushing", "entities")
	done, err := m.portal.Push(ctx, lines, portal.PushOptions{AllowEmpty: true})
	pushing.Done()
	if err != nil {
		return m.failed(err)
	}
	im.Refuse(done.Refused)
	r.Refuse(done.Refused)
	r.Push = &migration.Changes{Added: done.Added, Updated: done.Updated, Removed: done.Removed, Unchanged: done.Unchanged, Kept: done.Kept}
	return nil
}

// history adds the tasks of Backstage to the report, and writes them to a file if that
// was asked for.
func (m *importing) history(ctx context.Context, r *migration.ImportReport) error {
	if m.tasks == "" {
		n, err := migration.CountTasks(ctx, m.source)
		if err == nil {
			r.Tasks = &n
		} else if m.Detailed() {
			m.Sayf("tasks are not counted: %v", err)
		}
		return context.Cause(ctx)
	}
	if there, err := os.Lstat(m.tasks); err == nil && !there.Mode().IsRegular() {
		return &app.Exit{Code: app.ExitFailed, Err: fmt.Errorf("%s: cannot write tasks to %s: it is not a regular file", nothingImported, m.tasks), Hint: "set --tasks to a new file"}
	}
	// An earlier file stays until the new one is complete. Only its owner can read it.
	f, err := os.CreateTemp(filepath.Dir(m.tasks), filepath.Base(m.tasks)+".*")
	if err != nil {
		// The error names the temporary file.
		if e, ok := errors.AsType[*fs.PathError](err); ok {
			err = e.Err
		}
		return &app.Exit{Code: app.ExitFailed, Err: fmt.Errorf("%s: cannot write tasks to %s: %w", nothingImported, m.tasks, err)}
	}
	out := bufio.NewWriter(f)
	writing := m.Progress("writing", "tasks")
	n, err := migration.WriteTasks(ctx, m.source, out, writing.Update)
	writing.Done()
	err = errors.Join(err, out.Flush(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), m.tasks)
	}
	if err != nil {
		return m.from.failed(errors.Join(err, os.Remove(f.Name())), nothingImported)
	}
	r.Tasks, r.TasksFile = &n, m.tasks
	return nil
}
