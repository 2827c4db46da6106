package query

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf16"
)

// index has the fields of all entities, as the real catalog, Backstage's, indexes them: the
// rows of its table search, which ours does not have.
type index struct {
	refs []string
	// entities are the entities, and rows their fields, by reference.
	entities map[string]map[string]any
	rows     map[string][]field
	// values are those of each entity for a key, by key and reference; a null is missing.
	values map[string]map[string][]string
	shape
}

// shape has what the rows of the index do not tell, by path in lower case.
type shape struct {
	// spelled are the paths of fields as they are spelled in entities.
	spelled map[string]bool
	// items are the references of entities that have an item of a list as a key.
	items map[string]map[string]bool
	// lists, objects, others and long are the paths of lists, of objects, of values other
	// than texts, and of texts that are too long for the index. through are the paths of
	// fields of items.
	lists, objects, others, long, through map[string]bool
}

// add adds the fields below a path of an entity.
func (s *shape) add(ref, path string, v any, inList bool) {
	s.spelled[path] = true
	lower := strings.ToLower(path)
	if inList {
		s.through[lower] = true
	}
	switch v := v.(type) {
	case map[string]any:
		s.objects[lower] = true
		for key, of := range v {
			s.add(ref, strings.TrimPrefix(path+"."+key, "."), of, inList)
		}
	case []any:
		s.lists[lower] = true
		for _, item := range v {
			if text, ok := item.(string); ok {
				key := lower + "." + strings.ToLower(text)
				if s.items[key] == nil {
					s.items[key] = map[string]bool{}
				}
				s.items[key][ref] = true
			}
			s.add(ref, path, item, true)
		}
	case string:
		s.long[lower] = s.long[lower] || len(utf16.Encode([]rune(v))) > 200
	default:
		s.others[lower] = true
	}
}

// field is a row. A nil value is a field that has no value to compare with.
type field struct {
	Ref, Key string
	Value    *string
}

func newIndex(entities, rows []byte) (*index, error) {
	x := &index{entities: map[string]map[string]any{}, rows: map[string][]field{}, values: map[string]map[string][]string{}, shape: shape{
		spelled: map[string]bool{}, items: map[string]map[string]bool{}, lists: map[string]bool{}, objects: map[string]bool{},
		others: map[string]bool{}, long: map[string]bool{}, through: map[string]bool{},
	}}
	var all []map[string]any
	var fields []field
	if err := json.Unmarshal(entities, &all); err != nil {
		return nil, fmt.Errorf("cannot decode the entities: %w", err)
	}
	if err := json.Unmarshal(rows, &fields); err != nil {
		return nil, fmt.Errorf("cannot decode the index: %w", err)
	}
	for _, e := range all {
		x.entities[refOf(e)] = e
		x.add(refOf(e), "", e, false)
	}
	x.refs = slices.Sorted(maps.Keys(x.entities))
	for _, f := range fields {
		x.rows[f.Ref] = append(x.rows[f.Ref], f)
		if f.Value == nil {
			continue
		}
		if x.values[f.Key] == nil {
			x.values[f.Key] = map[string][]string{}
		}
		x.values[f.Key][f.Ref] = append(x.values[f.Key][f.Ref], *f.Value)
	}
	for _, of := range x.values {
		for _, values := range of {
			slices.Sort(values)
		}
	}
	return x, nil
}

// of returns the values of an entity for a key, sorted.
func (x *index) of(ref, key string) []string { return x.values[strings.ToLower(key)][ref] }

// best returns the value that an entity is sorted by. Items of lists are no keys to sort
// by.
func (x *index) best(ref string, o order) (string, bool) {
	values := x.of(ref, o.field)
	switch {
	case len(values) == 0 || x.items[strings.ToLower(o.field)][ref]:
		return "", false
	case o.desc:
		return values[len(values)-1], true
	}
	return values[0], true
}

// refOf returns the reference of an entity, or of a part of it that has its kind,
// namespace and name.
func refOf(e map[string]any) string {
	m, _ := e["metadata"].(map[string]any)
	namespace, _ := m["namespace"].(string)
	if namespace == "" {
		namespace = "default"
	}
	return strings.ToLower(fmt.Sprintf("%v:%s/%v", e["kind"], namespace, m["name"]))
}
