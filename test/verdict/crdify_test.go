package judge

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/diff"
)

// crdifyRules are our rules for each rule of crdify.
var crdifyRules = map[string][]string{
	"default": {diff.RuleDefault, diff.RuleDefaultAdded, diff.RuleDefaultRemoved}, "description": {diff.RuleText},
	"enum": {diff.RuleEnumValue, diff.RuleEnumAdded, diff.RuleLoosened}, "required": {diff.RuleRequired, diff.RuleRequiredSet},
	"type": {diff.RuleType}, "existingFieldRemoval": {diff.RuleNoField}, "scope": {diff.RuleScope}, "storedVersionRemoval": {diff.RuleNoVersion},
	"maximum": {diff.RuleBounds}, "maxItems": {diff.RuleBounds}, "maxLength": {diff.RuleBounds}, "maxProperties": {diff.RuleBounds},
	"unhandled": {diff.RulePattern, diff.RuleValidation, diff.RuleBranches, diff.RuleListType, diff.RuleNull, diff.RuleOther, diff.RuleLoosened},
	"minimum":   {diff.RuleBounds}, "minItems": {diff.RuleBounds}, "minLength": {diff.RuleBounds}, "minProperties": {diff.RuleBounds},
}

// milder are the published cases, with the rule, that are errors for crdify and not for us,
// with the reason.
var milder = map[string]string{
	"defaultvaluechanged default":    "existing objects keep their value, and none is refused",
	"defaultvaluenetnew default":     "no object is refused",
	"defaultvalueremoved default":    "the field is optional, so no object is refused",
	"descriptionchanged description": "only people read it",
	"enumvalueadded enum":            "every object is still accepted",
	"requiredfieldadded required":    "the field has a default, which fills it in",
	"typechanged unhandled":          "the format is removed, which refuses nothing; the type is an error",
}

// verdicts are results of crdify.
type verdicts []struct {
	Name   string
	Errors []string
}

// TestCrdify compares our changes with crdify's results for its published cases.
func TestCrdify(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/crdify").Output()
	if err != nil {
		t.Fatalf("cannot find crdify: %v", err)
	}
	cases, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "test", "*", "expected.json"))
	if err != nil || len(cases) < 15 {
		t.Fatalf("crdify has %d cases: %v", len(cases), err)
	}
	for _, path := range cases {
		dir := filepath.Dir(path)
		name := filepath.Base(dir)
		t.Run(name, func(t *testing.T) {
			var want struct {
				CRDValidation         verdicts
				SameVersionValidation map[string]map[string]verdicts
			}
			if err := json.Unmarshal(readFile(t, path), &want); err != nil {
				t.Fatal(err)
			}
			changes, err := diff.Compare(t.Context(), fromCRD(t, filepath.Join(dir, "a.yaml")), fromCRD(t, filepath.Join(dir, "b.yaml")))
			if err != nil {
				t.Fatal(err)
			}
			errors := 0
			expect := func(rule, field string) {
				errors++
				i := slices.IndexFunc(changes, func(c diff.Change) bool {
					under := c.Field == field || rule == "required" && strings.HasPrefix(c.Field, field+".")
					return (field == "" || under) && slices.Contains(crdifyRules[rule], c.Rule)
				})
				switch {
				case i < 0:
					t.Errorf("crdify reports %s at %q; ours: %v", rule, field, diff.Findings(changes))
				case (changes[i].Severity == finding.Error) == (milder[name+" "+rule] != ""):
					t.Errorf("%s at %q is %s; milder because: %q", rule, field, changes[i].Severity, milder[name+" "+rule])
				}
			}
			for _, v := range want.CRDValidation {
				for range v.Errors {
					expect(v.Name, "")
				}
			}
			for _, fields := range want.SameVersionValidation {
				for field, all := range fields {
					for _, v := range all {
						if len(v.Errors) > 0 && !removedField(changes, field) {
							expect(v.Name, strings.TrimPrefix(strings.TrimPrefix(field, "^"), "."))
						}
					}
				}
			}
			if breaking := diff.Count(changes, finding.Error); errors == 0 && breaking > 0 {
				t.Errorf("crdify reports nothing; ours: %v", diff.Findings(changes))
			}
			t.Logf("crdify has %d errors, we have %d", errors, diff.Count(changes, finding.Error))
		})
	}
}

// removedField reports whether a field was removed: crdify then also reports what its
// schema had.
func removedField(changes []diff.Change, field string) bool {
	return slices.ContainsFunc(changes, func(c diff.Change) bool { return c.Rule == diff.RuleNoField && "^."+c.Field == field })
}

// fromCRD reads a CRD as a definition.
func fromCRD(t *testing.T, path string) *xrd.Definition {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	object := read(text)
	spec := object["spec"].(map[string]any)
	object["apiVersion"], object["kind"] = "apiextensions.crossplane.io/v2", "CompositeResourceDefinition"
	for _, v := range spec["versions"].([]any) {
		v := v.(map[string]any)
		v["referenceable"] = v["storage"]
	}
	return parseDefinition(t, object)
}

// parseDefinition parses a definition.
func parseDefinition(t *testing.T, object map[string]any) *xrd.Definition {
	t.Helper()
	raw, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	var set xrd.Set
	if err := set.Read(strings.NewReader(string(raw)), xrd.Origin{File: "definition"}); err != nil || len(set.Definitions) != 1 {
		t.Fatalf("cannot read the definition: %v %v", err, set.Findings)
	}
	return set.Definitions[0]
}
