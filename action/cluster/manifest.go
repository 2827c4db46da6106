package cluster

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
)

// document is one object of a manifest.
type document struct {
	// verb is the operation: apply, delete or read.
	verb             string
	node             *tree.Node
	apiVersion, kind string
	namespace, name  string
	// served describes how the cluster serves the kind.
	served kind
}

// Verbs of documents; see also verbRead.
const (
	verbApply  = "apply"
	verbDelete = "delete"
)

// doing completes "cannot …".
func (d *document) doing() string { return d.verb + " " + d.String() }

// String returns the kind, namespace and name for messages.
func (d *document) String() string {
	if d.namespace == "" {
		return d.kind + " " + d.name
	}
	return d.kind + " " + d.namespace + "/" + d.name
}

// group returns the API group.
func (d *document) group() string {
	group, _, ok := strings.Cut(d.apiVersion, "/")
	if !ok {
		return ""
	}
	return group
}

// mostDocuments is the maximum number of documents in a manifest.
const mostDocuments = 200

// documents reads a manifest: an object, a list of objects, or text with several
// documents, each of which may be a List.
func documents(manifest *tree.Node) ([]*document, error) {
	nodes, err := objects(manifest, nil)
	if err != nil {
		return nil, err
	}
	if len(nodes) == 0 {
		return nil, wrong("set an object, or its YAML", "cannot read the manifest: empty")
	}
	if len(nodes) > mostDocuments {
		return nil, wrong("use several steps", "cannot read the manifest: %d documents, more than %d", len(nodes), mostDocuments)
	}
	var out []*document
	for i, n := range nodes {
		d, err := newDocument(n)
		if err != nil && len(nodes) > 1 {
			err = wrong(hintOf(err), "document %d: %w", i+1, err)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

// objects appends the objects of n to the list.
func objects(n *tree.Node, to []*tree.Node) ([]*tree.Node, error) {
	switch {
	case n.IsString():
		docs, errs := parser.DecodeBytes([]byte(n.Str()))
		if len(errs) > 0 {
			return nil, wrong(errs[0].Hint, "cannot read the manifest: %w", errs[0])
		}
		for _, d := range docs {
			if d.IsString() {
				return nil, wrong("set an object, or its YAML", "cannot read the manifest: found text, not an object")
			}
			var err error
			if to, err = objects(d, to); err != nil {
				return nil, err
			}
		}
		return to, nil
	case n.IsList():
		for _, item := range n.List() {
			var err error
			if to, err = objects(item, to); err != nil {
				return nil, err
			}
		}
		return to, nil
	case n.IsMap() && strings.HasSuffix(n.Get("kind").Str(), "List") && n.Get("items").IsList():
		return objects(n.Get("items"), to)
	case n.IsMap():
		return append(to, n), nil
	case n.IsNull():
		return to, nil
	}
	return nil, wrong("set an object, or its YAML", "cannot read the manifest: found %s, not an object", article(n.Kind))
}

func article(k tree.Kind) string {
	if k == tree.Int {
		return "an integer"
	}
	return "a " + k.String()
}

// Patterns of the parts of an API path. The server has stricter rules for some
// parts, and reports violations.
var (
	goodVersion   = regexp.MustCompile(`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	goodNamespace = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
)

// checkNames returns an error if a name cannot be part of an API path.
func (d *document) checkNames() error {
	switch {
	case d.apiVersion == "":
		return wrong("write the group and version of its kind, such as example.org/v1", "cannot use the manifest: apiVersion is missing")
	case !goodVersion.MatchString(d.apiVersion):
		return wrong("write a group and a version, such as example.org/v1", "cannot use the manifest: apiVersion %q is not valid", d.apiVersion)
	case d.kind == "":
		return wrong("write the kind of the object", "cannot use the manifest: kind is missing")
	case d.name == "":
		return wrong("give the object a name", "cannot use the manifest of %s: metadata.name is missing", d.kind)
	case strings.ContainsAny(d.name, "/%") || d.name == "." || d.name == "..":
		return wrong("use lower case letters, digits and dashes", "cannot use the manifest of %s: metadata.name %q is not a valid name", d.kind, d.name)
	case d.namespace != "" && !goodNamespace.MatchString(d.namespace):
		return wrong("use lower case letters, digits and dashes", "cannot use the manifest of %s: metadata.namespace %q is not a valid namespace", d.kind, d.namespace)
	}
	return nil
}

// kept are the metadata fields that are applied. The other fields are set by the
// server, and appear in manifests that were copied from a cluster.
var kept = []string{"name", "namespace", "labels", "annotations", "finalizers", "ownerReferences"}

// newDocument reads an object, and omits the fields that only the server writes.
func newDocument(n *tree.Node) (*document, error) {
	meta := n.Get("metadata")
	if meta.Get("generateName").Str() != "" && meta.Get("name").Str() == "" {
		return nil, wrong("set metadata.name; an object with a generated name cannot be found again",
			"cannot use the manifest of %s: generateName without a name is not supported", n.Get("kind").Str())
	}
	d := &document{
		verb: verbApply, node: tree.Obj(),
		apiVersion: n.Get("apiVersion").Str(), kind: n.Get("kind").Str(),
		namespace: meta.Get("namespace").Str(), name: meta.Get("name").Scalar(),
	}
	if err := d.checkNames(); err != nil {
		return nil, err
	}
	for _, f := range n.Fields {
		switch f.Key {
		case "status":
		case "metadata":
			kept := tree.Obj(tree.F("name", tree.Str(d.name)))
			d.node.Set(f.Key, kept)
			copyMetadata(kept, meta)
			unstamp(kept)
		default:
			d.node.Set(f.Key, f.Value)
		}
	}
	return d, nil
}

func copyMetadata(to, from *tree.Node) {
	for _, f := range from.Fields {
		if f.Key != "name" && slices.Contains(kept, f.Key) && !f.Value.IsNull() {
			to.Set(f.Key, f.Value)
		}
	}
}

// settle sets how the kind of a document is served, and its namespace if it needs
// one.
func (d *document) settle(k kind, namespace string) error {
	d.served = k
	if !k.namespaced {
		if d.namespace != "" {
			return wrong("remove metadata.namespace", "cannot use the manifest of %s %s: namespace %q is set, but the kind is cluster-scoped", d.kind, d.name, d.namespace)
		}
		return nil
	}
	if d.namespace == "" {
		d.namespace = namespace
		d.node.Get("metadata").Set("namespace", tree.Str(namespace))
	}
	return d.checkNames()
}

// distinct returns an error if the manifest has an object twice.
func distinct(docs []*document) error {
	seen := map[string]bool{}
	for _, d := range docs {
		key := d.group() + " " + d.String()
		if seen[key] {
			return wrong("remove one of them", "cannot use the manifest: duplicate %s", d)
		}
		seen[key] = true
	}
	return nil
}

// text returns the documents as YAML.
func text(docs []*document) string {
	var out []byte
	for i, d := range docs {
		if i > 0 {
			out = append(out, "---\n"...)
		}
		out = tree.AppendYAML(out, d.node)
	}
	return string(out)
}

// reference returns a document as an entry of a step's output.
func (d *document) reference(cluster, uid string) *tree.Node {
	return tree.Obj(
		tree.F("apiVersion", tree.Str(d.apiVersion)),
		tree.F("kind", tree.Str(d.kind)),
		tree.F("namespace", tree.OptStr(d.namespace)),
		tree.F("name", tree.Str(d.name)),
		tree.F("uid", tree.OptStr(uid)),
		tree.F("cluster", tree.Str(cluster)),
	)
}

// andList joins names with commas and "and".
func andList(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return fmt.Sprintf("%s and %s", strings.Join(names[:len(names)-1], ", "), names[len(names)-1])
}

// hintOf returns the hint of an error, if it has one.
func hintOf(err error) string {
	if e, ok := errors.AsType[*action.Error](err); ok {
		return e.Hint
	}
	return ""
}
