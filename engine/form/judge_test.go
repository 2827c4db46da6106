package form

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/test/npm"
	"example.dev/ingestor/test/sample"
	"example.dev/ingestor/xrd"
)

// judged is a form as input of the judges.
type judged struct {
	Pages    json.RawMessage   `json:"pages"`
	Manifest json.RawMessage   `json:"manifest"`
	Samples  map[string]string `json:"samples"`
	Cases    []judgedCase      `json:"cases"`

	about string
	d     *xrd.Definition
	v     *xrd.Version
}

// judgedCase is a way to fill in a form: with values, or with everything that
// is required.
type judgedCase struct {
	Values    json.RawMessage `json:"values"`
	Fill      bool            `json:"fill"`
	Behaviour string          `json:"behaviour"`

	about string
	spec  *tree.Node
}

// verdict is the result for a form.
type verdict struct {
	Error string
	Cases []struct {
		// Errors prevent the form from being submitted; Wrong are the errors after
		// everything that the form filled in by itself was emptied.
		Errors, Wrong []string
		// Manifest is what the form makes, Exact what it does then.
		Manifest, Exact json.RawMessage
		// Empty are fields that a browser requires although nothing around them was filled
		// in.
		Empty []string
	}
}

// The modes in which defaults get into a form: the one our pages ask for, and
// that of a stock portal, which also creates an empty list for every untouched
// list.
const ours, stocked = "ours", "stock"

// stockExact is the minimum number of valid resources of the corpus that are
// made exactly.
const stockExact = 1079

// notSame are resources that are equal only after the defaults of the form were
// emptied, each with a reason.
var notSame = map[string]string{
	"xrs/livewyer-ops__crossplane-configuration-piraeus/piraeus-8d2c9d8f.yaml": "an object with a default as a whole is proposed as a whole",
}

// notSent are the forms and resources that cannot be submitted, each with a
// reason.
var notSent = map[string]string{
	"xrs/upbound__configuration-aws-eks-castai/configuration-aws-eks-castai-e02a54e8.yaml":      "null where null is no value; a cluster drops it",
	"xrs/krateoplatformops-archive__krateo-module-core-legacy/krateo-module-core-6da9541f.yaml": "null where null is no value; a cluster drops it",
	"xrs/vshn__component-appcat/mariadb-e2e-96e0406b.yaml":                                      "null where null is no value; a cluster drops it",
}

// TestStockForms runs every form of the corpus in the form component, validator
// and template language of stock portals: all are shown, all can be submitted
// with only the required values, no optional object is created by itself, and
// the resources of the corpus can be made with them.
func TestStockForms(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	dir := corpus(t)
	forms := stockForms(t, dir, "")
	verdicts := ask(t, forms)
	filled, tried, exact, stuck := 0, 0, 0, 0
	for i, v := range verdicts {
		f := forms[i]
		if v.Error != "" {
			t.Errorf("%s: %s", f.about, v.Error)
		}
		for j, got := range v.Cases {
			c := f.Cases[j]
			if c.Behaviour == stocked {
				if len(got.Errors) > 0 {
					stuck++
				}
				continue
			}
			if len(got.Errors) > 0 {
				if notSent[cmp.Or(c.about, f.about)] == "" {
					t.Errorf("%s: cannot be submitted: %s", cmp.Or(c.about, f.about), strings.Join(got.Errors, "; "))
				}
				continue
			}
			spec := node(t, got.Manifest).Get("spec")
			if c.Fill {
				filled++
				if spec == nil {
					t.Errorf("%s: manifest has no spec", f.about)
				}
				for _, path := range uninvited(f.d, f.v.Spec(), spec, nil) {
					t.Errorf("%s: untouched object %s was created", f.about, path)
				}
				continue
			}
			f.compare(t, c, spec)
			tried++
			if len(got.Wrong) == 0 && node(t, got.Exact).Get("spec").Equal(withoutWritten(c.spec)) {
				exact++
			}
		}
	}
	t.Logf("%d forms, submitted %d times with the required values; %d cannot be submitted if every untouched list is sent as an empty list", len(forms), filled, stuck)
	if stuck > 0 {
		t.Error("want none of these")
	}
	t.Logf("%d of %d resources are made exactly, %.1f %%", exact, tried, 100*float64(exact)/float64(tried))
	if exact < stockExact {
		t.Errorf("want at least %d", stockExact)
	}
}

// compare compares what a cluster stores for a manifest with what it stores for
// the resource that the values are from.
func (f *judged) compare(t *testing.T, c judgedCase, made *tree.Node) {
	t.Helper()
	stored := func(spec *tree.Node) *tree.Node {
		stored := defaulted(f.v.Spec(), withoutMachinery(f.d, f.v, spec))
		if c.Behaviour == stocked {
			stored = withoutEmpty(stored)
		}
		return stored
	}
	if got, want := stored(made), stored(c.spec); !got.Equal(want) && notSame[c.about] == "" {
		t.Errorf("%s: a cluster stores %s, want %s", c.about, tree.AppendJSON(nil, got, ""), tree.AppendJSON(nil, want, ""))
	}
}

// inFeed stands for the forms in the feed, which are for a Backstage with our fields.
const inFeed GitProvider = "feed"

// stockForms compiles the forms of the corpus, with the resources that they can
// make as cases.
func stockForms(t *testing.T, dir string, provider GitProvider) []*judged {
	t.Helper()
	p := newProver(dir)
	all := map[formFor]*judged{}
	random := rand.New(rand.NewPCG(1, 2))
	add := func(file string, d *xrd.Definition, v *xrd.Version, names []string) *judged {
		key := formFor{v, strings.Join(names, " ")}
		if j := all[key]; j != nil {
			return j
		}
		opts := Options{Namespace: "default", CompositionDetails: true, Compositions: names}
		if provider != inFeed {
			opts.Stock = provider
		}
		f := Compile(d, v, opts)
		if provider == inFeed {
			spec := ForBackstage(tree.Obj(tree.F("parameters", f.Pages), tree.F("steps", tree.Arr(f.Manifest))))
			f = &Form{Pages: spec.Get("parameters"), Manifest: spec.Get("steps").Items[0]}
		}
		j := &judged{
			Pages: tree.AppendJSON(nil, f.Pages, ""), Manifest: tree.AppendJSON(nil, f.Manifest, ""), Samples: map[string]string{},
			Cases: []judgedCase{{Values: []byte(`{}`), Fill: true, Behaviour: stocked}},
			about: file + ", version " + v.Name, d: d, v: v,
		}
		if provider == "" {
			j.Cases = append(j.Cases, judgedCase{Values: []byte(`{}`), Fill: true, Behaviour: ours})
		}
		patterns := map[string]bool{}
		collectPatterns(f.Pages, patterns)
		for pattern := range patterns {
			if s, ok := sample.Matching(pattern, random); ok {
				j.Samples[pattern] = s
			}
		}
		all[key] = j
		return j
	}
	seen := map[*xrd.Version]bool{}
	p.each(t, func(xrFile, xrdFile string, d *xrd.Definition, v *xrd.Version, spec *tree.Node) {
		if provider != "" && provider != inFeed {
			// test/backstage makes resources with these forms.
			return
		}
		names := p.installed(t, d, xrdFile, spec)
		values := p.form(t, d, v, names).Values(spec)
		answer(d, p.form(t, d, v, names).Form, spec, values)
		j := add(xrdFile, d, v, names)
		one := judgedCase{Behaviour: ours, about: xrFile, spec: spec}
		values = withMetadata(values)
		if provider != "" {
			one.Behaviour = stocked
		}
		one.Values = tree.AppendJSON(nil, values, "")
		j.Cases = append(j.Cases, one)
		seen[v] = true
	})
	for _, d := range readSet(t, dir, "xrds/*/*").Definitions {
		if known := p.definitions[d.Origin.File]; known != nil {
			d = known
		}
		for _, v := range d.Versions {
			if !seen[v] {
				add(d.Origin.File, d, v, nil)
			}
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b *judged) int { return strings.Compare(a.about, b.about) })
}

// ask runs the judges on the forms.
func ask(t *testing.T, forms []*judged) []verdict {
	t.Helper()
	read := func(name string) []byte {
		data, err := os.ReadFile("testdata/judge/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	node, modules, err := npm.Install("form-judge", read("package.json"), read("package-lock.json"))
	if errors.Is(err, npm.ErrOff) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	var in, out, notes bytes.Buffer
	lines := json.NewEncoder(&in)
	for _, f := range forms {
		if err := lines.Encode(f); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), node, "testdata/judge/judge.mjs", modules)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &in, &out, &notes
	if err := cmd.Run(); err != nil {
		t.Fatalf("cannot run the judges: %v\n%s", err, notes.String())
	}
	var all []verdict
	scanner := bufio.NewScanner(&out)
	scanner.Buffer(nil, 64<<20)
	for scanner.Scan() {
		var v verdict
		if err := json.Unmarshal(scanner.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	if len(all) != len(forms) {
		t.Fatalf("%d verdicts for %d forms\n%s", len(all), len(forms), notes.String())
	}
	return all
}

func node(t *testing.T, data []byte) *tree.Node {
	t.Helper()
	docs, errs := parser.DecodeBytes(data)
	if len(errs) > 0 || len(docs) != 1 {
		t.Fatalf("cannot read %s: %v", data, errs)
	}
	return docs[0]
}

// uninvited returns the optional objects that a form created although they were
// not touched. An object with a default for the whole is expected to exist, and
// the lone wrapper of spec is the page.
func uninvited(d *xrd.Definition, s, value *tree.Node, path []string) (out []string) {
	props := s.Get("properties")
	required := members(s.Get("required"))
	for _, f := range fieldsOf(value) {
		p := props.Get(f.Key)
		if typeOf(p) != "object" || len(path) == 0 && (Injected(d, f.Key) || len(props.Fields) == 1 || p.Get("properties").Len() == 0) {
			continue
		}
		here := append(slices.Clone(path), f.Key)
		if !required.has(f.Key) && p.Get("default").Len() == 0 && f.Value.IsMap() && !ruled(s, f.Key) {
			out = append(out, strings.Join(here, "."))
		}
		out = append(out, uninvited(d, p, f.Value, here)...)
	}
	return out
}

// ruled reports whether a validation rule requires a field.
func ruled(s *tree.Node, key string) bool {
	return slices.ContainsFunc(s.Get("x-kubernetes-validations").List(), func(r *tree.Node) bool {
		return strings.Contains(r.Get("rule").Str(), "has(self."+key+")")
	})
}
