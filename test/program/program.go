// Package program builds the programs that tests start from modules beside the
// main one, which would otherwise link too much, and caches them.
package program

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// unused is the age at which an unused build of other sources is removed. Until
// then another checkout may need it.
const unused = 7 * 24 * time.Hour

// build has the arguments of the build. Lint and tests of the modules use the
// same, so that all share one build cache.
var build = []string{"build", "-buildvcs=false"}

const buildEnv = "CGO_ENABLED=0"

// Program is a program of a module in this repository.
type Program struct {
	// Name is how the file in the cache begins.
	Name string
	// Module is the folder of the module, relative to the root of the
	// repository.
	Module string
	// Package is what is built: "." or a package that the module requires.
	Package string
	// Why explains how long the build takes.
	Why string
	// Linker returns additional flags of the linker for the module in a folder.
	// Nil means none.
	Linker func(src string) (string, error)
	// Prepare is run after the build, in the folder of the module, with these
	// arguments. Nil means that it is not run.
	Prepare []string
}

// Path returns the path of the program. It is built unless the cache has a
// build of the same sources with the same version of Go. The cache is outside
// the repository and shared by all checkouts. Path may be called by several
// processes at once; one of them builds.
func (p Program) Path() (string, error) {
	src, err := Folder(p.Module)
	if err != nil {
		return "", err
	}
	sum, err := digest(os.DirFS(src))
	if err != nil {
		return "", fmt.Errorf("cannot read the sources of %s: %w", p.Name, err)
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	bin := filepath.Join(cache, p.Name+"-"+sum+"-"+runtime.Version())
	if used(bin) {
		return bin, nil
	}
	unlock, err := lock(filepath.Join(cache, p.Name+".lock"))
	if err != nil {
		return "", fmt.Errorf("cannot build %s: %w", p.Name, err)
	}
	defer unlock()
	if used(bin) {
		return bin, nil
	}
	fmt.Fprintf(os.Stderr, "building %s, once: %s\n", filepath.Base(bin), p.Why)
	if err := p.buildInto(bin, src); err != nil {
		return "", fmt.Errorf("cannot build %s: %w", p.Name, err)
	}
	removeUnused(cache, p.Name, time.Now().Add(-unused))
	return bin, nil
}

// Folder returns the path of the folder of a module in the repository of the
// working directory.
func Folder(module string) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("cannot find the repository: %w", err)
	}
	for d := dir; ; d = filepath.Dir(d) {
		src := filepath.Join(d, filepath.FromSlash(module))
		if _, err := os.Stat(filepath.Join(src, "go.mod")); err == nil {
			return src, nil
		}
		if d == filepath.Dir(d) {
			return "", fmt.Errorf("cannot find %s above %s", module, dir)
		}
	}
}

// digest returns a digest of the sources and the build arguments.
func digest(src fs.FS) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, build, buildEnv)
	err := fs.WalkDir(src, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		isSource := strings.HasSuffix(p, ".go") && !strings.HasSuffix(p, "_test.go")
		if !isSource && p != "go.mod" && p != "go.sum" {
			return nil
		}
		f, err := src.Open(p)
		if err != nil {
			return err
		}
		defer f.Close()
		fmt.Fprintf(h, "\n%s\n", p)
		_, err = io.Copy(h, f)
		return err
	})
	return hex.EncodeToString(h.Sum(nil)[:8]), err
}

// cacheDir creates and returns the folder for programs.
func cacheDir() (string, error) {
	base := os.Getenv("XDG_CACHE_HOME")
	if base == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("cannot find the cache folder: %w; set XDG_CACHE_HOME", err)
		}
		base = filepath.Join(home, ".cache")
	}
	dir := filepath.Join(base, "ingestor", "bin")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("cannot create the cache folder: %w", err)
	}
	return dir, nil
}

// used reports whether the file exists, and updates its time of use.
func used(file string) bool {
	now := time.Now()
	return os.Chtimes(file, now, now) == nil
}

// lock waits until no other process holds the lock. The lock of a process that
// dies is released.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		_ = f.Close()
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}

// buildInto builds the program.
func (p Program) buildInto(bin, src string) error {
	linker := "-s -w"
	if p.Linker != nil {
		more, err := p.Linker(src)
		if err != nil {
			return err
		}
		linker += " " + more
	}
	tmp := fmt.Sprintf("%s.%d", bin, os.Getpid())
	defer func() { _ = os.Remove(tmp) }()
	if err := command(src, "go", append(build, "-ldflags", linker, "-o", tmp, p.Package)...); err != nil {
		return err
	}
	if p.Prepare != nil {
		if err := command(src, tmp, p.Prepare...); err != nil {
			return err
		}
	}
	return os.Rename(tmp, bin)
}

// command runs a program in a folder. The error includes its output.
func command(dir, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), buildEnv)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w", filepath.Base(name), err), errors.New(string(bytes.TrimSpace(out))))
	}
	return nil
}

// removeUnused removes builds that were not used since a time. Files that
// cannot be removed are ignored.
func removeUnused(cache, name string, since time.Time) {
	builds, _ := filepath.Glob(filepath.Join(cache, name+"-*"))
	for _, b := range builds {
		if info, err := os.Stat(b); err == nil && info.ModTime().Before(since) {
			_ = os.Remove(b)
		}
	}
}
