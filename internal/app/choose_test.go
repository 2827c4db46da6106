package app

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// TestChoose wants an executable that is several programs to be the right one.
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
		"Named":      {"whoever builds it has chosen", "two", []string{"/bin/one", "one"}, "two", []string{"one"}},
		"Executable": {"a link is called after the program", "", []string{"/bin/one", "two"}, "one", []string{"two"}},
		"Windows":    {"there it has an ending", "", []string{"two.exe"}, "two", nil},
		"Argument":   {"else the first argument says", "", []string{"/bin/tool", "two", "--flag"}, "two", []string{"--flag"}},
		"Unknown":    {"nothing is run by chance", "", []string{"/bin/tool", "three"}, "", nil},
		"None":       {"nothing is run by chance", "", []string{"/bin/tool"}, "", nil},
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
				t.Errorf("%s: the error is %v", tc.reason, err)
			}
		})
	}
}
