// Package golden holds what ingestor-cli makes of each example, so that every
// change of an entity, a form or an API shows in a review. Run the tests with
// -update to rewrite the files after reading the difference.
package golden

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/ingestor"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

// root is the top of the repository: paths stand in entities, so the examples
// are named as a reader of the handbook names them.
const root = "../.."

// run runs the command as the handbook shows it and returns what it wrote.
func run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, notes bytes.Buffer
	env := &app.Env{
		Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &notes,
		Getenv: func(string) string { return "" }, Now: time.Now,
	}
	code = app.Run(t.Context(), ingestor.Name, env, ingestor.Run)
	return out.String(), notes.String(), code
}

// variants are the goldens beside that of each example without options. The
// examples are those the profile takes.
var variants = map[string]struct {
	reason  string
	example string
	args    []string
	// same says that the golden is that of the example without options.
	same bool
}{
	"database.composerIngestor": {reason: "variant A: full names, type from the label", example: "database", args: []string{"--profile", "composerIngestor"}},
	"database.concept":          {reason: "the concept: slugs", example: "database", args: []string{"--profile", "concept"}},
	"database.words-portal":     {reason: "an upstream definition in the contract's words", example: "database", args: []string{"--words", "portal"}},
	"database.words-upstream":   {reason: "an upstream definition speaks upstream by itself", example: "database", args: []string{"--words", "upstream"}, same: true},
	"queue.clusterIngestor":     {reason: "variant B: every served version", example: "queue", args: []string{"--profile", "clusterIngestor"}},
	"queue.concept":             {reason: "the concept: slugs", example: "queue", args: []string{"--profile", "concept"}},
	"queue.words-upstream":      {reason: "the contract's definition in upstream words", example: "queue", args: []string{"--words", "upstream"}},
	"queue.words-portal":        {reason: "the contract's definition speaks so by itself", example: "queue", args: []string{"--words", "portal"}, same: true},
	"cache.composerIngestor":    {reason: "variant A in the contract's words, with every annotation", example: "cache", args: []string{"--profile", "composerIngestor"}},
}

func TestExamples(t *testing.T) {
	t.Chdir(root)
	paths, err := filepath.Glob("examples/*.yaml")
	if err != nil || len(paths) < 12 {
		t.Fatalf("found %d examples, error %v", len(paths), err)
	}
	known := map[string]bool{}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		known[name+".yaml"] = true
		t.Run(name, func(t *testing.T) {
			compare(t, name, "what "+path+" gives", path)
		})
	}
	for name, tc := range variants {
		path := "examples/" + tc.example + ".yaml"
		if tc.same {
			t.Run(name, func(t *testing.T) {
				plain, _, _ := run(t, path, "--stdout")
				got, _, _ := run(t, append(tc.args, path, "--stdout")...)
				if diff := cmp.Diff(plain, got); diff != "" {
					t.Errorf("%s (-without options +with %q):\n%s", tc.reason, tc.args, diff)
				}
			})
			continue
		}
		known[name+".yaml"] = true
		t.Run(name, func(t *testing.T) {
			compare(t, name, tc.reason, append(tc.args, path)...)
		})
	}
	stray(t, known)
}

// compare holds what a run writes against the golden file.
func compare(t *testing.T, name, reason string, args ...string) {
	t.Helper()
	got, notes, code := run(t, append(args, "--stdout")...)
	if code != app.ExitOK {
		t.Fatalf("%s: exit code %d\n%s", reason, code, notes)
	}
	golden := filepath.Join("test/golden/testdata", name+".yaml")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatalf("%v\nrun the tests with -update to write it", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-%s +got):\n%s\nif it is meant to change, run the tests with -update", reason, golden, diff)
	}
	check(t, reason, got)
}

// check reads the entities back and holds them against the catalog's rules.
func check(t *testing.T, reason, text string) {
	t.Helper()
	var es []*entity.Entity
	err := tree.Decode(strings.NewReader(text), tree.Limits{}, func(n *tree.Node, bad *tree.Error) bool {
		if bad != nil {
			t.Errorf("%s: cannot read the entities back: %v", reason, bad)
			return false
		}
		e, err := entity.Parse(n)
		if err != nil {
			t.Errorf("%s: cannot read an entity back: %v", reason, err)
			return false
		}
		es = append(es, e)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(es) == 0 {
		t.Errorf("%s: no entities", reason)
	}
	for _, f := range entity.CheckAll(es) {
		if f.Severity == finding.Error {
			t.Errorf("%s: %s: %s [%s]", reason, f.Where(), f.Message, f.Rule)
		}
	}
}

// stray looks for goldens that no test holds anything against.
func stray(t *testing.T, known map[string]bool) {
	t.Helper()
	files, err := os.ReadDir("test/golden/testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !known[f.Name()] {
			t.Errorf("test/golden/testdata/%s belongs to no example: remove it", f.Name())
		}
	}
}

// TestAllAtOnce wants the same entities from a run over all examples as from a
// run over each: no definition changes what becomes of another.
func TestAllAtOnce(t *testing.T) {
	t.Chdir(root)
	paths, err := filepath.Glob("examples/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	together, _, _ := run(t, append(paths, "--stdout")...)
	var single []string
	for _, path := range paths {
		out, _, _ := run(t, path, "--stdout")
		single = append(single, documents(out)...)
	}
	all := documents(together)
	slices.Sort(single)
	slices.Sort(all)
	if diff := cmp.Diff(single, all); diff != "" {
		t.Errorf("one by one (-) and together (+):\n%s", diff)
	}
}

func documents(text string) []string {
	return strings.Split(strings.TrimSuffix(strings.TrimPrefix(text, "---\n"), "\n"), "\n---\n")
}
