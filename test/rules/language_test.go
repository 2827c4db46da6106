package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// phrase is wording that readers stumble over.
type phrase struct {
	pattern *regexp.Regexp
	instead string
}

// phrases are not written anywhere: in comments, messages, pages or documents.
var phrases = []phrase{
	{regexp.MustCompile(`\b([Nn]o|[Ss]ome)body\b`), "name the component or the user"},
	{regexp.MustCompile(`(?i)\bwho(so)?ever\b`), "name the component or the user"},
	{regexp.MustCompile(`(?i)\bone's own\b`), "name the owner"},
	{regexp.MustCompile(`(?i)\bof its own accord\b`), "say automatically, or what triggers it"},
	{regexp.MustCompile(`(?i)\bnevertheless\b`), "say although, or leave it out"},
	{regexp.MustCompile(`(?i)\bwhat is [a-z]+ is\b`), "name the thing"},
}

// pronoun is how a message does not begin: it is read far from what it is about.
var pronoun = regexp.MustCompile(`(?i)^(it|they|this|that|these|those|some(body|one)|no(body| one)|who|what|there)('s)? `)

// logMethods are the methods of slog.Logger, and of wrappers, that take keys.
var logMethods = []string{"Debug", "Info", "Warn", "Error", "Log", "DebugContext", "InfoContext", "WarnContext", "ErrorContext", "With", "warn"}

// TestLanguage holds the texts of the project against the style of CONTRIBUTING.md.
func TestLanguage(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("git", "ls-files", "-z", "*.go", "*.md", "*.ts", "*.tsx", "*.css", "*.yaml", "*.sh", "Makefile")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("cannot list the files of the project without Git: %v", err)
	}
	files := 0
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if skipsLanguage(name) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		files++
		for _, problem := range languageProblems(t, name, string(data)) {
			t.Error(problem)
		}
	}
	if files < 500 {
		t.Errorf("only %d files were checked", files)
	}
}

// skipsLanguage reports whether a file is not written here, or quotes other texts: an
// account of Unix, a value of earlier versions, the name of a transcript.
func skipsLanguage(name string) bool {
	return strings.Contains(name, "testdata/") || strings.HasSuffix(name, "schema.d.ts") || name == "CHANGELOG.md" ||
		strings.HasPrefix(name, "test/rules/language") || name == "test/postgres/install.go" || name == "internal/identity/identity.go" || name == "test/portal/differences_test.go"
}

// languageProblems returns what is wrong with a file.
func languageProblems(t *testing.T, name, text string) (problems []string) {
	t.Helper()
	n := 0
	for line := range strings.Lines(text) {
		n++
		for _, p := range phrases {
			if found := p.pattern.FindString(line); found != "" {
				problems = append(problems, name+":"+strconv.Itoa(n)+": "+strconv.Quote(found)+": "+p.instead)
			}
		}
	}
	if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
		return problems
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		method := calledName(call)
		for i, arg := range call.Args {
			lit, ok := arg.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				continue
			}
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			at := set.Position(lit.Pos()).String() + ": "
			if i == 0 && (method == "errors.New" || method == "fmt.Errorf") && pronoun.MatchString(text) {
				problems = append(problems, at+"error begins with a pronoun: "+strconv.Quote(text))
			}
			if i > 0 && text == "err" && slices.Contains(logMethods, method[strings.LastIndexByte(method, '.')+1:]) {
				problems = append(problems, at+`log the error under the key "error"`)
			}
		}
		return true
	})
	return problems
}

// calledName returns the name of the function of a call, as it is written.
func calledName(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok {
			return x.Name + "." + f.Sel.Name
		}
		return "." + f.Sel.Name
	}
	return ""
}

// TestLanguageProblems checks that the check finds something.
func TestLanguageProblems(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, text, want string
	}{
		"Plain":     {"Plain English passes.", "package a\n\n// a reports whether b is empty.\n", ""},
		"Nobody":    {"Components have names.", "package a\n\n// a is called by nobody.\n", `a.go:3: "nobody": name the component or the user`},
		"Pronoun":   {"Errors name their subject.", "package a\n\nvar err = errors.New(\"it is empty\")\n", `a.go:3:22: error begins with a pronoun: "it is empty"`},
		"Formatted": {"Formatted errors too.", "package a\n\nvar err = fmt.Errorf(\"that is %d\", 1)\n", `a.go:3:22: error begins with a pronoun: "that is %d"`},
		"Key":       {"One key for errors.", "package a\n\nfunc f() { log.Warn(\"scan failed\", \"err\", err) }\n", `a.go:3:36: log the error under the key "error"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := strings.Join(languageProblems(t, "a.go", tc.text), "\n"); got != tc.want {
				t.Errorf("%s\ngot  %s\nwant %s", tc.reason, got, tc.want)
			}
		})
	}
}
