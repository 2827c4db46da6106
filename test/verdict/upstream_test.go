package judge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// celPackage is the API server's package that evaluates validation rules.
const celPackage = "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"

// row is a row of a table of the API server's own tests: the name of the test, and the
// fields of the row.
type row struct {
	Test   string
	Fields map[string]any
}

// readTables returns the rows of the tables of some tests of the API server. They are in
// the module cache: a program that has the tables, but not what the tests do with them, is
// built and run. It also returns the names of all tests.
func readTables(t *testing.T, names []string) (rows []row, all []string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", celPackage).Output()
	if err != nil {
		t.Fatalf("cannot find %s: %v", celPackage, err)
	}
	u := readUpstream(t, strings.TrimSpace(string(out)))
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	if err := os.WriteFile(source, []byte(u.program(t, names)), 0o600); err != nil {
		t.Fatal(err)
	}
	// The program is a package of this module, so that its dependencies are known.
	here, err := filepath.Abs("upstream_tables")
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(here, "main.go"): source}})
	if err != nil {
		t.Fatal(err)
	}
	overlayFile := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlayFile, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", "-overlay", overlayFile, "./upstream_tables")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if out, err = cmd.Output(); err != nil {
		t.Fatalf("cannot read the tables: %v\n%s", err, stderr.String())
	}
	for line := range bytes.Lines(out) {
		var r row
		// Whole numbers are integers, as in a server.
		var fields map[string]any
		if err := utiljson.Unmarshal(line, &fields); err != nil {
			t.Fatal(err)
		}
		r.Test, _ = fields["test"].(string)
		r.Fields, _ = fields["fields"].(map[string]any)
		rows = append(rows, r)
	}
	for _, name := range slices.Sorted(maps.Keys(u.decls)) {
		if f, ok := u.decls[name].node.(*ast.FuncDecl); ok && strings.HasPrefix(name, "Test") && u.decls[name].file == "validation_test.go" && f.Recv == nil {
			all = append(all, name)
		}
	}
	return rows, all
}

// upstream are the declarations of the tests of a package.
type upstream struct {
	decls map[string]declared
	// imports are the paths of imported packages, by the name that they have in a file.
	imports map[string]map[string]string
	fset    *token.FileSet
	texts   map[string][]byte
}

// declared is a function, or one specification of a declaration.
type declared struct {
	file string
	node ast.Node
	// keyword is of a specification: const, type or var.
	keyword string
}

func readUpstream(t *testing.T, dir string) *upstream {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s has no tests: %v", dir, err)
	}
	u := &upstream{decls: map[string]declared{}, imports: map[string]map[string]string{}, fset: token.NewFileSet(), texts: map[string][]byte{}}
	for _, p := range paths {
		name := filepath.Base(p)
		u.texts[name] = readFile(t, p)
		file, err := parser.ParseFile(u.fset, p, u.texts[name], 0)
		if err != nil {
			t.Fatal(err)
		}
		u.imports[name] = map[string]string{}
		for _, i := range file.Imports {
			of, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			as := path.Base(of)
			if i.Name != nil {
				as = i.Name.Name
			}
			u.imports[name][as] = of
		}
		for _, d := range file.Decls {
			u.declare(name, d)
		}
	}
	return u
}

func (u *upstream) declare(file string, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			u.decls[d.Name.Name] = declared{file: file, node: d}
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				for _, n := range s.Names {
					u.decls[n.Name] = declared{file: file, node: s, keyword: d.Tok.String()}
				}
			case *ast.TypeSpec:
				u.decls[s.Name.Name] = declared{file: file, node: s, keyword: d.Tok.String()}
			}
		}
	}
}

// text returns the text of a node.
func (u *upstream) text(file string, n ast.Node) string {
	return string(u.texts[file][u.fset.Position(n.Pos()).Offset:u.fset.Position(n.End()).Offset])
}

// program returns the program that prints the tables of tests.
func (u *upstream) program(t *testing.T, names []string) string {
	t.Helper()
	imports, written := map[string]string{}, map[string]bool{}
	var body strings.Builder
	var use func(file string, n ast.Node)
	use = func(file string, n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			if of := u.imports[file][id.Name]; of != "" {
				imports[id.Name] = of
			}
			d, ok := u.decls[id.Name]
			if !ok || written[id.Name] {
				return true
			}
			written[id.Name] = true
			fmt.Fprintf(&body, "%s %s\n\n", d.keyword, u.text(d.file, d.node))
			use(d.file, d.node)
			return true
		})
	}
	var calls strings.Builder
	for _, name := range names {
		d := u.decls[name]
		f, ok := d.node.(*ast.FuncDecl)
		if !ok {
			t.Fatalf("%s has no test %s", celPackage, name)
		}
		fmt.Fprintf(&calls, "\ttable%s()\n", name)
		fmt.Fprintf(&body, "func table%s() {\n", name)
		var parts []ast.Node
		table := ""
		for _, s := range f.Body.List {
			switch s.(type) {
			case *ast.ExprStmt, *ast.DeferStmt:
				// These set up the process of the test.
				continue
			}
			fmt.Fprintf(&body, "\t%s\n", u.text(d.file, s))
			parts = append(parts, s)
			a, ok := s.(*ast.AssignStmt)
			if !ok {
				continue
			}
			if to, ok := a.Lhs[0].(*ast.Ident); ok && (to.Name == "tests" || to.Name == "cases") {
				table = to.Name
				break
			}
		}
		if table == "" {
			t.Fatalf("%s has no table", name)
		}
		fmt.Fprintf(&body, "\tdump(%q, %s)\n}\n\n", name, table)
		for _, p := range parts {
			use(d.file, p)
		}
	}
	for as, of := range map[string]string{"json": "encoding/json", "os": "os", "reflect": "reflect", "unsafe": "unsafe", "schema": "k8s.io/apiextensions-apiserver/pkg/apiserver/schema", "field": "k8s.io/apimachinery/pkg/util/validation/field"} {
		imports[as] = of
	}
	var head strings.Builder
	for _, as := range slices.Sorted(maps.Keys(imports)) {
		fmt.Fprintf(&head, "import %s %q\n", as, imports[as])
	}
	return "package main\n\n" + head.String() + dumper + "\nfunc main() {\n" + calls.String() + "}\n\n" + body.String()
}

// dumper prints the rows of a table. JSON has no numbers of single precision.
const dumper = `
func plain(v any) any {
	switch v := v.(type) {
	case float32:
		return float64(v)
	case map[string]any:
		for key := range v {
			v[key] = plain(v[key])
		}
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	}
	return v
}

func dump(test string, table any) {
	rows := reflect.ValueOf(table)
	for i := range rows.Len() {
		fields := map[string]any{}
		for j := range rows.Index(i).NumField() {
			f := rows.Index(i).Field(j)
			// The fields are not exported.
			v := reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem().Interface()
			switch of := v.(type) {
			case *schema.Structural:
				v = of.ToKubeOpenAPI()
			case schema.Structural:
				v = of.ToKubeOpenAPI()
			case field.ErrorList:
				var all []any
				for _, e := range of {
					all = append(all, map[string]any{"type": e.Type, "field": e.Field})
				}
				v = all
			default:
				v = plain(v)
			}
			fields[rows.Type().Elem().Field(j).Name] = v
		}
		if err := json.NewEncoder(os.Stdout).Encode(map[string]any{"test": test, "fields": fields}); err != nil {
			panic(err)
		}
	}
}
`
