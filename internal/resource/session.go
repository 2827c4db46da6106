package resource

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"example.dev/ingestor/internal/reading"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/source/cluster/live"
	"example.dev/ingestor/xrd/composed"
)

const (
	// settleFor is how long changes are collected before the objects are read again.
	settleFor = 100 * time.Millisecond
	// pollEvery and resyncEvery are how often objects are read again without a change: if
	// some changes are not seen, and if all are.
	pollEvery   = 3 * time.Second
	resyncEvery = 30 * time.Second
	// mostSessions is how many trees are kept up to date at once.
	mostSessions = 500
	// sessionsAgain is when a client may retry if there are too many.
	sessionsAgain = 30 * time.Second
)

// Problem says why the state of a resource is not known.
type Problem struct {
	Message string `json:"message"`
	// LastRead is when it could last be read; zero if that is unknown.
	LastRead time.Time `json:"lastRead,omitzero"`
}

// update is a state of a session: a status or a problem.
type update struct {
	number  int
	status  *Status
	problem *Problem
}

// sessions keep trees up to date that someone looks at. All who look at the same tree, and
// may see the same, share a session.
type sessions struct {
	mu   sync.Mutex
	open map[reading.Key]*session
}

// session keeps a tree up to date while it has readers.
type session struct {
	of   *sessions
	key  reading.Key
	stop context.CancelFunc

	// The fields below are guarded by the mutex of sessions.
	readers int
	last    update
	// updated is closed with the next update.
	updated chan struct{}
}

// join returns the session of a tree, and begins it if there is none. Each reader must
// leave it.
func (s *sessions) join(ctx context.Context, key reading.Key, run func(context.Context, *session)) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.open[key]
	if at == nil {
		if len(s.open) >= mostSessions {
			return nil, rest.OverLimit(sessionsAgain, "cannot follow another resource: %d are followed already; the status can still be read", len(s.open))
		}
		// The first reader may leave before others do.
		ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
		at = &session{of: s, key: key, stop: stop, updated: make(chan struct{})}
		s.open[key] = at
		go run(ctx, at)
	}
	at.readers++
	return at, nil
}

// leave ends the session after its last reader.
func (at *session) leave() {
	at.of.mu.Lock()
	defer at.of.mu.Unlock()
	if at.readers--; at.readers == 0 {
		at.stop()
		delete(at.of.open, at.key)
	}
}

// next waits for an update with a number greater than after.
func (at *session) next(ctx context.Context, after int) (update, error) {
	for {
		at.of.mu.Lock()
		last, updated := at.last, at.updated
		at.of.mu.Unlock()
		if last.number > after {
			return last, nil
		}
		select {
		case <-updated:
		case <-ctx.Done():
			return update{}, context.Cause(ctx)
		}
	}
}

// publish passes an update to the readers.
func (at *session) publish(u update) {
	at.of.mu.Lock()
	defer at.of.mu.Unlock()
	u.number = at.last.number + 1
	at.last = u
	close(at.updated)
	at.updated = make(chan struct{})
}

// follow keeps a session up to date until its context ends: it reads the tree, and reads
// it again after a change.
func (s *Resources) follow(ctx context.Context, at *session, t target) {
	follower := s.watches.Follow(t.on)
	defer follower.Close()
	var lastRead time.Time
	shown := ""
	for ctx.Err() == nil {
		began := s.opts.Now()
		st, err := s.trees.Read(ctx, at.key, func(ctx context.Context) (Status, error) { return s.read(ctx, t) })
		if ctx.Err() != nil {
			return
		}
		u := update{status: &st}
		if err == nil {
			lastRead = st.Read
			follower.Set(ctx, refsOf(st.Tree))
		} else {
			u = update{problem: &Problem{Message: messageOf(t.Object, err), LastRead: lastRead}}
		}
		if now := u.fingerprint(); now != shown {
			shown = now
			at.publish(u)
			if err != nil {
				s.opts.Log.Warn("cannot follow a resource", "cluster", t.Cluster, "kind", t.Ref.Kind, "namespace", t.Ref.Namespace, "name", t.Ref.Name, "error", err)
			}
		}
		// Reading takes at most half of the time, however large the tree is.
		wait(ctx, follower, err == nil, max(settleFor, s.opts.Now().Sub(began)))
	}
}

// messageOf returns what the readers of a stream see of an error. The text of other errors
// than those of the cluster is only logged.
func messageOf(o Object, err error) string {
	if f, ok := errors.AsType[*rest.Fault](told(o, err)); ok {
		return f.Message
	}
	return "The state cannot be read; the portal's log says why"
}

// wait returns when a tree should be read again.
func wait(ctx context.Context, follower *live.Follower, read bool, settle time.Duration) {
	every := resyncEvery
	if !read || !follower.IsComplete() {
		every = pollEvery
	}
	again := time.NewTimer(every)
	defer again.Stop()
	changed := follower.Changed()
	if !read {
		// A cluster that does not answer is not asked more often because its watches fail.
		changed = nil
	}
	select {
	case <-ctx.Done():
		return
	case <-again.C:
		return
	case <-changed:
	}
	select {
	case <-ctx.Done():
	case <-time.After(settle):
	}
}

// fingerprint returns the same text for updates that look the same.
func (u *update) fingerprint() string {
	if u.problem != nil {
		return "problem: " + u.problem.Message
	}
	st := *u.status
	st.Read = time.Time{}
	text, err := json.Marshal(st)
	if err != nil {
		// A status has no value that JSON lacks; if it had, each one would be shown.
		return err.Error() + u.status.Read.String()
	}
	return string(text)
}

func refsOf(tree *composed.Node) (out []composed.Ref) {
	for n := range tree.All() {
		if n.State == composed.Present || n.State == composed.Missing {
			out = append(out, n.Ref)
		}
	}
	return out
}
