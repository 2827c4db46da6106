package provide

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/sink/portal"
	"example.dev/ingestor/sink/spool"
)

// follow reads the files again when they change, and at the interval, until ctx
// ends.
func (s *serve) follow(ctx context.Context, paths []string) {
	// Include changes from before the watch started.
	changed := make(chan struct{}, 1)
	changed <- struct{}{}
	var watcher sync.WaitGroup
	defer watcher.Wait()
	watcher.Go(func() {
		err := s.files(paths).Watch(ctx, func() {
			select {
			case changed <- struct{}{}:
			default:
			}
		})
		if err != nil && ctx.Err() == nil {
			s.log.Warn("file watch failed, reading files on schedule only", "error", err, "interval", s.interval)
		}
	})
	var due <-chan time.Time
	if s.interval > 0 {
		t := time.NewTicker(s.interval)
		defer t.Stop()
		due = t.C
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-due:
		}
		s.reload(ctx, paths)
	}
}

// reload serves the current content of the files. If the files cannot be used, the
// previous content stays, and the reason is logged once.
func (s *serve) reload(ctx context.Context, paths []string) {
	var said bytes.Buffer
	aside := *s.common
	aside.undone = "nothing was changed"
	env := *s.Env
	env.Stderr, env.StderrTerminal = &said, false
	aside.Output = output.Output{Program: s.Program, Env: &env, Quiet: s.Quiet, NoColor: true}
	got, err := aside.gather(ctx, paths, spool.Options{})
	var c *content
	if err == nil {
		c, err = newContent(got)
	}
	if ctx.Err() != nil {
		if c != nil {
			c.release()
		}
		return
	}
	if err != nil {
		if s.offer.spoil(said.String() + err.Error()) {
			_, _ = s.Env.Stderr.Write(said.Bytes())
			s.log.Error("reload failed, serving the previous entities", "error", err)
		}
		return
	}
	mended := s.offer.spoilt()
	if n := c.entities; s.offer.put(c) || mended {
		s.log.Info("files reloaded", "entities", n)
	}
}

// Backoff between attempts to register.
const (
	firstPause = time.Second
	lastPause  = 30 * time.Second
)

// register registers the URL, and retries until the portal accepts it or ctx ends.
// The same error is logged once.
func (s *serve) register(ctx context.Context, address string) {
	told := ""
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		existed, err := s.portal.Register(ctx, address)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			s.log.Info("location registered", "location", address, "portal", s.portal.URL(), "before", existed)
			break
		}
		if err.Error() != told {
			told = err.Error()
			s.log.Warn("location registration failed, retrying", "error", err, "hint", registerHint(err))
		}
		t := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-t.C:
		}
	}
	n, err := s.portal.Try(ctx, address)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		s.log.Warn("portal failed to read the location", "error", err, "hint", registerHint(err))
		return
	}
	s.log.Debug("portal read the location", "entities", n)
}

// registerHint returns a hint for a location that cannot be registered or read.
func registerHint(err error) string {
	e, ok := errors.AsType[*portal.Error](err)
	if !ok {
		return ""
	}
	if e.Problem == portal.Invalid {
		return "check that the portal can reach the address (--public-url), may read it (backend.reading.allow), and accepts these kinds of entities (catalog.rules)"
	}
	return e.Hint()
}
