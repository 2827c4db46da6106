package audit

import (
	"net/netip"
	"sync"
	"time"

	"example.dev/ingestor/internal/identity/auth"
)

// Limits for events that callers can cause at will; guests need no account.
const (
	// floodWindow is the period in which events are counted, and mostPerWindow how many
	// with the same name, result, actor and client are written in it.
	floodWindow   = time.Second
	mostPerWindow = 10
	// mostKeys is how many such combinations are distinguished in it.
	mostKeys = 1000
)

// limited reports whether any client can cause such a line: everything that is not a
// success, and sign-ins of guests.
func (l line) limited() bool {
	return l.Client != "" && (l.Result != Success || l.Event == SignIn && l.Actor.Kind == auth.Guest.String())
}

// floodKey groups events for the limit. A flood of one caller does not hide the
// events of another.
type floodKey struct {
	event  string
	result Result
	actor  Actor
	client string
}

// flood suppresses events that would fill the disk.
type flood struct {
	// suppressed receives how many events of a window were not written.
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

// flush ends the window, and reports what was not written in it.
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

// network returns the part of an address that identifies one client: for IPv6 the
// /64, which belongs to one site.
func network(client string) string {
	const site = 64
	if addr, err := netip.ParseAddr(client); err == nil && addr.Is6() {
		if p, err := addr.Prefix(site); err == nil {
			return p.String()
		}
	}
	return client
}
