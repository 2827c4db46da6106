package judge

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/json"
)

// spot is a place in a resource whose value a validation rule reads.
type spot struct {
	slot
	// absent reports whether there is no value yet.
	absent bool
	schema *extv1.JSONSchemaProps
	// texts are the texts in the rules, which they mostly compare the value with.
	texts []string
	// frozen and plain report whether one of the rules uses oldSelf, or does not.
	frozen, plain bool
}

// quoted is a text in a rule.
var quoted = regexp.MustCompile(`'([^']*)'|"([^"]*)"`)

// isFrozen and isPlain select places by their rules.
func isFrozen(s spot) bool { return s.frozen && !s.absent }

func isPlain(s spot) bool { return s.plain }

// spots returns the places below spec that rules read and a function selects.
func spots(p *pair, object map[string]any, choose func(spot) bool) (all []spot) {
	visit := func(s spot, rules []extv1.ValidationRule) {
		for _, r := range rules {
			compares := strings.Contains(r.Rule, "oldSelf")
			s.frozen, s.plain = s.frozen || compares, s.plain || !compares
			for _, m := range quoted.FindAllStringSubmatch(r.Rule, -1) {
				s.texts = append(s.texts, m[1]+m[2])
			}
		}
		if choose(s) {
			all = append(all, s)
		}
	}
	spec := p.schema.Properties["spec"]
	walkSpots("spec", &spec, object["spec"], slices.Clone(p.schema.XValidations), visit)
	return all
}

// walkSpots visits the places in a value, with the rules that read them: those of the
// place itself, and those of what it is in that name it.
func walkSpots(path string, s *extv1.JSONSchemaProps, value any, above []extv1.ValidationRule, visit func(spot, []extv1.ValidationRule)) {
	above = slices.Concat(above, s.XValidations)
	named := func(name string, inner *extv1.JSONSchemaProps) []extv1.ValidationRule {
		word := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`)
		return slices.Concat(inner.XValidations, slices.DeleteFunc(slices.Clone(above), func(r extv1.ValidationRule) bool { return !word.MatchString(r.Rule) }))
	}
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
			inner := s.Properties[key]
			now, ok := v[key]
			at := slot{path + "." + key, now, func(now any) { v[key] = now }, func() { delete(v, key) }}
			visit(spot{slot: at, absent: !ok, schema: &inner}, named(key, &inner))
			if ok {
				walkSpots(at.path, &inner, now, above, visit)
			}
		}
		if s.AdditionalProperties == nil || s.AdditionalProperties.Schema == nil {
			return
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			inner := s.AdditionalProperties.Schema
			at := slot{path + "." + key, v[key], func(now any) { v[key] = now }, func() { delete(v, key) }}
			visit(spot{slot: at, schema: inner}, inner.XValidations)
			walkSpots(at.path, inner, v[key], above, visit)
		}
	case []any:
		if s.Items == nil || s.Items.Schema == nil {
			return
		}
		for i := range v {
			at := slot{fmt.Sprintf("%s[%d]", path, i), v[i], func(now any) { v[i] = now }, func() { v[i] = nil }}
			visit(spot{slot: at, schema: s.Items.Schema}, s.Items.Schema.XValidations)
			walkSpots(at.path, s.Items.Schema, v[i], above, visit)
		}
	}
}

// mutate changes the value, mostly to one that the schema allows, so that the rules are
// evaluated. It returns what it did.
func (s *spot) mutate(rng *rand.Rand) string {
	if !s.absent && rng.IntN(4) == 0 {
		s.drop()
		return "without " + s.path
	}
	now := s.other(rng)
	s.set(now)
	return fmt.Sprintf("%s is %.40v", s.path, now)
}

// other returns another value.
func (s *spot) other(rng *rand.Rand) any {
	var allowed []any
	for _, e := range s.schema.Enum {
		var v any
		if err := json.Unmarshal(e.Raw, &v); err == nil && v != s.value {
			allowed = append(allowed, v)
		}
	}
	if len(allowed) > 0 {
		return allowed[rng.IntN(len(allowed))]
	}
	if s.schema.Type == "string" && len(s.texts) > 0 && rng.IntN(2) == 0 {
		return s.texts[rng.IntN(len(s.texts))]
	}
	switch v := s.value.(type) {
	case nil:
		return map[string]any{
			"string": "x", "integer": int64(1), "number": 1.5, "boolean": true, "array": []any{}, "object": map[string]any{},
		}[s.schema.Type]
	case string:
		return v + "x"
	case int64:
		return v + []int64{1, -1, 100, -v}[rng.IntN(4)]
	}
	return changed(rng, s.value)
}
