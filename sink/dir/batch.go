package dir

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// batch is a set of files that are prepared as temporary files next to their
// targets, then renamed one after the other. All names go through an os.Root, so
// that none escapes the directory.
type batch struct {
	dir  string
	root *os.Root
	// moves are the prepared files that are not yet renamed.
	mu    sync.Mutex
	moves []move
	// above and below are the directories that the batch created, outermost first:
	// those that lead to the root, and those inside it.
	above, below []string
	committed    bool
}

type move struct{ from, to string }

// begin opens the directory, and creates it if it is missing.
func begin(dir string) (*batch, error) {
	b := &batch{dir: dir}
	missing, err := missingDirs(dir)
	if err != nil {
		return nil, err
	}
	b.above = missing
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.end()
		return nil, &Error{Path: dir, Err: err}
	}
	if b.root, err = os.OpenRoot(dir); err != nil {
		b.end()
		return nil, &Error{Path: dir, Err: err}
	}
	return b, nil
}

// missingDirs returns the directories to create for dir to exist, outermost first.
func missingDirs(dir string) ([]string, error) {
	var missing []string
	for p := filepath.Clean(dir); ; p = filepath.Dir(p) {
		info, err := os.Stat(p)
		if err == nil && info.IsDir() {
			slices.Reverse(missing)
			return missing, nil
		}
		if err == nil {
			return nil, &Error{Path: dir, Err: fmt.Errorf("%q is a file, not a directory", p), Hint: "choose another path with --output"}
		}
		if link, e := os.Lstat(p); e == nil && link.Mode()&fs.ModeSymlink != 0 {
			return nil, &Error{Path: dir, Err: fmt.Errorf("%q is a broken link: target does not exist", p), Hint: "remove the link, or create its target"}
		}
		unknown := !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR)
		if unknown || p == filepath.Dir(p) {
			return nil, &Error{Path: dir, Err: err}
		}
		missing = append(missing, p)
	}
}

// check creates the directory of a file, and checks that the file can be written:
// the target must be absent, a file or a link. A link is replaced like a file; its
// target is not touched.
func (b *batch) check(name string) error {
	if err := b.mkdir(path.Dir(name)); err != nil {
		return err
	}
	info, err := b.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return b.errorf(name, err)
	case info.IsDir():
		return b.wrong(name, "is a directory, not a file")
	case !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0:
		return b.wrong(name, "is a device or a pipe, not a file")
	}
	return nil
}

// prepare writes the content of a file to a temporary file next to its target,
// unless the target already has that content. It may be called concurrently for
// different files, and calls write once or twice.
func (b *batch) prepare(name string, write func(io.Writer) error) error {
	mode, same, err := b.compare(name, write)
	if same || err != nil {
		return err
	}
	// The name begins with a dot, so that a leftover of a killed process is not
	// taken for a file of the catalog.
	tmp := path.Join(path.Dir(name), ".ingestor-"+rand.Text()+".tmp")
	f, err := b.root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return b.errorf(name, err)
	}
	b.mu.Lock()
	b.moves = append(b.moves, move{tmp, name})
	b.mu.Unlock()
	err = write(f)
	if err == nil && mode != 0 {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return b.errorf(name, err)
	}
	return nil
}

// compare reports whether the file exists with the same content, and returns the
// permissions to keep if it is to be replaced, zero for the default.
func (b *batch) compare(name string, write func(io.Writer) error) (mode fs.FileMode, same bool, err error) {
	info, err := b.root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return 0, false, nil
	}
	// A file that cannot be read is replaced.
	f, err := b.root.Open(name)
	if err != nil {
		return info.Mode().Perm(), false, nil
	}
	defer f.Close() //nolint:errcheck // it was only read
	old := &comparison{left: bufio.NewReader(f)}
	switch err := write(old); {
	case errors.Is(err, errDiffers):
		return info.Mode().Perm(), false, nil
	case err != nil:
		return 0, false, b.errorf(name, err)
	}
	_, err = old.left.ReadByte()
	return info.Mode().Perm(), errors.Is(err, io.EOF), nil
}

// comparison is a writer that compares the written bytes with the content of a
// file.
type comparison struct {
	left *bufio.Reader
	buf  []byte
}

// errDiffers stops a comparison.
var errDiffers = errors.New("content differs")

// Write compares p with the next bytes of the file.
func (c *comparison) Write(p []byte) (int, error) {
	c.buf = slices.Grow(c.buf[:0], len(p))[:len(p)]
	if _, err := io.ReadFull(c.left, c.buf); err != nil || !bytes.Equal(c.buf, p) {
		return 0, errDiffers
	}
	return len(p), nil
}

// mkdir creates a directory below the root if it is missing.
func (b *batch) mkdir(name string) error {
	if name == "." {
		return nil
	}
	info, err := b.root.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return b.wrong(name, "is a file, not a directory")
	case !errors.Is(err, fs.ErrNotExist):
		return b.errorf(name, err)
	}
	if err := b.root.Mkdir(name, 0o755); err != nil {
		return b.errorf(name, err)
	}
	b.below = append(b.below, name)
	return nil
}

// commit renames all files to their targets. If it fails, files that were already
// renamed remain.
func (b *batch) commit() error {
	all := len(b.moves)
	slices.SortFunc(b.moves, func(x, y move) int { return strings.Compare(x.to, y.to) })
	dirs := map[string]bool{}
	for len(b.moves) > 0 {
		m := b.moves[0]
		if err := b.root.Rename(m.from, m.to); err != nil {
			hint := ""
			if done := all - len(b.moves); done > 0 {
				hint = fmt.Sprintf("%d of %d files were written before the error; fix the cause and write again", done, all)
			}
			return &Error{Path: b.path(m.to), Err: err, Hint: hint}
		}
		b.committed = true
		b.moves = b.moves[1:]
		dirs[path.Dir(m.to)] = true
	}
	b.committed = true
	for d := range dirs {
		b.syncDir(d)
	}
	return nil
}

// syncDir syncs a directory, so that the new names survive a power loss. Not every
// system supports it, and the files are complete without it.
func (b *batch) syncDir(name string) {
	d, err := b.root.Open(name)
	if err != nil {
		return
	}
	_ = d.Sync()
	_ = d.Close()
}

// end closes the batch. It removes what was not committed: prepared files and the
// directories created for them.
func (b *batch) end() {
	if b.root != nil {
		for _, m := range b.moves {
			_ = b.root.Remove(m.from)
		}
		if !b.committed {
			removeAll(b.below, b.root.Remove)
		}
		_ = b.root.Close()
	}
	if !b.committed {
		removeAll(b.above, os.Remove)
	}
}

// removeAll removes empty directories, innermost first.
func removeAll(dirs []string, remove func(string) error) {
	for _, d := range slices.Backward(dirs) {
		_ = remove(d)
	}
}

func (b *batch) path(name string) string { return filepath.Join(b.dir, filepath.FromSlash(name)) }

func (b *batch) errorf(name string, err error) error { return &Error{Path: b.path(name), Err: err} }

func (b *batch) wrong(name, why string) error {
	return &Error{Path: b.path(name), Err: errors.New(why), Hint: "move it, or choose another path with --output"}
}
