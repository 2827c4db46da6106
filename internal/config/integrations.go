package config

import (
	"net/url"
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/config/input"
	"example.dev/ingestor/internal/config/keys"
	"example.dev/ingestor/internal/config/rule"
	"example.dev/ingestor/source"
)

// Integrations is the section integrations: the Git servers.
type Integrations struct {
	Hosts []Host
}

// The kinds of servers. The last has no pull requests.
const (
	HostGitHub  = "github"
	HostGitLab  = "gitlab"
	HostGitea   = "gitea"
	HostForgejo = "forgejo"
	HostGit     = "git"
)

// Host is a Git server with its credentials.
type Host struct {
	// Kind is one of the constants.
	Kind string
	// Name is the host name in addresses, in lower case, with :port unless it is that of
	// https.
	Name string
	// URL is the base address of its repositories; empty means https and the name. API is
	// the base address of its API; empty means the default one.
	URL, API string

	// Username and Token, which may be a password, or SSHKeyFile, with Passphrase, are the
	// credentials. TokenFile is a file with the token, and is read each time.
	Username              string
	Token                 source.Secret
	TokenFile, SSHKeyFile string
	Passphrase            source.Secret
	// KnownHostsFile or HostKey, CAFile or CAData authenticate the server.
	KnownHostsFile, HostKey string
	CAFile                  string
	CAData                  []byte
	SkipTLSVerify           bool
}

// publicHosts are the default hosts.
var publicHosts = map[string]string{HostGitHub: "github.com", HostGitLab: "gitlab.com"}

// foreignHosts are Backstage's integrations that are not supported here.
var foreignHosts = []string{
	"awsCodeCommit", "awsS3", "azure", "azureBlobStorage", "bitbucket", "bitbucketCloud", "bitbucketServer", "gerrit", "googleGcs", "harness",
}

func (c *Integrations) read(m *keys.Map) {
	seen := map[string]input.Place{}
	for _, kind := range []string{HostGitHub, HostGitLab, HostGitea, HostForgejo, HostGit} {
		m.List(kind, func(m *keys.Map) {
			h := Host{Kind: kind, Name: publicHosts[kind]}
			readHost(m, &h, seen)
			c.Hosts = append(c.Hosts, h)
		})
	}
	m.NoEffect(foreignHosts...)
}

// readHost reads a server.
func readHost(m *keys.Map, h *Host, seen map[string]input.Place) {
	if h.Name == "" {
		m.Require("host", "write the name of the server, such as git.example.org")
	}
	readHostName(m, h, seen)
	switch h.Kind {
	case HostGitHub:
		m.URL("apiBaseUrl", &h.API)
		m.Unsupported("write a token, for example of a service account", "apps")
		m.NoEffect("rawBaseUrl", "commitSigningKey")
	case HostGitLab:
		m.URL("baseUrl", &h.URL)
		m.URL("apiBaseUrl", &h.API)
		m.NoEffect("commitSigningKey", "retry")
	case HostGitea, HostForgejo:
		m.URL("baseUrl", &h.URL)
		m.URL("apiBaseUrl", &h.API)
		m.NoEffect("commitSigningKey")
	case HostGit:
		readBase(m, "url", &h.URL)
	}
	h.auth(m)
	h.exposed(m)
}

// readHostName reads the host name of a server, which must be unique.
func readHostName(m *keys.Map, h *Host, seen map[string]input.Place) {
	v, text, ok := m.Str("host")
	if m.Has("host") {
		h.Name = ""
	}
	if want := wantServer(text); ok && want != "" {
		v.Wrong(want, "")
		ok = false
	}
	if ok {
		h.Name = strings.TrimSuffix(strings.ToLower(text), ":443")
	}
	m.Done("host", "string", tree.OptStr(h.Name))
	at := m.At()
	if m.Has("host") {
		at = v.At
	}
	if first, twice := seen[h.Name]; twice && !m.Describing() {
		m.Report(rule.Twice, at, m.PathTo("host"), "keep one of the two", "%s is the same server as at %s", m.Path(), first)
	} else if h.Name != "" {
		seen[h.Name] = at
	}
}

// wantServer returns what a valid name of a server looks like, "" if s is one.
func wantServer(s string) string {
	if hostPattern.MatchString(s) && !strings.HasPrefix(s, "*") {
		return ""
	}
	return "the name of a host such as git.example.org or git.example.org:8443, without a scheme and a path"
}

// readBase reads the base address of repositories.
func readBase(m *keys.Map, key string, to *string) {
	v, text, ok := m.Str(key)
	if ok && !strings.Contains(text, "://") {
		v.Report(rule.Value, "write it as in https://git.example.org, ssh://git@git.example.org or file:///srv/git",
			"%s: want the base address of repositories", v.Path)
		ok = false
	}
	if ok && isRepository(v, text) {
		*to = text
	}
	m.Done(key, "string", tree.OptStr(*to))
}

// auth reads the credentials for a server, and how the server is authenticated.
func (h *Host) auth(m *keys.Map) {
	keys := []string{"token", "tokenFile"}
	m.Secret("token", &h.Token)
	m.FilePath("tokenFile", &h.TokenFile)
	if h.Kind == HostGitea || h.Kind == HostForgejo || h.Kind == HostGit {
		keys = append(keys, "password")
		m.Text("username", &h.Username, nil)
		var password source.Secret
		m.Password("password", &password)
		if password != "" {
			h.Token = password
		}
	}
	m.OneOf(keys...)
	m.Authority(&h.CAFile, &h.CAData)
	m.Flag("skipTLSVerify", &h.SkipTLSVerify)
	if h.Kind != HostGit {
		return
	}
	m.FilePath("sshKeyFile", &h.SSHKeyFile)
	m.Password("passphrase", &h.Passphrase)
	m.FilePath("knownHostsFile", &h.KnownHostsFile)
	m.Text("hostKey", &h.HostKey, nil)
	m.OneOf("knownHostsFile", "hostKey")
	web := append(keys, "caFile", "caData", "skipTLSVerify")
	shell := []string{"sshKeyFile", "passphrase", "knownHostsFile", "hostKey"}
	switch at, err := url.Parse(h.URL); {
	case err != nil:
	case at.Scheme == "ssh":
		m.Out.Delete("skipTLSVerify")
		m.Meaningless("a server accessed over SSH", "remove it, or write a url that begins with https://", web...)
	case at.Scheme == "file":
		m.Out.Delete("skipTLSVerify")
		m.Meaningless("repositories on this machine", "remove it", slices.Concat([]string{"username"}, web, shell)...)
	default:
		m.Meaningless("a server accessed over HTTP", "remove it, or write a url that begins with ssh://", shell...)
	}
}

// exposed reports a token that would be sent over plain HTTP.
func (h *Host) exposed(m *keys.Map) {
	if h.Token == "" && h.TokenFile == "" {
		return
	}
	for _, a := range []struct{ key, address string }{{"baseUrl", h.URL}, {"url", h.URL}, {"apiBaseUrl", h.API}} {
		if m.Has(a.key) && keys.IsPlain(a.address) {
			m.ReportValue(rule.Exposed, a.key, "use https", "%s would send the token over plain HTTP", m.PathTo(a.key))
		}
	}
}
