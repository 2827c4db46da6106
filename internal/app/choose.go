package app

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// MainOneOf is Main for an executable that contains several programs. If name is
// empty, the program is chosen by the name of the executable or, if that names
// none, by the first argument.
func MainOneOf(name string, programs map[string]Program) {
	args := []string{""}
	if len(os.Args) > 0 {
		args = os.Args
	}
	name, rest, run := choose(name, args, programs)
	Main(name, func(ctx context.Context, env *Env) error {
		env.Args = rest
		return run(ctx, env)
	})
}

// choose returns the program to run, and its arguments. args begin with the
// executable.
func choose(name string, args []string, programs map[string]Program) (chosen string, rest []string, run Program) {
	called := strings.TrimSuffix(filepath.Base(args[0]), ".exe")
	rest = args[1:]
	switch {
	case name != "":
		chosen = name
	case programs[called] != nil:
		chosen = called
	case len(rest) > 0:
		chosen, rest = rest[0], rest[1:]
	}
	if run := programs[chosen]; run != nil {
		return chosen, rest, run
	}
	return called, rest, func(context.Context, *Env) error {
		return &Exit{
			Code: ExitUsage, Err: fmt.Errorf("cannot run program %q: want one of %s", chosen, strings.Join(slices.Sorted(maps.Keys(programs)), ", ")),
			Hint: "pass the program name as the first argument, or run the executable under that name",
		}
	}
}
