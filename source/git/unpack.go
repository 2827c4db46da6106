package git

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/storage/memory"
)

// errTooMuch is more than the options allow.
var errTooMuch = errors.New("too much")

// tooMuch is errTooMuch in words.
type tooMuch struct{ error }

// Unwrap returns errTooMuch.
func (tooMuch) Unwrap() error { return errTooMuch }

// budget is how many bytes may still be held.
type budget struct{ most, left int64 }

// take takes n bytes.
func (b *budget) take(n int64) error {
	if n < 0 || n > b.left {
		return &problem{
			err:  tooMuch{fmt.Errorf("it holds more than the %s that are allowed", size(b.most))},
			hint: "name the folder the definitions are in, or allow more",
		}
	}
	b.left -= n
	return nil
}

// size writes a number of bytes for people.
func size(n int64) string {
	for _, u := range []struct {
		bytes int64
		name  string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= u.bytes && n%u.bytes == 0 {
			return fmt.Sprintf("%d %s", n/u.bytes, u.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

// limited reads so much and no more.
type limited struct {
	from io.Reader
	left int64
}

// Read reads, and fails beyond the limit.
func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, tooMuch{errors.New("the server sends more than is allowed")}
	}
	if int64(len(p)) > l.left {
		p = p[:l.left]
	}
	n, err := l.from.Read(p)
	l.left -= int64(n)
	return n, err
}

// overhead is what an object takes beside its content.
const overhead = 256

// delta is an object that is told by how it differs from another, which is
// told by its hash or by where it stands in the pack.
type delta struct {
	offset int64
	on     base
	data   []byte
}

type base struct {
	hash   plumbing.Hash
	offset int64
}

// unpacking is the work of one pack.
type unpacking struct {
	into *memory.Storage
	left *budget
	// at knows the objects by where they stand in the pack, and waiting those
	// whose base is still to come.
	at      map[int64]plumbing.Hash
	waiting map[base][]delta
}

// unpack reads a pack into a store. The library's own way reads an object
// before anybody can ask how large it is, so that a small pack could fill the
// memory; here each is paid for before.
func unpack(ctx context.Context, pack io.Reader, into *memory.Storage, left *budget) error {
	scan := packfile.NewScanner(pack)
	_, count, err := scan.Header()
	if err != nil {
		return err
	}
	u := &unpacking{into: into, left: left, at: map[int64]plumbing.Hash{}, waiting: map[base][]delta{}}
	for range count {
		if err := u.next(ctx, scan); err != nil {
			return err
		}
	}
	if _, err := scan.Checksum(); err != nil {
		return err
	}
	if len(u.waiting) > 0 {
		return packfile.ErrReferenceDeltaNotFound
	}
	return nil
}

// next reads one object, and makes those that waited for it.
func (u *unpacking) next(ctx context.Context, scan *packfile.Scanner) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	head, err := scan.NextObjectHeader()
	if err != nil {
		return err
	}
	if err := u.left.take(overhead); err != nil {
		return err
	}
	if err := u.left.take(head.Length); err != nil {
		return err
	}
	var data bytes.Buffer
	data.Grow(int(min(head.Length, 1<<20)))
	n, _, err := scan.NextObject(&data)
	if err != nil {
		return err
	}
	if n != head.Length {
		return packfile.ErrMalformedPackFile
	}
	var ready []delta
	if head.Type.IsDelta() {
		ready = []delta{{head.Offset, base{head.Reference, head.OffsetReference}, data.Bytes()}}
	} else if ready, err = u.keep(head.Offset, head.Type, data.Bytes()); err != nil {
		return err
	}
	for len(ready) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		d := ready[len(ready)-1]
		more, err := u.apply(d)
		if err != nil {
			return err
		}
		ready = append(ready[:len(ready)-1], more...)
	}
	return nil
}

// apply builds an object on its base, or lets it wait for that. It returns
// those that waited for the object.
func (u *unpacking) apply(d delta) ([]delta, error) {
	at := d.on.hash
	if at.IsZero() {
		at = u.at[d.on.offset]
	}
	on, err := u.into.EncodedObject(plumbing.AnyObject, at)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		u.waiting[d.on] = append(u.waiting[d.on], d)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	old, err := content(on)
	if err != nil {
		return nil, err
	}
	// The delta begins with the sizes of the base and of the result.
	_, skip := binary.Uvarint(d.data)
	if skip <= 0 {
		return nil, packfile.ErrInvalidDelta
	}
	result, n := binary.Uvarint(d.data[skip:])
	if n <= 0 {
		return nil, packfile.ErrInvalidDelta
	}
	// A size that is too large for the type is negative, and refused.
	if err := u.left.take(int64(result)); err != nil {
		return nil, err
	}
	data, err := packfile.PatchDelta(old, d.data)
	if err != nil {
		return nil, err
	}
	u.left.left += int64(len(d.data))
	return u.keep(d.offset, on.Type(), data)
}

// keep puts an object into the store, and returns those that waited for it.
func (u *unpacking) keep(offset int64, kind plumbing.ObjectType, data []byte) ([]delta, error) {
	o := &plumbing.MemoryObject{}
	o.SetType(kind)
	if _, err := o.Write(data); err != nil {
		return nil, err
	}
	h, err := u.into.SetEncodedObject(o)
	u.at[offset] = h
	byHash, byOffset := base{hash: h}, base{offset: offset}
	ready := slices.Concat(u.waiting[byHash], u.waiting[byOffset])
	delete(u.waiting, byHash)
	delete(u.waiting, byOffset)
	return ready, err
}

// content returns what is in an object.
func content(o plumbing.EncodedObject) ([]byte, error) {
	r, err := o.Reader()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data := make([]byte, o.Size())
	_, err = io.ReadFull(r, data)
	return data, err
}
