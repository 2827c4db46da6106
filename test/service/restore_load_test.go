package service_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.dev/ingestor/internal/server/doctor"
	"example.dev/ingestor/test/postgres"
)

// waitingTemplate is a Template whose tasks run for a while.
const waitingTemplate = `{"apiVersion":"scaffolder.backstage.io/v1beta3","kind":"Template","metadata":{"name":"waiting"},"spec":{"type":"service","owner":"team-a",` +
	`"steps":[{"id":"before","action":"debug:log","input":{"message":"before"}},{"id":"wait","action":"debug:wait","input":{"milliseconds":500}},` +
	`{"id":"after","action":"debug:log","input":{"message":"after"}}]}}`

// load pushes entities and creates tasks until it is stopped.
type load struct {
	p *program

	mu sync.Mutex
	// stored are the references of entities, and tasks the ids of tasks, that the
	// program has acknowledged.
	stored, tasks []string

	stop func()
}

// startLoad starts a load, and waits until there is something to back up.
func startLoad(p *program) *load {
	p.t.Helper()
	if said := p.push([]byte(waitingTemplate)); !strings.Contains(said, `"added":1`) {
		p.t.Fatal(said)
	}
	ctx, cancel := context.WithCancel(p.t.Context())
	l := &load{p: p}
	var all sync.WaitGroup
	l.stop = func() { cancel(); all.Wait() }
	all.Go(func() { l.push(ctx) })
	all.Go(func() { l.createTasks(ctx) })
	p.until("enough to back up", func() error {
		if stored, tasks := l.acknowledged(); len(stored) < 30 || len(tasks) < 5 {
			return fmt.Errorf("%d entities and %d tasks", len(stored), len(tasks))
		}
		return nil
	})
	return l
}

// acknowledged returns the references of entities and the ids of tasks that
// the program has acknowledged so far.
func (l *load) acknowledged() (stored, tasks []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.stored), slices.Clone(l.tasks)
}

func (l *load) push(ctx context.Context) {
	for i := 0; ctx.Err() == nil; i++ {
		name := fmt.Sprint("pushed-", i)
		body := fmt.Appendf(nil, `{"apiVersion":"backstage.io/v1alpha1","kind":"Component","metadata":{"name":%q},"spec":{"type":"service","lifecycle":"x","owner":"team-a"}}`, name)
		if said, err := l.p.pushTo(name, body); err != nil || !strings.Contains(said, `"added":1`) {
			l.p.t.Errorf("push %d returned %s: %v", i, said, err)
			return
		}
		l.mu.Lock()
		l.stored = append(l.stored, "component:default/"+name)
		l.mu.Unlock()
	}
}

func (l *load) createTasks(ctx context.Context) {
	// More open tasks of one caller are refused.
	const most = 30
	for i := 0; ctx.Err() == nil && i < most; i++ {
		var made struct{ ID string }
		if _, err := l.p.ask(http.MethodPost, "/api/scaffolder/v2/tasks", strings.NewReader(`{"templateRef":"template:default/waiting","values":{}}`), &made); err != nil {
			l.p.t.Errorf("task %d: %v", i, err)
			return
		}
		l.mu.Lock()
		l.tasks = append(l.tasks, made.ID)
		l.mu.Unlock()
		// Some tasks are created during the backup.
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// TestRestoreUnderLoad backs up a service that handles pushes and tasks, kills
// it, and restores the backup. It checks that everything that was acknowledged
// before the backup began is there, that the database is intact, that tasks
// are completed, and that ingestion catches up.
func TestRestoreUnderLoad(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		s := setup{}
		s.onFile(t)
		restoreUnderLoad(t, s, backUpSQLite)
	})
	t.Run("pg", func(t *testing.T) {
		t.Parallel()
		pg := postgres.Start(t)
		s := setup{}
		s.database, _ = databaseOn(t, pg)
		restoreUnderLoad(t, s, func(t *testing.T, s setup) func() setup { return backUpPostgres(t, pg, s) })
	})
}

// restoreUnderLoad runs the test with a function that backs up the database of
// a running service, and returns one that restores it and returns the setup of
// the restored service.
func restoreUnderLoad(t *testing.T, s setup, backUp func(*testing.T, setup) func() setup) {
	source := t.TempDir()
	put(t, filepath.Join(source, "alphas.yaml"), definition("alphas", "one"))
	s.sections = composer(sections{"sources": []any{sections{"name": "files", "type": "file", "path": source}}})
	s.sections["scaffolder"] = sections{"secretKey": "a-key-of-the-tests-0123456789"}
	p := launch(t, s).ready()
	p.waitForRefs("kind=template", template("alphas"))
	l := startLoad(p)
	stored, tasks := l.acknowledged()
	restore := backUp(t, s)
	later, _ := l.acknowledged()
	l.stop()
	p.stop()
	t.Logf("%d entities and %d tasks were acknowledged before the backup, and %d entities during it", len(stored), len(tasks), len(later)-len(stored))

	put(t, filepath.Join(source, "betas.yaml"), definition("betas", "one"))
	s = restore()
	config := s.write(t, "127.0.0.1:1")
	if _, found := examined(t, config, "integrity"); found[0].Status != doctor.OK {
		t.Errorf("restored database is damaged: %+v", found[0])
	}
	again := launch(t, s).ready()
	found := again.uids()
	for _, ref := range stored {
		if found[ref] == "" {
			t.Errorf("%s was acknowledged before the backup, and is missing", ref)
		}
	}
	again.until("tasks of before", func() error {
		all := again.tasks()
		for _, id := range tasks {
			if all[id] == "" {
				t.Fatalf("task %s was acknowledged before the backup, and is missing", id)
			}
		}
		for id, status := range all {
			if status != "completed" {
				return fmt.Errorf("task %s is %s", id, status)
			}
		}
		return nil
	})
	again.until("the definition that was added later", func() error {
		if again.entity(template("betas")) == nil {
			return errors.New("an acknowledged entity is missing")
		}
		return nil
	})
	again.wantHealth("healthy", nil)
	again.checked()
	if code, out, errs := command(t.Context(), "doctor", "--config", config, "--strict"); code != 0 {
		t.Errorf("doctor --strict ended with exit code %d after the restore, want 0:\n%s%s", code, out, errs)
	}
}

// backUpSQLite backs up a database of SQLite as the handbook says.
func backUpSQLite(t *testing.T, s setup) func() setup {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "monday.sqlite")
	if code, out, errs := command(t.Context(), "backup", "--config", s.write(t, "127.0.0.1:1"), copied); code != 0 {
		t.Fatalf("backup ended with exit code %d:\n%s%s", code, out, errs)
	}
	return func() setup {
		folder := filepath.Dir(s.file())
		old, err := filepath.Glob(filepath.Join(folder, "portal*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range old {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
		for from, to := range map[string]string{"monday.sqlite": "portal.sqlite", "monday-jobs.sqlite": "portal-jobs.sqlite", "monday-tasks.key": "portal-tasks.key"} {
			data, err := os.ReadFile(filepath.Join(filepath.Dir(copied), from))
			if errors.Is(err, os.ErrNotExist) && from == "monday-tasks.key" {
				continue // The configuration has a key.
			}
			if err != nil {
				t.Fatal(err)
			}
			put(t, filepath.Join(folder, to), string(data))
		}
		return s
	}
}

// backUpPostgres backs up a database of PostgreSQL with the command that
// portal-backend prints, and restores it into a new database.
func backUpPostgres(t *testing.T, pg *postgres.Server, s setup) func() setup {
	t.Helper()
	// The user that runs pg_dump cannot write to the folders of the test.
	file := filepath.Join(pg.Dir, "monday.dump")
	_, _, errs := command(t.Context(), "backup", "--config", s.write(t, "127.0.0.1:1"), file)
	_, line, ok := strings.Cut(errs, "pg_dump ")
	if !ok {
		t.Fatalf("backup printed no pg_dump command: %s", errs)
	}
	line, _, _ = strings.Cut(line, "\n")
	args := strings.Fields(strings.ReplaceAll(line, "'", ""))
	if _, err := pg.Command(t.Context(), "pg_dump", args...); err != nil {
		t.Fatal(err)
	}
	return func() setup {
		at := pg.Database(t)
		u, err := url.Parse(at)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pg.Command(t.Context(), "pg_restore", "--exit-on-error", "--no-owner", "--dbname="+strings.TrimPrefix(u.Path, "/"), file); err != nil {
			t.Fatal(err)
		}
		s.database = maps.Clone(s.database.(sections))
		s.database.(sections)["connection"] = at
		return s
	}
}
