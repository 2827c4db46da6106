package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Error is returned for a path that cannot be read.
type Error struct {
	// Path is the given path, or one found below it.
	Path string
	Err  error
	// Hint says how to solve the problem; empty if there is no hint.
	Hint string
}

// Error returns the message. It contains the path only once, although the operating
// system's error contains it too.
func (e *Error) Error() string {
	why := e.Err
	if p, ok := errors.AsType[*fs.PathError](why); ok {
		why = p.Err
	}
	return fmt.Sprintf("cannot read %q: %v", e.Path, why)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// newError returns an Error with the hint for err.
func newError(path string, err error) *Error {
	e := &Error{Path: path, Err: err}
	switch {
	case errors.Is(err, errNoMatch):
		e.Hint = "check the spelling, and quote the pattern so that the shell does not expand it; ** matches any number of folders"
	case errors.Is(err, fs.ErrNotExist) && isLink(path):
		e.Err = dangling{}
		e.Hint = "remove the link, or create its target"
	case errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(path, "*?["):
		e.Hint = "name a directory to read all files in it; the shell found no match for the pattern"
	case errors.Is(err, fs.ErrNotExist):
		e.Hint = "check the spelling; " + whence(path)
	case errors.Is(err, fs.ErrPermission):
		e.Hint = "grant read permission, for example with chmod u+r"
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			e.Hint = "grant read permission, for example with chmod u+rx"
		}
	}
	return e
}

// dangling is the error for a link whose target does not exist.
type dangling struct{}

const leadsNowhere = "broken link: target does not exist"

// Error returns the message.
func (dangling) Error() string { return leadsNowhere }

// Unwrap returns fs.ErrNotExist.
func (dangling) Unwrap() error { return fs.ErrNotExist }

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

func whence(path string) string {
	if filepath.IsAbs(path) {
		return "the path is absolute"
	}
	return "the path is relative to the working directory"
}
