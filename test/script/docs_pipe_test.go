package script

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/server"
)

// runAddress is the address of the portal that make run starts, as the pages write it.
const runAddress = "http://localhost:7007"

// piped matches a console block in which programs are piped.
var piped = regexp.MustCompile("(?s)```console\n(?:[^`]*)\\| bin/(?:[^`]*)```")

// TestPipes runs the pipes in the console blocks of the README and the handbook in a shell,
// as a reader pastes them after make run, and compares what they print with the page. The
// programs of a pipe print at the same time, so the order of lines is not compared.
func TestPipes(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	pages, err := filepath.Glob(filepath.Join(top, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, page := range append(pages, filepath.Join(top, "README.md")) {
		for _, block := range piped.FindAllString(read(t, page), -1) {
			found[filepath.Base(page)] = true
			t.Run(filepath.Base(page), func(t *testing.T) { runPipe(t, bash, block) })
		}
	}
	if diff := cmp.Diff(map[string]bool{"README.md": true, "pipes.md": true}, found); diff != "" {
		t.Errorf("pages with a pipe (-want +got):\n%s", diff)
	}
}

// runPipe runs the commands of a block, in a folder that has the examples and the programs.
func runPipe(t *testing.T, bash, block string) {
	var commands, want []string
	for line := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(block, "```console\n"), "\n```"), "\n") {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			commands = append(commands, command)
			continue
		}
		want = append(want, line)
	}
	address := makeRun(t)
	dir := t.TempDir()
	examples, err := filepath.Abs(filepath.Join(top, "examples"))
	if err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"examples": examples, "bin": programs(t)} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	text := strings.ReplaceAll(strings.Join(commands, "\n"), runAddress, address)
	// With pipefail the first program may not fail either.
	cmd := exec.CommandContext(t.Context(), bash, "-e", "-o", "pipefail", "-c", text)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s\nfailed with %v:\n%s", text, err, out)
	}
	got := strings.Split(strings.TrimSpace(string(out)), "\n")
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pipe prints something else (-page +printed):\n%s", diff)
	}
}

// programs returns the folder that has the programs: testscript puts it into PATH.
func programs(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("xrd-extract")
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(path)
}

// makeRun starts a portal with the configuration of make run, at another address and with a
// database of its own, and returns the address.
func makeRun(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + l.Addr().String()
	own := filepath.Join(t.TempDir(), "app-config.local.yaml")
	if err := os.WriteFile(own, fmt.Appendf(nil, "backend: {baseUrl: %q, listen: %q, database: {connection: {filename: ./portal.sqlite}}}\n", address, l.Addr()), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, mistakes := config.Load([]string{filepath.Join(top, "app-config.yaml"), own}, config.Options{Sections: config.PortalSections})
	if finding.Count(mistakes, finding.Error) > 0 {
		t.Fatalf("configuration has mistakes: %v", mistakes)
	}
	p, err := server.New(t.Context(), server.Options{Config: cfg, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := errors.Join(<-ended, p.Close()); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("portal ended with %v", err)
		}
	})
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		res, err := http.Get(address + "/health/ready")
		if err == nil {
			_ = res.Body.Close()
		}
		if err == nil && res.StatusCode == http.StatusOK {
			return address
		}
		if time.Now().After(deadline) {
			t.Fatalf("portal is not ready after a minute: %v", err)
		}
	}
}
