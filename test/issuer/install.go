package issuer

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	_ "embed"
)

//go:embed package.json
var manifest []byte

//go:embed package-lock.json
var lock []byte

// ErrOff is returned by Install if there is no node, or none that could
// install anything.
var ErrOff = errors.New("node or npm is not installed: no issuer is started")

// Install returns node and the folder of the provider's packages. They are
// kept outside the repository, named by what they are, and installed by one
// process at a time, which says so; those that wait find them there.
func Install() (node, modules string, err error) {
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
	sum := sha256.Sum256(append(append([]byte{}, manifest...), lock...))
	dir := filepath.Join(cache, "ingestor", fmt.Sprintf("issuer-%x", sum[:8]))
	return node, filepath.Join(dir, "node_modules"), installInto(dir)
}

func installInto(dir string) error {
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
	fmt.Fprintf(os.Stderr, "issuer: installing its npm packages into %s, once; it takes some seconds\n", dir)
	for name, data := range map[string][]byte{"package.json": manifest, "package-lock.json": lock} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot install the issuer's npm packages: %w\n%s", err, out)
	}
	return os.WriteFile(stamp, nil, 0o644)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
