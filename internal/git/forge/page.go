package forge

import (
	"errors"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Page is what the address of a page shows: a repository, or a file or folder
// in it, as GitHub, GitLab, Gitea and Forgejo write it.
type Page struct {
	// Scheme is https, http or ssh, and User who one is for SSH.
	Scheme, User string
	// Host is in lower case, with its port if it has one.
	Host string
	// Repository is its path at the host, as it was written.
	Repository string
	// Rest is a branch, tag or commit, and the path behind it. Where one ends
	// and the other begins is for the repository to say. Empty means all of the
	// repository, as it itself thinks of it first.
	Rest string
	// marker is what stands before Rest.
	marker []string
	// folder says that it ends with a slash.
	folder bool
}

// The errors of pages. They do not repeat the address, which may hold a password
// anywhere if it is no proper one.
var (
	errPage     = errors.New("cannot read the address: it is not the https or ssh URL of a repository, or of a page of one")
	errPassword = errors.New("cannot use the address: there is a user name or password in it")
	errAway     = errors.New("cannot use the path: it leads out of the repository")
)

var (
	shortSSH = regexp.MustCompile(`^([A-Za-z0-9_.-]+)@([A-Za-z0-9.-]+):([^/].*)$`)
	owned    = regexp.MustCompile(`^[A-Za-z0-9_.~+][A-Za-z0-9_.~+-]*$`)
	shows    = []string{"tree", "blob", "raw", "edit"}
	refKinds = []string{"branch", "tag", "commit"}
)

// IsAddress reports whether a text is meant as an address, not as a path.
func IsAddress(text string) bool { return strings.Contains(text, "://") || shortSSH.MatchString(text) }

// ParsePage reads the address of a page, or of a repository: https://…,
// ssh://user@host/… or user@host:….
func ParsePage(address string) (Page, error) {
	if m := shortSSH.FindStringSubmatch(address); m != nil && !strings.Contains(address, "://") {
		address = "ssh://" + m[1] + "@" + m[2] + "/" + m[3]
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || !slices.Contains([]string{"https", "http", "ssh"}, u.Scheme) {
		return Page{}, errPage
	}
	if q := u.Query(); len(q) > 1 || len(q) == 1 && !q.Has("ref_type") {
		return Page{}, errPage
	}
	p := Page{Scheme: u.Scheme, Host: strings.ToLower(u.Host), folder: strings.HasSuffix(u.Path, "/")}
	if _, has := u.User.Password(); has || u.User != nil && u.Scheme != "ssh" {
		return Page{}, errPassword
	}
	p.User = u.User.Username()
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	for _, part := range parts {
		if part == "" || part == "." || part == ".." || strings.ContainsFunc(part, func(r rune) bool { return r < ' ' }) {
			return Page{}, errPage
		}
	}
	at := p.split(parts)
	for _, part := range parts[:at] {
		if !owned.MatchString(part) {
			return Page{}, errPage
		}
	}
	p.Repository = strings.Join(parts[:at], "/")
	return p, nil
}

// split notes what stands behind the repository, and returns where that begins.
func (p *Page) split(parts []string) int {
	first := 2
	if i := slices.IndexFunc(parts, func(s string) bool { return strings.HasSuffix(s, ".git") }); i >= 0 {
		first = i + 1
	}
	for i := first; i < len(parts); i++ {
		n := 0
		next := func(all []string) bool { return i+1 < len(parts) && slices.Contains(all, parts[i+1]) }
		switch {
		case parts[i] == "-" && next(shows), (parts[i] == "src" || parts[i] == "raw") && next(refKinds):
			n = 2
		case parts[i] == "src" || slices.Contains(shows, parts[i]):
			n = 1
		default:
			continue
		}
		p.marker, p.Rest = parts[i:i+n], strings.Join(parts[i+n:], "/")
		return i
	}
	return len(parts)
}

// Resolve returns the page that a path leads to from here: beside it, or from
// the top of the repository if it begins with a slash. There, a branch with a
// slash in its name is taken for its first part.
func (p Page) Resolve(to string) (Page, error) {
	ref, at, _ := strings.Cut(p.Rest, "/")
	if p.Rest == "" {
		ref = "HEAD"
	}
	if len(p.marker) == 0 {
		p.marker = []string{"tree"}
	}
	switch {
	case strings.HasPrefix(to, "/"):
		at = ""
	case !p.folder && strings.Contains(p.Rest, "/"):
		at = strings.TrimPrefix(path.Dir("/"+at), "/")
	}
	full := path.Clean(path.Join(at, to))
	if strings.HasPrefix(to, "/") {
		full = path.Clean(strings.TrimLeft(to, "/"))
	}
	if full == ".." || strings.HasPrefix(full, "../") || strings.ContainsFunc(full, func(r rune) bool { return r < ' ' }) {
		return Page{}, errAway
	}
	p.folder = full == "." || strings.HasSuffix(to, "/")
	p.Rest = ref
	if full != "." {
		p.Rest += "/" + full
	}
	return p, nil
}

// String returns the address.
func (p Page) String() string { return p.address(p.marker) }

// File returns the address of a page that shows a file.
func (p Page) File() string {
	marker := slices.Clone(p.marker)
	for i, m := range marker {
		if m == "tree" {
			marker[i] = "blob"
		}
	}
	return p.address(marker)
}

func (p Page) address(marker []string) string {
	parts := append([]string{p.Repository}, marker...)
	if p.Rest != "" {
		parts = append(parts, p.Rest)
	}
	u := url.URL{Scheme: p.Scheme, Host: p.Host, Path: "/" + strings.Join(parts, "/")}
	if p.User != "" {
		u.User = url.User(p.User)
	}
	if p.folder {
		u.Path += "/"
	}
	return u.String()
}
