package issuer

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	_ "embed"
)

//go:embed package.json
var manifest []byte

//go:embed package-lock.json
var lock []byte

// install returns node and the folder of the provider's packages. They are
// kept outside the repository, named by what they are, and installed by one
// test at a time; those that wait find them there.
func install(tb testing.TB) (node, modules string) {
	tb.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		tb.Skip("node is not installed; tests that ask a real issuer are skipped")
	}
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			tb.Fatal(err)
		}
		cache = filepath.Join(home, ".cache")
	}
	sum := sha256.Sum256(append(append([]byte{}, manifest...), lock...))
	dir := filepath.Join(cache, "ingestor", fmt.Sprintf("issuer-%x", sum[:8]))
	modules = filepath.Join(dir, "node_modules")
	stamp := filepath.Join(dir, ".installed")
	if exists(stamp) {
		return node, modules
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		tb.Fatal(err)
	}
	unlock, err := lockedfile.MutexAt(dir + ".lock").Lock()
	if err != nil {
		tb.Fatal(err)
	}
	defer unlock()
	if exists(stamp) {
		return node, modules
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		tb.Skip("npm is not installed; tests that ask a real issuer are skipped")
	}
	fmt.Fprintf(os.Stderr, "issuer: installing its npm packages into %s; the first time takes some seconds\n", dir)
	for name, data := range map[string][]byte{"package.json": manifest, "package-lock.json": lock} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(tb.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("cannot install the issuer's packages: %v\n%s", err, out)
	}
	if err := os.WriteFile(stamp, nil, 0o644); err != nil {
		tb.Fatal(err)
	}
	return node, modules
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
