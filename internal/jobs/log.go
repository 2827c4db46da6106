package jobs

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// sayAgain is how long a repeated message is suppressed.
const sayAgain = 5 * time.Minute

// quiet is the log handler for River. River's routine messages become debug messages,
// and warnings are rate-limited: River looks for jobs five times a second, and would
// warn as often while the database is unavailable.
type quiet struct {
	slog.Handler
	said *said
}

func newQuiet(log *slog.Logger, now func() time.Time) slog.Handler {
	return quiet{Handler: log.Handler(), said: newSaid(now)}
}

// Enabled reports whether a record would be written.
func (h quiet) Enabled(ctx context.Context, level slog.Level) bool {
	return h.Handler.Enabled(ctx, lower(level))
}

// Handle writes a record. One that repeats a recent warning is written at debug level.
func (h quiet) Handle(ctx context.Context, r slog.Record) error {
	level := lower(r.Level)
	if level >= slog.LevelWarn && !h.said.first(r.Message) {
		level = slog.LevelDebug
	}
	if !h.Handler.Enabled(ctx, level) {
		return nil
	}
	r.Level = level
	return h.Handler.Handle(ctx, r)
}

// WithAttrs returns the handler with attributes.
func (h quiet) WithAttrs(attrs []slog.Attr) slog.Handler {
	return quiet{Handler: h.Handler.WithAttrs(attrs), said: h.said}
}

// WithGroup returns the handler with a group.
func (h quiet) WithGroup(name string) slog.Handler {
	return quiet{Handler: h.Handler.WithGroup(name), said: h.said}
}

func lower(level slog.Level) slog.Level {
	if level < slog.LevelWarn {
		return slog.LevelDebug
	}
	return level
}

// said records when messages were logged.
type said struct {
	now  func() time.Time
	mu   sync.Mutex
	when map[string]time.Time
}

func newSaid(now func() time.Time) *said { return &said{now: now, when: map[string]time.Time{}} }

// first reports whether message was not logged recently. There are few messages: they
// are constants.
func (s *said) first(message string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if at, ok := s.when[message]; ok && now.Sub(at) < sayAgain {
		return false
	}
	s.when[message] = now
	return true
}

// once rate-limits this package's own warnings as quiet does River's.
type once struct {
	log  *slog.Logger
	said *said
}

func newOnce(log *slog.Logger, now func() time.Time) once { return once{log: log, said: newSaid(now)} }

func (o once) warn(message string, args ...any) {
	if o.said.first(message) {
		o.log.Warn(message, args...)
	}
}
