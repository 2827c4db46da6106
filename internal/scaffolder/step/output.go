package step

import (
	"cmp"
	"fmt"
	"slices"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/template/expression"
)

// Keys of the output that pages show as links: a list, and the single link of older
// clients.
const (
	keyLinks  = "links"
	keyRemote = "remoteUrl"
)

// usable maps lists in the output to the keys of which an entry needs at least one to
// be useful.
var usable = map[string][]string{
	keyLinks: {"url", "entityRef"},
	"text":   {"content", "title"},
}

// Output returns the output of a task whose steps are done. Parts that cannot be
// evaluated are left out and logged.
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
				// A smaller part may still fit.
				room += size
				err = fmt.Errorf("output is larger than %d MiB", mostOutput>>20)
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
			out.Set(f.Key, t.linked(f.Key, evaluate(f.Key, f.Value)))
			continue
		}
		list := tree.Arr()
		for _, entry := range f.Value.Items {
			v := evaluate(f.Key, entry)
			if !v.IsMap() || v.Has("if") && !expression.Truthy(v.Get("if")) || entry.Has("if") && !v.Has("if") {
				continue
			}
			if f.Key == keyLinks {
				v = t.link(v)
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

// linked returns a part of the output that was evaluated as a whole, without links
// that pages must not show.
func (t *Task) linked(name string, v *tree.Node) *tree.Node {
	switch {
	case name == keyLinks && v.IsList():
		list := tree.Arr()
		for _, item := range v.Items {
			if item.IsMap() {
				item = t.link(item)
			}
			if item.Len() > 0 {
				list.Items = append(list.Items, item)
			}
		}
		return list
	case name == keyRemote && v.IsString() && !entity.IsHref(v.Text):
		t.refuseLink(keyRemote)
		return nil
	}
	return v
}

// link returns an entry of the links without a URL that pages must not show. An entry
// without any other target becomes empty.
func (t *Task) link(v *tree.Node) *tree.Node {
	url := v.Get("url")
	if url.IsNull() || url.IsString() && entity.IsHref(url.Text) {
		return v
	}
	t.refuseLink(cmp.Or(v.Get("title").Scalar(), keyLinks))
	if v.Get("entityRef").Scalar() == "" {
		return tree.Obj()
	}
	kept := tree.Obj()
	for _, f := range v.Fields {
		if f.Key != "url" {
			kept.Set(f.Key, f.Value)
		}
	}
	return kept
}

func (t *Task) refuseLink(name string) {
	t.Log(Event{Message: fmt.Sprintf("cannot show link %q of the output: URL is neither http, https, mailto nor relative; correct spec.output of the Template", name)})
}
