// Package spool stores texts until they are needed: the first ones in memory, the
// others in a temporary file, so that memory does not grow with their number.
package spool

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// ErrTemporary is returned if the temporary file cannot be created, written or read.
var ErrTemporary = errors.New("cannot use a temporary file")

// Spool stores texts. It may be used concurrently.
type Spool struct {
	mu sync.Mutex
	// room is how many more bytes may be kept in memory.
	room int
	// file is created on demand; size is the number of bytes in it.
	file *os.File
	size int64
}

// New returns a Spool that keeps about room bytes in memory. The caller must close
// it after the last Load.
func New(room int) *Spool { return &Spool{room: room} }

// Text is a text in a Spool. The zero value is empty.
type Text struct {
	held  []byte
	spool *Spool
	at    int64
	size  int
}

// Put stores a copy of a text.
func (s *Spool) Put(text []byte) (Text, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.room >= len(text) {
		s.room -= len(text)
		return Text{held: append([]byte{}, text...), size: len(text)}, nil
	}
	if s.file == nil {
		file, err := os.CreateTemp("", "ingestor-*.tmp")
		if err != nil {
			return Text{}, fmt.Errorf("%w: %w", ErrTemporary, err)
		}
		s.file = file
		// An unlinked file is freed by the system even if the process is killed.
		_ = os.Remove(file.Name())
	}
	t := Text{spool: s, at: s.size, size: len(text)}
	if _, err := s.file.WriteAt(text, s.size); err != nil {
		return Text{}, fmt.Errorf("%w: %w", ErrTemporary, err)
	}
	s.size += int64(len(text))
	return t, nil
}

// Close removes the file.
func (s *Spool) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	// On systems that cannot remove an open file, Put left it in place.
	_ = os.Remove(s.file.Name())
	return err
}

// At returns where in the file the text is, and false if it is in memory.
func (t Text) At() (int64, bool) { return t.at, t.spool != nil }

// Text returns the text of a size at a place in the file.
func (s *Spool) Text(at int64, size int) Text { return Text{spool: s, at: at, size: size} }

// Size returns the size of the text in bytes.
func (t Text) Size() int { return t.size }

// Load returns the text. The caller must not change it.
func (t Text) Load() ([]byte, error) {
	if t.spool == nil {
		return t.held, nil
	}
	text := make([]byte, t.size)
	if _, err := t.spool.file.ReadAt(text, t.at); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTemporary, err)
	}
	return text, nil
}
