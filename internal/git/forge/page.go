package forge

import (
	"errors"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Page is a parsed web URL of a repository, or of a file or folder in it, as GitHub,
// GitLab, Gitea and Forgejo write it.
type Page struct {
	// Scheme is https, http or ssh, and User the user name for SSH.
	Scheme, User string
	// Host is in lower case, with its port if it has one.
	Host string
	// Repository is its path on the host, as it was written.
	Repository string
	// Rest is a branch, tag or commit, followed by a path. Only the repository can tell
	// where one ends and the other begins. Empty means the whole repository at its
	// default branch.
	Rest string
	// marker are the path segments before Rest, such as tree.
	marker []string
	// folder says that the URL ends with a slash.
	folder bool
}

// Errors of pages. They do not quote the URL, since an invalid one may contain a
// password anywhere.
var (
	errPage     = errors.New("cannot parse address: not an https or ssh URL of a repository, or of a page in one")
	errPassword = errors.New("cannot use address: it contains a user name or password")
	errAway     = errors.New("cannot use path: it escapes the repository")
)

var (
	shortSSH = regexp.MustCompile(`^([A-Za-z0-9_.-]+)@([A-Za-z0-9.-]+):([^/].*)$`)
	owned    = regexp.MustCompile(`^[A-Za-z0-9_.~+][A-Za-z0-9_.~+-]*$`)
	shows    = []string{"tree", "blob", "raw", "edit"}
	refKinds = []string{"branch", "tag", "commit"}
)

// IsAddress reports whether a text is a URL rather than a path.
func IsAddress(text string) bool { return strings.Contains(text, "://") || shortSSH.MatchString(text) }

// ParsePage parses the URL of a page or of a repository: https://…, ssh://user@host/…
// or user@host:….
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

// split sets marker and Rest from the segments after the repository, and returns the
// index where those begin.
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

// Resolve returns the page that a path refers to, relative to p, or to the root of
// the repository if the path begins with a slash. Only the first segment of a branch
// name with slashes is then taken as the branch.
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

// String returns the URL.
func (p Page) String() string { return p.address(p.marker) }

// File returns the URL of the page for a file.
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
