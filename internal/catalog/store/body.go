package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"sync"

	"example.dev/ingestor/internal/catalog/store/index"

	"example.dev/ingestor/document/tree"
)

// etagSize is the number of hex digits of an etag.
const etagSize = 40

// uidSize is the number of characters of a uid.
const uidSize = 36

// served is an entity's JSON, with the offsets of the parts that change when only its
// relations do.
type served struct {
	body                []byte
	etagAt, relationsAt int
}

// blank is an entity's JSON without the parts that the store adds: the uid and the etag
// are placeholders, and the relations are missing.
type blank struct {
	body          []byte
	uidAt, etagAt int
}

// scratch holds buffers to write documents into, since their size is not known in
// advance.
var scratch = sync.Pool{New: func() any { return new([]byte) }}

// blankOf encodes a document as clients get it.
func blankOf(n *tree.Node) blank {
	var s blank
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

// serve returns a copy with a uid and capacity for a number of relations. finish adds
// the etag and the relations.
func (b *blank) serve(uid string, links int) served {
	s := served{body: make([]byte, len(b.body), len(b.body)+perLink*(links+1)), etagAt: b.etagAt, relationsAt: len(b.body)}
	copy(s.body, b.body)
	copy(s.body[b.uidAt:b.uidAt+uidSize], uid)
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

// link is a relation as its source lists it.
type link struct{ typ, target string }

// finish writes relations at the end of the body, in place of any that are there, and
// then the etag of the whole body, which it returns.
func (s *served) finish(links []link) string {
	dst := append(s.body[:s.relationsAt], `"relations":[`...)
	for i, l := range links {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"type":`...)
		dst = tree.AppendJSON(dst, tree.Str(l.typ), "")
		dst = append(dst, `,"targetRef":`...)
		dst = tree.AppendJSON(dst, tree.Str(l.target), "")
		dst = append(dst, '}')
	}
	s.body = append(dst, ']', '}')

	h := sha256.New()
	h.Write(s.body[:s.etagAt])
	h.Write(s.body[s.etagAt+etagSize:])
	sum := h.Sum(nil)
	hex.Encode(s.body[s.etagAt:], sum[:etagSize/2])
	return string(s.body[s.etagAt : s.etagAt+etagSize])
}
