package scaffolder_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"example.dev/ingestor/document/tree"
)

// definitions are used in addition to the examples. One has every kind of field
// that can have an invalid value.
const definitions = `
apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata:
  name: things.test.example.org
  labels: {openportal.dev/ingest: "true"}
spec:
  scope: Namespaced
  group: test.example.org
  names: {kind: Thing, plural: things}
  versions:
    - name: v1
      served: true
      referenceable: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              required: [size]
              oneOf:
                - required: [left]
                - required: [right]
              x-kubernetes-validations:
                - rule: "!has(self.count) || !has(self.most) || self.count <= self.most"
                  message: There are more than the most.
              properties:
                left: {type: string}
                right: {type: string}
                size: {type: string, title: Size of it, enum: [small, large, ""]}
                level: {type: integer, enum: [1, 2]}
                count: {type: integer, minimum: 0, maximum: 10, multipleOf: 2}
                most: {type: integer}
                ratio: {type: number, minimum: 0, exclusiveMinimum: true, maximum: 1}
                port: {x-kubernetes-int-or-string: true}
                host: {type: string, pattern: '^[a-z]+$', minLength: 2, maxLength: 5}
                mail: {type: string, format: email}
                enabled: {type: boolean}
                note: {type: string, nullable: true}
                tags: {type: array, minItems: 1, maxItems: 2, x-kubernetes-list-type: set, items: {type: string}}
                groups: {type: array, x-kubernetes-list-type: set, items: {type: string}}
                rules: {type: array, items: {type: object, required: [name], properties: {name: {type: string}, weight: {type: number}}}}
                pairs: {type: array, items: {type: array, items: {type: integer}}}
                labels: {type: object, additionalProperties: {type: string}}
                limits: {type: object, additionalProperties: {type: object, required: [cpu], properties: {cpu: {type: integer}}}}
                lists: {type: object, additionalProperties: {type: array, items: {type: integer}}}
                nested: {type: object, required: [inner], properties: {inner: {type: object, required: [leaf], properties: {leaf: {type: integer}}}}}
                free: {type: object, x-kubernetes-preserve-unknown-fields: true}
                fixed:
                  type: string
                  title: What stays
                  x-kubernetes-validations: [{rule: self == oldSelf, message: It stays as it is.}]
`

// thingValues are valid for the form.
const thingValues = "{name: one, namespace: default, size: small, left: a, delivery: apply}"

// TestInvalidValues checks every kind of invalid value: the error names the
// field, and no task is created.
func TestInvalidValues(t *testing.T) {
	_, c := enter(t)
	c.form("things.test.example.org", "")
	cases := map[string]struct {
		reason string
		values string
		// without is a field to leave out.
		without string
		// property and name are the path of the invalid field, and the rule it
		// violates.
		property, name string
	}{
		"no name":               {"The name is required.", "{}", "name", "instance", "required"},
		"bad name":              {"The name must be a DNS label.", "{name: Upper_Case}", "", "instance.name", "pattern"},
		"long name":             {"The name has at most 63 characters.", "{name: " + strings.Repeat("a", 64) + "}", "", "instance.name", "maxLength"},
		"no namespace":          {"The namespace is required.", "{}", "namespace", "instance", "required"},
		"no delivery":           {"The way of delivery is required.", "{}", "delivery", "instance", "required"},
		"bad delivery":          {"An unknown way of delivery is invalid.", "{delivery: pigeon}", "", "instance.delivery", "enum"},
		"half a repository":     {"A change request needs a repository.", "{delivery: change-request, gitHost: a, gitPath: b, gitBranch: c}", "", "instance.delivery", "oneOf"},
		"required":              {"A required field of spec must be set.", "{}", "size", "instance", "required"},
		"enum of strings":       {"A value outside of an enum is invalid.", "{size: huge}", "", "instance.size", "enum"},
		"enum, null":            {"Null is not a value of an enum.", "{size: null}", "", "instance.size", "type"},
		"enum of numbers":       {"A string is not a value of an enum of numbers.", `{level: "1"}`, "", "instance.level", "type"},
		"minimum":               {"A number below the minimum is invalid.", "{count: -2}", "", "instance.count", "minimum"},
		"maximum":               {"A number above the maximum is invalid.", "{count: 12}", "", "instance.count", "maximum"},
		"multiple":              {"A number that is not a multiple is invalid.", "{count: 3}", "", "instance.count", "multipleOf"},
		"integer":               {"A fraction is not an integer.", "{count: 2.5}", "", "instance.count", "type"},
		"exclusive":             {"The exclusive minimum itself is invalid.", "{ratio: 0}", "", "instance.ratio", "exclusiveMinimum"},
		"int or string":         {"A list is neither an integer nor a string.", "{port: [1]}", "", "instance.port", "anyOf"},
		"pattern":               {"A text that does not match the pattern is invalid.", "{host: ABC}", "", "instance.host", "pattern"},
		"too short":             {"A text below the minimum length is invalid.", "{host: a}", "", "instance.host", "minLength"},
		"too long":              {"A text above the maximum length is invalid.", "{host: abcdef}", "", "instance.host", "maxLength"},
		"format":                {"A text that does not match the format is invalid.", "{mail: no-address}", "", "instance.mail", "format"},
		"boolean":               {"A string is not a boolean.", "{enabled: 'yes'}", "", "instance.enabled", "type"},
		"nullable":              {"A nullable string may be null but not a number.", "{note: 1}", "", "instance.note", "type"},
		"too few":               {"A list with too few items is invalid.", "{tags: []}", "", "instance.tags", "minItems"},
		"too many":              {"A list with too many items is invalid.", "{tags: [a, b, c]}", "", "instance.tags", "maxItems"},
		"twice":                 {"A set must not have duplicates.", "{tags: [a, a]}", "", "instance.tags", "uniqueItems"},
		"item":                  {"An invalid item is reported with its index.", "{tags: [1]}", "", "instance.tags[0]", "type"},
		"required in an item":   {"A required field that is missing in an item is reported with the index.", "{rules: [{name: a}, {weight: 1}]}", "", "instance.rules[1]", "required"},
		"type in an item":       {"An invalid field of an item is reported with its path.", "{rules: [{name: a, weight: heavy}]}", "", "instance.rules[0].weight", "type"},
		"hole":                  {"Null is not a valid item.", "{rules: [null]}", "", "instance.rules[0]", "type"},
		"list of lists":         {"An invalid item in nested lists is reported with its path.", "{pairs: [[1, 2], [3, x]]}", "", "instance.pairs[1][1]", "type"},
		"map":                   {"An invalid value of a map is reported with its key.", "{labels: {a: 1}}", "", "instance.labels.a", "type"},
		"map of objects":        {"A required field that is missing in a value of a map is reported with its key.", "{limits: {web: {}}}", "", "instance.limits.web", "required"},
		"map of lists":          {"An invalid item of a list in a map is reported with its path.", "{lists: {a: [1, x]}}", "", "instance.lists.a[1]", "type"},
		"required deep":         {"A required field that is missing in a nested object is reported with its path.", "{nested: {inner: {}}}", "", "instance.nested.inner", "required"},
		"type deep":             {"An invalid field of a nested object is reported with its path.", "{nested: {inner: {leaf: x}}}", "", "instance.nested.inner.leaf", "type"},
		"text for YAML":         {"YAML as text is not an object.", "{free: 'a: 1'}", "", "instance.free", "type"},
		"none of a choice":      {"One of two alternatives is required.", "{}", "left", "instance", "oneOf"},
		"an object for a field": {"An object is not a string.", "{size: {a: b}}", "", "instance.size", "type"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := c.in(t)
			values := override(t, parse(t, thingValues), tc.values)
			if tc.without != "" {
				values.Delete(tc.without)
			}
			n := c.want(http.StatusBadRequest, http.MethodPost, api+"/tasks", order(t, "things.test.example.org", values, nil))
			var all []string
			for _, e := range n.Get("errors").List() {
				all = append(all, e.Get("property").Str()+" "+e.Get("name").Str())
				if !strings.HasPrefix(e.Get("stack").Str(), e.Get("property").Str()+" "+e.Get("message").Str()) {
					t.Errorf("%s: stack of the error does not begin with property and message: %s", tc.reason, tree.AppendJSON(nil, e, ""))
				}
			}
			if !slices.Contains(all, tc.property+" "+tc.name) {
				t.Errorf("%s: want an error %s %s, got %v", tc.reason, tc.property, tc.name, all)
			}
		})
	}
}

// TestRefusedByTheCluster checks values that only the cluster can validate: the
// task fails before it creates anything, and the error names the field as the
// form does.
func TestRefusedByTheCluster(t *testing.T) {
	w, c := enter(t)
	ns := w.namespace(t, "refused")
	c.form("things.test.example.org", "")
	cases := map[string]struct {
		reason, values string
		want           []string
	}{
		"rule":    {"A validation rule over several fields is enforced.", "{count: 10, most: 2}", []string{"There are more than the most."}},
		"both":    {"Only one of two alternatives may be set.", "{right: b}", []string{"left", "right"}},
		"nowhere": {"A missing namespace is an error.", "{namespace: nowhere}", []string{`"nowhere"`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := c.in(t)
			values := override(t, override(t, parse(t, thingValues), "{name: "+name+", namespace: "+ns+"}"), tc.values)
			status, answer := c.send(http.MethodPost, api+"/tasks", order(t, "things.test.example.org", values, nil))
			if status == http.StatusBadRequest {
				for _, s := range tc.want {
					if !strings.Contains(string(answer), s) {
						t.Errorf("%s: error does not contain %q: %s", tc.reason, s, answer)
					}
				}
				return
			}
			c.fails("things.test.example.org", values, tc.want...)
			if w.find(t, things+ns+"/things/"+name) != nil {
				t.Errorf("%s: object was created", tc.reason)
			}
		})
	}
}

const things = "/apis/test.example.org/v1/namespaces/"

// TestImmutable checks that an immutable field cannot be changed, and that a
// set can be emptied.
func TestImmutable(t *testing.T) {
	w, c := enter(t)
	ns := w.namespace(t, "immutable")
	c.form("things.test.example.org-update", "")
	c.completes("things.test.example.org", override(t, parse(t, thingValues), "{namespace: "+ns+", fixed: a, groups: [a, b]}"))
	live := c.form("things.test.example.org-update", "?name=one&namespace="+ns)
	if field := live.Get("steps").List()[1].Get("schema", "properties", "fixed"); !field.Get("ui:readonly").IsTrue() || field.Get("default").Str() != "a" {
		t.Errorf("form allows changing an immutable field: %s", tree.AppendJSON(nil, field, ""))
	}
	values := override(t, live.Get("values"), "{delivery: apply}")
	c.fails("things.test.example.org-update", override(t, values, "{fixed: b}"), "It stays as it is.", "What stays")
	c.completes("things.test.example.org-update", override(t, values, "{note: changed, groups: []}"))
	if n := w.find(t, things+ns+"/things/one"); n.Get("spec", "fixed").Str() != "a" || n.Get("spec", "note").Str() != "changed" || n.Get("spec", "groups").Len() > 0 {
		t.Errorf("object is %s", tree.AppendJSON(nil, n, ""))
	}
}
