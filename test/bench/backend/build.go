package backend

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Build builds portal-backend of a revision, or of the working copy if the
// revision is empty. An old one is built without its web pages.
func Build(tmp, revision string) (string, error) {
	program := filepath.Join(tmp, "portal-backend"+revision)
	dir := "."
	if revision != "" {
		dir = filepath.Join(tmp, "source"+revision)
		archive := exec.Command("git", "archive", revision)
		out, err := archive.Output()
		if err != nil {
			return "", fmt.Errorf("cannot read revision %s: %w", revision, err)
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			return "", err
		}
		unpack := exec.Command("tar", "-x", "-C", dir)
		unpack.Stdin = bytes.NewReader(out)
		if out, err := unpack.CombinedOutput(); err != nil {
			return "", fmt.Errorf("cannot unpack revision %s: %w\n%s", revision, err, out)
		}
	}
	cmd := exec.Command("go", "build", "-trimpath", "-o", program, "./cmd/portal-backend")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cannot build portal-backend %s: %w\n%s", revision, err, out)
	}
	return program, nil
}
