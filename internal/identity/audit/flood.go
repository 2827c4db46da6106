package audit

import (
	"net/netip"
	"sync"
	"time"

	"example.dev/ingestor/internal/identity/auth"
)

// Callers can fail as often as they like, and guests need no account.
const (
	// floodWindow is for how long events are counted, and mostPerWindow how many
	// of one kind, actor and client are written in it.
	floodWindow   = time.Second
	mostPerWindow = 10
	// mostKeys is how many kinds, actors and clients are told apart in it.
	mostKeys = 1000
)

// limited reports whether a line is one that any client can cause: everything
// that is no success, and the sign-ins of guests.
func (l line) limited() bool {
	return l.Client != "" && (l.Result != Success || l.Event == SignIn && l.Actor.Kind == auth.Guest.String())
}

// floodKey is what floods are told apart by. A flood of one caller does not hide
// the events of another.
type floodKey struct {
	event  string
	result Result
	actor  Actor
	client string
}

// flood holds back what would fill the disk.
type flood struct {
	// suppressed is told how many events of a window were not written.
	suppressed func(k floodKey, n int)

	mu    sync.Mutex
	timer *time.Timer
	seen  map[floodKey]int
}

// admit reports whether an event may be written.
func (f *flood) admit(k floodKey) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.seen) == 0 {
		f.seen = map[floodKey]int{}
		f.timer = time.AfterFunc(floodWindow, f.flush)
	}
	if _, ok := f.seen[k]; !ok && len(f.seen) >= mostKeys {
		k = floodKey{event: k.event, result: k.result}
	}
	f.seen[k]++
	return f.seen[k] <= mostPerWindow
}

// flush ends the window, and tells what was not written in it.
func (f *flood) flush() {
	f.mu.Lock()
	seen := f.seen
	f.seen = nil
	if f.timer != nil {
		f.timer.Stop()
	}
	f.mu.Unlock()
	for k, n := range seen {
		if n > mostPerWindow {
			f.suppressed(k, n-mostPerWindow)
		}
	}
}

// network returns the part of an address that is one client's: a site has a whole
// /64 of IPv6.
func network(client string) string {
	const site = 64
	if addr, err := netip.ParseAddr(client); err == nil && addr.Is6() {
		if p, err := addr.Prefix(site); err == nil {
			return p.String()
		}
	}
	return client
}
