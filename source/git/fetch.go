package git

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/memory"
)

// objects are where the objects of a repository are read from.
type objects = storer.EncodedObjectStorer

// repository is one that was opened: on the disk, or on a server, from which
// objects are fetched into memory.
type repository struct {
	refs storer.ReferenceStorer
	// peeled are the commits that annotated tags lead to, if the server says so.
	peeled  map[string]plumbing.Hash
	objects objects
	fetch   func(context.Context, plumbing.Hash) error
	close   func()
}

// session is one talk with a server.
type session interface {
	AdvertisedReferencesContext(context.Context) (*packp.AdvRefs, error)
	UploadPack(context.Context, *packp.UploadPackRequest) (*packp.UploadPackResponse, error)
	Close() error
}

// connect opens the repository and lists its names.
func (s *Source) connect(ctx context.Context, creds credentials) (*repository, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.at.url == nil {
		return openLocal(s.at.dir)
	}
	dial := dialHTTP
	if s.at.url.Scheme == shell {
		dial = dialSSH
	}
	talk, err := dial(ctx, s.at, s.opts, creds)
	if err != nil {
		return nil, err
	}
	adv, err := talk.AdvertisedReferencesContext(ctx)
	if err != nil {
		_ = talk.Close()
		return nil, err
	}
	// It fails to guess the branch of a HEAD that means none.
	refs, _ := adv.AllReferences()
	if _, ok := refs[plumbing.HEAD]; !ok && adv.Head != nil {
		refs[plumbing.HEAD] = plumbing.NewHashReference(plumbing.HEAD, *adv.Head)
	}
	store := memory.NewStorage()
	return &repository{
		refs: refs, peeled: adv.Peeled, objects: store,
		fetch: func(ctx context.Context, want plumbing.Hash) error {
			return fetch(ctx, talk, request(adv, want), store, s.opts.MaxBytes)
		},
		close: func() { _ = talk.Close() },
	}, nil
}

// openLocal opens the repository in dir: dir/.git, or dir itself.
func openLocal(dir string) (*repository, error) {
	const hint = "name the folder that holds .git, or a bare repository; other machines are named by a URL or host:path"
	if info, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) || err == nil && !info.IsDir() {
		return nil, wrong(hint, "there is no such folder")
	}
	r, err := gogit.PlainOpenWithOptions(dir, &gogit.PlainOpenOptions{EnableDotGitCommonDir: true})
	if errors.Is(err, gogit.ErrRepositoryNotExists) {
		return nil, wrong(hint, "the folder is not a repository")
	}
	if err != nil {
		return nil, wrong("read a clone of it that was made in the usual way", "it cannot be opened: %w", err)
	}
	return &repository{
		refs: r.Storer, objects: r.Storer, close: func() {},
		fetch: func(context.Context, plumbing.Hash) error { return nil },
	}, nil
}

// request asks for one commit without its history.
func request(adv *packp.AdvRefs, want plumbing.Hash) *packp.UploadPackRequest {
	req := packp.NewUploadPackRequest()
	req.Wants = []plumbing.Hash{want}
	// Some servers answer only to those who know the details. The library hides
	// whether a server does, but all have for many years.
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

// fetch fetches what was asked for.
func fetch(ctx context.Context, from session, req *packp.UploadPackRequest, into *memory.Storage, most int64) error {
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

// unpack reads a pack into a store. It is weighed before, because the library
// makes room for whatever a pack says, so that a small one could fill the
// memory; and it can be, because it is held as a whole.
func unpack(ctx context.Context, pack []byte, into *memory.Storage, most int64) error {
	if err := (&budget{most, most}).take(int64(len(pack))); err != nil {
		return err
	}
	if err := weigh(packfile.NewScanner(reader{ctx, bytes.NewReader(pack)}), &budget{most, most}); err != nil {
		return err
	}
	return packfile.UpdateObjectStorage(into, reader{ctx, bytes.NewReader(pack)})
}

// refused explains why what was asked for did not come. The library's errors
// hold what the server said, and often nothing but text.
func refused(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*pktline.ErrorLine](err); !ok && explain(err).Hint != "" {
		return err
	}
	return wrong("try again; not every server gives out a commit that is not the last of a branch or tag, so name one of those",
		"the server does not send the commit: %s", said(err.Error()))
}

// overhead is what an object takes beside its content.
const overhead = 256

// weigh adds up what the objects of a pack say they become, which the library
// holds them to.
func weigh(pack *packfile.Scanner, left *budget) error {
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
		if err := cmp.Or(left.take(overhead), left.take(o.Length)); err != nil {
			return err
		}
		if !o.Type.IsDelta() {
			continue
		}
		delta.Reset()
		if _, _, err := pack.NextObject(&delta); err != nil {
			return err
		}
		// It begins with the sizes of its base and of the result.
		_, n := binary.Uvarint(delta.Bytes())
		result, m := binary.Uvarint(delta.Bytes()[max(n, 0):])
		if n <= 0 || m <= 0 {
			return packfile.ErrInvalidDelta
		}
		if err := left.take(int64(result)); err != nil {
			return err
		}
	}
	return nil
}

// reader ends when its context does.
type reader struct {
	ctx context.Context
	io.ReadSeeker
}

// Read reads unless the context has ended.
func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.ReadSeeker.Read(p)
}

// errTooMuch is more than the options allow.
var errTooMuch = errors.New("more than is allowed")

// budget is how many bytes may still be held.
type budget struct{ most, left int64 }

// take takes n bytes. A size that is too large for the type is negative.
func (b *budget) take(n int64) error {
	if n < 0 || n > b.left {
		return wrong("name the folder the definitions are in, or allow more", "it holds %w: %d bytes", errTooMuch, b.most)
	}
	b.left -= n
	return nil
}
