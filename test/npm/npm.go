// Package npm installs npm packages for tests: once, outside the repository,
// shared by all checkouts.
package npm

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// ErrOff is returned by Install if node or npm is not installed.
var ErrOff = errors.New("node or npm is not installed")

// Install returns the path of node, and the folder node_modules with the
// packages of a manifest and its lock file. The folder is named by a digest of
// both. One process at a time installs it and reports that; the others wait.
// name is the owner of the packages in messages.
func Install(name string, manifest, lock []byte) (node, modules string, err error) {
	return InstallFiles(name, map[string][]byte{"package.json": manifest, "package-lock.json": lock})
}

// InstallFiles is like Install for a workspace, which has several manifests: the files have
// slash-separated paths.
func InstallFiles(name string, files map[string][]byte) (node, modules string, err error) {
	node, err = exec.LookPath("node")
	if err != nil {
		return "", "", ErrOff
	}
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", "", err
		}
		cache = filepath.Join(home, ".cache")
	}
	h := sha256.New()
	for _, path := range slices.Sorted(maps.Keys(files)) {
		h.Write(files[path])
	}
	dir := filepath.Join(cache, "ingestor", fmt.Sprintf("%s-%x", name, h.Sum(nil)[:8]))
	return node, filepath.Join(dir, "node_modules"), installInto(dir, name, files)
}

func installInto(dir, name string, files map[string][]byte) error {
	stamp := filepath.Join(dir, ".installed")
	if exists(stamp) {
		return nil
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return ErrOff
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	unlock, err := lockedfile.MutexAt(dir + ".lock").Lock()
	if err != nil {
		return err
	}
	defer unlock()
	if exists(stamp) {
		return nil
	}
	fmt.Fprintf(os.Stderr, "%s: installing its npm packages into %s, once; it takes a while\n", name, dir)
	for file, data := range files {
		path := filepath.Join(dir, filepath.FromSlash(file))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o644)); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--legacy-peer-deps")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot install the npm packages of %s: %w\n%s", name, err, out)
	}
	return os.WriteFile(stamp, nil, 0o644)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
