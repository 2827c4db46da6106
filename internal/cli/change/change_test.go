package change

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/diff"
	"example.dev/ingestor/xrd/impact"
)

// sized returns a definition whose field takes some values.
func sized(values string) string {
	return `apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata: {name: buckets.example.org}
spec:
  group: example.org
  names: {kind: Bucket, plural: buckets}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    referenceable: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {size: {type: string, enum: [` + values + `]}}}}
`
}

// standIn starts an API server that has small resources of sized, and returns a kubeconfig
// for it.
func standIn(t *testing.T, resources int) string {
	t.Helper()
	type object = map[string]any
	items := make([]object, resources)
	for i := range items {
		items[i] = object{"apiVersion": "example.org/v1", "kind": "Bucket", "metadata": object{"name": fmt.Sprintf("r%d", i), "namespace": "team"}, "spec": object{"size": "small"}}
	}
	answers := map[string]object{
		"/apis/example.org/v1":         {"kind": "APIResourceList", "resources": []object{{"name": "buckets"}}},
		"/apis/example.org/v1/buckets": {"kind": "BucketList", "apiVersion": "example.org/v1", "metadata": object{"resourceVersion": "1"}, "items": items},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, ok := answers[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer) // The client sees that it is cut off.
	}))
	t.Cleanup(server.Close)
	return write(t, "kubeconfig", fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: one
contexts: [{name: one, context: {cluster: one, user: one}}]
clusters: [{name: one, cluster: {server: %q}}]
users: [{name: one, user: {token: secret}}]
`, server.URL))
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestProgress checks that a terminal sees how many resources are validated while they are,
// and that the line is gone before the result.
func TestProgress(t *testing.T) {
	args := []string{write(t, "old.yaml", sized("small, large")), write(t, "new.yaml", sized("large")), "--kubeconfig", standIn(t, 3)}
	const summary = "1 definition compared: 1 breaking change, 0 warnings, 0 compatible changes\n3 resources in 1 cluster checked, 3 affected\n"
	cases := map[string]struct {
		reason   string
		args     []string
		terminal bool
		want     string
	}{
		"Terminal": {"Each line replaces the one before it.", nil, true,
			"\r\x1b[Kvalidating 1 resources\r\x1b[Kvalidating 2 resources\r\x1b[Kvalidating 3 resources\r\x1b[K" + summary},
		"Pipe":  {"A log has no progress.", nil, false, summary},
		"Quiet": {"With --quiet there is no progress.", []string{"--quiet"}, true, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out, notes bytes.Buffer
			env := &app.Env{
				Args: append(args, tc.args...), Stdout: &out, Stderr: &notes, StderrTerminal: tc.terminal,
				Getenv: func(string) string { return "" }, Now: clock(),
			}
			code := app.Run(t.Context(), "ingestor-cli", env, func(ctx context.Context, env *app.Env) error {
				cmd := NewCommand(env, "ingestor-cli", engine.Extension{})
				cmd.SilenceErrors = true
				return flags.Execute(ctx, env, cmd)
			})
			if code != app.ExitInvalid {
				t.Errorf("%s\nexit code is %d: %s", tc.reason, code, notes.String())
			}
			if diff := cmp.Diff(tc.want, notes.String()); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// set parses definitions, each text as a file named a.yaml, b.yaml and so on.
func set(t *testing.T, texts ...string) *xrd.Set {
	t.Helper()
	var out xrd.Set
	for i, text := range texts {
		if err := out.Read(strings.NewReader(text), xrd.Origin{File: string(rune('a'+i)) + ".yaml"}); err != nil || len(out.Findings) > 0 {
			t.Fatal(err, out.Findings)
		}
	}
	return &out
}

// compared returns a session that has compared two sets.
func compared(t *testing.T, older, newer *xrd.Set) *session {
	t.Helper()
	s := &session{options: &options{failOn: failBreaking, base: "main"}}
	if err := s.compare(t.Context(), older, newer); err != nil {
		t.Fatal(err)
	}
	return s
}

// effect returns the result of an effect on two of three resources of a definition.
func effect(definition, rule, message string, outcome impact.Outcome) impact.Definition {
	return impact.Definition{Name: definition, Checked: 3, Affected: 2, Effects: []impact.Effect{{Rule: rule, Message: message, Outcome: outcome, Count: 2, Clusters: []string{"east"}}}}
}

// TestEffects checks which effects on resources count, and which change they belong to.
func TestEffects(t *testing.T) {
	buckets, queues := sized("small, large"), strings.NewReplacer("buckets", "queues", "Bucket", "Queue").Replace(sized("small, large"))
	renamed := strings.NewReplacer("buckets.example.org", "buckets.example.com", "group: example.org", "group: example.com").Replace(buckets)
	narrow := func(text string) string { return strings.Replace(text, "small, large", "large", 1) }
	const message = `v1: spec.size: enum value "small" removed`
	cases := map[string]struct {
		reason   string
		old, new []string
		effects  []impact.Definition
		failOn   string
		want     []string
		failed   bool
	}{
		"None": {"A change with a count of zero is still breaking.", []string{buckets}, []string{narrow(buckets)}, []impact.Definition{{Name: "buckets.example.org", Checked: 3}}, failBreaking,
			[]string{"error buckets.example.org: " + message}, true},
		"OwnDefinition": {"Two definitions with the same change have their own resources.", []string{buckets, queues}, []string{narrow(buckets), narrow(queues)},
			[]impact.Definition{effect("queues.example.org", diff.RuleEnumValue, message, impact.Refused)}, failBreaking, []string{
				"error buckets.example.org: " + message,
				"error queues.example.org: " + message + ": 2 of 3 resources in 1 cluster would be refused",
			}, true},
		"Renamed": {"Resources have the old name, changes the new one.", []string{buckets}, []string{narrow(renamed)},
			[]impact.Definition{effect("buckets.example.org", diff.RuleRenamed, "definition renamed from buckets.example.org to buckets.example.com (the kind is the same)", impact.Unserved)}, failBreaking, []string{
				"error buckets.example.com: definition renamed from buckets.example.org to buckets.example.com (the kind is the same): 2 of 3 resources in 1 cluster would no longer be served",
				"error buckets.example.com: " + message,
			}, true},
		"RenamedInPortal": {"A portal is asked as if the definition were removed.", []string{buckets}, []string{renamed},
			[]impact.Definition{effect("buckets.example.org", diff.RuleRemoved, "definition buckets.example.org removed", impact.Unserved)}, failBreaking, []string{
				"error buckets.example.com: definition renamed from buckets.example.org to buckets.example.com (the kind is the same): 2 of 3 resources in 1 cluster would no longer be served",
			}, true},
		"Unexplained": {"What no change explains fails the run.", []string{buckets}, []string{strings.Replace(buckets, "type: string,", "type: string, default: large,", 1)},
			[]impact.Definition{effect("buckets.example.org", "", "spec.size: is required", impact.Refused)}, failBreaking, []string{
				`warning buckets.example.org: v1: spec.size: default "large" added`,
				"error buckets.example.org: spec.size: is required: 2 of 3 resources in 1 cluster would be refused",
			}, true},
		"Never": {"With --fail-on never, nothing fails the run.", []string{buckets}, []string{buckets},
			[]impact.Definition{effect("buckets.example.org", "", "spec.size: is required", impact.Dropped)}, failNever, []string{
				"error buckets.example.org: spec.size: is required: 2 of 3 resources in 1 cluster would lose data",
			}, false},
		"Warning": {"A change with effects is breaking, whatever its rule is.", []string{buckets}, []string{strings.Replace(buckets, "type: string,", "type: string, default: large,", 1)},
			[]impact.Definition{effect("buckets.example.org", diff.RuleDefaultAdded, `v1: spec.size: default "large" added`, impact.Refused)}, failBreaking, []string{
				`error buckets.example.org: v1: spec.size: default "large" added: 2 of 3 resources in 1 cluster would be refused`,
			}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := compared(t, set(t, tc.old...), set(t, tc.new...))
			s.failOn, s.impact = tc.failOn, &impact.Result{Definitions: tc.effects}
			var got []string
			for _, f := range s.findings() {
				got = append(got, f.Severity.String()+" "+f.Object+": "+f.Message)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
			if err := s.verdict(); (err != nil) != tc.failed {
				t.Errorf("%s\nverdict is %v", tc.reason, err)
			}
			errors := 0
			for _, line := range tc.want {
				if strings.HasPrefix(line, "error") {
					errors++
				}
			}
			if sum := s.summary(); sum.Breaking != errors {
				t.Errorf("%s\nsummary has %d breaking changes, want %d", tc.reason, sum.Breaking, errors)
			}
		})
	}
}

// TestTwoEffects checks that a change with two effects is one finding.
func TestTwoEffects(t *testing.T) {
	s := compared(t, set(t, sized("small, large")), set(t, sized("large")))
	const message = `v1: spec.size: enum value "small" removed`
	d := effect("buckets.example.org", diff.RuleEnumValue, message, impact.Refused)
	d.Effects = append(d.Effects, impact.Effect{Rule: diff.RuleEnumValue, Message: message, Outcome: impact.Dropped, Count: 1, Clusters: []string{"east"}})
	s.impact = &impact.Result{Definitions: []impact.Definition{d}}
	want := message + ": 2 of 3 resources in 1 cluster would be refused; 1 of 3 resources in 1 cluster would lose data"
	if fs := s.findings(); len(fs) != 1 || fs[0].Message != want {
		t.Errorf("got %+v, want %q", fs, want)
	}
}

// TestNamedEffects checks that a comment names the definition of an effect if there are several.
func TestNamedEffects(t *testing.T) {
	const message = `v1: spec.size: enum value "small" removed`
	one, two := effect("buckets.example.org", diff.RuleEnumValue, message, impact.Refused), effect("queues.example.org", diff.RuleEnumValue, message, impact.Refused)
	cases := map[string]struct {
		reason  string
		effects []impact.Definition
		want    []string
	}{
		"One": {"It is the only one.", []impact.Definition{one}, []string{"<summary>v1: spec.size: enum"}},
		"Two": {"They have the same change.", []impact.Definition{one, two}, []string{"<summary>buckets.example.org: v1: spec.size: enum", "<summary>queues.example.org: v1: spec.size: enum"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := compared(t, set(t, sized("small, large")), set(t, sized("large")))
			s.impact = &impact.Result{Definitions: tc.effects}
			comment := s.comment()
			for _, want := range tc.want {
				if !strings.Contains(comment, want) {
					t.Errorf("%s\nno %q in\n%s", tc.reason, want, comment)
				}
			}
		})
	}
}

// TestConflicts checks when two definitions of the same name are reported: one of them is not
// compared.
func TestConflicts(t *testing.T) {
	one, two, three := sized("small, large"), sized("small, medium"), sized("small, huge")
	cases := map[string]struct {
		reason   string
		old, new []string
		want     string
	}{
		"New":     {"It was added.", []string{one}, []string{one, two}, "ignoring the one at b.yaml:1, which is not compared"},
		"Before":  {"It is not what changed.", []string{one, two}, []string{one, two}, ""},
		"Changed": {"Its change is not compared.", []string{one, two}, []string{one, three}, "ignoring the one at b.yaml:1, which is not compared"},
		"Same":    {"Copies are no conflict.", []string{one}, []string{one, one}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := compared(t, set(t, tc.old...), set(t, tc.new...))
			var got []string
			for _, f := range s.conflicts {
				got = append(got, f.Message)
			}
			comment := s.comment()
			switch {
			case tc.want == "" && (len(got) > 0 || strings.Contains(comment, "### Problems")):
				t.Errorf("%s\ngot %q and\n%s", tc.reason, got, comment)
			case tc.want != "" && (len(got) != 1 || !strings.Contains(got[0], tc.want) || !strings.Contains(comment, "### Problems\n")):
				t.Errorf("%s\ngot %q, want %q, and\n%s", tc.reason, got, tc.want, comment)
			}
			if len(s.unreadable) > 0 || strings.Contains(comment, "Unreadable") {
				t.Errorf("%s\na definition that is ignored is reported as unreadable: %v\n%s", tc.reason, s.unreadable, comment)
			}
		})
	}
}

// clock returns a clock that is a second later whenever it is read.
func clock() func() time.Time {
	var mu sync.Mutex
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Second)
		return now
	}
}
