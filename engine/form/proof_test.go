package form

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd"
)

// The minimum results, as numbers of valid resources of the corpus. After
// defaulting by a cluster all manifests must be equal, so there is no minimum
// for that.
const (
	// proofAsked resources have form values that make exactly their spec,
	// including settings for Crossplane, except for the references that Crossplane
	// writes into a running resource. The others have settings that their
	// definition does not support.
	proofAsked = 1079
	// proofOwn resources do so without any settings for Crossplane. The others
	// have null where it is not allowed, or no spec at all.
	proofOwn = 1099
)

// TestProof takes every valid resource of the corpus, computes the form input
// that should make it, checks the input against the pages, renders the
// manifest, and compares. The form is then filled from what it made.
func TestProof(t *testing.T) {
	p := newProver(corpus(t))
	p.each(t, func(xrFile, xrdFile string, d *xrd.Definition, v *xrd.Version, spec *tree.Node) {
		p.row(t, xrFile, xrdFile, d, v, spec)
	})
	for _, reason := range slices.Sorted(maps.Keys(p.skipped)) {
		t.Logf("skipped %d times: %s", p.skipped[reason], reason)
	}
	for _, field := range slices.Sorted(maps.Keys(p.left)) {
		t.Logf("left to Crossplane %d times: %s", p.left[field], field)
	}
	share := func(n int) string {
		return fmt.Sprintf("%d of %d, %.1f %%", n, p.tried, 100*float64(n)/float64(p.tried))
	}
	t.Logf("complete spec is exact: %s", share(p.whole))
	t.Logf("complete spec without references that Crossplane writes is exact: %s", share(p.asked))
	t.Logf("spec without the fields of Crossplane is exact: %s", share(p.own))
	t.Logf("spec after defaulting by the cluster is equal: %s", share(p.stored))
	if p.asked < proofAsked || p.own < proofOwn {
		t.Errorf("want at least %d and %d", proofAsked, proofOwn)
	}
}

// formFor identifies the form of a version in a cluster with some Compositions.
type formFor struct {
	version      *xrd.Version
	compositions string
}

type prover struct {
	dir          string
	definitions  map[string]*xrd.Definition
	compositions map[string][]*xrd.Composition
	forms        map[formFor]*checked

	tried, whole, asked, own, stored int
	// skipped counts resources that were skipped, by reason.
	skipped map[string]int
	// left counts the fields that a form leaves to Crossplane.
	left map[string]int
}

func newProver(dir string) *prover {
	return &prover{
		dir: dir, definitions: map[string]*xrd.Definition{}, compositions: map[string][]*xrd.Composition{}, forms: map[formFor]*checked{},
		skipped: map[string]int{}, left: map[string]int{},
	}
}

// each calls yield for every valid resource of the corpus with an existing
// definition.
func (p *prover) each(t *testing.T, yield func(xrFile, xrdFile string, d *xrd.Definition, v *xrd.Version, spec *tree.Node)) {
	t.Helper()
	table, err := os.ReadFile(filepath.Join(p.dir, "XR_VALIDATION.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(table)), "\n") {
		cols := strings.Split(line, "\t")
		if i == 0 || cols[3] != "valid" {
			continue
		}
		xrs, d := readSet(t, p.dir, cols[0]).Others, p.definition(t, cols[1])
		if len(xrs) != 1 || d == nil {
			p.skipped["The corpus does not have both files."]++
			continue
		}
		_, name, _ := strings.Cut(xrs[0].Node.Get("apiVersion").Str(), "/")
		at := slices.IndexFunc(d.Versions, func(v *xrd.Version) bool { return v.Name == name })
		if at < 0 {
			p.skipped["The definition does not have the version."]++
			continue
		}
		spec := xrs[0].Node.Get("spec")
		if spec.IsNull() {
			spec = tree.Obj()
		}
		yield(cols[0], cols[1], d, d.Versions[at], spec)
	}
}

func (p *prover) row(t *testing.T, xrFile, xrdFile string, d *xrd.Definition, v *xrd.Version, spec *tree.Node) {
	p.tried++
	f := p.form(t, d, v, p.installed(t, d, xrdFile, spec))
	got, err := remake(d, f, spec)
	if err == nil && got.Equal(spec) {
		p.whole++
	}
	if err == nil && got.Equal(withoutWritten(spec)) {
		p.asked++
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
	t.Logf("%s of %s is not exact: %v", xrFile, xrdFile, err)

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

// remake converts a spec to form values, validates them, and renders the spec
// again.
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

// answer fills in the Crossplane page, if the form has one.
func answer(d *xrd.Definition, f *Form, spec, values *tree.Node) {
	i := slices.IndexFunc(f.Pages.Items, func(p *tree.Node) bool { return p.Get("title").Str() == "Crossplane" })
	if i < 0 {
		return
	}
	if d.Modern() {
		spec = spec.Get("crossplane")
	}
	asked := f.Pages.Items[i].Get("properties")
	for param, path := range map[string][]string{
		paramComposition: {"compositionRef", "name"}, paramSelector: {"compositionSelector", "matchLabels"},
		paramRevision: {"compositionRevisionRef", "name"}, paramRevisionSelector: {"compositionRevisionSelector", "matchLabels"},
		paramUpdatePolicy: {"compositionUpdatePolicy"}, paramDeletePolicy: {"compositeDeletePolicy"},
		paramSecret: {"writeConnectionSecretToRef", "name"}, paramSecretNamespace: {"writeConnectionSecretToRef", "namespace"},
	} {
		if v := spec.Get(path...); v != nil && asked.Has(param) {
			values.Set(param, v)
		}
	}
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

// form returns the form of a version.
func (p *prover) form(t *testing.T, d *xrd.Definition, v *xrd.Version, compositions []string) *checked {
	key := formFor{v, strings.Join(compositions, " ")}
	if p.forms[key] == nil {
		p.forms[key] = check(t, Compile(d, v, Options{CompositionDetails: true, Compositions: compositions}))
	}
	return p.forms[key]
}

// installed returns the Compositions of the cluster that a resource is for:
// those of its repository and the one it names. If it names none there is at
// most one, though a repository may have one per cloud.
func (p *prover) installed(t *testing.T, d *xrd.Definition, xrdFile string, spec *tree.Node) []string {
	names := Matching(d, p.around(t, xrdFile))
	if d.Modern() {
		spec = spec.Get(xrd.MachineryV2)
	}
	name := spec.Get("compositionRef", "name").Str()
	switch {
	case name != "" && !slices.Contains(names, name):
		return append(names, name)
	case name == "" && !spec.Has("compositionSelector"):
		return names[:min(len(names), 1)]
	}
	return names
}

// around returns the Compositions of the repository of the definition.
func (p *prover) around(t *testing.T, xrdFile string) []*xrd.Composition {
	repo := strings.Split(xrdFile, "/")[1]
	found, ok := p.compositions[repo]
	if !ok {
		found = readSet(t, p.dir, "compositions/"+repo+"/*").Compositions
		p.compositions[repo] = found
	}
	return found
}

// machinery reports whether a field of spec belongs to Crossplane. Some
// resources have fields of the other generation, which a cluster drops.
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

// withoutWritten returns a spec without the fields that only Crossplane writes:
// the composed resources, and the references between claim and composite.
func withoutWritten(spec *tree.Node) *tree.Node {
	out := tree.Obj()
	for _, f := range spec.Fields {
		switch {
		case slices.Contains([]string{"claimRef", "resourceRef", "resourceRefs"}, f.Key):
			continue
		case f.Key == xrd.MachineryV2 && f.Value.IsMap():
			if f.Value = withoutWritten(f.Value); len(f.Value.Fields) == 0 {
				continue
			}
		}
		out.Fields = append(out.Fields, f)
	}
	return out
}

// withoutMachinery returns a spec without the fields of Crossplane.
func withoutMachinery(d *xrd.Definition, v *xrd.Version, spec *tree.Node) *tree.Node {
	out := tree.Obj()
	for _, f := range spec.Fields {
		if !machinery(d, v, f.Key) {
			out.Fields = append(out.Fields, f)
		}
	}
	return out
}

// defaulted returns a value as a cluster would store it: invalid nulls are
// dropped, and defaults are applied.
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
