package publish

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"example.dev/ingestor/action"
)

const (
	// maxFiles and maxBytes limit what one step publishes.
	maxFiles = 10_000
	maxBytes = 64 << 20
)

// files reads the files below a folder of the workspace. It skips .git folders,
// and reads a link as its target, which must be in the workspace.
func files(w *action.Workspace, folder string) (map[string][]byte, error) {
	folder = strings.TrimSuffix(folder, "/")
	if folder == "" {
		folder = "."
	}
	at := path.Clean(filepath.ToSlash(folder))
	if !filepath.IsLocal(at) {
		return nil, action.Errorf("write a path in the workspace, without ..", "source path %q is outside the workspace", folder)
	}
	all := map[string][]byte{}
	if w == nil {
		return all, nil
	}
	room := int64(maxBytes)
	err := fs.WalkDir(w.FS(), at, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return unread(name, err)
		case e.IsDir() && e.Name() == ".git":
			return fs.SkipDir
		case e.IsDir():
			return nil
		}
		data, err := content(w.FS(), name, room)
		if err != nil {
			return err
		}
		if room -= int64(len(data)); room < 0 || len(all) >= maxFiles {
			return action.Errorf("publish fewer files, or use several steps", "source path %q has more than %d files or %d MiB", folder, maxFiles, maxBytes>>20)
		}
		to := strings.TrimPrefix(name, at+"/")
		if name == at {
			to = path.Base(at)
		}
		all[to] = data
		return nil
	})
	return all, err
}

// content reads a file, at most room+1 bytes.
func content(from fs.FS, name string, room int64) ([]byte, error) {
	f, err := from.Open(name)
	if err != nil {
		return nil, unread(name, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, unread(name, err)
	}
	if !info.Mode().IsRegular() {
		return nil, action.Errorf("remove it, or set another source path", "cannot publish %q: not a regular file", name)
	}
	data, err := io.ReadAll(io.LimitReader(f, room+1))
	if err != nil {
		return nil, unread(name, err)
	}
	return data, nil
}

// unread returns a read error without the path of the workspace.
func unread(name string, err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return action.Errorf("check the source path, and that no link leads out of the workspace", "cannot read %q of the workspace: %w", name, err)
}
