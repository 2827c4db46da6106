package db

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// How long PostgreSQL may take to say something: a server that stands still keeps
// its connections open for as long as it does. Whoever writes may wait for whoever
// else does.
const (
	readAnswer  = 10 * time.Second
	writeAnswer = lockTimeout + 5*time.Second
)

// within returns how connections are made that end when the server says nothing
// for so long.
func within(c *pgx.ConnConfig, most time.Duration) *pgx.ConnConfig {
	c = c.Copy()
	dial := c.DialFunc
	c.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &answering{Conn: conn, most: most}, nil
	}
	return c
}

// answering is a connection that does not wait for good.
type answering struct {
	net.Conn
	most time.Duration

	mu sync.Mutex
	// until is the deadline that somebody else has set; zero for none.
	until time.Time
}

// Read is called when an answer is expected.
func (a *answering) Read(p []byte) (int, error) {
	if err := a.limit(a.Conn.SetReadDeadline); err != nil {
		return 0, err
	}
	return a.Conn.Read(p)
}

// Write gives up when the server takes nothing more.
func (a *answering) Write(p []byte) (int, error) {
	if err := a.limit(a.Conn.SetWriteDeadline); err != nil {
		return 0, err
	}
	return a.Conn.Write(p)
}

// limit sets a deadline, unless somebody else has set an earlier one.
func (a *answering) limit(set func(time.Time) error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	limit := time.Now().Add(a.most) //nolint:forbidigo // The deadline is the operating system's.
	if !a.until.IsZero() && a.until.Before(limit) {
		limit = a.until
	}
	return set(limit)
}

// SetDeadline is how a caller gives up, and takes that back.
func (a *answering) SetDeadline(t time.Time) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.until = t
	return a.Conn.SetDeadline(t)
}

// SetReadDeadline implements net.Conn.
func (a *answering) SetReadDeadline(t time.Time) error { return a.SetDeadline(t) }

// SetWriteDeadline implements net.Conn.
func (a *answering) SetWriteDeadline(t time.Time) error { return a.SetDeadline(t) }
