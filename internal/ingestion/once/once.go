// Package once logs a state when it changes, and not whenever it is seen.
package once

import (
	"fmt"
	"log/slog"
	"sync"
)

// Log remembers what was last logged about each subject. Its zero value is ready to use,
// and its methods may be called concurrently.
type Log struct {
	mu   sync.Mutex
	said map[string]string
}

// Changed reports whether text differs from what was last logged about a subject, and
// stores it. An empty text clears the subject.
func (l *Log) Changed(about, text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.said[about] == text {
		return false
	}
	if text == "" {
		delete(l.said, about)
		return true
	}
	if l.said == nil {
		l.said = map[string]string{}
	}
	l.said[about] = text
	return true
}

// Warn logs a warning, unless the last one about the subject was the same.
func (l *Log) Warn(to *slog.Logger, about, message string, args ...any) {
	if l.Changed(about, message+fmt.Sprint(args...)) {
		to.Warn(message, args...)
	}
}
