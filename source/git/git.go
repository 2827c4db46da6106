// Package git reads definitions from Git repositories: at a branch, a tag or a
// commit, over HTTP, SSH or from the disk, without a checkout and without a git
// program. What the SSH client of a user knows (~/.ssh, agents) is not looked
// at.
package git

import (
	"bytes"
	"context"
	"sync"
	"time"

	nodes "example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/git/remote"
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
	// a commit always. Empty means the branch the repository itself thinks of
	// first, its HEAD.
	Ref string
	// Path is a file of any name, or a folder, of which files ending in .yaml,
	// .yml and .json are read, those in folders below included. What begins
	// with a dot is passed over. Empty means the whole repository. A path that
	// does not exist and looks like a source.Pattern is one.
	Path string
	// Paths, if there are any, are read instead of Path.
	Paths []string
	// Auth is how to prove who one is, and how the server does.
	Auth Auth
	// Web is the address of a file's page, with {ref} and {path} in it. Empty
	// means what hosts of that name usually have; see the table in location.go.
	Web string
	// MaxBytes is the most that is fetched, packed and unpacked, and the most
	// that is read. Zero means DefaultMaxBytes.
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
	at   remote.Address
	bad  error
	opts Options

	mu     sync.Mutex
	commit string
}

var (
	_ source.Source = (*Source)(nil)
	_ source.Walker = (*Source)(nil)
)

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
	s := &Source{opts: opts}
	s.at, s.bad = remote.ParseAddress(repository)
	return s
}

// Repository returns the address without credentials.
func (s *Source) Repository() string { return s.at.Shown }

// Commit returns the commit that was read last without an error, or "".
func (s *Source) Commit() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.commit
}

// Read reads the files, in the order of their paths. Objects remember the path
// inside the repository and the address of the file's page. When ctx ends, so
// does Read.
func (s *Source) Read(ctx context.Context) (*xrd.Set, error) {
	set, budget := &xrd.Set{}, nodes.NewBudget(maxDocuments)
	err := s.readAll(ctx, func(ctx context.Context, d document) error {
		if bad := d.pointer(); bad != nil {
			set.Documents++
			set.Findings = append(set.Findings, *bad)
			return nil
		}
		return d.over(set.ReadWithin(remote.Reader{Ctx: ctx, ReadSeeker: bytes.NewReader(d.text)}, d.origin, budget))
	})
	return set, err
}

// Head returns the commit that Read would read now. It only asks what the names
// point at. What comes out the same as Commit need not be read again.
func (s *Source) Head(ctx context.Context) (commit string, err error) {
	err = s.open(ctx, func(_ context.Context, r *remote.Repository) error {
		t, err := resolve(r.Refs, s.opts.Ref)
		if err != nil {
			return err
		}
		if to, ok := r.Peeled[t.full.String()]; ok {
			t.want = to
		}
		if c, err := commitOf(r.Objects, t.want); err == nil {
			t.want = c.Hash
		}
		commit = t.want.String()
		return nil
	})
	return commit, err
}

// open opens the repository for f, as long as the time allows, and makes an
// Error of what fails.
func (s *Source) open(ctx context.Context, f func(context.Context, *remote.Repository) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.opts.Timeout, wrong(
		"the server or the way to it may be slow; try again, or allow more time",
		"not done after %v: %w", s.opts.Timeout, context.DeadlineExceeded))
	defer cancel()
	if s.bad != nil {
		return s.fail(ctx, s.bad, remote.Credentials{})
	}
	auth := remote.Auth(s.opts.Auth)
	creds, err := auth.Credentials(s.at)
	if err != nil {
		return s.fail(ctx, err, creds)
	}
	r, err := remote.Open(ctx, s.at, remote.Options{Auth: auth, MaxBytes: s.opts.MaxBytes}, creds)
	if err != nil {
		return s.fail(ctx, err, creds)
	}
	defer r.Close()
	if err := f(ctx, r); err != nil {
		return s.fail(ctx, err, creds)
	}
	return nil
}
