package remote

import (
	"net/url"
	"path/filepath"
	"regexp"
	"strings"

	"example.dev/ingestor/internal/secret"
)

// Address is the location of a repository.
type Address struct {
	// Shown is the address for messages, without credentials.
	Shown string
	// URL has the scheme http, https or ssh, and no credentials. It is nil if the
	// repository is in the folder Dir.
	URL *url.URL
	Dir string
	// User and Password are the credentials in the address. The user of a web address
	// may be a token, and is treated as a secret.
	User, Password secret.Text
}

// Shell is the scheme of SSH.
const Shell = "ssh"

var (
	// short matches host:path and user@host:path.
	short = regexp.MustCompile(`^(?:([^@:/]+)@)?(\[[^\]]+\]|[^@:/]+):(.+)$`)
	// userinfo matches what looks like user:password@ in an address that is not a URL.
	userinfo = regexp.MustCompile(`[^/@:\[\]]+:[^/@]+@`)
)

// ParseAddress parses an address. The result can be shown even if there is an error.
// go-git's own parser quotes passwords in errors, and takes paths with a colon for
// hosts.
func ParseAddress(given string) (Address, error) {
	at := Address{Shown: userinfo.ReplaceAllString(given, "")}
	scheme, rest, isURL := strings.Cut(given, "://")
	parts := short.FindStringSubmatch(given)
	switch {
	case given == "":
		return at, Wrong("specify a URL or a folder", "address is empty")
	case isURL && !strings.ContainsAny(scheme, `/\`):
		// In an invalid URL it is unknown where a password ends.
		rest, _, _ = strings.Cut(rest[strings.LastIndexByte(rest, '@')+1:], "?")
		at.Shown = scheme + "://" + rest
		return at.parseURL(given)
	case parts == nil || filepath.VolumeName(given) != "":
		return at.local(given)
	case at.Shown != given:
		return at, Wrong("specify the key or the password separately", "an address of this form cannot contain a password")
	}
	at.User, at.URL = secret.Text(parts[1]), &url.URL{Scheme: Shell, Host: parts[2], Path: parts[3]}
	return at, nil
}

func (at Address) local(path string) (Address, error) {
	dir, err := filepath.Abs(path)
	at.Dir, at.URL = dir, nil
	return at, err
}

// parseURL parses scheme://…. Errors of net/url quote the whole address, so they are
// not returned. A password with a slash in it looks like a port and a path.
func (at Address) parseURL(given string) (Address, error) {
	u, err := url.Parse(given)
	if err != nil || u.RawQuery != "" || u.Fragment != "" || u.User == nil && u.Port() != "" && strings.Contains(u.Path, "@") {
		return at, Wrong("percent-encode special characters in the user name and password (such as %2F), and remove anything after the path",
			"address is not the URL of a repository")
	}
	password, _ := u.User.Password()
	at.User, at.Password = secret.Text(u.User.Username()), secret.Text(password)
	u.User, u.ForceQuery = nil, false
	at.URL, at.Shown = u, u.String()
	switch u.Scheme {
	case "file":
		if u.Host != "" && u.Host != "localhost" {
			return at, Wrong("write file:///path, with three slashes", "file URL names host %q", u.Host)
		}
		return at.local(filepath.FromSlash(u.Path))
	case "http", "https":
		u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), strings.TrimRight(u.RawPath, "/")
	case Shell, "git+ssh", "ssh+git":
		u.Scheme = Shell
		if strings.HasPrefix(u.Path, "/~") {
			u.Path = u.Path[1:]
		}
	default:
		return at, Wrong("use https, http, ssh or file, user@host:path, or the path of a folder", "unsupported scheme %q", u.Scheme)
	}
	if u.Hostname() == "" || strings.Trim(u.Path, "/") == "" {
		return at, Wrong("write scheme://host/path", "address has no host or no repository")
	}
	return at, nil
}
