package judge

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/verdict/verdict"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/diff"
	"example.dev/ingestor/xrd/impact"
	"example.dev/ingestor/xrd/structural"
)

// changedDefinitions is how many changes are judged.
const changedDefinitions = 240

// TestChanges changes definitions of the corpus under an existing resource in a real API
// server. A change must be breaking by our rules if, and only if, the server then refuses
// the change, refuses the same manifest, drops fields of the resource, or no longer serves
// it; and the blast radius must say the same about the resource.
func TestChanges(t *testing.T) {
	bases := readBases(t)
	c := &cluster{t: t, server: apiserver.Start(t, apiserver.Options{CRDs: "none"})}
	j, err := verdict.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	sum := map[string]int{}
	each(changedDefinitions, func(i int) {
		one := newAlteration(t, j, i, bases)
		theirs := c.alter(t, one)
		mu.Lock()
		defer mu.Unlock()
		ours := slices.ContainsFunc(one.changes, func(ch diff.Change) bool { return ch.Breaking() })
		affected := one.affected(t)
		sum[fmt.Sprintf("ours %t, server %t", ours, theirs != "")]++
		if !strings.Contains(theirs, one.says) {
			t.Errorf("%s: the server does not say %q but %q", one.about, one.says, theirs)
		}
		if ours == (theirs != "") && affected == (theirs != "") {
			return
		}
		t.Errorf("%s\n server: %q\n breaking: %t, affected: %t\n ours: %v", one.about, theirs, ours, affected, diff.Findings(one.changes))
	})
	t.Logf("%d changes: %v", changedDefinitions, sum)
	if sum["ours true, server true"] < changedDefinitions/2 || sum["ours false, server false"] < changedDefinitions/3 {
		t.Errorf("the changes are too harmless or too coarse: %v", sum)
	}
}

// base is a resource of the corpus with its definition.
type base struct {
	path               string
	definition, object map[string]any
	version            string
	claim              bool
}

// readBases reads the valid resources of the corpus whose version is stored.
func readBases(t *testing.T) (all []base) {
	t.Helper()
	root := os.Getenv("INGESTOR_CORPUS")
	if root == "" {
		t.Skip("INGESTOR_CORPUS is not set: no real definitions to change")
	}
	table := string(readFile(t, filepath.Join(root, "XR_VALIDATION.tsv")))
	for _, line := range strings.Split(strings.TrimSpace(table), "\n")[1:] {
		cols := strings.Split(line, "\t")
		text, err := os.ReadFile(filepath.Join(root, cols[0]))
		if err != nil {
			continue
		}
		source, err := os.ReadFile(filepath.Join(root, cols[1]))
		if err != nil {
			continue
		}
		definition, object := read(source), read(text)
		if definition == nil || object == nil {
			continue
		}
		spec, _ := object["spec"].(map[string]any)
		apiVersion, _ := object["apiVersion"].(string)
		_, version, _ := strings.Cut(apiVersion, "/")
		raw, err := json.Marshal(definition)
		if err != nil {
			t.Fatal(err)
		}
		var set xrd.Set
		if err := set.Read(strings.NewReader(string(raw)), xrd.Origin{}); err != nil || len(set.Definitions) != 1 || len(spec) == 0 {
			continue
		}
		d := set.Definitions[0]
		claim := d.HasClaim() && object["kind"] == d.Claim.Kind
		stored := slices.ContainsFunc(d.Versions, func(v *xrd.Version) bool { return v.Name == version && v.Referenceable && v.Served })
		k, err := structural.NewKind(d, version, claim)
		if err != nil || !stored {
			continue
		}
		delete(object, "status")
		object["metadata"] = map[string]any{"name": "existing"}
		object = clone(object)
		if v := k.Validate(t.Context(), object, nil); len(v.Problems)+len(v.Unknown) > 0 {
			continue
		}
		all = append(all, base{cols[0], definition, object, version, claim})
	}
	if len(all) < 900 {
		t.Fatalf("%d resources are valid; is this another corpus?", len(all))
	}
	return all
}

// alteration is a definition before and after a change, with an existing resource.
type alteration struct {
	about        string
	says         string
	older, newer *xrd.Definition
	made, next   []*extv1.CustomResourceDefinition
	kind         *structural.Kind
	plural       string
	object       map[string]any
	changes      []diff.Change
	pairs        []diff.Pair
}

// newAlteration returns the alteration with a number, which determines the resource and
// the change. What does not apply to one resource is tried with the next.
func newAlteration(t *testing.T, j *verdict.Judge, number int, bases []base) *alteration {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(number), 27))
	a := alterations[number%len(alterations)]
	for {
		b := bases[rng.IntN(len(bases))]
		before, object := clone(b.definition), clone(b.object)
		spec := before["spec"].(map[string]any)
		group := fmt.Sprintf("c%d.example.org", number)
		spec["group"] = group
		before["metadata"] = map[string]any{"name": fmt.Sprintf("%v.%s", spec["names"].(map[string]any)["plural"], group)}
		object["apiVersion"] = group + "/" + b.version
		at := &site{Rand: rng, definition: before, version: b.version, spec: object["spec"].(map[string]any), claim: b.claim}
		if a.prepare != nil && !a.prepare(at) {
			continue
		}
		after := clone(before)
		if at.definition = after; !a.change(at) {
			continue
		}
		v, w := j.Definition(t.Context(), clone(before)), j.Definition(t.Context(), clone(after))
		if v.Stage != "" || w.Stage != "" {
			continue
		}
		one := &alteration{
			says: a.says, about: fmt.Sprintf("%d: %s in %s", number, a.name, b.path), older: parseDefinition(t, before), newer: parseDefinition(t, after),
			made: v.Made, next: w.Made, object: object,
		}
		kind, err := structural.NewKind(one.older, b.version, b.claim)
		if err != nil || len(kind.Validate(t.Context(), object, nil).Problems) > 0 {
			continue
		}
		if one.older.HasClaim() && !b.claim && object["spec"].(map[string]any)["claimRef"] != nil {
			// The blast radius counts its claim instead.
			continue
		}
		one.kind, one.plural = kind, one.older.Names.Plural
		if b.claim {
			one.plural = one.older.Claim.Plural
		}
		if kind.Namespaced {
			object["metadata"] = map[string]any{"name": "existing", "namespace": "default"}
		}
		one.pairs, err = diff.CompareSets(t.Context(), &xrd.Set{Definitions: []*xrd.Definition{one.older}}, &xrd.Set{Definitions: []*xrd.Definition{one.newer}})
		if err != nil {
			t.Fatal(err)
		}
		one.changes = diff.Changes(one.pairs)
		return one
	}
}

// affected reports whether the blast radius has the resource.
func (a *alteration) affected(t *testing.T) bool {
	t.Helper()
	im := impact.New(a.pairs, impact.Options{})
	docs, errs := parser.DecodeBytes([]byte(text(a.object)))
	if len(docs) != 1 {
		t.Errorf("%s: the resource cannot be read: %v", a.about, errs)
		return false
	}
	if ok, err := im.Add(t.Context(), "one", docs[0]); !ok || err != nil {
		t.Errorf("%s: the resource does not count: %v", a.about, err)
	}
	return im.Result().Affected > 0
}

// alter makes the change under the resource, and returns what the server does to it;
// empty if nothing.
func (c *cluster) alter(t *testing.T, a *alteration) string {
	t.Helper()
	const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	for _, crd := range a.made {
		settle(crd)
		if status, out := c.send(http.MethodPost, crds, crd); status != http.StatusCreated {
			t.Errorf("%s: cannot create %s: %d %s", a.about, crd.Name, status, out)
			return ""
		}
	}
	c.await(&pair{kind: a.kind, plural: a.plural})
	path := "/apis/" + a.kind.APIVersion + "/"
	if a.kind.Namespaced {
		path += "namespaces/default/"
	}
	path += a.plural
	status, out := c.send(http.MethodPost, path, a.object)
	if status != http.StatusCreated {
		t.Errorf("%s: cannot create the resource: %d %s", a.about, status, out)
		return ""
	}
	before := read(out)
	for _, crd := range a.made {
		// The name of the CRD stays, or it is gone.
		i := slices.IndexFunc(a.next, func(n *extv1.CustomResourceDefinition) bool { return n.Name == crd.Name })
		if i < 0 {
			return "CRD " + crd.Name + " is gone"
		}
		next := a.next[i].DeepCopy()
		settle(next)
		mark(next)
		status, out := c.replace(t, crds+"/"+crd.Name, next)
		if status != http.StatusOK {
			return fmt.Sprintf("CRD refused: %d %.300s", status, out)
		}
	}
	return c.after(t, a, path, before)
}

// replace replaces a CRD when it is established, and again if the server changed its status
// at the same time. Before, the server allows changes that it refuses later, although it
// serves the objects already.
func (c *cluster) replace(t *testing.T, path string, next *extv1.CustomResourceDefinition) (status int, out []byte) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		status, out = c.send(http.MethodGet, path, nil)
		var stored extv1.CustomResourceDefinition
		if err := json.Unmarshal(out, &stored); err != nil || status != http.StatusOK {
			t.Errorf("cannot read %s: %d %v", path, status, err)
			return status, out
		}
		if !slices.ContainsFunc(stored.Status.Conditions, func(cond extv1.CustomResourceDefinitionCondition) bool {
			return cond.Type == extv1.Established && cond.Status == extv1.ConditionTrue
		}) {
			time.Sleep(20 * time.Millisecond)
			continue
		}
		next.ResourceVersion = stored.ResourceVersion
		if status, out = c.send(http.MethodPut, path, next); status != http.StatusConflict {
			break
		}
	}
	return status, out
}

func settle(crd *extv1.CustomResourceDefinition) {
	crd.TypeMeta = metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"}
	crd.OwnerReferences = nil
}

// marker is a field by which the test knows that the server uses the new schema.
const marker = "zzMarker"

// mark adds the marker to all versions.
func mark(crd *extv1.CustomResourceDefinition) {
	for i := range crd.Spec.Versions {
		spec := crd.Spec.Versions[i].Schema.OpenAPIV3Schema.Properties["spec"]
		if spec.Properties == nil {
			spec.Properties = map[string]extv1.JSONSchemaProps{}
		}
		spec.Properties[marker] = extv1.JSONSchemaProps{Type: "string", MaxLength: new(int64(1))}
		crd.Spec.Versions[i].Schema.OpenAPIV3Schema.Properties["spec"] = spec
	}
}

// after returns what the server does to the resource with the new schema.
func (c *cluster) after(t *testing.T, a *alteration, path string, before map[string]any) string {
	t.Helper()
	probe := clone(a.object)
	probe["metadata"].(map[string]any)["name"] = "probe"
	probe["spec"].(map[string]any)[marker] = "too long"
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		status, out := c.send(http.MethodPost, path+"?dryRun=All", probe)
		if status == http.StatusNotFound || strings.Contains(string(out), marker) && status != http.StatusCreated {
			break
		}
		if time.Now().After(end) {
			t.Errorf("%s: the server does not use the new schema: %d %.300s", a.about, status, out)
			return ""
		}
	}
	again := clone(a.object)
	again["metadata"].(map[string]any)["name"] = "again"
	if status, out := c.send(http.MethodPost, path+"?dryRun=All", again); status != http.StatusCreated {
		return fmt.Sprintf("manifest refused: %d %.300s", status, out)
	}
	status, out := c.send(http.MethodGet, path+"/existing", nil)
	if status != http.StatusOK {
		return fmt.Sprintf("not served: %d %.300s", status, out)
	}
	if lost := lost(before["spec"], read(out)["spec"], "spec"); lost != "" {
		return "dropped: " + lost
	}
	return ""
}

// lost returns the path of a field that a value no longer has; empty if it has all.
func lost(before, after any, path string) string {
	switch b := before.(type) {
	case map[string]any:
		a, _ := after.(map[string]any)
		for key, v := range b {
			now, ok := a[key]
			if !ok {
				return path + "." + key
			}
			if l := lost(v, now, path+"."+key); l != "" {
				return l
			}
		}
	case []any:
		a, _ := after.([]any)
		for i, v := range b {
			if i >= len(a) {
				return fmt.Sprintf("%s[%d]", path, i)
			}
			if l := lost(v, a[i], fmt.Sprintf("%s[%d]", path, i)); l != "" {
				return l
			}
		}
	}
	return ""
}
