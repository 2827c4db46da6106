package service_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/portal"
	"example.dev/ingestor/internal/server/doctor"
	"example.dev/ingestor/test/postgres"
)

// command runs portal-backend with arguments, and returns its exit code,
// standard output and standard error.
func command(ctx context.Context, args ...string) (code int, out, errs string) {
	var stdout, stderr bytes.Buffer
	code = app.Run(ctx, portal.Name, &app.Env{
		Args: args, Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" }, Now: time.Now,
	}, portal.Run)
	return code, stdout.String(), stderr.String()
}

// examined runs doctor and returns its exit code and the results of one check.
func examined(t *testing.T, config, check string) (code int, found []doctor.Result) {
	t.Helper()
	code, out, errs := command(t.Context(), "doctor", "--config", config, "--format", "json")
	var all struct{ Checks []doctor.Result }
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		t.Fatalf("doctor printed %q and %q, want JSON: %v", out, errs, err)
	}
	for _, r := range all.Checks {
		if r.Check == check {
			found = append(found, r)
		}
	}
	if len(found) == 0 {
		t.Fatalf("doctor reported no check %s: %s", check, out)
	}
	return code, found
}

// TestBackup checks that a backup taken while the server handles writes can be
// used to start another server.
func TestBackup(t *testing.T) {
	t.Parallel()
	s := setup{}
	p := launch(t, s.onFile(t)).ready()
	ctx, stop := context.WithCancel(t.Context())
	written := make(chan int)
	go func() {
		n := 0
		for ; ctx.Err() == nil; n++ {
			body := fmt.Sprintf(`{"type":"url","target":"https://example.org/%d/catalog-info.yaml"}`, n)
			if _, err := p.ask(http.MethodPost, "/api/catalog/locations", strings.NewReader(body), nil); err != nil {
				t.Errorf("write %d: %v", n, err)
				break
			}
		}
		written <- n
	}()
	p.until("enough locations to back up", func() error {
		if got, err := p.refs("kind=location"); err != nil || len(got) < 20 {
			return fmt.Errorf("catalog has %d locations, want at least 20: %w", len(got), err)
		}
		return nil
	})
	config := s.write(t, "127.0.0.1:1")
	to := filepath.Join(t.TempDir(), "copy.sqlite")
	begun := time.Now()
	code, out, errs := command(t.Context(), "backup", "--config", config, to)
	took := time.Since(begun)
	stop()
	all := <-written
	if code != 0 || strings.Count(out, "copied ") != 3 {
		t.Fatalf("backup ended with exit code %d, want 0 and three copied files\n%s%s", code, out, errs)
	}
	t.Logf("backup took %v while %d writes were made", took, all)
	if took > 10*time.Second {
		t.Errorf("backup took %v, want at most 10 s", took)
	}
	for _, name := range []string{"copy.sqlite", "copy-jobs.sqlite", "copy-tasks.key"} {
		info, err := os.Stat(filepath.Join(filepath.Dir(to), name))
		if err != nil || info.Mode() != 0o600 {
			t.Errorf("mode of %s is %v, want 0600: %v", name, info, err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(to), ".*")); err != nil || len(left) > 0 {
		t.Errorf("temporary files %q were left behind, want none: %v", left, err)
	}
	if code, _, errs := command(t.Context(), "backup", "--config", config, to); code != 1 || !strings.Contains(errs, "file already exists\n  specify a file that does not exist") {
		t.Errorf("second backup to the same file ended with exit code %d, want 1 and a hint\n%s", code, errs)
	}
	restored := setup{database: sections{"client": "sqlite", "connection": sections{"filename": to}}}
	r := launch(t, restored).ready()
	if got, err := r.refs("kind=location"); err != nil || len(got) < 20 || len(got) > all {
		t.Errorf("restored catalog has %d of %d locations: %v", len(got), all, err)
	}
}

// TestBackupPostgres checks that backup prints the pg_dump command for
// PostgreSQL, without the password.
func TestBackupPostgres(t *testing.T) {
	t.Parallel()
	s := setup{database: sections{"client": "pg", "connection": "postgres://portal:s3cr3t@db.example.org:5433/portal?sslmode=require&password=s3cr3t"}}
	code, out, errs := command(t.Context(), "backup", "--config", s.write(t, "127.0.0.1:1"), "it's.dump")
	want := `pg_dump --format=custom --file='it'\''s.dump' --dbname='postgres://portal@db.example.org:5433/portal?sslmode=require'`
	if code != 4 || out != "" || !strings.Contains(errs, want) || strings.Contains(errs, "s3cr3t") {
		t.Errorf("backup ended with exit code %d, want 4\n%s\nwant %s", code, errs, want)
	}
}

// TestDoctor checks doctor against a running server, a stopped one, and one
// whose database file is damaged.
func TestDoctor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "alphas.yaml"), definition("alphas", "one"))
	s := setup{sections: composer(sections{"sources": []any{
		sections{"name": "files", "type": "file", "path": dir}, sections{"name": "gone", "type": "file", "path": dir + "/gone"},
	}})}
	p := launch(t, s.onFile(t)).ready()
	p.waitForRefs("", entities("alphas")...)
	p.until("first scan of both sources", func() error {
		for _, h := range p.health().Sources {
			if h.LastAttempt.IsZero() {
				return fmt.Errorf("source %s was not scanned", h.Name)
			}
		}
		return nil
	})
	config := s.write(t, "127.0.0.1:1")
	for _, when := range []string{"it runs", "it is down"} {
		code, found := examined(t, config, "sources")
		if code != 0 || len(found) != 1 || found[0].Status != doctor.Warning || !strings.Contains(found[0].Message, "gone: ") {
			t.Errorf("%s: doctor ended with exit code %d, want 0; sources %+v", when, code, found)
		}
		for _, check := range []string{"database", "integrity", "jobs", "tasks", "clock", "disk"} {
			if _, found := examined(t, config, check); found[0].Status != doctor.OK {
				t.Errorf("%s: check returned %+v, want OK", when, found)
			}
		}
		if code, _, _ := command(t.Context(), "doctor", "--config", config, "--strict"); code != 2 {
			t.Errorf("%s: doctor --strict ended with exit code %d, want 2", when, code)
		}
		if when == "it runs" {
			p.answers()
			if err := p.Stop(patience, os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	damage(t, s.file())
	if code, found := examined(t, config, "integrity"); code != 2 || found[0].Status != doctor.Error || !strings.Contains(found[0].Hint, "restore the last backup") {
		t.Errorf("doctor ended with exit code %d for a damaged file, want 2; integrity %+v", code, found)
	}
}

// damage overwrites the middle of a file.
func damage(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(bytes.Repeat([]byte{0xff}, int(info.Size()/2)), info.Size()/4); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestDoctorPostgres checks doctor against a server on PostgreSQL: as it is,
// with a newer schema version, and without the database.
func TestDoctorPostgres(t *testing.T) {
	t.Parallel()
	pg := postgres.Start(t)
	database, ask := databaseOn(t, pg)
	s := setup{database: database}
	launch(t, s).ready()
	config := s.write(t, "127.0.0.1:1")
	for _, check := range []string{"database", "integrity", "jobs", "tasks", "clock"} {
		if code, found := examined(t, config, check); code != 0 || found[0].Status != doctor.OK {
			t.Errorf("doctor ended with exit code %d, want 0; found %+v", code, found)
		}
	}
	ask("INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, true) RETURNING 'x'")
	if code, found := examined(t, config, "database"); code != 2 || found[0].Status != doctor.Error || !strings.Contains(found[0].Message, "version 9999") {
		t.Errorf("doctor ended with exit code %d for a newer schema version, want 2; found %+v", code, found)
	}
	pg.Kill()
	if code, found := examined(t, config, "database"); code != 2 || found[0].Status != doctor.Error || !strings.Contains(found[0].Hint, "PostgreSQL is running") {
		t.Errorf("without: exit code %d, %+v", code, found)
	}
}
