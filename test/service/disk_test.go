package service_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// mounting returns the command that runs a program with file systems of its
// own, which the command prepare mounts.
func mounting(t *testing.T, prepare string) []string {
	t.Helper()
	unshare := []string{"--user", "--map-root-user", "--mount", "sh", "-ec"}
	if out, err := exec.Command("unshare", append(unshare, "mount -t tmpfs -o size=1m tmpfs /tmp")...).CombinedOutput(); err != nil {
		t.Skipf("cannot mount a file system for a single process: %v\n%s", err, out)
	}
	return slices.Concat([]string{"unshare"}, unshare, []string{prepare + `; exec "$0" "$@"`})
}

// onDisk starts a service whose database is on a file system of its own. The
// command prepare mounts it at $DISK.
func onDisk(t *testing.T, prepare string, more sections) (p *program, disk string) {
	t.Helper()
	wrapper := mounting(t, prepare)
	disk = filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	p = launch(t, setup{
		database:    sections{"client": "sqlite", "connection": sections{"filename": filepath.Join(disk, "portal.sqlite")}},
		environment: []string{"DISK=" + disk}, wrapper: wrapper, sections: more,
	})
	return p, fmt.Sprintf("/proc/%d/root%s", p.PID(), disk)
}

// TestBadDiskAtStart checks that a service that cannot start because of its
// disk prints a hint.
func TestBadDiskAtStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ prepare, says string }{
		"Full":     {`mount -t tmpfs -o size=300k tmpfs "$DISK"`, "free disk space"},
		"ReadOnly": {`mount -t tmpfs -o ro tmpfs "$DISK"`, "check whether the disk is mounted read-only"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := onDisk(t, c.prepare, nil)
			select {
			case <-p.Ended():
			case <-time.After(time.Minute):
				t.Fatal("program still runs after a minute, want it to end")
			}
			if said := p.log.String(); !strings.Contains(said, "portal-backend: cannot ") || !strings.Contains(said, c.says) || p.Err() == nil {
				t.Errorf("program ended with %v and printed\n%s\nwant a hint with %q", p.Err(), said, c.says)
			}
		})
	}
}

// TestDiskFills fills the disk of a running service. It checks that reads still
// work, writes fail with 503, and writes work again once there is space.
func TestDiskFills(t *testing.T) {
	t.Parallel()
	source := t.TempDir()
	put(t, filepath.Join(source, "alphas.yaml"), definition("alphas", "one"))
	p, disk := onDisk(t, `mount -t tmpfs -o size=40m tmpfs "$DISK"`, composer(sections{"sources": []any{sections{"name": "files", "type": "file", "path": source}}}))
	p.ready()
	p.waitForRefs("", entities("alphas")...)
	pushed := func(name string) (string, error) {
		said := p.push(fmt.Appendf(nil, `{"apiVersion":"backstage.io/v1alpha1","kind":"Component","metadata":{"name":%q,"description":%q},"spec":{"type":"service","lifecycle":"production","owner":"team-a"}}`+"\n",
			name, strings.Repeat(name+" ", 200)))
		if !strings.Contains(said, `"added":1`) {
			return said, errors.New(said)
		}
		return said, nil
	}
	if said, err := pushed("before"); err != nil {
		t.Fatal(said)
	}
	filler := filepath.Join(disk, "filler")
	f, err := os.Create(filler)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	refused := ""
	for i := 0; refused == ""; i++ {
		if i == 1000 {
			t.Fatal("a thousand writes to a full disk succeeded")
		}
		if said, err := pushed(fmt.Sprint("during-", i)); err != nil {
			refused = said
		}
	}
	if !strings.Contains(refused, "503") || !strings.Contains(refused, "The disk of the database is full, and nothing was stored; free disk space, then try again") {
		t.Errorf("write to a full disk returned %s, want 503 and what to do", refused)
	}
	if status, err := p.get("/health/ready", nil); status != http.StatusServiceUnavailable || !strings.Contains(err.Error(), "The portal is not ready: the disk of the database is full") {
		t.Errorf("readiness with a full disk is %d (%v), want 503 and the reason", status, err)
	}
	p.until("a message with a hint in the log", func() error {
		if p.warnings("the database is not available: the disk is full") == 0 || p.warnings("nothing was lost; a running server recovers by itself") == 0 {
			return errors.New("no message")
		}
		return nil
	})
	for _, path := range []string{"/api/catalog/entities?limit=1", "/api/catalog/entities/by-name/template/default/alphas.platform.example.org", "/api/composer-ingestor/health", "/api/scaffolder/v2/tasks", "/health/live"} {
		if status, err := p.get(path, nil); err != nil || status != http.StatusOK {
			t.Errorf("read of %s with a full disk returned %d (%v), want 200", path, status, err)
		}
	}
	// Ingestion cannot store this yet.
	put(t, filepath.Join(source, "betas.yaml"), definition("betas", "one"))
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	p.until("a successful write", func() error {
		_, err := pushed("after")
		return err
	})
	p.ready()
	p.until("the definition of before", func() error {
		if p.entity(template("betas")) == nil {
			return errors.New("definition that was written while the disk was full is missing")
		}
		return nil
	})
}

// TestTemporaryFolderFills fills the temporary folder of a service, which is on
// a file system of its own. It checks that only a push that needs the folder
// fails, with a hint, and that it succeeds once there is space.
func TestTemporaryFolderFills(t *testing.T) {
	t.Parallel()
	tmp := filepath.Join(t.TempDir(), "tmp")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	p := launch(t, setup{
		database: inFile(t), environment: []string{"TMPDIR=" + tmp},
		wrapper: mounting(t, `mount -t tmpfs -o size=12m tmpfs "$TMPDIR"`),
	}).ready()
	filler := fmt.Sprintf("/proc/%d/root%s", p.PID(), filepath.Join(tmp, "filler"))
	if err := os.WriteFile(filler, make([]byte, 10<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	push := func(n int) string { return p.push(largeComponents(n)) }
	if said := push(2000); !strings.Contains(said, "503") || !strings.Contains(said, "set TMPDIR of portal-backend") {
		t.Errorf("large push with a full temporary folder returned %s, want 503 and a hint", said)
	}
	if said := push(10); !strings.Contains(said, `"added":10`) {
		t.Errorf("small push returned %s, want 10 entities added", said)
	}
	p.ready()
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if said := push(1000); !strings.Contains(said, `"added":990`) {
		t.Errorf("large push with space in the temporary folder returned %s, want 990 entities added", said)
	}
}

// largeComponents returns n entities of 10 kB.
func largeComponents(n int) (body []byte) {
	for i := range n {
		body = fmt.Appendf(body, `{"apiVersion":"backstage.io/v1alpha1","kind":"Component","metadata":{"name":"c%d","description":%q},"spec":{"type":"service","lifecycle":"production","owner":"team-a"}}`+"\n",
			i, strings.Repeat("x", 10_000))
	}
	return body
}

// TestNowhereToBuffer removes the temporary directory of a service. It checks
// that a push that fits into memory succeeds, that a larger one fails with 503
// and a hint, and that it succeeds once the directory is back.
func TestNowhereToBuffer(t *testing.T) {
	t.Parallel()
	tmp := filepath.Join(t.TempDir(), "tmp")
	mkdir := func() {
		if err := os.Mkdir(tmp, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	mkdir()
	p := launch(t, setup{database: inFile(t), environment: []string{"TMPDIR=" + tmp}}).ready()
	if err := os.RemoveAll(tmp); err != nil {
		t.Fatal(err)
	}
	push := func(n int) string { return p.push(largeComponents(n)) }
	if said := push(10); !strings.Contains(said, `"added":10`) {
		t.Errorf("small push returned %s, want 10 entities added", said)
	}
	if said := push(2000); !strings.Contains(said, "503") || !strings.Contains(said, "set TMPDIR of portal-backend") {
		t.Errorf("large push returned %s, want 503 and a hint", said)
	}
	if refs, err := p.refs("kind=component"); err != nil || len(refs) != 10 {
		t.Errorf("catalog has %d entities after the failed push (%v), want 10", len(refs), err)
	}
	mkdir()
	if said := push(2000); !strings.Contains(said, `"added":1990`) {
		t.Errorf("large push with a temporary directory returned %s, want 1990 entities added", said)
	}
}
