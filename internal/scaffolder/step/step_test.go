package step

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
)

func runner(actions ...action.Action) (*Runner, error) {
	return NewRunner(actions, nil, time.Now, slog.New(slog.DiscardHandler), nil)
}

func nothing(id string, aliases ...string) action.Action {
	return action.Action{ID: id, Aliases: aliases, Run: func(context.Context, *action.Call) error { return nil }}
}

func TestNewRunner(t *testing.T) {
	cases := map[string]struct {
		reason  string
		actions []action.Action
		want    string
	}{
		"Fine":  {"Actions with different names are registered.", []action.Action{nothing("b", "c"), nothing("a")}, ""},
		"Twice": {"Two actions with one id are refused.", []action.Action{nothing("a"), nothing("a")}, `cannot register action "a": name "a" is already registered`},
		"Alias": {"Two actions with one alias are refused.", []action.Action{nothing("a", "b"), nothing("b")}, `cannot register action "b": name "b" is already registered`},
		"NoID":  {"An action needs an id.", []action.Action{nothing("")}, `cannot register action "": id and function are required`},
		"NoRun": {"An action needs a function.", []action.Action{{ID: "a"}}, `cannot register action "a": id and function are required`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r, err := runner(tc.actions...)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if err == nil && (len(r.Actions()) != 2 || r.Actions()[0].ID != "a") {
				t.Errorf("actions are %v, want two sorted by id", r.Actions())
			}
		})
	}
}

func TestNear(t *testing.T) {
	r, err := runner(nothing("cluster:apply", "kubernetes:apply"), nothing("debug:log"), nothing("fs:write"))
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct{ reason, name, want string }{
		"Slip":    {"A typo of one letter gets a suggestion.", "debug:logg", "did you mean debug:log?"},
		"Case":    {"A name in another case gets a suggestion.", "Debug:Log", "did you mean debug:log?"},
		"Same":    {"A name with another prefix gets suggestions.", "k8s:apply", "did you mean cluster:apply or kubernetes:apply?"},
		"Unknown": {"A name without similar actions gets no suggestion.", "acme:do:something", "see GET /api/scaffolder/v2/actions for the available actions"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, r.near(tc.name)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestEach checks the limit on items of a step: a list of some megabytes would
// otherwise expand to gigabytes.
func TestEach(t *testing.T) {
	r, err := runner(nothing("test:nothing"))
	if err != nil {
		t.Fatal(err)
	}
	list := func(n int) *tree.Node {
		all := tree.Arr()
		for range n {
			all.Items = append(all.Items, tree.Number(0))
		}
		return all
	}
	cases := map[string]struct {
		reason string
		each   *tree.Node
		want   string
	}{
		"Most": {"The maximum number of items is accepted.", list(mostEach), ""},
		"More": {"More items are refused.", list(mostEach + 1), "Invalid value on action test:nothing.each parameter, it has 10001 items, at most 10000 are allowed"},
		"None": {"A value without items is refused.", tree.Number(1), "Invalid value on action test:nothing.each parameter, it cannot be resolved to a list or an object"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			at := tree.Obj(tree.F("id", tree.Str("a")), tree.F("action", tree.Str("test:nothing")), tree.F("each", tc.each))
			task := &Task{Spec: tree.Obj(tree.F("steps", tree.Arr(at))), Log: func(Event) {}, Authorize: anyone}
			s := &State{}
			r.Step(t.Context(), task, s)
			got := ""
			if s.Failure != nil {
				got = s.Failure.Message
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestOutputs checks the limits on outputs of steps and of the task.
func TestOutputs(t *testing.T) {
	r, err := runner(action.Action{ID: "test:large", Run: func(_ context.Context, c *action.Call) error {
		c.Output("it", tree.Str(strings.Repeat("x", mostOutput-100)))
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	task := &Task{Spec: tree.Obj(tree.F("steps", tree.Arr())), Log: func(e Event) { said = append(said, e.Message) }, Authorize: anyone}
	for _, id := range []string{"a", "a", "b", "c", "d", "e"} {
		steps := task.Spec.Get("steps")
		steps.Items = append(steps.Items, tree.Obj(tree.F("id", tree.Str(id)), tree.F("action", tree.Str("test:large"))))
	}
	s := &State{}
	for range 5 {
		if r.Step(t.Context(), task, s); s.Failure != nil {
			t.Fatalf("step %d failed: %s", s.Next, s.Failure.Message)
		}
	}
	r.Step(t.Context(), task, s)
	if s.Failure == nil || s.Failure.Message != "cannot store outputs of step e: outputs of all steps are larger than 16 MiB" {
		t.Errorf("failure is %v, want the limit", s.Failure)
	}
	said = nil
	entry := tree.Obj(tree.F("content", tree.Str("${{ steps.a.output.it }}")))
	task.Spec.Set("output", tree.Obj(tree.F("text", tree.Arr(entry, entry)), tree.F("small", tree.Str("yes"))))
	out := r.Output(task, s)
	if out.Get("text").Len() != 1 || out.Get("small").Str() != "yes" {
		t.Errorf("output has %d entries and %q, want 1 and yes", out.Get("text").Len(), out.Get("small").Str())
	}
	if diff := cmp.Diff([]string{"Leaving out a part of the output text: output is larger than 4 MiB"}, said); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOutputLinks checks that links that pages must not show are dropped from
// the output and reported.
func TestOutputLinks(t *testing.T) {
	r, err := NewRunner([]action.Action{nothing("a")}, nil, time.Now, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	spec, errs := parser.DecodeBytes([]byte(`
parameters:
  bad: " \tJavaScript:alert(1)"
  all: [{title: A, url: "data:text/html,x"}, {title: B, url: "https://example.com"}, {title: C, url: ["javascript:x"]}]
  same: "${{ parameters.all }}"
steps: [{id: a, action: a}]
output:
  links:
  - {title: One, url: "${{ parameters.bad }}"}
  - {title: Two, url: "vbscript:x", entityRef: "component:default/a"}
  - {title: Three, url: "https://example.com/${{ parameters.bad }}"}
  - {title: Four, url: /catalog}
  - {title: Five, url: "mailto:a@example.com"}
  remoteUrl: "javascript:x"
`))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var said []string
	task := &Task{ID: "t", Spec: spec[0], Log: func(e Event) { said = append(said, e.Message) }}
	got := string(tree.AppendJSON(nil, r.Output(task, &State{}), ""))
	want := `{"links":[{"title":"Two","entityRef":"component:default/a"},{"title":"Three","url":"https://example.com/ \tJavaScript:alert(1)"},` +
		`{"title":"Four","url":"/catalog"},{"title":"Five","url":"mailto:a@example.com"}]}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("links from a list (-want +got):\n%s", diff)
	}
	const because = " of the output: URL is neither http, https, mailto nor relative; correct spec.output of the Template"
	if diff := cmp.Diff([]string{`cannot show link "One"` + because, `cannot show link "Two"` + because, `cannot show link "remoteUrl"` + because}, said); diff != "" {
		t.Errorf("log lines (-want +got):\n%s", diff)
	}
	task.Spec.Set("output", tree.Obj(tree.F("links", tree.Str("${{ parameters.all }}"))))
	if diff := cmp.Diff(`{"links":[{"title":"B","url":"https://example.com"}]}`, string(tree.AppendJSON(nil, r.Output(task, &State{}), ""))); diff != "" {
		t.Errorf("links from an expression (-want +got):\n%s", diff)
	}
}

func TestExample(t *testing.T) {
	cases := map[string]struct{ reason, schema, want string }{
		"Object":   {"Each property has an example.", `{type: object, properties: {s: {type: string}, n: {type: number}, b: {type: boolean}, x: {}}}`, `{"s":"<example>","n":0,"b":false,"x":"<unknown>"}`},
		"List":     {"A list has one item.", `{type: array, items: {type: integer}}`, `[0]`},
		"Lists":    {"A list has the first of several items.", `{type: array, items: [{type: string}, {type: integer}]}`, `["<example>"]`},
		"Anything": {"A list without an item schema is empty.", `{type: array}`, `[]`},
		"Given":    {"The first example of the schema is used.", `{type: string, examples: [one, two]}`, `"one"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			docs, errs := parser.DecodeBytes([]byte(tc.schema))
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			if diff := cmp.Diff(tc.want, string(tree.AppendJSON(nil, example(docs[0]), ""))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	if got := string(tree.AppendJSON(nil, example(nil), "")); got != "{}" {
		t.Errorf("example without a schema is %s, want {}", got)
	}
	deep := tree.Obj(tree.F("type", tree.Str("array")))
	deep.Set("items", deep)
	if example(deep) == nil {
		t.Error("example of an endless schema is nil")
	}
}

func TestUnknown(t *testing.T) {
	open := nothing("cluster:apply")
	open.Input = tree.Obj(tree.F("properties", tree.Obj(tree.F("manifest", tree.Obj()), tree.F("takeOver", tree.Obj()))))
	closed := open
	closed.Input = open.Input.Clone()
	closed.Input.Set("additionalProperties", tree.Boolean(true))
	given := tree.Obj(tree.F("manifest", tree.Obj()), tree.F("takeover", tree.Boolean(true)), tree.F("colour", tree.Str("red")))
	want := []string{"unknown input takeover of cluster:apply; did you mean takeOver?", "unknown input colour of cluster:apply"}
	if diff := cmp.Diff(want, unknown(&open, given)); diff != "" {
		t.Errorf("unknown fields (-want +got):\n%s", diff)
	}
	if got := unknown(&closed, given); len(got) > 0 {
		t.Errorf("action that accepts any input has the unknown fields %q", got)
	}
}

// anyone allows every permission.
func anyone(context.Context, string, string, action.Target) error { return nil }
