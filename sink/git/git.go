// Package git writes files to a branch of a Git repository over HTTP, SSH or on
// the local disk, without a checkout and without the git program. It makes a
// commit only if something changes, and pushes it atomically.
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

// Defaults of Options.
const (
	DefaultMaxBytes = 256 << 20
	DefaultTimeout  = 5 * time.Minute
	DefaultAuthor   = "ingestor"
	DefaultEmail    = "ingestor@localhost"
)

// Options configure where in a repository files are written, and with which
// credentials.
type Options struct {
	// Branch is the branch that is written to. If it does not exist, it is created
	// from Base. Empty means the default branch.
	Branch string
	// Base is a branch, a tag or a commit. Empty means the default branch.
	Base string
	// Path is the folder that files are written to; nothing outside it is touched.
	// Empty means the root of the repository.
	Path string

	// Message is the commit message. Empty means a message with the number of
	// changes.
	Message string
	// Author and Email identify the author of the commit. Empty means DefaultAuthor
	// and DefaultEmail.
	Author, Email string
	// Committer and CommitterEmail identify the committer; empty means the author.
	Committer, CommitterEmail string
	// Now is the clock for commits; nil means the system clock.
	Now func() time.Time

	// Manifest is the name of a file in Path that lists the files this sink wrote.
	// An existing file that is not listed belongs to others and is not replaced,
	// unless Overwrite is set or its content is the same. Without a manifest, every
	// file may be replaced, and none is removed.
	Manifest  string
	Overwrite bool
	// Prune removes files that are listed in the manifest and no longer generated.
	Prune bool

	// Edit, if not nil, derives files from the existing ones. Its argument reads
	// files by their paths below Path, including the files given to Commit, and
	// returns fs.ErrNotExist for missing files. The files that Edit returns are
	// added to the given ones or replace them; nil removes a file. If the branch
	// moves meanwhile, Edit is called again. Its error is returned as the cause of
	// an *Error.
	Edit func(read func(name string) ([]byte, error)) (map[string][]byte, error)

	// Compare, if not nil, is called for each file that is written or removed and
	// whose content changes: with its path in the repository and its content before
	// and after; nil is a missing file. If the branch moves meanwhile, it is called
	// again.
	Compare func(path string, before, after []byte)

	// DryRun only determines what would change.
	DryRun bool
	// Approve, if not nil, is called before a commit is made, in a dry run too. Its
	// error is returned as it is, and nothing is written. If the branch moves
	// meanwhile, it is called again.
	Approve func(Result) error

	// Auth holds the credentials, and the settings to verify the server.
	Auth Auth
	// MaxBytes limits what is fetched, packed and unpacked: the files of one commit
	// of the whole repository. Zero means DefaultMaxBytes.
	MaxBytes int64
	// Timeout is the timeout of a Commit. Zero means DefaultTimeout.
	Timeout time.Duration
}

// Auth holds credentials, and the settings to verify the server. It overrides
// credentials in the address.
type Auth struct {
	// Username is used with the token or the key. Empty means the one in the
	// address, otherwise what the host is known to expect with a token, or "git".
	Username string
	// Token is a token or password for HTTP. TokenFile is a file that holds it
	// instead, read again for each commit.
	Token     sink.Secret
	TokenFile string

	// SSHKey is a private key in PEM. SSHKeyFile is a file that holds it instead,
	// read again for each commit. Passphrase decrypts it.
	SSHKey     sink.Secret
	SSHKeyFile string
	Passphrase sink.Secret
	// KnownHostsFile is a known_hosts file that must contain the host. HostKey is
	// the key of the host instead: "ssh-ed25519 AAAA…", or "SHA256:…", its
	// fingerprint. Unknown host keys are refused.
	KnownHostsFile string
	HostKey        string

	// CAFile or CAData, in PEM, is the CA that signed the server's certificate;
	// without either, the system's CAs are used.
	CAFile string
	CAData []byte
	// SkipTLSVerify accepts any certificate.
	SkipTLSVerify bool
}

// Result describes what a Commit changed. Paths are relative to the repository and
// sorted.
type Result struct {
	// Branch is the branch, and Created reports whether it was missing.
	Branch  string
	Created bool
	// Commit is the new commit; empty if nothing changed or in a dry run.
	Commit string
	// Tip is the current head of the branch; empty if the branch does not exist.
	Tip string
	// Added, Changed and Removed are files, without the manifest.
	Added, Changed, Removed []string
	// Unchanged counts the files whose content is already as given.
	Unchanged int
	// Pushed reports whether the commit was pushed.
	Pushed bool
}

// Sink writes to a repository. It may be used concurrently.
type Sink struct {
	at   remote.Address
	bad  error
	opts Options
}

var _ sink.Sink = (*Sink)(nil)

// New returns a Sink for the repository at an address: a URL with the scheme
// https, http, ssh or file, user@host:path for SSH, or the path of a local
// repository, whose hooks are not run. Credentials in a URL are used but never
// shown. Check and Commit report errors in the arguments.
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

// Check returns an error if the address or the options are invalid. It does not
// contact a server.
func (s *Sink) Check() error {
	if err := cmp.Or(s.bad, s.opts.check()); err != nil {
		p := remote.Explain(err)
		return &Error{Repository: s.at.Shown, Err: p.Err, Hint: p.Hint}
	}
	return nil
}

func (o Options) check() error {
	if o.Branch != "" && branchName(o.Branch).Validate() != nil {
		return remote.Wrong("use letters, digits, dashes and slashes, such as catalog/update", "%q is not a valid branch name", o.Branch)
	}
	if strings.ContainsAny(o.Author+o.Email+o.Committer+o.CommitterEmail, "<>\n\r\x00") {
		return remote.Wrong("remove <, > and line breaks", "%q and %q are not a valid author name and e-mail address", o.Author, o.Email)
	}
	if strings.ContainsRune(o.Message, 0) {
		return remote.Wrong("remove NUL characters", "the commit message contains a NUL character")
	}
	if o.Manifest != "" {
		return checkPath(o.Manifest)
	}
	return nil
}

// Write commits the entities, one per file, as Kind/name.yaml. Without entities
// nothing is written.
func (s *Sink) Write(ctx context.Context, entities []*entity.Entity) error {
	if len(entities) == 0 {
		return nil
	}
	_, err := s.Commit(ctx, dir.Files(entities, dir.Options{Layout: dir.PerEntity}))
	return err
}

// Commit commits files, which are contents by their paths below Options.Path, with
// slashes. If nothing changes, there is no commit. If the branch moves meanwhile,
// the files are committed on top of the new head. An error is an *Error, or that
// of Options.Approve, and means that nothing was pushed, except if the connection
// broke or the timeout expired during the push: then the commit may have been
// pushed.
func (s *Sink) Commit(ctx context.Context, files map[string][]byte) (Result, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.opts.Timeout, remote.Wrong(
		"try again, or set a longer timeout",
		"timeout of %v exceeded: %w", s.opts.Timeout, context.DeadlineExceeded))
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
