package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"example.dev/ingestor/action"
)

// item is a fetched file.
type item struct {
	// name is its path relative to the requested folder, and real its path in the
	// tree after resolving links.
	name, real string
	executable bool
}

// walker lists the files of a folder, and follows links to files and folders of
// the same tree.
type walker struct {
	actions
	from fs.FS
	call *action.Call
	// met counts visited entries, because links can reach the same folder many
	// times.
	met   int
	items []item
}

// maxLinks is the maximum length of a chain of links.
const maxLinks = 40

var (
	errOut     = errors.New("link leads out of the fetched files")
	errCircles = errors.New("link loop")
	errNowhere = errors.New("broken link: target does not exist")
)

// walk lists the files at a path, by name. If the path is a file, that is the only
// item, with an empty name.
func (a actions) walk(ctx context.Context, c *action.Call, t *Tree) ([]item, error) {
	w := &walker{actions: a, from: t.Files, call: c}
	at, info, err := w.follow(path.Clean(t.Path))
	if err != nil {
		return nil, notFetched(t, t.Path, err)
	}
	if !info.IsDir() {
		return []item{{real: at, executable: runs(info)}}, nil
	}
	if where, err := w.folder(ctx, "", at, nil); err != nil {
		return nil, notFetched(t, where, err)
	}
	return w.items, nil
}

// runs reports whether a file is executable.
func runs(i fs.FileInfo) bool { return i.Mode()&0o111 != 0 }

// folder lists the files of a folder. above are the folders through which it was
// reached. On error it returns the path where the error occurred.
func (w *walker) folder(ctx context.Context, name, at string, above []string) (string, error) {
	if err := ctx.Err(); err != nil {
		return name, context.Cause(ctx)
	}
	if slices.Contains(above, at) {
		return name, errCircles
	}
	above = append(slices.Clip(above), at)
	all, err := fs.ReadDir(w.from, at)
	if err != nil {
		return name, err
	}
	for _, e := range all {
		if e.Name() == ".git" {
			continue
		}
		if w.met++; w.met > w.MaxFiles {
			return name, fmt.Errorf("more than %d files", w.MaxFiles)
		}
		n, r := path.Join(name, e.Name()), path.Join(at, e.Name())
		info, err := e.Info()
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			if r, info, err = w.follow(r); errors.Is(err, fs.ErrNotExist) {
				err = errNowhere
			}
		}
		switch {
		case err != nil:
			return n, err
		case info.IsDir():
			if where, err := w.folder(ctx, n, r, above); err != nil {
				return where, err
			}
		case info.Mode().IsRegular():
			w.items = append(w.items, item{name: n, real: r, executable: runs(info)})
		default:
			w.call.Logf("skipped %s: neither a file nor a folder; a submodule is a separate repository", n)
		}
	}
	return "", nil
}

// follow resolves the links of a path in the tree. .git folders are not
// accessible.
func (w *walker) follow(at string) (string, fs.FileInfo, error) {
	for range maxLinks {
		if !filepath.IsLocal(at) {
			return "", nil, errOut
		}
		info, next, err := w.step(at)
		if err != nil || next == "" {
			return at, info, err
		}
		at = next
	}
	return "", nil, errCircles
}

// step follows a path to its end, or to its first link; next is then the path with
// that link resolved.
func (w *walker) step(at string) (info fs.FileInfo, next string, err error) {
	done := "."
	for part := range strings.SplitSeq(at, "/") {
		here := path.Join(done, part)
		if part == ".git" {
			return nil, "", errOut
		}
		if info, err = fs.Lstat(w.from, here); err != nil {
			return nil, "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			done = here
			continue
		}
		to, err := fs.ReadLink(w.from, here)
		if err != nil {
			return nil, "", err
		}
		if to == "" || path.IsAbs(to) || filepath.IsAbs(to) || strings.ContainsRune(to, 0) {
			return nil, "", errOut
		}
		return nil, path.Join(done, filepath.ToSlash(to), strings.TrimPrefix(at, here)), nil
	}
	return info, "", nil
}

// notFetched returns an error for a file of a tree that cannot be fetched.
func notFetched(t *Tree, name string, err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	hint := "check the URL and its branch"
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, errOut), errors.Is(err, errCircles), errors.Is(err, errNowhere):
		hint = "replace the link by its target"
	case errors.Is(err, fs.ErrNotExist):
		err = errors.New("file or folder does not exist")
	}
	if name == "" || name == "." {
		return action.Errorf(hint, "cannot fetch %q: %w", t.Shown, err)
	}
	return action.Errorf(hint, "cannot fetch %q of %q: %w", name, t.Shown, err)
}

// read reads a file of at most room bytes.
func read(from fs.FS, name string, room int64) ([]byte, error) {
	f, err := from.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fs.ErrInvalid
	}
	data, err := io.ReadAll(io.LimitReader(f, room+1))
	if err == nil && int64(len(data)) > room {
		err = errTooMuch
	}
	return data, err
}

var errTooMuch = errors.New("files exceed the size limit of a step")
