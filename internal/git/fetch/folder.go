package fetch

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"example.dev/ingestor/action"
	"example.dev/ingestor/action/files"
)

// beside opens files next to a Template on this machine, and nowhere else. The path
// of the Template is in no message: users who run tasks need not know it.
func (f *Fetcher) beside(template, address string) (*files.Tree, error) {
	at := path.Clean(filepath.ToSlash(address))
	if !filepath.IsLocal(at) {
		return nil, action.Errorf("put it in the folder of the Template, or below", "cannot fetch %q: path escapes the folder of the Template", address)
	}
	folder, err := f.open(filepath.Dir(filepath.Clean(template)))
	if err != nil {
		if p, ok := errors.AsType[*fs.PathError](err); ok {
			err = p.Err
		}
		return nil, action.Errorf("register the Template from a repository, or have its folder added to the configuration",
			"cannot fetch %q relative to the Template: %w", address, err)
	}
	return &files.Tree{Files: folder.FS(), Path: at, Shown: address, Close: folder.Close}, nil
}

var errFolder = errors.New("folder of the Template is not allowed")

// open opens a folder that is, or is inside, one of those that may be read, also
// after resolving symbolic links.
func (f *Fetcher) open(dir string) (*os.Root, error) {
	if !filepath.IsAbs(dir) {
		return nil, errFolder
	}
	for _, top := range f.opts.Folders {
		top, err := filepath.Abs(top)
		if err != nil {
			return nil, err
		}
		in, err := filepath.Rel(top, dir)
		if err != nil || !filepath.IsLocal(in) {
			continue
		}
		root, err := os.OpenRoot(top)
		if err != nil {
			return nil, err
		}
		defer root.Close() //nolint:errcheck // it was only read
		return root.OpenRoot(in)
	}
	return nil, errFolder
}
