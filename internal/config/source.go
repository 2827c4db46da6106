package config

import (
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"example.dev/ingestor/tree"
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
	// Path is a file or folder: of the machine, or inside the repository, of
	// which empty is all.
	Path string
	// Repo is the address of a repository, and Branch the one that is read;
	// empty means the repository's own default.
	Repo, Branch string
}

// sources reads a list of sources.
func (o *object) sources(key string, to *[]Source) {
	seen := map[string]place{}
	o.list(key, func(o *object) {
		s := Source{}
		o.name(&s.Name, seen)
		o.require("type", "write type: "+SourceFile+" or type: "+SourceGit)
		o.choice("type", &s.Type, SourceFile, SourceGit)
		if s.Type == SourceGit {
			o.inside("path", &s.Path)
		} else {
			o.filePath("path", &s.Path)
		}
		o.repository("repo", &s.Repo)
		o.text("branch", &s.Branch, wantBranch)
		switch s.Type {
		case SourceGit:
			o.require("repo", "write the address of the repository")
		case SourceFile:
			o.require("path", "write the path of a file or folder")
			for _, key := range []string{"repo", "branch"} {
				if o.has(key) {
					o.r.report(RuleTogether, o.keyAt(key), o.pathTo(key), "write type: "+SourceGit+", or remove it", "%s has no meaning with type %s", o.pathTo(key), SourceFile)
				}
			}
		}
		*to = append(*to, s)
	})
}

// inside reads a path that does not leave the repository it is in.
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

// repository reads the address of a repository: a URL, or host:path as SSH has
// it. Nothing of it is shown, for it may hold credentials.
func (o *object) repository(key string, to *string) {
	v, text, ok := o.str(key)
	if ok && o.r.isRepository(v, text) {
		*to = text
	}
	o.done(key, "string", tree.OptStr(*to))
}

// isRepository reports an address that cannot be used.
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
		r.report(RuleExposed, v.at, v.path, "remove what stands before the @", "%s has credentials in it, where they end in logs", v.path)
		return false
	}
	return true
}

// wantBranch says what is wanted of the name of a branch.
func wantBranch(s string) string {
	if strings.HasPrefix(s, "-") || strings.ContainsAny(s, " \t\r\n~^:?*[\\") || strings.Contains(s, "..") {
		return "the name of a branch"
	}
	return ""
}
