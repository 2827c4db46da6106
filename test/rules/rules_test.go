// Package rules holds the plan of the house as tests: which room may import
// which, where each heavy import lives, what the pure rooms may not touch, and
// how files and folders are named. When the plan changes, change it in docs/design/
// and here in the same step.
package rules

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

const (
	module   = "example.dev/ingestor"
	root     = "../.."
	maxLines = 500
)

// A room is a folder of the plan with everything below it. Packages of one
// room may import one another.
type room struct {
	// ours are the other rooms it may import.
	ours []string
	// pure says that it is computation alone: no package of sideEffects, and
	// no third-party package but those in outside.
	pure    bool
	outside []string
	// despite are the packages of sideEffects a pure room may import all the
	// same, for their types.
	despite []string
}

// public is the library: what a program of somebody else may import.
var public = []string{"document", "words", "xrd", "entity", "template", "engine", "source", "sink", "action"}

// plan is the whole house, in the order data flows.
var plan = map[string]room{
	"cmd": {ours: []string{"internal/app", "internal/cli"}},
	// The backend as a program of somebody else.
	"cmd/portal-backend/backend": {ours: []string{"action", "engine", "internal/app", "internal/cli"}},

	"document": {pure: true, outside: []string{"go.yaml.in/yaml/v3"}},
	"words":    {pure: true, ours: []string{"document"}},
	"xrd":      {pure: true, ours: []string{"words", "document", "internal/text"}, despite: []string{"time"}},
	// The API server's own code, for what only that can tell of a schema.
	"xrd/structural": {ours: []string{"document", "xrd"}},
	"entity":         {pure: true, ours: []string{"words", "document"}},
	"template": {pure: true, ours: []string{"document", "internal/text"}, outside: []string{"github.com/grafana/sobek", "github.com/dlclark/regexp2"},
		// A render is bounded by a duration.
		despite: []string{"time"}},
	"engine": {pure: true, ours: []string{"words", "document", "xrd", "entity", "template", "internal/text"},
		despite: []string{"time"}},

	"source": {ours: []string{"words", "document", "xrd", "internal/git/remote", "internal/secret"}},
	"sink":   {ours: []string{"document", "entity", "internal/git/remote", "internal/secret"}},
	"action": {ours: []string{"words", "document", "xrd", "entity", "template", "source", "sink",
		"internal/git/forge", "internal/secret"}},

	"internal/app":    {},
	"internal/term":   {},
	"internal/text":   {pure: true},
	"internal/report": {ours: []string{"document", "internal/term"}},
	// A text that is shown to nobody.
	"internal/secret": {},
	// Mutual exclusion between processes.
	"internal/lock": {},
	// Texts that wait in a file for their turn.
	"internal/spool": {},

	// Git servers: repositories, change requests, files.
	"internal/git":        {ours: []string{"action", "source", "sink", "internal/config", "internal/lock", "internal/secret"}},
	"internal/git/forge":  {ours: []string{"internal/secret"}},
	"internal/git/remote": {ours: []string{"internal/lock", "internal/secret"}},

	"internal/config": {ours: []string{"words", "document", "xrd", "entity", "engine", "source", "internal/secret", "internal/text"}},
	// What the database is to the slices: no table is its own.
	"internal/db": {},
	// The only coordinator.
	"internal/jobs": {ours: []string{"internal/db"}},
	// What handlers of requests are made of.
	"internal/rest": {ours: []string{"document", "internal/config", "internal/db", "internal/text"}},

	// The slices: a capability each, from SQL to HTTP.
	"internal/identity": {ours: []string{"document", "entity", "action", "internal/config", "internal/db", "internal/rest", "internal/secret", "internal/catalog/store"}},
	"internal/catalog": {ours: slices.Concat(public, []string{"internal/config", "internal/db", "internal/identity", "internal/ingestion/mirror",
		"internal/rest", "internal/spool", "internal/text"})},
	"internal/ingestion": {ours: slices.Concat(public, []string{"internal/catalog/query", "internal/catalog/store", "internal/config", "internal/db",
		"internal/identity", "internal/jobs", "internal/pipeline", "internal/rest"})},
	"internal/scaffolder": {ours: slices.Concat(public, []string{"internal/catalog", "internal/db", "internal/git/fetch", "internal/identity", "internal/jobs",
		"internal/rest", "internal/secret", "internal/text"})},
	"internal/scaffolder/validation": {pure: true, ours: []string{"document"}, outside: []string{"github.com/dlclark/regexp2"},
		// A pattern is bounded by a duration.
		despite: []string{"time"}},
	// The only room that knows all slices.
	"internal/server": {ours: slices.Concat(public, []string{"web", "internal/catalog", "internal/config", "internal/db", "internal/git", "internal/identity",
		"internal/ingestion", "internal/jobs", "internal/lock", "internal/rest", "internal/scaffolder", "internal/secret"})},

	"internal/pipeline": {ours: []string{"words", "document", "xrd", "entity", "engine", "source", "sink", "internal/spool"}},
	"internal/cli": {ours: slices.Concat(public, []string{
		"internal/app", "internal/config", "internal/pipeline", "internal/server", "internal/report", "internal/term"})},
	"web": {},
	// The command-line programs as those of somebody else.
	".": {ours: []string{"engine", "internal/app", "internal/cli"}},

	// An example is somebody else's program; a test may look everywhere.
	"examples": {ours: slices.Concat(public, []string{"cmd/portal-backend/backend", "."})},
	"test":     {ours: slices.Concat(public, []string{"cmd", "internal", "web"})},
}

// homes are the only rooms that import a heavy package, or one below it;
// nobody imports one without a home. The depguard rules of .golangci.yml say
// the same to editors.
var homes = map[string][]string{
	"k8s.io":                      {"source/cluster", "action/cluster", "xrd/structural"},
	"github.com/go-git":           {"internal/git/remote", "source/git", "sink/git"},
	"github.com/grafana/sobek":    {"template/eta"},
	"github.com/spf13/cobra":      {"internal/cli"},
	"github.com/spf13/pflag":      {"internal/cli"},
	"database/sql":                {"internal/db", "internal/jobs", "internal/catalog/store", "internal/identity/auth", "internal/ingestion/mirror", "internal/scaffolder/taskstore", "test/database"},
	"github.com/jackc/pgx":        {"internal/db", "internal/jobs"},
	"modernc.org/sqlite":          {"internal/db", "internal/jobs"},
	"github.com/riverqueue":       {"internal/jobs"},
	"github.com/redis":            {"internal/ingestion/marks"},
	"github.com/stretchr/testify": nil,
	"github.com/onsi/gomega":      nil,
	"sigs.k8s.io/yaml":            nil,
	"gopkg.in/yaml.v2":            nil,
	"gopkg.in/yaml.v3":            nil,
}

// without are programs that must not link a package, however far down.
var without = map[string][]string{
	"cmd/xrd-transform": {"k8s.io/client-go"},
	"cmd/ingestor-cli":  {"k8s.io/client-go"},
}

// sideEffects reach the machine, the network, the clock or chance.
var sideEffects = []string{
	"crypto/rand", "log", "log/slog", "math/rand", "math/rand/v2", "net", "net/http",
	"os", "os/exec", "os/signal", "os/user", "syscall", "time",
}

// corridors are names that say nothing about what is inside.
var corridors = []string{"util", "utils", "common", "helpers", "models", "types", "manager", "misc"}

// within reports whether pkg is dir or lies below it.
func within(pkg, dir string) bool {
	return pkg == dir || strings.HasPrefix(pkg, dir+"/")
}

func withinAny(pkg string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return within(pkg, dir) })
}

// roomOf returns the room of the plan that the package in folder dir is in.
func roomOf(dir string) (string, bool) {
	for d := dir; ; d = path.Dir(d) {
		// The package of the module itself is a room; what is below it is not in it.
		if _, ok := plan[d]; ok && (d != "." || dir == ".") {
			return d, true
		}
		if d == "." {
			return "", false
		}
	}
}

// judge says why the package in folder dir may not import imp, or returns "".
func judge(dir, imp string) string {
	name, ok := roomOf(dir)
	if !ok {
		return fmt.Sprintf("%s is in no room of the plan: add it to docs/design/ and to the plan in test/rules", dir)
	}
	r := plan[name]
	ours, ok := strings.CutPrefix(imp, module+"/")
	if imp == module {
		ours, ok = ".", true
	}
	if ok {
		if within(ours, name) || withinAny(ours, r.ours) {
			return ""
		}
		return fmt.Sprintf("%s may import of ours only [%s]", name, strings.Join(r.ours, " "))
	}
	if why := judgeHeavy(dir, imp); why != "" || !r.pure {
		return why
	}
	if slices.Contains(sideEffects, imp) && !slices.Contains(r.despite, imp) {
		return fmt.Sprintf("%s is pure: what it needs of %s comes in as an argument", name, imp)
	}
	// The first element of a standard library path has no dot.
	first, _, _ := strings.Cut(imp, "/")
	if strings.Contains(first, ".") && !withinAny(imp, r.outside) {
		return fmt.Sprintf("%s is pure: beside the standard library it may import only [%s]", name, strings.Join(r.outside, " "))
	}
	return ""
}

// judgeHeavy says why the package in folder dir is no home for imp, or returns
// "". Tests are held to this part of the rule too.
func judgeHeavy(dir, imp string) string {
	for heavy, at := range homes {
		if !within(imp, heavy) || withinAny(dir, at) {
			continue
		}
		if len(at) == 0 {
			return fmt.Sprintf("%s is not used in this project", heavy)
		}
		return fmt.Sprintf("%s lives only in %s", heavy, strings.Join(at, " and "))
	}
	return ""
}

func TestJudge(t *testing.T) {
	cases := map[string]struct {
		reason string
		dir    string
		imp    string
		want   string // A part of the answer; "" allows the import.
	}{
		"Down":            {"the engine reads definitions", "engine", module + "/xrd", ""},
		"Up":              {"definitions know no engine", "xrd", module + "/engine", "xrd may import of ours only"},
		"Inside":          {"a room is free inside", "engine/form", module + "/engine", ""},
		"SubFolder":       {"a rule holds below the folder", "source/cluster", module + "/entity", "source may import"},
		"SameBeginning":   {"a longer name is another room", "document/finding", module + "/documentary", "document may import"},
		"Skipped":         {"a main goes through its command", "cmd/ingestor-cli", module + "/engine", "cmd may import"},
		"ExampleInternal": {"a user cannot import internal", "examples/extending", module + "/internal/pipeline", "examples may"},
		"UnknownRoom":     {"a new room is planned first", "attic", "fmt", "attic is in no room of the plan"},
		"UnknownInternal": {"internal is a floor, not a room", "internal/attic", "fmt", "no room of the plan"},
		"RootPackage":     {"the module's own package is the programs for somebody else", ".", module + "/internal/cli/composer", ""},
		"RootStore":       {"it is no more than that", ".", module + "/internal/catalog/store", "may import of ours only"},
		"RootForTheHouse": {"nobody inside imports it", "internal/cli", module, "may import of ours only"},
		"HeavyHome":       {"client-go is at home", "source/cluster", "k8s.io/client-go/dynamic", ""},
		"HeavyNextDoor":   {"next door is not home", "source/file", "k8s.io/client-go/dynamic", "lives only in source/cluster"},
		"HeavyStandard":   {"the standard library has heavy parts", "internal/server", "database/sql", "internal/db and internal/jobs"},
		"HeavyInTests":    {"test programs are no home either", "test/bench", "github.com/spf13/cobra", "lives only in internal/cli"},
		"LightBeginning":  {"one path inside another's name", "source/git", "github.com/go-git-like/x", ""},
		"Nowhere":         {"assertion libraries stay out", "test/script", "github.com/stretchr/testify/assert", "not used in this project"},
		"PureStandard":    {"computation is welcome", "words", "strings", ""},
		"PureURL":         {"net/url is text", "entity", "net/url", ""},
		"PureDisk":        {"file systems are arguments", "template/eta", "os", "template is pure"},
		"PureNetwork":     {"no room below either", "engine/openapi", "net/http", "engine is pure"},
		"PureClock":       {"entities know no time", "entity", "time", "entity is pure"},
		"PureTimeType":    {"a moment comes in as a value", "engine", "time", ""},
		"PureChance":      {"the same input, the same output", "xrd", "math/rand/v2", "xrd is pure"},
		"PureOutside":     {"YAML is read by document/tree alone", "xrd", "go.yaml.in/yaml/v3", "xrd is pure"},
		"PureOutsideHome": {"YAML is read by document/tree", "document/tree", "go.yaml.in/yaml/v3", ""},
		"Impure":          {"sources reach the machine", "source/file", "os", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := judge(tc.dir, tc.imp)
			if (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
				t.Errorf("%s\njudge(%q, %q) = %q, want %q in it", tc.reason, tc.dir, tc.imp, got, tc.want)
			}
		})
	}
}

// A pkg is what go list says of one package of the module.
type pkg struct {
	ImportPath                                         string
	Dir                                                string
	Deps                                               []string
	GoFiles, IgnoredGoFiles, TestGoFiles, XTestGoFiles []string
}

// dir is its folder, seen from the top of the repository.
func (p pkg) dir() string {
	if p.ImportPath == module {
		return "."
	}
	return strings.TrimPrefix(p.ImportPath, module+"/")
}

// sources are the files that are built, on this system or another one.
func (p pkg) sources() []string {
	return slices.DeleteFunc(slices.Concat(p.GoFiles, p.IgnoredGoFiles), func(name string) bool {
		return strings.HasSuffix(name, "_test.go")
	})
}

func (p pkg) parse(t *testing.T, fset *token.FileSet, name string) *ast.File {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.Dir, name))
	if err != nil {
		t.Fatal(err)
	}
	f, err := parser.ParseFile(fset, path.Join(p.dir(), name), text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// packages lists the module. It tolerates packages that do not build: the
// compiler has better words for those.
func packages(t *testing.T) []pkg {
	t.Helper()
	fields := "-json=ImportPath,Dir,Deps,GoFiles,IgnoredGoFiles,TestGoFiles,XTestGoFiles"
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", fields, "./...")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("cannot list the packages: %v\n%s", err, stderr.Bytes())
	}
	var all []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("cannot read what go list says: %v", err)
		}
		all = append(all, p)
	}
	if len(all) == 0 {
		t.Fatal("go list found no packages")
	}
	return all
}

func TestImports(t *testing.T) {
	for _, p := range packages(t) {
		if _, ok := roomOf(p.dir()); !ok {
			t.Error(judge(p.dir(), ""))
			continue
		}
		checkImports(t, p, p.sources(), judge)
		checkImports(t, p, slices.Concat(p.TestGoFiles, p.XTestGoFiles), judgeHeavy)
	}
}

func checkImports(t *testing.T, p pkg, names []string, judge func(dir, imp string) string) {
	t.Helper()
	fset := token.NewFileSet()
	for _, name := range names {
		for _, spec := range p.parse(t, fset, name).Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if why := judge(p.dir(), imp); why != "" {
				t.Errorf("%s: imports %s: %s", fset.Position(spec.Pos()), imp, why)
			}
		}
	}
}

func TestPrograms(t *testing.T) {
	for _, p := range packages(t) {
		for _, unwanted := range without[p.dir()] {
			if i := slices.IndexFunc(p.Deps, func(dep string) bool { return within(dep, unwanted) }); i >= 0 {
				t.Errorf("%s links %s: try go list -deps ./%s", p.dir(), p.Deps[i], p.dir())
			}
		}
	}
}

func TestPackageComments(t *testing.T) {
	for _, p := range packages(t) {
		files := p.sources()
		if len(files) == 0 {
			files = slices.Concat(p.TestGoFiles, p.XTestGoFiles)
		}
		fset := token.NewFileSet()
		var at []string
		for _, name := range files {
			if f := p.parse(t, fset, name); strings.TrimSpace(f.Doc.Text()) != "" {
				at = append(at, name)
			}
		}
		if len(at) != 1 {
			t.Errorf("%s: want exactly one package comment, found %d %v", p.dir(), len(at), at)
		}
	}
}

func TestFileLength(t *testing.T) {
	for _, p := range packages(t) {
		fset := token.NewFileSet()
		for _, name := range p.sources() {
			f := p.parse(t, fset, name)
			if n := fset.File(f.Pos()).LineCount(); n > maxLines && !ast.IsGenerated(f) {
				t.Errorf("%s: %d lines, at most %d: which part is a thing of its own?", path.Join(p.dir(), name), n, maxLines)
			}
		}
	}
}

// TestNames walks the folders itself. That also tells go test to run this
// package again, rather than repeat an old answer, when a folder is added.
func TestNames(t *testing.T) {
	skip := []string{".git", "node_modules", "testdata", "bin", "data", "catalog-entities"}
	err := fs.WalkDir(os.DirFS(root), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains(skip, d.Name()) {
			return fs.SkipDir
		}
		name, isGo := strings.CutSuffix(d.Name(), ".go")
		if (d.IsDir() || isGo) && slices.Contains(corridors, strings.TrimSuffix(name, "_test")) {
			t.Errorf("%s: a corridor, not a room: name it after what is inside", p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestLinterAgrees holds the depguard rules of the linter against homes.
func TestLinterAgrees(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, ".golangci.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Linters struct {
			Settings struct {
				Depguard struct {
					Rules map[string]struct {
						Files []string               `yaml:"files"`
						Deny  []struct{ Pkg string } `yaml:"deny"`
					} `yaml:"rules"`
				} `yaml:"depguard"`
			} `yaml:"settings"`
		} `yaml:"linters"`
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, rule := range config.Linters.Settings.Depguard.Rules {
		var at []string
		for _, file := range rule.Files {
			dir, ok := strings.CutPrefix(file, "!${config-path}/")
			// These are modules, which this test does not see.
			if ok && dir != "test/devcluster/**" && dir != "test/verdict/**" {
				at = append(at, strings.TrimSuffix(dir, "/**"))
			}
		}
		for _, d := range rule.Deny {
			got[d.Pkg] = at
		}
	}
	if diff := cmp.Diff(homes, got); diff != "" {
		t.Errorf("homes here (-) and in .golangci.yml (+) differ:\n%s", diff)
	}
}
