// Package golden compares the output of ingestor-cli for each example with a
// file, so that every change of an entity, a form or an API shows in a review.
// Run the tests with -update to rewrite the files, and review the difference.
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
	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/ingestor"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

// root is the root of the repository: entities contain paths, so the examples
// have the same paths as in the handbook.
const root = "../.."

// run runs the command like the handbook and returns its output.
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

// variants are additional golden files besides those of each example without
// options.
var variants = map[string]struct {
	reason  string
	example string
	args    []string
	// same means that the golden file is that of the example without options.
	same bool
}{
	"database.composerIngestor": {reason: "Variant A has full names, and the type from the label.", example: "database", args: []string{"--profile", "composerIngestor"}},
	"database.concept":          {reason: "The concept profile has slugs.", example: "database", args: []string{"--profile", "concept"}},
	"database.words-portal":     {reason: "An upstream definition can be written in the portal vocabulary.", example: "database", args: []string{"--words", "portal"}},
	"database.words-upstream":   {reason: "An upstream definition is written in the upstream vocabulary by default.", example: "database", args: []string{"--words", "upstream"}, same: true},
	"queue.clusterIngestor":     {reason: "Variant B has every served version.", example: "queue", args: []string{"--profile", "clusterIngestor"}},
	"queue.concept":             {reason: "The concept profile has slugs.", example: "queue", args: []string{"--profile", "concept"}},
	"queue.words-upstream":      {reason: "A definition of the contract can be written in the upstream vocabulary.", example: "queue", args: []string{"--words", "upstream"}},
	"queue.words-portal":        {reason: "A definition of the contract is written in the portal vocabulary by default.", example: "queue", args: []string{"--words", "portal"}, same: true},
	"cache.composerIngestor":    {reason: "Variant A supports every annotation in the vocabulary of the contract.", example: "cache", args: []string{"--profile", "composerIngestor"}},
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

// compare compares the output of a run with the golden file.
func compare(t *testing.T, name, reason string, args ...string) {
	t.Helper()
	got, notes, code := run(t, append(args, "--stdout")...)
	if code != app.ExitOK {
		t.Fatalf("%s: ingestor-cli ended with exit code %d\n%s", reason, code, notes)
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

// check parses the entities and validates them with the catalog's rules.
func check(t *testing.T, reason, text string) {
	t.Helper()
	var es []*entity.Entity
	err := parser.Decode(strings.NewReader(text), parser.Limits{}, func(n *tree.Node, bad *parser.Error) bool {
		if bad != nil {
			t.Errorf("%s: cannot parse the entities: %v", reason, bad)
			return false
		}
		e, err := entity.Parse(n)
		if err != nil {
			t.Errorf("%s: cannot parse an entity: %v", reason, err)
			return false
		}
		es = append(es, e)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(es) == 0 {
		t.Errorf("%s: output has no entities", reason)
	}
	for _, f := range entity.CheckAll(es) {
		if f.Severity == finding.Error {
			t.Errorf("%s: %s: %s [%s]", reason, f.Where(), f.Message, f.Rule)
		}
	}
}

// stray reports golden files that no test uses.
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

// TestAllAtOnce checks that one run over all examples gives the same entities
// as one run for each: definitions do not affect each other.
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
		t.Errorf("entities of single runs (-) and of one run (+) differ:\n%s", diff)
	}
}

func documents(text string) []string {
	return strings.Split(strings.TrimSuffix(strings.TrimPrefix(text, "---\n"), "\n"), "\n---\n")
}
