package httpd

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/rest"
)

// maxClients is how many clients are tracked. Beyond it, clients that have been
// inactive are dropped first, then any.
const maxClients = 16384

// limiter limits the request rate of each client. A nil limiter has no limit.
type limiter struct {
	every rate.Limit
	burst int
	allow []netip.Prefix

	mu      sync.Mutex
	clients map[netip.Addr]*rate.Limiter
}

func newLimiter(c config.RateLimit) *limiter {
	if !c.Enabled || c.Requests <= 0 || c.Window <= 0 {
		return nil
	}
	l := &limiter{
		every:   rate.Limit(float64(c.Requests) / c.Window.Seconds()),
		burst:   c.Requests,
		clients: map[netip.Addr]*rate.Limiter{},
	}
	for _, s := range c.AllowIPs {
		// The configuration has reported entries that are neither; they allow nothing.
		if p, err := netip.ParsePrefix(s); err == nil {
			l.allow = append(l.allow, p.Masked())
			continue
		}
		if a, err := netip.ParseAddr(s); err == nil {
			a = a.Unmap()
			l.allow = append(l.allow, netip.PrefixFrom(a, a.BitLen()))
		}
	}
	return l
}

// wait returns how long the client must wait before its next request, 0 if not at all.
func (l *limiter) wait(remote string, now time.Time) time.Duration {
	if l == nil {
		return 0
	}
	addr, site, ok := rest.ClientAddress(remote)
	if !ok {
		return 0 // No network: a Unix socket.
	}
	for _, p := range l.allow {
		if p.Contains(addr) {
			return 0
		}
	}
	turn := l.client(site, now).ReserveN(now, 1)
	wait := turn.DelayFrom(now)
	if wait > 0 {
		turn.CancelAt(now)
	}
	return wait
}

func (l *limiter) client(addr netip.Addr, now time.Time) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, ok := l.clients[addr]
	if ok {
		return c
	}
	if len(l.clients) >= maxClients {
		l.forget(now)
	}
	c = rate.NewLimiter(l.every, l.burst)
	l.clients[addr] = c
	return c
}

// forget drops clients whose limit has fully recovered and, if there are still too
// many, others until an eighth is free.
func (l *limiter) forget(now time.Time) {
	for addr, c := range l.clients {
		if c.TokensAt(now) >= float64(l.burst) {
			delete(l.clients, addr)
		}
	}
	for addr := range l.clients {
		if len(l.clients) <= maxClients-maxClients/8 {
			return
		}
		delete(l.clients, addr)
	}
}
