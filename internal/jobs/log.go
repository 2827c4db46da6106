package jobs

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// sayAgain is how long something that was said is not said again.
const sayAgain = 5 * time.Minute

// quiet is the log for River. What River tells of its daily life is for those
// who debug, and what it complains about is said once in a while: it looks for
// jobs five times a second, and would complain as often while the database is
// away.
type quiet struct {
	slog.Handler
	said *said
}

func newQuiet(log *slog.Logger, now func() time.Time) slog.Handler {
	return quiet{Handler: log.Handler(), said: newSaid(now)}
}

// Enabled tells whether a record would be written.
func (h quiet) Enabled(ctx context.Context, level slog.Level) bool {
	return h.Handler.Enabled(ctx, lower(level))
}

// Handle writes a record, unless it was written lately.
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

// WithAttrs returns the log with attributes.
func (h quiet) WithAttrs(attrs []slog.Attr) slog.Handler {
	return quiet{Handler: h.Handler.WithAttrs(attrs), said: h.said}
}

// WithGroup returns the log with a group.
func (h quiet) WithGroup(name string) slog.Handler {
	return quiet{Handler: h.Handler.WithGroup(name), said: h.said}
}

func lower(level slog.Level) slog.Level {
	if level < slog.LevelWarn {
		return slog.LevelDebug
	}
	return level
}

// said remembers what was said.
type said struct {
	now  func() time.Time
	mu   sync.Mutex
	when map[string]time.Time
}

func newSaid(now func() time.Time) *said { return &said{now: now, when: map[string]time.Time{}} }

// first tells whether message was not said lately. There are few messages:
// they are constants.
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

// once logs for us as quiet does for River.
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
