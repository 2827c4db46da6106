package git

import (
	"net/url"
	"path/filepath"
	"regexp"
	"strings"

	"example.dev/ingestor/source"
)

// address is where a repository is.
type address struct {
	// shown is the address for people. There are no credentials in it.
	shown string
	// url has the scheme http, https or ssh, and no credentials. It is nil if
	// the repository is in the folder dir.
	url *url.URL
	dir string
	// user and password are what stood in the address. The user of a web
	// address may be a token, and is kept as one.
	user, password source.Secret
}

// shell is the scheme of SSH.
const shell = "ssh"

var (
	// short is host:path and user@host:path.
	short = regexp.MustCompile(`^(?:([^@:/]+)@)?(\[[^\]]+\]|[^@:/]+):(.+)$`)
	// userinfo is what looks like user:password@ in an address that is no URL.
	userinfo = regexp.MustCompile(`[^/@:\[\]]+:[^/@]+@`)
)

// parseAddress reads an address. The one it returns can be shown even if there
// is an error. The library's own way quotes passwords in errors, and takes
// paths with a colon for hosts.
func parseAddress(given string) (address, error) {
	at := address{shown: userinfo.ReplaceAllString(given, "")}
	scheme, rest, isURL := strings.Cut(given, "://")
	parts := short.FindStringSubmatch(given)
	switch {
	case given == "":
		return at, wrong("name a URL or a folder", "the address is empty")
	case isURL && !strings.ContainsAny(scheme, `/\`):
		// Nobody knows where a password ends in what is no proper URL.
		rest, _, _ = strings.Cut(rest[strings.LastIndexByte(rest, '@')+1:], "?")
		at.shown = scheme + "://" + rest
		return at.parseURL(given)
	case parts == nil || filepath.VolumeName(given) != "":
		return at.local(given)
	case at.shown != given:
		return at, wrong("give the key or the password apart", "an address of this form holds no password")
	}
	at.user, at.url = source.Secret(parts[1]), &url.URL{Scheme: shell, Host: parts[2], Path: parts[3]}
	return at, nil
}

func (at address) local(path string) (address, error) {
	dir, err := filepath.Abs(path)
	at.dir, at.url = dir, nil
	return at, err
}

// parseURL reads scheme://…. Errors of net/url quote the whole address, so they
// are not passed on. A password with a slash in it looks like a port and a path.
func (at address) parseURL(given string) (address, error) {
	u, err := url.Parse(given)
	if err != nil || u.RawQuery != "" || u.Fragment != "" || u.User == nil && u.Port() != "" && strings.Contains(u.Path, "@") {
		return at, wrong("special characters in a user name or password are written as %2F and the like, and nothing comes after the path",
			"the address is not the URL of a repository")
	}
	password, _ := u.User.Password()
	at.user, at.password = source.Secret(u.User.Username()), source.Secret(password)
	u.User, u.ForceQuery = nil, false
	at.url, at.shown = u, u.String()
	switch u.Scheme {
	case "file":
		if u.Host != "" && u.Host != "localhost" {
			return at, wrong("write file:///path, with three slashes", "a file is on this machine, not on %q", u.Host)
		}
		return at.local(filepath.FromSlash(u.Path))
	case "http", "https":
		u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), strings.TrimRight(u.RawPath, "/")
	case shell, "git+ssh", "ssh+git":
		u.Scheme = shell
		if strings.HasPrefix(u.Path, "/~") {
			u.Path = u.Path[1:]
		}
	default:
		return at, wrong("use https, http, ssh or file, user@host:path, or the path of a folder", "there is no way to read %q", u.Scheme)
	}
	if u.Hostname() == "" || strings.Trim(u.Path, "/") == "" {
		return at, wrong("write scheme://host/path", "the address names no host, or no repository")
	}
	return at, nil
}
