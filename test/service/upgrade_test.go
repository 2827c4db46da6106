package service_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/server/doctor"
	"example.dev/ingestor/test/postgres"
)

// earlier is the folder of databases of earlier versions, which test/earlier
// has recorded.
const earlier = "testdata/earlier"

// recorded is what a database of an earlier version contains.
type recorded struct {
	Revision string
	// Entities are the uids of the entities by reference.
	Entities map[string]string
	// Tasks are the statuses of the tasks by id. One was killed while it ran.
	Tasks map[string]string
}

// earlierVersions are the recorded versions, and whether they ingest
// definitions.
var earlierVersions = map[string]struct {
	reason  string
	ingests bool
}{
	"first":      {reason: "the first version of portal-backend", ingests: false},
	"scaffolder": {reason: "the first version with tasks", ingests: true},
	"web":        {reason: "the first version with a user interface", ingests: true},
}

// TestUpgrade opens databases of earlier versions with this program. It checks
// that they are migrated, that entities keep their uids, that tasks are listed
// and the one that was killed is completed, that doctor finds nothing, and that
// a second start changes nothing.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		for name, v := range earlierVersions {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				upgrade(t, name, v.ingests, read(t, name, "sqlite"), restoreSQLite(t, name))
			})
		}
	})
	t.Run("pg", func(t *testing.T) {
		t.Parallel()
		pg := postgres.Start(t)
		// The server ends with this test, so that these do not run later.
		for name, v := range earlierVersions {
			t.Run(name, func(t *testing.T) { upgrade(t, name, v.ingests, read(t, name, "pg"), restorePostgres(t, pg, name)) })
		}
	})
}

// upgrade starts this program on a database of an earlier version, twice.
func upgrade(t *testing.T, name string, ingests bool, before recorded, database sections) {
	s := earlierSetup(t, name, ingests, database)
	config := s.write(t, "127.0.0.1:1")
	if _, found := examined(t, config, "database"); found[0].Status != doctor.Warning || !strings.HasPrefix(found[0].Hint, "back up the database, then start") {
		t.Errorf("doctor reports %+v about the old database, want a warning", found[0])
	}
	upgraded := time.Now()
	first := launch(t, s).ready()
	if diff := gocmp.Diff(before.Entities, first.uids()); diff != "" {
		t.Errorf("entities right after the upgrade (-before +after):\n%s", diff)
	}
	first.tasksOver(before)
	if ingests {
		first.ran("composerIngestor/sources/examples", upgraded)
		first.wantHealth("healthy", nil)
	}
	first.locationsRead()
	settled := first.waitUntilStable()
	if diff := gocmp.Diff(before.Entities, first.uids()); diff != "" {
		t.Errorf("entities after ingestion (-before +after):\n%s", diff)
	}
	first.checked()
	if code, out, errs := command(t.Context(), "doctor", "--config", config, "--strict"); code != 0 {
		t.Errorf("doctor --strict ended with exit code %d after the upgrade, want 0:\n%s%s", code, out, errs)
	}
	tasks := first.tasks()
	if err := first.Stop(patience, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}

	began := time.Now()
	second := launch(t, s).ready()
	if ingests {
		wroteNothing(t, "second start", second.ran("composerIngestor/sources/examples", began), 0)
		second.wantHealth("healthy", nil)
	}
	second.locationsRead()
	if diff := gocmp.Diff(settled, second.waitUntilStable()); diff != "" {
		t.Errorf("entities after a second start (-first +second):\n%s", diff)
	}
	if diff := gocmp.Diff(tasks, second.tasks()); diff != "" {
		t.Errorf("tasks after a second start (-first +second):\n%s", diff)
	}
}

// earlierSetup returns the setup of an earlier version on a database.
func earlierSetup(t *testing.T, name string, ingests bool, database sections) setup {
	t.Helper()
	s := setup{database: database, sections: sections{
		// The recorded folder does not exist here. What cannot be read stays.
		"catalog": sections{"locations": []any{sections{"type": "file", "target": "/srv/portal/examples/catalog/*.yaml"}}},
		// Years may have passed since the tasks were recorded.
		"scaffolder": sections{"keepTasks": "0s"},
	}}
	if ingests {
		folder := t.TempDir()
		unpackExamples(t, name, folder)
		s.sections["composerIngestor"] = sections{"sources": []any{sections{"name": "examples", "type": "file", "path": folder, "recursive": false}}}
	}
	return s
}

// locationsRead waits until both recorded locations were read, which fails and
// is noted on their entities.
func (p *program) locationsRead() {
	p.t.Helper()
	p.until("locations are read", func() error {
		if n := p.warnings("location has problems"); n < 2 {
			return fmt.Errorf("%d were", n)
		}
		return nil
	})
}

// uids returns the uids of all entities by reference.
func (s *service) uids() map[string]string {
	s.t.Helper()
	out := s.stamps("")
	for ref, stamp := range out {
		out[ref], _, _ = strings.Cut(stamp, " ")
	}
	return out
}

// tasks returns the statuses of all tasks by id.
func (s *service) tasks() map[string]string {
	s.t.Helper()
	var all struct{ Tasks []struct{ ID, Status string } }
	if _, err := s.get("/api/scaffolder/v2/tasks", &all); err != nil {
		s.t.Fatal(err)
	}
	out := map[string]string{}
	for _, task := range all.Tasks {
		out[task.ID] = task.Status
	}
	return out
}

// checked waits until all definitions were checked for findings.
func (s *service) checked() {
	s.t.Helper()
	s.until("check of all definitions", func() error {
		var all struct{ Pending int }
		if _, err := s.get("/api/composer-ingestor/findings", &all); err != nil {
			return err
		}
		if all.Pending > 0 {
			return fmt.Errorf("%d definitions are not checked", all.Pending)
		}
		return nil
	})
}

// tasksOver waits until the recorded tasks are over: those that were over are
// as they were, and the one that was killed has completed, without its first
// step being repeated.
func (s *service) tasksOver(before recorded) {
	s.t.Helper()
	want, killed := maps.Clone(before.Tasks), ""
	for id, status := range want {
		if status == "processing" {
			killed, want[id] = id, "completed"
		}
	}
	s.until("tasks of before", func() error {
		if diff := gocmp.Diff(want, s.tasks()); diff != "" {
			return errors.New(diff)
		}
		return nil
	})
	if killed == "" {
		return
	}
	var events []struct{ Body struct{ Message string } }
	if _, err := s.get("/api/scaffolder/v2/tasks/"+killed+"/events", &events); err != nil {
		s.t.Fatal(err)
	}
	count := map[string]int{}
	for _, e := range events {
		for _, text := range []string{"before the kill", "after the kill"} {
			if e.Body.Message == text {
				count[text]++
			}
		}
	}
	if count["before the kill"] != 1 || count["after the kill"] != 1 {
		s.t.Errorf("steps of the killed task logged %v, want each message once: %+v", count, events)
	}
}

// read returns what a recorded database contains.
func read(t *testing.T, name, client string) (out recorded) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(earlier, name+"."+client+".json"))
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Entities) == 0 {
		t.Fatalf("version %s has no entities", name)
	}
	return out
}

// unpacked returns the contents of a compressed file, nil if there is none.
func unpacked(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join(earlier, name+".gz"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// restoreSQLite puts the files of a recorded database into a folder of the
// test, and returns the section backend.database.
func restoreSQLite(t *testing.T, name string) sections {
	t.Helper()
	folder := t.TempDir()
	for from, to := range map[string]string{
		name + ".sqlite": "portal.sqlite", name + "-jobs.sqlite": "portal-jobs.sqlite", name + "-tasks.key": "portal-tasks.key",
	} {
		if data := unpacked(t, from); data != nil {
			put(t, filepath.Join(folder, to), string(data))
		}
	}
	return sections{"client": "sqlite", "connection": sections{"filename": filepath.Join(folder, "portal.sqlite")}}
}

// restorePostgres restores a recorded dump into a new database, and returns the
// section backend.database.
func restorePostgres(t *testing.T, pg *postgres.Server, name string) sections {
	t.Helper()
	at := pg.Database(t)
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	// The user that runs psql cannot read the folders of the test.
	file := filepath.Join(pg.Dir, name+".sql")
	if err := os.WriteFile(file, unpacked(t, name+".sql"), 0o644); err != nil { //nolint:gosec // It has no secrets.
		t.Fatal(err)
	}
	if _, err := pg.Command(t.Context(), "psql", "-d", strings.TrimPrefix(u.Path, "/"), "-qX", "-v", "ON_ERROR_STOP=1", "-f", file); err != nil {
		t.Fatal(err)
	}
	return sections{"client": "pg", "connection": at}
}

// unpackExamples writes the definitions that a version ingested.
func unpackExamples(t *testing.T, name, folder string) {
	t.Helper()
	r := tar.NewReader(bytes.NewReader(unpacked(t, name+"-examples.tar")))
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(folder, filepath.Base(h.Name)), string(data))
	}
}
