// Package rules checks the structure of the project: which room may import
// which, where each heavy dependency may be imported, what pure rooms must not
// use, and how files and folders are named. When the plan changes, change
// docs/design/ and this package in the same commit.
package rules

import (
	"bytes"
	"encoding/json"
	"errors"
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
	// A package of more than largeLines lines explains in its comment why it is one package.
	largeLines = 1500
	whyLarge   = "It is one package because "
)

// A pkg is a package of the module in the output of go list.
type pkg struct {
	ImportPath                                         string
	Dir                                                string
	Deps                                               []string
	GoFiles, IgnoredGoFiles, TestGoFiles, XTestGoFiles []string
}

// dir returns its folder, relative to the root of the repository.
func (p pkg) dir() string {
	if p.ImportPath == module {
		return "."
	}
	return strings.TrimPrefix(p.ImportPath, module+"/")
}

// sources returns the files that are built, on this system or another one.
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

// packages lists the module. It tolerates packages that do not build, which the
// compiler reports better.
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
			t.Fatalf("cannot decode the output of go list: %v", err)
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
			t.Errorf("%s: found %d package comments %v, want one", p.dir(), len(at), at)
		}
	}
}

func TestFileLength(t *testing.T) {
	for _, p := range packages(t) {
		fset := token.NewFileSet()
		for _, name := range p.sources() {
			f := p.parse(t, fset, name)
			if n := fset.File(f.Pos()).LineCount(); n > maxLines && !ast.IsGenerated(f) {
				t.Errorf("%s has %d lines, want at most %d: split it by topic", path.Join(p.dir(), name), n, maxLines)
			}
		}
	}
}

func TestPackageSize(t *testing.T) {
	for _, p := range packages(t) {
		fset := token.NewFileSet()
		lines, comment := 0, ""
		for _, name := range p.sources() {
			f := p.parse(t, fset, name)
			lines += fset.File(f.Pos()).LineCount()
			comment += strings.Join(strings.Fields(f.Doc.Text()), " ")
		}
		switch explained := strings.Contains(comment, whyLarge); {
		case lines > largeLines && !explained:
			t.Errorf("%s has %d lines: split it, or add to its comment %q and the reason", p.dir(), lines, whyLarge)
		case lines < largeLines*9/10 && explained:
			t.Errorf("%s has %d lines, so its comment need not say %q", p.dir(), lines, whyLarge)
		}
	}
}

// TestNames walks the folders itself, so that go test does not use a cached
// result when a folder is added.
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
			t.Errorf("%s says nothing about its contents: choose a specific name", p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestLinterAgrees checks that the depguard rules of the linter equal homes.
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
			// These are separate modules, which this test does not read.
			if ok && !slices.Contains([]string{"test/devcluster/**", "test/crossplane/core/**", "test/verdict/**"}, dir) {
				at = append(at, strings.TrimSuffix(dir, "/**"))
			}
		}
		for _, d := range rule.Deny {
			got[d.Pkg] = at
		}
	}
	if diff := cmp.Diff(homes, got); diff != "" {
		t.Errorf("homes (-) and .golangci.yml (+) differ:\n%s", diff)
	}
}
