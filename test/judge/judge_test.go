// Package judge compares our task runner with the real scaffolder. testdata has
// the results of the real one for the Templates of our examples, in the
// upstream vocabulary and with debug:log in place of their actions; ours must
// give the same results for the current Templates. testdata/flows.yaml has
// Templates for features that the examples do not use.
//
// The results were recorded over HTTP from the router, worker, database and
// debug:log of the packages in testdata/versions.json, without the colours of
// their log. To record them again, install package.json outside the repository
// with npm install --legacy-peer-deps, and run, in this folder,
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

// user is the user who creates the tasks.
const user = "user:default/ann"

// TestDryRun makes a dry run of every Template with every recorded set of
// values, and compares the results.
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
					t.Errorf("%s: errors differ (-real +ours):\n%s", about, diff)
				}
				continue
			}
			if want.Error != "" || want.Errors != nil {
				t.Errorf("%s: dry run succeeded, want %s%s", about, want.Error, want.Errors)
				continue
			}
			same(t, about+": steps; if they were meant to change, run TestRecord again", r.Steps, tree.AppendJSON(nil, got.Steps, ""))
			same(t, about+": output", withoutEmptyLinks(t, want.Output), tree.AppendJSON(nil, got.Output, ""))
			var said []message
			for _, raw := range got.Log {
				said = append(said, decode[struct{ Body message }](t, raw).Body)
			}
			log, inputs := reduce(t, said)
			if diff := cmp.Diff(normalizeLog(r, fewer(t, want.Log)), normalizeLog(r, log)); diff != "" {
				t.Errorf("%s: logs differ (-real +ours):\n%s", about, diff)
			}
			compareInputs(t, about, want.Inputs, inputs)
		}
	}
	t.Logf("made %d dry runs", ran)
}

// TestTasks runs every Template with one set of values, and compares spec and
// events of the task.
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
				t.Errorf("%s: status is %s, want %s", about, found.Status, want.Status)
			}
			var said []message
			for _, e := range events {
				m := decode[message](t, e.Body)
				m.Type = e.Type
				if e.Type == "completion" && m.Error == nil {
					same(t, about+": output of the task", withoutEmptyLinks(t, want.Output), m.Output)
				}
				said = append(said, m)
			}
			log, inputs := reduce(t, said)
			if diff := cmp.Diff(normalizeLog(r, want.Events), normalizeLog(r, log)); diff != "" {
				t.Errorf("%s: events differ (-real +ours):\n%s", about, diff)
			}
			compareInputs(t, about, want.Inputs, inputs)
		}
	}
}

// withoutEmptyLinks returns an output without links that have no URL because their step
// was skipped; the real scaffolder returns them.
func withoutEmptyLinks(t *testing.T, output json.RawMessage) json.RawMessage {
	t.Helper()
	n := node(t, output)
	links := n.Get("links")
	if links == nil {
		return output
	}
	links.Items = slices.DeleteFunc(links.Items, func(l *tree.Node) bool { return !l.Has("url") && !l.Has("entityRef") })
	return tree.AppendJSON(nil, n, "")
}

// compareErrors compares validation errors with those of the real scaffolder,
// which stops at the first page with an error; ours reports all.
func compareErrors(t *testing.T, about string, want *answer, got *task.Invalid) {
	t.Helper()
	if len(want.Errors) == 0 || len(want.Errors) > len(got.Problems) {
		t.Errorf("%s: found %d problems, want at least %d: %v", about, len(got.Problems), len(want.Errors), got)
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

// same compares JSON. The order of keys does not matter, as JavaScript sorts
// numeric keys first.
func same(t *testing.T, about string, want, got []byte) {
	t.Helper()
	a, b := string(tree.AppendCanonical(nil, node(t, want))), string(tree.AppendCanonical(nil, node(t, got)))
	if a != b {
		t.Errorf("%s differs (-real +ours):\n%s", about, cmp.Diff(a, b))
	}
}

// differences are intended differences of messages, which are removed from both
// sides.
var differences = []struct {
	reason  string
	said    *regexp.Regexp
	instead string
}{
	{"The real scaffolder converts values of each to text; ours shows them.", regexp.MustCompile(`( step each: \{"key":"[^"]*","value":).*`), "$1<value>"},
	{"The real scaffolder has different errors for an empty each and an each of a text.", regexp.MustCompile(`(\.each parameter, ).*`), "$1<why>"},
	{"The real scaffolder begins with the name of the error, which is in the completion.", regexp.MustCompile(`(?m)^(.*\|failed\|)\w*Error: `), "$1"},
	{"The real scaffolder links to its handbook; ours gives a hint.", regexp.MustCompile(`( is not registered)(\. See |; ).*`), "$1"},
	{"Ours names the field without the instance.", regexp.MustCompile(`(Invalid input passed to action \S+?), instance\.`), "$1: "},
}

var announced = regexp.MustCompile(`(?s)( in dry-run mode with inputs \(secrets redacted\): )\{.*`)

// normalizeLog removes intended differences from a log.
func normalizeLog(r *recorded, log []string) []string {
	var out []string
	failed, each := "", r.each()
	for _, line := range log {
		step, rest, _ := strings.Cut(strings.TrimPrefix(line, "log|"), "|")
		if each[step] {
			// The value of each is not known in advance: the real scaffolder
			// leaves it out, and ours says so.
			line = announced.ReplaceAllString(line, "$1<input>")
		}
		if failed == step && failed != "" && strings.HasPrefix(rest, "|") {
			// This is our hint; in the real scaffolder a failed step logs
			// nothing more.
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

// fewer returns the log of a dry run with our number of steps: the real
// scaffolder adds a step that lists the workspace.
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
