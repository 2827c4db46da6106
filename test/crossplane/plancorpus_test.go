package crossplane_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/plan"
	"example.dev/ingestor/internal/plan/render"
	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/crossplane"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/composed"
)

// leastEqual is how many Compositions of the corpus must be planned as Crossplane composes
// them.
const leastEqual = 20

// sample is a Composition of the corpus with the definition of its kind and an object.
type sample struct {
	file, name                      string
	definition, composition, object *tree.Node
	d                               *xrd.Definition
}

// The reasons why a field may differ from the plan.
const (
	becauseName     = "metadata.name: generated when the object is created, so that the plan has none"
	becauseOwner    = "ownerReferences[].uid: the uid of a composite that does not exist is not known before"
	becauseDefault  = "the API server sets a default of a built-in kind"
	becauseNested   = "Crossplane sets its own fields when it composes a nested composite"
	becauseSchema   = "the API server sets a default of the schema of a nested composite"
	becauseNotKnown = ""
)

// reason returns why a field that the plan does not set has a value; empty if it should be
// in the plan.
func reason(o plan.Object, path string, planned bool) string {
	group, _, ok := strings.Cut(o.APIVersion, "/")
	switch field := strings.TrimPrefix(path, o.Resource+"."); {
	case (!ok || !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")) && (!planned || strings.HasSuffix(field, "containers")):
		return becauseDefault
	case planned:
		return becauseNotKnown
	case o.Composition != nil && slices.Contains([]string{"spec.crossplane", "spec.compositionRef", "spec.compositionRevisionRef", "spec.compositionUpdatePolicy", "spec.resourceRefs"}, field):
		return becauseNested
	case o.Composition != nil && strings.HasPrefix(field, "spec."):
		return becauseSchema
	}
	return becauseNotKnown
}

// TestPlanCorpus plans real Compositions, lets the real Crossplane compose them, and
// compares all fields.
func TestPlanCorpus(t *testing.T) {
	root := os.Getenv("INGESTOR_CORPUS")
	if root == "" {
		t.Skip("INGESTOR_CORPUS is not set: no real Compositions to plan")
	}
	all := readSamples(t, root)
	s := apiserver.Start(t, apiserver.Options{CRDs: "none"})
	core := crossplane.Start(t, s)
	p := newPlanned(t, s, core, render.Options{})
	registerAll(t, core, all)
	var text strings.Builder
	for _, n := range stubs(all) {
		fmt.Fprintf(&text, "---\n%s", tree.AppendYAML(nil, n))
	}
	s.Apply(t, text.String())
	all = slices.DeleteFunc(all, func(x *sample) bool {
		err := errors.Join(core.Apply(string(tree.AppendYAML(nil, x.definition))), core.Apply(string(tree.AppendYAML(nil, x.composition))))
		if err != nil {
			t.Logf("%s: not compared: the API server refuses it: %v", x.file, err)
		}
		return err != nil
	})
	core.Define(t, namespaces(all))

	equal, explained := 0, map[string][]string{}
	compared := 0
	for _, x := range all {
		found, why := p.compare(t, x)
		if why != "" {
			t.Logf("%s: not compared: %s", x.file, why)
			continue
		}
		compared++
		bad := slices.DeleteFunc(slices.Clone(found), func(d difference) bool { return d.reason != becauseNotKnown })
		for _, d := range bad {
			t.Errorf("%s: plan differs: %s", x.file, d.text)
		}
		for _, d := range found {
			explained[d.reason] = append(explained[d.reason], x.name+" "+d.text)
		}
		if len(found) == 0 {
			equal++
		}
	}
	t.Logf("%d Compositions, %d compared with %d objects, %d without any difference", len(all), compared, p.compared, equal)
	t.Logf("never compared: %s; %s", becauseName, becauseOwner)
	for _, why := range slices.Sorted(maps.Keys(explained)) {
		t.Logf("%d fields: %s:\n  %.4000s", len(explained[why]), why, strings.Join(explained[why], "\n  "))
	}
	if equal < leastEqual {
		t.Errorf("%d plans have no difference, want at least %d", equal, leastEqual)
	}
}

// compare plans a sample, creates it, and returns how what Crossplane composes differs from
// the plan. why says why that cannot be compared.
func (p *planned) compare(t *testing.T, x *sample) (found []difference, why string) {
	t.Helper()
	text := string(tree.AppendYAML(nil, x.object))
	got, err := p.plan(t.Context(), text)
	if err != nil {
		return nil, "no plan: " + err.Error()
	}
	if err := p.core.Apply(text); err != nil {
		if len(got.Results) > 0 {
			return nil, "both fail: " + err.Error()
		}
		return []difference{{text: "the API server refuses what was planned: " + err.Error()}}, ""
	}
	xr, failed := p.settled(t, x, got)
	if failed != "" {
		if got.Fatal != "" || slices.ContainsFunc(got.Results, func(r plan.Result) bool { return r.Warning }) {
			return nil, "both fail: " + failed
		}
		return []difference{{text: "Crossplane fails, but the plan does not: " + failed}}, ""
	}
	for _, o := range got.Objects {
		if len(o.Within) == 0 {
			p.compared++
		}
	}
	if got.Fatal != "" {
		return []difference{{text: "the plan fails, but Crossplane does not: " + got.Fatal}}, ""
	}
	found = append(p.differences(t, xr, got), p.unsettled(t, text)...)
	if len(got.Objects) == 0 && len(found) == 0 {
		return nil, "nothing is composed, as planned"
	}
	return found, ""
}

// settled waits until Crossplane has composed what is planned, and returns the composite.
func (p *planned) settled(t *testing.T, x *sample, got *plan.Plan) (xr *tree.Node, failed string) {
	t.Helper()
	direct := 0
	for _, o := range got.Objects {
		if len(o.Within) == 0 {
			direct++
		}
	}
	p.core.Await(t, x.file, func() error {
		ref := composed.Ref{APIVersion: got.Composite.APIVersion, Kind: got.Composite.Kind, Namespace: got.Composite.Namespace, Name: got.Composite.Name}
		if got.Claim != nil {
			c, err := p.objects().Get(t.Context(), *got.Claim)
			if err != nil {
				return err
			}
			if ref.Name = c.Get("spec", "resourceRef", "name").Str(); ref.Name == "" {
				return fmt.Errorf("claim has no composite")
			}
		}
		n, err := p.objects().Get(t.Context(), ref)
		if err != nil || n == nil {
			return fmt.Errorf("composite does not exist: %w", err)
		}
		for _, c := range n.Get("status", "conditions").List() {
			if c.Get("type").Str() != "Synced" {
				continue
			}
			if c.Get("status").Str() == "False" {
				failed = c.Get("message").Str()
				return nil
			}
			refs := composed.References(composed.Object{Ref: ref, State: composed.Present, Node: n})
			if len(refs) >= direct {
				xr = n
				return nil
			}
		}
		return fmt.Errorf("composite is not composed: %s", tree.AppendJSON(nil, n.Get("status"), ""))
	})
	return xr, failed
}

// unsettled plans a manifest again, and returns what the plan would change although it has
// been applied.
func (p *planned) unsettled(t *testing.T, manifest string) (out []difference) {
	t.Helper()
	p.core.Await(t, "a second plan", func() error {
		again, err := p.plan(t.Context(), manifest)
		if err != nil {
			return err
		}
		out = nil
		for _, o := range again.Objects {
			if o.Action != plan.Unchanged && len(o.Within) == 0 {
				out = append(out, difference{text: fmt.Sprintf("%s: planned again: %s %v", o.Resource, o.Action, o.Diff())})
			}
		}
		return nil
	})
	return out
}

// difference is a difference between a plan and what Crossplane composes.
type difference struct{ text, reason string }

// differences compares the objects of a composite with those of the plan.
func (p *planned) differences(t *testing.T, xr *tree.Node, got *plan.Plan) []difference {
	t.Helper()
	var out []difference
	add := func(format string, args ...any) { out = append(out, difference{text: fmt.Sprintf(format, args...)}) }
	refs := composed.References(composed.Object{Ref: composed.Ref{Namespace: xr.Get("metadata", "namespace").Str()}, State: composed.Present, Node: xr})
	live := map[string]*tree.Node{}
	for _, ref := range refs {
		n, err := p.objects().Get(t.Context(), ref)
		if err != nil || n == nil {
			add("%s is not readable: %v", ref, err)
			continue
		}
		live[n.Get("metadata", "annotations", "crossplane.io/composition-resource-name").Str()] = n
	}
	for _, o := range got.Objects {
		if len(o.Within) > 0 {
			continue
		}
		n := live[o.Resource]
		if n == nil {
			add("%s is planned, but not composed", o.Resource)
			continue
		}
		delete(live, o.Resource)
		want, has := lasting(o.Manifest.Node, got.Composite, ""), lasting(engine.Redact(n), plan.Object{Name: xr.Get("metadata", "name").Str(), GenerateName: got.Composite.GenerateName}, xr.Get("metadata", "uid").Str())
		if o.Name != "" && o.Name != n.Get("metadata", "name").Str() {
			add("%s is named %s, planned %s", o.Resource, n.Get("metadata", "name").Str(), o.Name)
		}
		out = append(out, fields(o, o.Resource, want, has)...)
	}
	for name := range live {
		add("%s is composed, but not planned", name)
	}
	return out
}

// lasting returns an object without what is known only later. The generated name of the
// composite, and its uid, are replaced by the same texts in both.
func lasting(n *tree.Node, of plan.Object, uid string) *tree.Node {
	text := string(tree.AppendJSON(nil, n, ""))
	if uid != "" {
		text = strings.ReplaceAll(text, uid, "(uid)")
	}
	if of.GenerateName != "" {
		text = strings.ReplaceAll(text, cmp.Or(of.Name, of.GenerateName+"(generated)"), "(composite)")
	}
	docs, _ := parser.DecodeBytes([]byte(text))
	n = docs[0]
	n.Delete("status")
	meta := n.Get("metadata")
	for _, key := range []string{"name", "uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "finalizers", "selfLink"} {
		meta.Delete(key)
	}
	for _, o := range meta.Get("ownerReferences").List() {
		o.Delete("uid")
	}
	return n
}

// fields returns the paths of values that differ.
func fields(o plan.Object, path string, want, has *tree.Node) []difference {
	if want.IsMap() && has.IsMap() {
		var out []difference
		keys := map[string]bool{}
		for _, f := range slices.Concat(want.Fields, has.Fields) {
			keys[f.Key] = true
		}
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			out = append(out, fields(o, path+"."+key, want.Get(key), has.Get(key))...)
		}
		return out
	}
	if want.Equal(has) {
		return nil
	}
	return []difference{{fmt.Sprintf("%s: planned %.200s, is %.200s", path, tree.AppendJSON(nil, want, ""), tree.AppendJSON(nil, has, "")), reason(o, path, want != nil)}}
}
