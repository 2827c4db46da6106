package xrd

import (
	"cmp"
	"strings"

	"example.dev/ingestor/document/tree"
)

// Record is an extract record: a definition with where and when it was found.
type Record struct {
	// Source is SourceCluster, SourceFile or SourceGit.
	Source string
	// Timestamp is the time in ISO 8601.
	Timestamp string
	// XRD is the definition as it was found.
	XRD *tree.Node
	// Metadata is the context: cluster, namespace, path; for a repository also repository,
	// ref and commit; and location, where portals find it.
	Metadata map[string]string
	// Context, if not nil, is the metadata as it was read. Values that are not strings are
	// only here.
	Context *tree.Node
}

// NewRecord returns the record of a definition, without a timestamp.
func NewRecord(d *Definition) Record {
	o, meta := d.Origin, map[string]string{}
	set := func(key, value string) {
		if value != "" {
			meta[key] = value
		}
	}
	set("cluster", o.Cluster)
	set("namespace", d.Namespace)
	switch {
	case o.Source == SourceCluster:
		set("location", o.Location)
	case o.Source == SourceGit:
		set("path", o.File)
		set("location", o.Location)
	case strings.HasPrefix(o.Location, fileLocation):
		set("path", strings.TrimPrefix(o.Location, fileLocation))
	default:
		set("path", o.File)
		set("location", o.Location)
	}
	return Record{Source: cmp.Or(o.Source, SourceFile), XRD: d.Node, Metadata: meta}
}

// fileLocation is the prefix of file locations.
const fileLocation = "file:"

// Name returns the name of the definition, derived from plural and group if missing.
func (r Record) Name() string {
	if name := r.XRD.Get("metadata", "name").Str(); name != "" {
		return name
	}
	plural, group := r.XRD.Get("spec", "names", "plural").Str(), r.XRD.Get("spec", "group").Str()
	if plural == "" || group == "" {
		return ""
	}
	return plural + "." + group
}

// ReadRecord parses an extract record. It returns false if n is not one. A record
// without a source is from a file.
func ReadRecord(n *tree.Node) (Record, bool) {
	x := n.Get("xrd")
	if !x.IsMap() || n.Has("kind") {
		return Record{}, false
	}
	return Record{
		Source:    cmp.Or(n.Get("source").Str(), SourceFile),
		Timestamp: n.Get("timestamp").Scalar(),
		XRD:       x,
		Metadata:  n.Get("metadata").StringMap(),
		Context:   n.Get("metadata"),
	}, true
}

// Node returns the record as a document.
func (r Record) Node() *tree.Node {
	meta := tree.StrMap(r.Metadata)
	if meta == nil {
		meta = tree.Obj()
	}
	if r.Context.IsMap() {
		for _, f := range r.Context.Fields {
			if !f.Value.IsString() {
				meta.Set(f.Key, f.Value)
			}
		}
		meta.SortKeys()
	}
	return tree.Obj(
		tree.F("source", tree.Str(r.Source)),
		tree.F("timestamp", tree.Str(r.Timestamp)),
		tree.F("xrd", r.XRD),
		tree.F("metadata", meta),
	)
}

// Origin returns where the definition of the record was found. File stays the record's
// file, because findings must point there.
func (r Record) Origin(at Origin) Origin {
	o := Origin{Source: r.Source, File: at.File, Cluster: r.Metadata["cluster"], Location: r.Metadata["location"]}
	if path := r.Metadata["path"]; o.Location == "" && path != "" {
		o.Location = fileLocation + path
	}
	return o
}
