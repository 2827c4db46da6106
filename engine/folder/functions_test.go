package folder_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine/folder"
	"example.dev/ingestor/template/builtin"
	"example.dev/ingestor/template/eta"
)

const sample = `
apiVersion: apiextensions.crossplane.io/v1
kind: CompositeResourceDefinition
metadata:
  name: xdatabases.example.org
  annotations: {backstage.io/template-title: 'A "database": yes'}
spec:
  group: example.org
  names: {kind: XDatabase, plural: xdatabases}
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
            required: [storageGB]
            properties:
              storageGB: {type: integer, minimum: 1, maximum: 64, default: 8, description: ' How much. '}
              region: {title: Where, type: string, enum: [a, b], pattern: '^[ab]$'}
              tags: {additionalProperties: {type: string}}
              compositionRef: {type: object}
  - name: v2
    schema: {openAPIV3Schema: {properties: {spec: {properties: {only: {type: boolean}}}}}}
`

// render renders a text as the portal file.
func render(t *testing.T, text string) (string, error) {
	t.Helper()
	f, err := folder.Open(builtin.Files(), files("portal/default.eta", text))
	if err != nil {
		t.Fatal(err)
	}
	return f.Text(context.Background(), f.Fallback(), folder.Context{
		Definition: define(t, sample),
		Facts:      tree.Obj(tree.F("owner", tree.Str("me"))),
		Functions:  map[string]eta.Func{"fail": func([]any) (any, error) { return nil, errors.New("fail: as asked") }},
	})
}

func TestFunctions(t *testing.T) {
	cases := map[string]struct {
		reason, text string
		want, err    string
	}{
		"Slug":           {"slugify converts any text to a name.", "<%= helpers.slugify(' My  DATABASES.example_org! ') %>", "my-databases-example-org", ""},
		"SlugLong":       {"slugify limits the length to that of a name.", "<%= helpers.slugify('x'.repeat(80)).length %>", "63", ""},
		"SlugNothing":    {"slugify needs at least one letter or digit.", "<%= helpers.slugify('!?') %>", "", "has no letters or digits"},
		"SlugMissing":    {"slugify needs an argument.", "<%= helpers.slugify() %>", "", "slugify: argument must be a string"},
		"Title":          {"extractTitle returns the title of the definition.", "<%= helpers.extractTitle(xrd) %>", `A "database": yes`, ""},
		"TitleHere":      {"Without an argument, extractTitle uses the current definition.", "<%= helpers.extractTitle() %>", `A "database": yes`, ""},
		"TitleOther":     {"extractTitle accepts another definition.", "<%= helpers.extractTitle({ spec: { names: { kind: 'Other' } } }) %>", "Other", ""},
		"TitleBad":       {"extractTitle refuses other values.", "<%= helpers.extractTitle('x') %>", "", "extractTitle: argument must be a definition"},
		"Properties":     {"extractProperties leaves out the fields of Crossplane.", "<%= helpers.toJson(helpers.extractProperties(xrd)) %>", `[{"name":"storageGB","title":"Storage GB","type":"integer","description":"How much.","required":true},{"name":"region","title":"Where","type":"string","required":false},{"name":"tags","title":"Tags","type":"object","required":false}]`, ""},
		"PropertiesOf":   {"extractProperties accepts a version.", "<%= helpers.extractProperties(xrd, 'v2').map(p => p.name) %>", "only", ""},
		"PropertiesNone": {"extractProperties refuses an unknown version.", "<%= helpers.extractProperties(xrd, 'v3') %>", "", `no version "v3"; it has v1, v2`},
		"Validation":     {"generateValidation returns the constraints of each field.", "<%= helpers.toJson(helpers.generateValidation(xrd)) %>", `{"storageGB":{"type":"integer","required":true,"minimum":1,"maximum":64,"default":8},"region":{"type":"string","required":false,"pattern":"^[ab]$","enum":["a","b"]},"tags":{"type":"object","required":false}}`, ""},
		"Quote":          {"quote returns one line for any text.", `<%= helpers.quote('a "b"\n: c\u2028') %>`, `"a \"b\"\n: c\u2028"`, ""},
		"QuoteNumber":    {"quote converts numbers and booleans to text.", "<%= helpers.quote(12) %> <%= helpers.quote(1.5) %> <%= helpers.quote(true) %>", `"12" "1.5" "true"`, ""},
		"QuoteNothing":   {"quote refuses undefined.", "<%= helpers.quote(metadata.nothing) %>", "", "quote: argument must be a string"},
		"QuoteObject":    {"quote refuses an object.", "<%= helpers.quote({}) %>", "", "quote: argument must be a string"},
		"Json":           {"toJson writes one line by default.", "<%= helpers.toJson({ a: [1, 'x', null, true], b: {} }) %>", `{"a":[1,"x",null,true],"b":{}}`, ""},
		"JsonIndent":     {"toJson writes several lines with an indent.", "<%= helpers.toJson({ a: [1] }, 2) %>", "{\n  \"a\": [\n    1\n  ]\n}", ""},
		"JsonNull":       {"toJson writes undefined as null.", "<%= helpers.toJson(undefined) %>", "null", ""},
		"JsonWrong":      {"toJson refuses an invalid indent.", "<%= helpers.toJson({}, 'x') %>", "", "toJson: arguments must be a value and a number of spaces"},
		"JsonMissing":    {"toJson needs an argument.", "<%= helpers.toJson() %>", "", "toJson: argument is missing"},
		"Yaml":           {"toYaml writes a block.", "<%= helpers.toYaml({ a: ['x: y', 'yes'], b: 'l1\\nl2\\n' }) %>", "a:\n  - \"x: y\"\n  - \"yes\"\nb: |\n  l1\n  l2", ""},
		"YamlIndent":     {"toYaml indents every line.", "a:\n<%= helpers.toYaml({ b: [1] }, 4) %>", "a:\n    b:\n      - 1", ""},
		"YamlText":       {"toYaml writes text on one line.", "a: <%= helpers.toYaml('x\\ny') %>", `a: "x\ny"`, ""},
		"YamlEmpty":      {"toYaml writes an empty list in flow style.", "a: <%= helpers.toYaml([]) %>", "a: []", ""},
		"Indent":         {"indent indents every line that is not empty.", "<%= helpers.indent('a\\n\\nb\\n', 2) %>", "  a\n\n  b", ""},
		"IndentRest":     {"indent can leave out the first line.", "<%= helpers.indent('a\\nb', 2, false) %>", "a\n  b", ""},
		"IndentWrong":    {"indent needs a number of spaces.", "<%= helpers.indent('a') %>", "", "indent: arguments must be a string and a number of spaces"},
		"IndentFar":      {"indent limits the number of spaces.", "<%= helpers.indent('a', 1000) %>", "", "from 0 to 64"},
		"IndentHow":      {"The third argument of indent must be a boolean.", "<%= helpers.indent('a', 1, 'x') %>", "", "must be true or false"},
		"Asked":          {"asked returns the fields of pages in YAML.", "<%= helpers.asked('- {properties: {a: {}, b: {}}, dependencies: {a: {oneOf: [{properties: {a: {}, c: {}}}]}}}\\n- properties: {d: {}}') %>", "a,b,c,d", ""},
		"AskedPages":     {"asked accepts pages as values.", "<%= helpers.asked([{ properties: { x: {} } }]) %>", "x", ""},
		"AskedNothing":   {"asked accepts empty text.", "<%= helpers.asked('').length %>", "0", ""},
		"AskedWrong":     {"asked refuses values other than lists.", "<%= helpers.asked('a: 1') %>", "", "asked: argument must be a list of pages"},
		"Cyclic":         {"A cyclic value is refused.", "<% const a = {}; a.a = a %><%= helpers.toJson(a) %>", "", "contains itself"},
		"Own":            {"Functions of the caller are available.", "<%= helpers.fail() %>", "", "fail: as asked"},
		"It":             {"All variables are fields of it.", "<%= it.xrd.kind %> <%= it.metadata.owner %> <%= typeof it.helpers.quote %>", "CompositeResourceDefinition me function", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := render(t, tc.text)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) || !strings.HasPrefix(err.Error(), "portal/default.eta:1:") {
					t.Errorf("%s\nerror %v, want %q", tc.reason, err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s\n%v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, strings.TrimSuffix(got, "\n")); diff != "" {
				t.Errorf("%s\n-want +got\n%s", tc.reason, diff)
			}
		})
	}
}

// TestIsolation renders twice: changes of the first rendering are not visible
// in the second.
func TestIsolation(t *testing.T) {
	f, err := folder.Open(builtin.Files(), files("portal/default.eta", "<% metadata.owner += '!'; xrd.kind = 'x'; helpers.quote = null %><%= metadata.owner %>"))
	if err != nil {
		t.Fatal(err)
	}
	d := define(t, sample)
	in := folder.Context{Definition: d, Facts: tree.Obj(tree.F("owner", tree.Str("me")))}
	for range 2 {
		if got, err := f.Text(context.Background(), f.Fallback(), in); got != "me!" || err != nil {
			t.Errorf("%q, error %v", got, err)
		}
	}
	if d.Node.Get("kind").Str() != "CompositeResourceDefinition" {
		t.Error("definition was changed")
	}
}

// TestCheck checks that all errors are reported at once.
func TestCheck(t *testing.T) {
	f, err := folder.Open(builtin.Files(), files("portal/bad.eta", "a\n<% } %>", "parts/bad.eta", "<%= ( %>", "parts/good.eta", "x"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range f.Check() {
		got = append(got, x.Finding.Rule+" "+x.Finding.Where())
	}
	if diff := cmp.Diff([]string{"TPL003 parts/bad.eta:1:5", "TPL003 portal/bad.eta:2:4"}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
