package flags

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.dev/ingestor/internal/app"
)

func newSet(t *testing.T, args ...string) *pflag.FlagSet {
	t.Helper()
	f := pflag.NewFlagSet("prog", pflag.ContinueOnError)
	f.Bool("a", false, "")
	f.Bool("b", false, "")
	f.String("c", "", "")
	if err := f.Parse(args); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestTogether(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"None": {"Without flags nothing is excluded.", nil, ""},
		"One":  {"One flag is accepted.", []string{"--a"}, ""},
		"Off":  {"A switch that is off does not count.", []string{"--a=false", "--b"}, ""},
		"Two":  {"Two flags are reported.", []string{"--a", "--b"}, "cannot use --a and --b together"},
		"All":  {"Three flags are reported.", []string{"--c", "x", "--a", "--b"}, "cannot use --a and --b and --c together"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := Together(Given(newSet(t, tc.args...)), "a", "b", "c")
			got := ""
			if e, ok := errors.AsType[*app.Exit](err); ok && e.Code == app.ExitUsage && e.Hint != "" {
				got = e.Error()
			}
			if got != tc.want {
				t.Errorf("%s: error is %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}

func TestEntities(t *testing.T) {
	good := Entities{Owner: "user:default/me", System: "payments", Namespace: "default"}
	cases := map[string]struct {
		reason string
		change func(*Entities)
		hint   string
	}{
		"Fine":      {"Valid references and a namespace are accepted.", func(*Entities) {}, ""},
		"Owner":     {"An owner must be a reference.", func(e *Entities) { e.Owner = "a/b/c" }, "--owner takes name, namespace/name or kind:namespace/name"},
		"System":    {"A system must be a reference.", func(e *Entities) { e.System = ":" }, "--system takes name, namespace/name or kind:namespace/name"},
		"Domain":    {"A domain must be a reference.", func(e *Entities) { e.Domain = "x:y:z" }, "--domain takes name, namespace/name or kind:namespace/name"},
		"Namespace": {"An invalid namespace is refused with a valid suggestion.", func(e *Entities) { e.Namespace = "My Team" }, "use lower-case letters, digits and dashes, such as my-team-0855b74b"},
		"Empty":     {"An empty namespace is refused.", func(e *Entities) { e.Namespace = "" }, "use lower-case letters, digits and dashes, such as default"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := good
			tc.change(&e)
			hint := ""
			if x, ok := errors.AsType[*app.Exit](e.Check()); ok {
				hint = x.Hint
			}
			if diff := cmp.Diff(tc.hint, hint); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestWordsNames checks that every offered vocabulary is accepted.
func TestWordsNames(t *testing.T) {
	for _, name := range WordsNames {
		if _, err := Words(name, "prog"); err != nil {
			t.Errorf("offered vocabulary %s is refused: %v", name, err)
		}
	}
}

func TestPattern(t *testing.T) {
	if re, err := Pattern("--p", ""); re != nil || err != nil {
		t.Errorf("empty pattern returned %v, %v", re, err)
	}
	if re, err := Pattern("--p", "^a"); err != nil || !re.MatchString("ab") {
		t.Errorf("valid pattern returned %v, %v", re, err)
	}
	if e, ok := errors.AsType[*app.Exit](func() error { _, err := Pattern("--p", "("); return err }()); !ok || e.Code != app.ExitUsage {
		t.Errorf("invalid pattern returned %v, want a usage error", e)
	}
}

func TestComplete(t *testing.T) {
	cmd := &cobra.Command{Use: "prog"}
	cmd.Flags().String("mode", "", "")
	Complete(cmd, map[string][]string{"mode": {"one", "two"}, "absent": {"x"}})
	offer, ok := cmd.GetFlagCompletionFunc("mode")
	if !ok {
		t.Fatal("no completion is offered")
	}
	got, how := offer(cmd, nil, "")
	if diff := cmp.Diff([]cobra.Completion{"one", "two"}, got); diff != "" || how != cobra.ShellCompDirectiveNoFileComp {
		t.Errorf("completions (-want +got):\n%s", diff)
	}
}
