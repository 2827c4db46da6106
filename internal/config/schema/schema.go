// Package schema describes the keys of the configuration as a JSON Schema.
package schema

import (
	"math"
	"slices"
	"strings"

	"example.dev/ingestor/document/wire"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/config/keys"
)

// Of returns a JSON Schema (draft 2020-12) of a configuration file with these keys, for
// editors. required are the required keys of maps, by the path of the map. The schema has the keys and their types, but cannot detect conflicts between keys or missing
// files.
func Of(all []keys.Key, required map[string][]string, permissions []string) *tree.Node {
	root := &shape{}
	for _, k := range all {
		root.add(strings.Split(k.Path, "."), k)
	}
	// The file may have keys that other programs read.
	root.open = true
	n := tree.Obj(
		tree.F("$schema", tree.Str("https://json-schema.org/draft/2020-12/schema")),
		tree.F("title", tree.Str("Configuration")),
	)
	n.Fields = append(n.Fields, writer{required, permissions}.object(root, "", "#").Fields...)
	n.Set("$defs", tree.Obj(tree.F("elsewhere", elsewhere())))
	return n
}

// shape is a key with the keys below it.
type shape struct {
	name string
	key  keys.Key
	// fields are the keys below, in order.
	fields []*shape
	// open allows further keys, which are ignored.
	open bool
	// again reports that each further key holds a map like this one.
	again bool
	// each is the type of the further keys, nil if they have none of their own.
	each *shape
}

// add inserts a key at its path.
func (s *shape) add(path []string, k keys.Key) {
	if name := path[0]; strings.HasPrefix(name, "<") {
		switch {
		case k.Type == keys.TypeIdle:
			s.open = true
		case strings.HasPrefix(k.Type, "as `"):
			s.again = true
		default:
			s.each = &shape{key: k}
		}
		return
	}
	name := strings.TrimSuffix(path[0], "[]")
	i := slices.IndexFunc(s.fields, func(f *shape) bool { return f.name == name })
	if i < 0 {
		i = len(s.fields)
		s.fields = append(s.fields, &shape{name: name})
	}
	if len(path) == 1 {
		s.fields[i].key = k
		return
	}
	s.fields[i].add(path[1:], k)
}

// writer writes the schema of shapes.
type writer struct {
	required    map[string][]string
	permissions []string
}

// object returns the schema of a map. doc is its path as keys are listed, pointer its
// JSON pointer in the schema.
func (w writer) object(s *shape, doc, pointer string) *tree.Node {
	properties := tree.Obj()
	for _, f := range s.fields {
		properties.Set(f.name, w.value(f, keys.Join(doc, f.name), pointer+"/properties/", f.name))
	}
	n := tree.Obj(tree.F("type", tree.Str("object")), tree.F("properties", properties))
	switch {
	case s.each != nil:
		n.Set("additionalProperties", w.value(s.each, doc, pointer, ""))
	case s.again:
		n.Set("additionalProperties", tree.Obj(tree.F("$ref", tree.Str(pointer))))
	case !s.open:
		n.Set("additionalProperties", tree.Boolean(false))
	}
	// Outside of lists a map may be spread over several files.
	if strings.Contains(doc, "[]") {
		n.Set("required", tree.Strs(slices.DeleteFunc(slices.Clone(w.required[doc]), s.hasAlias)))
	}
	return n
}

// hasAlias reports whether a key below has another spelling.
func (s *shape) hasAlias(key string) bool {
	return slices.ContainsFunc(s.fields, func(f *shape) bool { return f.key.Type == "as `"+key+"`" })
}

// value returns the schema of the value of a key.
func (w writer) value(s *shape, doc, in, name string) *tree.Node {
	if other, ok := strings.CutPrefix(s.key.Type, "as `"); ok {
		return tree.Obj(tree.F("$ref", tree.Str(in+strings.TrimSuffix(other, "`"))))
	}
	switch s.key.Type {
	case keys.TypeIdle:
		return tree.Boolean(true)
	case "map":
		n := w.object(s, doc, in+name)
		n.Set("type", tree.Strs([]string{"object", "null"}))
		return n
	case "list":
		return tree.Obj(tree.F("type", tree.Strs([]string{"array", "null"})), tree.F("items", w.object(s, doc+"[]", in+name+"/items")))
	}
	all := w.forms(s.key)
	if len(s.fields) > 0 {
		all = append(all, w.object(s, doc, in+name))
	}
	n := anyOf(append(all, reference, typed("null"))...)
	if s.key.Default != "" {
		n.Set("default", preset(s.key))
	}
	return n
}

// preset returns the default as a typed value.
func preset(k keys.Key) *tree.Node {
	if k.Type == "boolean" || k.Type == keys.TypeRatio || k.Least != nil || strings.Contains(k.Type, "list of") {
		if n, err := (wire.Decoder{}).DecodeText(k.Default); err == nil {
			return n
		}
	}
	return tree.Str(k.Default)
}

// reference is a value that comes from elsewhere.
var reference = tree.Obj(tree.F("$ref", tree.Str("#/$defs/elsewhere")))

// elsewhere returns the schema of a value that comes from elsewhere.
func elsewhere() *tree.Node {
	from := func(key string) *tree.Node {
		return tree.Obj(
			tree.F("type", tree.Str("object")), tree.F("properties", tree.Obj(tree.F(key, typed("string")))),
			tree.F("required", tree.Strs([]string{key})), tree.F("additionalProperties", tree.Boolean(false)),
		)
	}
	return anyOf(textMatching(`\$\{.*\}`), from("$env"), from("$file"))
}

func typed(name string) *tree.Node { return tree.Obj(tree.F("type", tree.Str(name))) }

func anyOf(all ...*tree.Node) *tree.Node { return tree.Obj(tree.F("anyOf", tree.Arr(all...))) }

// textMatching returns the schema of text that matches a pattern.
func textMatching(pattern string) *tree.Node {
	return tree.Obj(tree.F("type", tree.Str("string")), tree.F("pattern", tree.Str(pattern)))
}

// whole returns the schema of a whole number within bounds.
func whole(least, most int64) *tree.Node {
	return tree.Obj(tree.F("type", tree.Str("integer")), tree.F("minimum", tree.Number(least)), tree.F("maximum", tree.Number(most)))
}

func enum(all []string) *tree.Node { return tree.Obj(tree.F("enum", tree.Strs(all))) }

func items(of *tree.Node) *tree.Node {
	return tree.Obj(tree.F("type", tree.Str("array")), tree.F("items", of))
}

// notEmpty matches non-empty text.
const notEmpty = `\S`

// forms returns the schemas of the forms in which a value can be written.
func (w writer) forms(k keys.Key) []*tree.Node {
	if words, ok := strings.CutPrefix(k.Type, "one of "); ok {
		return []*tree.Node{enum(strings.Split(words, ", "))}
	}
	switch k.Type {
	case "boolean":
		return []*tree.Node{typed("boolean")}
	case "integer", "seconds", "milliseconds":
		return []*tree.Node{whole(*k.Least, *k.Most)}
	case keys.TypeRatio:
		return []*tree.Node{tree.Obj(tree.F("type", tree.Str("number")), tree.F("minimum", tree.Number(0)), tree.F("maximum", tree.Number(1)))}
	case "port", "address":
		return []*tree.Node{whole(0, math.MaxUint16), textMatching(`^\d+$|:\d+$`)}
	case "size":
		return []*tree.Node{whole(0, 1<<40), textMatching(`^\d+ *([KkMmGg]?[Bb]|[KkMmGg][Ii][Bb])?$`)}
	case "url":
		return []*tree.Node{textMatching(`^https?://[^@?#]+$`)}
	case "selector":
		return []*tree.Node{typed("string")}
	case "duration":
		units := tree.Obj()
		for _, u := range keys.TimeUnits {
			n := tree.Obj(tree.F("type", tree.Str("number")), tree.F("minimum", tree.Number(0)))
			units.Set(u.Key, anyOf(n, reference))
		}
		return []*tree.Node{
			textMatching(`^P|^\s*[\d.]+\s*(ms|d|h|m|s)`),
			tree.Obj(tree.F("type", tree.Str("object")), tree.F("properties", units),
				tree.F("additionalProperties", tree.Boolean(false)), tree.F("minProperties", tree.Number(1))),
		}
	case "list of string", "list of path":
		return []*tree.Node{items(anyOf(textMatching(notEmpty), reference))}
	case "list of permission":
		return []*tree.Node{items(anyOf(enum(w.permissions), textMatching(`\*$`), reference))}
	case "string, or list of string":
		return []*tree.Node{textMatching(notEmpty), items(anyOf(textMatching(notEmpty), reference))}
	}
	return []*tree.Node{textMatching(notEmpty)}
}
