package pipeline

import (
	"slices"

	"example.dev/ingestor/engine"
)

// relate gives each input the composites of other definitions that its composites compose,
// so that their Resources can refer to each other, whichever variant builds them.
func relate(runs []*run) {
	known := map[engine.CompositeKey]bool{}
	for _, r := range runs {
		for _, k := range r.Related {
			known[k] = true
		}
		for i := range r.inputs {
			for _, c := range r.inputs[i].Composites {
				known[engine.KeyOf(c)] = true
			}
		}
	}
	for _, r := range runs {
		for i := range r.inputs {
			r.inputs[i].Related = related(&r.inputs[i], known)
		}
	}
}

// related returns the known composites that the composites of an input compose, sorted.
func related(in *engine.Input, known map[engine.CompositeKey]bool) []engine.CompositeKey {
	var out []engine.CompositeKey
	for _, c := range in.Composites {
		for _, p := range engine.PartsOf(c.Node, c.Origin.Cluster) {
			if key, ok := p.Find(func(k engine.CompositeKey) bool { return known[k] }); ok {
				out = append(out, key)
			}
		}
	}
	slices.SortFunc(out, engine.CompositeKey.Compare)
	return slices.Compact(out)
}
