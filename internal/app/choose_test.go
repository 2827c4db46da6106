package app

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// TestChoose checks which program of a combined executable runs.
func TestChoose(t *testing.T) {
	ran := ""
	program := func(name string) Program {
		return func(context.Context, *Env) error { ran = name; return nil }
	}
	programs := map[string]Program{"one": program("one"), "two": program("two")}
	cases := map[string]struct {
		reason string
		name   string
		args   []string
		want   string
		rest   []string
	}{
		"Named":      {"A program chosen at build time runs.", "two", []string{"/bin/one", "one"}, "two", []string{"one"}},
		"Executable": {"A link with the name of a program runs it.", "", []string{"/bin/one", "two"}, "one", []string{"two"}},
		"Windows":    {"The suffix .exe is ignored.", "", []string{"two.exe"}, "two", nil},
		"Argument":   {"The first argument names the program.", "", []string{"/bin/tool", "two", "--flag"}, "two", []string{"--flag"}},
		"Unknown":    {"An unknown program is an error.", "", []string{"/bin/tool", "three"}, "", nil},
		"None":       {"A missing program is an error.", "", []string{"/bin/tool"}, "", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ran = ""
			_, rest, run := choose(tc.name, tc.args, programs)
			err := run(t.Context(), &Env{})
			if ran != tc.want || tc.want != "" && !slices.Equal(rest, tc.rest) {
				t.Errorf("%s: %q ran with %q", tc.reason, ran, rest)
			}
			if e, ok := errors.AsType[*Exit](err); tc.want == "" && (!ok || e.Code != ExitUsage) {
				t.Errorf("%s: error is %v", tc.reason, err)
			}
		})
	}
}
