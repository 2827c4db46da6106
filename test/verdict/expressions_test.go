package judge

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/lint"
	"example.dev/ingestor/xrd/structural"
)

// tables are the tests of the API server whose tables are replayed, with a function that
// makes the cases of a row.
var tables = map[string]func(row) []tableCase{
	"TestValidationExpressions":               ruleCases,
	"TestCELMaxRecursionDepth":                ruleCases,
	"TestValidationExpressionsAtSchemaLevels": levelCases,
	"TestOptionalOldSelf":                     func(r row) []tableCase { return optional(levelCases(r)) },
	"TestOptionalOldSelfCheckForNull":         nullCases,
	"TestOptionalOldSelfIsOptionalType":       typeCases,
	"TestMessageExpression":                   messageCases,
	"TestReasonAndFldPath":                    reasonCases,
	"TestRatcheting":                          ratchetCases,
	"TestCELValidationContextCancellation":    cancelCases,
}

// otherTests are the other tests in the same file, with the reason why they have nothing to
// replay.
var otherTests = map[string]string{
	"TestCELValidationLimit": "its budgets are not the ones of a server, and no object with its rule exceeds those",
	"TestValidateFieldPath":  "it has paths and schemas, but no objects; those with a rule are in TestReasonAndFldPath",
}

// unreplayed are cases or rows that differ, with the reason: they are about what no object
// of an XRD can have.
var unreplayed = map[string]string{
	"TestMessageExpression/limit exceeded":                                                           overBudget,
	"TestMessageExpression/per-call limit exceeded during messageExpression execution":               overBudget,
	"TestRatcheting/cost budget errors are not ratcheted":                                            overBudget,
	"TestRatcheting/typemeta fields are not ratcheted":                                               "Crossplane writes the schemas of apiVersion and kind of a composite: they have no rules",
	"TestValidationExpressions/invalid data":                                                         unfit,
	"TestValidationExpressionsAtSchemaLevels/oneOf rule ignored":                                     unfit,
	"TestValidationExpressionsAtSchemaLevels/not rule ignored":                                       unfit,
	"TestValidationExpressions/embedded object with usage of reserved keywords":                      "the object has a namespace that no server accepts",
	"TestValidationExpressionsAtSchemaLevels/allOf rule":                                             nested,
	"TestValidationExpressionsAtSchemaLevels/allOf.items":                                            nested,
	"TestValidationExpressionsAtSchemaLevels/allOf.additionalProperties":                             nested,
	"TestValidationExpressionsAtSchemaLevels/allOf.properties":                                       nested,
	"TestValidationExpressionsAtSchemaLevels/allOf.items.allOf":                                      nested,
	"TestValidationExpressionsAtSchemaLevels/properties.allOf.additionalProperties.allOf.properties": nested,
}

// Reasons why cases cannot be replayed.
const (
	overBudget = "the budget of the case is smaller than a server's"
	unfit      = "the object does not fit its schema, which a server checks before the rules"
	nested     = "an API server refuses a CustomResourceDefinition with rules inside allOf"
)

// tableCase is a case of a table: an object with a schema, and what the API server says.
type tableCase struct {
	row, name   string
	schema      map[string]any
	object, old any
	// root reports whether the schema is one of a whole resource.
	root bool
	// updated reports whether there is an old value, which may be nil.
	updated   bool
	cancelled bool
	want      expectation
}

// expectation is what a table expects.
type expectation struct {
	// parts are texts in the errors. Each error must have another one; or, if any is true, the
	// only one.
	parts []string
	any   bool
	// typed are the types and fields of the errors, nil if they are not expected.
	typed []string
}

// TestExpressions replays the cases of the API server's own tests of validation rules on
// objects of an XRD. Our verdict must be the one that the tables expect.
func TestExpressions(t *testing.T) {
	rows, all := readTables(t, slices.Sorted(maps.Keys(tables)))
	for _, name := range all {
		if tables[name] == nil && otherTests[name] == "" {
			t.Errorf("the table of %s is not replayed", name)
		}
	}
	var cases []tableCase
	count := map[string]int{}
	for _, r := range rows {
		made := tables[r.Test](r)
		count[r.Test] += len(made)
		cases = append(cases, made...)
	}
	left := map[string]int{}
	for i := range cases {
		c := &cases[i]
		of := c.row
		if unreplayed[c.name] != "" {
			of = c.name
		}
		wrong := c.replay(t.Context(), t)
		switch reason := unreplayed[of]; {
		case wrong != "" && reason == "":
			t.Errorf("%s\n%s", c.name, wrong)
		case wrong == "" && reason != "":
			t.Errorf("%s can be replayed, although: %s", c.name, reason)
		case reason != "":
			left[of]++
		}
	}
	notReplayed := 0
	for name := range unreplayed {
		if notReplayed += left[name]; left[name] == 0 {
			t.Errorf("there is no case %q", name)
		}
	}
	replayed := len(cases) - notReplayed
	t.Logf("%d cases of %d rows, %d of them replayed: %v", len(cases), len(rows), replayed, count)
	if replayed < 860 {
		t.Errorf("only %d cases were replayed", replayed)
	}
}

// replay judges a case as objects of an XRD, whose spec.value has the schema. It returns
// what differs.
func (c *tableCase) replay(ctx context.Context, t *testing.T) string {
	t.Helper()
	d := c.definition(t)
	kind, err := structural.NewKind(d, "v1", false)
	if err != nil {
		return err.Error()
	}
	object := func(value any) map[string]any {
		return runtime.DeepCopyJSON(map[string]any{
			"apiVersion": kind.APIVersion, "kind": kind.Name, "metadata": map[string]any{"name": "one", "namespace": "default"},
			"spec": map[string]any{"value": value},
		})
	}
	var old map[string]any
	if c.updated {
		old = object(c.old)
	}
	if c.cancelled {
		cancelled, cancel := context.WithCancel(ctx)
		cancel()
		ctx = cancelled
	}
	v := kind.Validate(ctx, object(c.object), old)
	var got []string
	for _, p := range v.Problems {
		got = append(got, p.String())
	}
	if v.RulesSkipped {
		return fmt.Sprintf("its rules are not evaluated: %q", got)
	}
	if wrong := c.want.compare(got); wrong != "" {
		return wrong
	}
	// What fails because it does not compile has an error in the definition.
	fails := func(s string) bool {
		return strings.Contains(s, "compilation failed") || strings.Contains(s, "must evaluate to a")
	}
	faults := structural.Checker{}.Check(d, d.Versions[0])
	// The message of a rule whose expression for it does not compile is another one.
	wrong := slices.ContainsFunc(faults, func(f lint.SchemaFault) bool { return fails(f.Message) && slices.Contains(f.Path, "rule") })
	if wrong != slices.ContainsFunc(got, fails) {
		return fmt.Sprintf("the errors of the definition do not fit: %v\n of the object: %q", faults, got)
	}
	return ""
}

// definition returns an XRD whose spec.value has the schema.
func (c *tableCase) definition(t *testing.T) *xrd.Definition {
	t.Helper()
	s := c.schema
	if c.root {
		s = runtime.DeepCopyJSON(s)
		s["x-kubernetes-embedded-resource"] = true
	}
	return parseDefinition(t, map[string]any{
		"apiVersion": "apiextensions.crossplane.io/v2", "kind": "CompositeResourceDefinition",
		"metadata": map[string]any{"name": "cases.example.org"},
		"spec": map[string]any{
			"group": "example.org", "scope": "Namespaced", "names": map[string]any{"kind": "Case", "plural": "cases"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "referenceable": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "properties": map[string]any{
					"spec": map[string]any{"type": "object", "properties": map[string]any{"value": s}},
				}}},
			}},
		},
	})
}

// compare returns what differs.
func (e *expectation) compare(got []string) string {
	differ := func() string { return fmt.Sprintf(" expected: %q %q\n got:      %q", e.parts, e.typed, got) }
	if e.typed != nil {
		slices.Sort(e.typed)
		var typed []string
		for _, g := range got {
			parts := strings.SplitN(g, ": ", 3)
			typed = append(typed, strings.Join(parts[:2], ": "))
		}
		if slices.Sort(typed); !slices.Equal(typed, e.typed) {
			return differ()
		}
		return ""
	}
	if e.any {
		if len(got) == 0 || slices.ContainsFunc(got, func(g string) bool { return !strings.Contains(g, e.parts[0]) }) {
			return differ()
		}
		return ""
	}
	rest := slices.Clone(e.parts)
	for _, g := range got {
		i := slices.IndexFunc(rest, func(part string) bool { return strings.Contains(g, part) })
		if i < 0 {
			return differ()
		}
		rest = slices.Delete(rest, i, i+1)
	}
	if len(rest) > 0 {
		return differ()
	}
	return ""
}

// upstreamRoot is how the tables spell the place of the value.
var upstreamRoot = regexp.MustCompile(`^root\b`)

func places(texts []string) (all []string) {
	for _, s := range texts {
		all = append(all, upstreamRoot.ReplaceAllString(s, "spec.value"))
	}
	return all
}

func textsOf(v any) (all []string) {
	list, _ := v.([]any)
	for _, s := range list {
		all = append(all, s.(string))
	}
	return all
}

// withRule returns a schema with a rule.
func withRule(schema any, fields map[string]any) map[string]any {
	s := runtime.DeepCopyJSON(schema.(map[string]any))
	s["x-kubernetes-validations"] = []any{fields}
	return s
}

func nameOf(r row) string { return fmt.Sprintf("%s/%v", r.Test, r.Fields["name"]) }

// short returns the beginning of a rule.
func short(rule string) string {
	if len(rule) > 127 {
		return rule[:127]
	}
	return rule
}

// ruleCases are a schema with different rules, valid or not.
func ruleCases(r row) (all []tableCase) {
	base := tableCase{row: nameOf(r), object: r.Fields["obj"], old: r.Fields["oldObj"], updated: r.Fields["oldObj"] != nil}
	root, _ := r.Fields["isRoot"].(bool)
	for _, rule := range textsOf(r.Fields["valid"]) {
		c := base
		c.name, c.schema, c.root = nameOf(r)+": "+short(rule), withRule(r.Fields["schema"], map[string]any{"rule": rule}), root
		all = append(all, c)
	}
	errors, _ := r.Fields["errors"].(map[string]any)
	for _, rule := range slices.Sorted(maps.Keys(errors)) {
		c := base
		c.name, c.schema, c.root = nameOf(r)+": "+short(rule), withRule(r.Fields["schema"], map[string]any{"rule": rule}), root
		c.want = expectation{parts: []string{errors[rule].(string)}, any: true}
		all = append(all, c)
	}
	return all
}

// levelCases are a schema with rules in it.
func levelCases(r row) []tableCase {
	return []tableCase{{
		row: nameOf(r), name: nameOf(r), schema: r.Fields["schema"].(map[string]any), object: r.Fields["obj"], old: r.Fields["oldObj"], updated: r.Fields["oldObj"] != nil,
		want: expectation{parts: places(textsOf(r.Fields["errors"]))},
	}}
}

// optional makes oldSelf of the outermost rules optional.
func optional(all []tableCase) []tableCase {
	for i := range all {
		all[i].schema = runtime.DeepCopyJSON(all[i].schema)
		rules, _ := all[i].schema["x-kubernetes-validations"].([]any)
		for _, r := range rules {
			r.(map[string]any)["optionalOldSelf"] = true
		}
	}
	return all
}

// nullCases are valid with and without an old value.
func nullCases(r row) []tableCase {
	with := optional(levelCases(r))[0]
	without := with
	without.name, without.old, without.updated = with.name+", no old value", nil, false
	return []tableCase{with, without}
}

// typeCases are updates to the same value.
func typeCases(r row) []tableCase {
	c := optional(levelCases(r))[0]
	c.old, c.updated = c.object, true
	return []tableCase{c}
}

// messageCases are rules that fail, with an expression for the message.
func messageCases(r row) []tableCase {
	fields := map[string]any{"rule": "false", "messageExpression": r.Fields["messageExpression"]}
	if m := r.Fields["message"]; m != "" {
		fields["message"] = m
	}
	schema := map[string]any{"type": "object", "properties": map[string]any{"str": map[string]any{"type": "string"}}}
	part, _ := r.Fields["expectedValidationErr"].(string)
	return []tableCase{{
		row: nameOf(r), name: nameOf(r), schema: withRule(schema, fields), object: map[string]any{"str": "a string"}, want: expectation{parts: []string{part}},
	}}
}

// reasonCases expect types and places of errors.
func reasonCases(r row) []tableCase {
	c := levelCases(row{Test: r.Test, Fields: map[string]any{"name": r.Fields["name"], "schema": r.Fields["schema"], "obj": r.Fields["obj"]}})[0]
	list, _ := r.Fields["errors"].([]any)
	c.want.typed = []string{}
	for _, e := range list {
		e := e.(map[string]any)
		of := field.ErrorType(e["type"].(string))
		c.want.typed = append(c.want.typed, places([]string{e["field"].(string)})[0]+": "+of.String())
	}
	return []tableCase{c}
}

// ratchetCases are updates.
func ratchetCases(r row) []tableCase {
	return []tableCase{{
		row: nameOf(r), name: nameOf(r), schema: r.Fields["schema"].(map[string]any), object: r.Fields["newObj"], old: r.Fields["oldObj"], updated: true,
		want: expectation{parts: places(textsOf(r.Fields["errors"]))},
	}}
}

// cancelCases are valid, unless the request is cancelled.
func cancelCases(r row) []tableCase {
	valid := tableCase{row: nameOf(r), name: nameOf(r), schema: withRule(r.Fields["schema"], map[string]any{"rule": r.Fields["rule"]}), object: r.Fields["obj"]}
	cancelled := valid
	cancelled.name, cancelled.cancelled = valid.name+", cancelled", true
	cancelled.want = expectation{parts: []string{"operation interrupted"}}
	return []tableCase{valid, cancelled}
}
