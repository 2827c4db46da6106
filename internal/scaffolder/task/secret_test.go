package task

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/scaffolder/taskstore"
	"example.dev/ingestor/internal/secret"
)

// TestSecrets has steps misuse a secret, and checks that no file of the
// database, event or log line contains it.
func TestSecrets(t *testing.T) {
	t.Parallel()
	const password = "correct horse/battery+staple"
	at := onSQLite(t)
	began, proceed := make(chan string, 9), make(chan struct{})
	w := start(t, at, Options{Key: key, Actions: []action.Action{
		waits(began, proceed),
		newAction("test:leak", func(_ context.Context, c *action.Call) error {
			s := c.Input.Get("password").Str()
			if s != password || c.Secrets["password"].Reveal() != password {
				return errors.New("the secret did not arrive")
			}
			c.Logf("the password is %s, %q, %v", s, s, c.Secrets)
			c.Logf("Authorization: Basic %s", base64.StdEncoding.EncodeToString([]byte("ann:"+s)))
			c.Output("password", tree.Str(s))
			return nil
		}),
		newAction("test:fail", func(_ context.Context, c *action.Call) error {
			return &action.Error{Err: errors.New("wrong password " + password), Hint: "use another than " + password}
		}),
		newAction("test:panic", func(context.Context, *action.Call) error { panic(password) }),
	}})
	for _, end := range []string{"test:wait", "test:fail", "test:panic"} {
		o := order(t, `{steps: [{id: leak, action: test:leak, input: {password: "${{ secrets.password }}"}}, {id: wait, action: test:wait}, {action: `+end+`}],
			output: {text: [{title: It, content: "${{ steps.leak.output.password }} ${{ secrets.password }}"}], links: [{url: "https://x/${{ steps.leak.output.password }}"}]}}`, `{}`)
		o.Secrets = map[string]secret.Text{"password": password, "short": "a"}
		id := w.create(o)
		await(t, "the step", began)
		checkNoSecret(t, at, password)
		proceed <- struct{}{}
		if end == "test:wait" {
			await(t, "the step", began)
			proceed <- struct{}{}
		}
		got := w.waitForEnd(id)
		if got.Secrets != nil {
			t.Error("task still has its secrets")
		}
		if want := map[bool]string{true: taskstore.TaskCompleted, false: taskstore.TaskFailed}[end == "test:wait"]; got.Status != want {
			t.Errorf("task is %s: %v", got.Status, w.events(id))
		}
		if all := strings.Join(w.events(id), "\n"); !strings.Contains(all, "the password is ***") {
			t.Errorf("events are %s, want the secret masked", all)
		}
	}
	checkNoSecret(t, at, password)
	if strings.Contains(w.log.text(), password) {
		t.Errorf("log contains the secret: %s", w.log.text())
	}
}

// checkNoSecret checks that no file of a database contains a secret.
func checkNoSecret(t *testing.T, at place, password string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(at.dir, "*.db*"))
	if err != nil || len(found) < 2 {
		t.Fatalf("database files are %v, want at least 2: %v", found, err)
	}
	for _, name := range found {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range []string{password, base64.StdEncoding.EncodeToString([]byte(password))[:32], "ann:correct"} {
			if bytes.Contains(data, []byte(form)) {
				t.Errorf("%s contains the secret as %s", filepath.Base(name), form)
			}
		}
	}
}

// TestNoKey checks that secrets are refused if they cannot be encrypted.
func TestNoKey(t *testing.T) {
	t.Parallel()
	w := start(t, onSQLite(t), Options{Actions: []action.Action{echoAction()}})
	_, err := w.tasks.Create(t.Context(), secretOrder(t, `{steps: []}`))
	if e, ok := errors.AsType[*Refused](err); !ok || !strings.Contains(e.Reason, "set scaffolder.secretKey") || strings.Contains(e.Reason, "hunter2") {
		t.Errorf("Create returned %v, want a refusal with a hint", err)
	}
	if _, err = w.tasks.Retry(t.Context(), "x", ann, hunter); !errors.As(err, new(*Refused)) {
		t.Errorf("Retry returned %v, want a refusal", err)
	}
	id := w.create(order(t, `{steps: [{id: a, action: test:say, input: {text: x}}, {action: test:say, input: {text: "${{ steps.a.output.said }}"}}]}`, `{}`))
	if got := w.waitForEnd(id); got.Status != taskstore.TaskCompleted {
		t.Errorf("task without secrets is %s, want completed", got.Status)
	}
}

// TestOtherKey checks that tasks fail whose secrets and state were encrypted
// with another key or with none.
func TestOtherKey(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		key  []byte
		want string
	}{
		"Other": {[]byte("quite another key for tests"), "data was encrypted with another key; check whether scaffolder.secretKey was changed"},
		"None":  {nil, "data is encrypted, and no key is set; check whether scaffolder.secretKey was changed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := onSQLite(t)
			release := at.hold(t, "two")
			actions := []action.Action{counted(at.dir)}
			w := start(t, at, Options{Key: key, Actions: actions})
			started, secrets := w.create(order(t, threeSteps, `{}`)), ""
			w.eventually("the task is in step two", func() bool { return len(at.done()) == 2 })
			w.stop()
			release()
			w = open(t, at, Options{Key: key})
			secrets = w.create(secretOrder(t, threeSteps))
			w.stop()
			w = start(t, at, Options{Key: tc.key, Actions: actions})
			for id, what := range map[string]string{
				started: "cannot continue the task: cannot read its state: ", secrets: "cannot read secrets of the task: ",
			} {
				if got := w.waitForEnd(id); got.Status != taskstore.TaskFailed {
					t.Errorf("task is %s, want failed", got.Status)
				}
				events := w.events(id)
				if got := events[len(events)-1]; got != "completion|||Run completed with status: failed|Error|"+what+tc.want {
					t.Errorf("last event is %s", got)
				}
			}
		})
	}
}

// TestSecretsForgotten checks that a retry does not use stored data that
// contained a secret: the retry has other secrets or none, so the old one would
// not be masked.
func TestSecretsForgotten(t *testing.T) {
	t.Parallel()
	at := onSQLite(t)
	write := newAction("test:write", func(_ context.Context, c *action.Call) error {
		return c.Workspace.Write("file", []byte("it is "+c.Input.Get("text").Str()))
	})
	fail := newAction("test:fail", func(context.Context, *action.Call) error { return errors.New("no") })
	w := start(t, at, Options{Key: key, Actions: []action.Action{echoAction(), write, fail}})
	cases := map[string]struct {
		reason      string
		first, last string
		want        string
	}{
		"Output": {"The outputs of a step contain the secret.", `{id: a, action: test:say, input: {text: "${{ secrets.token }}"}}`, "",
			"cannot continue the task: the outputs of step a contained a secret, and secrets are removed when a task ends; create the task again"},
		"File": {"The workspace contains the secret.", `{id: a, action: test:write, input: {text: "${{ secrets.token }}"}}`, "",
			"cannot continue the task: the workspace contained a secret, and secrets are removed when a task ends; create the task again"},
		"Neither": {"A task whose steps did not store the secret can be retried.", `{id: a, action: test:say, input: {text: x}}`, "", "no"},
		"Later":   {"A step that is run again is not stored.", `{id: a, action: test:write, input: {text: x}}`, `, {id: b, if: "${{ always() }}", action: test:say, input: {text: "${{ secrets.token }}"}}`, "no"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := order(t, `{steps: [`+tc.first+`, {action: test:fail}`+tc.last+`]}`, `{}`)
			o.Secrets = hunter
			id := w.create(o)
			state := func() []byte {
				t.Helper()
				plain, err := w.tasks.key.Open(w.waitForEnd(id).State, id+"/state")
				if err != nil {
					t.Fatal(err)
				}
				return plain
			}
			if bytes.Contains(state(), []byte("hunter2")) {
				t.Errorf("%s: state contains the secret", tc.reason)
			}
			if ok, err := w.tasks.Retry(t.Context(), id, ann, nil); err != nil || !ok {
				t.Fatal(ok, err)
			}
			w.waitForEnd(id)
			events := w.events(id)
			if got := events[len(events)-1]; got != "completion|||Run completed with status: failed|Error|"+tc.want {
				t.Errorf("%s: last event is %s", tc.reason, got)
			}
		})
	}
}

// TestManySecrets checks that more secrets than can be masked in time are
// refused.
func TestManySecrets(t *testing.T) {
	t.Parallel()
	w := open(t, onSQLite(t), Options{Key: key, Actions: []action.Action{echoAction()}})
	many := map[string]secret.Text{}
	for i := range 101 {
		many[strings.Repeat("x", i)] = "abc"
	}
	for name, secrets := range map[string]map[string]secret.Text{"Many": many, "Large": {"a": secret.Text(strings.Repeat("ab\n", 30_000))}} {
		o := order(t, `{steps: []}`, `{}`)
		o.Secrets = secrets
		for what, do := range map[string]func() error{
			"Create": func() error { _, err := w.tasks.Create(t.Context(), o); return err },
			"DryRun": func() error { _, err := w.tasks.DryRun(t.Context(), DryOrder{Order: o}); return err },
			"Retry":  func() error { _, err := w.tasks.Retry(t.Context(), "x", ann, secrets); return err },
		} {
			if e, ok := errors.AsType[*Refused](do()); !ok || e.Reason != "too many secrets: a task may have 100, with 64 KiB in total" {
				t.Errorf("%s, %s: request returned %v, want a refusal", name, what, e)
			}
		}
	}
}
