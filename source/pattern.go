package source

import (
	"errors"
	"path"
	"slices"
	"strings"
)

// Pattern chooses paths: in each part of it * stands for any characters, ? for
// one, and [a-z] for one of several; ** stands for any number of folders, none
// included. Names that begin with a dot are chosen only by a part that does. The
// parts of paths are separated by slashes.
type Pattern struct {
	parts []string
}

// IsPattern reports whether a path is meant as a pattern.
func IsPattern(path string) bool { return strings.ContainsAny(path, "*?[") }

// errPattern is a pattern that cannot be read.
var errPattern = errors.New("a bracket is not closed, or nothing follows a backslash")

// ParsePattern reads a pattern.
func ParsePattern(text string) (Pattern, error) {
	parts := strings.Split(path.Clean(text), "/")
	// Any number of folders twice is any number of folders.
	p := Pattern{parts: slices.CompactFunc(parts, func(a, b string) bool { return a == "**" && b == "**" })}
	for _, part := range p.parts {
		if _, err := path.Match(part, ""); err != nil {
			return Pattern{}, errPattern
		}
	}
	return p, nil
}

// Folder returns the folder that holds everything the pattern may choose.
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

// AnyName reports whether the pattern says nothing of how names end, so that
// whoever uses it should.
func (p Pattern) AnyName() bool {
	ext := path.Ext(p.parts[len(p.parts)-1])
	return ext == "" || IsPattern(ext)
}

// Match reports whether the pattern chooses a path.
func (p Pattern) Match(name string) bool {
	return match(p.parts, strings.Split(path.Clean(name), "/"), false)
}

// Within reports whether the pattern may choose something below a folder.
func (p Pattern) Within(folder string) bool {
	if folder = path.Clean(folder); folder == "." {
		return true
	}
	return match(p.parts, strings.Split(strings.TrimSuffix(folder, "/"), "/"), true)
}

// match holds the parts of a pattern against those of a path. A path that is a
// folder may have more below it.
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
