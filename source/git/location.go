package git

import (
	"net/url"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"example.dev/ingestor/internal/git/remote"
	"example.dev/ingestor/xrd"
)

// pages are the URLs of file pages, by a part of the host's name; the first match is
// used, and the last matches every host. {kind} is branch, tag or commit, and
// {version} is GB, GT or GC. Options.Web sets others.
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

// origin returns the origin of the objects of a file.
func (s *Source) origin(t target, path string) xrd.Origin {
	return xrd.Origin{Source: xrd.SourceGit, File: readablePath(path), Location: "url:" + s.page(t, path)}
}

// page returns the URL at which users and portals find a file. It names the branch or
// tag rather than the commit, so that it stays valid when they move. A repository
// read over SSH is assumed to have its pages on the same host over HTTPS, because no
// portal reads SSH.
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

// escape escapes each segment of a path for a URL.
func escape(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}

// readablePath replaces invalid UTF-8, since paths in Git can be any bytes.
func readablePath(path string) string {
	return strings.ToValidUTF8(path, string(utf8.RuneError))
}
