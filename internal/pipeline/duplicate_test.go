package pipeline_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/pipeline"
)

// TestDuplicateIsChecked wants the errors of a definition in whose place another
// of the same name is used, and only one set of findings for what is given twice.
func TestDuplicateIsChecked(t *testing.T) {
	good := definition("as.example.org")
	bad := strings.Replace(good, "type: string", "type: strin", 1)
	if bad == good {
		t.Fatal("the definition has no string to spoil")
	}
	r, err := pipeline.Run(t.Context(), pipeline.Options{Source: text(good, bad), Engine: newEngine(engine.CLI, engine.Hooks{})})
	if err != nil {
		t.Fatal(err)
	}
	var rules []string
	for _, f := range r.Findings {
		if f.Severity >= finding.Warning {
			rules = append(rules, f.Rule)
		}
	}
	slices.Sort(rules)
	if diff := cmp.Diff([]string{"XRD003", "XRD069"}, rules); diff != "" {
		t.Errorf("what is found in two definitions of one name, the second with a type there is not (-want +got):\n%s", diff)
	}
	if len(r.Entities) != 3 {
		t.Errorf("got entities %v, want those of the first", keys(r.Entities))
	}
}

// unnamed is a composite without a name.
func unnamed(metadata, size string) string {
	return "---\napiVersion: example.org/v1\nkind: Xas\nmetadata: {" + metadata + "}\nspec: {size: " + size + "}\n"
}

// TestUnnamedComposites wants one entity for each composite that has no name
// yet, called the same whatever stands beside it.
func TestUnnamedComposites(t *testing.T) {
	def := definition("as.example.org")
	docs := []string{
		unnamed("generateName: mine-", "small"), unnamed("generateName: mine-", "large"),
		unnamed("generateName: mine-, namespace: dev", "small"), unnamed("", "small"), unnamed("", "large"),
	}
	made := func(docs ...string) []string {
		t.Helper()
		r, err := pipeline.Run(t.Context(), pipeline.Options{Source: text(docs...), Engine: newEngine(engine.CLI, engine.Hooks{})})
		if err != nil {
			t.Fatal(err)
		}
		if fs := told(r.Findings); len(fs) > 0 {
			t.Errorf("composites without a name are not right: %v", fs)
		}
		var names []string
		for _, e := range r.Entities {
			if e.Spec.Get("type").Str() == "crossplane-xr" {
				names = append(names, e.Metadata.Name)
				if _, ok := e.Metadata.Annotations["crossplane.terasky.io/xr-name"]; ok {
					t.Errorf("%s says what its object is called, which nobody knows yet", e.Metadata.Name)
				}
			}
		}
		slices.Sort(names)
		return names
	}
	all := made(append([]string{def}, docs...)...)
	if len(slices.Compact(slices.Clone(all))) != len(docs) {
		t.Fatalf("got %v, want one for each of %d", all, len(docs))
	}
	for _, name := range all {
		if !strings.HasPrefix(name, "mine-") && !strings.HasPrefix(name, "xas-") {
			t.Errorf("%s begins neither as its composite asks for nor with its kind", name)
		}
	}
	turned := slices.Clone(docs)
	slices.Reverse(turned)
	if diff := cmp.Diff(all, made(append(turned, docs[0], def)...)); diff != "" {
		t.Errorf("the names depend on order, or on what is given twice (-before +after):\n%s", diff)
	}
	if one := made(def, docs[1]); len(one) != 1 || !slices.Contains(all, one[0]) {
		t.Errorf("alone it is %v, among others one of %v", one, all)
	}
}
