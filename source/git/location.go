package git

import (
	"net/url"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"example.dev/ingestor/internal/git/remote"
	"example.dev/ingestor/xrd"
)

// pages are where hosts show a file, by a part of the host's name; the first
// that fits counts, and the last fits all. {kind} is branch, tag or commit, and
// {version} is GB, GT or GC. Others are told by Options.Web.
var pages = []struct{ host, page string }{
	{"gitlab", "/-/blob/{ref}/{path}"},
	{"bitbucket.org", "/src/{ref}/{path}"},
	{"codeberg.org", "/src/{kind}/{ref}/{path}"},
	{"gitea", "/src/{kind}/{ref}/{path}"},
	{"forgejo", "/src/{kind}/{ref}/{path}"},
	{"dev.azure.com", "?path=/{path}&version={version}{ref}"},
	{"visualstudio.com", "?path=/{path}&version={version}{ref}"},
	{"", "/blob/{ref}/{path}"},
}

// origin says where the objects of a file come from.
func (s *Source) origin(t target, path string) xrd.Origin {
	return xrd.Origin{Source: xrd.SourceGit, File: readablePath(path), Location: "url:" + s.page(t, path)}
}

// page returns the address at which people and portals find a file. It names
// the branch or tag rather than the commit, so that it stays when they move. A
// repository read over SSH is taken to have its pages at the same host over
// HTTPS, because no portal reads SSH.
func (s *Source) page(t target, path string) string {
	fill := strings.NewReplacer("{ref}", escape(t.name), "{path}", escape(path),
		"{kind}", t.kind, "{version}", "G"+strings.ToUpper(t.kind[:1]))
	if s.opts.Web != "" {
		return fill.Replace(s.opts.Web)
	}
	if s.at.URL == nil {
		dir := strings.TrimPrefix(filepath.ToSlash(s.at.Dir), "/")
		return "file:///" + escape(strings.TrimSuffix(dir, "/")+"/"+path)
	}
	u, host := *s.at.URL, s.at.URL.Hostname()
	if u.Scheme == remote.Shell {
		u.Scheme, u.Host, u.Path = "https", strings.TrimSuffix(u.Host, ":"+u.Port()), strings.Trim(u.Path, "/")
	}
	base := strings.TrimSuffix(u.String(), ".git")
	for _, p := range pages {
		if strings.Contains(strings.ToLower(host), p.host) {
			return base + fill.Replace(p.page)
		}
	}
	return base
}

// escape escapes each part of a path for a URL.
func escape(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}

// readablePath replaces what is not UTF-8, as Git lets paths be any bytes.
func readablePath(path string) string {
	return strings.ToValidUTF8(path, string(utf8.RuneError))
}
