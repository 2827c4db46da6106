package form

import (
	"strconv"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd"
)

// FieldChoices is the field whose values are suggested from a cluster. A portal that does
// not know the field shows the plain editor for the value's type.
const FieldChoices = "LiveChoices"

// optionChoices is the option with the choices of a field.
const optionChoices = "choices"

// liveChoices returns the choices of a schema as the form has them; nil if there are none,
// or they are not valid, which lint reports.
func liveChoices(s *tree.Node) *tree.Node {
	n := s.Get(xrd.ChoicesKeyword)
	if n == nil {
		return nil
	}
	choices, problems := xrd.ReadChoices(n)
	if _, _, ok := xrd.ChoosableType(s); !ok || len(problems) > 0 {
		return nil
	}
	return choices.Node()
}

// textField returns a field with choices for a Backstage that does not know them.
func textField(s *tree.Node) *tree.Node {
	out := without(s, "ui:field", "ui:options")
	if rest := without(s.Get("ui:options"), optionChoices); rest.Len() > 0 {
		add(out, "ui:options", rest)
	}
	return out
}

// ChoicesOf returns the choices of the schema of a field; nil if it has none.
func ChoicesOf(field *tree.Node) *tree.Node {
	if field.Get("ui:field").Str() != FieldChoices {
		return nil
	}
	return field.Get("ui:options", optionChoices)
}

// FieldAt returns the schema of the field at a JSON Pointer, such as /storage/class or
// /disks/0/class, in the form of a Template; nil if there is none. Conditional fields are
// found as well.
func FieldAt(template *tree.Node, pointer string) *tree.Node {
	steps := strings.Split(pointer, "/")
	if len(steps) < 2 || steps[0] != "" || len(steps) > deepestField {
		return nil
	}
	for i := range steps {
		steps[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(steps[i])
	}
	pages := template.Get("parameters")
	all := pages.List()
	if pages.IsMap() {
		all = []*tree.Node{pages}
	}
	budget := mostVisited
	for _, page := range all {
		if found := fieldIn(page, steps[1:], &budget); found != nil {
			return found
		}
	}
	return nil
}

// mostVisited is how many schemas are visited to find a field: branches of branches could
// be very many.
const mostVisited = 10_000

// fieldIn returns the schema at the end of a path; of several branches the first that has
// choices, else the first that has the field.
func fieldIn(s *tree.Node, path []string, budget *int) *tree.Node {
	if *budget--; *budget < 0 || !s.IsMap() {
		return nil
	}
	if len(path) == 0 {
		return s
	}
	var first *tree.Node
	better := func(found *tree.Node) bool {
		if first == nil || ChoicesOf(first) == nil && ChoicesOf(found) != nil {
			first = found
		}
		return ChoicesOf(first) != nil
	}
	if p := s.Get("properties", path[0]); p != nil && better(fieldIn(p, path[1:], budget)) {
		return first
	}
	if _, err := strconv.ParseUint(path[0], 10, 32); err == nil && better(fieldIn(s.Get("items"), path[1:], budget)) {
		return first
	}
	if !s.Get("properties").Has(path[0]) && better(fieldIn(s.Get("additionalProperties"), path[1:], budget)) {
		return first
	}
	for _, key := range [...]string{"oneOf", "anyOf", "allOf"} {
		for _, branch := range s.Get(key).List() {
			if better(fieldIn(branch, path, budget)) {
				return first
			}
		}
	}
	for _, key := range [...]string{"then", "else"} {
		if better(fieldIn(s.Get(key), path, budget)) {
			return first
		}
	}
	if dependencies := s.Get("dependencies"); dependencies.IsMap() {
		for _, f := range dependencies.Fields {
			if better(fieldIn(f.Value, path, budget)) {
				return first
			}
		}
	}
	return first
}
