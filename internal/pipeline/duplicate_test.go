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

// TestDuplicateIsChecked checks that a definition that is replaced by another of
// the same name has its errors reported, and that identical copies are reported
// once.
func TestDuplicateIsChecked(t *testing.T) {
	good := definition("as.example.org")
	bad := strings.Replace(good, "type: string", "type: strin", 1)
	if bad == good {
		t.Fatal("definition has no text to replace")
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
		t.Errorf("rules of the findings (-want +got):\n%s", diff)
	}
	if len(r.Entities) != 3 {
		t.Errorf("entities are %v, want those of the first", keys(r.Entities))
	}
}

// unnamed returns a composite without a name.
func unnamed(metadata, size string) string {
	return "---\napiVersion: example.org/v1\nkind: Xas\nmetadata: {" + metadata + "}\nspec: {size: " + size + "}\n"
}

// TestUnnamedComposites checks that each composite without a name has one
// entity, whose name does not depend on the others.
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
		if fs := summarizeFindings(r.Findings); len(fs) > 0 {
			t.Errorf("findings are %v, want none", fs)
		}
		var names []string
		for _, e := range r.Entities {
			if e.Spec.Get("type").Str() == "crossplane-xr" {
				names = append(names, e.Metadata.Name)
				if _, ok := e.Metadata.Annotations["crossplane.terasky.io/xr-name"]; ok {
					t.Errorf("%s has the annotation of a name that is not known yet", e.Metadata.Name)
				}
			}
		}
		slices.Sort(names)
		return names
	}
	all := made(append([]string{def}, docs...)...)
	if len(slices.Compact(slices.Clone(all))) != len(docs) {
		t.Fatalf("entities are %v, want one for each of %d", all, len(docs))
	}
	for _, name := range all {
		if !strings.HasPrefix(name, "mine-") && !strings.HasPrefix(name, "xas-") {
			t.Errorf("%s begins neither with the generateName nor with the kind", name)
		}
	}
	turned := slices.Clone(docs)
	slices.Reverse(turned)
	if diff := cmp.Diff(all, made(append(turned, docs[0], def)...)); diff != "" {
		t.Errorf("names depend on order or duplicates (-before +after):\n%s", diff)
	}
	if one := made(def, docs[1]); len(one) != 1 || !slices.Contains(all, one[0]) {
		t.Errorf("name of a single composite is %v, among others one of %v", one, all)
	}
}
