package task

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/scaffolder/taskstore"
)

// TestEnds runs tasks that complete and tasks that fail.
func TestEnds(t *testing.T) {
	w := start(t, onSQLite(t), Options{Key: key, Actions: []action.Action{
		echoAction(),
		newAction("test:fail", func(context.Context, *action.Call) error { return errors.New("action broke") }),
		newAction("test:hint", func(context.Context, *action.Call) error {
			return &action.Error{Err: errors.New("action broke"), Hint: "mend it"}
		}),
		newAction("test:panic", func(context.Context, *action.Call) error { panic("oh") }),
		newAction("test:large", func(_ context.Context, c *action.Call) error {
			c.Output("it", tree.Str(strings.Repeat("x", 5<<20)))
			return nil
		}),
	}})
	cases := map[string]struct {
		reason string
		spec   string
		values string
		status string
		want   []string
		output string
	}{
		"One": {
			reason: "The events are those of Backstage.",
			spec: `{steps: [{id: log, name: Log, action: test:say, input: {text: "Hello ${{ parameters.name }}"}}],
				output: {text: [{title: Done, content: "made ${{ parameters.name }}"}]}}`,
			values: `{name: abc}`, status: taskstore.TaskCompleted,
			want: []string{"log|||Starting up task with 1 steps", "log|log|processing|Beginning step Log", "log|log||Hello abc",
				"log|log|completed|Finished step Log", "completion|||Run completed with status: completed"},
			output: `{"text":[{"title":"Done","content":"made abc"}]}`,
		},
		"Outputs": {
			reason: "A step gets the outputs of earlier steps, and links with an empty URL are dropped.",
			spec: `{steps: [{action: test:speak, input: {text: one}}, {id: two, action: test:say, input: {text: "${{ steps['step-1'].output.said }} two ${{ user.ref }}"}}],
				output: {links: [{title: A, url: "${{ steps.two.output.said }}"}, {title: B, url: "${{ steps.two.output.none }}"},
					{title: C, url: x, if: "${{ steps.two.output.none }}"}, {title: D, url: x, if: true}, {title: E, url: "${{ nothing( }}"}], other: "${{ steps.two.output.said }}"}}`,
			values: `{}`, status: taskstore.TaskCompleted,
			want: []string{"log|||Starting up task with 2 steps", "log|step-1|processing|Beginning step test:speak", "log|step-1||one",
				"log|step-1|completed|Finished step test:speak", "log|two|processing|Beginning step test:say", "log|two||one two user:default/ann",
				`log|||Leaving out a part of the output links: url: cannot evaluate "nothing(": unexpected end of expression, expected a value`,
				"log|two|completed|Finished step test:say", "completion|||Run completed with status: completed"},
			output: `{"links":[{"title":"A","url":"one two user:default/ann"},{"title":"D","url":"x"}],"other":"one two user:default/ann"}`,
		},
		"None": {
			reason: "A Template may have no steps.",
			spec:   `{steps: []}`, values: `{}`, status: taskstore.TaskCompleted,
			want:   []string{"log|||Starting up task with 0 steps", "completion|||Run completed with status: completed"},
			output: `{}`,
		},
		"If": {
			reason: "A step whose condition is false is skipped, and has no outputs.",
			spec: `{steps: [{id: a, action: test:say, if: "${{ parameters.on }}", input: {text: a}}, {id: b, action: test:say, if: false, input: {text: b}},
				{id: c, action: test:say, if: "${{ not steps.a.output.said }}", input: {text: c}}]}`,
			values: `{on: false}`, status: taskstore.TaskCompleted,
			want: []string{"log|||Starting up task with 3 steps",
				"log|a|processing|Beginning step test:say", "log|a|skipped|Skipping step a because its if condition was false",
				"log|b|processing|Beginning step test:say", "log|b|skipped|Skipping step b because its if condition was false",
				"log|c|processing|Beginning step test:say", "log|c||c", "log|c|completed|Finished step test:say",
				"completion|||Run completed with status: completed"},
			output: `{}`,
		},
		"Each": {
			reason: "A step with each runs for every selected item, and its outputs are lists.",
			spec: `{steps: [{id: a, action: test:say, each: "${{ parameters.list }}", if: "${{ each.value != 'no' }}", input: {text: "${{ each.key }}=${{ each.value }}"}}],
				output: {said: "${{ steps.a.output.said }}"}}`,
			values: `{list: {x: one, y: no, z: two}}`, status: taskstore.TaskCompleted,
			want: []string{"log|||Starting up task with 1 steps", "log|a|processing|Beginning step test:say",
				`log|a||Running step each: {"key":"x","value":"one"}`, "log|a||x=one", `log|a||Skipping step each: {"key":"y","value":"no"}`,
				`log|a||Running step each: {"key":"z","value":"two"}`, "log|a||z=two", "log|a|completed|Finished step test:say",
				"completion|||Run completed with status: completed"},
			output: `{"said":["x=one","z=two"]}`,
		},
		"EachNothing": {
			reason: "A step with each needs a value.",
			spec:   `{steps: [{id: a, action: test:say, each: "${{ parameters.none }}", input: {text: x}}]}`,
			values: `{}`, status: taskstore.TaskFailed,
			want: []string{"log|||Starting up task with 1 steps", "log|a|processing|Beginning step test:say",
				"log|a|failed|Invalid value on action test:say.each parameter, it cannot be resolved to a list or an object",
				"completion|||Run completed with status: failed|InputError|Invalid value on action test:say.each parameter, it cannot be resolved to a list or an object"},
			output: `{}`,
		},
		"Fails": {
			reason: "Steps after a failure are not run.",
			spec:   `{steps: [{id: a, action: test:fail}, {id: b, action: test:say, input: {text: b}}]}`,
			values: `{}`, status: taskstore.TaskFailed,
			want: []string{"log|||Starting up task with 2 steps", "log|a|processing|Beginning step test:fail", "log|a|failed|action broke",
				"log|b|skipped|Skipping step b because a previous step failed", "completion|||Run completed with status: failed|Error|action broke"},
			output: `{}`,
		},
		"Hint": {
			reason: "The hint of an error is shown.",
			spec:   `{steps: [{id: a, action: test:hint}]}`, values: `{}`, status: taskstore.TaskFailed,
			want: []string{"log|||Starting up task with 1 steps", "log|a|processing|Beginning step test:hint", "log|a|failed|action broke", "log|a||mend it",
				"completion|||Run completed with status: failed|Error|action broke"},
			output: `{}`,
		},
		"Always": {
			reason: "Steps with always() or failure() run after a failure, and the task still fails.",
			spec: `{steps: [{id: a, action: test:fail}, {id: b, action: test:say, input: {text: b}},
				{id: c, action: test:say, if: "${{ always() }}", input: {text: c}}, {id: d, action: test:say, if: "${{ failure() and parameters.on }}", input: {text: d}}]}`,
			values: `{on: true}`, status: taskstore.TaskFailed,
			want: []string{"log|||Starting up task with 4 steps", "log|a|processing|Beginning step test:fail", "log|a|failed|action broke",
				"log|b|skipped|Skipping step b because a previous step failed",
				"log|c|processing|Beginning step test:say", "log|c||c", "log|c|completed|Finished step test:say",
				"log|d|processing|Beginning step test:say", "log|d||d", "log|d|completed|Finished step test:say",
				"completion|||Run completed with status: failed|Error|action broke"},
			output: `{}`,
		},
		"NoFailure": {
			reason: "A step with failure() does not run without a failure.",
			spec:   `{steps: [{id: a, action: test:say, if: "${{ failure() }}", input: {text: a}}]}`, values: `{}`, status: taskstore.TaskCompleted,
			want: []string{"log|||Starting up task with 1 steps", "log|a|processing|Beginning step test:say",
				"log|a|skipped|Skipping step a because its if condition was false", "completion|||Run completed with status: completed"},
			output: `{}`,
		},
		"Panic": {
			reason: "An action that panics fails its step, not the process.",
			spec:   `{steps: [{id: a, action: test:panic}]}`, values: `{}`, status: taskstore.TaskFailed,
			want: []string{"log|||Starting up task with 1 steps", "log|a|processing|Beginning step test:panic",
				"log|a|failed|cannot run step a: action test:panic panicked: oh",
				"completion|||Run completed with status: failed|Error|cannot run step a: action test:panic panicked: oh"},
			output: `{}`,
		},
		"Unknown": {
			reason: "An unknown action is named, with similar ones.",
			spec:   `{steps: [{id: a, action: test:sey}]}`, values: `{}`, status: taskstore.TaskFailed,
			want: []string{"log|||Starting up task with 1 steps", "log|a|processing|Beginning step test:sey",
				"log|a|failed|Template action with ID 'test:sey' is not registered", "log|a||did you mean test:say?",
				"completion|||Run completed with status: failed|NotFoundError|Template action with ID 'test:sey' is not registered"},
			output: `{}`,
		},
		"Input": {
			reason: "The invalid field of the input is named.",
			spec:   `{steps: [{id: a, action: test:say, input: {text: "${{ parameters.n }}"}}]}`, values: `{n: 12}`, status: taskstore.TaskFailed,
			want: []string{"log|||Starting up task with 1 steps", "log|a|processing|Beginning step test:say",
				"log|a|failed|Invalid input passed to action test:say: text is not of a type(s) string",
				"completion|||Run completed with status: failed|InputError|Invalid input passed to action test:say: text is not of a type(s) string"},
			output: `{}`,
		},
		"Expression": {
			reason: "An expression that cannot be evaluated is shown with its position.",
			spec:   `{steps: [{id: a, action: test:say, input: {text: "${{ parameters.n | nope }}"}}]}`, values: `{}`, status: taskstore.TaskFailed,
			want: []string{"log|||Starting up task with 1 steps", "log|a|processing|Beginning step test:say",
				`log|a|failed|cannot read the input of step a: text: cannot evaluate "parameters.n | nope": unknown filter nope`,
				`completion|||Run completed with status: failed|InputError|cannot read the input of step a: text: cannot evaluate "parameters.n | nope": unknown filter nope`},
			output: `{}`,
		},
		"LargeOutput": {
			reason: "The outputs of a step are stored, so their size is limited.",
			spec:   `{steps: [{id: a, action: test:large}]}`, values: `{}`, status: taskstore.TaskFailed,
			want: []string{"log|||Starting up task with 1 steps", "log|a|processing|Beginning step test:large",
				"log|a|failed|cannot store outputs of step a: larger than 4 MiB",
				"completion|||Run completed with status: failed|Error|cannot store outputs of step a: larger than 4 MiB"},
			output: `{}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id := w.create(order(t, tc.spec, tc.values))
			if got := w.waitForEnd(id); got.Status != tc.status || len(got.Secrets) > 0 {
				t.Errorf("%s: task is %s", tc.reason, got.Status)
			}
			if diff := cmp.Diff(tc.want, w.events(id)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			all, err := w.tasks.Events(t.Context(), id, 0)
			if err != nil {
				t.Fatal(err)
			}
			var last struct{ Output json.RawMessage }
			if err := json.Unmarshal(all[len(all)-1].Body, &last); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.output, string(last.Output)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestWorkspace checks that files of a step exist in the next step, and are
// removed with the task.
func TestWorkspace(t *testing.T) {
	at := onSQLite(t)
	w := start(t, at, Options{Actions: []action.Action{
		newAction("test:write", func(_ context.Context, c *action.Call) error { return c.Workspace.Write("a/b.txt", []byte("hello")) }),
		newAction("test:read", func(_ context.Context, c *action.Call) error {
			f, err := c.Workspace.FS().Open("a/b.txt")
			if err != nil {
				return err
			}
			return f.Close()
		}),
	}})
	id := w.create(order(t, `{steps: [{action: test:write}, {action: test:read}]}`, `{}`))
	if got := w.waitForEnd(id); got.Status != taskstore.TaskCompleted || got.State != nil {
		t.Errorf("task is %s: %v; want completed", got.Status, w.events(id))
	}
	w.eventually("the workspace is removed", func() bool {
		left, err := filepath.Glob(filepath.Join(at.dir, "work", "*", "[0-9a-f]*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(left) == 0
	})
	w.stop()
	if left, err := os.ReadDir(filepath.Join(at.dir, "work")); err != nil || len(left) > 0 {
		t.Errorf("workspace folder contains %v, want nothing: %v", left, err)
	}
}

// TestKeys checks that each step, and each item of it, has its own key.
func TestKeys(t *testing.T) {
	w := start(t, onSQLite(t), Options{Actions: []action.Action{echoAction()}})
	id := w.create(order(t, `{steps: [{id: a, action: test:say, input: {text: x}}, {id: b, action: test:say, each: [1, 2], input: {text: x}}],
		output: {a: "${{ steps.a.output.key }}", b: "${{ steps.b.output.key }}", id: "${{ context.task.id }}"}}`, `{}`))
	w.waitForEnd(id)
	all, err := w.tasks.Events(t.Context(), id, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`{"message":"Run completed with status: completed","output":{"a":"%[1]s/0","b":["%[1]s/1/0","%[1]s/1/1"],"id":"%[1]s"}}`, id)
	if diff := cmp.Diff(want, string(all[len(all)-1].Body)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
