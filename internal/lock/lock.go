// Package lock provides mutual exclusion between processes: a file lock that the
// operating system holds for a process and releases when the process ends, however
// it ends. The file remains, and names the holder of the lock.
package lock

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// File is a lock that this process holds.
type File struct{ f *os.File }

// Held is the error for a lock that another process holds, or another part of this
// one.
type Held struct {
	// Path is the lock's file.
	Path string
	// PID and Host identify the process; zero and "" if the file does not say.
	PID  int
	Host string
}

// Error returns a message with the holder.
func (h *Held) Error() string {
	return fmt.Sprintf("cannot lock %s: %s has the lock", h.Path, h.Holder())
}

// Holder describes the process, as in "process 12 on host a".
func (h *Held) Holder() string {
	switch {
	case h.PID == 0:
		return "another process"
	case h.Host == "":
		return fmt.Sprintf("process %d", h.PID)
	}
	return fmt.Sprintf("process %d on host %s", h.PID, h.Host)
}

// errHeld means that the lock is held by another process.
var errHeld = errors.New("held")

// Acquire acquires the lock of the file at path, and creates the file with these
// permissions if it is missing. It does not wait: the error is a *Held if the lock
// is held. The caller must call Release.
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

// sign writes the process ID and host to the file.
func (l *File) sign() error {
	if err := l.f.Truncate(0); err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "" // It is only informative.
	}
	_, err = l.f.WriteAt([]byte(fmt.Sprintf("%d %s\n", os.Getpid(), host)), 0)
	return err
}

// Stat returns information about the file. Its modification time is when the lock
// was acquired, by the clock of the file system.
func (l *File) Stat() (os.FileInfo, error) { return l.f.Stat() }

// Release releases the lock.
func (l *File) Release() error { return l.f.Close() }

// holder reads who holds the lock.
func holder(f *os.File, path string) *Held {
	const most = 512
	h := &Held{Path: path}
	text, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return h // The holder is only informative.
	}
	pid, host, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	if n, err := strconv.Atoi(pid); err == nil && n > 0 {
		h.PID, h.Host = n, host
	}
	return h
}
