// Package fetch opens what the fetch actions refer to: files next to a Template, on
// this machine or in a repository, and other repositories. It reads only from known
// servers and configured folders.
package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"

	"example.dev/ingestor/action"
	"example.dev/ingestor/action/files"
	"example.dev/ingestor/action/publish"
	"example.dev/ingestor/internal/git/forge"
	"example.dev/ingestor/internal/secret"
	"example.dev/ingestor/source/git"
)

// Options configure what may be read.
type Options struct {
	// Hosts are the repository servers, with their credentials, in addition to the
	// well-known public ones. Nil means no others.
	Hosts publish.Hosts
	// Allow reports which other servers may be read, without credentials; nil means
	// none. Names are in lower case, with a port if there is one.
	Allow func(host string) bool
	// Folders are the folders on this machine in which Templates may have files next to
	// them. If it is empty, nothing on this machine is read.
	Folders []string
	// MaxBytes is the maximum size of what is fetched from a repository, packed and
	// unpacked, and Timeout the timeout of a fetch. Zero means the defaults of
	// source/git.
	MaxBytes int64
	Timeout  time.Duration
}

// Fetcher opens what addresses refer to. It is safe for concurrent use.
type Fetcher struct{ opts Options }

var _ files.Fetcher = (*Fetcher)(nil)

// New returns a Fetcher.
func New(o Options) *Fetcher { return &Fetcher{o} }

const hint = "write ./folder relative to the Template, https://host/owner/name/tree/branch/folder, or the https or ssh URL of a repository"

// Fetch opens what an address refers to: a path relative to the Template, which is at
// base, the URL of a repository, or that of a page of one. A path with a leading
// slash is relative to the root of the repository.
func (f *Fetcher) Fetch(ctx context.Context, base, address string, token secret.Text, may files.May) (*files.Tree, error) {
	switch {
	case address == "":
		return nil, action.Errorf(hint, "cannot fetch: missing address")
	case strings.HasPrefix(strings.ToLower(address), "file:"):
		return nil, action.Errorf("write a path relative to the Template: ./folder", "cannot fetch local files by URL")
	case forge.IsAddress(address):
		page, err := forge.ParsePage(address)
		if err != nil {
			return nil, &action.Error{Err: err, Hint: hint}
		}
		return f.repository(ctx, page, token, may)
	case base == "":
		return nil, action.Errorf("register the Template from a repository, or write an absolute URL", "cannot fetch %q: location of the Template is unknown", address)
	case strings.HasPrefix(base, "file:"):
		return f.beside(strings.TrimPrefix(strings.TrimPrefix(base, "file:"), "//"), address)
	}
	at, err := forge.ParsePage(base)
	if err != nil {
		return nil, action.Errorf(hint, "cannot fetch %q: the Template was not read from a repository", address)
	}
	// Names in a relative address may or may not be escaped.
	if plain, err := url.PathUnescape(address); err == nil {
		address = plain
	}
	page, err := at.Resolve(address)
	if err != nil {
		return nil, action.Errorf("write a path in the repository of the Template", "cannot fetch %q: path escapes the repository", address)
	}
	return f.repository(ctx, page, token, may)
}

// repository opens what a page of a repository shows.
func (f *Fetcher) repository(ctx context.Context, p forge.Page, token secret.Text, may files.May) (*files.Tree, error) {
	at, auth, err := f.place(p, token)
	if err != nil {
		return nil, err
	}
	web := strings.HasPrefix(at, "https://") || strings.HasPrefix(at, "http://")
	if token == "" || !web {
		anonymous := web && auth.Token == "" && auth.TokenFile == "" && auth.SSHKeyFile == ""
		if err := may(RepositoryOf(p), anonymous); err != nil {
			return nil, err
		}
	}
	tree, rest, err := git.New(at, git.Options{Auth: auth, MaxBytes: f.opts.MaxBytes, Timeout: f.opts.Timeout}).Files(ctx, p.Rest)
	if err != nil {
		out := &action.Error{Err: fmt.Errorf("cannot fetch %q: %w", p.String(), err), Hint: hint}
		if e, ok := errors.AsType[*git.Error](err); ok && e.Hint != "" {
			out.Hint = e.Hint
		}
		return nil, out
	}
	return &files.Tree{Files: tree, Path: path.Clean(rest), Shown: p.String()}, nil
}

// RepositoryOf returns the repository of a page in the form that permissions use.
func RepositoryOf(p forge.Page) string {
	return strings.ToLower(p.Host + "/" + strings.TrimSuffix(strings.Trim(p.Repository, "/"), ".git"))
}

// Repository returns the repository that an address refers to, in the form that
// permissions use; empty if it refers to none.
func Repository(address string) string {
	if !forge.IsAddress(address) {
		return ""
	}
	p, err := forge.ParsePage(address)
	if err != nil {
		return ""
	}
	return RepositoryOf(p)
}

// place returns the URL of a repository, and the credentials.
func (f *Fetcher) place(p forge.Page, token secret.Text) (string, git.Auth, error) {
	var host publish.Host
	ok := false
	if f.opts.Hosts != nil {
		host, ok = f.opts.Hosts.Host(p.Host)
	}
	kind := cmp.Or(forge.Kind(host.Kind), forge.KindOf(p.Host))
	if !ok && kind == "" && (f.opts.Allow == nil || !f.opts.Allow(p.Host)) {
		return "", git.Auth{}, action.Errorf("use an allowed host, or have it added to the configuration", "cannot fetch from %q: host is not allowed", p.Host)
	}
	base := &url.URL{Scheme: p.Scheme, Host: p.Host}
	if p.User != "" {
		base.User = url.User(p.User)
	}
	if host.URL != "" {
		var err error
		if base, err = url.Parse(host.URL); err != nil || base.Scheme == "" {
			// An invalid URL may contain a password anywhere, so it is not quoted.
			return "", git.Auth{}, action.Errorf("write https://host, ssh://git@host or file:///folder", "invalid URL of host %q in the configuration", p.Host)
		}
	} else if p.Scheme == "http" {
		return "", git.Auth{}, action.Errorf("write https, or have the host configured with an http URL", "cannot fetch from %q without encryption", p.Host)
	}
	auth := git.Auth(host.Auth)
	if token != "" {
		auth.Token, auth.TokenFile, auth.Username = token, "", ""
	}
	switch kind {
	case forge.GitHub:
		auth.Username = cmp.Or(auth.Username, "x-access-token")
	case forge.GitLab:
		auth.Username = cmp.Or(auth.Username, "oauth2")
	}
	if base.Scheme == "ssh" {
		// The user names for tokens are not valid for SSH.
		auth.Username = host.Auth.Username
	}
	name := p.Repository
	if prefix := strings.Trim(base.Path, "/"); base.Scheme != "file" && prefix != "" {
		name = strings.TrimPrefix(name, prefix+"/")
	}
	if kind != "" && kind != forge.Plain {
		name = strings.TrimSuffix(name, ".git") + ".git"
	}
	return strings.TrimRight(base.String(), "/") + "/" + name, auth, nil
}
