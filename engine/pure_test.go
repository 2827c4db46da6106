package engine_test

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/test/sample"
	"example.dev/ingestor/words"
)

// TestTransformIsPure runs eight goroutines on the same input: all get the same
// result, and the input is unchanged. The race detector reports writes.
func TestTransformIsPure(t *testing.T) {
	large := engine.Input{Definition: definition(t, sample.Definition(0))}
	inputs := map[string]engine.Input{
		"portal":   surrounded(t, words.Portal, append(tricky(), set("Database", "spec", "names", "kind"), set("platform.io", "spec", "group"))...),
		"upstream": surrounded(t, words.Upstream, plain()...),
		"large":    large,
	}
	for name, input := range inputs {
		for _, p := range engine.Profiles {
			for _, c := range []string{"auto", "portal", "upstream"} {
				t.Run(name+" "+p.Name+" "+c, func(t *testing.T) {
					e := engine.New(p, engine.Options{Now: found, GitOps: true, Tags: []string{"Z", "a"}, Words: choice(t, c)}, engine.Hooks{})
					before := snapshot(input)
					const workers = 8
					var outputs [workers]string
					var wg sync.WaitGroup
					for i := range workers {
						wg.Go(func() {
							for range 3 {
								res, err := e.Transform(input)
								if err != nil {
									t.Error(err)
								}
								// The result belongs to the caller, which may change it.
								outputs[i] = string(entity.YAMLDocuments(res.Entities))
								for _, x := range res.Entities {
									x.Metadata.Annotations["mine"] = name
									x.Metadata.Tags = append(x.Metadata.Tags[:0], "mine")
									x.Spec.Set("mine", x.Spec.Get("type"))
								}
							}
						})
					}
					wg.Wait()
					if diff := cmp.Diff(before, snapshot(input)); diff != "" {
						t.Errorf("input was changed (-before +after):\n%s", diff)
					}
					for i := range outputs {
						if outputs[i] != outputs[0] {
							t.Fatalf("two goroutines got different entities:\n%s", cmp.Diff(outputs[0], outputs[i]))
						}
					}
				})
			}
		}
	}
}
