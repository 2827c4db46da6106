package judge

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/json"

	"example.dev/ingestor/test/verdict/verdict"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/structural"
)

// pair is a resource of the corpus and its kind.
type pair struct {
	path   string
	object map[string]any
	kind   *structural.Kind
	plural string
	crds   []*extv1.CustomResourceDefinition
	// stored reports whether resources are stored in this version. A cluster converts those of
	// other versions, which loses fields.
	stored bool
	// schema is the schema of the kind.
	schema *extv1.JSONSchemaProps
}

// rules returns the messages of the validation rules of the kind, and whether they use
// oldSelf.
func (p *pair) rules() map[string]bool {
	all := map[string]bool{}
	var visit func(s *extv1.JSONSchemaProps)
	visit = func(s *extv1.JSONSchemaProps) {
		for _, r := range s.XValidations {
			message := strings.TrimSpace(r.Message)
			if message == "" {
				message = "failed rule: " + strings.TrimSpace(r.Rule)
			}
			all[message] = all[message] || strings.Contains(r.Rule, "oldSelf")
		}
		for name := range s.Properties {
			inner := s.Properties[name]
			visit(&inner)
		}
		if s.Items != nil {
			visit(s.Items.Schema)
		}
		if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
			visit(s.AdditionalProperties.Schema)
		}
	}
	visit(p.schema)
	return all
}

// accepts reports whether a resource is valid, by our verdict, without its status, which
// a cluster ignores.
func (p *pair) accepts(ctx context.Context, object map[string]any) bool {
	delete(object, "status")
	place(object, p, "before")
	return len(p.kind.Validate(ctx, object, nil).Problems) == 0
}

// Reasons why a resource of the corpus is not compared.
const (
	noResource   = "its file is not there, or has not exactly one object"
	noDefinition = "the file of its definition is not there, or has not exactly one object"
	refusedKind  = "a cluster refuses its definition"
	noVersion    = "its definition lacks its version"
)

// dropped is how many resources of the corpus are not compared.
var dropped = map[string]int{noDefinition: 25, refusedKind: 7, noVersion: 13}

// readPairs reads the resources whose definitions a cluster accepts. Each definition gets
// a group of its own, because the corpus has many of the same name.
func readPairs(t *testing.T) (all []*pair) {
	t.Helper()
	root := os.Getenv("INGESTOR_CORPUS")
	if root == "" {
		t.Skip("INGESTOR_CORPUS is not set: no real resources to test")
	}
	j, err := verdict.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	reader := &pairReader{t: t, judge: j, root: root, seen: map[string]*known{}, kinds: map[string]*structural.Kind{}}
	drops := map[string]int{}
	table := string(readFile(t, filepath.Join(root, "XR_VALIDATION.tsv")))
	for _, line := range strings.Split(strings.TrimSpace(table), "\n")[1:] {
		cols := strings.Split(line, "\t")
		p, reason := reader.read(cols[0], cols[1])
		if reason != "" {
			drops[reason]++
			continue
		}
		all = append(all, p)
	}
	if diff := cmp.Diff(dropped, drops); diff != "" || len(all) < 1360 {
		t.Errorf("%d resources are compared; others are dropped, -want +got:\n%s", len(all), diff)
	}
	return all
}

// pairReader reads resources and their definitions, and each definition once.
type pairReader struct {
	t     *testing.T
	judge *verdict.Judge
	root  string
	seen  map[string]*known
	kinds map[string]*structural.Kind
}

// known is a definition and the kinds that Crossplane makes of it, or the reason why there
// are none.
type known struct {
	definition *xrd.Definition
	made       []*extv1.CustomResourceDefinition
	reason     string
}

// read returns a resource, or the reason why it is not compared.
func (r *pairReader) read(resource, definition string) (*pair, string) {
	text, err := os.ReadFile(filepath.Join(r.root, resource))
	if err != nil {
		return nil, noResource
	}
	object := read(text)
	if object == nil {
		return nil, noResource
	}
	k := r.seen[definition]
	if k == nil {
		k = r.regroup(filepath.Join(r.root, definition), len(r.seen))
		r.seen[definition] = k
	}
	if k.reason != "" {
		return nil, k.reason
	}
	apiVersion, _ := object["apiVersion"].(string)
	_, version, _ := strings.Cut(apiVersion, "/")
	claim := object["kind"] == k.definition.Claim.Kind
	key := fmt.Sprintf("%s %s %t", definition, version, claim)
	if r.kinds[key] == nil {
		if r.kinds[key], err = structural.NewKind(k.definition, version, claim); err != nil {
			return nil, noVersion
		}
	}
	p := &pair{path: resource, object: object, kind: r.kinds[key], crds: k.made, plural: k.definition.Names.Plural}
	crd := k.made[0]
	if claim {
		p.plural, crd = k.definition.Claim.Plural, k.made[1]
	}
	for i := range crd.Spec.Versions {
		if v := &crd.Spec.Versions[i]; v.Name == version {
			p.stored, p.schema = v.Storage, v.Schema.OpenAPIV3Schema
		}
	}
	object["apiVersion"] = p.kind.APIVersion
	return p, ""
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// regroup reads a definition and moves it to a group of its own. Every third gets rules
// about oldSelf, of which the corpus has few.
func (r *pairReader) regroup(path string, number int) *known {
	text, err := os.ReadFile(path)
	if err != nil {
		return &known{reason: noDefinition}
	}
	object := read(text)
	if object == nil {
		return &known{reason: noDefinition}
	}
	spec, _ := object["spec"].(map[string]any)
	names, _ := spec["names"].(map[string]any)
	group := fmt.Sprintf("n%d.example.org", number)
	object["metadata"] = map[string]any{"name": fmt.Sprintf("%v.%s", names["plural"], group)}
	spec["group"] = group
	if number%3 == 0 {
		if frozen := clone(object); freeze(frozen) {
			if k := r.parse(frozen); k.reason == "" {
				return k
			}
		}
	}
	return r.parse(object)
}

// parse parses a definition, and makes its kinds.
func (r *pairReader) parse(object map[string]any) *known {
	text, err := json.Marshal(object)
	if err != nil {
		r.t.Fatal(err)
	}
	v := r.judge.Definition(r.t.Context(), object)
	var set xrd.Set
	if err := set.Read(bytes.NewReader(text), xrd.Origin{File: "definition"}); err != nil || v.Stage != "" || len(set.Definitions) != 1 {
		return &known{reason: refusedKind}
	}
	return &known{definition: set.Definitions[0], made: v.Made}
}

// freeze makes some values of a definition immutable: the first of each of three types
// that an object has. It returns false if there is none.
func freeze(definition map[string]any) (changed bool) {
	versions, _ := definition["spec"].(map[string]any)["versions"].([]any)
	var visit func(s map[string]any)
	visit = func(s map[string]any) {
		done := map[string]bool{"string": false, "integer": false, "boolean": false}
		properties, _ := s["properties"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			p, _ := properties[name].(map[string]any)
			of, _ := p["type"].(string)
			if frozen, scalar := done[of]; scalar && !frozen && p["x-kubernetes-validations"] == nil {
				p["x-kubernetes-validations"] = []any{map[string]any{"rule": "self == oldSelf", "message": name + " is immutable"}}
				done[of], changed = true, true
			}
			visit(p)
		}
	}
	for _, v := range versions {
		at, _ := v.(map[string]any)
		for _, key := range []string{"schema", "openAPIV3Schema", "properties", "spec"} {
			at, _ = at[key].(map[string]any)
		}
		visit(at)
	}
	return changed
}
