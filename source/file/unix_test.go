//go:build unix

package file

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSpecial checks special files.
func TestSpecial(t *testing.T) {
	createFiles(t, "d/a.yaml")
	for _, p := range []string{"d/p.yaml", "d/q"} {
		if err := syscall.Mkfifo(p, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("unix", "d/s.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // the test is over
	var skipped []string
	opts := Options{Skipped: func(path, why string) { skipped = append(skipped, path+": "+why) }}
	set, err := New([]string{"d", "d/s.yaml", "/dev/null"}, opts).Read(t.Context())
	if diff := cmp.Diff([]string{"d/a.yaml"}, origins(set)); diff != "" {
		t.Errorf("files read (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"d/p.yaml: is a pipe, not a regular file", "d/s.yaml: is a socket, not a regular file"}, skipped); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
	if err == nil || err.Error() != `cannot read "d/s.yaml": is a socket, not a regular file` {
		t.Errorf("read of a socket that is named: %v", err)
	}
}

// TestPipeNamed reads a named pipe, as for <(command).
func TestPipeNamed(t *testing.T) {
	createFiles(t)
	if err := syscall.Mkfifo("p", 0o644); err != nil {
		t.Fatal(err)
	}
	go func() {
		if err := os.WriteFile("p", []byte(definition("x")), 0o644); err != nil {
			t.Error(err)
		}
	}()
	set, err := New([]string{"p"}, Options{}).Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"p"}, origins(set)); diff != "" {
		t.Errorf("files read (-want +got):\n%s", diff)
	}
}

func TestHardLinks(t *testing.T) {
	createFiles(t, "b.yaml")
	if err := os.Link("b.yaml", "a.yaml"); err != nil {
		t.Fatal(err)
	}
	set, err := New([]string{"."}, Options{}).Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"./a.yaml"}, origins(set)); diff != "" {
		t.Errorf("files read (-want +got):\n%s", diff)
	}
}

// asNobody tells the test that it is the subprocess of TestPermission.
const asNobody = "INGESTOR_TEST_AS_NOBODY"

// TestPermission checks files without read permission. Permissions do not apply
// to root, so as root the test runs itself again as another user.
func TestPermission(t *testing.T) {
	if dir := os.Getenv(asNobody); dir != "" {
		t.Chdir(dir)
		checkPermission(t)
		return
	}
	createFiles(t, "d/a.yaml", "d/b.yaml", "d/locked/c.yaml")
	for path, mode := range map[string]os.FileMode{".": 0o755, "d/b.yaml": 0, "d/locked": 0} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(path, 0o755) //nolint:errcheck // without it the directory is only harder to remove
	}
	if os.Getuid() != 0 {
		checkPermission(t)
		return
	}
	// The test binary is in a directory that only root can read, so it is copied.
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Skipf("cannot run as a user other than root: %v", err)
	}
	if err := errors.Join(os.WriteFile("self", self, 0o755), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "self"), "-test.run=^TestPermission$", "-test.v")
	cmd.Env = append(os.Environ(), asNobody+"=.")
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil && !strings.Contains(string(out), "TestPermission") {
		t.Skipf("cannot run as a user other than root: %v\n%s", err, out)
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: TestPermission") {
		t.Errorf("test as an unprivileged user: %v\n%s", err, out)
	}
}

func checkPermission(t *testing.T) {
	t.Helper()
	set, err := New([]string{"d"}, Options{Recursive: true}).Read(t.Context())
	if diff := cmp.Diff([]string{"d/a.yaml"}, origins(set)); diff != "" {
		t.Errorf("files read (-want +got):\n%s", diff)
	}
	want := "cannot read \"d/locked\": permission denied\ncannot read \"d/b.yaml\": permission denied"
	if err == nil || err.Error() != want {
		t.Fatalf("Read: %v\nwant: %s", err, want)
	}
	var hints []string
	for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
		hints = append(hints, e.(*Error).Hint) //nolint:errorlint // it is what Read joins
	}
	wantHints := []string{
		"grant read permission, for example with chmod u+rx",
		"grant read permission, for example with chmod u+r",
	}
	if diff := cmp.Diff(wantHints, hints); diff != "" {
		t.Errorf("hints (-want +got):\n%s", diff)
	}
}
