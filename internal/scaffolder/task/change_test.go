package task

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/action"
)

// TestDryChanges checks that a dry run shows differences, except for
// confidential or unreadable content.
func TestDryChanges(t *testing.T) {
	t.Parallel()
	one := func(name, before, after string) action.Change {
		return action.Change{Where: "main of acme/live", Name: name, Before: []byte(before), After: []byte(after)}
	}
	at := func(s string) *string { return &s }
	long := strings.Repeat("x", mostDryText+1)
	cases := map[string]struct {
		reason string
		change action.Change
		want   DryChange
	}{
		"Changed": {"A change has the text before and after.", one("a", "1", "2"), DryChange{Kind: "change", Before: at("1"), After: at("2")}},
		"New":     {"A new object has no text before.", action.Change{After: []byte("2")}, DryChange{Kind: "add", After: at("2")}},
		"Gone":    {"A removed object has no text after.", action.Change{Before: []byte("1")}, DryChange{Kind: "remove", Before: at("1")}},
		"Empty":   {"An empty text is shown.", one("a", "", "2"), DryChange{Kind: "change", Before: at(""), After: at("2")}},
		"Masked":  {"Secrets of the task are masked.", one("hunter2", "a: hunter2", "b"), DryChange{Name: "***", Kind: "change", Before: at("a: ***"), After: at("b")}},
		"Binary":  {"Binary content is hidden.", one("a", "1", "2\x00"), DryChange{Kind: "change", Hidden: "binary"}},
		"Latin":   {"Text that is not UTF-8 is hidden.", one("a", "1", "2\xff"), DryChange{Kind: "change", Hidden: "binary"}},
		"Large":   {"A text that is too long is hidden.", one("a", long, "2"), DryChange{Kind: "change", Hidden: "large"}},
		"Secret":  {"A Kubernetes Secret is hidden.", one("a", "apiVersion: v1\nkind: Secret\ndata: {a: b}\n", "2"), DryChange{Kind: "change", Hidden: "secret"}},
		"Quoted":  {"A Secret is hidden in any YAML spelling.", one("a", "1", "- \"kind\": 'Secret' # ours\n"), DryChange{Kind: "change", Hidden: "secret"}},
		"JSON":    {"A Secret is hidden in JSON.", one("a", `{"apiVersion": "v1", "kind":"Secret","data":{}}`, "2"), DryChange{Kind: "change", Hidden: "secret"}},
		"Store":   {"A kind that only begins with Secret is shown.", one("a", "kind: SecretStore\n", "2"), DryChange{Kind: "change", Before: at("kind: SecretStore\n"), After: at("2")}},
		"Foreign": {"An action can hide a change.", action.Change{Before: []byte("1"), Hidden: action.HiddenForeign}, DryChange{Kind: "remove", Hidden: "foreign"}},
	}
	tells := newAction("test:tells", func(_ context.Context, c *action.Call) error {
		c.Change(cases[c.Input.Get("case").Str()].change)
		return nil
	})
	tells.DryRun = true
	w := open(t, onSQLite(t), Options{Actions: []action.Action{tells}})
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := DryOrder{Order: order(t, `{steps: [{id: tells, action: test:tells, input: {case: `+name+`}}]}`, `{}`)}
			o.Secrets = hunter
			got, err := w.tasks.DryRun(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			tc.want.Step, tc.want.Where = "tells", tc.change.Where
			if tc.want.Name == "" {
				tc.want.Name = tc.change.Name
			}
			if diff := cmp.Diff([]DryChange{tc.want}, got.Changes); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDryChangesBounded checks the limits on stored changes.
func TestDryChangesBounded(t *testing.T) {
	l := &dryChanges{}
	for i := range mostDryChanges + 10 {
		l.add("s", action.Change{Name: fmt.Sprint(i), After: []byte(strings.Repeat("x", mostDryText))})
	}
	all := l.close()
	shown := 0
	for _, c := range all {
		if c.After != nil {
			shown++
		}
	}
	if len(all) != mostDryChanges || shown != mostDryTexts/mostDryText {
		t.Errorf("%d changes are named and %d shown", len(all), shown)
	}
	l.add("s", action.Change{})
	if len(l.close()) != mostDryChanges {
		t.Error("change after the end was stored")
	}
}
