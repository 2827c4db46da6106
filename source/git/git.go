// Package git reads definitions from Git repositories: at a branch, a tag or a
// commit, over HTTP, SSH or from the disk, without a checkout and without a git
// program.
package git

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"example.dev/ingestor/source"
	"example.dev/ingestor/xrd"
)

// The defaults of Options.
const (
	DefaultMaxBytes = 256 << 20
	DefaultMaxFiles = 100_000
	DefaultTimeout  = 5 * time.Minute
)

// Options say what of a repository is read, and how to get in.
type Options struct {
	// Ref is a branch, a tag or a commit, looked for in that order; a name that
	// begins with "refs/" is that name alone, and forty hexadecimal digits are
	// a commit always. Of a commit the first digits will do, four at least, but
	// finding it by them may take the history of all branches. Empty means the
	// branch the repository itself thinks of first, its HEAD.
	Ref string
	// Path is a file of any name, or a folder, of which files ending in .yaml,
	// .yml and .json are read, those in folders below included. What begins
	// with a dot is passed over. Empty means the whole repository.
	Path string
	// Auth is how to prove who one is, and how the server does.
	Auth Auth
	// Web is the address of a file's page, with {ref} and {path} in it. Empty
	// means what hosts of that name usually have; see the table in location.go.
	Web string
	// MaxBytes is the most that is fetched, counted as it lies in memory, and
	// the most that is read. Zero means DefaultMaxBytes.
	MaxBytes int64
	// MaxFiles is the most files that are read. Zero means DefaultMaxFiles.
	MaxFiles int
	// Timeout is how long a Read or a Head may take. Zero means DefaultTimeout.
	Timeout time.Duration
	// Skipped, if not nil, is told of what was passed over, and why.
	Skipped func(path, why string)
}

// Source reads a repository. Its methods may be called at once.
type Source struct {
	at   address
	bad  error
	opts Options

	mu     sync.Mutex
	commit string
	// whole knows the commits that were found by their first digits.
	whole map[string]plumbing.Hash
}

var _ source.Source = (*Source)(nil)

// New returns a Source of the repository at an address: a URL with the scheme
// https, http, ssh or file, user@host:path for SSH, or the path of a repository
// on this machine, with or without a work tree, of which only what is committed
// is seen. Credentials in a URL are used and shown nowhere. What is wrong with
// the address is told by Read and Head.
func New(repository string, opts Options) *Source {
	if opts.MaxBytes <= 0 {
		opts.MaxBytes = DefaultMaxBytes
	}
	if opts.MaxFiles <= 0 {
		opts.MaxFiles = DefaultMaxFiles
	}
	if opts.Timeout <= 0 {
		opts.Timeout = DefaultTimeout
	}
	s := &Source{opts: opts, whole: map[string]plumbing.Hash{}}
	s.at, s.bad = parseAddress(repository)
	return s
}

// Repository returns the address without credentials.
func (s *Source) Repository() string { return s.at.shown }

// Commit returns the commit that was read last without an error, or "".
func (s *Source) Commit() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.commit
}

// Read reads the files, in the order of their paths. Objects remember the path
// inside the repository and the address of the file's page. When ctx ends, Read
// returns at once. Skipped is called from the calling goroutine.
func (s *Source) Read(ctx context.Context) (*xrd.Set, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	set := &xrd.Set{}
	var commit string
	err := s.open(ctx, func(r repository) error {
		var err error
		commit, err = s.read(ctx, r, set)
		return err
	})
	if err != nil {
		return set, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commit = commit
	return set, nil
}

// Head returns the commit that Read would read now. It only asks what the names
// point at, unless Ref is the first digits of a commit that no name points at
// and that was not found before. What comes out the same as Commit need not be
// read again.
func (s *Source) Head(ctx context.Context) (string, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	var commit string
	err := s.open(ctx, func(r repository) error {
		if isHash(s.opts.Ref) {
			commit = plumbing.NewHash(s.opts.Ref).String()
			return nil
		}
		t, err := s.resolve(ctx, r)
		if err != nil {
			return err
		}
		h, err := r.peel(t)
		commit = h.String()
		return err
	})
	if err != nil {
		return "", err
	}
	return commit, nil
}

// bounded returns a context that ends when the time is up.
func (s *Source) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, s.opts.Timeout, &problem{
		err:  fmt.Errorf("not done after %v: %w", s.opts.Timeout, context.DeadlineExceeded),
		hint: "the server or the way to it may be slow; try again, or allow more time",
	})
}

// repository is one that was opened.
type repository interface {
	// refs lists what the names point at.
	refs(ctx context.Context) (*refs, error)
	// search finds the commit that begins with the digits.
	search(ctx context.Context, digits string) (plumbing.Hash, error)
	// peel returns the commit that the target leads to.
	peel(t target) (plumbing.Hash, error)
	// load makes what the target leads to readable: commit, folders, and files
	// as well, unless only some of them are going to be needed.
	load(ctx context.Context, t target, some bool) (objects, error)
	// need makes these files readable.
	need(ctx context.Context, files []file) (objects, error)
	close()
}

// open opens the repository for f, and makes an Error of what fails.
func (s *Source) open(ctx context.Context, f func(repository) error) error {
	if s.bad != nil {
		return s.fail(ctx, s.bad, credentials{})
	}
	creds, err := s.opts.Auth.credentials(s.at)
	if err != nil {
		return s.fail(ctx, err, creds)
	}
	r, err := s.connect(ctx, creds)
	if err != nil {
		return s.fail(ctx, err, creds)
	}
	defer r.close()
	if err := f(r); err != nil {
		return s.fail(ctx, err, creds)
	}
	return nil
}

func (s *Source) connect(ctx context.Context, creds credentials) (repository, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	switch s.at.kind {
	case local:
		return openLocal(s.at.dir)
	case shell:
		w, err := newShell(s.at, s.opts.Auth, creds)
		if err != nil {
			return nil, err
		}
		return newRemote(w, s.opts.MaxBytes), nil
	}
	w, err := newWeb(s.at, s.opts.Auth, creds)
	if err != nil {
		return nil, err
	}
	return newRemote(w, s.opts.MaxBytes), nil
}

// resolve finds out what Ref names.
func (s *Source) resolve(ctx context.Context, r repository) (target, error) {
	all, err := r.refs(ctx)
	if err != nil {
		return target{}, err
	}
	t, err := all.resolve(s.opts.Ref)
	if err != nil || t.digits == "" {
		return t, err
	}
	s.mu.Lock()
	h, ok := s.whole[t.digits]
	s.mu.Unlock()
	if !ok {
		if h, err = r.search(ctx, t.digits); err != nil {
			return target{}, err
		}
		if h.IsZero() {
			return target{}, all.missing(s.opts.Ref)
		}
		s.mu.Lock()
		s.whole[t.digits] = h
		s.mu.Unlock()
	}
	return target{kind: commitRef, name: h.String(), want: h}, nil
}
