package engine_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/lint"
)

// examples reads all examples into one set.
func examples(tb testing.TB) *xrd.Set {
	tb.Helper()
	paths, err := filepath.Glob("../examples/*.yaml")
	if err != nil || len(paths) < 12 {
		tb.Fatalf("%d examples, error %v", len(paths), err)
	}
	var all xrd.Set
	for _, path := range paths {
		readInto(tb, &all, path)
	}
	return &all
}

func readInto(tb testing.TB, to *xrd.Set, path string) {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	if err := to.Read(bytes.NewReader(data), xrd.Origin{File: filepath.Base(path)}); err != nil {
		tb.Fatal(err)
	}
}

// noisy returns a document with the metadata that API servers and kubectl add,
// and with a status if it has none.
func noisy(n *tree.Node) *tree.Node {
	n = n.Clone()
	meta := n.Get("metadata")
	if !meta.IsMap() {
		return n
	}
	meta.Set("managedFields", tree.Arr(tree.Obj(tree.F("manager", tree.Str("kubectl")))))
	if meta.Get("annotations").IsNull() {
		meta.Set("annotations", tree.Obj())
	}
	if a := meta.Get("annotations"); a.IsMap() {
		a.Set(xrd.LastApplied, tree.Str(`{"spec":{"password":"hunter2"}}`))
	}
	if !n.Has("status") {
		n.Set("status", tree.Obj(
			tree.F("conditions", tree.Arr(tree.Obj(tree.F("type", tree.Str("Ready")), tree.F("status", tree.Str("False")), tree.F("reason", tree.Str("Creating"))))),
			tree.F("endpoint", tree.Str("orders.example.org:8443")),
		))
	}
	return n
}

// inputs returns the definitions of a set with their objects, after change was
// applied to each document.
func inputs(set *xrd.Set, change func(*tree.Node, xrd.Role) *tree.Node) []engine.Input {
	var out []engine.Input
	for _, d := range set.Definitions {
		in := engine.Input{Definition: xrd.NewDefinition(change(d.Node, xrd.RoleDefinition), d.Origin)}
		for _, c := range set.Compositions {
			if c.For(d) {
				in.Compositions = append(in.Compositions, xrd.NewComposition(change(c.Node, xrd.RoleComposition), c.Origin))
			}
		}
		for _, o := range set.Others {
			if xrd.NewComposite(o, d) == nil {
				continue
			}
			var one xrd.Set
			one.Add(change(o.Node, xrd.RoleComposite), o.Origin)
			in.Composites = append(in.Composites, xrd.NewComposite(one.Others[0], in.Definition))
		}
		out = append(out, in)
	}
	return out
}

// outcome is the result of the engine and the linter for an input.
func outcome(tb testing.TB, in engine.Input, forms engine.FormCache) (string, []finding.Finding) {
	tb.Helper()
	res, err := engine.New(engine.CLI, engine.Options{GitOps: true, Forms: forms}, engine.Hooks{}).Transform(in)
	if err != nil {
		tb.Fatal(err)
	}
	findings := append(res.Findings, lint.Definition(in.Definition, lint.Options{})...)
	for _, c := range in.Compositions {
		findings = append(findings, lint.Composition(c)...)
	}
	return string(entity.YAMLDocuments(res.Entities)), findings
}

// pruned compares the results for the documents of a set before and after
// pruning.
func pruned(t *testing.T, set *xrd.Set) {
	t.Helper()
	whole := inputs(set, func(n *tree.Node, _ xrd.Role) *tree.Node { return noisy(n) })
	less := inputs(set, func(n *tree.Node, role xrd.Role) *tree.Node { return xrd.Prune(noisy(n), role) })
	composites := 0
	for i := range whole {
		name := whole[i].Definition.Name
		composites += len(whole[i].Composites)
		want, wantFindings := outcome(t, whole[i], nil)
		got, gotFindings := outcome(t, less[i], nil)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("entities of %q (-whole +pruned):\n%s", name, diff)
		}
		if diff := cmp.Diff(wantFindings, gotFindings); diff != "" {
			t.Errorf("findings about %q (-whole +pruned):\n%s", name, diff)
		}
		if engine.Fingerprint(whole[i]) != engine.Fingerprint(less[i]) {
			t.Errorf("fingerprint of %q changed with pruning", name)
		}
	}
	if composites == 0 {
		t.Error("set has no composite")
	}
	t.Logf("%d definitions, %d composites", len(whole), composites)
}

func TestPruneExamples(t *testing.T) { pruned(t, examples(t)) }

func TestPruneCorpus(t *testing.T) {
	root := os.Getenv("INGESTOR_CORPUS")
	if root == "" {
		t.Skip("set INGESTOR_CORPUS to a folder of real definitions")
	}
	var all xrd.Set
	for _, folder := range []string{"xrds", "xrs"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				readInto(t, &all, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	pruned(t, &all)
}
