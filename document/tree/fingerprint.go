package tree

import "encoding/binary"

// AppendFingerprint appends n in a form for hashing: equal values give equal bytes
// regardless of the order of their keys, different values different bytes. It is
// equivalent to AppendCanonical but several times faster, because length prefixes make
// escaping unnecessary.
func AppendFingerprint(dst []byte, n *Node) []byte {
	if n == nil {
		return append(dst, byte(Null))
	}
	dst = append(dst, byte(n.Kind))
	switch n.Kind {
	case Null:
	case Map:
		dst = binary.AppendUvarint(dst, uint64(len(n.Fields)))
		var few [16]uint32
		var order []uint32
		if !keysSorted(n.Fields) {
			order = keyOrder(few[:0], n.Fields)
		}
		for i := range n.Fields {
			f := &n.Fields[i]
			if order != nil {
				f = &n.Fields[order[i]]
			}
			dst = appendSized(dst, f.Key)
			dst = AppendFingerprint(dst, f.Value)
		}
	case List:
		dst = binary.AppendUvarint(dst, uint64(len(n.Items)))
		for _, it := range n.Items {
			dst = AppendFingerprint(dst, it)
		}
	default:
		dst = appendSized(dst, n.Text)
	}
	return dst
}

func appendSized(dst []byte, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}
