package config

import (
	"net/url"
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
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

func (c *Integrations) read(o *object) {
	seen := map[string]place{}
	for _, kind := range []string{HostGitHub, HostGitLab, HostGitea, HostForgejo, HostGit} {
		o.list(kind, func(o *object) {
			h := Host{Kind: kind, Name: publicHosts[kind]}
			o.host(&h, seen)
			c.Hosts = append(c.Hosts, h)
		})
	}
	o.noEffect(foreignHosts...)
}

// host reads a server.
func (o *object) host(h *Host, seen map[string]place) {
	if h.Name == "" {
		o.require("host", "write the name of the server, such as git.example.org")
	}
	o.hostName(h, seen)
	switch h.Kind {
	case HostGitHub:
		o.url("apiBaseUrl", &h.API)
		o.unsupported("write a token, for example of a service account", "apps")
		o.noEffect("rawBaseUrl", "commitSigningKey")
	case HostGitLab:
		o.url("baseUrl", &h.URL)
		o.url("apiBaseUrl", &h.API)
		o.noEffect("commitSigningKey", "retry")
	case HostGitea, HostForgejo:
		o.url("baseUrl", &h.URL)
		o.url("apiBaseUrl", &h.API)
		o.noEffect("commitSigningKey")
	case HostGit:
		o.base("url", &h.URL)
	}
	h.auth(o)
	h.exposed(o)
}

// hostName reads the host name of a server, which must be unique.
func (o *object) hostName(h *Host, seen map[string]place) {
	v, text, ok := o.str("host")
	if o.has("host") {
		h.Name = ""
	}
	if want := wantServer(text); ok && want != "" {
		o.r.wrong(v, want, "")
		ok = false
	}
	if ok {
		h.Name = strings.TrimSuffix(strings.ToLower(text), ":443")
	}
	o.done("host", "string", tree.OptStr(h.Name))
	at := o.at
	if o.has("host") {
		at = v.at
	}
	if first, twice := seen[h.Name]; twice && !o.r.describing {
		o.r.report(RuleTwice, at, o.pathTo("host"), "keep one of the two", "%s is the same server as at %s", o.path, first)
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

// base reads the base address of repositories.
func (o *object) base(key string, to *string) {
	v, text, ok := o.str(key)
	if ok && !strings.Contains(text, "://") {
		o.r.report(RuleValue, v.at, v.path, "write it as in https://git.example.org, ssh://git@git.example.org or file:///srv/git",
			"%s: want the base address of repositories", v.path)
		ok = false
	}
	if ok && o.r.isRepository(v, text) {
		*to = text
	}
	o.done(key, "string", tree.OptStr(*to))
}

// auth reads the credentials for a server, and how the server is authenticated.
func (h *Host) auth(o *object) {
	keys := []string{"token", "tokenFile"}
	o.secret("token", &h.Token)
	o.filePath("tokenFile", &h.TokenFile)
	if h.Kind == HostGitea || h.Kind == HostForgejo || h.Kind == HostGit {
		keys = append(keys, "password")
		o.text("username", &h.Username, nil)
		var password source.Secret
		o.password("password", &password)
		if password != "" {
			h.Token = password
		}
	}
	o.oneOf(keys...)
	o.authority(&h.CAFile, &h.CAData)
	o.flag("skipTLSVerify", &h.SkipTLSVerify)
	if h.Kind != HostGit {
		return
	}
	o.filePath("sshKeyFile", &h.SSHKeyFile)
	o.password("passphrase", &h.Passphrase)
	o.filePath("knownHostsFile", &h.KnownHostsFile)
	o.text("hostKey", &h.HostKey, nil)
	o.oneOf("knownHostsFile", "hostKey")
	web := append(keys, "caFile", "caData", "skipTLSVerify")
	shell := []string{"sshKeyFile", "passphrase", "knownHostsFile", "hostKey"}
	switch at, err := url.Parse(h.URL); {
	case err != nil:
	case at.Scheme == "ssh":
		o.out.Delete("skipTLSVerify")
		o.meaningless("a server accessed over SSH", "remove it, or write a url that begins with https://", web...)
	case at.Scheme == "file":
		o.out.Delete("skipTLSVerify")
		o.meaningless("repositories on this machine", "remove it", slices.Concat([]string{"username"}, web, shell)...)
	default:
		o.meaningless("a server accessed over HTTP", "remove it, or write a url that begins with ssh://", shell...)
	}
}

// exposed reports a token that would be sent over plain HTTP.
func (h *Host) exposed(o *object) {
	if h.Token == "" && h.TokenFile == "" {
		return
	}
	for _, a := range []struct{ key, address string }{{"baseUrl", h.URL}, {"url", h.URL}, {"apiBaseUrl", h.API}} {
		if o.has(a.key) && isPlain(a.address) {
			o.r.report(RuleExposed, o.valueAt(a.key), o.pathTo(a.key), "use https", "%s would send the token over plain HTTP", o.pathTo(a.key))
		}
	}
}
