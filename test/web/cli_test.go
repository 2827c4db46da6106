package web_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// shell handles POST /cli?command=… with a text in the body. It runs the command,
// as copied from the playground, in a directory with the text and the portal's
// configuration, and responds with the output.
func shell(t *testing.T, config string) http.Handler {
	t.Helper()
	bin := t.TempDir()
	build := sync.OnceValues(func() ([]byte, error) {
		return exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(bin, "ingestor-cli"), "../../cmd/ingestor-cli").CombinedOutput()
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if said, err := build(); err != nil {
			http.Error(w, string(said)+err.Error(), http.StatusInternalServerError)
			return
		}
		out, err := inFolder(r, bin, config)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = w.Write(out)
	})
}

// inFolder runs the command of a request in a temporary directory.
func inFolder(r *http.Request, bin, config string) ([]byte, error) {
	dir, err := os.MkdirTemp(bin, "")
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "definition.yaml"), text, 0o600); err != nil {
		return nil, err
	}
	if err := os.Symlink(config, filepath.Join(dir, "app-config.yaml")); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(r.Context(), "sh", "-c", r.URL.Query().Get("command"))
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + dir}
	var notes bytes.Buffer
	cmd.Stderr = &notes
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, notes.String())
	}
	return out, nil
}
