package keys

import (
	"fmt"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/config/input"
)

// Strings reads a list of non-empty texts. check, if not nil, returns what a valid text
// looks like, "" if the text is valid.
func (m *Map) Strings(key string, to *[]string, check func(string) string) {
	v := m.Get(key)
	if v.Node != nil {
		*to = m.textsOf(v, check)
	}
	m.Done(key, "list of string", List(*to))
}

// StringOrList reads one text, or a list of them.
func (m *Map) StringOrList(key string, to *[]string, check func(string) string) {
	v := m.Get(key)
	switch {
	case v.Node == nil:
	case v.Node.Kind == tree.String:
		*to = nil
		if text, ok := v.Checked(check); ok {
			*to = []string{text}
		}
	default:
		*to = m.textsOf(v, check)
	}
	m.Done(key, "string, or list of string", List(*to))
}

// textsOf returns the valid texts of the list in v.
func (m *Map) textsOf(v input.Value, check func(string) string) []string {
	var out []string
	for _, item := range m.ItemsOf(v) {
		if text, ok := item.Checked(check); ok {
			out = append(out, text)
		}
	}
	return out
}

// ItemsOf returns the entries of the list in v that are not null.
func (m *Map) ItemsOf(v input.Value) []input.Value {
	if v.Node == nil {
		return nil
	}
	if v.Node.Kind != tree.List {
		v.WrongType("a list", "write [ ] around it, or each entry on its own line after a dash")
		return nil
	}
	var out []input.Value
	for i, it := range v.Node.Items {
		item := m.r.Resolve(it, fmt.Sprintf("%s[%d]", v.Path, i), false, m.lenient)
		if it.IsNull() {
			item.WrongType("text", "")
			continue
		}
		out = append(out, item)
	}
	return out
}

// List returns texts as a list, which may be empty.
func List(texts []string) *tree.Node {
	if out := tree.Strs(texts); out != nil {
		return out
	}
	return tree.Arr()
}
