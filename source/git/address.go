package git

import (
	"errors"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"

	"example.dev/ingestor/source"
)

// way is how a repository is reached.
type way uint8

const (
	web way = iota
	shell
	local
)

// address is where a repository is.
type address struct {
	kind way
	// shown is the address for people. There are no credentials in it.
	shown string
	// url is that of a web address, without credentials and final slash.
	url *url.URL
	// host, port and path are those of a shell address.
	host, port, path string
	// dir is the folder of a local address.
	dir string
	// user and password are what stood in the address. The user of a web
	// address may be a token, and is kept as one.
	user, password source.Secret
}

const schemes = "use https, http, ssh or file, user@host:path, or the path of a folder"

// parseAddress reads an address. The one it returns can be shown even if there
// is an error.
func parseAddress(given string) (address, error) {
	scheme, _, isURL := strings.Cut(given, "://")
	switch {
	case given == "":
		return address{}, wrong("name a URL or a folder", "the address is empty")
	case isURL && !strings.ContainsAny(scheme, `/\`):
		return parseURL(given)
	case isShort(given):
		return parseShort(given)
	}
	return parseLocal(given, given)
}

// parseURL reads scheme://…. Errors of net/url quote the whole address, so they
// are not passed on.
func parseURL(given string) (address, error) {
	u, err := url.Parse(given)
	at := address{shown: withoutUser(given)}
	if err != nil {
		return at, wrong("special characters in a user name or password are written as %40 and the like", "the address is not a URL")
	}
	if u.User == nil && u.Port() != "" && strings.Contains(u.Path, "@") {
		// A password with a slash in it looks like a port and a path.
		return at, wrong("write a slash in a password as %2F", "the address is not clear")
	}
	if u.User != nil {
		at.user = source.Secret(u.User.Username())
		password, _ := u.User.Password()
		at.password = source.Secret(password)
		u.User = nil
	}
	hasQuery := u.RawQuery != "" || u.Fragment != ""
	u.RawQuery, u.Fragment, u.RawFragment, u.ForceQuery = "", "", "", false
	at.shown = u.String()
	if hasQuery {
		return at, wrong("leave out what begins with a question mark or a number sign", "the address has more than a path")
	}
	switch strings.ToLower(u.Scheme) {
	case "file":
		return parseFileURL(at, u)
	case "http", "https":
		at.kind = web
		u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), strings.TrimRight(u.RawPath, "/")
		at.url = u
		return at, at.complete(u.Hostname(), u.Path)
	case "ssh", "git+ssh", "ssh+git":
		at.kind, at.host, at.port, at.path = shell, u.Hostname(), u.Port(), u.Path
		if strings.HasPrefix(at.path, "/~") {
			at.path = at.path[1:]
		}
		return at, at.complete(at.host, at.path)
	}
	return at, wrong(schemes, "there is no way to read %q", u.Scheme)
}

// complete says what is missing.
func (at address) complete(host, path string) error {
	if host == "" {
		return wrong(schemes, "the address names no host")
	}
	if strings.Trim(path, "/") == "" {
		return wrong("add the path of the repository", "the address names a host and no repository")
	}
	return nil
}

func parseFileURL(at address, u *url.URL) (address, error) {
	if u.Host != "" && u.Host != "localhost" {
		return at, wrong("write file:///path, with three slashes", "a file is on this machine, not on %q", u.Host)
	}
	path := u.Path
	if filepath.Separator == '\\' {
		path = filepath.FromSlash(strings.TrimPrefix(path, "/"))
	}
	return parseLocal(at.shown, path)
}

func parseLocal(given, path string) (address, error) {
	at := address{kind: local, shown: userinfo.ReplaceAllString(given, "")}
	dir, err := filepath.Abs(path)
	if err != nil {
		return at, errors.New("there is no working directory")
	}
	at.dir = dir
	return at, nil
}

// isShort reports whether an address is host:path or user@host:path: there is a
// colon, and no slash before it.
func isShort(given string) bool {
	if filepath.VolumeName(given) != "" {
		return false
	}
	colon := strings.IndexByte(given, ':')
	slash := strings.IndexByte(given, '/')
	return colon > 0 && (slash < 0 || colon < slash || strings.HasPrefix(given, "["))
}

func parseShort(given string) (address, error) {
	at := address{kind: shell, shown: userinfo.ReplaceAllString(given, "")}
	if at.shown != given {
		return at, wrong("give the key or the password apart", "an address of this form holds no password")
	}
	rest := given
	if user, after, ok := strings.Cut(given, "@"); ok && !strings.ContainsAny(user, ":/") {
		at.user, rest = source.Secret(user), after
	}
	cut := strings.IndexByte(rest, ':')
	if strings.HasPrefix(rest, "[") {
		if end := strings.Index(rest, "]:"); end > 0 {
			cut = end + 1
		}
	}
	if cut < 0 {
		return at, wrong(schemes, "the address names no repository")
	}
	at.host, at.path = strings.Trim(rest[:cut], "[]"), rest[cut+1:]
	return at, at.complete(at.host, at.path)
}

// userinfo is what looks like user:password@ in an address that is no URL.
var userinfo = regexp.MustCompile(`[^/@:\[\]]+:[^/@]+@`)

// withoutUser cuts the user and password from what may not be a proper URL: all
// up to the last at sign, because nobody knows where they end.
func withoutUser(given string) string {
	scheme, rest, _ := strings.Cut(given, "://")
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = rest[i+1:]
	}
	rest, _, _ = strings.Cut(rest, "?")
	return scheme + "://" + rest
}
