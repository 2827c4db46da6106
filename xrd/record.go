package xrd

import (
	"example.dev/ingestor/tree"
)

// Record is an extract record: a definition with where and when it was found.
type Record struct {
	// Source is SourceCluster, SourceFile or SourceGit.
	Source string
	// Timestamp is when, in ISO 8601.
	Timestamp string
	// XRD is the definition as it was found.
	XRD *tree.Node
	// Metadata is the context: cluster, namespace, path.
	Metadata map[string]string
}

// ReadRecord reads an extract record. It reports false if n is not one.
func ReadRecord(n *tree.Node) (Record, bool) {
	x := n.Get("xrd")
	if !x.IsMap() || n.Has("kind") || n.Get("source").Str() == "" {
		return Record{}, false
	}
	return Record{
		Source:    n.Get("source").Str(),
		Timestamp: n.Get("timestamp").Scalar(),
		XRD:       x,
		Metadata:  n.Get("metadata").StringMap(),
	}, true
}

// Node returns the record as it is written.
func (r Record) Node() *tree.Node {
	meta := tree.StrMap(r.Metadata)
	if meta == nil {
		meta = tree.Obj()
	}
	return tree.Obj(
		tree.F("source", tree.Str(r.Source)),
		tree.F("timestamp", tree.Str(r.Timestamp)),
		tree.F("xrd", r.XRD),
		tree.F("metadata", meta),
	)
}

// Origin returns where the record says its definition was found. File stays
// that of the record, because that is where a mistake can be pointed at.
func (r Record) Origin(at Origin) Origin {
	o := Origin{Source: r.Source, File: at.File, Cluster: r.Metadata["cluster"], Location: r.Metadata["location"]}
	if path := r.Metadata["path"]; o.Location == "" && path != "" {
		o.Location = "file:" + path
	}
	return o
}
