package engine_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/engine/folder"
	"example.dev/ingestor/words"
)

// head is a Template without its spec.
const head = `apiVersion: scaffolder.portal.io/v1beta3
kind: Template
metadata:
  name: x
`

// good is a valid Template.
const good = head + `spec:
  type: service
  owner: me
  steps: [{id: a, name: a, action: debug:log}]
`

// TestTemplateWithUnsafeLinks checks that unsafe links are dropped and the
// entity is kept.
func TestTemplateWithUnsafeLinks(t *testing.T) {
	text := strings.Replace(good, "name: x\n", `name: x
  annotations: { portal.io/view-url: "data:text/html,x" }
  links:
  - { url: "https://example.com", title: Docs }
  - { url: " JavaScript:alert(1)", title: Run }
`, 1)
	tr := engine.New(engine.Concept, engine.Options{}, engine.Hooks{}).Templated(open(t, files("portal/default.eta", text)), engine.TemplateOptions{})
	res, err := tr.Transform(engine.Input{Definition: define(t, words.Portal)})
	if err != nil || len(res.Entities) != 1 {
		t.Fatalf("entity was dropped: %v, %v", res.Entities, err)
	}
	e := res.Entities[0]
	if links := e.Metadata.Links; len(links) != 1 || links[0].Title != "Docs" {
		t.Errorf("links are %v", links)
	}
	if view, ok := e.Metadata.Annotations[words.AnnotationViewURL]; ok {
		t.Errorf("annotation is %q", view)
	}
	want := []string{
		`ENT025 metadata.links[1].url portal/default.eta link " JavaScript:alert(1)" is dropped: not an absolute URL with scheme http, https or mailto (line 8 of the output: - { url: " JavaScript:alert(1)", title: Run })`,
		`ENT025 metadata.annotations["portal.io/view-url"] portal/default.eta annotation portal.io/view-url is dropped: "data:text/html,x" is not a URL with scheme http, https or mailto (line 5 of the output: annotations: { portal.io/view-url: "data:text/html,x" })`,
	}
	var got []string
	for _, f := range res.Findings {
		got = append(got, f.Rule+" "+f.Path+" "+f.File+" "+f.Message)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

// TestBadTemplates renders templates that cannot be used: each gives an error
// with its position, or a finding with the line of the output.
func TestBadTemplates(t *testing.T) {
	cases := map[string]struct {
		reason string
		files  []string
		err    string // position and message
		text   string // source that is shown
		found  string // rule, file, message of the first error
	}{
		"Syntax":     {"A syntax error is reported.", []string{"portal/default.eta", "a: 1\n<% if (x { %>\n"}, "portal/default.eta:2:", "<% if (x { %>", ""},
		"Unclosed":   {"An unclosed tag is reported.", []string{"portal/default.eta", "a\n b <%= 1\n"}, "portal/default.eta:2:", "", ""},
		"Throw":      {"A thrown error is reported.", []string{"portal/default.eta", "<% throw new Error('no such team') %>"}, "portal/default.eta:1:", "throw", ""},
		"Helper":     {"An error of a helper is reported.", []string{"portal/default.eta", "x: <%= helpers.indent(1) %>\n"}, "portal/default.eta:1:", "helpers.indent(1)", ""},
		"BadOption":  {"An unknown option of a helper is reported with the name of the helper.", []string{"wizard/default.eta", "<%= helpers.pages({ gitop: true }) %>\n"}, `wizard/default.eta:1:18: pages: unknown option "gitop"; use gitops or required`, "", ""},
		"Undefined":  {"An undefined value is reported.", []string{"portal/default.eta", "a: 1\nb: <%= metadata.nothing %>\n"}, "portal/default.eta:2:", "metadata.nothing", ""},
		"InWizard":   {"An error in an included file is reported.", []string{"wizard/default.eta", "\n<% null.x %>\n"}, "wizard/default.eta:2:", "null.x", ""},
		"Cycle":      {"An include cycle is reported.", []string{"portal/default.eta", "<%~ include('portal/default') %>"}, "include cycle", "include", ""},
		"Outside":    {"A path out of the folder is refused.", []string{"portal/default.eta", "<%~ include('../../etc/passwd') %>"}, "path is outside the template folder", "", ""},
		"NotThere":   {"A missing file is reported.", []string{"portal/default.eta", "<%~ include('portal/no') %>"}, "cannot find template", "", ""},
		"Output":     {"Endless output is stopped.", []string{"portal/default.eta", "<% while (true) { %>xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n<% } %>"}, "portal/default.eta:1:", "", ""},
		"NotYAML":    {"Output that is not YAML is reported.", []string{"portal/default.eta", good + "---\na: b: c\n"}, "", "", "TPL004 portal/default.eta the output is not YAML: mapping values are not allowed in this context (line 10 of the output: a: b: c)"},
		"NoEntity":   {"A document that is not an entity is reported.", []string{"portal/default.eta", good + "---\nhello: world\n"}, "", "", "TPL005 portal/default.eta cannot read entity: hello is not a field of an entity (line 10 of the output: hello: world)"},
		"List":       {"A list is not an entity.", []string{"portal/default.eta", "- a\n"}, "", "", "TPL005 portal/default.eta the output has a list instead of an entity (line 1 of the output: - a)"},
		"Text":       {"Plain text is reported.", []string{"portal/default.eta", "hello\n"}, "", "", "TPL005 portal/default.eta the output has text instead of an entity (line 1 of the output: hello)"},
		"Nothing":    {"Empty output is reported.", []string{"portal/default.eta", "<% /* nothing */ %>\n"}, "", "", "TPL005 portal/default.eta the output has no entities"},
		"Twice":      {"A duplicate key is reported.", []string{"portal/default.eta", good + "kind: API\n"}, "", "", `TPL004 portal/default.eta the output is invalid: key "kind" is given twice, first on line 2 (line 9 of the output: kind: API)`},
		"BadName":    {"An entity that the catalog refuses is reported.", []string{"portal/default.eta", strings.Replace(good, "name: x", "name: a b", 1)}, "", "", `ENT003 portal/default.eta name "a b" is not allowed (line 4 of the output: name: a b)`},
		"BadTag":     {"A tag that the catalog refuses is reported.", []string{"portal/default.eta", strings.Replace(good, "name: x", "name: x\n  tags:\n  - ok\n  - No", 1)}, "", "", `ENT008 portal/default.eta tag "No" is not allowed; the catalog rejects the whole entity for it (line 7 of the output: - No)`},
		"NoSpec":     {"An entity without a spec is reported.", []string{"portal/default.eta", head}, "", "", "ENT010 portal/default.eta"},
		"SameEntity": {"A duplicate entity is reported.", []string{"portal/default.eta", good + "---\n" + good}, "", "", "ENT021 portal/default.eta duplicate template:default/x, first on line 1 of the output (line 13 of the output: name: x)"},
		"SamePage":   {"A parameter on two pages is reported.", []string{"wizard/default.eta", "<%= helpers.pages() %>\n- {title: more, properties: {size: {type: string}}}\n"}, "", "", `TPL008 portal/default.eta pages 2 and 4 both have a field "size"`},
		"BadPages":   {"A wizard that is not YAML is reported.", []string{"wizard/default.eta", "- a: b: c\n"}, "asked: pages are not YAML: mapping values are not allowed in this context (line 1 of the pages: - a: b: c)", "", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tr := engine.New(engine.Concept, engine.Options{}, engine.Hooks{}).Templated(open(t, files(tc.files...)), engine.TemplateOptions{})
			res, err := tr.Transform(engine.Input{Definition: define(t, words.Portal)})
			if tc.err != "" {
				var e *folder.Error
				if !errors.As(err, &e) || !strings.Contains(e.Error(), tc.err) || !strings.Contains(e.Text, tc.text) {
					t.Errorf("%s\nerror %v\n%+v\nwant %q and %q", tc.reason, err, e, tc.err, tc.text)
				}
				if e != nil && (e.Finding.Rule != folder.RuleTemplate || e.Finding.Object == "") {
					t.Errorf("%s\nfinding %+v", tc.reason, e.Finding)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s\nerror %v", tc.reason, err)
			}
			var first string
			for _, f := range res.Findings {
				if f.Severity > finding.Info && first == "" {
					first = f.Rule + " " + f.Where() + " " + f.Message
				}
			}
			if first == "" || !strings.HasPrefix(first, tc.found) {
				t.Errorf("%s\n got %q\nwant %q", tc.reason, first, tc.found)
			}
		})
	}
}

// TestEndlessLoop checks that an endless loop is stopped.
func TestEndlessLoop(t *testing.T) {
	tr := engine.New(engine.Concept, engine.Options{}, engine.Hooks{}).Templated(open(t, files("portal/default.eta", "a\n<% while (true) {} %>")), engine.TemplateOptions{})
	_, err := tr.Transform(engine.Input{Definition: define(t, words.Portal)})
	var e *folder.Error
	if !errors.As(err, &e) || !strings.Contains(e.Finding.Hint, "infinite loop") {
		t.Errorf("error %v", err)
	}
}

// TestOnError checks that the default is used and reported if the chosen
// template fails.
func TestOnError(t *testing.T) {
	f := open(t, files("portal/mine.eta", "<% throw new Error('broken') %>"))
	e := engine.New(engine.Concept, engine.Options{}, engine.Hooks{})
	in := engine.Input{Definition: define(t, words.Portal, annotated(words.AnnotationTemplate, "mine"))}
	if _, err := e.Templated(f, engine.TemplateOptions{}).Transform(in); err == nil || !strings.Contains(err.Error(), "portal/mine.eta:1:") || !strings.Contains(err.Error(), "broken") {
		t.Errorf("error %v", err)
	}
	res, err := e.Templated(f, engine.TemplateOptions{OnError: folder.UseDefault}).Transform(in)
	if err != nil || len(res.Entities) != 3 {
		t.Fatalf("%d entities, error %v", len(res.Entities), err)
	}
	if len(res.Findings) != 1 || res.Findings[0].Rule != folder.RuleFallback || res.Findings[0].Severity != finding.Warning {
		t.Errorf("findings %+v", res.Findings)
	}
	in = engine.Input{Definition: define(t, words.Portal, annotated(words.AnnotationWizard, "nothing"))}
	if res, err = e.Templated(f, engine.TemplateOptions{OnError: folder.UseDefault}).Transform(in); err != nil || len(res.Findings) != 1 || res.Findings[0].Rule != folder.RuleChoice {
		t.Errorf("findings %+v, error %v", res.Findings, err)
	}
}

// TestUnusable checks a definition for which no resource can be created: the
// default template makes its Resource, a folder with only a Template makes
// nothing.
func TestUnusable(t *testing.T) {
	for name, want := range map[string]int{"default": 1, "advanced": 1, "simple": 0} {
		d := define(t, words.Portal, without("spec", "versions"), annotated(words.AnnotationTemplate, name))
		res, err := engine.New(engine.Concept, engine.Options{}, engine.Hooks{}).Templated(open(t), engine.TemplateOptions{}).Transform(engine.Input{Definition: d})
		if err != nil || len(res.Entities) != want || len(res.Findings) != 1 || res.Findings[0].Rule != engine.RuleNoForm {
			t.Errorf("%s: %d entities, findings %+v, error %v", name, len(res.Entities), res.Findings, err)
		}
	}
}

// TestExpressions puts text of the definition into a step, where a portal would
// evaluate it.
func TestExpressions(t *testing.T) {
	f := open(t, files("steps/default.eta", "- {id: a, action: debug:log, input: {message: <%= helpers.quote('About ' + metadata.title) %>}}\n"))
	e := engine.New(engine.Concept, engine.Options{}, engine.Hooks{})
	for title, want := range map[string]int{"plain": 0, "${{ secrets.token }}": 1} {
		res, err := e.Templated(f, engine.TemplateOptions{}).Transform(engine.Input{Definition: define(t, words.Portal, annotated(words.AnnotationTitle, title))})
		if err != nil || len(res.Findings) != want {
			t.Fatalf("%s: findings %v, error %v", title, res.Findings, err)
		}
		if want > 0 && res.Findings[0].Rule != folder.RuleExpression {
			t.Errorf("%s: %+v", title, res.Findings[0])
		}
	}
}
