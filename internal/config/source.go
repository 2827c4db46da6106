package config

import (
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source"
)

// The types of sources.
const (
	SourceFile = "file"
	SourceGit  = "git"
)

// Source is where definitions come from that are not in a cluster.
type Source struct {
	Name string
	// Type is one of the constants.
	Type string
	// Path is a local file or folder, or one inside the repository, where empty means all.
	Path string
	// Repo is the address of a repository, and Branch the branch that is read; empty means
	// the default branch.
	Repo, Branch string
	// Recursive includes subfolders of local folders; those of a repository are always
	// included.
	Recursive bool

	// Username, Token or SSHKeyFile are the credentials for a repository; TokenFile is a
	// file with the token, and is read each time.
	Username              string
	Token                 source.Secret
	TokenFile, SSHKeyFile string
	// KnownHostsFile or CAFile authenticate the server of the repository.
	KnownHostsFile, CAFile string
}

// sources reads a list of sources.
func (o *object) sources(key string, to *[]Source) {
	seen := map[string]place{}
	o.list(key, func(o *object) {
		s := Source{Recursive: true}
		o.name(&s.Name, seen)
		o.lenient = o.lenient || s.Name != "" && o.r.opts.UseSource != nil && !o.r.opts.UseSource(s.Name)
		o.require("type", "write type: "+SourceFile+" or type: "+SourceGit)
		o.choice("type", &s.Type, SourceFile, SourceGit)
		if s.Type == SourceGit {
			o.inside("path", &s.Path)
		} else {
			o.filePath("path", &s.Path)
		}
		o.repository("repo", &s.Repo)
		o.text("branch", &s.Branch, wantBranch)
		o.flag("recursive", &s.Recursive)
		s.auth(o)
		switch s.Type {
		case SourceGit:
			o.require("repo", "write the address of the repository")
			o.meaningless("type "+SourceGit+", which reads all folders below", "remove it", "recursive")
			o.out.Delete("recursive")
		case SourceFile:
			o.require("path", "write the path of a file or folder")
			o.meaningless("type "+SourceFile, "write type: "+SourceGit+", or remove it", append([]string{"repo", "branch", "username"}, slices.Concat(webKeys, shellKeys)...)...)
		}
		*to = append(*to, s)
	})
}

// The keys of a repository that belong to one protocol.
var (
	webKeys   = []string{"token", "tokenFile", "caFile"}
	shellKeys = []string{"sshKeyFile", "knownHostsFile"}
)

// auth reads the credentials for a repository, and how its server is authenticated.
func (s *Source) auth(o *object) {
	o.text("username", &s.Username, nil)
	o.secret("token", &s.Token)
	o.filePath("tokenFile", &s.TokenFile)
	o.filePath("sshKeyFile", &s.SSHKeyFile)
	o.filePath("knownHostsFile", &s.KnownHostsFile)
	o.filePath("caFile", &s.CAFile)
	token := o.oneOf("token", "tokenFile")
	switch at, _ := url.Parse(s.Repo); {
	case s.Repo == "" || s.Type != SourceGit:
	case at == nil || at.Scheme == "ssh" || !strings.Contains(s.Repo, "://"):
		o.meaningless("a repository accessed over SSH", "remove it, or write an address that begins with https://", webKeys...)
	case at.Scheme == "file":
		o.meaningless("a repository on this machine", "remove it", slices.Concat([]string{"username"}, webKeys, shellKeys)...)
	default:
		o.meaningless("a repository accessed over "+strings.ToUpper(at.Scheme), "remove it, or write an address that begins with ssh://", shellKeys...)
		if token != "" && isPlain(s.Repo) {
			o.r.report(RuleExposed, o.valueAt("repo"), o.pathTo("repo"), "use https", "%s would send the token over plain HTTP", o.pathTo("repo"))
		}
	}
}

// meaningless reports given keys that have no effect because of another setting.
func (o *object) meaningless(with, hint string, keys ...string) {
	for _, key := range keys {
		if o.has(key) {
			o.r.report(RuleTogether, o.keyAt(key), o.pathTo(key), hint, "%s cannot be used with %s", o.pathTo(key), with)
		}
	}
}

// inside reads a path that must not leave its repository.
func (o *object) inside(key string, to *string) {
	if v, text, ok := o.str(key); ok {
		if !filepath.IsLocal(text) {
			o.r.wrong(v, "a path inside the repository", "write it from the top of the repository, without a slash before it")
			return
		}
		*to = path.Clean(filepath.ToSlash(text))
	}
	o.done(key, "path", tree.OptStr(*to))
}

// repository reads the address of a repository: a URL, or host:path as in SSH. It is
// never quoted in findings, since it may contain credentials.
func (o *object) repository(key string, to *string) {
	v, text, ok := o.str(key)
	if ok && o.r.isRepository(v, text) {
		*to = text
	}
	o.done(key, "string", tree.OptStr(*to))
}

// isRepository checks the address of a repository, and reports one that cannot be used.
func (r *reader) isRepository(v value, text string) bool {
	if !strings.Contains(text, "://") && strings.Contains(text, ":") && !strings.ContainsAny(text, " \t\r\n") {
		return true
	}
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http" && u.Scheme != "ssh" && u.Scheme != "file") || u.Host == "" && u.Scheme != "file" {
		r.report(RuleValue, v.at, v.path, "write it as in https://git.example.org/team/repo.git or git@git.example.org:team/repo.git",
			"%s: want the address of a repository", v.path)
		return false
	}
	_, password := u.User.Password()
	if password || u.User != nil && u.Scheme != "ssh" {
		r.report(RuleExposed, v.at, v.path, "remove everything before the @", "%s contains credentials, which would be logged", v.path)
		return false
	}
	return true
}

// wantBranch returns what a valid name of a branch looks like, "" if s is one.
func wantBranch(s string) string {
	if strings.HasPrefix(s, "-") || strings.ContainsAny(s, " \t\r\n~^:?*[\\") || strings.Contains(s, "..") {
		return "the name of a branch"
	}
	return ""
}
