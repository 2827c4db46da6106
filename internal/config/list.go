package config

import (
	"fmt"

	"example.dev/ingestor/document/tree"
)

// strings reads a list of non-empty texts. check, if not nil, returns what a valid text
// looks like, "" if the text is valid.
func (o *object) strings(key string, to *[]string, check func(string) string) {
	v := o.get(key)
	if v.node != nil {
		*to = o.textsOf(v, check)
	}
	o.done(key, "list of string", list(*to))
}

// stringOrList reads one text, or a list of them.
func (o *object) stringOrList(key string, to *[]string, check func(string) string) {
	v := o.get(key)
	switch {
	case v.node == nil:
	case v.node.Kind == tree.String:
		*to = nil
		if text, ok := o.r.checked(v, check); ok {
			*to = []string{text}
		}
	default:
		*to = o.textsOf(v, check)
	}
	o.done(key, "string, or list of string", list(*to))
}

// textsOf returns the valid texts of the list in v.
func (o *object) textsOf(v value, check func(string) string) []string {
	var out []string
	for _, item := range o.itemsOf(v) {
		if text, ok := o.r.checked(item, check); ok {
			out = append(out, text)
		}
	}
	return out
}

// itemsOf returns the entries of the list in v that are not null.
func (o *object) itemsOf(v value) []value {
	if v.node == nil {
		return nil
	}
	if v.node.Kind != tree.List {
		o.r.wrongType(v, "a list", "write [ ] around it, or each entry on its own line after a dash")
		return nil
	}
	var out []value
	for i, it := range v.node.Items {
		item := o.r.resolve(it, fmt.Sprintf("%s[%d]", v.path, i), false, o.lenient)
		if it.IsNull() {
			o.r.wrongType(item, "text", "")
			continue
		}
		out = append(out, item)
	}
	return out
}

// checked returns the text in v, and reports an invalid one.
func (r *reader) checked(v value, check func(string) string) (string, bool) {
	text, ok := r.textOf(v)
	if !ok || check == nil {
		return text, ok
	}
	if want := check(text); want != "" {
		r.wrong(v, want, "")
		return "", false
	}
	return text, true
}

// list returns texts as a list, which may be empty.
func list(texts []string) *tree.Node {
	if out := tree.Strs(texts); out != nil {
		return out
	}
	return tree.Arr()
}
