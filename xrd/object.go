// Package xrd is the input: composite resource definitions, Compositions,
// composite resources and claims, read from YAML or JSON, selected, and ready
// for the engine. It reads what is there and never fails on what is missing;
// package xrd/lint says what is wrong with it.
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

// The kinds of source an object can come from, as extract records name them.
const (
	SourceCluster = "kubernetes"
	SourceFile    = "file"
	SourceGit     = "git"
)

// Origin says where an object was found.
type Origin struct {
	// Source is SourceCluster, SourceFile or SourceGit; empty means file.
	Source string
	// File is the path as the user gave it, for findings and file locations.
	File string
	// Cluster is the name of the cluster, if it came from one.
	Cluster string
	// Location is the source location in type:target form. Empty means
	// "file:" and File.
	Location string
}

// SourceLocation returns the location in type:target form.
func (o Origin) SourceLocation() string {
	if o.Location != "" {
		return o.Location
	}
	return fileLocation + o.File
}

// Object is what all objects of a cluster have in common. Identifiers are in
// the contract's words; Words tells in which they were written.
type Object struct {
	APIVersion  string
	Kind        string
	Name        string
	Namespace   string
	Labels      map[string]string
	Annotations map[string]string
	Generation  int64
	// Unnamed says that the object has no name yet: Name was made up, and a
	// cluster will choose another.
	Unnamed bool
	Words   words.Vocabulary
	Origin  Origin
	// Node is the object as it was read.
	Node *tree.Node
	// Load, if not nil, reads the object back that a Spill took: what is here is
	// what objects are chosen, merged and ordered by. Whole returns all of it.
	Load func() *tree.Node
}

// newObject reads the common part of n.
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

// volatile are the fields of metadata that a cluster fills in.
var volatile = []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink"}

// called returns an object with a name. One without, as it stands in files from
// which kubectl creates objects, gets a note of one that is made up: of the
// beginning it asks for, or of its kind, and of its content. So it is the same
// wherever the object stands, and another for each object that says something else.
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
