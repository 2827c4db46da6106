package backstage_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine/form"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/ingestor"
	"example.dev/ingestor/internal/scaffolder/validation"
	"example.dev/ingestor/template/expression"
	"example.dev/ingestor/test/postgres"
	"example.dev/ingestor/test/process"
	"example.dev/ingestor/test/sample"
)

// TestDelivery runs Templates of both deliveries in a real scaffolder: for those of
// Backstage's own actions, the change request is opened at a Git server, and for all
// Templates of the corpus, the manifest is the one that we render.
func TestDelivery(t *testing.T) {
	node, dir := built(t)
	git, portal := startForge(t), startRecorder(t)
	w := &world{t: t, log: &process.Log{}, portal: portal.url, backstage: freeAddress(t)}
	providers := []string{"github", "gitlab", "bitbucketServer"}
	for _, provider := range providers {
		// Each Template has its own name, so that all are in the catalog.
		text := strings.ReplaceAll(string(generate(t, "delivery: backstage, gitProvider: "+provider, "../../examples/bucket.yaml")), `"name":"buckets"`, `"name":"buckets-`+strings.ToLower(provider)+`"`)
		file := filepath.Join(t.TempDir(), "templates.yaml")
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(text, "\n{", "\n---\n{")), 0o600); err != nil {
			t.Fatal(err)
		}
		w.catalogs = append(w.catalogs, file)
	}
	later := object{"hours": 1}
	w.more = object{
		"integrations": git.integrations(),
		"ingestor":     object{"portals": []object{{"url": portal.url, "schedule": object{"frequency": later, "timeout": later, "initialDelay": later}}}},
	}
	w.startBackstage(node, dir, postgres.Start(t))
	for _, provider := range providers {
		t.Run(provider, func(t *testing.T) { w.propose(t, git, provider) })
	}
	t.Run("Corpus", func(t *testing.T) {
		if os.Getenv("INGESTOR_CORPUS") == "" {
			t.Skip("INGESTOR_CORPUS is not set: no real definitions to test")
		}
		w.compare(t, git, portal, "delivery: portal")
		w.compare(t, git, portal, "delivery: backstage")
	})
}

// propose runs a Template, and checks that the branch of its change request has exactly
// the manifest more than main.
func (w *world) propose(t *testing.T, git *forge, provider string) {
	template, name := "buckets-"+strings.ToLower(provider), "invoices-"+strings.ToLower(provider)
	until(t, "the Template is in the catalog", func() error {
		return w.ask(http.MethodGet, "/api/catalog/entities/by-name/template/default/"+template, nil, nil)
	})
	git.opened = nil
	log, ok := w.run(t, template, object{
		"name": name, "namespace": "team", "owner": "group:default/platform", "region": "eu-west-1", "lifecycleDays": 7,
		"gitRepository": git.repoURL(provider), "gitPath": "clusters/dev", "gitBranch": "main",
	})
	if !ok {
		t.Fatalf("the task failed:\n%s", log)
	}
	branch := "add-bucket-team-" + name
	if diff := cmp.Diff([]string{branch + " to main: Add Bucket " + name}, git.opened); diff != "" {
		t.Errorf("change requests (-want +got):\n%s", diff)
	}
	file := "clusters/dev/bucket/team/" + name + ".yaml"
	if got := git.git("", "diff", "--name-status", "main", branch); got != "A\t"+file {
		t.Errorf("the branch differs from main by %q, want only %s", got, file)
	}
	want := fmt.Sprintf(`apiVersion: storage.example.org/v1
kind: Bucket
metadata:
  name: %s
  namespace: team
  annotations:
    backstage.io/owner: group:default/platform
    backstage.io/source-template: template:default/%s
spec:
  lifecycleDays: 7
  region: eu-west-1`, name, template)
	if diff := cmp.Diff(want, git.git("", "show", branch+":"+file)); diff != "" {
		t.Errorf("the manifest (-want +got):\n%s", diff)
	}
}

// misread are Templates whose file is read differently than it was written, each with a
// reason. Rule FORM007 is about them.
var misread = map[string]string{
	"sqls.devopstoolkitseries.com delivery: backstage": "Backstage writes the text 8_0 without quotes, which is a number in YAML 1.1",
}

// compare makes a dry run of every Template of the corpus.
func (w *world) compare(t *testing.T, git *forge, portal *recorder, setting string) {
	began, ran, filled, differ := time.Now(), 0, 0, 0
	var mu sync.Mutex
	slots, running := make(chan struct{}, 3), sync.WaitGroup{}
	resources := corpusResources(t)
	for i, e := range nodes(t, generate(t, setting, "--recursive", filepath.Join(os.Getenv("INGESTOR_CORPUS"), "xrds"))) {
		if e.Get("kind").Str() != "Template" {
			continue
		}
		ran++
		values, found := valuesFor(t, e, resources)
		if found {
			filled++
		}
		values.Set("name", tree.Str(fmt.Sprintf("some-%d", i)))
		if values.Has("gitRepository") {
			values.Set("gitRepository", tree.Str(git.repoURL("github")))
		}
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			if why := w.differs(portal, e, values); (why != "") != (misread[e.Get("metadata", "name").Str()+" "+setting] != "") {
				mu.Lock()
				defer mu.Unlock()
				if differ++; differ < 10 {
					t.Errorf("%s, Template %s of %s: %s", setting, e.Get("metadata", "name").Str(), e.Get("metadata", "annotations", "backstage.io/source-location").Str(), why)
				}
			}
		})
	}
	running.Wait()
	if ran < 400 {
		t.Errorf("%s: %d Templates, want at least 400", setting, ran)
	}
	t.Logf("%s: %d Templates, %d of them with the values of a real resource; %d differences; %v", setting, ran, filled, differ, time.Since(began).Round(time.Second))
}

// differs makes a dry run of a Template in Backstage and returns how the manifest differs
// from ours.
func (w *world) differs(portal *recorder, template, values *tree.Node) string {
	var done struct {
		DirectoryContents []struct{ Path, Base64Content string }
	}
	if err := w.ask(http.MethodPost, "/api/scaffolder/v2/dry-run", object{
		"template": json.RawMessage(tree.AppendJSON(nil, template, "")), "values": json.RawMessage(tree.AppendJSON(nil, values, "")),
		"secrets": object{}, "directoryContents": []any{},
	}, &done); err != nil {
		return err.Error()
	}
	step := template.Get("spec", "steps").List()[0]
	want, err := expression.Evaluate(step.Get("input"), expression.Scope{"parameters": values}, nil)
	if err != nil {
		return err.Error()
	}
	var got []byte
	if step.Get("action").Str() == "catalog:write" {
		file := path.Clean(want.Get("filePath").Str())
		want = want.Get("entity")
		annotations := want.Get("metadata", "annotations").Clone()
		annotations.Set("backstage.io/source-template", tree.Str("template:default/dry-run"))
		want.Get("metadata").Set("annotations", annotations)
		for _, f := range done.DirectoryContents {
			if f.Path == file {
				got, err = base64.StdEncoding.DecodeString(f.Base64Content)
			}
		}
		if len(done.DirectoryContents) != 1 {
			return fmt.Sprintf("%d files, want only %s", len(done.DirectoryContents), file)
		}
	} else {
		got = portal.input(values.Get("name").Str())
	}
	docs, errs := parser.DecodeBytes(got)
	if err != nil || len(errs) > 0 || len(docs) != 1 {
		return fmt.Sprintf("got %d documents: %v %v\n%s", len(docs), err, errs, got)
	}
	return cmp.Diff(string(tree.AppendCanonical(nil, want)), string(tree.AppendCanonical(nil, docs[0])))
}

// generate returns the entities that ingestor-cli makes with settings for Templates.
func generate(t *testing.T, settings string, args ...string) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "app-config.yaml")
	if err := os.WriteFile(file, []byte("crossplaneIngestor: { templateGeneration: { "+settings+" } }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, notes bytes.Buffer
	env := &app.Env{
		Args:  append([]string{"--config", file, "--words", "upstream", "--stdout", "-f", "json", "--quiet"}, args...),
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &notes, Getenv: func(string) string { return "" }, Now: time.Now,
	}
	// Some definitions of the corpus are invalid, which ends with 2.
	if code := app.Run(t.Context(), ingestor.Name, env, ingestor.Run); code != 0 && code != 2 {
		t.Fatalf("ingestor-cli %q ended with %d: %s", env.Args, code, &notes)
	}
	return out.Bytes()
}

func nodes(t *testing.T, data []byte) []*tree.Node {
	t.Helper()
	docs, errs := parser.DecodeBytes(data)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return docs
}

// corpusResources returns a valid resource of the corpus for each definition's file.
func corpusResources(t *testing.T) map[string]*tree.Node {
	t.Helper()
	dir := os.Getenv("INGESTOR_CORPUS")
	table, err := os.ReadFile(filepath.Join(dir, "XR_VALIDATION.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*tree.Node{}
	for line := range strings.Lines(string(table)) {
		cols := strings.Split(strings.TrimSpace(line), "\t")
		if len(cols) < 4 || cols[3] != "valid" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, cols[0]))
		if err != nil {
			t.Fatal(err)
		}
		if docs, errs := parser.DecodeBytes(data); len(errs) == 0 && len(docs) == 1 {
			out[cols[1]] = docs[0]
		}
	}
	return out
}

// valuesFor returns valid values for the form of a Template: those of a real resource, or
// what is required.
func valuesFor(t *testing.T, template *tree.Node, resources map[string]*tree.Node) (values *tree.Node, found bool) {
	t.Helper()
	spec := template.Get("spec")
	values = tree.Obj()
	_, file, _ := strings.Cut(template.Get("metadata", "annotations", "backstage.io/source-location").Str(), "/corpus/")
	if r := resources[file]; r != nil {
		values = form.Fill(fillable(spec), r)
	}
	if values.Len() > 0 {
		values.Set("name", tree.Str("some"))
		complete(values, spec)
		found = valid(spec, values)
	}
	if !found {
		values = tree.Obj()
		complete(values, spec)
		if !valid(spec, values) {
			t.Errorf("no valid values for %s: %s", file, tree.AppendJSON(nil, values, ""))
		}
	}
	return values, found
}

// fillable returns a Template whose first step has its manifest where form.Fill expects it.
func fillable(spec *tree.Node) *tree.Node {
	input := spec.Get("steps").List()[0].Get("input")
	manifest := input.Get("manifest")
	if manifest == nil {
		manifest = input.Get("entity")
	}
	return tree.Obj(tree.F("steps", tree.Arr(tree.Obj(
		tree.F("action", tree.Str("kubernetes:apply")), tree.F("input", tree.Obj(tree.F("manifest", manifest))),
	))))
}

func valid(spec, values *tree.Node) bool {
	return !slices.ContainsFunc(validation.Pages(spec.Get("parameters")), func(page *tree.Node) bool {
		found, err := validation.Check(page, values, nil)
		return err != nil || len(found) > 0
	})
}

// complete adds what the pages require.
func complete(values, spec *tree.Node) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, page := range validation.Pages(spec.Get("parameters")) {
		required(values, page, random)
	}
}

// required adds the required fields of an object that are missing, and those of its first
// choice.
func required(values, schema *tree.Node, random *rand.Rand) {
	for _, name := range schema.Get("required").Strings() {
		if values.Has(name) {
			continue
		}
		if s := schema.Get("properties", name); s != nil {
			values.Set(name, some(s, random))
		}
	}
	if one := schema.Get("oneOf").List(); len(one) > 0 && !slices.ContainsFunc(one, func(b *tree.Node) bool { return values.Has(strings.Join(b.Get("required").Strings(), "")) }) {
		required(values, tree.Overlay(tree.Obj(tree.F("properties", schema.Get("properties"))), one[0]), random)
	}
	if not := schema.Get("else"); not != nil {
		required(values, tree.Obj(tree.F("properties", schema.Get("properties")), tree.F("required", not.Get("required"))), random)
	}
}

// some returns a valid value.
func some(s *tree.Node, random *rand.Rand) *tree.Node {
	typ := s.Get("type").Str()
	if all := s.Get("type").Strings(); len(all) > 0 {
		typ = all[0]
	}
	var tried []*tree.Node
	if d := s.Get("default"); d != nil {
		tried = append(tried, d)
	}
	tried = append(tried, s.Get("enum").List()...)
	switch typ {
	case "object":
		out := tree.Obj()
		required(out, s, random)
		one := out
		if of := s.Get("additionalProperties"); of.IsMap() {
			one = tree.Obj(tree.F("key", some(of, random)))
		}
		tried = append(tried, out, one, tree.Obj(tree.F("key", tree.Str("value"))))
	case "array":
		tried = append(tried, tree.Arr())
		for n := range 4 {
			out := tree.Arr()
			for range n + 1 {
				out.Items = append(out.Items, some(s.Get("items"), random))
			}
			tried = append(tried, out)
		}
	case "integer", "number":
		for _, key := range []string{"minimum", "maximum", "multipleOf"} {
			if n := s.Get(key); n != nil {
				tried = append(tried, n)
			}
		}
		tried = append(tried, tree.Number(3), tree.Number(100), tree.Number(3000))
	case "boolean":
		tried = append(tried, tree.Boolean(true))
	case "string":
		if text, ok := sample.Matching(s.Get("pattern").Str(), random); ok {
			tried = append(tried, tree.Str(text))
		}
		for _, text := range []string{"some-text", "a", "2026-01-02T03:04:05Z", "2026-01-02", "ada@example.org", "https://example.org", "10.0.0.1", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", strings.Repeat("a", 40)} {
			tried = append(tried, tree.Str(text))
		}
	default:
		for _, b := range s.Get("anyOf").List() {
			tried = append(tried, some(b, random))
		}
	}
	for _, v := range tried {
		if found, err := validation.Check(s, v, nil); err == nil && len(found) == 0 {
			return v
		}
	}
	return tree.Str("some-text")
}

// recorder stands in for a portal: it keeps the input of the actions that Backstage asks it
// to run, by the name of their resource.
type recorder struct {
	url string
	mu  sync.Mutex
	all map[string][]byte
}

func startRecorder(t *testing.T) *recorder {
	t.Helper()
	r := &recorder{all: map[string][]byte{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/scaffolder/v2/actions/{id}/run", func(w http.ResponseWriter, req *http.Request) {
		var body struct {
			DryRun bool
			Input  json.RawMessage
		}
		var input struct {
			Manifest struct{ Metadata struct{ Name string } }
		}
		if err := json.NewDecoder(req.Body).Decode(&body); err != nil || json.Unmarshal(body.Input, &input) != nil || !body.DryRun {
			t.Errorf("request to run %s: %v", req.PathValue("id"), err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.all[input.Manifest.Metadata.Name] = body.Input
		_, _ = w.Write([]byte(`{"log":[],"output":{}}`)) // The client is gone.
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	r.url = srv.URL
	return r
}

func (r *recorder) input(name string) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all[name]
}
