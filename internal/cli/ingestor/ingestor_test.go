package ingestor

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/test/sample"
)

const escape = "\x1b["

// input writes the sample with a mistake to a file.
func input(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.yaml")
	text := bytes.Replace(sample.Definition(0), []byte("description: Region the"), []byte("desription: Region the"), 1)
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func run1(t *testing.T, env *app.Env) (stdout, stderr string, code int) {
	t.Helper()
	var out, notes bytes.Buffer
	env.Stdout, env.Stderr, env.Now = &out, &notes, time.Now
	if env.Getenv == nil {
		env.Getenv = func(string) string { return "" }
	}
	code = app.Run(t.Context(), Name, env, Run)
	return out.String(), notes.String(), code
}

func TestColor(t *testing.T) {
	path := input(t)
	cases := map[string]struct {
		reason                 string
		args                   []string
		noColor                string
		outTerminal, errTermin bool
		out, notes             bool // whether there is colour
	}{
		"Terminal":       {"A terminal gets colour.", []string{path, "--validate"}, "", true, true, true, true},
		"Preview":        {"A terminal gets colour in previews.", []string{path, "--preview"}, "", true, true, true, true},
		"NoTerminal":     {"Files and pipes get no colour.", []string{path, "--validate"}, "", false, false, false, false},
		"OutputOnly":     {"Each stream is checked separately.", []string{path, "--validate"}, "", true, false, true, false},
		"NotesOnly":      {"Each stream is checked separately, also if only standard error is a terminal.", []string{path, "--preview"}, "", false, true, false, true},
		"Flag":           {"--no-color disables colour.", []string{path, "--validate", "--no-color"}, "", true, true, false, false},
		"Environment":    {"NO_COLOR disables colour.", []string{path, "--validate"}, "1", true, true, false, false},
		"MachinesNever":  {"Reports for machines have no colour.", []string{path, "--validate", "--output-format", "json", "--quiet"}, "", true, false, false, false},
		"EntitiesNever":  {"Entities have no colour.", []string{path, "--stdout", "--quiet"}, "", true, false, false, false},
		"EntitiesInJSON": {"Entities in JSON have no colour.", []string{path, "--stdout", "--quiet", "--format", "json"}, "", true, false, false, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, notes, code := run1(t, &app.Env{
				Args: tc.args, StdoutTerminal: tc.outTerminal, StderrTerminal: tc.errTermin,
				Getenv: func(key string) string {
					if key == "NO_COLOR" {
						return tc.noColor
					}
					return ""
				},
			})
			if code != app.ExitOK {
				t.Fatalf("%s: exit code %d\n%s%s", tc.reason, code, out, notes)
			}
			if strings.Contains(out, escape) != tc.out {
				t.Errorf("%s: colour on standard output: %v, want %v\n%q", tc.reason, !tc.out, tc.out, out)
			}
			// Progress moves the cursor, but has no colour.
			coloured := regexp.MustCompile(`\x1b\[[0-9;]*m`).MatchString(notes)
			if coloured != tc.notes {
				t.Errorf("%s: colour on standard error: %v, want %v\n%q", tc.reason, coloured, tc.notes, notes)
			}
		})
	}
}

// TestNothingLeft checks that progress is cleared after a run.
func TestNothingLeft(t *testing.T) {
	_, notes, _ := run1(t, &app.Env{Args: []string{input(t), "--stdout", "--no-color"}, StderrTerminal: true})
	if strings.HasSuffix(strings.TrimRight(notes, "\n"), "definitions") && strings.Contains(notes, "transforming") {
		t.Errorf("progress is left on the terminal: %q", notes)
	}
	_, notes, _ = run1(t, &app.Env{Args: []string{input(t), "--stdout", "--quiet"}, StderrTerminal: true})
	if notes != "" {
		t.Errorf("--quiet printed %q", notes)
	}
}

// failing is a writer that fails.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestOutputFails(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
		args   []string
		code   int
		want   string
	}{
		"Pipe": {"A closed pipe is no failure.", syscall.EPIPE, []string{"--stdout", "--quiet"}, app.ExitOK, ""},
		"Full": {"A full disk is a failure.", syscall.ENOSPC, []string{"--stdout", "--quiet"}, app.ExitFailed, "ingestor-cli: cannot write entities: no space left on device\n"},
		"Report": {"A report that cannot be written is a failure.", syscall.ENOSPC, []string{"--validate", "--quiet", "--output-format", "json"},
			app.ExitFailed, "ingestor-cli: cannot write findings: no space left on device\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var notes bytes.Buffer
			code := app.Run(t.Context(), Name, &app.Env{
				Args: append(tc.args, input(t)), Stdout: failing{tc.err}, Stderr: &notes, Getenv: func(string) string { return "" }, Now: time.Now,
			}, Run)
			if code != tc.code || notes.String() != tc.want {
				t.Errorf("%s: exit code is %d, want %d; standard error is %q, want %q", tc.reason, code, tc.code, notes.String(), tc.want)
			}
		})
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := filepath.Join(t.TempDir(), "out")
	var out, notes bytes.Buffer
	code := app.Run(ctx, Name, &app.Env{
		Args: []string{input(t), "-o", dir}, Stdout: &out, Stderr: &notes, Getenv: func(string) string { return "" }, Now: time.Now,
	}, Run)
	if _, err := os.Stat(dir); code != app.ExitFailed || !os.IsNotExist(err) || notes.Len() == 0 {
		t.Errorf("exit code is %d, output %v, standard error %q", code, err, notes.String())
	}
}

// TestHandbook compares the tables of options in the handbook with the flags of the
// command and of its subcommand diff.
func TestHandbook(t *testing.T) {
	text, err := os.ReadFile("../../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\n## diff\n")
	diffs, after, found := strings.Cut(rest, "\n## ")
	if !found {
		t.Fatal("docs/cli.md has no section about diff, or it is the last one")
	}
	root := strings.TrimSuffix(string(text), rest) + after
	program := newCommand(&app.Env{Getenv: func(string) string { return "" }}, engine.Extension{})
	program.InitDefaultVersionFlag()
	sub, _, err := program.Find([]string{"diff"})
	if err != nil {
		t.Fatal(err)
	}
	for section, flags := range map[string]*pflag.FlagSet{root: program.Flags(), diffs: sub.LocalFlags()} {
		row := regexp.MustCompile("(?m)^\\| `(?:-(\\w), )?--([\\w-]+)` \\|.*\\| (?:`([^`]*)`|\\w*) ?\\|$")
		var documented, there []string
		for _, m := range row.FindAllStringSubmatch(section, -1) {
			documented = append(documented, fmt.Sprintf("--%s -%s", m[2], m[1]))
		}
		flags.VisitAll(func(f *pflag.Flag) { there = append(there, fmt.Sprintf("--%s -%s", f.Name, f.Shorthand)) })
		slices.Sort(documented)
		slices.Sort(there)
		if diff := cmp.Diff(there, documented); diff != "" {
			t.Errorf("flags of the command (-) and of docs/cli.md (+):\n%s", diff)
		}
	}
}

// TestContract compares the flags with the table of the contract: names,
// shorthands and defaults.
func TestContract(t *testing.T) {
	want := map[string][2]string{
		"recursive": {"", "false"}, "follow-symlinks": {"", "false"}, "output": {"o", "./catalog-entities"}, "format": {"f", "yaml"},
		"single-file": {"", "false"}, "stdout": {"", "false"}, "organize": {"", "false"},
		"owner": {"", ""}, "namespace": {"", "default"}, "tags": {"", "[]"}, "system": {"", ""}, "domain": {"", ""},
		"preview": {"p", "false"}, "validate": {"v", "false"}, "strict": {"", "false"}, "skip-validation": {"", "false"},
		"kind": {"", "[]"}, "api-version": {"", "[]"}, "name-pattern": {"", ""}, "label-selector": {"", ""},
		"quiet": {"", "false"}, "verbose": {"", "false"}, "debug": {"", "false"}, "no-color": {"", "false"},
	}
	flags := newCommand(&app.Env{Getenv: func(string) string { return "" }}, engine.Extension{}).Flags()
	for name, w := range want {
		f := flags.Lookup(name)
		if f == nil {
			t.Errorf("--%s is missing", name)
			continue
		}
		if f.Shorthand != w[0] || f.DefValue != w[1] {
			t.Errorf("--%s has the shorthand %q and default %q; want %q, %q", name, f.Shorthand, f.DefValue, w[0], w[1])
		}
	}
}
