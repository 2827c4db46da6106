// Package corpus tests the tools with published definitions and with the
// validators of the real catalog. Both are outside the repository: the tests
// are skipped unless INGESTOR_CORPUS (definitions) and INGESTOR_ORACLE_DIR (the
// catalog's validators, prepared by make oracle) are set.
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
		t.Skip("INGESTOR_CORPUS is not set: no real definitions to test")
	}
	return filepath.Join(root, name)
}

// oracle returns the script that runs the catalog's validators, or skips the
// test.
func oracle(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("INGESTOR_ORACLE_DIR")
	if dir == "" {
		t.Skip("INGESTOR_ORACLE_DIR is not set: run make oracle and set it")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed, which runs the catalog's validators")
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

// each calls f for every index, concurrently on all CPUs.
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

// run runs the command and returns its output and exit code.
func run(ctx context.Context, args ...string) (stdout, stderr string, code int) {
	var out, notes bytes.Buffer
	env := &app.Env{
		Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &notes,
		Getenv: func(string) string { return "" }, Now: time.Now,
	}
	code = app.Run(ctx, ingestor.Name, env, ingestor.Run)
	return out.String(), notes.String(), code
}

// Minimum results for the corpus. Every definition gets a Resource; a few lack
// a served version, a group or a kind, and get no Template.
const (
	wantDefinitions = 548
	withoutTemplate = 4
)

// TestEach transforms every definition separately, with the naming of each
// profile.
func TestEach(t *testing.T) {
	paths := documents(t, folder(t, "xrds"))
	if len(paths) != wantDefinitions {
		t.Fatalf("found %d definitions, want %d; is this another corpus?", len(paths), wantDefinitions)
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
			t.Logf("%s: %d definitions, %d Templates; without a Template: %q", p.Name, len(paths), total, bare)
			if len(bare) > withoutTemplate {
				t.Errorf("%d definitions got no Template, want at most %d", len(bare), withoutTemplate)
			}
		})
	}
}

// unlabelled returns a profile that accepts every definition, as definitions of
// the corpus do not have our labels.
func unlabelled(p engine.Profile) engine.Profile {
	p.RequiredLabel, p.Modern = "", false
	return p
}

// one transforms a definition and returns the number of its Templates.
func one(t *testing.T, p engine.Profile, path string) (templates int) {
	t.Helper()
	r, err := pipeline.Run(t.Context(), pipeline.Options{
		Source: file.New([]string{path}, file.Options{}), Engine: engine.New(p, engine.Options{}, engine.Hooks{}),
		Surroundings: true, Parallelism: 1,
	})
	if err != nil || r.ReadErr != nil || len(r.Definitions) != 1 {
		t.Errorf("%s: %d definitions, want 1; errors %v, %v", path, len(r.Definitions), err, r.ReadErr)
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
		t.Errorf("%s: definition has %d Resources, want 1", path, resources)
	}
	return templates
}

// TestCatalog checks the output of the command with the validators of the real
// catalog.
func TestCatalog(t *testing.T) {
	root, script := folder(t, ""), oracle(t)
	cases := map[string]struct {
		reason  string
		folders []string
		args    []string
		least   int
	}{
		"Definitions":  {"Published definitions result in valid entities.", []string{"xrds"}, nil, 1350},
		"Everything":   {"Compositions and composites result in valid entities.", []string{"xrds", "compositions", "xrs"}, nil, 2900},
		"Surroundings": {"Systems, a Domain and options result in valid entities.", []string{"xrds"}, []string{"--organize", "--system", "shop", "--domain", "Retail", "--owner", "group:people/team-a", "--namespace", "tools", "--tags", "A b,c"}, 1350},
		"Concept":      {"Slugs are valid names.", []string{"xrds"}, []string{"--profile", "concept"}, 1350},
		"Weird":        {"Malformed definitions result in valid entities.", []string{"weird"}, nil, 300},
		"Unchecked":    {"Entities are valid even if validation is skipped.", []string{"weird", "xrds"}, []string{"--skip-validation"}, 1400},
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
				t.Fatalf("%s: ingestor-cli ended with exit code %d\n%s", tc.reason, code, notes)
			}
			if n := strings.Count(entities, "\n"); n < tc.least {
				t.Errorf("%s: output has %d entities, want at least %d", tc.reason, n, tc.least)
			}
			ask(t, script, tc.reason, entities)
		})
	}
}

// TestCatalogProfiles does the same for the profiles that select labelled
// definitions.
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

// ask validates entities, one per line, with the validators of the real
// catalog.
func ask(t *testing.T, script, reason, entities string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", script, "--quiet")
	cmd.Stdin = strings.NewReader(entities)
	var refused, summary bytes.Buffer
	cmd.Stdout, cmd.Stderr = &refused, &summary
	if err := cmd.Run(); err != nil {
		t.Errorf("%s: catalog rejected entities: %v\n%s%s", reason, err, first(refused.String(), 20), summary.String())
	}
	t.Logf("%s: %s", reason, strings.TrimSpace(summary.String()))
}

// first returns the first n lines of text.
func first(text string, n int) string {
	lines := slices.Collect(strings.Lines(text))
	return strings.Join(lines[:min(n, len(lines))], "")
}

// TestPreview previews everything: every form has an outline, and the output
// contains no terminal control characters.
func TestPreview(t *testing.T) {
	t.Parallel()
	out, notes, code := run(t.Context(), folder(t, "xrds"), folder(t, "weird"), "--recursive", "--preview")
	if code != app.ExitInvalid && code != app.ExitOK {
		t.Errorf("preview ended with exit code %d\n%s", code, first(notes, 20))
	}
	templates, forms := strings.Count(out, "\nTemplate default/"), strings.Count(out, "\nForm of ")
	if templates < 450 || templates != forms || strings.Contains(out+notes, "\x1b") {
		t.Errorf("preview shows %d Templates and %d forms", templates, forms)
	}
}

// TestDeterminism checks that the output is byte-identical for any order of the
// arguments and any parallelism.
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
		{"The output is the same with one worker.", paths, 1},
		{"The output is the same with eight workers and reversed arguments.", backwards, 8},
		{"The output is the same with eight workers and the second half first.", shuffled, 8},
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
			t.Errorf("%s: entities differ:\n%s", tc.reason, first(cmp.Diff(strings.Split(firstEntities, "\n"), strings.Split(entities, "\n")), 40))
		}
		if firstFindings != findings {
			t.Errorf("%s: findings differ:\n%s", tc.reason, first(cmp.Diff(strings.Split(firstFindings, "\n"), strings.Split(findings, "\n")), 40))
		}
	}
}

// spell returns findings as text with all their fields.
func spell(fs []finding.Finding) string {
	var b strings.Builder
	for _, f := range fs {
		b.WriteString(f.Where() + ": " + f.Severity.String() + ": " + f.Message + " [" + f.Rule + "] " + f.Object + " " + f.Path + " " + f.Hint + "\n")
	}
	return b.String()
}
