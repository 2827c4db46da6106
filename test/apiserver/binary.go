package apiserver

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
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"time"
)

const (
	// module is the folder of the program, relative to the root of the
	// repository.
	module = "test/devcluster"
	// unused is the age at which an unused build of other sources is removed.
	// Until then another checkout may need it.
	unused = 7 * 24 * time.Hour
)

// build has the arguments of the build. Lint and tests of the module use the
// same, so that all share one build cache.
var build = []string{"build", "-buildvcs=false"}

const buildEnv = "CGO_ENABLED=0"

// Binary returns the path of the program devcluster. It is built unless the
// cache has a build of the same sources with the same version of Go. The cache
// is outside the repository and shared by all checkouts. Binary may be called
// by several processes at once; one of them builds.
func Binary() (string, error) {
	return cached("devcluster", ".", "it holds a whole Kubernetes API server, which takes about five minutes "+
		"the first time and seconds when only "+module+" has changed")
}

// Kubectl returns the path of a kubectl of the same version, built and cached
// in the same way, for comparisons.
func Kubectl() (string, error) {
	return cached("kubectl", "k8s.io/kubernetes/cmd/kubectl", "it takes about a minute the first time")
}

// cached builds the package of the module as the program name, unless it is
// cached. why explains how long the build takes.
func cached(name, pkg, why string) (string, error) {
	src, err := findModule()
	if err != nil {
		return "", err
	}
	sum, err := digest(os.DirFS(src))
	if err != nil {
		return "", fmt.Errorf("cannot read the sources of %s: %w", name, err)
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	bin := filepath.Join(cache, name+"-"+sum+"-"+runtime.Version())
	if used(bin) {
		return bin, nil
	}
	unlock, err := lock(filepath.Join(cache, name+".lock"))
	if err != nil {
		return "", fmt.Errorf("cannot build %s: %w", name, err)
	}
	defer unlock()
	if used(bin) {
		return bin, nil
	}
	fmt.Fprintf(os.Stderr, "building %s, once: %s\n", filepath.Base(bin), why)
	if err := buildInto(bin, src, pkg); err != nil {
		return "", fmt.Errorf("cannot build %s: %w", name, err)
	}
	removeUnused(cache, name, time.Now().Add(-unused))
	return bin, nil
}

// findModule returns the folder of the program in the repository of the working
// directory.
func findModule() (string, error) {
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

// buildInto builds a package. The program devcluster downloads its data files
// when it runs.
func buildInto(bin, src, pkg string) error {
	version, err := kubernetes(src)
	if err != nil {
		return err
	}
	tmp := fmt.Sprintf("%s.%d", bin, os.Getpid())
	defer func() { _ = os.Remove(tmp) }()
	flags := append(build, "-ldflags", "-s -w -X k8s.io/component-base/version.gitVersion="+version)
	if err := command(src, "go", append(flags, "-o", tmp, pkg)...); err != nil {
		return err
	}
	if pkg == "." {
		if err := command(src, tmp, "crds"); err != nil {
			return err
		}
	}
	return os.Rename(tmp, bin)
}

// kubernetes returns the version of Kubernetes in the module, which the server
// reports.
func kubernetes(src string) (string, error) {
	data, err := os.ReadFile(filepath.Join(src, "go.mod"))
	if err != nil {
		return "", err
	}
	found := regexp.MustCompile(`\sk8s\.io/kubernetes (v\S+)`).FindSubmatch(data)
	if found == nil {
		return "", errors.New("go.mod does not name k8s.io/kubernetes")
	}
	return string(found[1]), nil
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
