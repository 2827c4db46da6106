// Package corpus holds the tool against definitions people really ship, and
// against the real catalog. Both lie outside the repository: the tests are
// skipped where INGESTOR_CORPUS (definitions) or INGESTOR_ORACLE_DIR (the
// catalog's own validators, prepared by make oracle) is not set.
package corpus

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/ingestor"
	"example.dev/ingestor/internal/pipeline"
	"example.dev/ingestor/sink"
	"example.dev/ingestor/sink/stream"
	"example.dev/ingestor/source/file"
	"example.dev/ingestor/words"
)

// folder returns a folder of the corpus, or skips the test.
func folder(t *testing.T, name string) string {
	t.Helper()
	root := os.Getenv("INGESTOR_CORPUS")
	if root == "" {
		t.Skip("INGESTOR_CORPUS is not set: no real definitions to try")
	}
	return filepath.Join(root, name)
}

// oracle returns the script that asks the real catalog, or skips the test.
func oracle(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("INGESTOR_ORACLE_DIR")
	if dir == "" {
		t.Skip("INGESTOR_ORACLE_DIR is not set: run make oracle and set it")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed: it runs the real catalog's validators")
	}
	return filepath.Join(dir, "validate.js")
}

// documents lists the YAML files below a folder.
func documents(t *testing.T, root string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".yaml") {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// each calls f for every index at once on all processors.
func each(n int, f func(i int)) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// run runs the command and returns what it wrote and its exit code.
func run(ctx context.Context, args ...string) (stdout, stderr string, code int) {
	var out, notes bytes.Buffer
	env := &app.Env{
		Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &notes,
		Getenv: func(string) string { return "" }, Now: time.Now,
	}
	code = app.Run(ctx, ingestor.Name, env, ingestor.Run)
	return out.String(), notes.String(), code
}

// The least that must come of the corpus. Every definition gets its Resource;
// these few lack a served version, a group or a kind, and get no Template.
const (
	wantDefinitions = 548
	withoutTemplate = 4
)

// TestEach runs every definition alone, in each profile's naming.
func TestEach(t *testing.T) {
	paths := documents(t, folder(t, "xrds"))
	if len(paths) != wantDefinitions {
		t.Fatalf("found %d definitions, want %d: is it another corpus?", len(paths), wantDefinitions)
	}
	profiles := []engine.Profile{engine.CLI, engine.Concept, unlabelled(engine.ComposerIngestor), unlabelled(engine.ClusterIngestor)}
	for _, p := range profiles {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			templates := make([]int, len(paths))
			each(len(paths), func(i int) { templates[i] = one(t, p, paths[i]) })
			total, bare := 0, []string{}
			for i, n := range templates {
				total += n
				if n == 0 {
					bare = append(bare, filepath.Base(paths[i]))
				}
			}
			t.Logf("%s: %d definitions, %d Templates; without one: %q", p.Name, len(paths), total, bare)
			if len(bare) > withoutTemplate {
				t.Errorf("%d definitions get no Template, at most %d should", len(bare), withoutTemplate)
			}
		})
	}
}

// unlabelled is a profile that takes every definition: the corpus comes from
// people who know nothing of our labels.
func unlabelled(p engine.Profile) engine.Profile {
	p.RequiredLabel, p.Modern = "", false
	return p
}

// one runs a definition and returns how many Templates it gets.
func one(t *testing.T, p engine.Profile, path string) (templates int) {
	t.Helper()
	r, err := pipeline.Run(t.Context(), pipeline.Options{
		Source: file.New([]string{path}, file.Options{}), Engine: engine.New(p, engine.Options{}, engine.Hooks{}),
		Surroundings: true, Parallelism: 1,
	})
	if err != nil || r.ReadErr != nil || len(r.Definitions) != 1 {
		t.Errorf("%s: %d definitions, errors %v, %v", path, len(r.Definitions), err, r.ReadErr)
		return 0
	}
	for _, f := range r.Findings {
		if f.Rule == pipeline.RuleInternal || strings.HasPrefix(f.Rule, "ENT") && f.Severity == finding.Error {
			t.Errorf("%s: %s [%s]", path, f.Message, f.Rule)
		}
	}
	for _, f := range entity.CheckAll(r.Entities) {
		if f.Severity == finding.Error {
			t.Errorf("%s: %s: %s [%s]", path, f.Object, f.Message, f.Rule)
		}
	}
	resources := 0
	for _, e := range r.Entities {
		switch {
		case e.Kind == entity.KindTemplate:
			templates++
		case e.Spec.Get("type").Str() == "crossplane-xrd":
			resources++
		}
	}
	if resources != 1 {
		t.Errorf("%s: %d Resources for the definition, want 1", path, resources)
	}
	return templates
}

// TestCatalog hands what the command writes to the real catalog's validators.
func TestCatalog(t *testing.T) {
	root, script := folder(t, ""), oracle(t)
	cases := map[string]struct {
		reason  string
		folders []string
		args    []string
		least   int
	}{
		"Definitions":  {"what people ship", []string{"xrds"}, nil, 1350},
		"Everything":   {"with Compositions and composites", []string{"xrds", "compositions", "xrs"}, nil, 2900},
		"Surroundings": {"with Systems and a Domain, and options", []string{"xrds"}, []string{"--organize", "--system", "shop", "--domain", "Retail", "--owner", "group:people/team-a", "--namespace", "tools", "--tags", "A b,c"}, 1350},
		"Concept":      {"with slugs", []string{"xrds"}, []string{"--profile", "concept"}, 1350},
		"Weird":        {"what people should not have committed", []string{"weird"}, nil, 300},
		"Unchecked":    {"the engine needs no validation to make valid entities", []string{"weird", "xrds"}, []string{"--skip-validation"}, 1400},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"--recursive", "--words", "upstream", "--stdout", "--format", "json", "--quiet"}, tc.args...)
			for _, f := range tc.folders {
				args = append(args, filepath.Join(root, f))
			}
			entities, notes, code := run(t.Context(), args...)
			if code != app.ExitOK && code != app.ExitInvalid {
				t.Fatalf("%s: exit code %d\n%s", tc.reason, code, notes)
			}
			if n := strings.Count(entities, "\n"); n < tc.least {
				t.Errorf("%s: %d entities, want at least %d", tc.reason, n, tc.least)
			}
			ask(t, script, tc.reason, entities)
		})
	}
}

// TestCatalogProfiles does so for the profiles that take labelled definitions.
func TestCatalogProfiles(t *testing.T) {
	root, script := folder(t, "xrds"), oracle(t)
	for _, p := range []engine.Profile{engine.ComposerIngestor, engine.ClusterIngestor} {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			upstream := words.Upstream
			var out bytes.Buffer
			r, err := pipeline.Run(t.Context(), pipeline.Options{
				Source: file.New([]string{root}, file.Options{Recursive: true}),
				Engine: engine.New(unlabelled(p), engine.Options{
					Words: words.Choice{Fixed: &upstream}, GitOps: true, Now: time.Unix(0, 0),
				}, engine.Hooks{}),
				Sink: stream.New(&out, sink.JSON),
			})
			if err = errors.Join(err, r.ReadErr); err != nil {
				t.Fatal(err)
			}
			ask(t, script, p.Name, out.String())
		})
	}
}

// ask hands entities, one a line, to the real catalog's validators.
func ask(t *testing.T, script, reason, entities string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", script, "--quiet")
	cmd.Stdin = strings.NewReader(entities)
	var refused, summary bytes.Buffer
	cmd.Stdout, cmd.Stderr = &refused, &summary
	if err := cmd.Run(); err != nil {
		t.Errorf("%s: the catalog refuses some: %v\n%s%s", reason, err, first(refused.String(), 20), summary.String())
	}
	t.Logf("%s: %s", reason, strings.TrimSpace(summary.String()))
}

// first returns the first n lines of text.
func first(text string, n int) string {
	lines := slices.Collect(strings.Lines(text))
	return strings.Join(lines[:min(n, len(lines))], "")
}

// TestPreview shows everything there is to show: no form is too odd for an
// outline, and no text gives a terminal orders.
func TestPreview(t *testing.T) {
	t.Parallel()
	out, notes, code := run(t.Context(), folder(t, "xrds"), folder(t, "weird"), "--recursive", "--preview")
	if code != app.ExitInvalid && code != app.ExitOK {
		t.Errorf("exit code %d\n%s", code, first(notes, 20))
	}
	templates, forms := strings.Count(out, "\nTemplate default/"), strings.Count(out, "\nForm of ")
	if templates < 450 || templates != forms || strings.Contains(out+notes, "\x1b") {
		t.Errorf("%d Templates, %d forms", templates, forms)
	}
}

// TestDeterminism wants the same bytes whatever the order of the arguments and
// however many definitions are worked on at once.
func TestDeterminism(t *testing.T) {
	t.Parallel()
	paths := documents(t, folder(t, "xrds"))
	paths = append(paths, documents(t, folder(t, "compositions"))...)
	backwards := slices.Clone(paths)
	slices.Reverse(backwards)
	shuffled := slices.Concat(paths[len(paths)/2:], paths[:len(paths)/2])
	upstream := words.Upstream
	var firstEntities, firstFindings string
	for _, tc := range []struct {
		reason      string
		paths       []string
		parallelism int
	}{
		{"one at once", paths, 1},
		{"eight at once, backwards", backwards, 8},
		{"eight at once, the second half first", shuffled, 8},
	} {
		r, err := pipeline.Run(t.Context(), pipeline.Options{
			Source: file.New(tc.paths, file.Options{Parallelism: tc.parallelism}),
			Engine: engine.New(engine.CLI, engine.Options{Words: words.Choice{Fixed: &upstream}}, engine.Hooks{}),
			Words:  words.Choice{Fixed: &upstream}, Surroundings: true, Parallelism: tc.parallelism,
		})
		if err = errors.Join(err, r.ReadErr); err != nil {
			t.Fatal(err)
		}
		entities, findings := string(entity.YAMLDocuments(r.Entities)), spell(r.Findings)
		if firstEntities == "" {
			firstEntities, firstFindings = entities, findings
			t.Logf("%d entities, %d bytes, %d findings", len(r.Entities), len(entities), len(r.Findings))
			continue
		}
		if firstEntities != entities {
			t.Errorf("%s: the entities differ:\n%s", tc.reason, first(cmp.Diff(strings.Split(firstEntities, "\n"), strings.Split(entities, "\n")), 40))
		}
		if firstFindings != findings {
			t.Errorf("%s: the findings differ:\n%s", tc.reason, first(cmp.Diff(strings.Split(firstFindings, "\n"), strings.Split(findings, "\n")), 40))
		}
	}
}

// spell writes findings out, all of them with all they say.
func spell(fs []finding.Finding) string {
	var b strings.Builder
	for _, f := range fs {
		b.WriteString(f.Where() + ": " + f.Severity.String() + ": " + f.Message + " [" + f.Rule + "] " + f.Object + " " + f.Path + " " + f.Hint + "\n")
	}
	return b.String()
}
