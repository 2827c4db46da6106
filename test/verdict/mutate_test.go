package judge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// mutant is a definition with one change.
type mutant struct {
	about  string
	text   []byte
	object map[string]any
}

// mutate returns the mutant with a number, which determines the definition and
// the change. A change that does not apply to one definition is made to the
// next.
func mutate(number int, bases []file) mutant {
	rng := rand.New(rand.NewPCG(uint64(number), 17))
	m := mutations[number%len(mutations)]
	for {
		base := bases[rng.IntN(len(bases))]
		d := &draft{Rand: rng, object: clone(base.object)}
		if !m.change(d) {
			continue
		}
		text, err := json.MarshalIndent(d.object, "", " ")
		if err != nil {
			panic(err)
		}
		return mutant{about: fmt.Sprintf("%d: %s in %s", number, m.name, base.path), text: text, object: clone(d.object)}
	}
}

func clone(object map[string]any) map[string]any {
	text, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	var out map[string]any
	if err := decoder.Decode(&out); err != nil {
		panic(err)
	}
	return integers(out).(map[string]any)
}

// integers converts whole numbers of v to integers, as an API server reads
// them.
func integers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = integers(v[k])
		}
	case []any:
		for i := range v {
			v[i] = integers(v[i])
		}
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	}
	return v
}

// draft is a definition that is being changed.
type draft struct {
	*rand.Rand
	object map[string]any
}

// pick returns one of several values.
func pick[T any](d *draft, of ...T) T { return of[d.IntN(len(of))] }

// at returns the map at a path, which is created if it is missing.
func (d *draft) at(path ...string) map[string]any {
	m := d.object
	for _, key := range path {
		next, ok := m[key].(map[string]any)
		if !ok {
			next = map[string]any{}
			m[key] = next
		}
		m = next
	}
	return m
}

// version returns a random version.
func (d *draft) version() map[string]any {
	all, _ := d.at("spec")["versions"].([]any)
	if len(all) == 0 {
		return map[string]any{}
	}
	v, _ := all[d.IntN(len(all))].(map[string]any)
	return v
}

// column returns a printer column of a version, which is created if there is
// none.
func (d *draft) column() map[string]any {
	v := d.version()
	all, _ := v["additionalPrinterColumns"].([]any)
	if len(all) == 0 {
		c := map[string]any{"name": "Size", "type": "string", "jsonPath": ".spec.size"}
		v["additionalPrinterColumns"] = []any{c}
		return c
	}
	return all[d.IntN(len(all))].(map[string]any)
}

// schemas returns the schemas of one version that a function selects, without
// the three that Crossplane replaces.
func (d *draft) schemas(want func(map[string]any) bool) []map[string]any {
	var all []map[string]any
	schema, _ := d.version()["schema"].(map[string]any)
	root, _ := schema["openAPIV3Schema"].(map[string]any)
	for _, section := range []string{"spec", "status"} {
		properties, _ := root["properties"].(map[string]any)
		s, _ := properties[section].(map[string]any)
		walk(s, func(n map[string]any, depth int) {
			if depth > 0 && want(n) {
				all = append(all, n)
			}
		}, 0)
	}
	return all
}

// machinery are the properties of spec and status that Crossplane replaces.
var machinery = []string{
	"compositionRef", "compositionSelector", "compositionRevisionRef", "compositionRevisionSelector", "compositionUpdatePolicy",
	"compositeDeletePolicy", "claimRef", "resourceRef", "resourceRefs", "writeConnectionSecretToRef", "publishConnectionDetailsTo",
	"environmentConfigRefs", "connectionDetails", "conditions", "claimConditionTypes", "crossplane",
}

func walk(n map[string]any, f func(map[string]any, int), depth int) {
	if n == nil {
		return
	}
	f(n, depth)
	properties, _ := n["properties"].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		if depth == 0 && slices.Contains(machinery, key) {
			continue
		}
		p, _ := properties[key].(map[string]any)
		walk(p, f, depth+1)
	}
	for _, key := range []string{"items", "additionalProperties"} {
		p, _ := n[key].(map[string]any)
		walk(p, f, depth+1)
	}
}

// schema returns a random schema of one of the types, of any type if there are
// none; nil if there is no such schema.
func (d *draft) schema(types ...string) map[string]any {
	all := d.schemas(func(n map[string]any) bool {
		t, _ := n["type"].(string)
		return len(types) == 0 || slices.Contains(types, t)
	})
	if len(all) == 0 {
		return nil
	}
	return all[d.IntN(len(all))]
}

// set returns a mutation that sets a keyword of a schema of one of types.
func set(types string, keyword string, values ...any) func(*draft) bool {
	return func(d *draft) bool {
		s := d.schema(strings.Fields(types)...)
		if s == nil {
			return false
		}
		s[keyword] = pick(d, values...)
		return true
	}
}

// drop returns a mutation that removes a keyword of a schema of one of types.
func drop(types string, keyword string) func(*draft) bool {
	return func(d *draft) bool {
		s := d.schema(strings.Fields(types)...)
		if s == nil || s[keyword] == nil {
			return false
		}
		delete(s, keyword)
		return true
	}
}

// setAt returns a mutation that sets a field of the definition.
func setAt(path string, values ...any) func(*draft) bool {
	return func(d *draft) bool {
		keys := strings.Split(path, ".")
		d.at(keys[:len(keys)-1]...)[keys[len(keys)-1]] = pick(d, values...)
		return true
	}
}

// dropAt returns a mutation that removes a field of the definition.
func dropAt(path string) func(*draft) bool {
	return func(d *draft) bool {
		keys := strings.Split(path, ".")
		m, key := d.at(keys[:len(keys)-1]...), keys[len(keys)-1]
		_, ok := m[key]
		delete(m, key)
		return ok
	}
}

// setVersion and setColumn return mutations that set a field of a version or of
// a printer column; without values they remove it.
func setVersion(key string, values ...any) func(*draft) bool {
	return func(d *draft) bool { return put(d, d.version(), key, values) }
}

func setColumn(key string, values ...any) func(*draft) bool {
	return func(d *draft) bool { return put(d, d.column(), key, values) }
}

func put(d *draft, m map[string]any, key string, values []any) bool {
	if len(values) > 0 {
		m[key] = pick(d, values...)
		return true
	}
	_, ok := m[key]
	delete(m, key)
	return ok
}

// rule returns a mutation that adds a validation rule to a schema of a type.
func rule(types string, fields map[string]any) func(*draft) bool {
	return func(d *draft) bool {
		s := d.schema(strings.Fields(types)...)
		if s == nil {
			return false
		}
		before, _ := s["x-kubernetes-validations"].([]any)
		s["x-kubernetes-validations"] = append(before, maps.Clone(fields))
		return true
	}
}

// many returns a text of n letters.
func many(n int) string { return strings.Repeat("x", n) }
