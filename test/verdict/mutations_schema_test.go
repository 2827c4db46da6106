package judge

func init() { mutations = append(mutations, schemaMutations...) }

// schemaMutations are mutations of schemas.
var schemaMutations = []struct {
	name   string
	change func(*draft) bool
}{
	{"no type", drop("", "type")},
	{"type", set("", "type", "string", "integer", "number", "boolean", "object", "array", "int", "String", "null", "", nil, int64(1), list{"string"})},
	{"no items", drop("array", "items")},
	{"items", set("array", "items", nil, object{}, object{"type": "string"}, list{object{"type": "string"}}, "string", true, object{"type": "array"})},
	{"properties of another type", set("object", "properties", nil, object{}, list{}, "a", object{"a": nil}, object{"a": "string"}, object{"a": object{}}, object{"a": object{"type": "string"}}, object{"": object{"type": "string"}})},
	{"additional properties", set("object", "additionalProperties", true, false, object{"type": "string"}, object{}, nil, "string", object{"type": "other"})},
	{"properties and a map", func(d *draft) bool {
		s := d.schema("object")
		if s == nil {
			return false
		}
		s["properties"] = object{"a": object{"type": "string"}}
		s["additionalProperties"] = pick[any](d, true, false, object{"type": "string"})
		return true
	}},
	{"required", set("object", "required", list{"absent"}, list{}, nil, "a", list{int64(1)}, list{nil}, list{"a", "a"}, true)},
	{"keyword in another case", set("", "Description", "a")},
	{"keyword that there is not", set("", "discription", "a", object{})},
	{"description", set("", "description", "a", int64(1), nil, list{})},
	{"title", set("", "title", "a", int64(1))},
	{"format", set("string", "format", "date-time", "ipv4", "other", "", int64(1), nil)},
	{"integer format", set("integer", "format", "int32", "int64", "int16", "date")},
	{"pattern", set("string", "pattern", "^a$", "(", "(?=a)", "(?i)a", `\d+`, `\1`, "", int64(1), nil, "[z-a]", "a{1001}", "*", `\p{L}`, `\u0041`)},
	{"enum", set("string", "enum", list{"a", "b"}, list{"a", "a"}, list{}, list{int64(1)}, list{nil}, nil, "a", list{true}, list{object{}})},
	{"enum and default", func(d *draft) bool {
		s := d.schema("string")
		if s == nil {
			return false
		}
		s["enum"], s["default"] = list{"a", "b"}, pick[any](d, "a", "c", int64(1), "")
		return true
	}},
	{"string default", set("string", "default", "a", int64(1), true, nil, list{}, object{}, "")},
	{"integer default", set("integer", "default", int64(1), 1.5, "1", true, nil, 1e20, int64(-5))},
	{"number default", set("number", "default", int64(1), 1.5, "1", nil)},
	{"boolean default", set("boolean", "default", true, "true", int64(1), nil)},
	{"object default", set("object", "default", object{}, object{"unknown": "a"}, "a", list{}, nil)},
	{"array default", set("array", "default", list{}, list{nil}, object{}, "a", list{"a"}, list{object{}}, list{int64(1)})},
	{"length", set("string", "minLength", int64(0), int64(1), int64(-1), "1", 1.5, nil, int64(10000))},
	{"maximal length", set("string", "maxLength", int64(0), int64(100), int64(-1), "1", 1.0, nil)},
	{"minimum", set("integer", "minimum", int64(0), 0.5, "0", nil, int64(1000000))},
	{"maximum", set("integer", "maximum", int64(10), "10", nil, int64(-1000))},
	{"exclusive", set("integer number", "exclusiveMinimum", true, int64(1), false, "true")},
	{"multiple", set("integer", "multipleOf", int64(2), int64(0), int64(-1), "2", 0.5)},
	{"items count", set("array", "maxItems", int64(10), int64(-1), "10", int64(0))},
	{"least items", set("array", "minItems", int64(1), int64(-1), "1")},
	{"unique items", set("array", "uniqueItems", true, false, "true")},
	{"properties count", set("object", "maxProperties", int64(10), int64(-1), "10")},
	{"nullable", set("", "nullable", true, false, "true", nil)},
	{"nullable with null", func(d *draft) bool {
		s := d.schema()
		if s == nil {
			return false
		}
		s["nullable"], s["default"] = pick(d, true, false), nil
		return true
	}},
	{"reference", set("", "$ref", "#/definitions/a", "", nil, int64(1))},
	{"refused keyword", func(d *draft) bool {
		s := d.schema()
		if s == nil {
			return false
		}
		key := pick(d, "id", "$schema", "definitions", "dependencies", "patternProperties", "additionalItems", "deprecated", "discriminator", "readOnly", "writeOnly", "const", "if", "examples", "xml", "selectableFields")
		s[key] = pick[any](d, object{}, object{"a": object{"type": "string"}}, true, "a", list{})
		return true
	}},
	{"example", set("", "example", "a", object{}, int64(1), nil)},
	{"external docs", set("", "externalDocs", object{"url": "https://example.org"}, "a", object{"url": int64(1)}, object{})},
	{"alternatives", func(d *draft) bool {
		s := d.schema()
		if s == nil {
			return false
		}
		s[pick(d, "oneOf", "anyOf", "allOf")] = pick[any](d, list{object{"required": list{"a"}}}, list{object{"type": "string"}}, list{}, nil, object{}, list{nil},
			list{object{}}, list{object{"minimum": int64(1)}}, list{object{"properties": object{"a": object{"type": "string"}}}}, list{object{"properties": object{"a": object{"enum": list{"b"}}}}},
			list{object{"default": "a"}}, list{object{"description": "a"}}, list{object{"pattern": "("}}, list{object{"enum": list{"a"}}},
			list{object{"type": "integer"}, object{"type": "string"}}, list{object{"x-kubernetes-preserve-unknown-fields": true}}, list{object{"nullable": true}},
			list{object{"additionalProperties": object{"type": "string"}}}, list{object{"items": object{"type": "string"}}}, list{object{"not": object{"required": list{"a"}}}})
		return true
	}},
	{"negation", set("", "not", object{"required": list{"a"}}, object{"type": "string"}, object{}, nil, "a", object{"enum": list{"a"}}, object{"default": "a"})},
	{"preserve", set("", "x-kubernetes-preserve-unknown-fields", true, false, "true", nil)},
	{"preserve without a type", func(d *draft) bool {
		s := d.schema()
		if s == nil {
			return false
		}
		clear(s)
		s["x-kubernetes-preserve-unknown-fields"] = pick(d, true, false)
		return true
	}},
	{"int or string", set("", "x-kubernetes-int-or-string", true, false, "true", nil)},
	{"int or string without a type", func(d *draft) bool {
		s := d.schema()
		if s == nil {
			return false
		}
		clear(s)
		s["x-kubernetes-int-or-string"] = true
		switch d.IntN(5) {
		case 0:
			s["default"] = pick[any](d, "a", int64(1), 1.5, true)
		case 1:
			s["anyOf"] = list{object{"type": "integer"}, object{"type": "string"}}
		case 2:
			s["anyOf"] = list{object{"type": "string"}, object{"type": "integer"}}
		case 3:
			s["allOf"] = list{object{"anyOf": list{object{"type": "integer"}, object{"type": "string"}}}}
		}
		return true
	}},
	{"embedded resource", set("object string", "x-kubernetes-embedded-resource", true, false, "true")},
	{"embedded resource with fields", func(d *draft) bool {
		s := d.schema("object")
		if s == nil {
			return false
		}
		clear(s)
		s["type"], s["x-kubernetes-embedded-resource"] = "object", true
		s["properties"] = pick[any](d, object{"a": object{"type": "string"}}, object{"metadata": object{"type": "object"}}, object{"apiVersion": object{"type": "string"}, "kind": object{"type": "string"}},
			object{"metadata": object{"type": "string"}}, object{"kind": object{"type": "integer"}}, object{"metadata": object{"type": "object", "properties": object{"name": object{"type": "string"}}}})
		return true
	}},
	{"list type", set("array", "x-kubernetes-list-type", "atomic", "set", "map", "other", "", nil, int64(1))},
	{"list type elsewhere", set("string object", "x-kubernetes-list-type", "atomic", "set", "map")},
	{"map type", set("object", "x-kubernetes-map-type", "atomic", "granular", "other", "", int64(1))},
	{"map type elsewhere", set("string array", "x-kubernetes-map-type", "atomic", "granular")},
	{"list of maps", func(d *draft) bool {
		s := d.schema("array")
		if s == nil {
			return false
		}
		key := object{"type": pick(d, "string", "integer", "object", "array")}
		if pick(d, true, false) {
			key["default"] = "a"
		}
		items := object{"type": "object", "properties": object{"a": key, "b": object{"type": "string"}}}
		if pick(d, true, false) {
			items["required"] = list{"a"}
		}
		if pick(d, true, false, false, false) {
			key["nullable"] = true
		}
		s["items"], s["x-kubernetes-list-type"] = items, "map"
		s["x-kubernetes-list-map-keys"] = pick[any](d, list{"a"}, list{"a", "a"}, list{"absent"}, list{"a", "b"}, list{}, "a", nil, list{int64(1)})
		return true
	}},
	{"set of objects", func(d *draft) bool {
		s := d.schema("array")
		if s == nil {
			return false
		}
		s["x-kubernetes-list-type"] = "set"
		s["items"] = pick[any](d, object{"type": "object"}, object{"type": "object", "x-kubernetes-map-type": "atomic"}, object{"type": "array", "items": object{"type": "string"}},
			object{"type": "array", "x-kubernetes-list-type": "atomic", "items": object{"type": "string"}}, object{"type": "string", "nullable": true}, object{"type": "string", "default": "a"})
		if pick(d, true, false) {
			s["default"] = list{"a", "a"}
		}
		return true
	}},
	{"extension that there is not", set("", "x-kubernetes-other", true, "a")},
	{"group version kind", set("object", "x-kubernetes-group-version-kind", list{object{"group": "", "version": "v1", "kind": "Pod"}})},
}
