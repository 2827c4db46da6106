package remote

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/storage/memory"
)

// request returns a request for one commit without its history.
func request(adv *packp.AdvRefs, want plumbing.Hash) *packp.UploadPackRequest {
	req := packp.NewUploadPackRequest()
	req.Wants = []plumbing.Hash{want}
	// Some servers only respond to clients with multi_ack_detailed. go-git hides whether
	// a server supports it, but all have for many years.
	_ = req.Capabilities.Set(capability.MultiACKDetailed)
	for _, c := range []capability.Capability{capability.OFSDelta, capability.Sideband64k, capability.NoProgress, capability.Shallow} {
		if adv.Capabilities.Supports(c) {
			_ = req.Capabilities.Set(c)
		}
	}
	if adv.Capabilities.Supports(capability.Shallow) {
		req.Depth = packp.DepthCommits(1)
	}
	return req
}

// fetch fetches the requested objects.
func fetch(ctx context.Context, from fetchSession, req *packp.UploadPackRequest, into *memory.Storage, most int64) error {
	res, err := from.UploadPack(ctx, req)
	if err != nil {
		return refused(err)
	}
	defer res.Close() //nolint:errcheck // it was only read
	var in io.Reader = res
	if req.Capabilities.Supports(capability.Sideband64k) {
		in = sideband.NewDemuxer(sideband.Sideband64k, res)
	}
	pack, err := io.ReadAll(io.LimitReader(in, most+1))
	if err != nil {
		return refused(err)
	}
	return refused(unpack(ctx, pack, into, most))
}

// unpack reads a pack into a store. The pack is weighed before, because go-git
// allocates whatever a pack declares, so that a small one could exhaust the memory.
// This is possible because the whole pack is in memory.
func unpack(ctx context.Context, pack []byte, into *memory.Storage, most int64) error {
	// The whole commit is fetched, whatever is read from it or written to it.
	const hint = "use a smaller repository, or raise the limit"
	if err := NewBudget(most, hint).Take(int64(len(pack))); err != nil {
		return err
	}
	if err := weigh(packfile.NewScanner(Reader{ctx, bytes.NewReader(pack)}), NewBudget(most, hint)); err != nil {
		return err
	}
	return packfile.UpdateObjectStorage(into, Reader{ctx, bytes.NewReader(pack)})
}

// refused explains why the requested objects were not sent. go-git's errors contain
// the message of the server, often only as text.
func refused(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*pktline.ErrorLine](err); !ok && Explain(err).Hint != "" {
		return err
	}
	return Wrong("try again, or specify a branch or tag: not every server sends other commits",
		"server did not send the commit: %s", Said(err.Error()))
}

// overhead is what an object takes in addition to its content.
const overhead = 256

// weigh adds up the declared sizes of the objects in a pack, which go-git enforces.
func weigh(pack *packfile.Scanner, left *Budget) error {
	_, count, err := pack.Header()
	if err != nil {
		return err
	}
	var delta bytes.Buffer
	for range count {
		o, err := pack.NextObjectHeader()
		if err != nil {
			return err
		}
		if err := cmp.Or(left.Take(overhead), left.Take(o.Length)); err != nil {
			return err
		}
		if !o.Type.IsDelta() {
			continue
		}
		delta.Reset()
		if _, _, err := pack.NextObject(&delta); err != nil {
			return err
		}
		// A delta begins with the sizes of its base and of the result.
		_, n := binary.Uvarint(delta.Bytes())
		result, m := binary.Uvarint(delta.Bytes()[max(n, 0):])
		if n <= 0 || m <= 0 {
			return packfile.ErrInvalidDelta
		}
		if err := left.Take(int64(result)); err != nil {
			return err
		}
	}
	return nil
}

// Reader is a reader that ends with its context.
type Reader struct {
	Ctx context.Context
	io.ReadSeeker
}

// Read reads unless the context has ended.
func (r Reader) Read(p []byte) (int, error) {
	if err := r.Ctx.Err(); err != nil {
		return 0, err
	}
	return r.ReadSeeker.Read(p)
}

// ErrTooMuch is returned when the options' limit is exceeded.
var ErrTooMuch = errors.New("size limit exceeded")

// Budget is how many bytes may still be held in memory.
type Budget struct {
	most, left int64
	hint       string
}

// NewBudget returns a budget of the given number of bytes, with a hint for users who
// need more.
func NewBudget(most int64, hint string) *Budget { return &Budget{most, most, hint} }

// Take takes n bytes. A size that overflows the type is negative.
func (b *Budget) Take(n int64) error {
	if n < 0 || n > b.left {
		return Wrong(b.hint, "%w: %d bytes", ErrTooMuch, b.most)
	}
	b.left -= n
	return nil
}
