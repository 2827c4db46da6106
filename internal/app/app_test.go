package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRun(t *testing.T) {
	type want struct {
		Code           int
		Stdout, Stderr string
	}
	cases := map[string]struct {
		reason string
		err    error
		want   want
	}{
		"Fine":     {"Without an error nothing is printed.", nil, want{ExitOK, "result\n", ""}},
		"Plain":    {"Any error is a failure.", errors.New("cannot do it"), want{ExitFailed, "result\n", "prog: cannot do it\n"}},
		"Usage":    {"An Exit sets the code and prints its hint on the next line.", &Exit{Code: ExitUsage, Err: errors.New("no input given"), Hint: "name a file"}, want{ExitUsage, "result\n", "prog: no input given\n  name a file\n"}},
		"NoHint":   {"Without a hint there is no second line.", &Exit{Code: ExitNothing, Err: errors.New("nothing matched")}, want{ExitNothing, "result\n", "prog: nothing matched\n"}},
		"Silent":   {"An Exit without an error prints nothing.", &Exit{Code: ExitInvalid}, want{ExitInvalid, "result\n", ""}},
		"Wrapped":  {"An error that wraps an Exit adds to the message and keeps the code.", fmt.Errorf("cannot start: %w", &Exit{Code: ExitUnreachable, Err: errors.New("no route"), Hint: "check the address"}), want{ExitUnreachable, "result\n", "prog: cannot start: no route\n  check the address\n"}},
		"Joined":   {"The first Exit of several counts, and all messages are printed.", errors.Join(&Exit{Code: ExitUsage, Err: errors.New("one"), Hint: "mend it"}, errors.New("two")), want{ExitUsage, "result\n", "prog: one\ntwo\n  mend it\n"}},
		"Canceled": {"An interrupt is a failure.", context.Canceled, want{ExitFailed, "result\n", "prog: context canceled\n"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out, notes bytes.Buffer
			code := Run(t.Context(), "prog", &Env{Stdout: &out, Stderr: &notes}, func(_ context.Context, env *Env) error {
				_, _ = fmt.Fprintln(env.Stdout, "result")
				return tc.err
			})
			if diff := cmp.Diff(tc.want, want{code, out.String(), notes.String()}); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRunPanic checks that a panic is a failure that is reported with its stack.
func TestRunPanic(t *testing.T) {
	var notes bytes.Buffer
	code := Run(t.Context(), "prog", &Env{Stderr: &notes}, func(context.Context, *Env) error { panic("index out of luck") })
	if code != ExitFailed {
		t.Errorf("exit code is %d, want %d", code, ExitFailed)
	}
	for _, want := range []string{"prog: internal error: index out of luck\n", "This is a bug", "app_test.go:"} {
		if !strings.Contains(notes.String(), want) {
			t.Errorf("want %q in\n%s", want, notes.String())
		}
	}
}

func TestExit(t *testing.T) {
	cause := errors.New("cause")
	e := &Exit{Code: ExitUsage, Err: fmt.Errorf("wrapped: %w", cause)}
	if !errors.Is(e, cause) || e.Error() != "wrapped: cause" {
		t.Errorf("Exit has the message %q, want that of its error", e)
	}
	if got := (&Exit{Code: 3}).Error(); got != "exit code 3" {
		t.Errorf("Exit without an error has the message %q, want its code", got)
	}
}

// TestExitCodes pins the codes, as scripts of users depend on them.
func TestExitCodes(t *testing.T) {
	got := []int{ExitOK, ExitFailed, ExitInvalid, ExitNothing, ExitUsage, ExitUnreachable}
	if diff := cmp.Diff([]int{0, 1, 2, 3, 4, 5}, got); diff != "" {
		t.Errorf("exit codes (-want +got):\n%s", diff)
	}
}

func TestBuildVersion(t *testing.T) {
	if BuildVersion() == "" {
		t.Error("version is empty")
	}
	was := Version
	defer func() { Version = was }()
	Version = "v1.2.3"
	if got := BuildVersion(); got != "v1.2.3" {
		t.Errorf("BuildVersion() = %q, want the value of the linker", got)
	}
}
