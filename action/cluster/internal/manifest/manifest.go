// Package manifest reads the objects of a manifest and checks their names.
package manifest

import (
	"errors"
	"regexp"
	"strings"

	"example.dev/ingestor/document/parser"

	"example.dev/ingestor/action"
	"example.dev/ingestor/action/cluster/internal/fields"
	"example.dev/ingestor/document/tree"
)

// Document is one object of a manifest.
type Document struct {
	// Verb is the operation: apply, delete or read.
	Verb             string
	Node             *tree.Node
	APIVersion, Kind string
	Namespace, Name  string
	// Served describes how the cluster serves the kind.
	Served Resource
}

// Verbs of documents.
const (
	VerbApply  = "apply"
	VerbDelete = "delete"
	VerbRead   = "read"
)

// Doing completes "cannot …".
func (d *Document) Doing() string { return d.Verb + " " + d.String() }

// String returns the kind, namespace and name for messages.
func (d *Document) String() string {
	if d.Namespace == "" {
		return d.Kind + " " + d.Name
	}
	return d.Kind + " " + d.Namespace + "/" + d.Name
}

// Group returns the API group.
func (d *Document) Group() string {
	group, _ := d.GroupVersion()
	return group
}

// GroupVersion returns the API group, which may be empty, and the version.
func (d *Document) GroupVersion() (group, version string) {
	if group, version, ok := strings.Cut(d.APIVersion, "/"); ok {
		return group, version
	}
	return "", d.APIVersion
}

// mostDocuments is the maximum number of documents in a manifest.
const mostDocuments = 200

// Read reads a manifest: an object, a list of objects, or text with several
// documents, each of which may be a List.
func Read(manifest *tree.Node) ([]*Document, error) {
	nodes, err := objects(manifest, nil)
	if err != nil {
		return nil, err
	}
	if len(nodes) == 0 {
		return nil, action.Errorf("set an object, or its YAML", "cannot read the manifest: empty")
	}
	if len(nodes) > mostDocuments {
		return nil, action.Errorf("use several steps", "cannot read the manifest: %d documents, more than %d", len(nodes), mostDocuments)
	}
	var out []*Document
	for i, n := range nodes {
		d, err := newDocument(n)
		if e, ok := errors.AsType[*action.Error](err); ok && len(nodes) > 1 {
			err = action.Errorf(e.Hint, "document %d: %w", i+1, err)
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
			return nil, action.Errorf(errs[0].Hint, "cannot read the manifest: %w", errs[0])
		}
		for _, d := range docs {
			if d.IsString() {
				return nil, action.Errorf("set an object, or its YAML", "cannot read the manifest: found text, not an object")
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
	return nil, action.Errorf("set an object, or its YAML", "cannot read the manifest: found %s, not an object", article(n.Kind))
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

// CheckNames returns an error if a name cannot be part of an API path.
func (d *Document) CheckNames() error {
	switch {
	case d.APIVersion == "":
		return action.Errorf("write the group and version of its kind, such as example.org/v1", "cannot use the manifest: apiVersion is missing")
	case !goodVersion.MatchString(d.APIVersion):
		return action.Errorf("write a group and a version, such as example.org/v1", "cannot use the manifest: apiVersion %q is not valid", d.APIVersion)
	case d.Kind == "":
		return action.Errorf("write the kind of the object", "cannot use the manifest: kind is missing")
	case d.Name == "":
		return action.Errorf("give the object a name", "cannot use the manifest of %s: metadata.name is missing", d.Kind)
	case strings.ContainsAny(d.Name, "/%") || d.Name == "." || d.Name == "..":
		return action.Errorf("use lower case letters, digits and dashes", "cannot use the manifest of %s: metadata.name %q is not a valid name", d.Kind, d.Name)
	case d.Namespace != "" && !goodNamespace.MatchString(d.Namespace):
		return action.Errorf("use lower case letters, digits and dashes", "cannot use the manifest of %s: metadata.namespace %q is not a valid namespace", d.Kind, d.Namespace)
	}
	return nil
}

// newDocument reads an object, and omits the fields that only the server writes.
func newDocument(n *tree.Node) (*Document, error) {
	meta := n.Get("metadata")
	if meta.Get("generateName").Str() != "" && meta.Get("name").Str() == "" {
		return nil, action.Errorf("set metadata.name; an object with a generated name cannot be found again",
			"cannot use the manifest of %s: generateName without a name is not supported", n.Get("kind").Str())
	}
	d := &Document{
		Verb: VerbApply, Node: tree.Obj(),
		APIVersion: n.Get("apiVersion").Str(), Kind: n.Get("kind").Str(),
		Namespace: meta.Get("namespace").Str(), Name: meta.Get("name").Scalar(),
	}
	if err := d.CheckNames(); err != nil {
		return nil, err
	}
	for _, f := range n.Fields {
		switch f.Key {
		case "status":
		case "metadata":
			kept := tree.Obj(tree.F("name", tree.Str(d.Name)))
			d.Node.Set(f.Key, kept)
			fields.CopyMetadata(kept, meta)
			fields.Unstamp(kept)
		default:
			d.Node.Set(f.Key, f.Value)
		}
	}
	return d, nil
}

// Settle sets how the kind of a document is served, and its namespace if it needs
// one.
func (d *Document) Settle(k Resource, namespace string) error {
	d.Served = k
	if !k.Namespaced {
		if d.Namespace != "" {
			return action.Errorf("remove metadata.namespace", "cannot use the manifest of %s %s: namespace %q is set, but the kind is cluster-scoped", d.Kind, d.Name, d.Namespace)
		}
		return nil
	}
	if d.Namespace == "" {
		d.Namespace = namespace
		d.Node.Get("metadata").Set("namespace", tree.Str(namespace))
	}
	return d.CheckNames()
}

// Distinct returns an error if the manifest has an object twice.
func Distinct(docs []*Document) error {
	seen := map[string]bool{}
	for _, d := range docs {
		key := d.Group() + " " + d.String()
		if seen[key] {
			return action.Errorf("remove one of them", "cannot use the manifest: duplicate %s", d)
		}
		seen[key] = true
	}
	return nil
}

// YAML returns the documents as YAML.
func YAML(docs []*Document) string {
	var out []byte
	for i, d := range docs {
		if i > 0 {
			out = append(out, "---\n"...)
		}
		out = tree.AppendYAML(out, d.Node)
	}
	return string(out)
}

// Reference returns a document as an entry of a step's output.
func (d *Document) Reference(cluster, uid string) *tree.Node {
	return tree.Obj(
		tree.F("apiVersion", tree.Str(d.APIVersion)),
		tree.F("kind", tree.Str(d.Kind)),
		tree.F("namespace", tree.OptStr(d.Namespace)),
		tree.F("name", tree.Str(d.Name)),
		tree.F("uid", tree.OptStr(uid)),
		tree.F("cluster", tree.Str(cluster)),
	)
}

// Within returns the namespace for permission checks. A kube-* Namespace counts as
// inside itself, so that creating it is denied like creating objects in it.
func (d *Document) Within() string {
	if d.APIVersion == "v1" && d.Kind == "Namespace" && strings.HasPrefix(d.Name, "kube-") {
		return d.Name
	}
	return d.Namespace
}
