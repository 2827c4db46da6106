// Package git reads definitions from Git repositories: at a branch, a tag or a
// commit, over HTTP, SSH or from disk, without a checkout and without a git program.
// The SSH configuration of the user (~/.ssh, agents) is not used.
package git

import (
	"bytes"
	"context"
	"sync"
	"time"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/internal/git/remote"
	"example.dev/ingestor/source"
	"example.dev/ingestor/xrd"
)

// Defaults of Options.
const (
	DefaultMaxBytes = 256 << 20
	DefaultMaxFiles = 100_000
	DefaultTimeout  = 5 * time.Minute
)

// Options configure what is read from a repository, and the credentials.
type Options struct {
	// Ref is a branch, a tag or a commit, searched for in that order; a name that begins
	// with "refs/" is only that reference, and forty hexadecimal digits are always a
	// commit. Empty means the default branch, its HEAD.
	Ref string
	// Path is a file of any name, or a folder, of which files ending in .yaml, .yml and
	// .json are read, including those in subfolders. Names that begin with a dot are
	// skipped. Empty means the whole repository. A path that does not exist and looks
	// like a source.Pattern is one.
	Path string
	// Paths, if there are any, are read instead of Path.
	Paths []string
	// Optional says that a path that does not exist is empty.
	Optional bool
	// Auth are the credentials, and how to verify the server.
	Auth Auth
	// Web is the URL template of a file's page, with {ref} and {path} in it. Empty means
	// the usual one for the host; see the table in location.go.
	Web string
	// MaxBytes is the maximum size of what is fetched, packed and unpacked, and of what
	// is read. Zero means DefaultMaxBytes.
	MaxBytes int64
	// MaxFiles is the maximum number of files that are read. Zero means DefaultMaxFiles.
	MaxFiles int
	// Timeout is the timeout of a Read, Walk, Files or Head. Zero means DefaultTimeout.
	Timeout time.Duration
	// Skipped, if not nil, receives what was skipped, and why.
	Skipped func(path, why string)
}

// Source reads a repository. Its methods may be called concurrently.
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

// New returns a Source of the repository at an address: a URL with the scheme https,
// http, ssh or file, user@host:path for SSH, or the path of a repository on this
// machine, with or without a work tree; only commits are read.
// Credentials in a URL are used but never shown. An invalid address is reported by
// Read and Head.
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

// Commit returns the commit that was last read without an error, or "".
func (s *Source) Commit() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.commit
}

// Read reads the files, in the order of their paths. Objects have the path inside the
// repository and the URL of the file's page. Read ends when ctx ends.
func (s *Source) Read(ctx context.Context) (*xrd.Set, error) {
	set, budget := &xrd.Set{}, parser.NewBudget(maxDocuments)
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

// Head returns the commit that Read would read now. It only lists references. If the
// result equals Commit, nothing needs to be read again.
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

// open opens the repository for f, within the timeout, and converts errors to an
// Error.
func (s *Source) open(ctx context.Context, f func(context.Context, *remote.Repository) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.opts.Timeout, wrong(
		"try again, or set a longer timeout",
		"timeout of %v exceeded: %w", s.opts.Timeout, context.DeadlineExceeded))
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
