package crossplane_test

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/test/crossplane"
	"example.dev/ingestor/xrd"
)

// namespaces returns the namespaces that the samples need: their own, and those of
// connection secrets.
func namespaces(all []*sample) string {
	names := map[string]bool{"corpus": true}
	for _, x := range all {
		names[x.composition.Get("spec", "writeConnectionSecretsToNamespace").Str()] = true
		names[x.object.Get("spec", "writeConnectionSecretToRef", "namespace").Str()] = true
	}
	delete(names, "")
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(names)) {
		fmt.Fprintf(&text, "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n", name)
	}
	return text.String()
}

// documents returns the documents of a folder of the corpus, by file.
func documents(t *testing.T, root, folder string) map[string]*tree.Node {
	t.Helper()
	out := map[string]*tree.Node{}
	err := filepath.WalkDir(filepath.Join(root, folder), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		if docs, errs := parser.DecodeBytes(data); len(errs) == 0 && len(docs) == 1 {
			out[name] = docs[0]
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// steps returns the names of the functions of a Composition.
func steps(n *tree.Node) []string {
	var out []string
	for _, s := range n.Get("spec", "pipeline").List() {
		out = append(out, s.Get("functionRef", "name").Str())
	}
	return out
}

// canRun reports whether a function is one that tests can build.
func canRun(name string) bool {
	return strings.HasSuffix(name, crossplane.Function) || strings.HasSuffix(name, crossplane.Ready)
}

// readSamples returns the Compositions whose functions can run here, each with a definition
// and an object. Names are changed, because the corpus has many repositories.
func readSamples(t *testing.T, root string) []*sample {
	t.Helper()
	definitions, objects, compositions := documents(t, root, "xrds"), documents(t, root, "xrs"), documents(t, root, "compositions")
	chosen := map[string]*tree.Node{}
	var all []*sample
	for _, file := range slices.Sorted(maps.Keys(compositions)) {
		c := compositions[file]
		functions := steps(c)
		if len(functions) == 0 || slices.ContainsFunc(functions, func(f string) bool { return !canRun(f) }) {
			continue
		}
		of := c.Get("spec", "compositeTypeRef")
		repository := filepath.Base(filepath.Dir(file))
		key := of.Get("apiVersion").Str() + "/" + of.Get("kind").Str()
		if chosen[key] == nil {
			chosen[key] = closest(definitions, repository, func(n *tree.Node) bool {
				return n.Get("spec", "names", "kind").Str() == of.Get("kind").Str() && strings.HasPrefix(of.Get("apiVersion").Str(), n.Get("spec", "group").Str()+"/")
			})
		}
		if chosen[key] == nil {
			continue
		}
		d := xrd.NewDefinition(chosen[key].Clone(), xrd.Origin{})
		object := closest(objects, repository, func(n *tree.Node) bool {
			kind := n.Get("kind").Str()
			return strings.HasPrefix(n.Get("apiVersion").Str(), d.Group+"/") && (kind == d.Names.Kind || d.HasClaim() && kind == d.Claim.Kind)
		})
		if object == nil {
			object = tree.Obj(tree.F("apiVersion", of.Get("apiVersion")), tree.F("kind", of.Get("kind")), tree.F("spec", tree.Obj()))
		}
		x := &sample{file: file, name: fmt.Sprintf("sample-%d", len(all)), definition: chosen[key], composition: c.Clone(), d: d}
		x.composition.Set("metadata", tree.Obj(tree.F("name", tree.Str(x.name))))
		x.object = x.rewritten(object)
		all = append(all, x)
	}
	return all
}

// closest returns the first document that fits, of the same repository if possible.
func closest(all map[string]*tree.Node, repository string, fits func(*tree.Node) bool) *tree.Node {
	var other *tree.Node
	for _, file := range slices.Sorted(maps.Keys(all)) {
		switch n := all[file]; {
		case !fits(n):
		case filepath.Base(filepath.Dir(file)) == repository:
			return n
		case other == nil:
			other = n
		}
	}
	return other
}

// rewritten returns an object of the corpus under another name, with the Composition of
// the sample.
func (x *sample) rewritten(n *tree.Node) *tree.Node {
	meta := tree.Obj(tree.F("name", tree.Str(x.name)))
	if x.d.Scope == xrd.ScopeNamespaced || n.Get("kind").Str() == x.d.Claim.Kind {
		meta.Set("namespace", tree.Str("corpus"))
	}
	for _, key := range []string{"labels", "annotations"} {
		if v := n.Get("metadata", key); v.IsMap() {
			meta.Set(key, v)
		}
	}
	spec := tree.Obj()
	if n.Get("spec").IsMap() {
		spec.Fields = slices.Clone(n.Get("spec").Fields)
	}
	for _, key := range []string{"compositionRef", "compositionSelector", "compositionRevisionRef", "compositionUpdatePolicy", "compositionRevisionSelector", "resourceRef", "resourceRefs", "crossplane"} {
		spec.Delete(key)
	}
	ref := tree.F("compositionRef", tree.Obj(tree.F("name", tree.Str(x.name))))
	if x.d.Modern() {
		spec.Set("crossplane", tree.Obj(ref))
	} else {
		spec.Set(ref.Key, ref.Value)
	}
	return tree.Obj(tree.F("apiVersion", n.Get("apiVersion")), tree.F("kind", n.Get("kind")), tree.F("metadata", meta), tree.F("spec", spec))
}

// registerAll registers the functions of the samples under all their names.
func registerAll(t *testing.T, core *crossplane.Core, all []*sample) {
	t.Helper()
	names := map[string]bool{}
	for _, x := range all {
		for _, f := range steps(x.composition) {
			names[f] = true
		}
	}
	var ready []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		switch {
		case strings.HasSuffix(name, crossplane.Ready):
			ready = append(ready, name)
		case name != crossplane.Function:
			core.Alias(t, name)
		}
	}
	core.StartReady(t, ready...)
}

// stubs returns CRDs for the kinds that the samples compose. They accept everything.
func stubs(all []*sample) []*tree.Node {
	type kind struct {
		scope    string
		versions map[string]bool
	}
	kinds := map[[2]string]*kind{}
	for _, x := range all {
		scope := "Cluster"
		if x.d.Scope == xrd.ScopeNamespaced {
			scope = "Namespaced"
		}
		for _, step := range x.composition.Get("spec", "pipeline").List() {
			for _, r := range step.Get("input", "resources").List() {
				group, version, ok := strings.Cut(r.Get("base", "apiVersion").Str(), "/")
				key := [2]string{group, r.Get("base", "kind").Str()}
				isComposite := slices.ContainsFunc(all, func(o *sample) bool { return o.d.Group == group && o.d.Names.Kind == key[1] })
				if !ok || !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io") || isComposite || key[1] == "" {
					continue
				}
				if kinds[key] == nil {
					kinds[key] = &kind{scope: scope, versions: map[string]bool{}}
				}
				kinds[key].versions[version] = true
			}
		}
	}
	keys := slices.SortedFunc(maps.Keys(kinds), func(a, b [2]string) int { return cmp.Or(strings.Compare(a[0], b[0]), strings.Compare(a[1], b[1])) })
	var out []*tree.Node
	for _, key := range keys {
		k := kinds[key]
		plural := strings.ToLower(key[1]) + "s"
		versions := tree.Arr()
		for i, v := range slices.Sorted(maps.Keys(k.versions)) {
			versions.Items = append(versions.Items, tree.Obj(tree.F("name", tree.Str(v)), tree.F("served", tree.Boolean(true)), tree.F("storage", tree.Boolean(i == 0)),
				tree.F("schema", tree.Obj(tree.F("openAPIV3Schema", tree.Obj(tree.F("type", tree.Str("object")), tree.F("x-kubernetes-preserve-unknown-fields", tree.Boolean(true))))))))
		}
		out = append(out, tree.Obj(tree.F("apiVersion", tree.Str("apiextensions.k8s.io/v1")), tree.F("kind", tree.Str("CustomResourceDefinition")),
			tree.F("metadata", tree.Obj(tree.F("name", tree.Str(plural+"."+key[0])))),
			tree.F("spec", tree.Obj(tree.F("group", tree.Str(key[0])), tree.F("scope", tree.Str(k.scope)), tree.F("versions", versions),
				tree.F("names", tree.Obj(tree.F("kind", tree.Str(key[1])), tree.F("plural", tree.Str(plural)), tree.F("singular", tree.Str(strings.ToLower(key[1]))), tree.F("listKind", tree.Str(key[1]+"List"))))))))
	}
	return out
}
