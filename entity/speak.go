package entity

import (
	"slices"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/words"
)

// Speak translates the entity in place from the contract's vocabulary to v: identifiers
// only, never text, schemas or definitions. Parts of the spec that change are copied
// first, because nodes may be shared with other documents.
func Speak(e *Entity, v words.Vocabulary) {
	if v == words.Portal {
		return
	}
	e.APIVersion = v.APIVersionOut(e.APIVersion)
	m := &e.Metadata
	m.Labels = v.KeysOut(m.Labels)
	m.Annotations = v.KeysOut(m.Annotations)
	origin := v.Out(words.Key, words.AnnotationTemplateOrigin)
	if who, ok := m.Annotations[origin]; ok {
		m.Annotations[origin] = v.Out(words.Origin, who)
	}
	m.Tags = speakTags(m.Tags, v)
	e.Spec = change(e.Spec, speakText(words.Type, v), "type")
	if e.Kind != KindTemplate {
		return
	}
	e.Spec = change(e.Spec, func(steps *tree.Node) *tree.Node { return speakSteps(steps, v) }, "steps")
}

// Translate returns the document of an entity in vocabulary v, whatever its own: as Speak,
// it translates identifiers only, and copies the parts that change.
func Translate(n *tree.Node, v words.Vocabulary) *tree.Node {
	keys := func(n *tree.Node) *tree.Node { return speakKeys(n, v) }
	n = change(n, func(version *tree.Node) *tree.Node {
		if !version.IsString() {
			return version
		}
		return retext(version, v.APIVersion(version.Text))
	}, "apiVersion")
	n = change(n, keys, "metadata", "labels")
	n = change(n, keys, "metadata", "annotations")
	n = change(n, speakText(words.Origin, v), "metadata", "annotations", v.Say(words.Key, words.AnnotationTemplateOrigin))
	n = change(n, func(tags *tree.Node) *tree.Node { return translateTags(tags, v) }, "metadata", "tags")
	n = change(n, speakText(words.Type, v), "spec", "type")
	if n.Get("kind").Str() != KindTemplate {
		return n
	}
	return change(n, func(steps *tree.Node) *tree.Node { return speakSteps(steps, v) }, "spec", "steps")
}

// translateTags translates tags and removes duplicates that result from it.
func translateTags(tags *tree.Node, v words.Vocabulary) *tree.Node {
	say := speakText(words.Tag, v)
	var out []*tree.Node
	changed := false
	for _, old := range tags.List() {
		tag := say(old)
		changed = changed || tag != old
		if !slices.ContainsFunc(out, func(other *tree.Node) bool { return other.IsString() && tag.IsString() && other.Text == tag.Text }) {
			out = append(out, tag)
		}
	}
	if !changed {
		return tags
	}
	c := *tags
	c.Items = out
	return &c
}

// speakTags translates tags and removes duplicates that result from it.
func speakTags(tags []string, v words.Vocabulary) []string {
	if len(tags) == 0 {
		return tags
	}
	out := make([]string, 0, len(tags))
	for _, t := range tags {
		if t = v.Out(words.Tag, t); !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// speakSteps translates the action of each step, and the annotation and label keys of
// the manifest that it applies or writes. A manifest that is text stays as it is.
func speakSteps(steps *tree.Node, v words.Vocabulary) *tree.Node {
	action := speakText(words.Action, v)
	keys := func(n *tree.Node) *tree.Node { return speakKeys(n, v) }
	out := steps
	for i, old := range steps.List() {
		step := change(old, action, "action")
		for _, input := range [...]string{"manifest", "entity"} {
			step = change(step, keys, "input", input, "metadata", "annotations")
			step = change(step, keys, "input", input, "metadata", "labels")
		}
		if step == old {
			continue
		}
		if out == steps {
			c := *steps
			c.Items = slices.Clone(steps.Items)
			out = &c
		}
		out.Items[i] = step
	}
	return out
}

// speakText returns a function that translates a string of place p.
func speakText(p words.Place, v words.Vocabulary) func(*tree.Node) *tree.Node {
	return func(n *tree.Node) *tree.Node {
		if !n.IsString() {
			return n
		}
		return retext(n, v.Say(p, n.Text))
	}
}

// retext returns a string node with another text.
func retext(n *tree.Node, text string) *tree.Node {
	if text == n.Text {
		return n
	}
	c := *n
	c.Text = text
	return &c
}

// speakKeys translates the keys of a map and keeps their order. If both spellings of a
// key are present, the contract's wins.
func speakKeys(n *tree.Node, v words.Vocabulary) *tree.Node {
	if !n.IsMap() {
		return n
	}
	said := make(map[string]bool, len(n.Fields))
	for _, f := range n.Fields {
		if k := v.Say(words.Key, f.Key); k != f.Key {
			said[k] = true
		}
	}
	if len(said) == 0 {
		return n
	}
	c := *n
	c.Fields = make([]tree.Field, 0, len(n.Fields))
	for _, f := range n.Fields {
		key := v.Say(words.Key, f.Key)
		if v == words.Portal && key != f.Key && n.Has(key) || v != words.Portal && said[f.Key] {
			continue
		}
		f.Key = key
		c.Fields = append(c.Fields, f)
	}
	return &c
}

// change returns n with the node at path replaced by the result of f. Only the maps
// along the path are copied, and none if f changes nothing.
func change(n *tree.Node, f func(*tree.Node) *tree.Node, path ...string) *tree.Node {
	if len(path) == 0 {
		return f(n)
	}
	old := n.Get(path[0])
	if old == nil {
		return n
	}
	changed := change(old, f, path[1:]...)
	if changed == old {
		return n
	}
	c := *n
	c.Fields = slices.Clone(n.Fields)
	c.Field(path[0]).Value = changed
	return &c
}
