package form

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/xrd"
)

// TestCorpus compiles the form of every version of every real definition,
// including malformed ones: each page is a JSON Schema, the manifest can be
// rendered, and the order of keys does not matter.
func TestCorpus(t *testing.T) {
	dir := corpus(t)
	random := rand.New(rand.NewPCG(1, 2))
	opts := Options{Namespace: "default", GitOps: true, Compositions: []string{"a", "b"}}
	forms, rules := 0, map[string]int{}
	for _, pattern := range []string{"xrds/*/*", "weird/*/*/*"} {
		set := readSet(t, dir, pattern)
		for _, d := range set.Definitions {
			again := xrd.NewDefinition(shuffled(d.Node, random), d.Origin)
			for i, v := range d.Versions {
				f := Compile(d, v, opts)
				if _, err := compilePages(f); err != nil {
					t.Errorf("%s, version %s: %v", d.Origin.File, v.Name, err)
				}
				if diff := cmp.Diff(bytesOf(f), bytesOf(Compile(again, again.Versions[i], opts))); diff != "" {
					t.Errorf("%s, version %s: form depends on the order of keys: -as written +shuffled:\n%s", d.Origin.File, v.Name, diff)
				}
				if _, err := render(f.Manifest, withMetadata(nil)); err != nil {
					t.Errorf("%s, version %s: %v", d.Origin.File, v.Name, err)
				}
				forms++
				for _, found := range f.Findings {
					rules[found.Rule]++
				}
			}
		}
	}
	if forms == 0 {
		t.Error("corpus has no definitions")
	}
	t.Logf("%d forms, findings %v", forms, rules)
}
