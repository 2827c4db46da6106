package judge

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// place in a resource: a map or list, and a key or index in it.
type slot struct {
	path  string
	value any
	set   func(any)
	drop  func()
}

// slots returns all places below spec that hold a value.
func slots(object map[string]any) (all []slot) {
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			keys := make([]string, 0, len(v))
			for key := range v {
				keys = append(keys, key)
			}
			slices.Sort(keys)
			for _, key := range keys {
				at := path + "." + key
				all = append(all, slot{at, v[key], func(now any) { v[key] = now }, func() { delete(v, key) }})
				walk(at, v[key])
			}
		case []any:
			for i := range v {
				at := fmt.Sprintf("%s[%d]", path, i)
				all = append(all, slot{at, v[i], func(now any) { v[i] = now }, func() { v[i] = nil }})
				walk(at, v[i])
			}
		}
	}
	walk("spec", object["spec"])
	return all
}

// mutateResource makes one change below spec, and says which.
func mutateResource(rng *rand.Rand, object map[string]any) string {
	all := slots(object)
	if len(all) == 0 {
		object["spec"] = map[string]any{"undeclared": "x"}
		return "an undeclared field"
	}
	s := all[rng.IntN(len(all))]
	if rng.IntN(6) == 0 {
		s.drop()
		return "without " + s.path
	}
	now := changed(rng, s.value)
	s.set(now)
	return fmt.Sprintf("%s is %.40v", s.path, now)
}

// changed returns another value than v: mostly of the same type, and sometimes of
// another.
func changed(rng *rand.Rand, v any) any {
	others := []any{"", int64(-1), nil, true, []any{}, map[string]any{}, 0.5}
	if rng.IntN(4) == 0 {
		return others[rng.IntN(len(others))]
	}
	switch v := v.(type) {
	case string:
		return []any{v + "x", strings.ToUpper(v), "", strings.Repeat("long", 80), "10Gi", "a_b", "-1"}[rng.IntN(7)]
	case int64:
		return []any{v + 1, v - 1, -v, int64(0), int64(1 << 40), float64(v) + 0.5}[rng.IntN(6)]
	case float64:
		return []any{v + 1, -v, int64(3)}[rng.IntN(3)]
	case bool:
		return !v
	case []any:
		if len(v) == 0 {
			return []any{"a", "a"}
		}
		return []any{append(slices.Clone(v), v[0]), v[:len(v)-1], append(slices.Clone(v), map[string]any{})}[rng.IntN(3)]
	case map[string]any:
		more := map[string]any{"undeclared": "x"}
		for key, value := range v {
			more[key] = value
		}
		return more
	}
	return "x"
}
