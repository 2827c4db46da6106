package tree

import (
	"encoding/binary"
	"errors"
)

// absent encodes a nil Node in place of a Kind.
const absent = 0xff

// plain is the flag beside the Kind that marks an unquoted scalar.
const plain = 0x80

// errBinary is returned for text that AppendBinary did not write.
var errBinary = errors.New("cannot decode binary tree: data is corrupt")

// AppendBinary appends a tree in a binary form that DecodeBinary reads back completely,
// including positions. It is for temporary files of the program that writes them, and
// may change with every version.
func AppendBinary(dst []byte, n *Node) []byte {
	w := binaryWriter{dst: dst}
	w.node(n)
	return w.dst
}

type binaryWriter struct {
	dst []byte
	// at is the last position written: positions are delta-encoded because the next one is
	// often near.
	at Pos
}

func (w *binaryWriter) number(n int) { w.dst = binary.AppendUvarint(w.dst, uint64(n)) }

func (w *binaryWriter) text(s string) {
	w.number(len(s))
	w.dst = append(w.dst, s...)
}

func (w *binaryWriter) pos(p Pos) {
	w.dst = binary.AppendVarint(w.dst, int64(p.Line)-int64(w.at.Line))
	w.dst = binary.AppendVarint(w.dst, int64(p.Column)-int64(w.at.Column))
	w.at = p
}

func (w *binaryWriter) node(n *Node) {
	if n == nil {
		w.dst = append(w.dst, absent)
		return
	}
	kind := byte(n.Kind)
	if n.Plain {
		kind |= plain
	}
	w.dst = append(w.dst, kind)
	w.pos(n.Pos)
	switch n.Kind {
	case List:
		w.number(len(n.Items))
		for _, it := range n.Items {
			w.node(it)
		}
	case Map:
		w.number(len(n.Fields))
		for i := range n.Fields {
			w.text(n.Fields[i].Key)
			w.pos(n.Fields[i].Pos)
			w.node(n.Fields[i].Value)
		}
	default:
		w.text(n.Text)
	}
}

// DecodeBinary reads a tree written by AppendBinary. Its strings share the memory of
// text.
func DecodeBinary(text string) (*Node, error) {
	r := binaryReader{text: text}
	n := r.node()
	if r.bad || r.i != len(text) {
		return nil, errBinary
	}
	return n, nil
}

type binaryReader struct {
	text  string
	i     int
	at    Pos
	maker Maker
	// bad is true after a read error; all further results are meaningless.
	bad bool
}

func (r *binaryReader) byte() byte {
	if r.i >= len(r.text) {
		r.bad = true
		return absent
	}
	r.i++
	return r.text[r.i-1]
}

func (r *binaryReader) uvarint() (x uint64) {
	for shift := 0; shift < 64; shift += 7 {
		b := r.byte()
		if r.bad {
			return 0
		}
		x |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return x
		}
	}
	r.bad = true
	return 0
}

// number reads a length or count. Each counted element has at least one byte, which
// limits the value.
func (r *binaryReader) number() int {
	n := r.uvarint()
	if n > uint64(len(r.text)-r.i) {
		r.bad = true
		return 0
	}
	return int(n)
}

func (r *binaryReader) string() string {
	n := r.number()
	r.i += n
	return r.text[r.i-n : r.i]
}

func (r *binaryReader) pos() Pos {
	r.at.Line += int32(r.varint())
	r.at.Column += int32(r.varint())
	return r.at
}

func (r *binaryReader) varint() int64 {
	x := r.uvarint()
	return int64(x>>1) ^ -int64(x&1)
}

func (r *binaryReader) node() *Node {
	kind := r.byte()
	if kind == absent || Kind(kind&^plain) > Map {
		r.bad = r.bad || kind != absent
		return nil
	}
	var n *Node
	pos := r.pos()
	switch Kind(kind &^ plain) {
	case List:
		n = r.maker.Node()
		if count := r.number(); count > 0 {
			n.Items = make([]*Node, count)
		}
		for i := range n.Items {
			if n.Items[i] = r.node(); r.bad {
				return nil
			}
		}
	case Map:
		count := r.number()
		n = r.maker.Map(count)
		for range count {
			f := Field{Key: r.string(), Pos: r.pos()}
			if f.Value = r.node(); r.bad {
				return nil
			}
			n.Fields = append(n.Fields, f)
		}
	default:
		n = r.maker.Node()
		n.Text = r.string()
	}
	n.Kind, n.Plain, n.Pos = Kind(kind&^plain), kind&plain != 0, pos
	return n
}
