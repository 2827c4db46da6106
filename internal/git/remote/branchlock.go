package remote

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"

	"example.dev/ingestor/internal/lock"
)

const (
	// ownDir is the folder in a repository that records which locks are ours.
	ownDir = "ingestor"
	// guardFile is locked by the operating system while a branch is moved. That lock
	// ends with its process.
	guardFile = "guard.lock"
	// guardWait is how long to wait for the guard, and guardPause the polling interval.
	// Moving a branch takes less than a millisecond.
	guardWait  = time.Second
	guardPause = 5 * time.Millisecond
	// staleAfter is the age at which a lock of a killed process is broken. The guard
	// shows that no process on this machine holds it; the age is for other machines, on
	// a file system that does not share the guard with them.
	staleAfter = 5 * time.Second
)

// busy is the error for a branch that another process is about to move.
type busy struct{ text string }

// Error returns the message.
func (b *busy) Error() string { return b.text }

// IsBusy reports whether a branch could not be moved because another process holds
// its lock.
func IsBusy(err error) bool {
	_, ok := errors.AsType[*busy](err)
	return ok
}

// isLocked reports whether a message of Git on a server says that a branch is locked.
func isLocked(text string) bool {
	return strings.Contains(text, "failed to lock") || strings.Contains(text, "cannot lock")
}

// branchLock is the lock of a branch on disk, created as Git does it: a file next to
// the branch that contains the new commit and is renamed to the branch.
//
// Git's lock does not identify its process, and outlives it. So the lock is a hard
// link to a file in ownDir, or has the same content on a file system without hard
// links. A lock with such a file is ours, and if it exists while this process holds
// the guard, its process is gone.
type branchLock struct {
	// branch is the file of the branch, path that of the lock, and own the file in
	// ownDir.
	branch, path, own string
	mode              os.FileMode
	guard             *lock.File
	// became says that the lock has become the branch: a lock file that exists then
	// belongs to another program.
	became bool
}

// moveLocal moves a branch of the repository whose branches are in dir.
func moveLocal(ctx context.Context, r *gogit.Repository, dir string, u Update) (err error) {
	l, err := lockBranch(ctx, dir, u)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.release()) }()
	now := plumbing.ZeroHash
	if ref, err := r.Storer.Reference(u.Branch); err == nil {
		now = ref.Hash()
	}
	if now != u.Old {
		return ErrMoved
	}
	if err := os.Rename(l.path, l.branch); err != nil {
		return unwritable(err)
	}
	l.became = true
	return nil
}

// lockBranch acquires the lock of a branch. The error is busy if another process
// holds it.
func lockBranch(ctx context.Context, dir string, u Update) (*branchLock, error) {
	sum := sha256.Sum256([]byte(u.Branch))
	l := &branchLock{
		branch: filepath.Join(dir, filepath.FromSlash(u.Branch.String())),
		own:    filepath.Join(dir, ownDir, hex.EncodeToString(sum[:8])),
	}
	l.path = l.branch + ".lock"
	if err := l.makeFolders(dir); err != nil {
		return nil, unwritable(err)
	}
	if err := l.acquireGuard(ctx, u.Branch, filepath.Join(dir, ownDir, guardFile)); err != nil {
		return nil, err
	}
	err := l.breakStale(u.Branch)
	if err == nil {
		err = l.create(u)
	}
	if err != nil {
		return nil, errors.Join(err, l.guard.Release())
	}
	return l, nil
}

// makeFolders creates the folder of the branch and ownDir, for all users who may
// write to the branches.
func (l *branchLock) makeFolders(dir string) error {
	if err := os.MkdirAll(filepath.Dir(l.branch), 0o777); err != nil { //nolint:gosec // as Git does it; the user's mask decides
		return err
	}
	info, err := os.Stat(filepath.Join(dir, "refs"))
	if err != nil {
		return err
	}
	l.mode = info.Mode().Perm() & 0o666
	own := filepath.Dir(l.own)
	if err := os.Mkdir(own, info.Mode().Perm()); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	}
	return os.Chmod(own, info.Mode().Perm())
}

// acquireGuard waits for the guard.
func (l *branchLock) acquireGuard(ctx context.Context, branch plumbing.ReferenceName, path string) error {
	for left := guardWait; ; left -= guardPause {
		var err error
		if l.guard, err = lock.Acquire(path, l.mode); err == nil {
			return nil
		}
		held, ok := errors.AsType[*lock.Held](err)
		if !ok {
			return unwritable(err)
		}
		if left <= 0 {
			return &Problem{
				Err:  &busy{fmt.Sprintf("cannot lock branch %q: %s is writing to the repository", branch.Short(), held.Holder())},
				Hint: "try again; if that process hangs, stop it to release the lock",
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(guardPause):
		}
	}
}

// breakStale removes the lock if one of our processes left it and is gone.
func (l *branchLock) breakStale(branch plumbing.ReferenceName) error {
	info, err := os.Lstat(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return unwritable(err)
	}
	ours, err := l.isOurs()
	if err != nil {
		return unwritable(err)
	}
	if !ours {
		return l.foreign(branch)
	}
	now, err := l.guard.Stat()
	if err != nil {
		return unwritable(err)
	}
	if age := now.ModTime().Sub(info.ModTime()); age < staleAfter {
		return &Problem{
			Err:  &busy{fmt.Sprintf("branch %q is locked by a process that ended %v ago: %s", branch.Short(), max(age, 0).Round(time.Millisecond), l.path)},
			Hint: fmt.Sprintf("try again: the lock is removed when it is %v old", staleAfter),
		}
	}
	if err := os.Remove(l.path); err != nil {
		return unwritable(err)
	}
	return nil
}

// isOurs reports whether one of our processes created the lock.
func (l *branchLock) isOurs() (bool, error) {
	own, err := os.ReadFile(l.own)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	there, err := os.ReadFile(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return len(own) > 0 && bytes.Equal(own, there), err
}

// foreign returns the error about a lock of another program.
func (l *branchLock) foreign(branch plumbing.ReferenceName) error {
	return &Problem{
		Err:  &busy{fmt.Sprintf("branch %q is locked by another program: %s", branch.Short(), l.path)},
		Hint: "try again; if no program writes to the repository, remove " + l.path,
	}
}

// create creates the lock, under the guard, with the new commit in it.
func (l *branchLock) create(u Update) error {
	// The file may by now be a hard link to the branch itself: it is created again,
	// never written to.
	if err := os.Remove(l.own); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unwritable(err)
	}
	text := []byte(u.New.String() + "\n")
	if err := writeNew(l.own, text, l.mode); err != nil {
		return unwritable(err)
	}
	err := os.Link(l.own, l.path)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		// The file system has no hard links.
		err = writeNew(l.path, text, l.mode)
	}
	if errors.Is(err, fs.ErrExist) {
		_ = os.Remove(l.own) // It must not mark the lock of another program as ours.
		return l.foreign(u.Branch)
	}
	if err != nil {
		return unwritable(err)
	}
	return nil
}

// writeNew writes a file that must not exist.
func writeNew(path string, text []byte, mode os.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// release releases the lock, unless it has become the branch, and the guard.
func (l *branchLock) release() error {
	var err error
	if !l.became {
		err = os.Remove(l.path)
	}
	if err = errors.Join(err, os.Remove(l.own)); err != nil {
		err = unwritable(err)
	}
	return errors.Join(err, l.guard.Release())
}
