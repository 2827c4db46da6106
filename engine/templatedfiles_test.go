package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/engine/folder"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// yamlOf parses a value.
func yamlOf(t *testing.T, text string) *tree.Node {
	t.Helper()
	docs, errs := parser.DecodeBytes([]byte(text))
	if len(errs) > 0 || len(docs) != 1 {
		t.Fatalf("%d values, errors %v", len(docs), errs)
	}
	return docs[0]
}

// withoutManifest returns steps without their manifests.
func withoutManifest(steps *tree.Node) *tree.Node {
	out := steps.Clone()
	for _, s := range out.Items {
		s.Get("input").Delete("manifest")
	}
	return out
}

// TestTemplateSteps checks the steps that each built-in file writes.
func TestTemplateSteps(t *testing.T) {
	repo, path := annotated(words.AnnotationGitOpsRepo, "https://me:secret@git.example.com/acme/live.git"), annotated(words.AnnotationGitOpsPath, "/clusters/live/")
	const propose = `{id: propose, name: Propose Database, action: publish:change-request, input: {host: %s, repository: acme/live, path: clusters/live, branch: main, title: "Add Database ${{ parameters.name }}"}}`
	cases := map[string]struct {
		reason        string
		wizard, steps string
		edit          edit
		values        map[string]any
		want          string
		err           string
	}{
		"Default":       {"By default the manifest is applied.", "", "", nil, nil, `[{id: apply, name: Apply Database, action: cluster:apply, input: {}}]`, ""},
		"Delivery":      {"The developer chooses the delivery.", "gitops", "", both(repo, path), nil, `[{id: apply, name: Apply Database, action: cluster:apply, input: {}, if: '${{ parameters.delivery == "apply" }}'}, {id: propose, name: Propose Database, action: publish:change-request, input: {host: "${{ parameters.gitHost }}", repository: "${{ parameters.gitRepository }}", path: "${{ parameters.gitPath }}", branch: "${{ parameters.gitBranch }}", title: "Add Database ${{ parameters.name }}"}, if: '${{ parameters.delivery == "change-request" }}'}]`, ""},
		"Cluster":       {"The developer chooses the cluster.", "multi-cluster", "", nil, map[string]any{"clusters": []any{"a", "b"}}, `[{id: apply, name: Apply Database, action: cluster:apply, input: {cluster: "${{ parameters.deliveryCluster }}"}}]`, ""},
		"DirectCluster": {"Direct apply uses the chosen cluster.", "multi-cluster", "direct-apply", nil, map[string]any{"clusters": []any{"a"}}, `[{id: apply, name: Apply Database, action: cluster:apply, input: {cluster: "${{ parameters.deliveryCluster }}"}}]`, ""},
		"Direct":        {"Direct apply ignores the delivery of the wizard.", "gitops", "direct-apply", nil, nil, `[{id: apply, name: Apply Database, action: cluster:apply, input: {}}]`, ""},
		"Pull":          {"The repository of the annotation is used, without its secret.", "", "pull-request", both(repo, path), nil, "[" + strings.Replace(propose, "%s", "git.example.com", 1) + "]", ""},
		"PullHost":      {"The default host is used for a repository without one.", "", "pull-request", both(annotated(words.AnnotationGitOpsRepo, "acme/live"), path), nil, "[" + strings.Replace(propose, "%s", "github.com", 1) + "]", ""},
		"MergeHost":     {"The default host is used for a repository without one.", "", "merge-request", both(annotated(words.AnnotationGitOpsRepo, "acme/live"), path), nil, "[" + strings.Replace(propose, "%s", "gitlab.com", 1) + "]", ""},
		"Values":        {"The repository of the values is used.", "", "merge-request", nil, map[string]any{"gitops": map[string]any{"repository": "gitlab.com/acme/live", "path": "clusters/live"}}, "[" + strings.Replace(propose, "%s", "gitlab.com", 1) + "]", ""},
		"NoRepository":  {"A repository is required.", "", "pull-request", path, nil, "", "annotation portal.io/gitops-repo"},
		"NoPath":        {"A path is required.", "", "merge-request", repo, nil, "", "annotation portal.io/gitops-path"},
		"Expression":    {"An expression is not accepted as a path.", "", "pull-request", both(repo, annotated(words.AnnotationGitOpsPath, "${{ secrets.x }}")), nil, "", "annotation portal.io/gitops-path"},
		"NoCluster":     {"Without clusters there is no cluster input.", "multi-cluster", "", nil, nil, `[{id: apply, name: Apply Database, action: cluster:apply, input: {}}]`, ""},
		"BadClusters":   {"The clusters must be a list.", "multi-cluster", "", nil, map[string]any{"clusters": "a"}, "", "it must be a list"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			edits := []edit{annotated(words.AnnotationWizard, tc.wizard), annotated(words.AnnotationSteps, tc.steps)}
			if tc.edit != nil {
				edits = append(edits, tc.edit)
			}
			tr := engine.New(engine.Concept, engine.Options{}, engine.Hooks{}).Templated(open(t), engine.TemplateOptions{Values: tc.values})
			res, err := tr.Transform(engine.Input{Definition: define(t, words.Portal, edits...)})
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("%s\nerror %v, want %q", tc.reason, err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s\n%v", tc.reason, err)
			}
			if diff := cmp.Diff(yamlOf(t, tc.want), withoutManifest(res.Entities[0].Spec.Get("steps"))); diff != "" {
				t.Errorf("%s\n-want +got\n%s", tc.reason, diff)
			}
			for _, s := range res.Entities[0].Spec.Get("steps").Items {
				if s.Get("input", "manifest", "kind").Str() != "Database" {
					t.Errorf("%s\nstep has no manifest", tc.reason)
				}
			}
		})
	}
}

// TestOwnSteps compares the result of helpers.steps with the steps of the
// engine.
func TestOwnSteps(t *testing.T) {
	f := open(t, files("steps/default.eta", "<%= helpers.toYaml(helpers.steps(metadata.values.kind)) %>\n", "wizard/default.eta", "<%= helpers.pages({ gitops: true }) %>\n"))
	d := define(t, words.Portal)
	want, err := engine.New(engine.Concept, engine.Options{GitOps: true}, engine.Hooks{}).Transform(engine.Input{Definition: d})
	if err != nil {
		t.Fatal(err)
	}
	e := engine.New(engine.Concept, engine.Options{}, engine.Hooks{})
	both, err := e.Templated(f, engine.TemplateOptions{Values: map[string]any{"kind": "both"}}).Transform(engine.Input{Definition: d})
	if err != nil {
		t.Fatal(err)
	}
	// helpers.output cannot know which steps there will be.
	want.Entities[0].Spec.Get("output").Delete("links")
	if diff := cmp.Diff(want.Entities[0].Spec, both.Entities[0].Spec); diff != "" {
		t.Errorf("-engine +template\n%s", diff)
	}
	for kind, id := range map[string]string{"apply": "apply", "change-request": "propose"} {
		res, err := e.Templated(f, engine.TemplateOptions{Values: map[string]any{"kind": kind}}).Transform(engine.Input{Definition: d})
		if err != nil {
			t.Fatal(err)
		}
		steps := res.Entities[0].Spec.Get("steps")
		if len(steps.Items) != 1 || steps.Items[0].Get("id").Str() != id || steps.Items[0].Has("if") {
			t.Errorf("%s: %s", kind, tree.AppendJSON(nil, steps, ""))
		}
	}
	if _, err := e.Templated(f, engine.TemplateOptions{Values: map[string]any{"kind": "no"}}).Transform(engine.Input{Definition: d}); err == nil || !strings.Contains(err.Error(), "use apply, change-request or both") {
		t.Errorf("error %v", err)
	}
}

// TestSimple checks that only required fields are asked for.
func TestSimple(t *testing.T) {
	spec := object{
		"type": "object", "required": []any{"size"},
		"properties": object{"size": object{"type": "string"}, "colour": object{"type": "string"}},
	}
	d := define(t, words.Portal, annotated(words.AnnotationTemplate, "simple"), versions(version("v1", schemaOf(spec, "properties", "spec"))))
	res, err := engine.New(engine.Concept, engine.Options{}, engine.Hooks{}).Templated(open(t), engine.TemplateOptions{}).Transform(engine.Input{Definition: d})
	if err != nil || len(res.Entities) != 1 {
		t.Fatalf("%d entities, error %v", len(res.Entities), err)
	}
	var asked []string
	for _, p := range res.Entities[0].Spec.Get("parameters").Items {
		for _, f := range p.Get("properties").Fields {
			asked = append(asked, f.Key)
		}
	}
	if diff := cmp.Diff([]string{"name", "namespace", "size"}, asked); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestAdvanced checks that delivery and links are shown if the definition has a
// repository.
func TestAdvanced(t *testing.T) {
	d := define(t, words.Portal, annotated(words.AnnotationTemplate, "advanced"), annotated(words.AnnotationGitOpsRepo, "https://git.example.com/a/b"))
	res, err := engine.New(engine.Concept, engine.Options{}, engine.Hooks{}).Templated(open(t), engine.TemplateOptions{}).Transform(engine.Input{Definition: d})
	if err != nil || len(res.Entities) != 3 {
		t.Fatalf("%d entities, error %v", len(res.Entities), err)
	}
	e := res.Entities[0]
	if diff := cmp.Diff([]entity.Link{{URL: "https://git.example.com/a/b", Title: "Repository"}}, e.Metadata.Links); diff != "" {
		t.Errorf("links: -want +got\n%s", diff)
	}
	if len(e.Spec.Get("steps").Items) != 2 || page(e, 3).Get("properties", "delivery", "default").Str() != "change-request" {
		t.Errorf("no delivery in:\n%s", entity.AppendYAML(nil, e))
	}
}

// TestSee checks the data of a template, which is the same every time.
func TestSee(t *testing.T) {
	d := define(t, words.Portal, annotated(words.AnnotationGitOpsRepo, "github.com/a/b"))
	d.Origin = xrd.Origin{Source: xrd.SourceCluster, Cluster: "prod", Location: "url:https://prod.example.com"}
	tr := engine.New(engine.Concept, engine.Options{}, engine.Hooks{}).Templated(open(t, files("metadata.yaml", "values: {a: 1, b: 2}\n")), engine.TemplateOptions{Values: map[string]any{"b": "mine"}})
	in := engine.Input{Definition: d, Context: map[string]string{"cluster": "prod", "namespace": "crossplane-system", "timestamp-free": "yes"}}
	got, err := tr.See(in)
	if err != nil {
		t.Fatal(err)
	}
	m := got.Get("metadata")
	for path, want := range map[string]string{
		"name": "databases-platform-io", "namespace": "default", "title": "Database", "owner": "platform-team", "system": "platform",
		"type": "composer-resource", "lifecycle": "production", "version": "v1", "kind": "Database", "cluster": "prod", "source": "kubernetes",
		"context.namespace": "crossplane-system", "location": "url:https://prod.example.com", "values.a": "1", "values.b": "mine",
		"files.portal": "portal/default.eta", "gitops.host": "github.com", "gitops.repository": "a/b", "timestamp-free": "yes",
	} {
		if v := m.Get(strings.Split(path, ".")...).Scalar(); v != want {
			t.Errorf("metadata.%s is %q, want %q", path, v, want)
		}
	}
	if !cmp.Equal(got.Get("xrd"), d.Node) {
		t.Error("xrd is not the definition")
	}
	again, _ := tr.See(in)
	if !cmp.Equal(got, again) {
		t.Error("data differs the second time")
	}
	text, err := tr.Text(context.Background(), in)
	if err != nil || !strings.Contains(text, "kind: Template") {
		t.Errorf("text %q, error %v", text, err)
	}
	if c, _, err := tr.Choose(in); err != nil || c.Steps.Name != folder.Default {
		t.Errorf("choice %v, error %v", c, err)
	}
}

// TestCancelled checks that rendering ends with its context.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	tr := engine.New(engine.Concept, engine.Options{}, engine.Hooks{}).Templated(open(t), engine.TemplateOptions{OnError: folder.UseDefault})
	if _, err := tr.TransformContext(ctx, engine.Input{Definition: define(t, words.Portal)}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestTemplatedAtOnce renders concurrently: all results are equal, and changes
// of one are not visible to the others.
func TestTemplatedAtOnce(t *testing.T) {
	tr := engine.New(engine.Concept, engine.Options{}, engine.Hooks{}).Templated(open(t), engine.TemplateOptions{})
	in := engine.Input{Definition: define(t, words.Upstream, annotated(words.AnnotationWizard, "gitops"))}
	var out [4]string
	var wg sync.WaitGroup
	for i := range out {
		wg.Go(func() {
			for range 5 {
				res, err := tr.Transform(in)
				if err != nil {
					t.Error(err)
					return
				}
				out[i] = string(entity.YAMLDocuments(res.Entities))
				for _, e := range res.Entities {
					e.Metadata.Annotations["mine"] = "x"
					e.Spec.Set("mine", tree.Str("x"))
				}
			}
		})
	}
	wg.Wait()
	for _, o := range out {
		if o != out[0] || o == "" {
			t.Fatal("two goroutines got different entities")
		}
	}
}

// TestTemplatedHooks checks that the hooks of the engine run around templates.
func TestTemplatedHooks(t *testing.T) {
	hooks := engine.Hooks{
		PreProcess: func(d *xrd.Definition) (*xrd.Definition, error) {
			c := *d
			c.Annotations = map[string]string{words.AnnotationTemplate: "simple"}
			return &c, nil
		},
		PostProcess: func(es []*entity.Entity) ([]*entity.Entity, error) {
			es[0].Metadata.Title = "changed"
			return es, nil
		},
	}
	res, err := engine.New(engine.Concept, engine.Options{}, hooks).Templated(open(t), engine.TemplateOptions{}).Transform(engine.Input{Definition: define(t, words.Portal)})
	if err != nil || len(res.Entities) != 1 || res.Entities[0].Metadata.Title != "changed" {
		t.Errorf("%v, error %v", list(res.Entities), err)
	}
}
