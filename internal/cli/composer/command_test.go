package composer

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/app"
)

func commands() (*cobra.Command, []*cobra.Command) {
	root := newCommand(&app.Env{Getenv: func(string) string { return "" }}, engine.Extension{})
	return root, root.Commands()
}

// TestHelp checks that every command has examples, and that every flag with few
// values completes them.
func TestHelp(t *testing.T) {
	root, all := commands()
	for _, cmd := range append(all, root) {
		if cmd.Long == "" || !strings.Contains(cmd.Example, "\n  "+cmd.CommandPath()+" ") {
			t.Errorf("%s has no help or no example", cmd.CommandPath())
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			few := regexp.MustCompile("^`\\w+`.*: \\w+").MatchString(f.Usage)
			if _, offers := cmd.GetFlagCompletionFunc(f.Name); offers != few {
				t.Errorf("%s --%s completes values: %v, want %v", cmd.CommandPath(), f.Name, offers, few)
			}
		})
	}
}

// TestContract compares commands and flags with the table of the contract.
func TestContract(t *testing.T) {
	_, all := commands()
	want := map[string]map[string]string{
		"discover": {"cluster": "[]", "output": "table"}, "transform": {"xrd": "[]", "output": "."},
		"export":   {"cluster": "[]", "format": "catalog", "output": "./catalog-entities"},
		"validate": {"xrd": "[]"}, "test-connection": {"cluster": "[]"}, "explain": {"xrd": "[]"},
	}
	for _, cmd := range all {
		for name, def := range want[cmd.Name()] {
			if f := cmd.Flag(name); f == nil || f.DefValue != def {
				t.Errorf("%s --%s is %v, want the default %q", cmd.Name(), name, f, def)
			}
		}
		delete(want, cmd.Name())
	}
	if len(want) > 0 {
		t.Errorf("commands are missing: %v", want)
	}
}

// TestHandbook compares the tables of options in the handbook with the flags.
func TestHandbook(t *testing.T) {
	text, err := os.ReadFile("../../../docs/composer-ingestor.md")
	if err != nil {
		t.Fatal(err)
	}
	head := regexp.MustCompile("^## (.*)$")
	row := regexp.MustCompile("^\\| `(?:-(\\w), )?--([\\w-]+)` \\|.*\\|$")
	var documented, there []string
	section := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if m := head.FindStringSubmatch(line); m != nil {
			section = m[1]
		}
		if m := row.FindStringSubmatch(line); m != nil {
			documented = append(documented, fmt.Sprintf("%s --%s -%s", section, m[2], m[1]))
		}
	}
	root, all := commands()
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) {
		there = append(there, fmt.Sprintf("Common options --%s -%s", f.Name, f.Shorthand))
	})
	for _, cmd := range all {
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			there = append(there, fmt.Sprintf("%s --%s -%s", cmd.Name(), f.Name, f.Shorthand))
		})
	}
	slices.Sort(documented)
	slices.Sort(there)
	if diff := cmp.Diff(there, documented); diff != "" {
		t.Errorf("flags of the command (-) and of docs/composer-ingestor.md (+):\n%s", diff)
	}
}

// failing is a writer that fails.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestOutputFails(t *testing.T) {
	config := configure(t, "", newStandIn(t, definition("apps.example.org")))
	for _, args := range [][]string{
		{"discover"}, {"discover", "-o", "json"}, {"transform", "--cluster", "a", "--stdout"}, {"validate", "--cluster", "a"},
		{"validate", "--cluster", "a", "--output-format", "json"}, {"test-connection"}, {"explain", "apps.example.org"},
	} {
		for _, tc := range []struct {
			err  error
			code int
		}{{syscall.EPIPE, app.ExitOK}, {syscall.ENOSPC, app.ExitFailed}} {
			var notes strings.Builder
			code := app.Run(t.Context(), Name, &app.Env{
				Args: append(args, "--config", config, "--quiet"), Stdout: failing{tc.err}, Stderr: &notes, Getenv: func(string) string { return "" }, Now: time.Now,
			}, Run)
			if code != tc.code || (code == app.ExitOK) != (notes.Len() == 0) {
				t.Errorf("%q, %v: exit code %d, want %d\n%s", args, tc.err, code, tc.code, notes.String())
			}
		}
	}
}
