// Package xrd defines the input: composite resource definitions, Compositions, composite
// resources and claims, read from YAML or JSON, selected, and ready for the engine. It
// reads what is present and never fails on missing fields; package xrd/lint reports what
// is wrong.
//
// It is one package because these are the types of one input document and how they are
// read, merged and pruned.
package xrd

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/words"
)

// The kinds of source of an object, as extract records spell them.
const (
	SourceCluster = "kubernetes"
	SourceFile    = "file"
	SourceGit     = "git"
)

// Origin is where an object was found.
type Origin struct {
	// Source is SourceCluster, SourceFile or SourceGit; empty means file.
	Source string
	// File is the path as the user gave it, for findings and file locations.
	File string
	// Cluster is the name of the cluster, if the object came from one.
	Cluster string
	// Location is the source location in type:target form. Empty means "file:" and File.
	Location string
}

// SourceLocation returns the location in type:target form.
func (o Origin) SourceLocation() string {
	if o.Location != "" {
		return o.Location
	}
	return fileLocation + o.File
}

// Object holds the fields common to all cluster objects. Identifiers are in the
// contract's vocabulary; Words is the vocabulary they were written in.
type Object struct {
	APIVersion  string
	Kind        string
	Name        string
	Namespace   string
	Labels      map[string]string
	Annotations map[string]string
	Generation  int64
	// Unnamed is true if the object has no name yet: Name is generated, and the cluster
	// will choose another.
	Unnamed bool
	Words   words.Vocabulary
	Origin  Origin
	// Node is the object as it was read.
	Node *tree.Node
	// Load, if not nil, loads the object that a Spill took; in memory are only the fields
	// needed to select, merge and sort objects. Whole returns the full object.
	Load func() *tree.Node
}

// newObject parses the common part of n.
func newObject(n *tree.Node, origin Origin) Object {
	apiVersion := n.Get("apiVersion").Str()
	meta := n.Get("metadata")
	generation, _ := strconv.ParseInt(meta.Get("generation").Scalar(), 10, 64)
	o := Object{
		APIVersion:  words.APIVersionIn(apiVersion),
		Kind:        n.Get("kind").Str(),
		Name:        meta.Get("name").Str(),
		Namespace:   meta.Get("namespace").Str(),
		Labels:      words.KeysIn(meta.Get("labels").StringMap()),
		Annotations: words.KeysIn(meta.Get("annotations").StringMap()),
		Generation:  generation,
		Words:       words.Of(apiVersion),
		Origin:      origin,
		Node:        n,
	}
	if made := o.Annotations[words.AnnotationMadeName]; o.Name == "" && made != "" {
		o.Name, o.Unnamed = made, true
	}
	return o
}

// volatile are the fields of metadata that a cluster sets.
var volatile = []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink"}

// called returns an object with a name. An object without a name, as in files for
// kubectl create, gets an annotation with a generated name: its generateName or kind,
// and a hash of its content. So the name does not depend on the object's location, and
// differs for objects with different content.
func called(n *tree.Node) *tree.Node {
	meta := n.Get("metadata")
	if !n.IsMap() || meta.Get("name").Str() != "" || meta.Get("annotations", words.AnnotationMadeName).Str() != "" {
		return n
	}
	content := only(n, func(f *tree.Field) bool {
		if f.Key == "metadata" {
			f.Value = only(f.Value, func(f *tree.Field) bool { return !slices.Contains(volatile, f.Key) })
		}
		return f.Key != "status"
	})
	sum := sha256.Sum256(tree.AppendCanonical(nil, content))
	prefix := strings.TrimRight(meta.Get("generateName").Str(), "-.")
	if prefix == "" {
		prefix = strings.ToLower(n.Get("kind").Str())
	}
	out := *n
	out.Fields = slices.Clone(n.Fields)
	noted := tree.Obj()
	if meta.IsMap() {
		noted = only(meta, func(*tree.Field) bool { return true })
	}
	annotations := tree.Obj()
	if a := noted.Get("annotations"); a.IsMap() {
		annotations = only(a, func(*tree.Field) bool { return true })
	}
	annotations.Set(words.AnnotationMadeName, tree.Str(prefix+"-"+hex.EncodeToString(sum[:4])))
	noted.Set("annotations", annotations)
	out.Set("metadata", noted)
	return &out
}

// Group returns the API group.
func (o *Object) Group() string { return groupOf(o.APIVersion) }

func groupOf(apiVersion string) string {
	for i := len(apiVersion) - 1; i >= 0; i-- {
		if apiVersion[i] == '/' {
			return apiVersion[:i]
		}
	}
	return ""
}
