package flags

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"example.dev/ingestor/internal/app"
)

// program returns a program with files as arguments, and one with subcommands only.
func program(files bool) *cobra.Command {
	run := func(*cobra.Command, []string) error { return nil }
	root := &cobra.Command{Use: "prog", Args: Subcommand, RunE: run}
	if files {
		root.Args = Files
	}
	f := root.PersistentFlags()
	f.StringP("output", "o", "", "")
	f.String("output-format", "", "")
	f.BoolP("preview", "p", false, "")
	f.Bool("recursive", false, "")
	f.Bool("secret", false, "")
	f.Lookup("secret").Hidden = true
	serve := &cobra.Command{Use: "serve", Args: NoArguments, RunE: run}
	serve.Flags().String("listen", "", "")
	root.AddCommand(serve, &cobra.Command{Use: "commit", RunE: run})
	return Program(root)
}

func TestSuggestions(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	if err := os.WriteFile(filepath.Join(here, "serv"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		args   string
		files  bool
		want   string // empty: no error
	}{
		"Typo":          {"The flag that was meant is named.", "--otuput x", false, "unknown flag --otuput; did you mean --output?"},
		"Value":         {"A value after = is not part of the name.", "--otuput=x", false, "unknown flag --otuput; did you mean --output?"},
		"Beginning":     {"The beginning of a flag is enough, and the shortest one is suggested.", "--outp x", false, "unknown flag --outp; did you mean --output?"},
		"Unrelated":     {"Without a similar flag nothing is suggested.", "--frobnicate", false, "unknown flag --frobnicate"},
		"Hidden":        {"A hidden flag is not suggested.", "--secrt", false, "unknown flag --secrt"},
		"Inherited":     {"A subcommand suggests the flags of its program too.", "serve --recursiv", false, "unknown flag --recursiv; did you mean --recursive?"},
		"Own":           {"A subcommand suggests its own flags.", "serve --lisen", false, "unknown flag --lisen; did you mean --listen?"},
		"Other":         {"A program does not suggest the flags of its subcommands.", "--lisen", false, "unknown flag --lisen"},
		"Short":         {"A short form has no similar ones.", "-x", false, "unknown flag -x"},
		"ShortGroup":    {"In a group the unknown one is named.", "-pz", false, "unknown flag -z"},
		"OneDash":       {"A dash that is missing is a typo too.", "-recursive", false, "unknown flag -r; did you mean --recursive?"},
		"OneDashValue":  {"So it is with a value.", "-recursive=true", false, "unknown flag -r; did you mean --recursive?"},
		"OneDashKnown":  {"It may begin with a short form that exists.", "-preview", false, "unknown flag -r; did you mean --preview?"},
		"Umlaut":        {"A letter of several bytes is shown whole.", "-ü", false, "unknown flag -ü"},
		"Command":       {"The command that was meant is named.", "sevre", false, `unknown command "sevre"; did you mean serve?`},
		"CommandBegins": {"The beginning of a command is enough.", "comm", false, `unknown command "comm"; did you mean commit?`},
		"CommandOther":  {"Without a similar command nothing is suggested.", "frobnicate", false, `unknown command "frobnicate"`},
		"CommandHelp":   {"The help is a command too.", "hlep", false, `unknown command "hlep"; did you mean help?`},
		"Files":         {"A file that does not exist may be a command.", "comit", true, `no file and no command is named "comit"; did you mean commit?`},
		"FilesExist":    {"A file that exists is not a command.", "serv", true, ""},
		"FilesOther":    {"Another file is not a command, whether it exists or not.", "gone.yaml", true, ""},
		"FilesBegin":    {"The beginning of a command may be a file.", "comm", true, ""},
		"FilesSecond":   {"Only the first argument can be a command.", "serv comit", true, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := Execute(t.Context(), &app.Env{Args: strings.Fields(tc.args), Stdout: t.Output(), Stderr: t.Output()}, program(tc.files))
			got := ""
			if e, ok := errors.AsType[*app.Exit](err); ok {
				got = e.Error()
				if e.Code != app.ExitUsage || !strings.HasPrefix(e.Hint, "see prog ") {
					t.Errorf("%s: exit code is %d, hint %q; want a usage error and the help", tc.reason, e.Code, e.Hint)
				}
			} else if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
