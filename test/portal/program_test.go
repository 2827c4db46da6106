package portal_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.dev/ingestor/test/postgres"
	"example.dev/ingestor/test/process"
)

// built is the folder of the program if a test has built it, and shared is the
// PostgreSQL server of tests that do not stop it.
var (
	built  string
	shared postgres.Shared
)

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		_ = os.RemoveAll(built)
	}
	os.Exit(shared.End(code))
}

// onBoth runs a test on SQLite and on PostgreSQL.
func onBoth(t *testing.T, test func(t *testing.T, database map[string]any)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, sqlite(t)) })
	t.Run("pg", func(t *testing.T) {
		test(t, pg(t, &shared))
	})
}

// pg returns the configuration of a new database on a PostgreSQL server.
func pg(t *testing.T, s interface{ Database(testing.TB) string }) map[string]any {
	return map[string]any{"client": "pg", "connection": s.Database(t)}
}

// build builds portal-backend, and composer-ingestor beside it, once.
var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "portal-backend-*")
	if err != nil {
		return "", err
	}
	built = dir
	path := filepath.Join(dir, "portal-backend")
	out, err := exec.Command("go", "build", "-o", dir+"/", "../../cmd/portal-backend", "../../cmd/composer-ingestor").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("cannot build portal-backend: %w\n%s", err, out)
	}
	return path, nil
})

// program is the portal as a separate process.
type program struct {
	caller
	*process.Process
	log *process.Log
}

// launch starts the program on a free port and waits until it is ready. It ends
// with the test at the latest. A limit other than 0 is the maximum size of a
// file in bytes.
func launch(t *testing.T, s setup, limit int) *program {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	// Another process may take the port before the program does.
	for range 3 {
		s.base = "http://" + closedPort(t)
		p := &program{caller: newCaller(t, s.base), log: &process.Log{}}
		args := []string{path, "--config", s.write(t)}
		if limit > 0 {
			// The shell counts blocks of 512 bytes.
			args = append([]string{"sh", "-c", fmt.Sprintf(`ulimit -f %d && exec "$0" "$@"`, limit/512)}, args...)
		}
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = t.TempDir()
		cmd.Stdout, cmd.Stderr = p.log, p.log
		if p.Process, err = process.Start(cmd); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Kill)
		if p.answers() {
			return p
		}
		t.Logf("program ended: %s", p.log.Tail())
	}
	t.Fatal("program does not start")
	return nil
}

// answers waits until the program is ready, and returns false if it ended.
func (p *program) answers() bool {
	p.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		select {
		case <-p.Ended():
			return false
		default:
		}
		r, err := p.try(call{path: "/health/ready", token: noToken})
		if err == nil && r.status == http.StatusOK {
			return true
		}
	}
	p.t.Fatalf("program is not ready after %v:\n%s", patience, p.log.Tail())
	return false
}

// checkRunning checks that the program runs and has not logged a panic.
func (p *program) checkRunning() {
	p.t.Helper()
	select {
	case <-p.Ended():
		p.t.Fatalf("program ended:\n%s", p.log.Tail())
	default:
	}
	if strings.Contains(p.log.String(), "goroutine ") {
		p.t.Errorf("program logged a stack trace:\n%s", p.log.Tail())
	}
}

// busy checks that a request returns 503 with Retry-After.
func (c caller) busy(x call) {
	c.t.Helper()
	r, err := c.try(x)
	if err != nil {
		c.t.Error(err)
		return
	}
	if r.status != http.StatusServiceUnavailable || r.header.Get("Retry-After") == "" {
		c.t.Errorf("got %d %s with Retry-After %q, want 503", r.status, brief(r.body), r.header.Get("Retry-After"))
	}
}

// pushing returns a push of n entities of a provider.
func pushing(provider string, n int) call {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = component(fmt.Sprintf("%s-%05d", provider, i))
	}
	return call{method: "PUT", path: "/api/catalog/providers/" + provider + "/entities", body: strings.Join(lines, "\n"), header: ndjson}
}

// TestDatabaseLocked holds the write lock of SQLite from another connection.
func TestDatabaseLocked(t *testing.T) {
	if testing.Short() {
		t.Skip("test waits for a lock timeout")
	}
	database := sqlite(t)
	p := launch(t, setup{database: database}, 0)
	p.want(pushing("first", 3), http.StatusOK, nil)
	path := database["connection"].(map[string]any)["filename"].(string) + "-shm"
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	// The offset of the lock in the file is part of the SQLite format.
	const writers = 120
	lock := func(kind int16) {
		t.Helper()
		if err := syscall.FcntlFlock(f.Fd(), syscall.F_SETLKW, &syscall.Flock_t{Type: kind, Start: writers, Len: 1}); err != nil {
			t.Fatal(err)
		}
	}
	lock(syscall.F_WRLCK)
	var waiting sync.WaitGroup
	waiting.Go(func() { p.busy(pushing("second", 3)) })
	if got := p.total(); got != 3 {
		t.Errorf("catalog has %d entities while writes are locked, want 3", got)
	}
	waiting.Wait()
	lock(syscall.F_UNLCK)
	p.want(pushing("second", 3), http.StatusOK, nil)
	if got := p.total(); got != 6 {
		t.Errorf("catalog has %d entities, want 6", got)
	}
	p.checkRunning()
}

// TestDatabaseFull limits the SQLite file and its journal, which has the migrations, to
// the size of some entities.
func TestDatabaseFull(t *testing.T) {
	database := sqlite(t)
	p := launch(t, setup{database: database}, 2<<20)
	p.want(pushing("first", 3), http.StatusOK, nil)
	for range 3 {
		p.busy(pushing("second", 5000))
	}
	if got := p.total(); got != 3 {
		t.Errorf("catalog has %d entities, want 3", got)
	}
	p.want(pushing("first", 2), http.StatusOK, nil)
	p.checkRunning()
	p.Kill()

	p = launch(t, setup{database: database}, 0)
	if got := p.total(); got != 2 {
		t.Errorf("catalog has %d entities after the limit was lifted, want 2", got)
	}
	p.want(pushing("second", 5000), http.StatusOK, nil)
	p.checkRunning()
}
