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

// TestConsole runs the commands in the console blocks of the README and the handbook, and
// compares what they print, on both streams, with the page. A line of … stands for any
// lines. TestPipes runs the pipes.
func TestConsole(t *testing.T) {
	t.Chdir(top)
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		commands := 0
		for _, block := range regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
			if piped.MatchString(block[0]) {
				continue // TestPipes runs it.
			}
			for _, run := range strings.Split("\n"+block[1], "\n$ ")[1:] {
				line, want, _ := strings.Cut(run, "\n")
				args := strings.Fields(line)
				if args[0] != "bin/ingestor-cli" {
					t.Errorf("%s shows %q, which this test cannot run", page, line)
					continue
				}
				commands++
				got := output(t, args[1:])
				if !matches(strings.TrimSpace(want), strings.TrimSpace(got)) {
					t.Errorf("%s: %s prints something else: -page +printed:\n%s", page, line, cmp.Diff(strings.TrimSpace(want), strings.TrimSpace(got)))
				}
			}
		}
		if page == "README.md" && commands == 0 {
			t.Error("the README shows no command")
		}
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

// TestLinks checks that the links between the pages lead to files and headings that
// exist.
func TestLinks(t *testing.T) {
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/design/*.md", "examples/*.md"} {
		found, err := filepath.Glob(filepath.Join(top, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("no pages match %s, error %v", pattern, err)
		}
		pages = append(pages, found...)
	}
	link := regexp.MustCompile(`\]\(([^)#:]*)(?:#([^):]+))?\)`)
	for _, page := range pages {
		for _, m := range link.FindAllStringSubmatch(read(t, page), -1) {
			target := page
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(page), m[1])
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which does not exist", page, m[1])
				continue
			}
			if m[2] != "" && !anchors(read(t, target))[m[2]] {
				t.Errorf("%s links to %s#%s, and there is no such heading", page, m[1], m[2])
			}
		}
	}
}

// TestIndex checks that the index of the handbook links to every page.
func TestIndex(t *testing.T) {
	t.Chdir(filepath.Join(top, "docs"))
	index := read(t, "README.md")
	for _, pattern := range []string{"*.md", "design/*.md"} {
		pages, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range pages {
			if page != "README.md" && !strings.Contains(index, "]("+filepath.ToSlash(page)+")") {
				t.Errorf("docs/README.md does not link to %s", page)
			}
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// anchors returns the anchors of a page's headings, as GitHub names them: lower case,
// without punctuation, with dashes for spaces.
func anchors(page string) map[string]bool {
	out := map[string]bool{}
	code := regexp.MustCompile("(?ms)^```.*?^```")
	for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(code.ReplaceAllString(page, ""), -1) {
		name := regexp.MustCompile(`[^\pL\pN _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		out[strings.ReplaceAll(name, " ", "-")] = true
	}
	return out
}

// TestMessages checks that the messages that docs/troubleshoot.md shows as symptoms are messages of
// the programs or of the chart, so that users find them by searching. A … in a message
// stands for a value.
func TestMessages(t *testing.T) {
	sources := messages(t)
	row := regexp.MustCompile(`(?m)^\| ([^|]*) \|`)
	code := regexp.MustCompile("`([^`]+)`")
	checked := 0
	for _, m := range row.FindAllStringSubmatch(read(t, filepath.Join(top, "docs", "troubleshoot.md")), -1) {
		for _, span := range code.FindAllStringSubmatch(m[1], -1) {
			// Words, commands, endpoints and keys are not messages.
			if strings.Count(span[1], " ") < 2 || strings.HasPrefix(span[1], "composer-ingestor ") || strings.HasPrefix(span[1], "portal-backend ") {
				continue
			}
			checked++
			for part := range strings.SplitSeq(span[1], "…") {
				if part = strings.Trim(part, " :"); part != "" && !strings.Contains(sources, part) {
					t.Errorf("docs/troubleshoot.md shows %q, and no program says %q", span[1], part)
				}
			}
		}
	}
	if checked < 10 {
		t.Errorf("page has %d messages, want more", checked)
	}
}

// messages returns the sources of the programs and of the chart.
func messages(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, dir := range []string{"internal", "source", "sink", "action", "engine", "web", "deploy/chart/templates"} {
		err := filepath.WalkDir(filepath.Join(top, dir), func(path string, d os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if name := d.Name(); d.IsDir() && (name == "node_modules" || name == "dist" || name == "testdata") {
				return filepath.SkipDir
			}
			if ext := filepath.Ext(path); d.IsDir() || ext != ".go" && ext != ".tpl" || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			all.WriteString(read(t, path))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}
