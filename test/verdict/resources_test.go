package judge

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/json"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine/form"
	"example.dev/ingestor/template/expression"
	"example.dev/ingestor/test/verdict/verdict"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// written are the fields that Crossplane writes to the spec of a resource, and
// that no form has.
var written = []string{"claimRef", "resourceRef", "resourceRefs"}

// TestResources creates every resource of the corpus that its schema allows,
// and the resource that the form makes when it is filled from the former. The
// code of the API server prunes both, adds defaults, and validates: it must
// store the same spec, or refuse both for the same reasons.
func TestResources(t *testing.T) {
	root := os.Getenv("INGESTOR_CORPUS")
	if root == "" {
		t.Skip("INGESTOR_CORPUS is not set: no real resources to test")
	}
	table, err := os.ReadFile(filepath.Join(root, "XR_VALIDATION.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	j, err := verdict.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(table)), "\n")[1:]
	var mu sync.Mutex
	count := map[string]int{}
	each(len(lines), func(i int) {
		cols := strings.Split(lines[i], "\t")
		if cols[3] != "valid" {
			return
		}
		became, said := sendBoth(t, j, filepath.Join(root, cols[0]), filepath.Join(root, cols[1]))
		mu.Lock()
		defer mu.Unlock()
		if count[became]++; said != "" {
			t.Errorf("%s of %s: %s\n%s", cols[0], cols[1], became, said)
		}
	})
	t.Logf("%v", count)
	if count[stored] < 1000 || count[refused] == 0 {
		t.Errorf("%d resources were stored and %d refused; is this another corpus?", count[stored], count[refused])
	}
}

// Results for a resource and the one from its form.
const (
	unread  = "the corpus has not both of its files"
	unmade  = "its definition is refused"
	stored  = "both are stored as the same"
	refused = "both are refused for the same reasons"
	claims  = "it is a composite, and the form makes claims, which say less"
	chosen  = "it names a Composition and chooses one by labels, and a form asks for one or the other"
)

// sendBoth returns the result for a resource and, if it is wrong, the details.
func sendBoth(t *testing.T, j *verdict.Judge, resourceFile, definitionFile string) (became, wrong string) {
	resourceText, err1 := os.ReadFile(resourceFile)
	definitionText, err2 := os.ReadFile(definitionFile)
	if err1 != nil || err2 != nil {
		return unread, ""
	}
	resource, definition := read(resourceText), read(definitionText)
	if resource == nil || definition == nil {
		return unread, ""
	}
	kind, namespaced, err := kindOf(t, j, definition, resource)
	if kind == nil {
		return unmade, err
	}
	made, err := recreate(definitionText, resourceText)
	if err != "" {
		return "the form cannot be filled from it", err
	}
	var verdicts [2]string
	makes := made["kind"]
	for i, o := range []map[string]any{resource, made} {
		kind.Prune(o)
		withoutWritten(o)
		// The name of the resource does not matter here.
		meta := map[string]any{"name": "one"}
		if namespaced {
			meta["namespace"] = "here"
		}
		o["metadata"] = meta
		o["kind"] = resource["kind"]
		verdicts[i] = strings.Join(kind.Admit(t.Context(), o), "\n")
	}
	want, got := resource["spec"], made["spec"]
	switch {
	case verdicts[0] != verdicts[1] && makes != resource["kind"]:
		return claims, ""
	case verdicts[0] != verdicts[1]:
		return "one is refused, or for another reason", "resource: " + verdicts[0] + "\nform: " + verdicts[1]
	case verdicts[0] != "":
		return refused, ""
	case reflect.DeepEqual(want, got):
		return stored, ""
	case namesAndSelects(resource):
		return chosen, ""
	}
	return "stored as something else", text(want) + "\n" + text(got)
}

// namesAndSelects reports whether a resource selects a Composition both by name
// and by labels.
func namesAndSelects(o map[string]any) bool {
	spec, _ := o["spec"].(map[string]any)
	for _, at := range []any{spec, spec[xrd.MachineryV2]} {
		if at, _ := at.(map[string]any); at["compositionRef"] != nil && at["compositionSelector"] != nil {
			return true
		}
	}
	return false
}

func text(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(out)
}

// withoutWritten removes the fields that Crossplane writes from a resource.
func withoutWritten(o map[string]any) {
	spec, _ := o["spec"].(map[string]any)
	if spec == nil {
		spec = map[string]any{}
		o["spec"] = spec
	}
	crossplane, _ := spec[xrd.MachineryV2].(map[string]any)
	for _, key := range written {
		delete(spec, key)
		delete(crossplane, key)
	}
	if crossplane != nil && len(crossplane) == 0 {
		delete(spec, xrd.MachineryV2)
	}
}

// kindOf returns the kind of a resource, as a cluster with the definition
// serves it.
func kindOf(t *testing.T, j *verdict.Judge, definition, resource map[string]any) (kind *verdict.Kind, namespaced bool, wrong string) {
	v := j.Definition(t.Context(), definition)
	if v.Stage != "" {
		// TestVerdict tests refused definitions.
		return nil, false, ""
	}
	apiVersion, _ := resource["apiVersion"].(string)
	_, version, _ := strings.Cut(apiVersion, "/")
	for _, crd := range v.Made {
		if crd.Spec.Names.Kind != resource["kind"] {
			continue
		}
		kinds, err := verdict.Kinds(crd)
		if err != nil {
			return nil, false, err.Error()
		}
		if kinds[version] != nil {
			return kinds[version], crd.Spec.Scope == extv1.NamespaceScoped, ""
		}
	}
	return nil, false, "there is no such kind or version"
}

// recreate fills the form of a definition from a resource, and returns the
// resource that the form makes.
func recreate(definition, resource []byte) (made map[string]any, wrong string) {
	var set xrd.Set
	for _, text := range [][]byte{definition, resource} {
		if err := set.Read(bytes.NewReader(text), xrd.Origin{File: "in.yaml"}); err != nil {
			return nil, err.Error()
		}
	}
	if len(set.Definitions) != 1 || len(set.Others) != 1 {
		return nil, "it is not one definition and one resource"
	}
	d, live := set.Definitions[0], set.Others[0].Node
	_, version, _ := strings.Cut(live.Get("apiVersion").Str(), "/")
	for _, v := range d.Versions {
		if v.Name != version {
			continue
		}
		f := form.Compile(d, v, form.Options{CompositionDetails: true})
		steps := tree.Arr(tree.Obj(tree.F("action", tree.Str(words.ActionApply)), tree.F("input", tree.Obj(tree.F("manifest", f.Manifest)))))
		values := form.Fill(tree.Obj(tree.F("steps", steps)), live)
		out, err := expression.Evaluate(f.Manifest, expression.Scope{"parameters": values}, nil)
		if err != nil {
			return nil, err.Error()
		}
		if err := json.Unmarshal(tree.AppendJSON(nil, out, ""), &made); err != nil {
			return nil, err.Error()
		}
		return made, ""
	}
	return nil, "there is no such version"
}
