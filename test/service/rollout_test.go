package service_test

import (
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/server/doctor"
	"example.dev/ingestor/test/postgres"
)

// newerVersion does to a database what the migration of a newer version would
// do: it adds tables and columns, and raises the version.
const newerVersion = `CREATE TABLE future (id text PRIMARY KEY);
ALTER TABLE entities ADD COLUMN future text; ALTER TABLE tasks ADD COLUMN future text NOT NULL DEFAULT '';
INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, true) RETURNING 'x'`

// TestRollout has a newer version migrate the database of two running
// replicas. They must go on reading and writing, ingesting and running tasks
// until they are replaced, and must be refused once they restart.
func TestRollout(t *testing.T) {
	t.Parallel()
	pg := postgres.Start(t)
	database, ask := databaseOn(t, pg)
	source := t.TempDir()
	put(t, filepath.Join(source, "alphas.yaml"), definition("alphas", "one"))
	s := setup{database: database, sections: composer(sections{"sources": []any{sections{"name": "files", "type": "file", "path": source}}})}
	first, second := launch(t, s).ready(), launch(t, s).ready()
	if said := first.push([]byte(waitingTemplate)); !strings.Contains(said, `"added":1`) {
		t.Fatal(said)
	}
	first.until("the definition", func() error { return first.has("alphas") })
	var running struct{ ID string }
	if _, err := first.ask(http.MethodPost, "/api/scaffolder/v2/tasks", strings.NewReader(`{"templateRef":"template:default/waiting","values":{}}`), &running); err != nil {
		t.Fatal(err)
	}

	ask(newerVersion)
	for _, p := range []*program{first, second} {
		if said, err := p.pushTo("after-"+fmt.Sprint(p.PID()), fmt.Appendf(nil, `{"apiVersion":"backstage.io/v1alpha1","kind":"Component","metadata":{"name":"after-%d"},"spec":{"type":"service","lifecycle":"x","owner":"team-a"}}`, p.PID())); err != nil || !strings.Contains(said, `"added":1`) {
			t.Errorf("push to a replica of the old version returned %s: %v", said, err)
		}
		var made struct{ ID string }
		if _, err := p.ask(http.MethodPost, "/api/scaffolder/v2/tasks", strings.NewReader(`{"templateRef":"template:default/waiting","values":{}}`), &made); err != nil {
			t.Error(err)
		}
	}
	put(t, filepath.Join(source, "betas.yaml"), definition("betas", "one"))
	first.until("the definition that was added after the migration", func() error { return second.has("betas") })
	first.until("tasks", func() error { return completed(first.tasks(), 3) })
	first.ready()
	first.refusesNewer(t, s, ask)
	second.answers()
	second.ready()
}

// has returns an error unless a definition is in the catalog.
func (s *service) has(name string) error {
	if s.entity(template(name)) == nil {
		return errors.New("definition is missing")
	}
	return nil
}

// completed returns an error unless there are n tasks, all of them completed.
func completed(tasks map[string]string, n int) error {
	if len(tasks) != n {
		return fmt.Errorf("portal lists %d tasks, want %d", len(tasks), n)
	}
	for id, status := range tasks {
		if status != "completed" {
			return fmt.Errorf("task %s is %s", id, status)
		}
	}
	return nil
}

// refusesNewer restarts a replica, and checks that it refuses a database of a
// newer version with both versions and what to do, and changes nothing.
func (p *program) refusesNewer(t *testing.T, s setup, ask func(string) string) {
	t.Helper()
	p.stop()
	before := ask("SELECT max(version_id) FROM goose_db_version")
	again := launch(t, s)
	select {
	case <-again.Ended():
	case <-time.After(patience):
		t.Fatal("restarted replica of the old version still runs, want it to end")
	}
	exit, ok := errors.AsType[*exec.ExitError](again.Err())
	log := again.log.String()
	for _, want := range []string{"portal-backend: cannot open the database: database has version 9999, and this program supports ", "use a newer program, or restore a backup from before the upgrade"} {
		if !ok || exit.ExitCode() != 1 || !strings.Contains(log, want) {
			t.Errorf("restarted replica ended with %v and logged\n%s\nwant %q", again.Err(), log, want)
		}
	}
	if after := ask("SELECT max(version_id) FROM goose_db_version"); after != before {
		t.Errorf("restarted replica changed the version from %s to %s", before, after)
	}
	if code, found := examined(t, s.write(t, "127.0.0.1:1"), "database"); code != 2 || found[0].Status != doctor.Error || !strings.Contains(found[0].Message, "version 9999") {
		t.Errorf("doctor ended with exit code %d, want 2; found %+v", code, found)
	}
}

// TestTwoVersions runs replicas of two versions on one database, as a rolling
// update does. It checks that no task runs twice, and that the replicas do not
// rebuild each other's entities forever.
func TestTwoVersions(t *testing.T) {
	t.Parallel()
	pg := postgres.Start(t)
	database, _ := databaseOn(t, pg)
	source := t.TempDir()
	for _, name := range []string{"alphas", "betas", "gammas"} {
		put(t, filepath.Join(source, name+".yaml"), definition(name, "one"))
	}
	sections := composer(sections{"sources": []any{sections{"name": "files", "type": "file", "path": source}}})
	older := start(t, setup{database: database, sections: sections, build: "v1"})
	older.waitForRefs("", entities("alphas", "betas", "gammas")...)
	before := older.waitUntilStable()
	newer := start(t, setup{database: database, sections: sections, build: "v2"})
	newer.wantHealth("healthy", nil)
	if diff := gocmp.Diff(before, newer.waitUntilStable()); diff != "" {
		t.Errorf("entities with replicas of two versions (-before +after):\n%s", diff)
	}
	if said := newer.push([]byte(waitingTemplate)); !strings.Contains(said, `"added":1`) {
		t.Fatal(said)
	}
	const each = 8
	for range each {
		for _, s := range []*service{older, newer} {
			if _, err := s.ask(http.MethodPost, "/api/scaffolder/v2/tasks", strings.NewReader(`{"templateRef":"template:default/waiting","values":{}}`), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	newer.until("tasks", func() error { return completed(older.tasks(), 2*each) })
	for id := range newer.tasks() {
		var events []struct{ Body struct{ Message string } }
		if _, err := newer.get("/api/scaffolder/v2/tasks/"+id+"/events", &events); err != nil {
			t.Fatal(err)
		}
		count := map[string]int{}
		for _, e := range events {
			count[e.Body.Message]++
		}
		if count["before"] != 1 || count["after"] != 1 {
			t.Errorf("steps of task %s logged %v, want each message once", id, count)
		}
	}
	older.stop()
	// If the older replica built the units last, the newer one builds them once more.
	const files = "composerIngestor/sources/files"
	first := newer.scan(files)
	if first.Changed != 0 && first.Changed != 3 {
		t.Errorf("first scan after the rollout built %d units, want none or all", first.Changed)
	}
	wroteNothing(t, "first scan after the rollout", first, first.Changed)
	wroteNothing(t, "second scan after the rollout", newer.scan(files), 0)
}
