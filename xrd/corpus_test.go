package xrd

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
)

// corpus calls visit with every file below a folder of real definitions, and
// skips the test if there is none.
func corpus(t *testing.T, folder string, visit func(path string, data []byte)) {
	t.Helper()
	root := os.Getenv("INGESTOR_CORPUS")
	if root == "" {
		t.Skip("set INGESTOR_CORPUS to a folder of real definitions")
	}
	files := 0
	err := filepath.WalkDir(filepath.Join(root, folder), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		name, _ := filepath.Rel(root, path)
		visit(name, data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files == 0 {
		t.Fatalf("no files in %s", folder)
	}
	t.Logf("read %d files in %s", files, folder)
}

// single checks that a file is one document, and that it gave an object or a
// finding. It reports whether there is an object.
func single(t *testing.T, path string, s *Set, objects int) bool {
	t.Helper()
	// A duplicate key is reported, and the document is still read.
	if s.Documents != 1 || objects > 1 || objects+len(s.Findings) < 1 {
		t.Errorf("%s has %d objects in %d documents and findings %v, want one of one", path, objects, s.Documents, s.Findings)
	}
	for _, f := range s.Findings {
		t.Logf("%s: %s %s", f.Where(), f.Rule, f.Message)
	}
	return objects == 1
}

func TestCorpusDefinitions(t *testing.T) {
	whole := 0
	corpus(t, "xrds", func(path string, data []byte) {
		var s Set
		if err := s.Read(strings.NewReader(string(data)), Origin{File: path}); err != nil {
			t.Fatal(err)
		}
		if !single(t, path, &s, len(s.Definitions)) {
			return
		}
		d := s.Definitions[0]
		again(t, path, d.Node)
		if d.Name == "" || d.Group == "" || d.Names.Kind == "" || d.Preferred() == nil {
			t.Logf("%s is definition %q of group %q and kind %q with %d versions", path, d.Name, d.Group, d.Names.Kind, len(d.Versions))
			return
		}
		whole++
	})
	if whole < 500 {
		t.Errorf("only %d definitions have a name, a group, a kind and a version", whole)
	}
}

func TestCorpusCompositions(t *testing.T) {
	whole := 0
	corpus(t, "compositions", func(path string, data []byte) {
		var s Set
		if err := s.Read(strings.NewReader(string(data)), Origin{File: path}); err != nil {
			t.Fatal(err)
		}
		if !single(t, path, &s, len(s.Compositions)) {
			return
		}
		c := s.Compositions[0]
		again(t, path, c.Node)
		if c.Name == "" || c.TypeKind == "" || len(c.Steps)+len(c.Resources) == 0 {
			t.Logf("%s is Composition %q for %q with %d steps and %d resources", path, c.Name, c.TypeKind, len(c.Steps), len(c.Resources))
			return
		}
		whole++
	})
	if whole < 800 {
		t.Errorf("only %d Compositions have a name, a kind and a content", whole)
	}
}

func TestCorpusWeird(t *testing.T) {
	said := 0
	corpus(t, "weird", func(path string, data []byte) {
		var s Set
		if err := s.Read(strings.NewReader(string(data)), Origin{File: path}); err != nil {
			t.Fatal(err)
		}
		if len(s.Definitions)+len(s.Compositions)+len(s.Others)+len(s.Findings) == 0 {
			t.Errorf("%s gave neither an object nor a finding", path)
		}
		if strings.Contains(path, "unparseable") && finding.Count(s.Findings, finding.Error) == 0 {
			t.Errorf("%s cannot be parsed, but has no error", path)
		}
		for _, f := range s.Findings {
			said++
			if f.Message == "" || f.Hint == "" || f.Pos.Line == 0 {
				t.Errorf("%s: %+v is incomplete", path, f)
			}
		}
		for _, d := range s.Definitions {
			d.Target()
			d.Preferred()
			d.content()
			again(t, path, d.Node)
		}
	})
	t.Logf("%d findings", said)
}

// TestCorpusMerge merges all definitions: the result must not depend on their
// order.
func TestCorpusMerge(t *testing.T) {
	var forth, back []*Definition
	corpus(t, "xrds", func(path string, data []byte) {
		var s Set
		_ = s.Read(strings.NewReader(string(data)), Origin{File: path})
		forth = append(forth, s.Definitions...)
	})
	for i := range forth {
		back = append(back, forth[len(forth)-1-i])
	}
	a, fa := Merge(forth)
	b, fb := Merge(back)
	if len(a) != len(b) || len(fa) != len(fb) {
		t.Fatalf("%d definitions and %d findings in one order, %d and %d in the other", len(a), len(fa), len(b), len(fb))
	}
	for i := range a {
		if a[i].Name != b[i].Name || a[i].Origin != b[i].Origin {
			t.Errorf("definition %q of %s in one order, %q of %s in the other", a[i].Name, a[i].Origin.File, b[i].Name, b[i].Origin.File)
		}
	}
	t.Logf("%d definitions, %d names, %d conflicts", len(forth), len(a), len(fa))
}

// again checks that n survives being written and read.
func again(t *testing.T, path string, n *tree.Node) {
	t.Helper()
	for _, text := range [][]byte{tree.AppendYAML(nil, n), tree.AppendJSON(nil, n, "")} {
		docs, errs := parser.DecodeBytes(text)
		if len(errs) > 0 || len(docs) != 1 || !docs[0].Equal(n) {
			t.Errorf("%s written again is read differently: %v", path, errs)
		}
	}
}
