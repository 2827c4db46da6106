package step

import (
	"fmt"
	"slices"

	"example.dev/ingestor/expression"
	"example.dev/ingestor/tree"
)

// usable are the lists of an output whose entries need one of these to be of
// use.
var usable = map[string][]string{
	"links": {"url", "entityRef"},
	"text":  {"content", "title"},
}

// Output returns what a task whose steps are done has to show. What cannot be
// evaluated is left out, and said.
func (r *Runner) Output(t *Task, s *State) *tree.Node {
	out, known := tree.Obj(), scope(t, s)
	output := t.Spec.Get("output")
	if !output.IsMap() {
		return out
	}
	room := mostOutput
	evaluate := func(name string, n *tree.Node) *tree.Node {
		v, err := expression.Evaluate(n, known, r.env)
		if err == nil {
			size := len(tree.AppendJSON(nil, v, ""))
			if room -= size; room < 0 {
				// Something small may still fit.
				room += size
				err = fmt.Errorf("all of it is larger than %d MiB", mostOutput>>20)
			}
		}
		if err != nil {
			t.Log(Event{Message: "Leaving out a part of the output " + name + ": " + err.Error()})
			return nil
		}
		return v
	}
	for _, f := range output.Fields {
		need := usable[f.Key]
		if need == nil || !f.Value.IsList() {
			out.Set(f.Key, evaluate(f.Key, f.Value))
			continue
		}
		list := tree.Arr()
		for _, entry := range f.Value.Items {
			v := evaluate(f.Key, entry)
			if !v.IsMap() || v.Has("if") && !expression.Truthy(v.Get("if")) || entry.Has("if") && !v.Has("if") {
				continue
			}
			if !slices.ContainsFunc(need, func(key string) bool { return v.Get(key).Scalar() != "" }) {
				continue
			}
			kept := tree.Obj()
			for _, f := range v.Fields {
				if f.Key != "if" {
					kept.Set(f.Key, f.Value)
				}
			}
			list.Items = append(list.Items, kept)
		}
		out.Set(f.Key, list)
	}
	return out
}
