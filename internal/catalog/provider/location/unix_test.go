//go:build unix

package location

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"example.dev/ingestor/internal/config"
)

func TestPipe(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "p.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := New(Options{Config: config.Reading{Roots: []string{dir}}, Rules: everything})
	_, err := r.Read(t.Context(), Target{Type: TypeFile, Target: dir + "/p.yaml"})
	if err == nil || !strings.Contains(err.Error(), "it is a device or a pipe") {
		t.Errorf("error %v, want it refused without waiting", err)
	}
}
