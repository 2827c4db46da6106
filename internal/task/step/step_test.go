package step

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/action"
	"example.dev/ingestor/tree"
)

func runner(actions ...action.Action) (*Runner, error) {
	return NewRunner(actions, nil, time.Now, slog.New(slog.DiscardHandler))
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
		"Fine":  {"names differ", []action.Action{nothing("b", "c"), nothing("a")}, ""},
		"Twice": {"steps must know which is meant", []action.Action{nothing("a"), nothing("a")}, `cannot offer action "a": there are two of the name "a"`},
		"Alias": {"by whatever name", []action.Action{nothing("a", "b"), nothing("b")}, `cannot offer action "b": there are two of the name "b"`},
		"NoID":  {"it must be called something", []action.Action{nothing("")}, `cannot offer action "": it needs an id and a function`},
		"NoRun": {"it must do something", []action.Action{{ID: "a"}}, `cannot offer action "a": it needs an id and a function`},
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
				t.Errorf("there is %v", r.Actions())
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
		"Slip":   {"one letter", "debug:logg", "did you mean debug:log?"},
		"Case":   {"another case", "Debug:Log", "did you mean debug:log?"},
		"Same":   {"the same behind the colon", "k8s:apply", "did you mean cluster:apply or kubernetes:apply?"},
		"Nobody": {"nothing is like it", "acme:do:something", "GET /api/scaffolder/v2/actions lists the actions there are"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, r.near(tc.name)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestExample(t *testing.T) {
	cases := map[string]struct{ reason, schema, want string }{
		"Object":   {"each property has one", `{type: object, properties: {s: {type: string}, n: {type: number}, b: {type: boolean}, x: {}}}`, `{"s":"<example>","n":0,"b":false,"x":"<unknown>"}`},
		"List":     {"a list has one item", `{type: array, items: {type: integer}}`, `[0]`},
		"Lists":    {"or the first of several", `{type: array, items: [{type: string}, {type: integer}]}`, `["<example>"]`},
		"Anything": {"or none", `{type: array}`, `[]`},
		"Given":    {"what the schema shows", `{type: string, examples: [one, two]}`, `"one"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			docs, errs := tree.DecodeBytes([]byte(tc.schema))
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			if diff := cmp.Diff(tc.want, string(tree.AppendJSON(nil, example(docs[0]), ""))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	if got := string(tree.AppendJSON(nil, example(nil), "")); got != "{}" {
		t.Errorf("without a schema it is %s", got)
	}
	deep := tree.Obj(tree.F("type", tree.Str("array")))
	deep.Set("items", deep)
	if example(deep) == nil {
		t.Error("one without an end has none")
	}
}
