package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// platform is an operating system and an architecture, as Go names them.
type platform struct{ OS, Arch string }

func (p platform) String() string { return p.OS + "/" + p.Arch }

// exe returns the file name of a program.
func (p platform) exe(program string) string {
	if p.OS == "windows" {
		return program + ".exe"
	}
	return program
}

// platforms reads "linux/amd64,linux/arm64".
func platforms(text string) ([]platform, error) {
	var ps []platform
	for s := range strings.SplitSeq(text, ",") {
		system, arch, ok := strings.Cut(strings.TrimSpace(s), "/")
		if !ok || system == "" || arch == "" {
			return nil, fmt.Errorf("cannot read platform %q: it must look like linux/amd64", s)
		}
		ps = append(ps, platform{system, arch})
	}
	return ps, nil
}

// compile builds programs for a platform into a folder. The result depends on the commit,
// the version and the Go release alone.
func compile(ctx context.Context, r release, p platform, dir string, programs ...string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("cannot build for %s: %w", p, err)
	}
	const app = "example.dev/ingestor/internal/app"
	link := fmt.Sprintf("-s -w -buildid= -X %s.Version=%s -X %s.Commit=%s -X %s.Date=%s",
		app, r.Version, app, r.Commit, app, r.Date.Format("2006-01-02"))
	args := []string{"build", "-trimpath", "-buildvcs=false", "-ldflags", link, "-o", dir + string(filepath.Separator)}
	for _, name := range programs {
		args = append(args, "./cmd/"+name)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = r.Root, os.Stderr, os.Stderr
	cmd.Env = append(os.Environ(), "GOOS="+p.OS, "GOARCH="+p.Arch, "CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOWORK=off", "GOAMD64=v1", "GOARM64=v8.0")
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("cannot build for %s: %w", p, err)
	}
	return nil
}

// builtPage returns an error if the web UI was not built: the programs embed it.
func builtPage(r release) error {
	if _, err := os.Stat(filepath.Join(r.Root, "web", "dist", "index.html")); err != nil {
		return fmt.Errorf("cannot find the built web UI: %w; run make web", err)
	}
	return nil
}
