package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"
)

// checkEvery is how often to check whether the open file is still the one at the
// path.
const checkEvery = time.Second

// OpenError is returned for an audit log that cannot be opened.
type OpenError struct {
	Path string
	Err  error
	// Hint says how to solve the problem.
	Hint string
}

// Error returns the message without the hint.
func (e *OpenError) Error() string { return fmt.Sprintf("cannot open audit log %s: %v", e.Path, e.Err) }

// Unwrap returns the cause.
func (e *OpenError) Unwrap() error { return e.Err }

// output is where lines are written: a stream, or a file that may be rotated.
type output struct {
	mu sync.Mutex
	to io.Writer

	// file and path are those of a file; nil and empty for a stream.
	file *os.File
	path string
	// checked is when the path was last checked.
	checked time.Time
	// torn says that the last line was written only in part.
	torn bool
	// lost is how many lines have failed since the last successful write.
	lost int
}

// failure is a failed write.
type failure struct {
	err error
	// first says that the write before it succeeded.
	first bool
}

// openFile opens the log at a path.
func openFile(path string, now time.Time) (*output, error) {
	o := &output{path: path, checked: now}
	if err := o.reopen(); err != nil {
		return nil, err
	}
	return o, nil
}

// reopen opens the file at the path, and then closes the previous one.
func (o *output) reopen() error {
	fail := func(hint string, err error) error {
		if p, ok := errors.AsType[*fs.PathError](err); ok {
			err = p.Err
		}
		return &OpenError{Path: o.path, Err: err, Hint: hint}
	}
	// Opening a pipe would block until it has a reader.
	if info, err := os.Stat(o.path); err == nil && !info.Mode().IsRegular() {
		return fail("set audit.file to a regular file, or set audit.to: stdout", errors.New("not a regular file"))
	}
	f, err := os.OpenFile(o.path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fail("create the folder, or set audit.file to another path", err)
	case err != nil:
		return fail("make the file writable for this process, or set audit.file to another path", err)
	}
	if o.file != nil {
		_ = o.file.Close() // Each write has returned its error.
	}
	o.file, o.to, o.torn = f, f, endsTorn(f)
	return nil
}

// endsTorn reports whether the last line of a file is incomplete: the process died
// during a write, or the disk was full.
func endsTorn(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false
	}
	last := make([]byte, 1)
	_, err = f.ReadAt(last, info.Size()-1)
	return err == nil && last[0] != '\n'
}

// follow opens the file at the path if it differs from the open one, which log
// rotation has renamed or removed.
func (o *output) follow(now time.Time) error {
	if o.file == nil || now.Sub(o.checked) < checkEvery && !now.Before(o.checked) {
		return nil
	}
	open, err := o.file.Stat()
	if err == nil {
		there, gone := os.Stat(o.path)
		if gone == nil && os.SameFile(open, there) {
			o.checked = now
			return nil
		}
	}
	if err := o.reopen(); err != nil {
		return err
	}
	o.checked = now
	return nil
}

// write writes a line, including its newline, in one call. It returns the failure, or
// how many lines before it were lost.
func (o *output) write(line []byte, now time.Time) (*failure, int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	err := o.follow(now)
	if o.torn {
		line = append([]byte{'\n'}, line...)
	}
	// Write even if the path cannot be opened: a renamed file is still usable.
	n, failed := o.to.Write(line)
	if n > 0 {
		o.torn = n < len(line)
	}
	if err = errors.Join(err, failed); err != nil {
		o.lost++
		return &failure{err, o.lost == 1}, 0
	}
	lost := o.lost
	o.lost = 0
	return nil, lost
}

func (o *output) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.file == nil {
		return nil
	}
	return o.file.Close()
}
