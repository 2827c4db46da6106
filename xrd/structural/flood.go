package structural

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	// leastFlood is how many values an object has at least that is checked for a flood of
	// errors, and mostErrors how many errors are one.
	leastFlood = 500
	mostErrors = 100
)

// TooManyErrors is the last problem of an object with a flood of errors.
const TooManyErrors = "the object has more errors, which are not listed; correct these first"

// flood finds objects with very many errors. The API server's validator compares each
// error with all others, so that a list of some thousand wrong values takes it minutes, and
// cannot be stopped. flood validates each value by itself instead, with the schema of only
// this value, and ends at a limit.
type flood struct {
	root func() *single
}

// newFlood returns the flood check of a schema, which is prepared when it is needed.
func newFlood(props *apiextensions.JSONSchemaProps) flood {
	return flood{sync.OnceValue(func() *single { return newSingle(props) })}
}

// single is the schema of a single value, without that of the values in it.
type single struct {
	validator    func() validation.SchemaValidator
	properties   map[string]*single
	extra, items *single
}

func newSingle(props *apiextensions.JSONSchemaProps) *single {
	own := *props
	s := &single{properties: map[string]*single{}}
	for name := range own.Properties {
		inner := own.Properties[name]
		s.properties[name] = newSingle(&inner)
	}
	if own.AdditionalProperties != nil && own.AdditionalProperties.Schema != nil {
		s.extra = newSingle(own.AdditionalProperties.Schema)
	}
	if own.Items != nil && own.Items.Schema != nil {
		s.items = newSingle(own.Items.Schema)
	}
	own.Properties, own.AdditionalProperties, own.Items = nil, nil, nil
	// Branches would validate the values in it again.
	own.AllOf, own.AnyOf, own.OneOf, own.Not = nil, nil, nil, nil
	s.validator = sync.OnceValue(func() validation.SchemaValidator {
		v, _, err := validation.NewSchemaValidator(&own)
		if err != nil {
			return nil
		}
		return v
	})
	return s
}

// in returns the schema of a property; nil if there is none.
func (s *single) in(key string) *single {
	if inner := s.properties[key]; inner != nil {
		return inner
	}
	return s.extra
}

// errors returns the first errors of an object; nil if they are not too many, and have to
// be found by the API server's validator. Values that are the same in old are skipped: an
// update accepts them.
func (f *flood) errors(object, old map[string]any) field.ErrorList {
	if countValues(object, leastFlood) < leastFlood {
		return nil
	}
	var before any
	if old != nil {
		before = old
	}
	var found field.ErrorList
	if f.root().errors(&found, "", object, before); len(found) <= mostErrors {
		return nil
	}
	return append(found[:mostErrors], field.Invalid(nil, nil, TooManyErrors))
}

// countValues counts the values in a value, up to a limit.
func countValues(value any, limit int) int {
	n := 1
	switch v := value.(type) {
	case map[string]any:
		for _, item := range v {
			if n += countValues(item, limit-n); n >= limit {
				return n
			}
		}
	case []any:
		for _, item := range v {
			if n += countValues(item, limit-n); n >= limit {
				return n
			}
		}
	}
	return n
}

// errors adds the errors of a value and of those in it, until there are too many.
func (s *single) errors(found *field.ErrorList, path string, value, old any) {
	if s == nil || len(*found) > mostErrors || old != nil && reflect.DeepEqual(value, old) {
		return
	}
	if v := s.validator(); v != nil {
		for _, e := range validation.ValidateCustomResource(nil, value, v) {
			if e.Field == "<nil>" {
				e.Field = ""
			}
			e.Field = strings.TrimPrefix(path+"."+e.Field, ".")
			e.Field = strings.TrimSuffix(e.Field, ".")
			*found = append(*found, e)
		}
	}
	switch v := value.(type) {
	case map[string]any:
		before, _ := old.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			s.in(key).errors(found, strings.TrimPrefix(path+"."+key, "."), v[key], before[key])
		}
	case []any:
		before, _ := old.([]any)
		for i, item := range v {
			var was any
			if i < len(before) {
				was = before[i]
			}
			s.items.errors(found, fmt.Sprintf("%s[%d]", path, i), item, was)
		}
	}
}
