package structural

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/common"
)

// random makes schemas and values.
type random struct{ *rand.Rand }

func (r random) pick(n int) bool { return r.IntN(n) == 0 }

// schema returns a schema of a list, a map or a scalar.
func (r random) schema(depth int, branches bool) apiextensions.JSONSchemaProps {
	s := apiextensions.JSONSchemaProps{Nullable: r.pick(8)}
	switch kind := r.IntN(5); {
	case depth == 0 || kind == 0:
		s.Type = []string{"string", "integer"}[r.IntN(2)]
	case kind == 1:
		s.Type = "array"
		inner := r.schema(depth-1, branches)
		s.Items = &apiextensions.JSONSchemaPropsOrArray{Schema: &inner}
	case kind == 2:
		s.Type = "object"
		inner := r.schema(depth-1, branches)
		s.AdditionalProperties = &apiextensions.JSONSchemaPropsOrBool{Allows: true, Schema: &inner}
	default:
		s.Type, s.Properties = "object", map[string]apiextensions.JSONSchemaProps{}
		for _, name := range []string{"a", "b", "c"} {
			s.Properties[name] = r.schema(depth-1, branches)
		}
	}
	r.check(&s)
	if branches {
		r.branch(&s, depth)
	}
	return s
}

// check adds a check of the value itself.
func (r random) check(s *apiextensions.JSONSchemaProps) {
	switch {
	case r.pick(2):
	case s.Type == "string":
		s.Enum = []apiextensions.JSON{"x", "y"}
	case s.Type == "integer":
		s.Maximum = new(float64(2))
	case s.Type == "array":
		s.MaxItems = new(int64(2))
	case len(s.Properties) > 0:
		s.Required = []string{"a"}
	default:
		s.MinProperties = new(int64(1))
	}
}

// branch adds branches, which check parts of the same value.
func (r random) branch(s *apiextensions.JSONSchemaProps, depth int) {
	some := func() (all []apiextensions.JSONSchemaProps) {
		for range r.IntN(4) {
			all = append(all, r.part(s, depth))
		}
		return all
	}
	switch r.IntN(6) {
	case 0:
		s.AnyOf = some()
	case 1:
		s.OneOf = some()
	case 2:
		s.AllOf = some()
	case 3:
		s.Not = new(r.part(s, depth))
	}
}

// part returns a schema of a part of the values of s.
func (r random) part(s *apiextensions.JSONSchemaProps, depth int) apiextensions.JSONSchemaProps {
	p := apiextensions.JSONSchemaProps{}
	switch {
	case s.Items != nil:
		p.Items = &apiextensions.JSONSchemaPropsOrArray{Schema: new(r.part(s.Items.Schema, depth-1))}
	case s.AdditionalProperties != nil:
		p.AdditionalProperties = &apiextensions.JSONSchemaPropsOrBool{Allows: true, Schema: new(r.part(s.AdditionalProperties.Schema, depth-1))}
	case len(s.Properties) > 0:
		a := s.Properties["a"]
		p.Properties = map[string]apiextensions.JSONSchemaProps{"a": r.part(&a, depth-1)}
	}
	typed := *s
	r.check(&typed)
	p.Enum, p.Maximum, p.MaxItems, p.Required, p.MinProperties = typed.Enum, typed.Maximum, typed.MaxItems, typed.Required, typed.MinProperties
	if depth > 0 && r.pick(3) {
		typed.Properties, typed.Items, typed.AdditionalProperties = p.Properties, p.Items, p.AdditionalProperties
		r.branch(&typed, depth-1)
		p.AnyOf, p.OneOf, p.AllOf, p.Not = typed.AnyOf, typed.OneOf, typed.AllOf, typed.Not
	}
	return p
}

// value returns a value that a schema more or less accepts.
func (r random) value(s *apiextensions.JSONSchemaProps) any {
	switch {
	case r.pick(25):
		return []any{"x", int64(1), nil, true, map[string]any{}, []any{}}[r.IntN(6)]
	case s.Type == "string":
		return []string{"x", "y", "z"}[r.IntN(3)]
	case s.Type == "integer":
		return int64(r.IntN(4))
	case s.Type == "array":
		list := []any{}
		for range r.IntN(4) {
			list = append(list, r.value(s.Items.Schema))
		}
		return list
	}
	m := map[string]any{}
	for _, name := range []string{"a", "b", "c"} {
		switch inner, ok := s.Properties[name]; {
		case r.pick(4):
		case ok:
			m[name] = r.value(&inner)
		case s.AdditionalProperties != nil:
			m[name] = r.value(s.AdditionalProperties.Schema)
		}
	}
	return m
}

// object returns a whole object.
func (r random) object(s *apiextensions.JSONSchemaProps) map[string]any {
	for {
		if m, ok := r.value(s).(map[string]any); ok {
			return m
		}
	}
}

// TestExamination compares the verdicts of an examination, which replaces the API server's
// validator for objects with a flood of errors, with those of the validator.
func TestExamination(t *testing.T) {
	const tries = 2000
	valid := 0
	texts := func(errs field.ErrorList) []string {
		out := []string{}
		for _, e := range errs {
			out = append(out, strings.TrimPrefix(e.Error(), "<nil>: "))
		}
		slices.Sort(out)
		return out
	}
	for i := range tries {
		r := random{rand.New(rand.NewPCG(7, uint64(i)))}
		branches := i%2 == 0
		props := apiextensions.JSONSchemaProps{Type: "object", Properties: map[string]apiextensions.JSONSchemaProps{
			"a": r.schema(3, branches), "b": r.schema(2, branches), "c": r.schema(1, branches),
		}}
		if branches {
			r.branch(&props, 3)
		}
		whole, _, err := validation.NewSchemaValidator(&props)
		if err != nil {
			t.Fatal(err)
		}
		structural, err := schema.NewStructural(&props)
		if err != nil {
			t.Fatal(err)
		}
		object := r.object(&props)
		var correlated, ours *common.CorrelatedObject
		want := func() field.ErrorList { return validation.ValidateCustomResource(nil, object, whole) }
		about := fmt.Sprintf("try %d: %v", i, object)
		if i%4 > 1 {
			old := r.object(&props)
			for key := range old {
				if r.pick(2) {
					old[key] = object[key]
				}
			}
			correlated = common.NewCorrelatedObject(object, old, &model.Structural{Structural: structural})
			ours = common.NewCorrelatedObject(object, old, &model.Structural{Structural: structural})
			want = func() field.ErrorList {
				return validation.ValidateCustomResourceUpdate(nil, object, old, whole, validation.WithRatcheting(correlated))
			}
			about += fmt.Sprintf(" replaces %v", old)
		}
		x := examination{ctx: t.Context(), left: -1}
		got := x.child(newSingle(&props), "", object, ours, 1000)
		if errs := want(); (len(errs) == 0) != (len(got) == 0) || !branches && cmp.Diff(texts(errs), texts(got)) != "" {
			t.Fatalf("%s\n-validator +examination:\n%s", about, cmp.Diff(texts(errs), texts(got)))
		}
		if len(got) == 0 {
			valid++
		}
		short := examination{ctx: t.Context(), left: -1}
		if first := short.child(newSingle(&props), "", object, ours, 1); (len(first) == 0) != (len(got) == 0) || len(first) > 1 {
			t.Fatalf("%s\nwith a limit of one error, there are %d of %d", about, len(first), len(got))
		}
	}
	if valid < tries/5 || valid > tries*4/5 {
		t.Errorf("%d of %d objects are valid", valid, tries)
	}
}
