package config

import (
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/config/input"
	"example.dev/ingestor/internal/config/keys"
	"example.dev/ingestor/internal/config/rule"
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

// readSources reads a list of sources.
func readSources(m *keys.Map, key string, to *[]Source, use func(name string) bool) {
	seen := map[string]input.Place{}
	m.List(key, func(m *keys.Map) {
		s := Source{Recursive: true}
		readName(m, &s.Name, seen)
		m.Lenient(s.Name != "" && use != nil && !use(s.Name))
		m.Require("type", "write type: "+SourceFile+" or type: "+SourceGit)
		m.Choice("type", &s.Type, SourceFile, SourceGit)
		if s.Type == SourceGit {
			readInside(m, "path", &s.Path)
		} else {
			m.FilePath("path", &s.Path)
		}
		readRepository(m, "repo", &s.Repo)
		m.Text("branch", &s.Branch, wantBranch)
		m.Flag("recursive", &s.Recursive)
		s.auth(m)
		switch s.Type {
		case SourceGit:
			m.Require("repo", "write the address of the repository")
			m.Meaningless("type "+SourceGit+", which reads all folders below", "remove it", "recursive")
			m.Out.Delete("recursive")
		case SourceFile:
			m.Require("path", "write the path of a file or folder")
			m.Meaningless("type "+SourceFile, "write type: "+SourceGit+", or remove it", append([]string{"repo", "branch", "username"}, slices.Concat(webKeys, shellKeys)...)...)
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
func (s *Source) auth(m *keys.Map) {
	m.Text("username", &s.Username, nil)
	m.Secret("token", &s.Token)
	m.FilePath("tokenFile", &s.TokenFile)
	m.FilePath("sshKeyFile", &s.SSHKeyFile)
	m.FilePath("knownHostsFile", &s.KnownHostsFile)
	m.FilePath("caFile", &s.CAFile)
	token := m.OneOf("token", "tokenFile")
	switch at, _ := url.Parse(s.Repo); {
	case s.Repo == "" || s.Type != SourceGit:
	case at == nil || at.Scheme == "ssh" || !strings.Contains(s.Repo, "://"):
		m.Meaningless("a repository accessed over SSH", "remove it, or write an address that begins with https://", webKeys...)
	case at.Scheme == "file":
		m.Meaningless("a repository on this machine", "remove it", slices.Concat([]string{"username"}, webKeys, shellKeys)...)
	default:
		m.Meaningless("a repository accessed over "+strings.ToUpper(at.Scheme), "remove it, or write an address that begins with ssh://", shellKeys...)
		if token != "" && keys.IsPlain(s.Repo) {
			m.ReportValue(rule.Exposed, "repo", "use https", "%s would send the token over plain HTTP", m.PathTo("repo"))
		}
	}
}

// readInside reads a path that must not leave its repository.
func readInside(m *keys.Map, key string, to *string) {
	if v, text, ok := m.Str(key); ok {
		if !filepath.IsLocal(text) {
			v.Wrong("a path inside the repository", "write it from the top of the repository, without a slash before it")
			return
		}
		*to = path.Clean(filepath.ToSlash(text))
	}
	m.Done(key, "path", tree.OptStr(*to))
}

// readRepository reads the address of a repository: a URL, or host:path as in SSH. It is
// never quoted in findings, since it may contain credentials.
func readRepository(m *keys.Map, key string, to *string) {
	v, text, ok := m.Str(key)
	if ok && isRepository(v, text) {
		*to = text
	}
	m.Done(key, "string", tree.OptStr(*to))
}

// isRepository checks the address of a repository, and reports one that cannot be used.
func isRepository(v input.Value, text string) bool {
	if !strings.Contains(text, "://") && strings.Contains(text, ":") && !strings.ContainsAny(text, " \t\r\n") {
		return true
	}
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http" && u.Scheme != "ssh" && u.Scheme != "file") || u.Host == "" && u.Scheme != "file" {
		v.Report(rule.Value, "write it as in https://git.example.org/team/repo.git or git@git.example.org:team/repo.git",
			"%s: want the address of a repository", v.Path)
		return false
	}
	_, password := u.User.Password()
	if password || u.User != nil && u.Scheme != "ssh" {
		v.Report(rule.Exposed, "remove everything before the @", "%s contains credentials, which would be logged", v.Path)
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
