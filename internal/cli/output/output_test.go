package output

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/pipeline"
	"example.dev/ingestor/internal/report"
	"example.dev/ingestor/sink/dir"
	"example.dev/ingestor/source/file"
	"example.dev/ingestor/xrd"
)

// TestRules checks that every rule that can be reported is described once.
func TestRules(t *testing.T) {
	ids := map[string]bool{}
	for _, r := range Rules() {
		if ids[r.ID] {
			t.Errorf("rule %s is listed twice", r.ID)
		}
		if r.Title == "" {
			t.Errorf("rule %s has no title", r.ID)
		}
		ids[r.ID] = true
	}
	for _, id := range []string{
		xrd.RuleSyntax, xrd.RuleNotObject, xrd.RuleConflict, pipeline.RuleInternal, engine.RuleOrphan, engine.RuleClash, entity.RuleDuplicate,
	} {
		if !ids[id] {
			t.Errorf("rule %s is reported but not described: add it to Rules", id)
		}
	}
}

// TestRulesHandbook checks that the handbook has every rule with its severity.
func TestRulesHandbook(t *testing.T) {
	handbook, err := os.ReadFile("../../../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range Rules() {
		if !bytes.Contains(handbook, []byte("\n| "+r.ID+" | "+r.Severity.String()+" |")) {
			t.Errorf("rule %s, %s, is missing in docs/rules.md", r.ID, r.Severity)
		}
	}
}

func newVoice(out, notes *bytes.Buffer) *Output {
	return &Output{Program: "prog", Env: &app.Env{Stdout: out, Stderr: notes, Getenv: func(string) string { return "" }}}
}

func TestUnread(t *testing.T) {
	var out, notes bytes.Buffer
	missing := &file.Error{Path: "a", Err: fs.ErrNotExist, Hint: "check the spelling"}
	err := newVoice(&out, &notes).Unread(errors.Join(errors.New("one\x1b[2J"), errors.Join(missing, errors.New("three"))))
	want := "prog: one\\x1b[2J\nprog: cannot read \"a\": file does not exist\n  check the spelling\nprog: three\n"
	if diff := cmp.Diff(want, notes.String()); diff != "" || out.Len() > 0 {
		t.Errorf("errors with hints (-want +got):\n%s", diff)
	}
	if e, ok := errors.AsType[*app.Exit](err); !ok || e.Code != app.ExitFailed || e.Err != nil {
		t.Errorf("error of a failed run is %v, want it without a message", err)
	}
}

func TestComplain(t *testing.T) {
	var out, notes bytes.Buffer
	newVoice(&out, &notes).Complain(errors.New("no"), "do this:\n- a: b\n  c: d")
	if diff := cmp.Diff("prog: no\n  do this:\n  - a: b\n    c: d\n", notes.String()); diff != "" {
		t.Errorf("hint of several lines (-want +got):\n%s", diff)
	}
}

func TestFailure(t *testing.T) {
	if err := Failure(fmt.Errorf("cannot write: %w", syscall.EPIPE)); err != nil {
		t.Errorf("closed pipe returned %v, want no failure", err)
	}
	e, ok := errors.AsType[*app.Exit](Failure(&dir.Error{Path: "x", Err: fs.ErrPermission, Hint: "choose another"}))
	if !ok || e.Code != app.ExitFailed || e.Hint != "choose another" {
		t.Errorf("error of a directory is %v, want it with the hint", e)
	}
	other := errors.New("other")
	if err := Failure(other); !errors.Is(err, other) {
		t.Errorf("other error returned %v, want it unchanged", err)
	}
}

func TestLeast(t *testing.T) {
	cases := map[string]struct {
		reason string
		voice  Output
		format string
		strict bool
		want   finding.Severity
	}{
		"Plain":    {"Remarks are not shown by default.", Output{}, report.Text, false, finding.Warning},
		"Verbose":  {"With --verbose remarks are shown.", Output{Verbose: true}, report.Text, false, finding.Info},
		"Debug":    {"With --debug remarks are shown.", Output{Debug: true}, report.Text, false, finding.Info},
		"Machines": {"Formats for machines have all findings.", Output{}, report.JSON, false, finding.Info},
		"Quiet":    {"With --quiet only errors are shown.", Output{Quiet: true}, report.JSON, false, finding.Error},
		"Strict":   {"With --quiet findings that fail the run are shown.", Output{Quiet: true}, report.Text, true, finding.Warning},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.voice.Least(tc.format, tc.strict); got != tc.want {
				t.Errorf("%s: least severity is %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}
