package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"

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

// wire is a way to a server that speaks Git's protocol. One goroutine uses it.
type wire interface {
	// advertise asks for the names and for what the server can do.
	advertise(ctx context.Context) (*packp.AdvRefs, error)
	// send sends a request and returns the answer. It follows an advertise.
	send(ctx context.Context, request []byte) (io.ReadCloser, error)
	close()
}

// remote is a repository on a server. What is fetched stays in memory.
type remote struct {
	wire  wire
	adv   *packp.AdvRefs
	max   int64
	store *memory.Storage
	left  *budget
	// loaded is the target of which only small files have been fetched.
	loaded target
	small  bool
}

func newRemote(w wire, limit int64) *remote {
	r := &remote{wire: w, max: limit}
	r.reset()
	return r
}

// reset forgets what was fetched.
func (r *remote) reset() {
	r.store, r.left = memory.NewStorage(), &budget{most: r.max, left: r.max}
}

func (r *remote) close() { r.wire.close() }

// maxRefs is the most a list of names may hold.
const maxRefs = 64 << 20

// decodeRefs reads the list of names.
func decodeRefs(from io.Reader) (*packp.AdvRefs, error) {
	refs := packp.NewAdvRefs()
	err := refs.Decode(&limited{from: from, left: maxRefs})
	if line, ok := errors.AsType[*pktline.ErrorLine](err); ok {
		return nil, notThere(said(line.Text))
	}
	if errors.Is(err, packp.ErrEmptyAdvRefs) || err == nil && refs.IsEmpty() {
		return nil, errEmpty
	}
	if _, ok := errors.AsType[*packp.ErrUnexpectedData](err); ok || errors.Is(err, pktline.ErrInvalidPktLen) {
		return nil, wrong("check that the address is that of a repository", "the server does not speak as Git does, or in a newer way")
	}
	return refs, err
}

func (r *remote) refs(ctx context.Context) (*refs, error) {
	adv, err := r.wire.advertise(ctx)
	if err != nil {
		return nil, err
	}
	r.adv = adv
	all := &refs{at: adv.References}
	if adv.Head != nil {
		all.head = *adv.Head
	}
	for _, s := range adv.Capabilities.Get(capability.SymRef) {
		if branch, ok := strings.CutPrefix(s, "HEAD:"); ok {
			all.branch = branch
		}
	}
	return all, nil
}

func (r *remote) peel(t target) (plumbing.Hash, error) {
	if h, ok := r.adv.Peeled[t.full]; ok {
		return h, nil
	}
	return t.want, nil
}

// tips are what all branches and tags point at.
func (r *remote) tips() []plumbing.Hash {
	var all []plumbing.Hash
	if r.adv.Head != nil {
		all = append(all, *r.adv.Head)
	}
	for name, h := range r.adv.References {
		if strings.HasPrefix(name, branches) || strings.HasPrefix(name, tags) {
			all = append(all, h)
		}
	}
	return all
}

// search looks among what the names point at, then through all history: of it
// only the commits, if the server can leave out the rest.
func (r *remote) search(ctx context.Context, digits string) (plumbing.Hash, error) {
	var found []plumbing.Hash
	for name, h := range r.adv.References {
		if peeled, ok := r.adv.Peeled[name]; ok {
			h = peeled
		}
		found = append(found, h)
	}
	if h, err := only(found, digits); !h.IsZero() || err != nil {
		return h, err
	}
	if err := r.history(ctx); err != nil {
		return plumbing.ZeroHash, err
	}
	found = nil
	for h := range r.store.Commits {
		found = append(found, h)
	}
	return only(found, digits)
}

// history fetches the commits of all branches and tags.
func (r *remote) history(ctx context.Context) error {
	if r.can(capability.Filter) {
		err := r.fetch(ctx, r.tips(), 0, packp.FilterTreeDepth(0))
		if err == nil || final(ctx, err) {
			return err
		}
		r.reset()
	}
	return r.fetch(ctx, r.tips(), 0, "")
}

// only returns the one hash that begins with the digits, or zero for none.
func only(all []plumbing.Hash, digits string) (plumbing.Hash, error) {
	var found []string
	for _, h := range all {
		if s := h.String(); strings.HasPrefix(s, digits) {
			found = append(found, s)
		}
	}
	slices.Sort(found)
	found = slices.Compact(found)
	switch len(found) {
	case 0:
		return plumbing.ZeroHash, nil
	case 1:
		return plumbing.NewHash(found[0]), nil
	}
	return plumbing.ZeroHash, wrong("write more digits: "+strings.Join(found[:min(len(found), shownRefs)], ", "), "several commits begin with %q", digits)
}

// smallFiles leaves out all files but the smallest. Links, which are needed to
// know what other files are, are always that small.
var smallFiles = packp.FilterBlobLimit(1, packp.BlobLimitPrefixKibi)

// load fetches the commit, its folders, and its files if all are needed or the
// server cannot leave them out.
func (r *remote) load(ctx context.Context, t target, some bool) (objects, error) {
	if r.whole(t.want) {
		return r.store, nil
	}
	r.loaded, r.small = t, false
	if some && r.can(capability.Filter) {
		err := r.fetch(ctx, []plumbing.Hash{t.want}, 1, smallFiles)
		if err == nil {
			r.small = true
			return r.store, nil
		}
		if final(ctx, err) {
			return nil, err
		}
		r.reset()
	}
	err := r.loadAll(ctx, t)
	return r.store, err
}

// loadAll fetches everything below one commit. Not every server gives out a
// commit that no name points at; if this one does not, the history of all
// branches and tags is fetched, in which it must be.
func (r *remote) loadAll(ctx context.Context, t target) error {
	err := r.fetch(ctx, []plumbing.Hash{t.want}, 1, "")
	if err == nil || t.kind != commitRef || final(ctx, err) {
		return err
	}
	r.reset()
	if err := r.fetch(ctx, r.tips(), 0, ""); err != nil {
		return err
	}
	if !r.whole(t.want) {
		return wrong("check the digits; a commit that no branch or tag leads to is not given out by this server", "it has no commit %q", t.name)
	}
	return nil
}

// whole reports whether a commit was fetched with what is below it.
func (r *remote) whole(h plumbing.Hash) bool {
	c, err := commitOf(r.store, h)
	return err == nil && r.store.HasEncodedObject(c.TreeHash) == nil
}

// need fetches the files that load left out: those alone, or all if the server
// does not give out files by themselves.
func (r *remote) need(ctx context.Context, files []file) (objects, error) {
	if !r.small {
		return r.store, nil
	}
	var wants []plumbing.Hash
	for _, f := range files {
		if r.store.HasEncodedObject(f.hash) != nil {
			wants = append(wants, f.hash)
		}
	}
	if len(wants) == 0 {
		return r.store, nil
	}
	err := r.fetch(ctx, wants, 0, "")
	if err != nil && !final(ctx, err) {
		r.reset()
		err = r.loadAll(ctx, r.loaded)
	}
	return r.store, err
}

// final reports whether it is no use to ask in another way.
func final(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, errTooMuch)
}

func (r *remote) can(c capability.Capability) bool { return r.adv.Capabilities.Supports(c) }

// fetch asks for objects and what they lead to, as deep in history as depth,
// zero for all of it.
func (r *remote) fetch(ctx context.Context, wants []plumbing.Hash, depth int, filter packp.Filter) error {
	req := packp.NewUploadPackRequest()
	req.Wants = wants
	// Some servers answer only to those who say that they know the details.
	for _, c := range []capability.Capability{capability.MultiACKDetailed, capability.OFSDelta, capability.Sideband64k, capability.NoProgress} {
		if r.can(c) {
			if err := req.Capabilities.Set(c); err != nil {
				return err
			}
		}
	}
	if depth > 0 && r.can(capability.Shallow) {
		req.Depth = packp.DepthCommits(depth)
		if err := req.Capabilities.Set(capability.Shallow); err != nil {
			return err
		}
	}
	if filter != "" {
		req.Filter = filter
		if err := req.Capabilities.Set(capability.Filter); err != nil {
			return err
		}
	}
	var text bytes.Buffer
	if err := cmp.Or(req.UploadRequest.Encode(&text), pktline.NewEncoder(&text).EncodeString("done\n")); err != nil {
		return err
	}
	body, err := r.wire.send(ctx, text.Bytes())
	if err != nil {
		return err
	}
	defer body.Close()
	return refusal(r.receive(ctx, req, body))
}

// receive reads the answer to a request.
func (r *remote) receive(ctx context.Context, req *packp.UploadPackRequest, body io.ReadCloser) error {
	// Packed objects are hardly ever larger than what is in them.
	answer := packp.NewUploadPackResponse(req)
	if err := answer.Decode(io.NopCloser(&limited{from: body, left: r.max + maxRefs})); err != nil {
		return err
	}
	var pack io.Reader = answer
	if req.Capabilities.Supports(capability.Sideband64k) {
		pack = sideband.NewDemuxer(sideband.Sideband64k, answer)
	}
	return unpack(ctx, pack, r.store, r.left)
}

// refusal puts what a server says in our words.
func refusal(err error) error {
	if line, ok := errors.AsType[*pktline.ErrorLine](err); ok {
		return wrong("", "the server says %q", said(line.Text))
	}
	if err == nil {
		return nil
	}
	if _, text, ok := strings.Cut(err.Error(), "unexpected error: "); ok {
		return wrong("", "the server says %q", said(text))
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, packfile.ErrEmptyPackfile) {
		return wrong("try again", "the server ends the connection before all has come: %w", err)
	}
	_, ours := errors.AsType[*problem](err)
	_, network := errors.AsType[net.Error](err)
	if ours || network || errors.Is(err, errTooMuch) {
		return err
	}
	return wrong("try again", "what the server sends cannot be understood: %w", err)
}
