package source

import (
	"errors"
	"path"
	"slices"
	"strings"
)

// Pattern matches paths: in each segment * matches any characters, ? one
// character, and [a-z] one of several; ** matches any number of folders, including
// none. Names with a leading dot are matched only by a segment that starts with a
// dot. Segments are separated by slashes.
type Pattern struct {
	parts []string
}

// IsPattern reports whether a path contains pattern characters.
func IsPattern(path string) bool { return strings.ContainsAny(path, "*?[") }

// errPattern is the error of a malformed pattern.
var errPattern = errors.New("unclosed bracket, or trailing backslash")

// ParsePattern parses a pattern.
func ParsePattern(text string) (Pattern, error) {
	parts := strings.Split(path.Clean(text), "/")
	// Consecutive ** segments are equivalent to one.
	p := Pattern{parts: slices.CompactFunc(parts, func(a, b string) bool { return a == "**" && b == "**" })}
	for _, part := range p.parts {
		if _, err := path.Match(part, ""); err != nil {
			return Pattern{}, errPattern
		}
	}
	return p, nil
}

// Folder returns the folder that contains every path the pattern may match.
func (p Pattern) Folder() string {
	for i, part := range p.parts {
		if IsPattern(part) || i == len(p.parts)-1 {
			if i == 1 && p.parts[0] == "" {
				return "/"
			}
			return path.Clean(strings.Join(p.parts[:i], "/"))
		}
	}
	return "."
}

// AnyName reports whether the pattern does not restrict file extensions, so that
// the caller should.
func (p Pattern) AnyName() bool {
	ext := path.Ext(p.parts[len(p.parts)-1])
	return ext == "" || IsPattern(ext)
}

// Match reports whether the pattern matches a path.
func (p Pattern) Match(name string) bool {
	return match(p.parts, strings.Split(path.Clean(name), "/"), false)
}

// Within reports whether the pattern may match a path below a folder.
func (p Pattern) Within(folder string) bool {
	if folder = path.Clean(folder); folder == "." {
		return true
	}
	return match(p.parts, strings.Split(strings.TrimSuffix(folder, "/"), "/"), true)
}

// match matches the segments of a pattern against those of a path. If folder is
// set, it reports whether the pattern may match something below the path.
func match(parts, names []string, folder bool) bool {
	if len(names) == 0 {
		return folder && len(parts) > 0 || len(parts) == 0
	}
	if len(parts) == 0 {
		return false
	}
	if parts[0] == "**" {
		if len(parts) == 1 {
			parts = []string{"**", "*"}
		}
		return match(parts[1:], names, folder) || !strings.HasPrefix(names[0], ".") && match(parts, names[1:], folder)
	}
	if strings.HasPrefix(names[0], ".") && !strings.HasPrefix(parts[0], ".") {
		return false
	}
	ok, _ := path.Match(parts[0], names[0])
	return ok && match(parts[1:], names[1:], folder)
}
