package portal

import (
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"example.dev/ingestor/internal/app"
)

// TestConfigHelp checks that every config command has examples.
func TestConfigHelp(t *testing.T) {
	root := newCommand(&app.Env{Getenv: func(string) string { return "" }}, &serving{})
	cmd, _, err := root.Find([]string{"config"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range append([]*cobra.Command{cmd}, cmd.Commands()...) {
		if c.Long == "" || !strings.Contains(c.Example, "\n  "+c.CommandPath()+" ") {
			t.Errorf("%s has no help or no example", c.CommandPath())
		}
	}
}

// failing is a writer that fails.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestConfigOutputFails checks that a full disk is a failure, and a closed pipe
// is not.
func TestConfigOutputFails(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range [][]string{{"check"}, {"check", "--output-format", "json"}, {"print"}, {"schema"}} {
		for _, tc := range []struct {
			err  error
			code int
		}{{syscall.EPIPE, app.ExitOK}, {syscall.ENOSPC, app.ExitFailed}} {
			var notes strings.Builder
			env := &app.Env{Args: append([]string{"config"}, args...), Stdout: failing{tc.err}, Stderr: &notes, Getenv: func(string) string { return "" }}
			code := app.Run(t.Context(), Name, env, Run)
			if code != tc.code || (code == app.ExitOK) != (notes.Len() == 0) {
				t.Errorf("%q, %v: exit code %d, want %d\n%s", args, tc.err, code, tc.code, notes.String())
			}
		}
	}
}
