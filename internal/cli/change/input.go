package change

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/term"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/file"
	"example.dev/ingestor/source/git"
	"example.dev/ingestor/xrd"
)

const (
	stdin = file.Stdin
	// here is the working directory.
	here = "."
)

// inputs reads both sides.
func (s *session) inputs(ctx context.Context) (older, newer *xrd.Set, err error) {
	if s.base != "" {
		return s.sinceBase(ctx)
	}
	var sides [2]side
	workTree := ""
	for i, name := range s.args {
		if sides[i], err = s.locate(name); err != nil {
			return nil, nil, err
		}
		workTree = cmp.Or(workTree, sides[i].base.Root)
	}
	if older, err = s.readSide(ctx, sides[0], workTree); err != nil {
		return nil, nil, err
	}
	newer, err = s.readSide(ctx, sides[1], workTree)
	return older, newer, err
}

// side is OLD or NEW: a path in a commit or, if base is zero, a file or directory.
type side struct {
	base git.Base
	path string
}

// locate parses OLD or NEW. A name with a colon that is not a file is a revision and a path.
func (s *session) locate(name string) (side, error) {
	revision, at, isRevision := strings.Cut(name, ":")
	if _, err := os.Lstat(name); !isRevision || revision == "" || !errors.Is(err, os.ErrNotExist) {
		return side{path: name}, nil
	}
	b, err := git.Resolve(here, revision)
	if err != nil {
		return side{}, s.unread(err)
	}
	return side{b, path.Clean("/" + at)[1:]}, nil
}

// readSide reads OLD or NEW. workTree is that of the repository of the other; empty if that is
// no commit.
func (s *session) readSide(ctx context.Context, at side, workTree string) (*xrd.Set, error) {
	if at.base.Commit != "" {
		return s.commit(ctx, at.base, []string{at.path}, false)
	}
	if workTree != "" {
		if _, err := relative(workTree, at.path); err != nil {
			workTree = ""
		}
	}
	return s.files(ctx, []string{at.path}, workTree)
}

// sinceBase reads the same paths at the base and in the working tree.
func (s *session) sinceBase(ctx context.Context) (older, newer *xrd.Set, err error) {
	b, err := git.MergeBase(ctx, here, s.base)
	if err != nil {
		return nil, nil, s.unread(err)
	}
	s.Reading("commit "+b.Commit, "where the working tree left "+s.base)
	given := s.args
	if len(given) == 0 {
		given, s.recursive = []string{b.Root}, true
	}
	var inside, present []string
	// paths are the paths in the repository of what is present.
	paths := map[string]string{}
	for _, name := range given {
		rel, err := relative(b.Root, name)
		if err != nil {
			return nil, nil, &app.Exit{Code: app.ExitUsage, Err: err, Hint: "pass paths inside of the repository of the working directory"}
		}
		inside = append(inside, rel)
		if _, err := os.Stat(name); err == nil {
			present, paths[name] = append(present, name), rel
		}
	}
	if older, err = s.commit(ctx, b, inside, true); err != nil {
		return nil, nil, err
	}
	if len(present) == 0 && older.Documents == 0 {
		return nil, nil, &app.Exit{Code: app.ExitFailed, Err: errors.New("cannot read " + strings.Join(given, ", ") + ": neither in the working tree nor in " + s.base)}
	}
	newer = &xrd.Set{}
	if len(present) > 0 {
		if newer, err = s.files(ctx, present, b.Root); err != nil {
			return nil, nil, err
		}
	}
	// Files are named by their paths in the repository on both sides. Those of links are the
	// paths of the links.
	rename(newer, func(name string) string {
		for _, of := range present {
			if rest, ok := strings.CutPrefix(name, strings.TrimRight(filepath.ToSlash(of), "/")); ok && (rest == "" || rest[0] == '/') {
				return path.Join(paths[of], rest)
			}
		}
		return name
	})
	return older, newer, nil
}

// rename renames the files of a set.
func rename(set *xrd.Set, to func(string) string) {
	for _, d := range set.Definitions {
		d.Origin.File = to(d.Origin.File)
	}
	for i := range set.Findings {
		set.Findings[i].File = to(set.Findings[i].File)
	}
}

// relative returns the path of a file from the root of the repository, with slashes.
func relative(root, name string) (string, error) {
	name, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	// Either may be reached through links that the other does not have.
	name, root = resolved(name), resolved(root)
	rel, err := filepath.Rel(root, name)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", errors.New("path is outside of the repository: " + term.Safe(name))
	}
	return filepath.ToSlash(rel), nil
}

// resolved returns a path without links. The last element need not exist.
func resolved(name string) string {
	if direct, err := filepath.EvalSymlinks(name); err == nil {
		return direct
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(name)); err == nil {
		return filepath.Join(dir, filepath.Base(name))
	}
	return name
}

// commit reads paths of a commit. Without --recursive, only files directly in them count.
func (s *session) commit(ctx context.Context, b git.Base, paths []string, optional bool) (*xrd.Set, error) {
	from := git.New(b.Root, git.Options{Ref: b.Commit, Paths: paths, Optional: optional, Skipped: s.skipped})
	set, err := s.read(ctx, from)
	if err != nil || s.recursive {
		return set, err
	}
	direct := func(name string) bool {
		return slices.ContainsFunc(paths, func(p string) bool { return p == name || path.Clean(p) == path.Dir(name) })
	}
	set.Definitions = slices.DeleteFunc(set.Definitions, func(d *xrd.Definition) bool { return !direct(d.Origin.File) })
	set.Findings = slices.DeleteFunc(set.Findings, func(f finding.Finding) bool { return !direct(f.File) })
	return set, nil
}

// files reads files and directories. Links in a work tree that is compared with a commit are
// followed as those of the commit are.
func (s *session) files(ctx context.Context, paths []string, workTree string) (*xrd.Set, error) {
	s.ReadingFiles(paths, output.Named)
	return s.read(ctx, file.New(paths, file.Options{
		Recursive: s.recursive, FollowSymlinks: s.followSymlinks, WorkTree: workTree, Stdin: s.Env.Stdin, Skipped: s.skipped,
	}))
}

// read reads a source, and reports what cannot be read.
func (s *session) read(ctx context.Context, from source.Source) (*xrd.Set, error) {
	set, err := from.Read(ctx)
	if err != nil {
		return nil, s.unread(err)
	}
	return set, nil
}

func (s *session) skipped(path, why string) {
	if s.Detailed() {
		s.Sayf("skipped %s: %s", term.Safe(path), why)
	}
}

// unread prints every error, and returns the exit error.
func (s *session) unread(err error) error {
	var files []error
	for _, e := range output.Each(err) {
		repository, ok := errors.AsType[*git.Error](e)
		if !ok {
			files = append(files, e)
			continue
		}
		s.Complain(e, repository.Hint)
	}
	if len(files) == 0 {
		return &app.Exit{Code: app.ExitFailed}
	}
	return s.Unread(errors.Join(files...))
}
