package object

import (
	"encoding/json"
	"strconv"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd"
)

// Note is the metadata stored with an object.
type Note struct {
	// Refused is why the object is not ingested.
	Refused string `json:"refused,omitempty"`
	// Kinds are the kinds that a definition defines, as they are listed.
	Kinds  []cluster.Kind `json:"kinds,omitempty"`
	Origin xrd.Origin     `json:"origin,omitzero"`
	// At is the position in the file: of two objects of one name the first is used.
	At tree.Pos `json:"at,omitzero"`
	// Claim is the kind of a definition's claims, and Serving its conditions. Health reads
	// them for thousands of definitions without their bodies.
	Claim   string        `json:"claim,omitempty"`
	Serving []xrd.Serving `json:"serving,omitempty"`
}

// noteFor returns the note of an object that is ingested.
func noteFor(n *tree.Node, origin xrd.Origin) Note {
	out := Note{Origin: origin}
	if origin.File != "" {
		out.At = n.At()
	}
	return out
}

func (n Note) encode() []byte {
	data, err := json.Marshal(n)
	if err != nil {
		// Encoding cannot fail: a note contains only plain values.
		panic(err)
	}
	return data
}

// NoteOf decodes the note of an object; an invalid note is empty. It runs for thousands
// of objects, so it uses a decoder that is faster than encoding/json.
func NoteOf(o *mirror.Object) (n Note) {
	if len(o.Note) == 0 {
		return n
	}
	doc, err := wire.Decoder{}.Decode(o.Note)
	if err != nil {
		return n
	}
	n.Refused = doc.Get("refused").Str()
	for _, k := range doc.Get("kinds").List() {
		n.Kinds = append(n.Kinds, cluster.Kind{
			Resource: cluster.Resource{
				Group: k.Get("Group").Str(), Version: k.Get("Version").Str(), Plural: k.Get("Plural").Str(), Namespace: k.Get("Namespace").Str(),
			},
			Kind: k.Get("Kind").Str(),
		})
	}
	origin := doc.Get("origin")
	n.Origin = xrd.Origin{
		Source: origin.Get("Source").Str(), File: origin.Get("File").Str(), Cluster: origin.Get("Cluster").Str(), Location: origin.Get("Location").Str(),
	}
	n.readServing(doc)
	at := doc.Get("at")
	n.At = tree.Pos{Line: number32(at.Get("Line")), Column: number32(at.Get("Column"))}
	return n
}

func number32(n *tree.Node) int32 {
	v, err := strconv.ParseInt(n.Scalar(), 10, 32)
	if err != nil {
		return 0
	}
	return int32(v)
}

// readServing reads the serving conditions of a note.
func (n *Note) readServing(doc *tree.Node) {
	n.Claim = doc.Get("claim").Str()
	for _, s := range doc.Get("serving").List() {
		one := xrd.Serving{Cluster: s.Get("Cluster").Str()}
		for _, c := range s.Get("Conditions").List() {
			one.Conditions = append(one.Conditions, xrd.Condition{
				Type: c.Get("Type").Str(), Status: c.Get("Status").Str(), Reason: c.Get("Reason").Str(), Message: c.Get("Message").Str(),
			})
		}
		n.Serving = append(n.Serving, one)
	}
}
