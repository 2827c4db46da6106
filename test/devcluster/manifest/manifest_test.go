package manifest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"two.yaml":         "# nothing here\n---\n" + pod("a") + "---\n---\n" + pod("b"),
		"below/more.json":  `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"c"}} {"apiVersion":"v1","kind":"Pod","metadata":{"name":"d"}}`,
		"below/list.yml":   "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: e, namespace: shop}}\n",
		"below/notes.txt":  "not for a cluster",
		"below/x/far.yaml": pod("far"),
		"bad/broken.yaml":  pod("f") + "---\nkind: [Pod\n",
		"bad/nameless.yml": "apiVersion: v1\nkind: Pod\n",
		"bad/kindless.yml": "apiVersion: v1\nmetadata: {name: g}\n",
		"bad/text.yaml":    "just words\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cases := map[string]struct {
		reason string
		paths  []string
		want   []string
		err    []string // Parts of the error.
	}{
		"Documents": {"A file has any number of documents, and empty ones are skipped.", []string{"two.yaml"}, []string{"/a", "/b"}, nil},
		"Folder":    {"All manifests of a folder are read, in order.", []string{"below"}, []string{"shop/e", "/c", "/d"}, nil},
		"Several":   {"Paths are read in the given order.", []string{"below/more.json", "two.yaml"}, []string{"/c", "/d", "/a", "/b"}, nil},
		"Broken":    {"An error names document and file.", []string{"bad/broken.yaml"}, nil, []string{"document 2", "broken.yaml"}},
		"Nameless":  {"An object without a name is an error.", []string{"bad/nameless.yml"}, nil, []string{"a Pod has no name", "nameless.yml"}},
		"Kindless":  {"An object without a kind is an error.", []string{"bad/kindless.yml"}, nil, []string{"document 1", "kindless.yml", "no kind"}},
		"Text":      {"A document that is not an object is an error.", []string{"bad/text.yaml"}, nil, []string{"not an object"}},
		"Missing":   {"The error has the path only once.", []string{"nowhere.yaml"}, nil, []string{`nowhere.yaml": no such file`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var paths []string
			for _, p := range tc.paths {
				paths = append(paths, filepath.Join(dir, p))
			}
			found, err := Read(paths, nil)
			check(t, tc.reason, err, tc.err)
			if diff := cmp.Diff(tc.want, names(found)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestReadStdin(t *testing.T) {
	found, err := Read([]string{Stdin}, strings.NewReader(pod("a")))
	if err != nil || len(found) != 1 {
		t.Errorf("Read returned %v, %v, want one object", found, err)
	}
	if _, err := Read([]string{Stdin}, nil); err == nil {
		t.Error("missing standard input was read")
	}
}

func TestComposites(t *testing.T) {
	const versions = `
  versions:
  - {name: v1beta1, served: true, referenceable: false}
  - name: v1
    served: true
    referenceable: true
    additionalPrinterColumns: [{name: SIZE, type: string, jsonPath: .spec.size}]
    schema: {openAPIV3Schema: {type: object, required: [spec], properties: {spec: {type: object, required: [size],
      properties: {size: {type: integer, minimum: 1, x-ui-order: 1}}}}}}
`
	const names = `
  group: example.org
  names: {kind: XBoat, plural: xboats}`
	cases := map[string]struct {
		reason  string
		version string
		spec    string
		want    []string // Name, kind, scope and stored version of each.
		err     []string
	}{
		"First": {"Composites of a v1 definition are cluster-scoped.", "v1", names + versions,
			[]string{"xboats.example.org XBoat Cluster v1"}, nil},
		"Claim": {"Claims are namespaced.", "v1", names + "\n  claimNames: {kind: Boat, plural: boats}" + versions,
			[]string{"xboats.example.org XBoat Cluster v1", "boats.example.org Boat Namespaced v1"}, nil},
		"Second": {"Composites of a v2 definition are namespaced by default.", "v2", names + versions,
			[]string{"xboats.example.org XBoat Namespaced v1"}, nil},
		"Scope": {"Composites of a v2 definition can be cluster-scoped.", "v2", names + "\n  scope: Cluster" + versions,
			[]string{"xboats.example.org XBoat Cluster v1"}, nil},
		"Groupless":   {"A definition without a group is an error.", "v1", "\n  names: {kind: XBoat, plural: xboats}" + versions, nil, []string{"xboats", "no group"}},
		"Versionless": {"A definition without versions is an error.", "v1", names, nil, []string{"xboats", "no versions"}},
		"NoSchema": {"An invalid schema is an error.", "v1", names + "\n  versions: [{name: v1, schema: {openAPIV3Schema: {type: [object]}}}]",
			nil, []string{"xboats", "schema"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			def := parse(t, "apiVersion: apiextensions.crossplane.io/"+tc.version+
				"\nkind: CompositeResourceDefinition\nmetadata: {name: xboats.example.org}\nspec:"+tc.spec)
			if !IsDefinition(def) || IsCRD(def) {
				t.Errorf("%v is not recognized as a definition", def)
			}
			made, err := Composites(def)
			check(t, tc.reason, err, tc.err)
			var got []string
			for _, crd := range made {
				if !IsComposite(crd.Unstructured) {
					t.Errorf("%v is not recognized as the kind of composites or claims", crd)
				}
				if !IsCRD(crd) {
					t.Errorf("%v is not recognized as a CustomResourceDefinition", crd)
				}
				got = append(got, outline(t, crd))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestSchema checks how a schema is converted.
func TestSchema(t *testing.T) {
	version := parse(t, `
apiVersion: v1
kind: Version
metadata: {name: v1}
schema: {openAPIV3Schema: {properties: {spec: {required: [size], properties: {size: {type: integer, minimum: 1, x-ui-order: 1}}}}}}
`)
	got, err := schema(version.Object)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"type": "object",
		"properties": map[string]any{
			"spec": map[string]any{
				"type": "object", "required": []any{"size"}, "x-kubernetes-preserve-unknown-fields": true,
				"properties": map[string]any{"size": map[string]any{"type": "integer", "minimum": 1.0}},
			},
			"status": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("schemas differ (-want +got):\n%s", diff)
	}
}

func pod(name string) string { return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + "}\n" }

func parse(t *testing.T, text string) Object {
	t.Helper()
	found, err := decode(strings.NewReader(text), "test")
	if err != nil || len(found) != 1 {
		t.Fatalf("decode returned %v, %v, want one object", found, err)
	}
	return found[0]
}

func names(objects []Object) []string {
	var all []string
	for _, o := range objects {
		all = append(all, o.GetNamespace()+"/"+o.GetName())
	}
	return all
}

// outline returns a summary of a CustomResourceDefinition.
func outline(t *testing.T, crd Object) string {
	t.Helper()
	kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	scope, _, _ := unstructured.NestedString(crd.Object, "spec", "scope")
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	parts := []string{crd.GetName(), kind, scope}
	for _, v := range versions {
		if v := v.(map[string]any); v["storage"] == true {
			parts = append(parts, v["name"].(string))
		}
	}
	return strings.Join(parts, " ")
}

func check(t *testing.T, reason string, err error, parts []string) {
	t.Helper()
	if (err == nil) != (len(parts) == 0) {
		t.Fatalf("%s: error is %v, want %q in it", reason, err, parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%s: error is %v, want %q in it", reason, err, part)
		}
	}
}
