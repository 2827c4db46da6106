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
		"None": {"nothing excludes nothing", nil, ""},
		"One":  {"one is fine", []string{"--a"}, ""},
		"Off":  {"a switch that is off was not given", []string{"--a=false", "--b"}, ""},
		"Two":  {"two are named", []string{"--a", "--b"}, "cannot use --a and --b together"},
		"All":  {"so are three", []string{"--c", "x", "--a", "--b"}, "cannot use --a and --b and --c together"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := Together(Given(newSet(t, tc.args...)), "a", "b", "c")
			got := ""
			if e, ok := errors.AsType[*app.Exit](err); ok && e.Code == app.ExitUsage && e.Hint != "" {
				got = e.Error()
			}
			if got != tc.want {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.want)
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
		"Fine":      {"references and a namespace", func(*Entities) {}, ""},
		"Owner":     {"an owner is a reference", func(e *Entities) { e.Owner = "a/b/c" }, "--owner takes name, namespace/name or kind:namespace/name"},
		"System":    {"so is a system", func(e *Entities) { e.System = ":" }, "--system takes name, namespace/name or kind:namespace/name"},
		"Domain":    {"so is a domain", func(e *Entities) { e.Domain = "x:y:z" }, "--domain takes name, namespace/name or kind:namespace/name"},
		"Namespace": {"a namespace that would be changed is refused, with what it would be", func(e *Entities) { e.Namespace = "My Team" }, "use lower-case letters, digits and dashes, such as my-team-0855b74b"},
		"Empty":     {"there is always one", func(e *Entities) { e.Namespace = "" }, "use lower-case letters, digits and dashes, such as default"},
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

// TestWordsNames wants every name that is offered to be understood.
func TestWordsNames(t *testing.T) {
	for _, name := range WordsNames {
		if _, err := Words(name, "prog"); err != nil {
			t.Errorf("--words %s is offered: %v", name, err)
		}
	}
}

func TestPattern(t *testing.T) {
	if re, err := Pattern("--p", ""); re != nil || err != nil {
		t.Errorf("no text, no pattern: %v, %v", re, err)
	}
	if re, err := Pattern("--p", "^a"); err != nil || !re.MatchString("ab") {
		t.Errorf("a pattern: %v, %v", re, err)
	}
	if e, ok := errors.AsType[*app.Exit](func() error { _, err := Pattern("--p", "("); return err }()); !ok || e.Code != app.ExitUsage {
		t.Errorf("what is no pattern is wrong usage: %v", e)
	}
}

func TestComplete(t *testing.T) {
	cmd := &cobra.Command{Use: "prog"}
	cmd.Flags().String("mode", "", "")
	Complete(cmd, map[string][]string{"mode": {"one", "two"}, "absent": {"x"}})
	offer, ok := cmd.GetFlagCompletionFunc("mode")
	if !ok {
		t.Fatal("nothing is offered")
	}
	got, how := offer(cmd, nil, "")
	if diff := cmp.Diff([]cobra.Completion{"one", "two"}, got); diff != "" || how != cobra.ShellCompDirectiveNoFileComp {
		t.Errorf("the values, and no files (-want +got):\n%s", diff)
	}
}
