package cluster_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"example.dev/ingestor/action"
	actions "example.dev/ingestor/action/cluster"
	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source/cluster"
)

// TestCreate creates a resource in the default namespace of the program.
func TestCreate(t *testing.T) {
	ns := namespace(t)
	create, err := actions.Create(server(t).Kubeconfig, ns)
	if err != nil {
		t.Fatal(err)
	}
	r := do(t.Context(), t, create, "{apiVersion: test.example.org/v1, kind: Thing, name: one, labels: {a: b}, spec: {size: small}}")
	if r.err != nil {
		t.Fatal(r.message())
	}
	if n := find(t, fmt.Sprintf(things, ns, "one")); n.Get("spec", "size").Str() != "small" || n.Get("metadata", "labels", "a").Str() != "b" {
		t.Errorf("created object is %v", n.Any())
	}
	r = do(t.Context(), t, create, "{apiVersion: platform.example.org/v1alpha1, kind: XDatabase, name: "+ns+", namespace: nowhere, spec: {parameters: {engine: mysql}}}")
	if r.err != nil {
		t.Errorf("apply of a cluster-scoped object: %s", r.message())
	}
	if _, err := actions.Create(filepath.Join(t.TempDir(), "nothing"), ""); err == nil || !strings.HasPrefix(err.Error(), `cluster "kubeconfig": cannot connect: `) {
		t.Errorf("missing kubeconfig returned %v", err)
	}
}

// TestAtOnce applies many objects concurrently, one of them many times.
func TestAtOnce(t *testing.T) {
	ns := namespace(t)
	apply := actions.Actions(fleet(t), actions.Options{})[0]
	var all sync.WaitGroup
	results := make([]*result, 40)
	for i := range results {
		name := fmt.Sprint("own-", i)
		if i%4 == 0 {
			name = "same"
		}
		all.Go(func() { results[i] = do(t.Context(), t, apply, with(thing(ns, name, "{size: small}"), "")) })
	}
	all.Wait()
	for i, r := range results {
		if r.err != nil {
			t.Errorf("%d: %s", i, r.message())
		}
	}
}

// TestDescriptions checks the examples of the actions against their schemas.
func TestDescriptions(t *testing.T) {
	all := actions.Actions(actions.NewFleet(nil, cluster.Options{}), actions.Options{})
	names := map[string]string{}
	for _, a := range all {
		names[a.ID] = strings.Join(a.Aliases, " ")
		c := jsonschema.NewCompiler()
		for part, schema := range map[string]*tree.Node{"input": a.Input, "output": a.Output} {
			doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(tree.AppendJSON(nil, schema, ""))))
			if err != nil {
				t.Fatal(err)
			}
			if err := c.AddResource(part, doc); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Compile(part); err != nil {
				t.Errorf("%s of %s: %v", part, a.ID, err)
			}
		}
		input, err := c.Compile("input")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range a.Examples {
			docs, errs := parser.DecodeBytes([]byte(e.Example))
			if len(errs) > 0 {
				t.Fatalf("%s: %v", a.ID, errs[0])
			}
			for _, step := range docs[0].Get("steps").List() {
				if step.Get("action").Str() != a.ID {
					t.Errorf("example of %s uses action %s", a.ID, step.Get("action").Str())
				}
				if err := input.Validate(step.Get("input").Any()); err != nil {
					t.Errorf("%s: %v", e.Description, err)
				}
			}
		}
	}
	if names["cluster:apply"] != "kubernetes:apply" || names["cluster:delete"] != "kubernetes:delete" {
		t.Errorf("action names are %v", names)
	}
}

// ExampleCreate makes a program's own action from a kubeconfig, and runs it.
func ExampleCreate() {
	kubeconfig, stop := startFakeServer()
	defer stop()

	create, err := actions.Create(kubeconfig, "team-a")
	if err != nil {
		fmt.Println(err)
		return
	}
	err = create.Run(context.Background(), &action.Call{
		Input: tree.Obj(
			tree.F("apiVersion", tree.Str("example.org/v1")),
			tree.F("kind", tree.Str("Bucket")),
			tree.F("name", tree.Str("photos")),
			tree.F("spec", tree.Obj(tree.F("public", tree.Boolean(false)))),
		),
		Logf:   func(format string, args ...any) { fmt.Printf(format+"\n", args...) },
		Output: func(name string, value *tree.Node) { fmt.Printf("%s: %s\n", name, tree.AppendJSON(nil, value, "")) },
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// Bucket team-a/photos in cluster kubeconfig was created
	// resources: [{"apiVersion":"example.org/v1","kind":"Bucket","namespace":"team-a","name":"photos","uid":"1","cluster":"kubeconfig"}]
	// manifest: "apiVersion: example.org/v1\nkind: Bucket\nmetadata:\n  name: photos\n  namespace: team-a\nspec:\n  public: false\n"
}

// startFakeServer serves an API server with one kind that accepts every object, so that
// the example runs anywhere. It returns the path of a kubeconfig for it.
func startFakeServer() (kubeconfig string, stop func()) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path == "/apis":
			fmt.Fprint(w, `{"kind":"APIGroupList","groups":[]}`)
		case r.URL.Path == "/apis/example.org/v1":
			fmt.Fprint(w, `{"kind":"APIResourceList","resources":[{"name":"buckets","kind":"Bucket","namespaced":true}]}`)
		case r.Method == http.MethodPatch:
			fmt.Fprint(w, `{"metadata":{"uid":"1","resourceVersion":"1"},"spec":{"public":false}}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprintf(w, `{"kind":"Status","reason":"NotFound","code":404,"details":{"name":%q}}`, filepath.Base(r.URL.Path))
		}
	}))
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		panic(err)
	}
	kubeconfig = filepath.Join(dir, "kubeconfig")
	text := fmt.Sprintf("{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c}}], clusters: [{name: c, cluster: {server: %q}}]}", s.URL)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		panic(err)
	}
	return kubeconfig, func() {
		s.Close()
		_ = os.RemoveAll(dir)
	}
}
