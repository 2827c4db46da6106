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

// batch is a set of files that are prepared beside their places, then moved
// there one after the other. All names go through an os.Root, which lets none
// out of the directory.
type batch struct {
	dir  string
	root *os.Root
	// moves are the files prepared and not yet in their places.
	mu    sync.Mutex
	moves []move
	// above and below are the directories made, outermost first: those that
	// lead to the root, and those inside it.
	above, below []string
	committed    bool
}

type move struct{ from, to string }

// begin opens the directory, and makes it first if it is missing.
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

// missingDirs returns the directories to make for dir to exist, outermost
// first.
func missingDirs(dir string) ([]string, error) {
	var missing []string
	for p := filepath.Clean(dir); ; p = filepath.Dir(p) {
		info, err := os.Stat(p)
		if err == nil && info.IsDir() {
			slices.Reverse(missing)
			return missing, nil
		}
		if err == nil {
			return nil, &Error{Path: dir, Err: fmt.Errorf("%q is a file, not a directory", p), Hint: "choose another place with --output"}
		}
		if link, e := os.Lstat(p); e == nil && link.Mode()&fs.ModeSymlink != 0 {
			return nil, &Error{Path: dir, Err: fmt.Errorf("%q is a link that leads nowhere", p), Hint: "remove the link, or make what it leads to"}
		}
		unknown := !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR)
		if unknown || p == filepath.Dir(p) {
			return nil, &Error{Path: dir, Err: err}
		}
		missing = append(missing, p)
	}
}

// check makes the directory of a file, and looks whether the file can be put
// in its place: there is nothing, or a file, or a link, which is replaced like
// a file; what it leads to is not touched.
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
		return b.wrong(name, "it is a directory, not a file")
	case !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0:
		return b.wrong(name, "it is a device or a pipe, not a file")
	}
	return nil
}

// prepare has the content of a file written beside the place it is for, unless it
// is there already. It may be called for several files at once, and calls write
// once or twice.
func (b *batch) prepare(name string, write func(io.Writer) error) error {
	mode, same, err := b.compare(name, write)
	if same || err != nil {
		return err
	}
	// The name begins with a dot, so that nobody takes what a killed process
	// leaves for a file of the catalog.
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

// compare reports whether the file is there with the same content, and returns
// the permissions to keep if it is to be replaced, zero for the usual ones.
func (b *batch) compare(name string, write func(io.Writer) error) (mode fs.FileMode, same bool, err error) {
	info, err := b.root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return 0, false, nil
	}
	// One that cannot be read is replaced.
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

// comparison is a writer that compares what is written to it with what a file
// has.
type comparison struct {
	left *bufio.Reader
	buf  []byte
}

// errDiffers ends a comparison.
var errDiffers = errors.New("content differs")

// Write compares p with what comes next.
func (c *comparison) Write(p []byte) (int, error) {
	c.buf = slices.Grow(c.buf[:0], len(p))[:len(p)]
	if _, err := io.ReadFull(c.left, c.buf); err != nil || !bytes.Equal(c.buf, p) {
		return 0, errDiffers
	}
	return len(p), nil
}

// mkdir makes a directory below the root if it is missing.
func (b *batch) mkdir(name string) error {
	if name == "." {
		return nil
	}
	info, err := b.root.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return b.wrong(name, "it is a file, not a directory")
	case !errors.Is(err, fs.ErrNotExist):
		return b.errorf(name, err)
	}
	if err := b.root.Mkdir(name, 0o755); err != nil {
		return b.errorf(name, err)
	}
	b.below = append(b.below, name)
	return nil
}

// commit moves all files to their places. From here on a failure leaves those
// that were moved before it.
func (b *batch) commit() error {
	all := len(b.moves)
	slices.SortFunc(b.moves, func(x, y move) int { return strings.Compare(x.to, y.to) })
	dirs := map[string]bool{}
	for len(b.moves) > 0 {
		m := b.moves[0]
		if err := b.root.Rename(m.from, m.to); err != nil {
			hint := ""
			if done := all - len(b.moves); done > 0 {
				hint = fmt.Sprintf("%d of %d files were written before it; write again when the cause is gone", done, all)
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

// syncDir asks for the new names to be kept through a loss of power. Not every
// system can do it, and the files are complete without.
func (b *batch) syncDir(name string) {
	d, err := b.root.Open(name)
	if err != nil {
		return
	}
	_ = d.Sync()
	_ = d.Close()
}

// end closes the batch. What was not committed is cleared away: files that
// were prepared, and directories made for them.
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

// removeAll removes directories that are empty, innermost first.
func removeAll(dirs []string, remove func(string) error) {
	for _, d := range slices.Backward(dirs) {
		_ = remove(d)
	}
}

func (b *batch) path(name string) string { return filepath.Join(b.dir, filepath.FromSlash(name)) }

func (b *batch) errorf(name string, err error) error { return &Error{Path: b.path(name), Err: err} }

func (b *batch) wrong(name, why string) error {
	return &Error{Path: b.path(name), Err: errors.New(why), Hint: "move it away, or choose another place with --output"}
}
