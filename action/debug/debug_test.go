package debug

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/action"
	"example.dev/ingestor/action/actiontest"
	"example.dev/ingestor/document/tree"
)

func TestExamples(t *testing.T) {
	s := actiontest.New(t, Actions(Options{}))
	s.Examples(func(a action.Action, in *tree.Node) {
		if _, err := s.Run(a.ID, string(tree.AppendYAML(nil, in)), func(c *action.Call) { c.DryRun = true }); err != nil {
			t.Errorf("%s: %v", a.ID, err)
		}
	})
}

func TestLog(t *testing.T) {
	cases := map[string]struct {
		reason, input string
		files         map[string]string
		want          string
	}{
		"Message":   {"the input, then the message, as upstream", "message: 'Hello abc '\nlistWorkspace: true\n", nil, "{\n  \"message\": \"Hello abc \",\n  \"listWorkspace\": true\n}\nHello abc \nWorkspace:\n"},
		"Nothing":   {"nothing is asked for", "{}", nil, "{}"},
		"No":        {"a list that is not wanted", "listWorkspace: false", map[string]string{"a": "x"}, "{\n  \"listWorkspace\": false\n}"},
		"Names":     {"names alone, folders in their place", "listWorkspace: with-filenames", map[string]string{"b": "x", "a/c": "y", ".d": "z"}, "{\n  \"listWorkspace\": \"with-filenames\"\n}\nWorkspace:\n  - .d\n  - a/c\n  - b"},
		"Contents":  {"what is in them", "listWorkspace: with-contents", map[string]string{"a": "one\n", "b": "\x00\x01"}, "{\n  \"listWorkspace\": \"with-contents\"\n}\nWorkspace:\n - a:\n\n  one\n\n - b:\n\n  (it is no text, 2 bytes)"},
		"Extra":     {"anything else is told as JSON", "extra:\n  a: [1, x]\n", nil, "{\n  \"extra\": {\n    \"a\": [\n      1,\n      \"x\"\n    ]\n  }\n}"},
		"Directive": {"a message is no format", "message: '100%d'", nil, "{\n  \"message\": \"100%d\"\n}\n100%d"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := actiontest.New(t, Actions(Options{}))
			s.Write(tc.files)
			if _, err := s.Run(ActionLog, tc.input, nil); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, s.Log()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestLogMuch lists files that are together too long to be shown.
func TestLogMuch(t *testing.T) {
	s := actiontest.New(t, Actions(Options{}))
	s.Write(map[string]string{"a": strings.Repeat("x", maxContents), "b": "y", "c": ""})
	if _, err := s.Run(ActionLog, "listWorkspace: with-contents", nil); err != nil {
		t.Fatal(err)
	}
	if log := s.Log(); len(log) > maxContents+1000 || !strings.HasSuffix(log, " - b:\n\n  (it is too long to be shown)\n - c:\n\n  ") {
		t.Errorf("%d bytes, ending in %q", len(log), log[max(0, len(log)-100):])
	}
}

func TestWait(t *testing.T) {
	cases := map[string]struct {
		reason, input string
		dry           bool
		takes         time.Duration
		err           string
	}{
		"Sum":      {"all units together", "minutes: 1\nseconds: 1.5\nmilliseconds: 250\n", false, 61*time.Second + 750*time.Millisecond, ""},
		"Nothing":  {"no time at all", "{}", false, 0, ""},
		"Longest":  {"the most there is", "minutes: 10", false, 10 * time.Minute, ""},
		"Long":     {"more than that", "minutes: 10\nmilliseconds: 1\n", false, 0, "cannot wait for so long: 10m0s is the most"},
		"Endless":  {"more than a number can be", "minutes: 1e300", false, 0, "cannot wait for so long: 10m0s is the most"},
		"Negative": {"time does not run backwards", "seconds: -1", false, 0, `cannot wait for "-1" seconds: that is no length of time`},
		"Dry":      {"nobody waits for what is only tried out", "minutes: 9", true, 0, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				s := actiontest.New(t, Actions(Options{}))
				_, err := s.Run(ActionWait, tc.input, func(c *action.Call) { c.DryRun = tc.dry })
				if got := errText(err); got != tc.err {
					t.Errorf("%s: %q, want %q", tc.reason, got, tc.err)
				}
				if took := time.Since(begin); took != tc.takes {
					t.Errorf("%s: it took %v, want %v", tc.reason, took, tc.takes)
				}
			})
		})
	}
}

func TestWaitCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		begin := time.Now()
		a := Actions(Options{})[1]
		err := a.Run(ctx, &action.Call{Input: tree.Obj(tree.F("minutes", tree.Number(5))), Logf: t.Logf})
		if took := time.Since(begin); err == nil || took != 3*time.Second {
			t.Errorf("%v after %v", err, took)
		}
	})
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
