// Package xrd is the input: composite resource definitions, Compositions,
// composite resources and claims, read from YAML or JSON, selected, and ready
// for the engine. It reads what is there and never fails on what is missing;
// package xrd/lint says what is wrong with it.
package xrd

import (
	"strconv"

	"example.dev/ingestor/tree"
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
	Words       words.Vocabulary
	Origin      Origin
	// Node is the object as it was read.
	Node *tree.Node
}

// newObject reads the common part of n.
func newObject(n *tree.Node, origin Origin) Object {
	apiVersion := n.Get("apiVersion").Str()
	meta := n.Get("metadata")
	generation, _ := strconv.ParseInt(meta.Get("generation").Scalar(), 10, 64)
	return Object{
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
