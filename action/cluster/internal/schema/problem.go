package schema

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	is "github.com/santhosh-tekuri/jsonschema/v6/kind"

	"example.dev/ingestor/action/cluster/internal/refusal"
	"example.dev/ingestor/document/tree"
)

// Problems returns the schema violations in a spec, which may be nil.
func (s *Schema) Problems(spec *tree.Node) []refusal.Problem {
	if s.compiled == nil || spec == nil {
		return nil
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(tree.AppendJSON(nil, pruned(spec, s.node), "")))
	if err != nil {
		return nil
	}
	bad, ok := errors.AsType[*jsonschema.ValidationError](s.compiled.Validate(value))
	if !ok {
		return nil
	}
	var out []refusal.Problem
	s.collect(bad, &out)
	return out
}

// pruned returns a value without the nulls that the server replaces: those of
// non-nullable fields with a default.
func pruned(n, schema *tree.Node) *tree.Node {
	switch {
	case n.IsList():
		out := tree.Arr()
		for _, item := range n.List() {
			out.Items = append(out.Items, pruned(item, schema.Get("items")))
		}
		return out
	case n.IsMap():
		out := tree.Obj()
		for _, f := range n.Fields {
			at := schema.Get("properties", f.Key)
			if at == nil {
				at = schema.Get("additionalProperties")
			}
			if !f.Value.IsNull() || at.Get("nullable").IsTrue() || !at.Has("default") {
				out.Set(f.Key, pruned(f.Value, at))
			}
		}
		return out
	}
	return n
}

// collect adds the problems of an error. If no branch of an anyOf or oneOf
// matches, it reports the choice itself, not the problems of each branch.
func (s *Schema) collect(e *jsonschema.ValidationError, out *[]refusal.Problem) {
	switch k := e.ErrorKind.(type) {
	case *is.AnyOf, *is.OneOf, *is.Not:
		*out = append(*out, refusal.Problem{Field: s.field(e.InstanceLocation), Message: message(e.ErrorKind)})
		return
	case *is.Required:
		for _, name := range k.Missing {
			*out = append(*out, refusal.Problem{Field: s.field(append(slices.Clone(e.InstanceLocation), name)), Message: "is required"})
		}
		return
	}
	if len(e.Causes) == 0 {
		*out = append(*out, refusal.Problem{Field: s.field(e.InstanceLocation), Message: message(e.ErrorKind)})
		return
	}
	for _, c := range e.Causes {
		s.collect(c, out)
	}
}

// field formats the path of a field as the server does, with the title that a form
// shows for it, if the schema has one.
func (s *Schema) field(path []string) string {
	out, at := "spec", s.node
	for _, key := range path {
		if items := at.Get("items"); items != nil {
			out, at = out+"["+key+"]", items
			continue
		}
		out += "." + key
		if next := at.Get("properties", key); next != nil {
			at = next
			continue
		}
		at = at.Get("additionalProperties")
	}
	if title := at.Get("title").Str(); title != "" {
		out += " (" + title + ")"
	}
	return out
}

// Titled adds the titles that a form shows to the fields that the server names.
func (s *Schema) Titled(problems []refusal.Problem) []refusal.Problem {
	if s.node == nil {
		return problems
	}
	out := slices.Clone(problems)
	for i, p := range out {
		path, ok := strings.CutPrefix(p.Field, "spec.")
		if !ok {
			continue
		}
		keys := strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
		// A key that contains a dot is not found, and the field stays unchanged.
		if titled := s.field(keys); strings.HasPrefix(titled, p.Field+" (") {
			out[i].Field = titled
		}
	}
	return out
}

// message describes a schema violation.
func message(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *is.Type:
		want := slices.DeleteFunc(slices.Clone(k.Want), func(s string) bool { return s == "null" })
		return fmt.Sprintf("must be of type %s, not %s", strings.Join(want, " or "), k.Got)
	case *is.Enum:
		return fmt.Sprintf("must be %s, not %s", among(k.Want), written(k.Got))
	case *is.Pattern:
		return fmt.Sprintf("%q does not match %s", k.Got, k.Want)
	case *is.MinLength:
		return fmt.Sprintf("must have at least %d characters, not %d", k.Want, k.Got)
	case *is.MaxLength:
		return fmt.Sprintf("must have at most %d characters, not %d", k.Want, k.Got)
	case *is.Minimum:
		return fmt.Sprintf("must be at least %s, not %s", number(k.Want), number(k.Got))
	case *is.Maximum:
		return fmt.Sprintf("must be at most %s, not %s", number(k.Want), number(k.Got))
	case *is.ExclusiveMinimum:
		return fmt.Sprintf("must be greater than %s, not %s", number(k.Want), number(k.Got))
	case *is.ExclusiveMaximum:
		return fmt.Sprintf("must be less than %s, not %s", number(k.Want), number(k.Got))
	case *is.MultipleOf:
		return fmt.Sprintf("must be a multiple of %s, not %s", number(k.Want), number(k.Got))
	case *is.MinItems:
		return fmt.Sprintf("must have at least %d items, not %d", k.Want, k.Got)
	case *is.MaxItems:
		return fmt.Sprintf("must have at most %d items, not %d", k.Want, k.Got)
	case *is.UniqueItems:
		return fmt.Sprintf("items %d and %d are equal", k.Duplicates[0]+1, k.Duplicates[1]+1)
	case *is.MinProperties:
		return fmt.Sprintf("must have at least %d entries, not %d", k.Want, k.Got)
	case *is.MaxProperties:
		return fmt.Sprintf("must have at most %d entries, not %d", k.Want, k.Got)
	case *is.OneOf:
		if len(k.Subschemas) > 0 {
			return "matches more than one of the alternatives"
		}
	case *is.Not:
		return "matches a schema that is not allowed"
	}
	return "matches none of the alternatives"
}

func among(values []any) string {
	var all []string
	for _, v := range values {
		if v != nil {
			all = append(all, written(v))
		}
	}
	if len(all) == 1 {
		return all[0]
	}
	return "one of " + strings.Join(all, ", ")
}

func written(v any) string {
	n, err := tree.From(v)
	if err != nil {
		return "something else"
	}
	return string(tree.AppendJSON(nil, n, ""))
}

func number(r *big.Rat) string {
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'f', -1, 64)
}
