package publish

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
)

// document is one resource and the name of its file.
type document struct {
	node                         *tree.Node
	group, kind, namespace, name string
	file                         string
}

// maxDocuments is the maximum number of resources that one step publishes.
const maxDocuments = 1000

// documents reads the manifest of a step: an object, a list of objects, a List, or
// YAML text with several documents.
func documents(n *tree.Node) ([]document, error) {
	var all []document
	by := map[string]bool{}
	var add func(n *tree.Node) error
	add = func(n *tree.Node) error {
		switch {
		case n.IsNull():
			return nil
		case n.IsString():
			docs, errs := parser.DecodeBytes([]byte(n.Text))
			for _, e := range errs {
				if !e.Kept {
					return action.Errorf(e.Hint, "cannot read the manifest: %w", e)
				}
			}
			for _, d := range docs {
				if d.IsString() {
					return action.Errorf("set an object, or YAML text", "manifest is not an object")
				}
			}
			return add(tree.Arr(docs...))
		case n.IsList() || n.Get("kind").Str() == "List" && n.Get("items").IsList():
			if n.IsMap() {
				n = n.Get("items")
			}
			for _, item := range n.Items {
				if err := add(item); err != nil {
					return err
				}
			}
			return nil
		}
		d, err := newDocument(n)
		if err != nil {
			return err
		}
		if by[d.file] {
			return action.Errorf("give each resource a unique name", "manifest has two resources for file %q", d.file)
		}
		by[d.file] = true
		if all = append(all, d); len(all) > maxDocuments {
			return action.Errorf("use several steps", "manifest has more than %d resources", maxDocuments)
		}
		return nil
	}
	return all, add(n)
}

// newDocument reads the identity of a resource.
func newDocument(n *tree.Node) (document, error) {
	d := document{node: n, kind: n.Get("kind").Str(), namespace: n.Get("metadata", "namespace").Str(), name: n.Get("metadata", "name").Str()}
	version := n.Get("apiVersion").Str()
	for _, f := range [][2]string{{"apiVersion", version}, {"kind", d.kind}, {"metadata.name", d.name}} {
		if f[1] == "" {
			return d, action.Errorf("set apiVersion, kind and metadata.name", "manifest has no %s", f[0])
		}
	}
	if group, _, ok := strings.Cut(version, "/"); ok {
		d.group = group
	}
	d.file = File(d.kind, d.namespace, d.name)
	d.node = tidy(n)
	return d, nil
}

// tidy returns a manifest without empty annotations or labels.
func tidy(n *tree.Node) *tree.Node {
	for _, key := range []string{"annotations", "labels"} {
		if v := n.Get("metadata", key); v.IsMap() && v.Len() == 0 {
			n = n.Clone()
			n.Get("metadata").Delete(key)
		}
	}
	return n
}

// File returns the path of a resource's manifest below the path of the step:
// kind/namespace/name.yaml, or kind/name.yaml for cluster-scoped resources, with
// the kind in lower case. Two resources of one group never have the same file, and
// no file escapes the path: characters other than letters, digits, dash,
// underscore and dot, and a leading dot, are written as % and two hex digits, and
// a name that is too long for a file system is truncated and ends with a hash.
func File(kind, namespace, name string) string {
	at := part(strings.ToLower(kind)) + "/"
	if namespace != "" {
		at += part(namespace) + "/"
	}
	return at + part(name) + ".yaml"
}

// part escapes a name as part of a path.
func part(name string) string {
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' && i > 0
		if plain {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	const most, kept = 200, 180
	if b.Len() > most {
		sum := sha256.Sum256([]byte(name))
		return b.String()[:kept] + "-" + hex.EncodeToString(sum[:8])
	}
	return b.String()
}

// put adds the file of the resource to made, or its removal. It returns an error
// if the file holds another resource, and leaves a file unchanged that is equal
// apart from formatting.
func (d document) put(read func(string) ([]byte, error), in *input, made map[string][]byte) error {
	next := d.node
	old, err := read(d.file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil {
		docs, _ := parser.DecodeBytes(old)
		var is document
		if len(docs) == 1 {
			is, _ = newDocument(docs[0])
		}
		if is.group != d.group || is.kind != d.kind || is.namespace != d.namespace || is.name != d.name {
			return action.Errorf("move it, or choose another path", "file %q contains something other than %s %s", d.file, d.kind, d.name)
		}
		if in.merge {
			next = tree.Overlay(docs[0], d.node)
		}
		if !in.remove && docs[0].Equal(next) {
			return nil
		}
	}
	if err != nil && in.merge && !in.remove {
		return action.Errorf("check its name and the path, or propose the complete resource without merge", "cannot merge: file %q of %s %s does not exist", d.file, d.kind, d.name)
	}
	made[d.file] = nil
	if !in.remove {
		made[d.file] = tree.AppendYAML(nil, next)
	}
	return nil
}
