package judge

import "fmt"

func init() { mutations = append(mutations, ruleMutations...) }

// ruleMutations are mutations with validation rules, and with defaults for
// them.
var ruleMutations = []struct {
	name   string
	change func(*draft) bool
}{
	{"rule", rule("string", object{"rule": "self.size() < 10"})},
	{"rule on an integer", rule("integer", object{"rule": "self > 0", "message": "too small"})},
	{"rule on an object", rule("object", object{"rule": "true"})},
	{"rule that does not parse", rule("string integer boolean object array", object{"rule": "self ==="})},
	{"rule of another type", rule("string", object{"rule": "self + 1 > 2"})},
	{"rule that is no condition", rule("string", object{"rule": "self"})},
	{"rule about a field that there is not", rule("object", object{"rule": "self.surelyAbsent == 'a'"})},
	{"rule with a function that there is not", rule("string", object{"rule": "self.shout() == 'A'"})},
	{"rule about oldSelf", rule("string integer boolean", object{"rule": "self == oldSelf"})},
	{"rule about an optional oldSelf", rule("string", object{"rule": "oldSelf.orValue('') == self", "optionalOldSelf": true})},
	{"rule about oldSelf in a list", func(d *draft) bool {
		s := d.schema("array")
		if s == nil {
			return false
		}
		s["items"] = object{"type": "string", "x-kubernetes-validations": list{object{"rule": "self == oldSelf"}}}
		s["x-kubernetes-list-type"] = pick(d, "set", "atomic", "map")
		return true
	}},
	{"dear rule", rule("array", object{"rule": "self.all(a, self.all(b, self.all(c, a == b || b == c)))"})},
	{"dear rule on a string", rule("string", object{"rule": "self.matches('^(a|b)+$')"})},
	{"rules that are dear together", func(d *draft) bool {
		s := d.schema("object")
		if s == nil {
			return false
		}
		clear(s)
		all := object{}
		for i := range 14 {
			// The dearest costs 97% of what one may cost. No two cost the same, since the
			// server's order of those changes.
			all[fmt.Sprintf("list%d", i)] = object{"type": "array", "maxItems": int64(18 + i), "items": object{"type": "string", "x-kubernetes-validations": list{object{"rule": "self.contains('a')"}}}}
		}
		s["type"], s["properties"] = "object", all
		return true
	}},
	{"rules that are too dear by little", func(d *draft) bool {
		s := d.schema("array")
		if s == nil {
			return false
		}
		clear(s)
		s["type"], s["maxItems"] = "array", pick(d, int64(30), int64(32), int64(40), int64(60), int64(320))
		s["items"] = object{"type": "string", "x-kubernetes-validations": list{object{"rule": "self.contains('a')"}}}
		return true
	}},
	{"rule without oldSelf that makes it optional", rule("string", object{"rule": "self != 'a'", "optionalOldSelf": true})},
	{"dear message expression", rule("array", object{"rule": "true", "messageExpression": "self.all(a, self.all(b, self.all(c, a == b || b == c))) ? 'a' : 'b'"})},
	{"rule about oldSelf in an atomic map", func(d *draft) bool {
		s := d.schema("object")
		if s == nil {
			return false
		}
		clear(s)
		s["type"], s["x-kubernetes-map-type"] = "object", pick(d, "atomic", "granular")
		s["properties"] = object{"a": object{"type": "object", "properties": object{"b": object{"type": "string", "x-kubernetes-validations": list{object{"rule": "self == oldSelf"}}}}}}
		return true
	}},
	{"rule without a bound", func(d *draft) bool {
		s := d.schema("array")
		if s == nil {
			return false
		}
		s["items"] = object{"type": "object", "properties": object{"names": object{"type": "array", "items": object{"type": "string", "x-kubernetes-validations": list{object{"rule": "self.contains('a')"}}}}}}
		if pick(d, true, false) {
			s["maxItems"] = int64(10)
		}
		return true
	}},
	{"empty rule", rule("string", object{"rule": ""})},
	{"no rule", rule("string", object{"message": "a"})},
	{"rule of several lines", rule("string", object{"rule": "self.size() <\n10"})},
	{"rule of several lines with a message", rule("string", object{"rule": "self.size() <\n10", "message": "a"})},
	{"message of several lines", rule("string", object{"rule": "true", "message": "a\nb"})},
	{"blank message", rule("string", object{"rule": "true", "message": " "})},
	{"long message", rule("string", object{"rule": "true", "message": many(2049)})},
	{"message expression", rule("string", object{"rule": "true", "messageExpression": "'it is ' + self"})},
	{"message expression that does not parse", rule("string", object{"rule": "true", "messageExpression": "'it is"})},
	{"message expression of another type", rule("string", object{"rule": "true", "messageExpression": "1"})},
	{"blank message expression", rule("string", object{"rule": "true", "messageExpression": " "})},
	{"reason", func(d *draft) bool {
		return rule("string", object{"rule": "true", "reason": pick[any](d, "FieldValueInvalid", "FieldValueForbidden", "Invalid", "", int64(1))})(d)
	}},
	{"field path", func(d *draft) bool {
		return rule("object", object{"rule": "true", "fieldPath": pick[any](d, ".surelyAbsent", "surelyAbsent", "", int64(1), ".a[0]")})(d)
	}},
	{"unknown key of a rule", rule("string", object{"rule": "true", "other": "a"})},
	{"rules of another type", set("string", "x-kubernetes-validations", "true", object{}, list{"true"}, list{}, nil, list{nil}, list{object{"rule": int64(1)}})},
	{"two rules alike", set("string", "x-kubernetes-validations", list{object{"rule": "true"}, object{"rule": "true"}})},
	{"rule on the schema", func(d *draft) bool {
		schema, _ := d.version()["schema"].(map[string]any)
		root, _ := schema["openAPIV3Schema"].(map[string]any)
		if root == nil {
			return false
		}
		root["x-kubernetes-validations"] = list{object{"rule": pick(d, "self.metadata.name.startsWith('a')", "self.metadata.labels.size() > 0", "has(self.spec)", "self.spec.surelyAbsent > 1", "self.kind == 'A'", "1 +", "self.metadata.generateName == ''")}}
		return true
	}},
	{"rule on spec", func(d *draft) bool {
		schema, _ := d.version()["schema"].(map[string]any)
		root, _ := schema["openAPIV3Schema"].(map[string]any)
		properties, _ := root["properties"].(map[string]any)
		spec, _ := properties["spec"].(map[string]any)
		if spec == nil {
			return false
		}
		spec["x-kubernetes-validations"] = list{object{"rule": pick(d, "has(self.compositionRef)", "has(self.crossplane)", "has(self.crossplane.compositionRef)", "self.surelyAbsent == 1", "has(self.writeConnectionSecretToRef)", "has(self.resourceRefs)", "true")}}
		return true
	}},
	{"rule on status", func(d *draft) bool {
		schema, _ := d.version()["schema"].(map[string]any)
		root, _ := schema["openAPIV3Schema"].(map[string]any)
		properties, _ := root["properties"].(map[string]any)
		if properties == nil {
			return false
		}
		properties["status"] = object{"type": "object", "x-kubernetes-validations": list{object{"rule": pick(d, "has(self.conditions)", "self.surelyAbsent == 1", "self.conditions.exists(c, c.type == 'Ready')", "true", "has(self.connectionDetails)")}}}
		return true
	}},
	{"default that a rule refuses", func(d *draft) bool {
		s := d.schema("string")
		if s == nil {
			return false
		}
		clear(s)
		s["type"], s["default"] = "string", pick(d, "a", "long enough")
		s["x-kubernetes-validations"] = list{object{"rule": "self.size() > 5"}}
		return true
	}},
	{"default with an unknown field", func(d *draft) bool {
		s := d.schema("object")
		if s == nil {
			return false
		}
		clear(s)
		s["type"] = "object"
		s["properties"] = object{"a": object{"type": "string", "default": "b"}, "c": object{"type": "integer"}}
		s["default"] = pick[any](d, object{"a": "b"}, object{"b": "c"}, object{"c": "d"}, object{"c": int64(1), "d": object{}}, object{"a": nil}, object{})
		if pick(d, true, false) {
			s["required"] = list{"a", "c"}
		}
		return true
	}},
	{"format of a default", func(d *draft) bool {
		s := d.schema("string")
		if s == nil {
			return false
		}
		clear(s)
		s["type"] = "string"
		s["format"] = pick(d, "date-time", "ipv4", "ipv6", "uri", "email", "uuid", "date", "cidr", "duration", "hostname", "byte", "mac", "other")
		s["default"] = pick(d, "a", "2020-01-01T00:00:00Z", "10.0.0.1", "::1", "https://example.org", "a@example.org", "10.0.0.0/8", "1h", "2020-01-01", "YQ==", "")
		return true
	}},
	{"wrong nesting", func(d *draft) bool {
		s := d.schema("object")
		if s == nil {
			return false
		}
		properties, _ := s["properties"].(map[string]any)
		for _, key := range []string{"type", "required", "description"} {
			if _, ok := properties[key]; properties != nil && !ok && s[key] != nil {
				properties[key] = s[key]
				delete(s, key)
				return true
			}
		}
		return false
	}},
}
