package workspace

import (
	"archive/tar"
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
)

// Limits of a copy: compressed bytes, uncompressed bytes, and files.
const (
	MostBytes = 16 << 20
	mostPlain = 256 << 20
	mostFiles = 50_000
)

// ErrLarge is returned for a folder that is too large to copy.
var ErrLarge = fmt.Errorf("workspace is larger than %d MiB compressed", MostBytes>>20)

// Save returns a copy of the contents of a folder, nil if it is empty.
func Save(dir string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot save workspace: %w", pathless(err))
	}
	defer root.Close() //nolint:errcheck // nothing is lost
	out := &bounded{most: MostBytes}
	deflate, err := flate.NewWriter(out, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	s := &saving{root: root, tar: tar.NewWriter(deflate)}
	err = fs.WalkDir(root.FS(), ".", s.add)
	if err == nil && s.files == 0 {
		return nil, nil
	}
	if err == nil {
		err = errors.Join(s.tar.Close(), deflate.Close())
	}
	if errors.Is(err, ErrLarge) {
		return nil, ErrLarge
	}
	if err != nil {
		return nil, fmt.Errorf("cannot save workspace: %w", err)
	}
	return out.Bytes(), nil
}

// saving is a copy in progress.
type saving struct {
	root  *os.Root
	tar   *tar.Writer
	files int
	bytes int64
}

// add copies a file, folder or symbolic link. Anything else is left out.
func (s *saving) add(name string, d fs.DirEntry, err error) error {
	if err != nil || name == "." {
		return err
	}
	info, err := d.Info()
	if err != nil {
		return err
	}
	if s.files++; s.files > mostFiles {
		return ErrLarge
	}
	switch {
	case d.IsDir():
		return s.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name, Mode: int64(info.Mode().Perm())})
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := s.root.Readlink(name)
		if err != nil {
			return err
		}
		return s.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: to})
	case !info.Mode().IsRegular():
		return nil
	}
	if s.bytes += info.Size(); s.bytes > mostPlain {
		return ErrLarge
	}
	f, err := s.root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	if err := s.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: int64(info.Mode().Perm()), Size: info.Size()}); err != nil {
		return err
	}
	_, err = io.Copy(s.tar, f)
	return err
}

// Restore writes what Save returned into an empty folder.
func Restore(dir string, saved []byte) error {
	if len(saved) == 0 {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("cannot restore workspace: %w", pathless(err))
	}
	defer root.Close() //nolint:errcheck // nothing is lost
	in := tar.NewReader(io.LimitReader(flate.NewReader(bytes.NewReader(saved)), 2*mostPlain))
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = restore(root, h, in)
		}
		if err != nil {
			return fmt.Errorf("cannot restore workspace: %w", err)
		}
	}
}

// Any reports whether is returns true for a name, link target or file content in what
// Save returned, or whether something in it cannot be read.
func Any(saved []byte, is func(string) bool) bool {
	if len(saved) == 0 {
		return false
	}
	in := tar.NewReader(io.LimitReader(flate.NewReader(bytes.NewReader(saved)), 2*mostPlain))
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return false
		}
		if err != nil || is(h.Name) || is(h.Linkname) {
			return true
		}
		data, err := io.ReadAll(in)
		if err != nil || is(string(data)) {
			return true
		}
	}
}

func restore(root *os.Root, h *tar.Header, from io.Reader) error {
	mode := fs.FileMode(h.Mode).Perm()
	switch h.Typeflag {
	case tar.TypeDir:
		return root.MkdirAll(h.Name, mode|0o700)
	case tar.TypeSymlink:
		return root.Symlink(h.Linkname, h.Name)
	case tar.TypeReg:
	default:
		return fmt.Errorf("%q is not a regular file", h.Name)
	}
	if err := root.MkdirAll(path.Dir(h.Name), 0o700); err != nil {
		return err
	}
	f, err := root.OpenFile(h.Name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, mode|0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}

// bounded is a buffer with a size limit.
type bounded struct {
	bytes.Buffer
	most int
}

// Write fails if the limit would be exceeded.
func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.most {
		return 0, ErrLarge
	}
	return b.Buffer.Write(p)
}
