package script

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/ingestor"
)

const top = "../.."

// TestReadme runs the commands the README shows and holds what they print, on
// both streams, against what it says. A line of … stands for any lines.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(top, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(top)
	commands := 0
	for _, block := range regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		for _, run := range strings.Split("\n"+block[1], "\n$ ")[1:] {
			line, want, _ := strings.Cut(run, "\n")
			args := strings.Fields(line)
			if args[0] != "bin/ingestor-cli" {
				t.Errorf("the README shows %q, which this test cannot run", line)
				continue
			}
			commands++
			got := output(t, args[1:])
			if !matches(strings.TrimSpace(want), strings.TrimSpace(got)) {
				t.Errorf("%s prints something else: -README +printed:\n%s", line, cmp.Diff(strings.TrimSpace(want), strings.TrimSpace(got)))
			}
		}
	}
	if commands == 0 {
		t.Error("the README shows no command")
	}
}

// output runs the command in the current directory and clears away the files
// it writes by default.
func output(t *testing.T, args []string) string {
	t.Helper()
	const written = "catalog-entities"
	if _, err := os.Stat(written); err == nil {
		t.Skipf("there is a %s in the checkout, which the README's commands would change", written)
	}
	defer func() { _ = os.RemoveAll(written) }()
	var out bytes.Buffer
	app.Run(context.Background(), ingestor.Name, &app.Env{
		Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out,
		Getenv: func(string) string { return "" }, Now: time.Now,
	}, ingestor.Run)
	return out.String()
}

// matches compares printed text with text in which a line of … stands for
// any lines.
func matches(want, got string) bool {
	parts := strings.Split(want, "\n…\n")
	for i, p := range parts {
		at := strings.Index(got, p)
		if at < 0 || i == 0 && at != 0 {
			return false
		}
		got = got[at+len(p):]
	}
	return got == ""
}

// TestLinks holds the links between the pages to what is there.
func TestLinks(t *testing.T) {
	pages := []string{filepath.Join(top, "README.md"), filepath.Join(top, "CONTRIBUTING.md"), filepath.Join(top, "CHANGELOG.md")}
	for _, dir := range []string{"docs", "docs/design"} {
		found, err := filepath.Glob(filepath.Join(top, dir, "*.md"))
		if err != nil || len(found) == 0 {
			t.Fatalf("no pages in %s, error %v", dir, err)
		}
		pages = append(pages, found...)
	}
	link := regexp.MustCompile(`\]\(([^)#:]+)\)`)
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", page, m[1])
			}
		}
	}
}
