// Package outline renders the form of a Template as text.
package outline

import (
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine/form"
	"example.dev/ingestor/internal/term"
)

// Form renders each page of a form as a table: its fields in order, with their types
// and defaults. A star marks required fields.
func Form(pages *tree.Node, style term.Style) string {
	var b strings.Builder
	for _, page := range pages.List() {
		rows := [][]string{{"  " + style.Bold(term.Safe(page.Get("title").Str()))}}
		rows = outlineFields(rows, page, "    ", style)
		for _, key := range []string{"oneOf", "anyOf"} {
			rows = outlineChoice(rows, page.Get(key), "    ", style)
		}
		for _, dep := range fieldsOf(page.Get("dependencies")) {
			for _, branch := range dep.Value.Get("oneOf").List() {
				rows = outlineFields(rows, branch, "    ", style)
			}
		}
		b.WriteString(term.Table(rows, nil, style))
	}
	return b.String()
}

func fieldsOf(n *tree.Node) []tree.Field {
	if !n.IsMap() {
		return nil
	}
	return n.Fields
}

// outlineChoice renders the branches of a choice.
func outlineChoice(rows [][]string, branches *tree.Node, indent string, style term.Style) [][]string {
	for _, b := range branches.List() {
		if b.Get("title").Str() == "" {
			continue
		}
		rows = append(rows, []string{indent + style.Dim("either ") + term.Safe(b.Get("title").Str())})
		rows = outlineFields(rows, b, indent+"  ", style)
	}
	return rows
}

func outlineFields(rows [][]string, object *tree.Node, indent string, style term.Style) [][]string {
	required := map[string]bool{}
	for _, r := range object.Get("required").Strings() {
		required[r] = true
	}
	for _, f := range fieldsOf(object.Get("properties")) {
		if !f.Value.Has("title") {
			continue
		}
		name := indent + term.Safe(f.Key)
		if required[f.Key] {
			name += style.Red("*")
		}
		switch {
		case f.Value.Get("ui:widget").Str() == "hidden":
			name += style.Dim(" (hidden)")
		case f.Value.Get("ui:options", "advanced").IsTrue():
			name += style.Dim(" (advanced)")
		}
		rows = append(rows, []string{name, cut(takes(f.Value), 48), proposes(f.Value), style.Dim(cut(oneLine(f.Value.Get("description").Str()), 72))})
		rows = outlineInner(rows, f.Value, indent+"  ", style)
	}
	return rows
}

// outlineInner renders the fields inside a field.
func outlineInner(rows [][]string, field *tree.Node, indent string, style term.Style) [][]string {
	inner := field
	for {
		next := inner.Get("items")
		if !next.IsMap() {
			next = inner.Get("additionalProperties")
		}
		if !next.IsMap() {
			break
		}
		inner = next
	}
	rows = outlineFields(rows, inner, indent, style)
	if inner.Has("properties") {
		rows = outlineChoice(rows, inner.Get("oneOf"), indent, style)
	}
	return rows
}

// takes returns the type of a field.
func takes(f *tree.Node) string {
	switch ui := f.Get("ui:field").Str(); ui {
	case "":
	case form.FieldYAML:
		return "YAML text"
	case form.FieldChoices:
		kind := form.ChoicesOf(f).Get("kind").Str()
		if typeName(f) == "array" {
			return "list of text, suggests " + kind
		}
		return "text, suggests " + kind
	default:
		return ui
	}
	if enum := f.Get("enum"); enum.Len() > 0 {
		var values []string
		for _, v := range enum.Items {
			values = append(values, short(v))
		}
		return strings.Join(values, " | ")
	}
	if f.Has("anyOf") && !f.Has("type") {
		var types []string
		for _, b := range f.Get("anyOf").List() {
			types = append(types, typeName(b))
		}
		return strings.Join(types, " or ")
	}
	switch t := typeName(f); {
	case t == "array":
		return "list of " + takes(f.Get("items"))
	case t == "object" && f.Get("additionalProperties").IsMap():
		return "map of " + takes(f.Get("additionalProperties"))
	case f.Get("pattern").Str() == form.LabelPattern:
		return "DNS label"
	case f.Get("pattern").Str() == form.NamePattern:
		return "DNS name"
	case f.Get("pattern").Str() != "":
		return t + " like " + f.Get("pattern").Str()
	case f.Get("format").Str() != "":
		return t + ", " + f.Get("format").Str()
	default:
		return t
	}
}

func typeName(f *tree.Node) string {
	t := f.Get("type")
	if t.IsList() && len(t.Items) > 0 {
		t = t.Items[0]
	}
	if t.Str() == "" {
		return "anything"
	}
	return t.Str()
}

// proposes returns the default of a field.
func proposes(f *tree.Node) string {
	d := f.Get("default")
	if d == nil {
		return ""
	}
	return "= " + short(d)
}

// short returns a value in abbreviated form.
func short(n *tree.Node) string {
	if n.IsString() && n.Text != "" {
		return cut(n.Text, 32)
	}
	return cut(string(tree.AppendJSON(nil, n, "")), 32)
}

// cut truncates text to a number of characters. The outline is only an overview;
// the entity above it is complete.
func cut(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return string(runes[:most-1]) + "…"
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
