package process

import (
	"bytes"
	"slices"
	"strings"
	"sync"
)

// Log collects the output of programs. It can be written to concurrently. The
// zero Log is empty.
type Log struct {
	mu      sync.Mutex
	text    bytes.Buffer
	waiting []waiting
}

// waiting is a wait for a text.
type waiting struct {
	text string
	said chan struct{}
}

// Write appends output.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	seen := l.text.Len()
	n, err := l.text.Write(p)
	l.waiting = slices.DeleteFunc(l.waiting, func(w waiting) bool {
		// The text may begin in earlier output.
		from := max(0, seen-len(w.text))
		if !bytes.Contains(l.text.Bytes()[from:], []byte(w.text)) {
			return false
		}
		close(w.said)
		return true
	})
	return n, err
}

// String returns the whole output.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Tail returns the end of the output, beginning with a whole line.
func (l *Log) Tail() string {
	const most = 6000
	text := l.String()
	if len(text) <= most {
		return text
	}
	text = text[len(text)-most:]
	return text[strings.IndexByte(text, '\n')+1:]
}

// Said returns a channel that is closed when the output contains a text.
func (l *Log) Said(text string) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	said := make(chan struct{})
	if bytes.Contains(l.text.Bytes(), []byte(text)) {
		close(said)
	} else {
		l.waiting = append(l.waiting, waiting{text, said})
	}
	return said
}
