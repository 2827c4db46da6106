package folder

import (
	"cmp"
	"fmt"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine/form"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// definition returns the definition passed to a function, else the current one.
func definition(name string, d *xrd.Definition, args []any) (*xrd.Definition, error) {
	n, err := argument(args, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	switch {
	case n == nil || n == d.Node:
		return d, nil
	case !n.IsMap():
		return nil, fmt.Errorf("%s: argument must be a definition, such as xrd", name)
	}
	return xrd.NewDefinition(n, d.Origin), nil
}

// extractTitle returns the title annotation of a definition, else its kind.
func extractTitle(s *scope, args []any) (any, error) {
	d, err := definition("extractTitle", s.def, args)
	if err != nil {
		return nil, err
	}
	return cmp.Or(d.Annotations[words.AnnotationTitle], d.Names.Kind, d.Target().Kind, d.Label()), nil
}

// version returns the version passed to a function as its second argument, else the one
// that a single Template is made for.
func version(name string, d *xrd.Definition, args []any) (*xrd.Version, error) {
	if len(args) < 2 || args[1] == nil {
		return d.Preferred(), nil
	}
	wanted, _ := argumentText(args, 1)
	var all []string
	for _, v := range d.Versions {
		if v.Name == wanted {
			return v, nil
		}
		all = append(all, v.Name)
	}
	return nil, fmt.Errorf("%s: the definition has no version %q; it has %s", name, shorten(wanted), strings.Join(all, ", "))
}

// fieldsOf returns the fields of a definition's spec that a developer fills in, and
// which of them are required.
func fieldsOf(name string, d *xrd.Definition, args []any) ([]tree.Field, map[string]bool, error) {
	d, err := definition(name, d, args)
	if err != nil {
		return nil, nil, err
	}
	v, err := version(name, d, args)
	if err != nil || v == nil {
		return nil, nil, err
	}
	spec := v.Spec()
	required := map[string]bool{}
	for _, r := range spec.Get("required").Strings() {
		required[r] = true
	}
	var out []tree.Field
	for _, f := range entries(spec.Get("properties")) {
		if !form.Injected(d, f.Key) {
			out = append(out, f)
		}
	}
	return out, required, nil
}

// extractProperties returns the fields of a definition's spec.
func extractProperties(s *scope, args []any) (any, error) {
	fields, required, err := fieldsOf("extractProperties", s.def, args)
	if err != nil {
		return nil, err
	}
	out := tree.Arr()
	for _, f := range fields {
		title := f.Value.Get("title").Str()
		if title == "" {
			title = form.Humanise(f.Key)
		}
		out.Items = append(out.Items, tree.Obj(
			tree.F("name", tree.Str(f.Key)),
			tree.F("title", tree.Str(title)),
			tree.F("type", tree.Str(typeOf(f.Value))),
			tree.F("description", tree.OptStr(strings.TrimSpace(f.Value.Get("description").Str()))),
			tree.F("required", tree.Boolean(required[f.Key])),
		))
	}
	return out, nil
}

// typeOf returns the type of a schema.
func typeOf(s *tree.Node) string {
	switch {
	case s.Get("type").Str() != "":
		return s.Get("type").Str()
	case s.Get("properties").IsMap(), s.Get("additionalProperties") != nil:
		return "object"
	case s.Get("items") != nil:
		return "array"
	}
	return "string"
}

// constraints are the keywords that restrict the values of a field.
var constraints = []string{
	"format", "pattern", "enum", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
	"multipleOf", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "nullable", "default",
}

// generateValidation returns the constraints of each field.
func generateValidation(s *scope, args []any) (any, error) {
	fields, required, err := fieldsOf("generateValidation", s.def, args)
	if err != nil {
		return nil, err
	}
	out := tree.Obj()
	for _, f := range fields {
		rules := tree.Obj(tree.F("type", tree.Str(typeOf(f.Value))), tree.F("required", tree.Boolean(required[f.Key])))
		for _, key := range constraints {
			if v := f.Value.Get(key); v != nil {
				rules.Fields = append(rules.Fields, tree.F(key, v))
			}
		}
		out.Fields = append(out.Fields, tree.F(f.Key, rules))
	}
	return out, nil
}
