package spool

import "encoding/binary"

// Piece is the rest of a piece of a run. Its methods read what a record consists of, in the
// order in which it was appended.
type Piece struct{ left []byte }

// AppendText appends a text.
func AppendText(dst []byte, text string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

// Text reads a text.
func (p *Piece) Text() string {
	n := p.length()
	text := string(p.left[:n])
	p.left = p.left[n:]
	return text
}

func (p *Piece) length() int {
	size, n := binary.Uvarint(p.left)
	p.left = p.left[n:]
	return int(size)
}

// AppendNumber appends a number.
func AppendNumber(dst []byte, number int64) []byte { return binary.AppendVarint(dst, number) }

// Number reads a number.
func (p *Piece) Number() int64 {
	number, n := binary.Varint(p.left)
	p.left = p.left[n:]
	return number
}

// AppendBool appends a bool.
func AppendBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// Bool reads a bool.
func (p *Piece) Bool() bool { return p.length() == 1 }

// AppendIDs appends ids.
func AppendIDs(dst []byte, ids []uint32) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(ids)))
	for _, id := range ids {
		dst = binary.LittleEndian.AppendUint32(dst, id)
	}
	return dst
}

// IDs reads ids.
func (p *Piece) IDs() []uint32 {
	ids := make([]uint32, p.length())
	for i := range ids {
		ids[i] = binary.LittleEndian.Uint32(p.left[4*i:])
	}
	p.left = p.left[4*len(ids):]
	return ids
}
