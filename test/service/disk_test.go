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

// onDisk starts a service whose database is on a file system of its own. The
// command prepare mounts it at $DISK.
func onDisk(t *testing.T, prepare string) (p *program, disk string) {
	t.Helper()
	unshare := []string{"--user", "--map-root-user", "--mount", "sh", "-ec"}
	if out, err := exec.Command("unshare", append(unshare, "mount -t tmpfs -o size=1m tmpfs /tmp")...).CombinedOutput(); err != nil {
		t.Skipf("cannot mount a file system for a single process: %v\n%s", err, out)
	}
	disk = filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	p = launch(t, setup{
		database:    sections{"client": "sqlite", "connection": sections{"filename": filepath.Join(disk, "portal.sqlite")}},
		environment: []string{"DISK=" + disk},
		wrapper:     slices.Concat([]string{"unshare"}, unshare, []string{prepare + `; exec "$0" "$@"`}),
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
			p, _ := onDisk(t, c.prepare)
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
	p, disk := onDisk(t, `mount -t tmpfs -o size=40m tmpfs "$DISK"`)
	p.ready()
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
	if !strings.Contains(refused, "503") {
		t.Errorf("write to a full disk returned %s, want 503", refused)
	}
	if status, err := p.get("/api/catalog/entities?limit=1", nil); err != nil || status != http.StatusOK {
		t.Errorf("read with a full disk returned %d (%v), want 200", status, err)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	p.until("a successful write", func() error {
		_, err := pushed("after")
		return err
	})
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
	push := func(n int) string {
		var body []byte
		for i := range n {
			body = fmt.Appendf(body, `{"apiVersion":"backstage.io/v1alpha1","kind":"Component","metadata":{"name":"c%d","description":%q},"spec":{"type":"service","lifecycle":"production","owner":"team-a"}}`+"\n",
				i, strings.Repeat("x", 10_000))
		}
		return p.push(body)
	}
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
