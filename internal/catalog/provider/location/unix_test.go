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
	if err == nil || !strings.Contains(err.Error(), "is a device or a pipe, not a file") {
		t.Errorf("error is %v, want a refusal without waiting", err)
	}
}
