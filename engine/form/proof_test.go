package form

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.dev/ingestor/tree"
	"example.dev/ingestor/xrd"
)

// The floors of the proof, in valid resources of the corpus. There is none
// for what a cluster makes of the manifests: it must be the same for all.
const (
	// proofWhole have a form input that makes exactly their spec.
	proofWhole = 781
	// proofOwn do when the fields that the machinery fills are left aside. The
	// rest leave out required fields that have a default, say null where null
	// is no value, or have no spec at all.
	proofOwn = 1043
)

// TestProof takes every valid resource of the corpus, computes the form input
// that should make it, checks the input against the pages, renders the
// manifest, and compares. The form is then filled from what it made.
func TestProof(t *testing.T) {
	dir := corpus(t)
	table, err := os.ReadFile(filepath.Join(dir, "XR_VALIDATION.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	p := &prover{
		dir: dir, definitions: map[string]*xrd.Definition{}, compositions: map[string][]*xrd.Composition{}, forms: map[*xrd.Version]*checked{},
		skipped: map[string]int{}, left: map[string]int{},
	}
	for i, line := range strings.Split(strings.TrimSpace(string(table)), "\n") {
		cols := strings.Split(line, "\t")
		if i == 0 || cols[3] != "valid" {
			continue
		}
		p.row(t, cols[0], cols[1])
	}
	for _, reason := range slices.Sorted(maps.Keys(p.skipped)) {
		t.Logf("not tried, %d times: %s", p.skipped[reason], reason)
	}
	for _, field := range slices.Sorted(maps.Keys(p.left)) {
		t.Logf("left to the machinery, %d times: %s", p.left[field], field)
	}
	share := func(n int) string {
		return fmt.Sprintf("%d of %d, %.1f %%", n, p.tried, 100*float64(n)/float64(p.tried))
	}
	t.Logf("the whole spec exactly: %s", share(p.whole))
	t.Logf("without the machinery's fields exactly: %s", share(p.own))
	t.Logf("the same once a cluster has filled in defaults: %s", share(p.stored))
	if p.whole < proofWhole || p.own < proofOwn {
		t.Errorf("want at least %d and %d", proofWhole, proofOwn)
	}
}

type prover struct {
	dir          string
	definitions  map[string]*xrd.Definition
	compositions map[string][]*xrd.Composition
	forms        map[*xrd.Version]*checked

	tried, whole, own, stored int
	// skipped counts resources that could not be tried, by reason.
	skipped map[string]int
	// left counts the fields that a form leaves to the machinery.
	left map[string]int
}

func (p *prover) row(t *testing.T, xrFile, xrdFile string) {
	xrs, d := readSet(t, p.dir, xrFile).Others, p.definition(t, xrdFile)
	if len(xrs) != 1 || d == nil {
		p.skipped["the corpus has not both of its files"]++
		return
	}
	xr := xrs[0].Node
	_, name, _ := strings.Cut(xr.Get("apiVersion").Str(), "/")
	i := slices.IndexFunc(d.Versions, func(v *xrd.Version) bool { return v.Name == name })
	if i < 0 {
		p.skipped["the definition does not have its version"]++
		return
	}
	p.tried++
	v := d.Versions[i]
	f, ok := p.forms[v]
	if !ok {
		f = check(t, Compile(d, v, Options{Compositions: Matching(d, p.around(t, xrdFile))}))
		p.forms[v] = f
	}
	spec := xr.Get("spec")
	if spec.IsNull() {
		spec = tree.Obj()
	}
	got, err := remake(d, f, spec)
	if err == nil && got.Equal(spec) {
		p.whole++
	}
	if err == nil && !got.Equal(spec) {
		for _, field := range spec.Fields {
			if machinery(d, v, field.Key) && !field.Value.Equal(got.Get(field.Key)) {
				p.left[field.Key]++
			}
		}
	}
	own := withoutMachinery(d, v, spec)
	if err == nil && withoutMachinery(d, v, got).Equal(own) {
		p.own++
		p.stored++
		return
	}
	if err == nil {
		err = fmt.Errorf("makes %s", tree.AppendJSON(nil, withoutMachinery(d, v, got), ""))
	}
	t.Logf("%s of %s, not exactly: %v", xrFile, xrdFile, err)

	filled := defaulted(v.Spec(), own)
	got, err = remake(d, f, filled)
	if err == nil {
		got = defaulted(v.Spec(), withoutMachinery(d, v, got))
	}
	if err == nil && !got.Equal(filled) {
		err = fmt.Errorf("makes %s", tree.AppendJSON(nil, got, ""))
	}
	if err != nil {
		t.Errorf("%s of %s: %v", xrFile, xrdFile, err)
		return
	}
	p.stored++
}

// remake goes from a spec to form values, through the pages, and back.
func remake(d *xrd.Definition, f *checked, spec *tree.Node) (*tree.Node, error) {
	values := f.Values(spec)
	answer(d, f.Form, spec, values)
	values = withMetadata(values)
	if err := f.validate(values); err != nil {
		return nil, err
	}
	manifest, err := render(f.Manifest, values)
	if err != nil {
		return nil, err
	}
	if err := undone(f, values, manifest); err != nil {
		return nil, err
	}
	return manifest.Get("spec"), nil
}

// answer fills the page about the Composition, if the form has one.
func answer(d *xrd.Definition, f *Form, spec, values *tree.Node) {
	i := slices.IndexFunc(f.Pages.Items, func(p *tree.Node) bool { return p.Get("title").Str() == "Composition" })
	if i < 0 {
		return
	}
	if d.Modern() {
		spec = spec.Get("crossplane")
	}
	name := spec.Get("compositionRef", "name")
	if slices.Contains(f.Pages.Items[i].Get("properties", paramComposition, "enum").Strings(), name.Str()) {
		values.Set(paramComposition, name)
	}
	values.Set(paramUpdatePolicy, spec.Get("compositionUpdatePolicy"))
	values.Set(paramDeletePolicy, spec.Get("compositeDeletePolicy"))
	values.Set(paramSecret, spec.Get("writeConnectionSecretToRef", "name"))
	values.Set(paramSecretNamespace, spec.Get("writeConnectionSecretToRef", "namespace"))
}

func (p *prover) definition(t *testing.T, file string) *xrd.Definition {
	d, ok := p.definitions[file]
	if !ok {
		if defs := readSet(t, p.dir, file).Definitions; len(defs) == 1 {
			d = defs[0]
		}
		p.definitions[file] = d
	}
	return d
}

// around returns the Compositions of the repository that has the definition.
func (p *prover) around(t *testing.T, xrdFile string) []*xrd.Composition {
	repo := strings.Split(xrdFile, "/")[1]
	found, ok := p.compositions[repo]
	if !ok {
		found = readSet(t, p.dir, "compositions/"+repo+"/*").Compositions
		p.compositions[repo] = found
	}
	return found
}

// machinery reports whether a field of spec is the machinery's. Some
// resources have those of the other generation, which a cluster drops.
func machinery(d *xrd.Definition, v *xrd.Version, key string) bool {
	if Injected(d, key) {
		return true
	}
	other := &xrd.Definition{Scope: xrd.ScopeNamespaced}
	if d.Modern() {
		other.Scope = xrd.ScopeLegacyCluster
	}
	return Injected(other, key) && !v.Spec().Get("properties").Has(key)
}

// withoutMachinery returns what is left of a spec without the machinery's
// fields.
func withoutMachinery(d *xrd.Definition, v *xrd.Version, spec *tree.Node) *tree.Node {
	out := tree.Obj()
	for _, f := range spec.Fields {
		if !machinery(d, v, f.Key) {
			out.Fields = append(out.Fields, f)
		}
	}
	return out
}

// defaulted returns a value as a cluster would store it: nulls where null is
// no value are gone, and defaults stand for what is not there.
func defaulted(s, value *tree.Node) *tree.Node {
	switch value.Kind {
	case tree.List:
		out := tree.Arr()
		for _, it := range value.Items {
			out.Items = append(out.Items, defaulted(s.Get("items"), it))
		}
		return out
	case tree.Map:
		out := tree.Obj()
		for _, f := range value.Fields {
			inner := s.Get("properties", f.Key)
			if inner == nil {
				inner = s.Get("additionalProperties")
			}
			if f.Value.IsNull() && inner.IsMap() && !inner.Get("nullable").IsTrue() {
				continue
			}
			out.Fields = append(out.Fields, tree.F(f.Key, defaulted(inner, f.Value)))
		}
		if props := s.Get("properties"); props.IsMap() {
			for _, p := range props.Fields {
				if d := p.Value.Get("default"); d != nil && !out.Has(p.Key) {
					out.Set(p.Key, defaulted(p.Value, d))
				}
			}
		}
		return out
	}
	return value
}
