// Package judge holds our task runner against the real scaffolder. What the real
// one made of the Templates of our examples, under upstream words and with
// debug:log in place of their actions, lies in testdata; ours must make the same
// of today's Templates. testdata/flows.yaml has Templates for what those of the
// examples do not do.
//
// The answers were recorded over HTTP from the router, worker, database and
// debug:log of the packages that testdata/versions.json names, without the colours
// of their log. To record them anew, install package.json outside the repository
// with npm install --legacy-peer-deps, and run, here,
//
//	go test -run TestRecord -record <that folder>/node_modules
package judge

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/scaffolder/task"
)

// user is who asks.
const user = "user:default/ann"

// TestDryRun tries out every Template with every set of values that was
// recorded.
func TestDryRun(t *testing.T) {
	t.Parallel()
	ran := 0
	w := open(t)
	for about, r := range readAll(t) {
		for _, name := range slices.Sorted(maps.Keys(r.Cases)) {
			want := r.Cases[name]
			got, err := w.tasks.DryRun(t.Context(), task.DryOrder{Order: order(t, r.template, want)})
			about := about + ", " + name
			ran++
			if invalid, ok := errors.AsType[*task.Invalid](err); ok {
				compareErrors(t, about, want, invalid)
				continue
			}
			if err != nil {
				if diff := cmp.Diff(sameWords(want.Error), sameWords(err.Error())); diff != "" {
					t.Errorf("%s: why it is refused (-real +ours):\n%s", about, diff)
				}
				continue
			}
			if want.Error != "" || want.Errors != nil {
				t.Errorf("%s: it was tried out, want %s%s", about, want.Error, want.Errors)
				continue
			}
			same(t, about+": steps; if they were meant to change, record anew", r.Steps, tree.AppendJSON(nil, got.Steps, ""))
			same(t, about+": output", useful(t, want.Output), tree.AppendJSON(nil, got.Output, ""))
			var said []message
			for _, raw := range got.Log {
				said = append(said, decode[struct{ Body message }](t, raw).Body)
			}
			log, inputs := reduce(t, said)
			if diff := cmp.Diff(alike(r, fewer(t, want.Log)), alike(r, log)); diff != "" {
				t.Errorf("%s: log (-real +ours):\n%s", about, diff)
			}
			compareInputs(t, about, want.Inputs, inputs)
		}
	}
	t.Logf("tried out %d", ran)
}

// TestTasks runs every Template with one set of values, and compares the task's
// spec and events.
func TestTasks(t *testing.T) {
	t.Parallel()
	w := start(t)
	for about, r := range readAll(t) {
		for name, want := range r.Cases {
			if want.Events == nil {
				continue
			}
			about := about + ", " + name
			found, events := w.run(order(t, r.template, want))
			compareSpec(t, about, r, want, found.Spec)
			if want.Status != found.Status {
				t.Errorf("%s: its status is %s, want %s", about, found.Status, want.Status)
			}
			var said []message
			for _, e := range events {
				m := decode[message](t, e.Body)
				m.Type = e.Type
				if e.Type == "completion" && m.Error == nil {
					same(t, about+": output of the task", useful(t, want.Output), m.Output)
				}
				said = append(said, m)
			}
			log, inputs := reduce(t, said)
			if diff := cmp.Diff(alike(r, want.Events), alike(r, log)); diff != "" {
				t.Errorf("%s: events (-real +ours):\n%s", about, diff)
			}
			compareInputs(t, about, want.Inputs, inputs)
		}
	}
}

// useful returns an output without links that lead nowhere, which the real one
// shows all the same: a step that was not run has no address.
func useful(t *testing.T, output json.RawMessage) json.RawMessage {
	t.Helper()
	n := node(t, output)
	links := n.Get("links")
	if links == nil {
		return output
	}
	links.Items = slices.DeleteFunc(links.Items, func(l *tree.Node) bool { return !l.Has("url") && !l.Has("entityRef") })
	return tree.AppendJSON(nil, n, "")
}

// compareErrors holds what is wrong with values against what the real one found.
// It stops at the first page on which something is wrong; we tell all.
func compareErrors(t *testing.T, about string, want *answer, got *task.Invalid) {
	t.Helper()
	if len(want.Errors) == 0 || len(want.Errors) > len(got.Problems) {
		t.Errorf("%s: %d problems were found, want %d: %v", about, len(got.Problems), len(want.Errors), got)
		return
	}
	for i, e := range want.Errors {
		p := got.Problems[i]
		p.Schema = nil
		raw, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		same(t, fmt.Sprintf("%s: problem %d", about, i), e, raw)
	}
}

func compareInputs(t *testing.T, about string, want, got map[string]json.RawMessage) {
	t.Helper()
	if len(want) != len(got) {
		t.Errorf("%s: steps %q ran, want %q", about, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
	for step, input := range want {
		if got[step] != nil {
			same(t, about+": input of step "+step, input, got[step])
		}
	}
}

func compareSpec(t *testing.T, about string, r *recorded, want *answer, got json.RawMessage) {
	t.Helper()
	spec := node(t, got)
	same(t, about+": steps of the task", r.Steps, tree.AppendJSON(nil, spec.Get("steps"), ""))
	same(t, about+": parameters of the task", want.Values, tree.AppendJSON(nil, spec.Get("parameters"), ""))
	same(t, about+": entity of the task", tree.AppendJSON(nil, r.template.Get("metadata"), ""), tree.AppendJSON(nil, spec.Get("templateInfo", "entity", "metadata"), ""))
	same(t, about+": spec of the task", want.Spec, short(spec))
}

// same compares JSON. The order of keys does not matter: JavaScript puts numbers
// first.
func same(t *testing.T, about string, want, got []byte) {
	t.Helper()
	a, b := string(tree.AppendCanonical(nil, node(t, want))), string(tree.AppendCanonical(nil, node(t, got)))
	if a != b {
		t.Errorf("%s (-real +ours):\n%s", about, cmp.Diff(a, b))
	}
}

// differences are what we say otherwise on purpose: both sides are made the same.
var differences = []struct {
	reason  string
	said    *regexp.Regexp
	instead string
}{
	{"the real one says what is no text as text; we show it", regexp.MustCompile(`( step each: \{"key":"[^"]*","value":).*`), "$1<value>"},
	{"the real one tells each of nothing from each of a text", regexp.MustCompile(`(\.each parameter, ).*`), "$1<why>"},
	{"the real one begins with the name of the error, which is in the completion", regexp.MustCompile(`(?m)^(.*\|failed\|)\w*Error: `), "$1"},
	{"the real one shows its own handbook; we give a hint", regexp.MustCompile(`( is not registered)(\. See |; ).*`), "$1"},
	{"we name the field, and not the instance", regexp.MustCompile(`(Invalid input passed to action \S+?), instance\.`), "$1: "},
}

var announced = regexp.MustCompile(`(?s)( in dry-run mode with inputs \(secrets redacted\): )\{.*`)

// alike makes what is said with a difference that is meant the same.
func alike(r *recorded, log []string) []string {
	var out []string
	failed, each := "", r.each()
	for _, line := range log {
		step, rest, _ := strings.Cut(strings.TrimPrefix(line, "log|"), "|")
		if each[step] {
			// Nobody knows what each is before it comes: the real one leaves it
			// out, and we say so.
			line = announced.ReplaceAllString(line, "$1<input>")
		}
		if failed == step && failed != "" && strings.HasPrefix(rest, "|") {
			// It is our hint: a step that has failed says nothing any more.
			continue
		}
		if strings.HasPrefix(rest, "failed|") {
			failed = step
		}
		out = append(out, sameWords(line))
	}
	return out
}

func sameWords(s string) string {
	for _, d := range differences {
		s = d.said.ReplaceAllString(s, d.instead)
	}
	return s
}

var starting = regexp.MustCompile(`^(.*)Starting up task with (\d+) steps$`)

// fewer is the log of trying out with the number of steps that we tell: the real
// one adds a step that looks what is in the workspace.
func fewer(t *testing.T, log []string) []string {
	t.Helper()
	out := slices.Clone(log)
	for i, line := range out {
		if m := starting.FindStringSubmatch(line); m != nil {
			n, err := strconv.Atoi(m[2])
			if err != nil {
				t.Fatal(err)
			}
			out[i] = fmt.Sprintf("%sStarting up task with %d steps", m[1], n-1)
		}
	}
	return out
}
