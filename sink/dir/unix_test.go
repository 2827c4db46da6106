//go:build unix

package dir

import (
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPipe checks that a single file which is a pipe or device, such as
// /dev/stdout, is written to and not replaced.
func TestPipe(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := errors.Join(syscall.Mkfifo("p", 0o644), os.Symlink("p", "l")); err != nil {
		t.Fatal(err)
	}
	got := make(chan string)
	go func() {
		data := []byte("cannot open")
		if f, err := os.Open("p"); err == nil {
			data, _ = io.ReadAll(f)
			_ = f.Close()
		}
		got <- string(data)
	}()
	wrote := ""
	opts := Options{Layout: SingleFile, Wrote: func(path string, _ int) { wrote = path }}
	if err := New("l", opts).Write(t.Context(), ents("API:a")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("---\n"+text("API:a"), <-got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"p": "p---------", "l": "L---------"}, tree(t)); diff != "" || wrote != "l" {
		t.Errorf("wrote %q (-want +got):\n%s", wrote, diff)
	}
}

func TestDeviceFull(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("/dev/full does not exist")
	}
	err := New("/dev/full", Options{Layout: SingleFile}).Write(t.Context(), ents("API:a"))
	if !errors.Is(err, syscall.ENOSPC) || err.Error() != `cannot write to "/dev/full": no space left on device` {
		t.Errorf("Write: %v", err)
	}
}

func TestPipeInDirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := errors.Join(os.Mkdir("out", 0o755), syscall.Mkfifo("out/api.yaml", 0o644)); err != nil {
		t.Fatal(err)
	}
	err := New("out", Options{}).Write(t.Context(), ents("API:a"))
	if err == nil || err.Error() != `cannot write to "out/api.yaml": is a device or a pipe, not a file` {
		t.Errorf("Write: %v", err)
	}
}

// TestMode checks that new files are readable by all, as far as the umask
// allows.
func TestMode(t *testing.T) {
	t.Chdir(t.TempDir())
	old := syscall.Umask(0o022)
	defer syscall.Umask(old)
	if err := New("out", Options{}).Write(t.Context(), ents("API:a")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat("out/api.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().String(); !strings.HasPrefix(got, "-rw-r--r--") {
		t.Errorf("mode %s, want 0644", got)
	}
}
