// Package fetch opens what the fetch actions name: files beside a Template, on
// this machine or in a repository, and repositories elsewhere. Only servers that
// are known, and folders that were named, are looked at.
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

// Options say what may be read.
type Options struct {
	// Hosts are the servers of repositories, with how to get in. Beside them
	// there are the ones everybody knows. Nil means no others.
	Hosts publish.Hosts
	// Allow says which other servers may be read, without credentials; nil means
	// none. Names are in lower case, with a port if there is one.
	Allow func(host string) bool
	// Folders are those on this machine in which Templates may have files beside
	// them. None means that nothing of this machine is read.
	Folders []string
	// MaxBytes is the most that is fetched of a repository, packed and unpacked,
	// and Timeout how long that may take. Zero means the defaults of source/git.
	MaxBytes int64
	Timeout  time.Duration
}

// Fetcher opens what addresses lead to. It may be called at once.
type Fetcher struct{ opts Options }

var _ files.Fetcher = (*Fetcher)(nil)

// New returns a Fetcher.
func New(o Options) *Fetcher { return &Fetcher{o} }

const hint = "write ./folder for what is beside the Template, https://host/owner/name/tree/branch/folder, or the https or ssh URL of a repository"

// Fetch opens what an address leads to: a path beside the Template, which is at
// base, or the address of a repository, or of a page of one. A path that begins
// with a slash is from the top of the repository.
func (f *Fetcher) Fetch(ctx context.Context, base, address string, token secret.Text, may files.May) (*files.Tree, error) {
	switch {
	case address == "":
		return nil, wrong(hint, "cannot fetch: there is no address")
	case strings.HasPrefix(strings.ToLower(address), "file:"):
		return nil, wrong("name it from beside the Template: ./folder", "cannot fetch files of this machine by their address")
	case forge.IsAddress(address):
		page, err := forge.ParsePage(address)
		if err != nil {
			return nil, &action.Error{Err: err, Hint: hint}
		}
		return f.repository(ctx, page, token, may)
	case base == "":
		return nil, wrong("register the Template from a repository, or write the whole address", "cannot fetch %q: nobody knows where the Template was read from", address)
	case strings.HasPrefix(base, "file:"):
		return f.beside(strings.TrimPrefix(strings.TrimPrefix(base, "file:"), "//"), address)
	}
	at, err := forge.ParsePage(base)
	if err != nil {
		return nil, wrong(hint, "cannot fetch %q: the Template was not read from a repository", address)
	}
	// Names in a relative address are escaped or not, as people please.
	if plain, err := url.PathUnescape(address); err == nil {
		address = plain
	}
	page, err := at.Resolve(address)
	if err != nil {
		return nil, wrong("write a path in the repository of the Template", "cannot fetch %q: it leads out of the repository", address)
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

// RepositoryOf returns the repository of a page as permissions know it.
func RepositoryOf(p forge.Page) string {
	return strings.ToLower(p.Host + "/" + strings.TrimSuffix(strings.Trim(p.Repository, "/"), ".git"))
}

// Repository returns the repository that an address leads to, as permissions
// know it; empty if it leads to none.
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

// place returns the address of a repository, and how to get in.
func (f *Fetcher) place(p forge.Page, token secret.Text) (string, git.Auth, error) {
	var host publish.Host
	ok := false
	if f.opts.Hosts != nil {
		host, ok = f.opts.Hosts.Host(p.Host)
	}
	kind := cmp.Or(forge.Kind(host.Kind), forge.KindOf(p.Host))
	if !ok && kind == "" && (f.opts.Allow == nil || !f.opts.Allow(p.Host)) {
		return "", git.Auth{}, wrong("use one that is, or have it added to the configuration", "cannot fetch from %q: it is not a host that may be read", p.Host)
	}
	base := &url.URL{Scheme: p.Scheme, Host: p.Host}
	if p.User != "" {
		base.User = url.User(p.User)
	}
	if host.URL != "" {
		var err error
		if base, err = url.Parse(host.URL); err != nil || base.Scheme == "" {
			// What is no proper URL may have a password anywhere.
			return "", git.Auth{}, wrong("write https://host, ssh://git@host or file:///folder", "the URL of the host %q in the configuration is none", p.Host)
		}
	} else if p.Scheme == "http" {
		return "", git.Auth{}, wrong("write https, or have the configuration say that the host has none", "cannot fetch from %q without encryption", p.Host)
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
		// The names that go with tokens are nobody's there.
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

// wrong returns an error with the way out.
func wrong(hint, format string, args ...any) error {
	return &action.Error{Err: fmt.Errorf(format, args...), Hint: hint}
}
