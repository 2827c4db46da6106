// Package lock is mutual exclusion between processes: a lock on a file that the
// operating system keeps for a process and releases when the process ends,
// however it ends. The file stays, and says who has the lock.
package lock

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// File is a lock that this process has.
type File struct{ f *os.File }

// Held is a lock that another process has, or another part of this one.
type Held struct {
	// Path is the lock's file.
	Path string
	// PID and Host name the process; zero and "" if the file does not say.
	PID  int
	Host string
}

// Error names the process.
func (h *Held) Error() string {
	return fmt.Sprintf("cannot lock %s: %s has the lock", h.Path, h.Holder())
}

// Holder is the process in words, as in "process 12 on host a".
func (h *Held) Holder() string {
	switch {
	case h.PID == 0:
		return "another process"
	case h.Host == "":
		return fmt.Sprintf("process %d", h.PID)
	}
	return fmt.Sprintf("process %d on host %s", h.PID, h.Host)
}

// errHeld is what the operating system says of a lock that somebody has.
var errHeld = errors.New("held")

// Acquire acquires the lock of the file at path, which it makes with these
// permissions if it is missing. It does not wait: the error is a *Held if another
// process has the lock. Whoever gets the lock calls Release.
func Acquire(path string, mode os.FileMode) (*File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, mode)
	if err != nil {
		return nil, err
	}
	if err := acquire(f); err != nil {
		defer func() { _ = f.Close() }() // Nothing was written.
		if errors.Is(err, errHeld) {
			return nil, holder(f, path)
		}
		return nil, &os.PathError{Op: "lock", Path: path, Err: err}
	}
	l := &File{f: f}
	if err := l.sign(); err != nil {
		return nil, errors.Join(err, l.Release())
	}
	return l, nil
}

// sign writes down who has the lock.
func (l *File) sign() error {
	if err := l.f.Truncate(0); err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "" // It is only for people.
	}
	_, err = l.f.WriteAt([]byte(fmt.Sprintf("%d %s\n", os.Getpid(), host)), 0)
	return err
}

// Stat describes the file, whose time of change is when the lock was acquired, by
// the clock of the file system.
func (l *File) Stat() (os.FileInfo, error) { return l.f.Stat() }

// Release releases the lock.
func (l *File) Release() error { return l.f.Close() }

// holder reads who has the lock.
func holder(f *os.File, path string) *Held {
	const most = 512
	h := &Held{Path: path}
	text, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return h // Who it is is only for people.
	}
	pid, host, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	if n, err := strconv.Atoi(pid); err == nil && n > 0 {
		h.PID, h.Host = n, host
	}
	return h
}
