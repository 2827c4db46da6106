package scaffolder_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"example.dev/ingestor/document/tree"
)

// definitions are those the tests need beside the examples: one with every kind
// of field that a form can be filled wrongly in.
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

// thingValues fit the form.
const thingValues = "{name: one, namespace: default, size: small, left: a, delivery: apply}"

// TestInvalidValues fills the form wrongly in every way that it can be: the
// answer points at the field, and no task is made.
func TestInvalidValues(t *testing.T) {
	_, c := enter(t)
	c.form("things.test.example.org", "")
	cases := map[string]struct {
		reason string
		values string
		// without is a field that is left out.
		without string
		// property and name are where it is wrong, and what rule it breaks.
		property, name string
	}{
		"no name":               {"the name is required", "{}", "name", "instance", "required"},
		"bad name":              {"a name is a DNS label", "{name: Upper_Case}", "", "instance.name", "pattern"},
		"long name":             {"a name has 63 characters", "{name: " + strings.Repeat("a", 64) + "}", "", "instance.name", "maxLength"},
		"no namespace":          {"it lives in a namespace", "{}", "namespace", "instance", "required"},
		"no delivery":           {"there is a choice", "{}", "delivery", "instance", "required"},
		"bad delivery":          {"there are two ways", "{delivery: pigeon}", "", "instance.delivery", "enum"},
		"half a repository":     {"a request needs a repository", "{delivery: change-request, gitHost: a, gitPath: b, gitBranch: c}", "", "instance.delivery", "oneOf"},
		"required":              {"a field of spec is required", "{}", "size", "instance", "required"},
		"enum of strings":       {"exact values", "{size: huge}", "", "instance.size", "enum"},
		"enum, null":            {"null is none of them", "{size: null}", "", "instance.size", "type"},
		"enum of numbers":       {"exact types", `{level: "1"}`, "", "instance.level", "type"},
		"minimum":               {"zero is the least", "{count: -2}", "", "instance.count", "minimum"},
		"maximum":               {"ten is the most", "{count: 12}", "", "instance.count", "maximum"},
		"multiple":              {"even ones", "{count: 3}", "", "instance.count", "multipleOf"},
		"integer":               {"no fractions", "{count: 2.5}", "", "instance.count", "type"},
		"exclusive":             {"more than zero", "{ratio: 0}", "", "instance.ratio", "exclusiveMinimum"},
		"int or string":         {"a list is neither", "{port: [1]}", "", "instance.port", "anyOf"},
		"pattern":               {"small letters", "{host: ABC}", "", "instance.host", "pattern"},
		"too short":             {"two letters at least", "{host: a}", "", "instance.host", "minLength"},
		"too long":              {"five letters at most", "{host: abcdef}", "", "instance.host", "maxLength"},
		"format":                {"an address", "{mail: nobody}", "", "instance.mail", "format"},
		"boolean":               {"yes is a text", "{enabled: 'yes'}", "", "instance.enabled", "type"},
		"nullable":              {"null will do, a number will not", "{note: 1}", "", "instance.note", "type"},
		"too few":               {"one at least", "{tags: []}", "", "instance.tags", "minItems"},
		"too many":              {"two at most", "{tags: [a, b, c]}", "", "instance.tags", "maxItems"},
		"twice":                 {"each once in a set", "{tags: [a, a]}", "", "instance.tags", "uniqueItems"},
		"item":                  {"in an item", "{tags: [1]}", "", "instance.tags[0]", "type"},
		"required in an item":   {"required in the second", "{rules: [{name: a}, {weight: 1}]}", "", "instance.rules[1]", "required"},
		"type in an item":       {"wrong in the first", "{rules: [{name: a, weight: heavy}]}", "", "instance.rules[0].weight", "type"},
		"hole":                  {"no holes in lists", "{rules: [null]}", "", "instance.rules[0]", "type"},
		"list of lists":         {"deep in lists", "{pairs: [[1, 2], [3, x]]}", "", "instance.pairs[1][1]", "type"},
		"map":                   {"a map of texts", "{labels: {a: 1}}", "", "instance.labels.a", "type"},
		"map of objects":        {"required in a map", "{limits: {web: {}}}", "", "instance.limits.web", "required"},
		"map of lists":          {"a list in a map", "{lists: {a: [1, x]}}", "", "instance.lists.a[1]", "type"},
		"required deep":         {"required at every level", "{nested: {inner: {}}}", "", "instance.nested.inner", "required"},
		"type deep":             {"wrong at every level", "{nested: {inner: {leaf: x}}}", "", "instance.nested.inner.leaf", "type"},
		"text for YAML":         {"the text area gives an object", "{free: 'a: 1'}", "", "instance.free", "type"},
		"none of a choice":      {"one of two is required", "{}", "left", "instance", "oneOf"},
		"an object for a field": {"a map is no text", "{size: {a: b}}", "", "instance.size", "type"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := c.in(t)
			values := over(t, parse(t, thingValues), tc.values)
			if tc.without != "" {
				values.Delete(tc.without)
			}
			n := c.want(http.StatusBadRequest, http.MethodPost, api+"/tasks", order(t, "things.test.example.org", values, nil))
			var all []string
			for _, e := range n.Get("errors").List() {
				all = append(all, e.Get("property").Str()+" "+e.Get("name").Str())
				if !strings.HasPrefix(e.Get("stack").Str(), e.Get("property").Str()+" "+e.Get("message").Str()) {
					t.Errorf("%s: the error is not told in one line: %s", tc.reason, tree.AppendJSON(nil, e, ""))
				}
			}
			if !slices.Contains(all, tc.property+" "+tc.name) {
				t.Errorf("%s: want %s %s, got %v", tc.reason, tc.property, tc.name, all)
			}
		})
	}
}

// TestRefusedByTheCluster fills the form with what only the cluster can know to
// be wrong: the task fails before anything is there, and names the field as the
// form does.
func TestRefusedByTheCluster(t *testing.T) {
	w, c := enter(t)
	ns := w.namespace(t, "refused")
	c.form("things.test.example.org", "")
	cases := map[string]struct {
		reason, values string
		want           []string
	}{
		"rule":    {"a rule over several fields", "{count: 10, most: 2}", []string{"There are more than the most."}},
		"both":    {"one of two, not both", "{right: b}", []string{"left", "right"}},
		"nowhere": {"a namespace that there is not", "{namespace: nowhere}", []string{`"nowhere"`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := c.in(t)
			values := over(t, over(t, parse(t, thingValues), "{name: "+name+", namespace: "+ns+"}"), tc.values)
			status, answer := c.send(http.MethodPost, api+"/tasks", order(t, "things.test.example.org", values, nil))
			if status == http.StatusBadRequest {
				for _, s := range tc.want {
					if !strings.Contains(string(answer), s) {
						t.Errorf("%s: it does not say %q: %s", tc.reason, s, answer)
					}
				}
				return
			}
			c.fails("things.test.example.org", values, tc.want...)
			if w.find(t, things+ns+"/things/"+name) != nil {
				t.Errorf("%s: it is there", tc.reason)
			}
		})
	}
}

const things = "/apis/test.example.org/v1/namespaces/"

// TestImmutable changes what cannot be changed, and empties a set.
func TestImmutable(t *testing.T) {
	w, c := enter(t)
	ns := w.namespace(t, "immutable")
	c.form("things.test.example.org-update", "")
	c.completes("things.test.example.org", over(t, parse(t, thingValues), "{namespace: "+ns+", fixed: a, groups: [a, b]}"))
	live := c.form("things.test.example.org-update", "?name=one&namespace="+ns)
	if field := live.Get("steps").List()[1].Get("schema", "properties", "fixed"); !field.Get("ui:readonly").IsTrue() || field.Get("default").Str() != "a" {
		t.Errorf("the form lets one change what stays: %s", tree.AppendJSON(nil, field, ""))
	}
	values := over(t, live.Get("values"), "{delivery: apply}")
	c.fails("things.test.example.org-update", over(t, values, "{fixed: b}"), "It stays as it is.", "What stays")
	c.completes("things.test.example.org-update", over(t, values, "{note: changed, groups: []}"))
	if n := w.find(t, things+ns+"/things/one"); n.Get("spec", "fixed").Str() != "a" || n.Get("spec", "note").Str() != "changed" || n.Get("spec", "groups").Len() > 0 {
		t.Errorf("it is %s", tree.AppendJSON(nil, n, ""))
	}
}
