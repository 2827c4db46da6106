package structural

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

const (
	// leastFlood is how many checks of values an object needs at least to be examined for a
	// flood of errors, and mostErrors how many errors are one.
	leastFlood = 500
	mostErrors = 100
	// mostCompared is how many comparisons of errors the API server's validator may make,
	// which take less than a microsecond each.
	mostCompared = 500_000
	// checkEvery is after how many values the context is checked.
	checkEvery = 1000
)

// TooManyErrors is the last problem of an object with a flood of errors.
const TooManyErrors = "the object has more errors, which are not listed; correct these first"

// flood finds objects with very many errors. The API server's validator compares each
// error with all others, so that a list of some thousand wrong values takes it minutes, and
// cannot be stopped. That also applies to errors that do not count: those of an alternative
// of anyOf, when another one accepts the value, and those that an update leaves as they are.
// flood validates each value by itself instead, with the schema of only this value.
type flood struct {
	root func() *single
	// least is how many values an object has at least that is examined.
	least int
}

// newFlood returns the flood check of a schema, which is prepared when it is needed.
func newFlood(props *apiextensions.JSONSchemaProps) flood {
	return flood{sync.OnceValue(func() *single { return newSingle(props) }), max(1, leastFlood/widest(props))}
}

// widest returns how many schemas apply to one value at most.
func widest(props *apiextensions.JSONSchemaProps) int {
	own, most := 1, 0
	for _, b := range branches(props) {
		own += widest(b)
	}
	for name := range props.Properties {
		inner := props.Properties[name]
		most = max(most, widest(&inner))
	}
	if props.AdditionalProperties != nil && props.AdditionalProperties.Schema != nil {
		most = max(most, widest(props.AdditionalProperties.Schema))
	}
	if props.Items != nil && props.Items.Schema != nil {
		most = max(most, widest(props.Items.Schema))
	}
	return max(own, most)
}

// branches returns the schemas in a schema that are for the same value.
func branches(props *apiextensions.JSONSchemaProps) []*apiextensions.JSONSchemaProps {
	var all []*apiextensions.JSONSchemaProps
	for _, list := range [][]apiextensions.JSONSchemaProps{props.AllOf, props.AnyOf, props.OneOf} {
		for i := range list {
			all = append(all, &list[i])
		}
	}
	if props.Not != nil {
		all = append(all, props.Not)
	}
	return all
}

// single is the schema of a single value, without that of the values in it.
type single struct {
	validator    func() validation.SchemaValidator
	properties   map[string]*single
	extra, items *single
	// Branches are schemas of the same value.
	allOf, anyOf, oneOf []*single
	not                 *single
}

func newSingle(props *apiextensions.JSONSchemaProps) *single {
	own := *props
	s := &single{properties: map[string]*single{}}
	known := map[string]apiextensions.JSONSchemaProps{}
	for name := range own.Properties {
		inner := own.Properties[name]
		s.properties[name] = newSingle(&inner)
		known[name] = apiextensions.JSONSchemaProps{}
	}
	own.Properties = nil
	if extra := own.AdditionalProperties; extra != nil && extra.Schema != nil {
		s.extra = newSingle(extra.Schema)
		own.AdditionalProperties = nil
	} else if extra != nil && !extra.Allows {
		own.Properties = known
	}
	if own.Items != nil && own.Items.Schema != nil {
		s.items = newSingle(own.Items.Schema)
	}
	each := func(list []apiextensions.JSONSchemaProps) (all []*single) {
		for i := range list {
			all = append(all, newSingle(&list[i]))
		}
		return all
	}
	s.allOf, s.anyOf, s.oneOf = each(own.AllOf), each(own.AnyOf), each(own.OneOf)
	if own.Not != nil {
		s.not = newSingle(own.Not)
	}
	own.Items, own.AllOf, own.AnyOf, own.OneOf, own.Not = nil, nil, nil, nil, nil
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

// errors returns the first errors of an object, or of an update, and reports true if they
// must not be found by the API server's validator, because there are too many. correlated
// is nil for a new object.
func (f *flood) errors(ctx context.Context, object map[string]any, correlated *common.CorrelatedObject) (errs field.ErrorList, flooded bool) {
	if countValues(object, f.least) < f.least {
		return nil, false
	}
	// An estimate takes about as long as the validator does without a flood.
	estimate := examination{ctx: context.WithoutCancel(ctx), left: mostCompared}
	if found := estimate.value(f.root(), "", object, nil, mostCompared); estimate.left > 0 && len(found) <= mostErrors {
		return nil, false
	}
	exact := examination{ctx: ctx, left: -1}
	errs = exact.child(f.root(), "", object, correlated, mostErrors+1)
	if ctx.Err() != nil || len(errs) > mostErrors {
		errs = append(errs[:min(len(errs), mostErrors)], field.Invalid(nil, nil, TooManyErrors))
	}
	return errs, true
}

// tooMany reports whether errors are only the first ones of a flood.
func tooMany(errs field.ErrorList) bool {
	return len(errs) > 0 && errs[len(errs)-1].Detail == TooManyErrors
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

// examination validates values one by one. It ends early when its context does.
type examination struct {
	ctx context.Context
	// left is how many comparisons of errors may still be made; negative means any number.
	left, values int
}

// ended reports whether nothing more is to be validated.
func (x *examination) ended() bool {
	if x.values++; x.values%checkEvery == 0 && x.ctx.Err() != nil {
		x.left = 0
	}
	return x.left == 0
}

// compared takes the comparisons that the API server's validator makes of some errors.
func (x *examination) compared(errors int) {
	if x.left > 0 {
		x.left = max(0, x.left-errors*errors/2)
	}
}

// child is value for a value inside of another, or a whole object. What an update does not
// change is accepted.
func (x *examination) child(s *single, path string, value any, node *common.CorrelatedObject, limit int) field.ErrorList {
	if s == nil || node.CachedDeepEqual() {
		return nil
	}
	return x.value(s, path, value, node, limit)
}

// value returns up to limit errors of a value and of those in it. There are none if and only
// if it is valid.
func (x *examination) value(s *single, path string, value any, node *common.CorrelatedObject, limit int) field.ErrorList {
	if x.ended() {
		return nil
	}
	errs := s.own(path, value)
	if value != nil {
		errs = append(errs, x.branches(s, path, value, limit)...)
	}
	if len(errs) >= limit {
		x.compared(len(errs))
		return errs[:limit]
	}
	add := func(inner *single, path string, value any, node *common.CorrelatedObject) (more bool) {
		errs = append(errs, x.child(inner, path, value, node, limit-len(errs))...)
		// Many errors of one value are compared before the value ends.
		if n := len(errs); x.left > 0 && n*n/2 > x.left {
			x.left = 0
		}
		return len(errs) < limit && x.left != 0
	}
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			inner := node.Key(key)
			if path == "" && (key == "kind" || key == "apiVersion") {
				inner = nil
			}
			if !add(s.in(key), strings.TrimPrefix(path+"."+key, "."), v[key], inner) {
				break
			}
		}
	case []any:
		for i, item := range v {
			if s.items == nil || !add(s.items, fmt.Sprintf("%s[%d]", path, i), item, node.Index(i)) {
				break
			}
		}
	}
	x.compared(len(errs))
	return errs
}

// own returns the errors of a value without those in it.
func (s *single) own(path string, value any) (errs field.ErrorList) {
	v := s.validator()
	if v == nil {
		return nil
	}
	for _, e := range validation.ValidateCustomResource(nil, value, v) {
		if e.Field == "<nil>" {
			e.Field = ""
		}
		e.Field = strings.TrimSuffix(strings.TrimPrefix(path+"."+e.Field, "."), ".")
		if strings.HasPrefix(e.Detail, " in body") {
			e.Detail = path + e.Detail
		}
		errs = append(errs, e)
	}
	return errs
}

// branches returns errors of a value in the branches of its schema. Of alternatives that all
// refuse it, it returns those of the one with the fewest errors. In branches, an update must
// not keep errors.
func (x *examination) branches(s *single, path string, value any, limit int) (errs field.ErrorList) {
	refused := func(format string, args ...any) {
		errs = append(errs, field.Invalid(nil, "", fmt.Sprintf(format, append([]any{path}, args...)...)))
	}
	// The first error of a branch tells that it refuses the value. An estimate needs all.
	first := limit
	if x.left < 0 {
		first = 1
	}
	accepts := func(b *single) bool { return len(x.value(b, path, value, nil, first)) == 0 }
	best := func(all []*single) (found field.ErrorList) {
		for i, b := range all {
			if other := x.value(b, path, value, nil, limit); i == 0 || len(other) < len(found) {
				found = other
			}
		}
		return found
	}
	if len(s.anyOf) > 0 && !slices.ContainsFunc(s.anyOf, accepts) {
		refused(validate.MustValidateAtLeastOneSchemaError)
		errs = append(errs, best(s.anyOf)...)
	}
	accepting := 0
	for _, b := range s.oneOf {
		if accepts(b) {
			accepting++
		}
	}
	switch {
	case len(s.oneOf) == 0 || accepting == 1:
	case accepting == 0:
		refused(validate.MustValidateOnlyOneSchemaError, "Found none valid")
		errs = append(errs, best(s.oneOf)...)
	default:
		refused(validate.MustValidateOnlyOneSchemaError, fmt.Sprintf("Found %d valid alternatives", accepting))
	}
	valid := 0
	for _, b := range s.allOf {
		found := x.value(b, path, value, nil, limit)
		if len(found) == 0 {
			valid++
		}
		errs = append(errs, found...)
	}
	switch {
	case valid == len(s.allOf):
	case valid == 0:
		refused(validate.MustValidateAllSchemasError, ". None validated")
	default:
		refused(validate.MustValidateAllSchemasError, "")
	}
	if s.not != nil && accepts(s.not) {
		refused(validate.MustNotValidateSchemaError)
	}
	return errs
}
