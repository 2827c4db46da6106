package remote

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/memory"
)

// packer writes a pack.
type packer struct {
	bytes.Buffer
}

func newPack(count uint32) *packer {
	p := &packer{}
	p.WriteString("PACK\x00\x00\x00\x02")
	_ = binary.Write(p, binary.BigEndian, count)
	return p
}

// object writes an object: its type, claimed size, base of a delta, and content.
func (p *packer) object(kind byte, size uint64, base, data []byte) {
	b := kind<<4 | byte(size&15)
	for size >>= 4; size > 0; size >>= 7 {
		p.WriteByte(b | 0x80)
		b = byte(size & 127)
	}
	p.WriteByte(b)
	p.Write(base)
	z := zlib.NewWriter(p)
	_, _ = z.Write(data)
	_ = z.Close()
}

// end writes the checksum.
func (p *packer) end() []byte {
	sum := sha1.Sum(p.Bytes())
	p.Write(sum[:])
	return p.Bytes()
}

// Types of objects in a pack.
const (
	blobType     = 3
	offsetDelta  = 6
	refDelta     = 7
	fromBase     = 0x80 | 0x10 | 0x20 | 0x40
	wholeOfThree = "\x03\x03\x90\x03"
)

// expand returns a delta that claims to copy n bytes.
func expand(base, n uint64) []byte {
	d := binary.AppendUvarint(nil, base)
	d = binary.AppendUvarint(d, n)
	return append(d, fromBase, 0xff, 0xff, 0xff)
}

func TestUnpack(t *testing.T) {
	abc := plumbing.ComputeHash(plumbing.BlobObject, []byte("abc"))
	abcd := plumbing.ComputeHash(plumbing.BlobObject, []byte("abcd"))
	insert := []byte("\x03\x04\x90\x03\x01d") // Copy three bytes, insert one.
	zeros := make([]byte, 1<<20)
	cases := map[string]struct {
		reason string
		pack   func() []byte
		max    int64
		want   []plumbing.Hash
		err    string
	}{
		"Plain": {"A plain object is unpacked.", func() []byte {
			p := newPack(1)
			p.object(blobType, 3, nil, []byte("abc"))
			return p.end()
		}, 1 << 10, []plumbing.Hash{abc}, ""},
		"Late": {"A base may follow its delta.", func() []byte {
			p := newPack(2)
			p.object(refDelta, uint64(len(insert)), abc[:], insert)
			p.object(blobType, 3, nil, []byte("abc"))
			return p.end()
		}, 1 << 10, []plumbing.Hash{abc, abcd}, ""},
		"Offset": {"A base may be an offset.", func() []byte {
			p := newPack(2)
			at := p.Len()
			p.object(blobType, 3, nil, []byte("abc"))
			p.object(offsetDelta, uint64(len(insert)), []byte{byte(p.Len() - at)}, insert)
			return p.end()
		}, 1 << 10, []plumbing.Hash{abc, abcd}, ""},
		"NoBase": {"A missing base is an error.", func() []byte {
			p := newPack(1)
			p.object(refDelta, uint64(len(insert)), abc[:], insert)
			return p.end()
		}, 1 << 10, nil, "object not found"},
		"Large": {"An object with a claimed size above the limit is not read.", func() []byte {
			p := newPack(1)
			p.object(blobType, 1<<40, nil, []byte("abc"))
			return p.end()
		}, 1 << 20, nil, "size limit exceeded: 1048576 bytes"},
		"Liar": {"An object larger than its claimed size is refused.", func() []byte {
			p := newPack(1)
			p.object(blobType, 3, nil, zeros)
			return p.end()
		}, 4 << 20, nil, "inflated"},
		"Short": {"An object smaller than its claimed size is refused.", func() []byte {
			p := newPack(1)
			p.object(blobType, 4, nil, []byte("abc"))
			return p.end()
		}, 1 << 10, nil, "object not found"},
		"Bomb": {"A delta with a claimed size above the limit is not applied.", func() []byte {
			p := newPack(2)
			p.object(blobType, 3, nil, []byte("abc"))
			d := expand(3, 1<<40)
			p.object(refDelta, uint64(len(d)), abc[:], d)
			return p.end()
		}, 1 << 20, nil, "size limit exceeded"},
		"Negative": {"An invalid size is refused.", func() []byte {
			p := newPack(2)
			p.object(blobType, 3, nil, []byte("abc"))
			d := expand(3, 1<<63)
			p.object(refDelta, uint64(len(d)), abc[:], d)
			return p.end()
		}, 1 << 20, nil, "size limit exceeded"},
		"Sum": {"The sizes of small objects are added.", func() []byte {
			p := newPack(100)
			for range 100 {
				p.object(blobType, 3, nil, []byte("abc"))
			}
			return p.end()
		}, 10 << 10, nil, "size limit exceeded: 10240 bytes"},
		"Checksum": {"A wrong checksum is refused.", func() []byte {
			p := newPack(1)
			p.object(blobType, 3, nil, []byte("abc"))
			return append(p.Bytes(), make([]byte, 20)...)
		}, 1 << 10, nil, "checksum mismatch"},
		"Delta": {"A delta without sizes is refused.", func() []byte {
			p := newPack(2)
			p.object(blobType, 3, nil, []byte("abc"))
			p.object(refDelta, 1, abc[:], []byte{0x80})
			return p.end()
		}, 1 << 10, nil, "invalid delta"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			store := memory.NewStorage()
			err := unpack(t.Context(), tc.pack(), store, tc.max)
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s\nunpack returned %v, want %q", tc.reason, err, tc.err)
			}
			for _, h := range tc.want {
				if _, err := store.EncodedObject(plumbing.BlobObject, h); err != nil {
					t.Errorf("%s\n%s: %v", tc.reason, h, err)
				}
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := unpack(ctx, cases["Plain"].pack(), memory.NewStorage(), 1<<10); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled unpack returned %v, want context.Canceled", err)
	}
}

// FuzzUnpack checks that no pack causes a panic or exceeds the limit.
func FuzzUnpack(f *testing.F) {
	p := newPack(2)
	p.object(blobType, 3, nil, []byte("abc"))
	abc := plumbing.ComputeHash(plumbing.BlobObject, []byte("abc"))
	p.object(refDelta, 4, abc[:], []byte(wholeOfThree))
	f.Add(p.end())
	f.Fuzz(func(t *testing.T, pack []byte) {
		store := memory.NewStorage()
		const most = 1 << 20
		_ = unpack(t.Context(), pack, store, most)
		var total int64
		for _, o := range store.Objects {
			total += o.Size()
		}
		if total > most {
			t.Errorf("storage has %d bytes", total)
		}
	})
}
