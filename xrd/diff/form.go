package diff

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/text"
)

// forms compares what only forms use: texts, the order of fields, and hints.
func (c *comparison) forms(version string, older, newer int) {
	w := &walk{comparison: c, version: version, older: older, newer: newer}
	w.form(c.older.Versions[older].Schema, c.newer.Versions[newer].Schema, place{})
}

// form compares two schemas as forms do, and those inside them.
func (w *walk) form(o, n *tree.Node, p place) {
	if !o.IsMap() || !n.IsMap() || o == n {
		return
	}
	for _, key := range []string{"title", "description"} {
		before, after := o.Get(key).Str(), n.Get(key).Str()
		if before != after {
			w.tell(RuleText, after != "", p, key, Change{Message: key + " changed", Old: text.Shorten(before, 200), New: text.Shorten(after, 200)})
		}
	}
	w.hints(o, n, p)
	w.order(o.Get("properties"), n.Get("properties"), p)
	if inner := n.Get("properties"); inner.IsMap() {
		for i := range inner.Fields {
			f := &inner.Fields[i]
			if before := w.fields.field(o.Get("properties"), f.Key); before != nil {
				w.form(before.Value, f.Value, p.property(f.Key, false))
			}
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		w.form(o.Get(key), n.Get(key), p.inside(key))
	}
}

// hints compares the keywords that begin with x-ui-.
func (w *walk) hints(o, n *tree.Node, p place) {
	const prefix = "x-ui-"
	var keys []string
	for _, s := range []*tree.Node{o, n} {
		for i := range s.Fields {
			if strings.HasPrefix(s.Fields[i].Key, prefix) {
				keys = append(keys, s.Fields[i].Key)
			}
		}
	}
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		if before, after := o.Get(key), n.Get(key); !before.Equal(after) {
			w.tell(RuleHint, after != nil, p, key, Change{Message: fmt.Sprintf("%s changed from %s to %s", key, hint(before), hint(after)), Old: hint(before), New: hint(after)})
		}
	}
}

func hint(n *tree.Node) string {
	if n == nil {
		return "none"
	}
	return short(tree.AppendJSON(nil, n, ""))
}

// order compares the order of the fields that both schemas have.
func (w *walk) order(o, n *tree.Node, p place) {
	if !o.IsMap() || !n.IsMap() {
		return
	}
	common := func(in, other *tree.Node) (keys []string) {
		for i := range in.Fields {
			if key := in.Fields[i].Key; w.fields.field(other, key) != nil {
				keys = append(keys, key)
			}
		}
		return keys
	}
	before, after := common(o, n), common(n, o)
	if !slices.Equal(before, after) {
		w.tell(RuleOrder, true, p, "properties", Change{Message: "order of " + strconv.Itoa(len(after)) + " fields changed"})
	}
}
