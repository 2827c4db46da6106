// Package git writes files to a branch of a Git repository: over HTTP, SSH or
// on the disk, without a checkout and without a git program. A commit is made
// only if something changes, and is on the server as a whole or not at all.
package git

import (
	"cmp"
	"context"
	"strings"
	"time"

	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/git/remote"
	"example.dev/ingestor/sink"
	"example.dev/ingestor/sink/dir"
)

// The defaults of Options.
const (
	DefaultMaxBytes = 256 << 20
	DefaultTimeout  = 5 * time.Minute
	DefaultAuthor   = "ingestor"
	DefaultEmail    = "ingestor@localhost"
)

// Options say where in a repository files go, and how to get in.
type Options struct {
	// Branch is the branch that is written to. If it is missing, it is made
	// from Base. Empty means the branch the repository itself thinks of first.
	Branch string
	// Base is a branch, a tag or a commit. Empty means the branch the
	// repository itself thinks of first.
	Base string
	// Path is the folder that files are put into; nothing outside of it is
	// touched. Empty means the top of the repository.
	Path string

	// Message is the message of the commit. Empty means one that counts what
	// changes.
	Message string
	// Author and Email are who the change is by. Empty means DefaultAuthor and
	// DefaultEmail.
	Author, Email string
	// Committer and CommitterEmail are who makes the commit; empty means the
	// author.
	Committer, CommitterEmail string
	// Now is the clock for commits; nil means the one of the system.
	Now func() time.Time

	// Manifest is the name of a file in Path that lists the files this sink
	// wrote, so that it knows them again. A file that is there and not listed
	// is somebody else's, and is not replaced, unless Overwrite says so or it
	// would not change. Without a name, all files count as somebody else's that
	// may be replaced, and none is removed.
	Manifest  string
	Overwrite bool
	// Prune removes files that are listed and are not made any more.
	Prune bool

	// Edit, if not nil, makes files of what is there. It reads files by their
	// paths below Path, among them those that were given, and gets an error that
	// is fs.ErrNotExist if there is none. What it returns goes beside, or in place
	// of, what was given; nil removes a file. If the branch moves meanwhile, it is
	// called again. Its error is returned as the cause of an *Error.
	Edit func(read func(name string) ([]byte, error)) (map[string][]byte, error)

	// Compare, if not nil, is told of each file that is put or taken away and is
	// not the same afterwards: its path in the repository, as it was and as it
	// becomes; nil is a file that is not there. If the branch moves meanwhile, it
	// is told again.
	Compare func(path string, before, after []byte)

	// DryRun only finds out what would change.
	DryRun bool
	// Approve, if not nil, is asked before a commit is made what it thinks of
	// it, with DryRun too. Its error is returned as it is, and nothing is
	// written. If the branch moves meanwhile, it is asked again.
	Approve func(Result) error

	// Auth is how to prove who one is, and how the server does.
	Auth Auth
	// MaxBytes is the most that is fetched, packed and unpacked: the files of
	// one commit of the whole repository. Zero means DefaultMaxBytes.
	MaxBytes int64
	// Timeout is how long a Commit may take. Zero means DefaultTimeout.
	Timeout time.Duration
}

// Auth is how to prove who one is, and how the server does. What stands here
// goes before what stands in the address.
type Auth struct {
	// Username goes with the token or the key. Empty means the one in the
	// address, else what the host is known to expect beside a token, or "git".
	Username string
	// Token is a token or password for HTTP. TokenFile is a file that holds it
	// instead, read again each time.
	Token     sink.Secret
	TokenFile string

	// SSHKey is a private key in PEM. SSHKeyFile is a file that holds it
	// instead, read again each time. Passphrase unlocks it.
	SSHKey     sink.Secret
	SSHKeyFile string
	Passphrase sink.Secret
	// KnownHostsFile is a known_hosts file that the host must be in. HostKey
	// names the key of the host instead: "ssh-ed25519 AAAA…", or "SHA256:…",
	// its fingerprint. A key that nobody named is refused.
	KnownHostsFile string
	HostKey        string

	// CAFile or CAData, in PEM, is the authority that signed the server's
	// certificate; without either it is one the system knows.
	CAFile string
	CAData []byte
	// SkipTLSVerify believes any certificate.
	SkipTLSVerify bool
}

// Result is what a Commit changed. Paths are those in the repository, in order.
type Result struct {
	// Branch is the branch, and Created says that it was missing.
	Branch  string
	Created bool
	// Commit is the new commit; empty if nothing changed or nothing was to be
	// written.
	Commit string
	// Tip is the commit that the branch ends with now; empty if it is missing.
	Tip string
	// Added, Changed and Removed are files; the manifest is not among them.
	Added, Changed, Removed []string
	// Unchanged counts the files that were there as they are.
	Unchanged int
	// Pushed says that the repository has the commit.
	Pushed bool
}

// Sink writes to a repository. Its methods may be called at once.
type Sink struct {
	at   remote.Address
	bad  error
	opts Options
}

var _ sink.Sink = (*Sink)(nil)

// New returns a Sink for the repository at an address: a URL with the scheme
// https, http, ssh or file, user@host:path for SSH, or the path of a repository
// on this machine, whose hooks are not run. Credentials in a URL are used and
// shown nowhere. What is wrong with what is given is told by Check and Commit.
func New(repository string, opts Options) *Sink {
	if opts.MaxBytes <= 0 {
		opts.MaxBytes = DefaultMaxBytes
	}
	if opts.Timeout <= 0 {
		opts.Timeout = DefaultTimeout
	}
	if opts.Now == nil {
		opts.Now = time.Now //nolint:forbidigo // what a nil clock means; programs hand in their own
	}
	s := &Sink{opts: opts}
	s.at, s.bad = remote.ParseAddress(repository)
	if s.bad == nil {
		s.opts.Path, s.bad = folderName(opts.Path)
	}
	return s
}

// Repository returns the address without credentials.
func (s *Sink) Repository() string { return s.at.Shown }

// Check returns an error about an address, or options, with which nothing can
// be written anywhere. It asks no server.
func (s *Sink) Check() error {
	if err := cmp.Or(s.bad, s.opts.check()); err != nil {
		p := remote.Explain(err)
		return &Error{Repository: s.at.Shown, Err: p.Err, Hint: p.Hint}
	}
	return nil
}

func (o Options) check() error {
	if o.Branch != "" && branchName(o.Branch).Validate() != nil {
		return remote.Wrong("use letters, digits, dashes and slashes, such as catalog/update", "%q cannot be the name of a branch", o.Branch)
	}
	if strings.ContainsAny(o.Author+o.Email+o.Committer+o.CommitterEmail, "<>\n\r\x00") {
		return remote.Wrong("leave out < and >, and line breaks", "%q and %q cannot be the name and the address of an author", o.Author, o.Email)
	}
	if strings.ContainsRune(o.Message, 0) {
		return remote.Wrong("leave it out", "the message holds a character that no message can have")
	}
	if o.Manifest != "" {
		return checkPath(o.Manifest)
	}
	return nil
}

// Write commits the entities, one a file, as Kind/name.yaml. Without entities
// nothing is written.
func (s *Sink) Write(ctx context.Context, entities []*entity.Entity) error {
	if len(entities) == 0 {
		return nil
	}
	_, err := s.Commit(ctx, dir.Files(entities, dir.Options{Layout: dir.PerEntity}))
	return err
}

// Commit commits files, which are contents by their paths below Options.Path,
// with slashes. If they are there already, there is no commit. If somebody else
// moves the branch meanwhile, the files are put on top of that. An error is an
// *Error, or that of Options.Approve, and the branch is as it was, or as somebody
// else left it; but if the way to the server broke, or time ran out, while the
// commit was handed in, it may be there all the same.
func (s *Sink) Commit(ctx context.Context, files map[string][]byte) (Result, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.opts.Timeout, remote.Wrong(
		"the server or the way to it may be slow; try again, or allow more time",
		"not done after %v: %w", s.opts.Timeout, context.DeadlineExceeded))
	defer cancel()
	if err := s.Check(); err != nil {
		return Result{}, err
	}
	auth := remote.Auth(s.opts.Auth)
	creds, err := auth.Credentials(s.at)
	if err != nil {
		return Result{}, s.fail(ctx, err, creds)
	}
	way := remote.Options{Auth: auth, MaxBytes: s.opts.MaxBytes, Write: true}
	res, err := s.commit(ctx, files, func() (*remote.Repository, error) { return remote.Open(ctx, s.at, way, creds) })
	if err != nil {
		return Result{}, s.fail(ctx, err, creds)
	}
	return res, nil
}
