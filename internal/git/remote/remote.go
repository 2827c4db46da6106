// Package remote accesses Git repositories: on servers over HTTP and SSH, and on
// disk. It parses addresses, authenticates the client and the server, lists
// references, fetches one commit, and moves a branch. Everything has limits, and
// errors have hints and contain no secrets. The SSH configuration of the user
// (~/.ssh, agents) is not used, and no git program is run.
//
// It is one package because all transports share authentication, limits and errors that
// hide credentials.
package remote

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/storage/memory"
)

// Options configure the access to a repository.
type Options struct {
	Auth Auth
	// MaxBytes is the maximum size of what is fetched, packed and unpacked.
	MaxBytes int64
	// Write says that a Push will follow, for the wording of errors.
	Write bool
}

// verb returns what is to be done with the repository, for messages.
func (w Options) verb() string {
	if w.Write {
		return "write to"
	}
	return "read"
}

// Repository is an open repository: on disk, or on a server, from which objects are
// fetched into memory.
type Repository struct {
	Refs storer.ReferenceStorer
	// Peeled are the commits that annotated tags refer to, if the server lists them.
	Peeled  map[string]plumbing.Hash
	Objects storer.EncodedObjectStorer
	// Fetch loads the object with a hash into Objects.
	Fetch func(context.Context, plumbing.Hash) error
	// Push moves a branch. If it fails, the branch may still have been moved, so check
	// it.
	Push  func(context.Context, Update) error
	Close func()
}

// session is a connection to a service of the server: upload-pack or receive-pack.
type session interface {
	AdvertisedReferencesContext(ctx context.Context) (*packp.AdvRefs, error)
	Close() error
}

type fetchSession interface {
	session
	UploadPack(ctx context.Context, req *packp.UploadPackRequest) (*packp.UploadPackResponse, error)
}

type pushSession interface {
	session
	ReceivePack(ctx context.Context, req *packp.ReferenceUpdateRequest) (*packp.ReportStatus, error)
}

// Services of a server.
const (
	gives = transport.UploadPackServiceName
	takes = transport.ReceivePackServiceName
)

// Open opens the repository and lists its references. The caller must close it. If it
// has no commits, the error is ErrEmpty, unless it is on disk or Write is set.
func Open(ctx context.Context, at Address, way Options, creds Credentials) (*Repository, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if at.URL == nil {
		return openLocal(at.Dir)
	}
	store := memory.NewStorage()
	moves := func(ctx context.Context, u Update) error { return push(ctx, at, way, creds, u) }
	with, adv, err := call(ctx, gives, at, way, creds)
	if way.Write && (errors.Is(err, ErrEmpty) || errors.Is(err, transport.ErrEmptyRemoteRepository)) {
		return &Repository{
			Refs: store, Objects: store, Push: moves, Close: func() {},
			Fetch: func(context.Context, plumbing.Hash) error { return ErrEmpty },
		}, nil
	}
	if err != nil {
		return nil, err
	}
	// AllReferences fails if HEAD points to no branch.
	refs, _ := adv.AllReferences()
	if _, ok := refs[plumbing.HEAD]; !ok && adv.Head != nil {
		refs[plumbing.HEAD] = plumbing.NewHashReference(plumbing.HEAD, *adv.Head)
	}
	return &Repository{
		Refs: refs, Peeled: adv.Peeled, Objects: store,
		Fetch: func(ctx context.Context, want plumbing.Hash) error {
			return fetch(ctx, with.(fetchSession), request(adv, want), store, way.MaxBytes)
		},
		Push:  moves,
		Close: func() { _ = with.Close() },
	}, nil
}

// call connects to a service of the server.
func call(ctx context.Context, program string, at Address, way Options, creds Credentials) (session, *packp.AdvRefs, error) {
	dial := dialHTTP
	if at.URL.Scheme == Shell {
		dial = dialSSH
	}
	with, err := dial(ctx, program, at, way, creds)
	if err != nil {
		return nil, nil, err
	}
	adv, err := with.AdvertisedReferencesContext(ctx)
	if err != nil {
		_ = with.Close()
		return nil, nil, err
	}
	return with, adv, nil
}

// openLocal opens the repository in dir: dir/.git, or dir itself.
func openLocal(dir string) (*Repository, error) {
	const hint = "specify the folder that contains .git, or a bare repository; for another machine, use a URL or host:path"
	if info, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) || err == nil && !info.IsDir() {
		return nil, Wrong(hint, "folder not found")
	}
	r, err := gogit.PlainOpenWithOptions(dir, &gogit.PlainOpenOptions{EnableDotGitCommonDir: true})
	if errors.Is(err, gogit.ErrRepositoryNotExists) {
		return nil, Wrong(hint, "folder is not a repository")
	}
	if err != nil {
		return nil, Wrong("use a clone made with git clone", "cannot open: %w", err)
	}
	return &Repository{
		Refs: r.Storer, Objects: r.Storer, Close: func() {},
		Fetch: func(context.Context, plumbing.Hash) error { return nil },
		Push:  func(ctx context.Context, u Update) error { return pushLocal(ctx, r, u) },
	}, nil
}

// Most is how many names a hint lists.
const Most = 8

// Missing returns an error about something that does not exist, with a hint that
// lists some existing branches and tags.
func Missing(in storer.ReferenceStorer, what string) error {
	all, err := in.IterReferences()
	if err != nil {
		return fmt.Errorf("cannot list branches and tags: %w", err)
	}
	var names []string
	_ = all.ForEach(func(r *plumbing.Reference) error {
		if r.Name().IsBranch() || r.Name().IsTag() {
			// Sorted by full names, branches come before tags.
			names = append(names, r.Name().String())
		}
		return nil
	})
	if len(names) == 0 {
		return ErrEmpty
	}
	slices.Sort(names)
	hint := "available:"
	for _, n := range names[:min(len(names), Most)] {
		hint += " " + plumbing.ReferenceName(n).Short() + ","
	}
	return Wrong(strings.TrimSuffix(hint, ",")+fmt.Sprintf(", %d in total", len(names)), "%s", what)
}
