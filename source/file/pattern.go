package file

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"example.dev/ingestor/source"
)

// errNoMatch is the error for a pattern without matches.
var errNoMatch = errors.New("no file matches the pattern")

// pattern takes what matches a pattern.
func (f *finder) pattern(given string) {
	p, err := source.ParsePattern(given)
	if err != nil {
		f.fail(given, err)
		return
	}
	m := &matcher{finder: f, Pattern: p, bounded: !strings.Contains(given, "**")}
	folder := p.Folder()
	before := f.met
	m.look(folder)
	if f.met == before && f.ctx.Err() == nil {
		f.fail(given, errNoMatch)
	}
}

// matcher searches for matches of a pattern.
type matcher struct {
	*finder
	source.Pattern
	// bounded says that the pattern has a limited depth, so that links cannot lead in
	// circles.
	bounded bool
}

// look examines a directory.
func (m *matcher) look(dir string) {
	if m.ctx.Err() != nil {
		return
	}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// Nothing there can match.
		return
	case err != nil:
		m.fail(dir, err)
	}
	m.dirs = append(m.dirs, dir)
	prefix := strings.TrimRight(dir, "/") + "/"
	if dir == "." {
		prefix = ""
	}
	for _, e := range entries {
		m.entry(prefix+e.Name(), e)
	}
}

// entry takes one entry of a directory.
func (m *matcher) entry(path string, e fs.DirEntry) {
	chosen := m.Match(path)
	if !chosen && !m.Within(path) {
		return
	}
	info, err := e.Info()
	if err == nil && info.Mode()&fs.ModeSymlink != 0 && (chosen || m.bounded) {
		info, err = os.Stat(path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// It was removed, or is a dangling link.
	case err != nil:
		m.fail(path, err)
	case info.IsDir() && chosen && m.bounded:
		m.take(path, info)
	case info.IsDir() && m.Within(path):
		m.look(path)
	case !chosen || info.IsDir() || m.AnyName() && !readable(path):
	default:
		m.inside(path, info)
	}
}
