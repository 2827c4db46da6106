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
		"Message":   {"The log has the input, then the message, as upstream.", "message: 'Hello abc '\nlistWorkspace: true\n", nil, "{\n  \"message\": \"Hello abc \",\n  \"listWorkspace\": true\n}\nHello abc \nWorkspace:\n"},
		"Nothing":   {"An empty input is logged.", "{}", nil, "{}"},
		"No":        {"listWorkspace can be false.", "listWorkspace: false", map[string]string{"a": "x"}, "{\n  \"listWorkspace\": false\n}"},
		"Names":     {"The workspace is listed by name, folders in order.", "listWorkspace: with-filenames", map[string]string{"b": "x", "a/c": "y", ".d": "z"}, "{\n  \"listWorkspace\": \"with-filenames\"\n}\nWorkspace:\n  - .d\n  - a/c\n  - b"},
		"Contents":  {"The workspace is listed with contents.", "listWorkspace: with-contents", map[string]string{"a": "one\n", "b": "\x00\x01"}, "{\n  \"listWorkspace\": \"with-contents\"\n}\nWorkspace:\n - a:\n\n  one\n\n - b:\n\n  (not text, 2 bytes)"},
		"Extra":     {"Other fields are logged as JSON.", "extra:\n  a: [1, x]\n", nil, "{\n  \"extra\": {\n    \"a\": [\n      1,\n      \"x\"\n    ]\n  }\n}"},
		"Directive": {"A message is not a format string.", "message: '100%d'", nil, "{\n  \"message\": \"100%d\"\n}\n100%d"},
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

// TestLogMuch checks that files which are too long together are shortened.
func TestLogMuch(t *testing.T) {
	s := actiontest.New(t, Actions(Options{}))
	s.Write(map[string]string{"a": strings.Repeat("x", maxContents), "b": "y", "c": ""})
	if _, err := s.Run(ActionLog, "listWorkspace: with-contents", nil); err != nil {
		t.Fatal(err)
	}
	if log := s.Log(); len(log) > maxContents+1000 || !strings.HasSuffix(log, " - b:\n\n  (too large to be shown)\n - c:\n\n  ") {
		t.Errorf("log has %d bytes and ends in %q", len(log), log[max(0, len(log)-100):])
	}
}

func TestWait(t *testing.T) {
	cases := map[string]struct {
		reason, input string
		dry           bool
		takes         time.Duration
		err           string
	}{
		"Sum":      {"All units are added up.", "minutes: 1\nseconds: 1.5\nmilliseconds: 250\n", false, 61*time.Second + 750*time.Millisecond, ""},
		"Nothing":  {"An empty input does not wait.", "{}", false, 0, ""},
		"Longest":  {"The maximum duration is accepted.", "minutes: 10", false, 10 * time.Minute, ""},
		"Long":     {"A longer duration is refused.", "minutes: 10\nmilliseconds: 1\n", false, 0, "cannot wait that long: the limit is 10m0s"},
		"Endless":  {"A duration that overflows is refused.", "minutes: 1e300", false, 0, "cannot wait that long: the limit is 10m0s"},
		"Negative": {"A negative duration is refused.", "seconds: -1", false, 0, `cannot wait for "-1" seconds: not a duration`},
		"Dry":      {"A dry run does not wait.", "minutes: 9", true, 0, ""},
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
					t.Errorf("%s: took %v, want %v", tc.reason, took, tc.takes)
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
