package task

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/scaffolder/taskstore"
	"example.dev/ingestor/internal/secret"
)

func dryActions() []action.Action {
	write := newAction("test:write", func(_ context.Context, c *action.Call) error {
		if !c.DryRun {
			return errors.New("this is no dry run")
		}
		f, err := c.Beside.Open("in/given.sh")
		if err != nil {
			return err
		}
		defer f.Close()
		data, err := io.ReadAll(f)
		if err != nil {
			return err
		}
		return c.Workspace.Write("out.txt", append(data, c.Input.Get("text").Str()...))
	})
	write.DryRun = true
	deploy := newAction("test:deploy", func(context.Context, *action.Call) error { return errors.New("action was executed") })
	deploy.Output = tree.Obj(tree.F("type", tree.Str("object")), tree.F("properties", tree.Obj(
		tree.F("url", tree.Obj(tree.F("type", tree.Str("string")))), tree.F("list", tree.Obj(tree.F("type", tree.Str("array")),
			tree.F("items", tree.Obj(tree.F("type", tree.Str("integer")))))), tree.F("sure", tree.Obj(tree.F("type", tree.Str("boolean")))))))
	broken := newAction("test:broken", func(context.Context, *action.Call) error { return errors.New("wrong password hunter2") })
	broken.DryRun = true
	return []action.Action{echoAction(), write, deploy, broken}
}

// TestDryRun dry-runs a Template, and checks that nothing is stored.
func TestDryRun(t *testing.T) {
	t.Parallel()
	w := open(t, onSQLite(t), Options{Actions: dryActions()})
	o := DryOrder{Order: order(t, `{steps: [{id: write, name: Write, action: test:write, input: {text: "${{ parameters.name }}", token: "${{ secrets.token }}"}},
		{id: deploy, name: Deploy, action: test:deploy, input: {}}, {id: say, name: Say, action: test:say, input: {text: "${{ steps.deploy.output.url }} hunter2"}},
		{id: each, name: Each, action: test:say, each: [1], input: {text: "${{ each.key }}"}}],
		output: {text: [{title: It, content: "${{ steps.deploy.output.url }} hunter2"}]}}`, `{name: abc}`),
		Files: []File{{Path: "in/given.sh", Executable: true, Content: []byte("#!")}}}
	o.Secrets = map[string]secret.Text{"token": "hunter2"}
	got, err := w.tasks.DryRun(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var log []string
	for _, l := range got.Log {
		log = append(log, string(l))
	}
	want := []string{
		`{"body":{"message":"Starting up task with 4 steps"}}`,
		`{"body":{"stepId":"write","status":"processing","message":"Beginning step Write"}}`,
		`{"body":{"stepId":"write","message":"Running test:write in dry-run mode with inputs (secrets redacted): {\n  \"text\": \"abc\",\n  \"token\": \"***\"\n}"}}`,
		`{"body":{"stepId":"write","status":"completed","message":"Finished step Write"}}`,
		`{"body":{"stepId":"deploy","status":"processing","message":"Beginning step Deploy"}}`,
		`{"body":{"stepId":"deploy","message":"Running test:deploy in dry-run mode with inputs (secrets redacted): {}"}}`,
		`{"body":{"stepId":"deploy","status":"skipped","message":"Skipping because test:deploy does not support dry-run"}}`,
		`{"body":{"stepId":"say","status":"processing","message":"Beginning step Say"}}`,
		`{"body":{"stepId":"say","message":"Running test:say in dry-run mode with inputs (secrets redacted): {\n  \"text\": \"<example> ***\"\n}"}}`,
		`{"body":{"stepId":"say","message":"<example> ***"}}`,
		`{"body":{"stepId":"say","status":"completed","message":"Finished step Say"}}`,
		`{"body":{"stepId":"each","status":"processing","message":"Beginning step Each"}}`,
		`{"body":{"stepId":"each","message":"Running test:say in dry-run mode with inputs (secrets redacted): {\n  \"text\": \"<key>\"\n}"}}`,
		`{"body":{"stepId":"each","message":"Running step each: {\"key\":\"0\",\"value\":1}"}}`,
		`{"body":{"stepId":"each","message":"0"}}`,
		`{"body":{"stepId":"each","status":"completed","message":"Finished step Each"}}`,
	}
	if diff := cmp.Diff(want, log); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	files := []File{{Path: "out.txt", Content: []byte("#!abc")}}
	if diff := cmp.Diff(files, got.Files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(`{"text":[{"title":"It","content":"<example> ***"}]}`, string(tree.AppendJSON(nil, got.Output, ""))); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
	if got.Steps.Len() != 4 {
		t.Errorf("dry run has %d steps, want 4", got.Steps.Len())
	}
	if _, n, err := w.store.Tasks(t.Context(), taskstore.TaskQuery{Limit: 1}); err != nil || n != 0 {
		t.Errorf("%d tasks were stored, want none: %v", n, err)
	}
}

// TestDryRefused checks that a dry run is refused with a reason.
func TestDryRefused(t *testing.T) {
	t.Parallel()
	w := open(t, onSQLite(t), Options{Actions: dryActions()})
	many := make([]File, mostDryFiles+1)
	cases := map[string]struct {
		reason string
		spec   string
		files  []File
		want   string
	}{
		"Out":     {"A file must not escape the folder.", `{steps: []}`, []File{{Path: "../x"}}, `cannot use path "../x": path escapes the folder of the Template`},
		"Root":    {"A file must not have an absolute path.", `{steps: []}`, []File{{Path: "/etc/x"}}, `cannot use path "/etc/x": path escapes the folder of the Template`},
		"Empty":   {"A file needs a path.", `{steps: []}`, []File{{}}, `cannot use path "": path escapes the folder of the Template`},
		"Clash":   {"A file cannot be a folder of another file.", `{steps: []}`, []File{{Path: "a"}, {Path: "a/b"}}, `cannot write "a/b": path is not usable`},
		"Large":   {"The size of files is limited.", `{steps: []}`, []File{{Path: "a", Content: make([]byte, 11<<20)}}, `cannot dry-run the Template: files are larger than 10 MiB`},
		"Many":    {"The number of files is limited.", `{steps: []}`, many, `cannot dry-run the Template: more than 5000 files`},
		"Fails":   {"The error of a failed step is returned, with secrets masked.", `{steps: [{id: a, action: test:broken}]}`, nil, `wrong password ***`},
		"Unknown": {"An unknown action is refused with a hint.", `{steps: [{id: a, action: nope}]}`, nil, "Template action with ID 'nope' is not registered; see GET /api/scaffolder/v2/actions for the available actions"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := DryOrder{Order: order(t, tc.spec, `{}`), Files: tc.files}
			o.Secrets = hunter
			_, err := w.tasks.DryRun(t.Context(), o)
			e, ok := errors.AsType[*Refused](err)
			if !ok {
				t.Fatalf("%s: dry run returned %v, want a refusal", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, e.Reason); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	for range mostDry {
		w.tasks.drying <- struct{}{}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := w.tasks.DryRun(ctx, DryOrder{Order: order(t, `{steps: []}`, `{}`)}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("dry run without a free slot returned %v, want context.DeadlineExceeded", err)
	}
}

// TestDryRunForm checks that the form of a dry run is validated within its
// timeout and its slot.
func TestDryRunForm(t *testing.T) {
	t.Parallel()
	w := open(t, onSQLite(t), Options{Actions: dryActions()})
	// Each page takes a quarter of a second.
	const page = `{properties: {a: {pattern: "^(?=(a+)+$)(a+)+$X"}}}, `
	o := order(t, `{steps: [], parameters: [`+strings.Repeat(page, 1000)+`]}`, `{a: `+strings.Repeat("a", 60)+`!}`)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := w.tasks.DryRun(ctx, DryOrder{Order: o}); !errors.Is(err, context.DeadlineExceeded) && !errors.As(err, new(*Refused)) {
		t.Errorf("dry run returned %v, want context.DeadlineExceeded or a refusal", err)
	}
	if _, err := w.tasks.Create(ctx, o); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Create returned %v, want context.DeadlineExceeded", err)
	}
}
