package judge

import (
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
)

// site is a definition that is changed under a resource.
type site struct {
	*rand.Rand
	definition map[string]any
	version    string
	// spec is the spec of the resource.
	spec  map[string]any
	claim bool
}

// used is a field that the resource has: its schema, the schema of the object that it is
// in, and its value.
type used struct {
	name           string
	schema, parent map[string]any
	value          any
}

// versions returns the versions of the definition.
func (s *site) versions() (all []map[string]any) {
	list, _ := s.definition["spec"].(map[string]any)["versions"].([]any)
	for _, v := range list {
		all = append(all, v.(map[string]any))
	}
	return all
}

// own returns the version of the resource.
func (s *site) own() map[string]any {
	all := s.versions()
	return all[slices.IndexFunc(all, func(v map[string]any) bool { return v["name"] == s.version })]
}

// specSchema returns the schema of spec.
func (s *site) specSchema() map[string]any {
	at := s.own()
	for _, key := range []string{"schema", "openAPIV3Schema", "properties", "spec"} {
		at, _ = at[key].(map[string]any)
	}
	return at
}

// fields returns the fields that the resource has and a function selects.
func (s *site) fields(choose func(used) bool) []used {
	var all []used
	var visit func(schema map[string]any, value any)
	visit = func(schema map[string]any, value any) {
		switch value := value.(type) {
		case map[string]any:
			properties, _ := schema["properties"].(map[string]any)
			for _, name := range slices.Sorted(maps.Keys(value)) {
				inner, ok := properties[name].(map[string]any)
				if !ok {
					continue
				}
				u := used{name, inner, schema, value[name]}
				if choose(u) {
					all = append(all, u)
				}
				visit(inner, value[name])
			}
			if entry, ok := schema["additionalProperties"].(map[string]any); ok {
				for _, name := range slices.Sorted(maps.Keys(value)) {
					visit(entry, value[name])
				}
			}
		case []any:
			if inner, ok := schema["items"].(map[string]any); ok {
				for _, v := range value {
					visit(inner, v)
				}
			}
		}
	}
	visit(s.specSchema(), any(s.spec))
	return all
}

// field returns one of the fields that a function selects, false if there is none.
func (s *site) field(choose func(used) bool) (used, bool) {
	all := s.fields(choose)
	if len(all) == 0 {
		return used{}, false
	}
	return all[s.IntN(len(all))], true
}

// on returns a change of a field that the resource has.
func on(choose func(used) bool, change func(*site, used)) func(*site) bool {
	return func(s *site) bool {
		u, ok := s.field(choose)
		if ok {
			change(s, u)
		}
		return ok
	}
}

// text, whole and many select fields by the values of the resource.
func isText(u used) bool {
	v, ok := u.value.(string)
	return ok && len(v) > 1 && u.schema["type"] == "string"
}

func isWhole(u used) bool { _, ok := u.value.(int64); return ok && u.schema["type"] == "integer" }

func isList(u used) bool { v, ok := u.value.([]any); return ok && len(v) > 0 }

func isEnum(u used) bool { v, ok := u.schema["enum"].([]any); return isText(u) && ok && len(v) > 1 }

func anyField(used) bool { return true }

func without(list []any, value any) []any {
	return slices.DeleteFunc(slices.Clone(list), func(v any) bool { return v == value })
}

// setKeyword returns a change that sets a keyword.
func setKeyword(key string, value func(used) any) func(*site, used) {
	return func(_ *site, u used) { u.schema[key] = value(u) }
}

func always(v any) func(used) any { return func(used) any { return v } }

// required returns the required fields of a schema.
func required(schema map[string]any) []any { list, _ := schema["required"].([]any); return list }

// addRequired adds a required field that the resource lacks.
func addRequired(schema map[string]any) func(*site) bool {
	return func(s *site) bool {
		spec := s.specSchema()
		properties, _ := spec["properties"].(map[string]any)
		if properties == nil {
			return false
		}
		properties["zzAdded"] = schema
		spec["required"] = append(slices.Clone(required(spec)), "zzAdded")
		return true
	}
}

// addVersion adds a version like the one of the resource.
func addVersion(s *site) bool {
	another := clone(s.own())
	another["name"], another["referenceable"] = "v99", false
	spec := s.definition["spec"].(map[string]any)
	spec["versions"] = append(slices.Clone(spec["versions"].([]any)), any(another))
	return true
}

// alterations are changes of a definition. Those that concern a field change one that the
// resource has, so that what the server does to the resource shows what the change is.
var alterations = []struct {
	name   string
	change func(*site) bool
	// prepare changes the definition before, nil if it stays as it is.
	prepare func(*site) bool
	// says is a part of what the server must do, empty if that depends on the resource.
	says string
}{
	{name: "field removed", change: on(anyField, func(_ *site, u used) {
		delete(u.parent["properties"].(map[string]any), u.name)
		if rest := without(required(u.parent), u.name); len(rest) > 0 {
			u.parent["required"] = rest
		} else {
			delete(u.parent, "required")
		}
	})},
	{name: "enum value in use removed", change: on(isEnum, func(_ *site, u used) {
		u.schema["enum"] = without(u.schema["enum"].([]any), u.value)
		if u.schema["default"] == u.value {
			delete(u.schema, "default")
		}
	})},
	{name: "enum without the value added", change: on(func(u used) bool { return isText(u) && u.schema["enum"] == nil && u.schema["default"] == nil }, setKeyword("enum", always([]any{"zz"})))},
	{name: "enum value added", change: on(isEnum, func(_ *site, u used) { u.schema["enum"] = append(slices.Clone(u.schema["enum"].([]any)), "zz-another") })},
	{name: "enum removed", change: on(isEnum, func(_ *site, u used) { delete(u.schema, "enum") })},
	{name: "type changed", change: on(func(u used) bool {
		return isText(u) && u.schema["default"] == nil && len(u.schema) < 4 && u.schema["enum"] == nil
	}, func(_ *site, u used) {
		maps.DeleteFunc(u.schema, func(key string, _ any) bool { return key != "description" })
		u.schema["type"] = "boolean"
	})},
	{name: "integer becomes number", change: on(isWhole, setKeyword("type", always("number")))},
	{name: "integer becomes integer or string", change: on(func(u used) bool { return isWhole(u) && u.schema["enum"] == nil }, func(_ *site, u used) {
		maps.DeleteFunc(u.schema, func(key string, _ any) bool { return key != "description" && key != "default" })
		u.schema["x-kubernetes-int-or-string"] = true
	})},
	{name: "maximum below the value", change: on(func(u used) bool { return isWhole(u) && u.schema["default"] == nil && u.schema["minimum"] == nil }, setKeyword("maximum", func(u used) any { return u.value.(int64) - 1 }))},
	{name: "minimum above the value", change: on(func(u used) bool { return isWhole(u) && u.schema["default"] == nil && u.schema["maximum"] == nil }, setKeyword("minimum", func(u used) any { return u.value.(int64) + 1 }))},
	{name: "bounds removed", change: on(func(u used) bool { return isWhole(u) && (u.schema["minimum"] != nil || u.schema["maximum"] != nil) }, func(_ *site, u used) { delete(u.schema, "minimum"); delete(u.schema, "maximum") })},
	{name: "maxLength below the value", change: on(func(u used) bool {
		return isText(u) && u.schema["default"] == nil && u.schema["enum"] == nil && u.schema["minLength"] == nil
	}, setKeyword("maxLength", always(int64(1))))},
	{name: "minLength above the value", change: on(func(u used) bool {
		return isText(u) && u.schema["default"] == nil && u.schema["enum"] == nil && u.schema["maxLength"] == nil
	}, setKeyword("minLength", func(u used) any { return int64(len(u.value.(string)) + 1) }))},
	{name: "maxItems below the value", change: on(func(u used) bool { return isList(u) && u.schema["default"] == nil && u.schema["minItems"] == nil }, setKeyword("maxItems", func(u used) any { return int64(len(u.value.([]any)) - 1) }))},
	{name: "pattern that the value lacks", change: on(func(u used) bool { return isText(u) && u.schema["default"] == nil && u.schema["enum"] == nil }, setKeyword("pattern", always("^zz-never$")))},
	{name: "pattern removed", change: on(func(u used) bool { return isText(u) && u.schema["pattern"] != nil }, func(_ *site, u used) { delete(u.schema, "pattern") })},
	{name: "format that the value lacks", change: on(func(u used) bool {
		return isText(u) && u.schema["default"] == nil && u.schema["enum"] == nil && u.schema["format"] == nil && net.ParseIP(u.value.(string)) == nil
	}, setKeyword("format", always("ipv4")))},
	{name: "unknown format", change: on(func(u used) bool { return isText(u) && u.schema["format"] == nil }, setKeyword("format", always("colour")))},
	{name: "validation rule that the value violates", change: on(func(u used) bool {
		return isText(u) && u.schema["default"] == nil && u.schema["maxLength"] == nil && u.schema["enum"] == nil && u.schema["x-kubernetes-validations"] == nil
	}, func(s *site, u used) {
		u.schema["x-kubernetes-validations"] = []any{map[string]any{"rule": "self == 'zz'", "message": "must be zz"}}
	})},
	{name: "newly required, missing", change: addRequired(map[string]any{"type": "string"})},
	{name: "newly required, with a default", change: addRequired(map[string]any{"type": "string", "default": "x"})},
	{name: "optional field added", change: func(s *site) bool {
		properties, _ := s.specSchema()["properties"].(map[string]any)
		if properties == nil {
			return false
		}
		properties["zzAdded"] = map[string]any{"type": "integer"}
		return true
	}},
	{name: "no longer required", change: func(s *site) bool {
		u, ok := s.field(func(u used) bool { return slices.Contains(required(u.parent), any(u.name)) })
		if !ok {
			return false
		}
		if rest := without(required(u.parent), u.name); len(rest) > 0 {
			u.parent["required"] = rest
		} else {
			delete(u.parent, "required")
		}
		return true
	}},
	{name: "default changed", change: on(func(u used) bool {
		return isText(u) && u.schema["enum"] == nil && u.schema["pattern"] == nil && u.schema["default"] != nil
	}, setKeyword("default", always("zz")))},
	{name: "default added", change: on(func(u used) bool {
		return isText(u) && u.schema["enum"] == nil && u.schema["pattern"] == nil && u.schema["format"] == nil && u.schema["default"] == nil && u.schema["minLength"] == nil
	}, setKeyword("default", always("zz")))},
	{name: "description changed", change: on(anyField, setKeyword("description", always("Another text.")))},
	{name: "hint for forms", change: on(anyField, setKeyword("title", always("Another title")))},
	{name: "map becomes an object", change: on(func(u used) bool {
		v, ok := u.value.(map[string]any)
		return ok && len(v) > 0 && u.schema["additionalProperties"] != nil && u.schema["default"] == nil
	}, func(_ *site, u used) {
		delete(u.schema, "additionalProperties")
		u.schema["properties"] = map[string]any{"zz": map[string]any{"type": "string"}}
	})},
	{name: "list becomes a set", change: on(func(u used) bool {
		v, ok := u.value.([]any)
		items, _ := u.schema["items"].(map[string]any)
		return ok && len(v) > 0 && u.schema["x-kubernetes-list-type"] == nil && items["type"] == "string" && u.schema["default"] == nil
	}, func(s *site, u used) {
		u.schema["x-kubernetes-list-type"] = "set"
		// Make a duplicate, so that the resource is one that is refused.
		s.duplicate(u)
	})},
	{name: "version no longer served", prepare: addVersion, change: func(s *site) bool {
		s.own()["served"] = false
		return true
	}, says: "refused: 404"},
	{name: "version removed", prepare: addVersion, change: func(s *site) bool {
		spec := s.definition["spec"].(map[string]any)
		rest := slices.DeleteFunc(slices.Clone(spec["versions"].([]any)), func(v any) bool { return v.(map[string]any)["name"] == s.version })
		rest[len(rest)-1].(map[string]any)["referenceable"] = true
		spec["versions"] = rest
		return true
	}, says: "status.storedVersions"},
	{name: "scope changed", change: func(s *site) bool {
		spec := s.definition["spec"].(map[string]any)
		if spec["scope"] == "Namespaced" || spec["scope"] == nil && s.definition["apiVersion"] == "apiextensions.crossplane.io/v2" {
			spec["scope"] = "Cluster"
		} else {
			spec["scope"] = "Namespaced"
		}
		return !s.claim
	}, says: "spec.scope"},
	{name: "default of a required field removed", prepare: addRequired(map[string]any{"type": "string", "default": "x"}), change: func(s *site) bool {
		delete(s.specSchema()["properties"].(map[string]any)["zzAdded"].(map[string]any), "default")
		return true
	}, says: "manifest refused"},
	{name: "default removed", change: func(s *site) bool {
		// The alteration before this one is about required fields.
		u, ok := s.field(func(u used) bool {
			return u.schema["default"] != nil && !slices.Contains(required(u.parent), any(u.name))
		})
		delete(u.schema, "default")
		return ok
	}},
	{name: "claims renamed", change: func(s *site) bool {
		names, _ := s.definition["spec"].(map[string]any)["claimNames"].(map[string]any)
		for key, v := range names {
			if v, ok := v.(string); ok && (key == "kind" || key == "listKind") {
				names[key] = v + "Zz"
			} else if ok {
				names[key] = v + "zz"
			}
		}
		return s.claim
	}, says: "is gone"},
	{name: "kind of claims renamed", change: func(s *site) bool {
		names, _ := s.definition["spec"].(map[string]any)["claimNames"].(map[string]any)
		if !s.claim {
			return false
		}
		kind, _ := names["kind"].(string)
		names["kind"] = kind + "Zz"
		delete(names, "listKind")
		return true
	}, says: "spec.names.kind"},
	{name: "kind renamed", change: func(s *site) bool {
		names, _ := s.definition["spec"].(map[string]any)["names"].(map[string]any)
		kind, _ := names["kind"].(string)
		names["kind"] = kind + "Zz"
		delete(names, "listKind")
		return !s.claim
	}},
	{name: "claims removed", change: func(s *site) bool {
		spec := s.definition["spec"].(map[string]any)
		delete(spec, "claimNames")
		return s.claim
	}, says: "is gone"},
	{name: "oneOf that the resource violates", change: func(s *site) bool {
		spec := s.specSchema()
		if spec["oneOf"] != nil || spec["properties"] == nil {
			return false
		}
		spec["properties"].(map[string]any)["zzA"] = map[string]any{"type": "string"}
		spec["oneOf"] = []any{map[string]any{"required": []any{"zzA"}}}
		return true
	}},
	{name: "typed field added where any value was kept", prepare: func(s *site) bool {
		spec := s.specSchema()
		spec["x-kubernetes-preserve-unknown-fields"], s.spec["zzAdded"] = true, "text"
		return true
	}, change: func(s *site) bool {
		properties, _ := s.specSchema()["properties"].(map[string]any)
		if properties == nil {
			return false
		}
		properties["zzAdded"] = map[string]any{"type": "integer"}
		return true
	}, says: "manifest refused"},
	{name: "rule for updates that the value violates", change: on(func(u used) bool { return isWhole(u) && u.schema["x-kubernetes-validations"] == nil }, func(_ *site, u used) {
		u.schema["x-kubernetes-validations"] = []any{map[string]any{"rule": "self == oldSelf && self < 0 && self > 0", "message": "never"}}
	})},
	{name: "maximum raised, and now exclusive", prepare: on(func(u used) bool { return isWhole(u) && u.schema["default"] == nil && u.schema["minimum"] == nil }, setKeyword("maximum", func(u used) any { return u.value })),
		change: on(func(u used) bool { return isWhole(u) && u.schema["maximum"] == u.value }, func(_ *site, u used) {
			u.schema["maximum"], u.schema["exclusiveMaximum"] = u.value.(int64)+10, true
		})},
	{name: "text is kept", change: on(func(u used) bool { v, ok := u.value.(string); return ok && strings.TrimSpace(v) != "" }, func(*site, used) {})},
}

// duplicate makes an entry of a list of the resource occur twice.
func (s *site) duplicate(u used) {
	list := u.value.([]any)
	var visit func(v any) any
	visit = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for key := range v {
				v[key] = visit(v[key])
			}
		case []any:
			if len(v) == len(list) && &v[0] == &list[0] {
				return append(slices.Clone(v), v[0])
			}
			for i := range v {
				v[i] = visit(v[i])
			}
		}
		return v
	}
	visit(s.spec)
}
