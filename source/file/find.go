package file

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.dev/ingestor/source"
)

// find lists the files to read, in the order of their paths.
func (s *Source) find(ctx context.Context) *finder {
	f := &finder{ctx: ctx, opts: s.opts, infos: map[string]stamp{}, seen: visited{}}
	paths := slices.Clone(s.paths)
	slices.Sort(paths)
	for _, p := range slices.Compact(paths) {
		f.named(p)
	}
	// Links come last, so that a file that is reachable with and without them has its
	// own path.
	for len(f.links) > 0 {
		l := f.links[0]
		f.links = f.links[1:]
		f.follow(l)
	}
	slices.Sort(f.files)
	// The list is large, and the caller keeps the finder's paths for a while.
	f.seen = nil
	return f
}

// finder collects the files to read.
type finder struct {
	ctx   context.Context
	opts  Options
	files []string
	// infos are the stamps of the files, and dirs the directories whose entries were
	// read.
	infos map[string]stamp
	dirs  []string
	errs  []error
	links []link
	seen  visited
	// met counts everything that was found or reported.
	met int
}

// link is a link to follow. A link that is named explicitly may lead to anything.
type link struct {
	path  string
	named bool
}

func (f *finder) skip(path, why string) {
	f.met++
	if f.opts.Skipped != nil {
		f.opts.Skipped(path, why)
	}
}

func (f *finder) fail(path string, err error) {
	f.met++
	f.errs = append(f.errs, newError(path, err))
}

// named takes a path that was named explicitly.
func (f *finder) named(given string) {
	path := filepath.ToSlash(given)
	switch {
	case path == "":
		f.errs = append(f.errs, &Error{Err: errors.New("the path is empty"), Hint: `use "." for the working directory`})
		return
	case path == Stdin && f.opts.Stdin == nil:
		f.fail(StdinName, errors.New("no standard input"))
		return
	case path == Stdin:
		f.files = append(f.files, StdinName)
		return
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && f.opts.Patterns && source.IsPattern(path):
		f.pattern(path)
	case err != nil:
		f.fail(path, err)
	case info.Mode()&fs.ModeSymlink != 0:
		f.links = append(f.links, link{path: path, named: true})
	default:
		f.take(path, info)
	}
}

func (f *finder) follow(l link) {
	info, err := os.Stat(l.path)
	switch {
	case err != nil && !l.named && f.opts.WorkTree != "":
		f.skip(l.path, leadsNowhere)
	case err != nil && (l.named || readable(l.path)):
		f.fail(l.path, err)
	case err != nil:
		f.skip(l.path, leadsNowhere)
	case l.named:
		f.take(l.path, info)
	case f.leadsOut(l.path):
		f.skip(l.path, "link target is outside "+f.opts.Within)
	case f.leavesTree(l.path):
		f.skip(l.path, "link target is not a relative path inside the work tree")
	case info.IsDir():
		f.below(l.path, info)
	case readable(l.path):
		f.inside(l.path, info)
	}
}

// leadsOut reports whether a link leads out of Options.Within.
func (f *finder) leadsOut(link string) bool {
	if f.opts.Within == "" {
		return false
	}
	folder, err := filepath.EvalSymlinks(f.opts.Within)
	if err != nil {
		return true
	}
	end, err := filepath.EvalSymlinks(link)
	if err != nil {
		return true
	}
	below, err := filepath.Rel(folder, end)
	return err != nil || !filepath.IsLocal(below)
}

// leavesTree reports whether a link leads to what a commit of Options.WorkTree does not
// have: out of the work tree, into .git, or over an absolute path.
func (f *finder) leavesTree(link string) bool {
	if f.opts.WorkTree == "" {
		return false
	}
	tree, err := resolved(f.opts.WorkTree)
	if err != nil {
		return true
	}
	below := func(path string) (string, error) {
		end, err := resolved(path)
		if err != nil {
			return "", err
		}
		return filepath.Rel(tree, end)
	}
	end, err := below(link)
	isGit := func(step string) bool { return strings.EqualFold(step, ".git") }
	if err != nil || slices.ContainsFunc(strings.Split(filepath.ToSlash(end), "/"), isGit) {
		return true
	}
	dir, err := below(filepath.Dir(link))
	if err != nil {
		return true
	}
	root, err := os.OpenRoot(tree)
	if err != nil {
		return true
	}
	defer func() { _ = root.Close() }()
	// A Root follows neither absolute links nor those that leave it.
	_, err = root.Stat(filepath.Join(dir, filepath.Base(link)))
	return err != nil
}

// resolved returns an absolute path without links.
func resolved(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// take takes what was named explicitly: a file of any name and type, or a directory.
func (f *finder) take(path string, info fs.FileInfo) {
	if info.Mode()&fs.ModeSocket != 0 {
		f.fail(path, errors.New("is a socket, not a regular file"))
		return
	}
	if !info.IsDir() {
		f.add(path, info)
		return
	}
	if !f.seen.first(info) {
		return
	}
	before := f.met
	deeper := f.directory(path)
	if f.met > before || f.ctx.Err() != nil {
		return
	}
	why := "no .yaml, .yml or .json file"
	if deeper && !f.opts.Recursive {
		why += "; use --recursive to search subfolders"
	}
	f.skip(path, why)
}

// directory takes the files inside path, and reports whether there are
// subdirectories.
func (f *finder) directory(path string) (deeper bool) {
	if f.ctx.Err() != nil {
		return false
	}
	f.dirs = append(f.dirs, path)
	// Entries that ReadDir listed before it failed are still read.
	entries, err := os.ReadDir(path)
	if err != nil {
		f.fail(path, err)
	}
	prefix := strings.TrimRight(path, "/") + "/"
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		deeper = f.entry(prefix+e.Name(), e) || deeper
	}
	return deeper
}

// entry takes one entry of a directory, and reports whether it is a directory.
func (f *finder) entry(path string, e fs.DirEntry) (deeper bool) {
	if e.Type()&fs.ModeSymlink != 0 {
		f.link(path)
		return false
	}
	if !e.IsDir() && !readable(path) {
		return false
	}
	info, err := e.Info()
	if errors.Is(err, fs.ErrNotExist) {
		// It was removed after the directory was listed.
		return false
	}
	if err != nil {
		f.fail(path, err)
		return false
	}
	if info.IsDir() {
		f.below(path, info)
		return true
	}
	f.inside(path, info)
	return false
}

// link takes a link inside a directory, if it is relevant.
func (f *finder) link(path string) {
	if f.opts.FollowSymlinks || f.opts.WorkTree != "" {
		f.met++
		f.links = append(f.links, link{path: path})
		return
	}
	if !readable(path) {
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() || !f.opts.Recursive {
			return
		}
	}
	f.skip(path, "is a link; use --follow-symlinks to read it")
}

func (f *finder) below(path string, info fs.FileInfo) {
	if f.opts.Recursive && f.seen.first(info) {
		f.directory(path)
	}
}

func (f *finder) inside(path string, info fs.FileInfo) {
	if !info.Mode().IsRegular() {
		f.skip(path, "is "+sort(info.Mode())+", not a regular file")
		return
	}
	f.add(path, info)
}

func (f *finder) add(path string, info fs.FileInfo) {
	f.met++
	if f.seen.first(info) {
		f.files = append(f.files, path)
		f.infos[path] = stampOf(info)
	}
}

// readable reports whether a name in a directory is one to read.
func readable(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

func sort(m fs.FileMode) string {
	switch {
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "of unknown type"
}

// visited records files and directories. Only those with the same size and time can
// be identical, which keeps the comparison short.
type visited map[sizeAndTime][]fs.FileInfo

type sizeAndTime struct{ size, time int64 }

// first reports whether info occurs for the first time.
func (v visited) first(info fs.FileInfo) bool {
	key := sizeAndTime{info.Size(), info.ModTime().UnixNano()}
	for _, other := range v[key] {
		if os.SameFile(info, other) {
			return false
		}
	}
	v[key] = append(v[key], info)
	return true
}
