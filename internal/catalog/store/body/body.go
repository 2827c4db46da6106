// Package body composes the JSON of entities as clients get it.
package body

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"sync"

	"github.com/cespare/xxhash/v2"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/catalog/store/index"
)

// etagSize is the number of hex digits of an etag.
const etagSize = 40

// uidSize is the number of characters of a uid.
const uidSize = 36

// Body is an entity's JSON, with the offsets of the parts that change when only its
// relations do.
type Body struct {
	JSON                []byte
	ETagAt, RelationsAt int
}

// Blank is an entity's JSON without the parts that the store adds: the uid and the etag
// are placeholders, and the relations are missing.
type Blank struct {
	body          []byte
	uidAt, etagAt int
}

// scratch holds buffers to write documents into, since their size is not known in
// advance.
var scratch = sync.Pool{New: func() any { return new([]byte) }}

// New encodes a document as clients get it.
func New(n *tree.Node) Blank {
	var s Blank
	room := scratch.Get().(*[]byte)
	defer scratch.Put(room)
	dst := append((*room)[:0], '{')
	for _, key := range []string{"apiVersion", "kind"} {
		dst = appendField(dst, key, n.Get(key))
	}
	dst = append(dst, `"metadata":{`...)
	metadata := n.Get("metadata")
	named := false
	if metadata.IsMap() {
		for _, f := range metadata.Fields {
			switch f.Key {
			case "uid", "etag":
			case "namespace":
				named = true
				dst = appendField(dst, f.Key, tree.Str(index.Namespace(metadata)))
			default:
				dst = appendField(dst, f.Key, f.Value)
			}
		}
	}
	if !named {
		dst = appendField(dst, "namespace", tree.Str(index.Namespace(metadata)))
	}
	dst = append(dst, `"uid":"`...)
	s.uidAt = len(dst)
	dst = append(dst, zeros[:uidSize]...)
	dst = append(dst, `","etag":"`...)
	s.etagAt = len(dst)
	dst = append(dst, zeros[:etagSize]...)
	dst = append(dst, `"},`...)
	for _, key := range []string{"spec", "status"} {
		if n.Has(key) {
			dst = appendField(dst, key, n.Get(key))
		}
	}
	s.body, *room = bytes.Clone(dst), dst
	return s
}

const zeros = "0000000000000000000000000000000000000000"

// perLink is about how many bytes a relation takes.
const perLink = 96

// Serve returns a copy with a uid and capacity for a number of relations. Finish adds
// the etag and the relations.
func (b *Blank) Serve(uid string, links int) Body {
	s := Body{JSON: make([]byte, len(b.body), len(b.body)+perLink*(links+1)), ETagAt: b.etagAt, RelationsAt: len(b.body)}
	copy(s.JSON, b.body)
	copy(s.JSON[b.uidAt:b.uidAt+uidSize], uid)
	return s
}

// appendField appends a field and a comma.
func appendField(dst []byte, key string, value *tree.Node) []byte {
	dst = tree.AppendJSON(dst, tree.Str(key), "")
	dst = append(dst, ':')
	if value == nil {
		value = tree.Nil()
	}
	dst = tree.AppendJSON(dst, value, "")
	return append(dst, ',')
}

// Link is a relation as its source lists it.
type Link struct{ Type, Target string }

// Finish writes relations at the end of the body, in place of any that are there, and
// then the etag of the whole body, which it returns. hash is the cryptographic hash of the
// document; it leaves out what a fast checksum adds: the uid, the order of keys, and the
// annotation that changes with every scan.
func (s *Body) Finish(hash string, links []Link) string {
	dst := append(s.JSON[:s.RelationsAt], `"relations":[`...)
	for i, l := range links {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"type":`...)
		dst = tree.AppendJSON(dst, tree.Str(l.Type), "")
		dst = append(dst, `,"targetRef":`...)
		dst = tree.AppendJSON(dst, tree.Str(l.Target), "")
		dst = append(dst, '}')
	}
	s.JSON = append(dst, ']', '}')

	text := make([]byte, 0, 128)
	text = binary.BigEndian.AppendUint64(text, xxhash.Sum64(s.JSON[:s.ETagAt]))
	text = binary.BigEndian.AppendUint64(text, xxhash.Sum64(s.JSON[s.ETagAt+etagSize:s.RelationsAt]))
	text = append(text, hash...)
	sum := sha256.Sum256(append(text, s.JSON[s.RelationsAt:]...))
	hex.Encode(s.JSON[s.ETagAt:], sum[:etagSize/2])
	return string(s.JSON[s.ETagAt : s.ETagAt+etagSize])
}
