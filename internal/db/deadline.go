package db

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// How long PostgreSQL may take to answer: a server that hangs keeps its connections
// open. A writer may have to wait for another writer.
const (
	readAnswer  = 10 * time.Second
	writeAnswer = lockTimeout + 5*time.Second
)

// within returns the configuration of connections that fail when the server does not
// answer for that long.
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

// answering is a connection with a timeout for every read and write.
type answering struct {
	net.Conn
	most time.Duration

	mu sync.Mutex
	// until is the deadline that the caller has set; zero for none.
	until time.Time
}

// Read fails when the server does not answer in time.
func (a *answering) Read(p []byte) (int, error) {
	if err := a.limit(a.Conn.SetReadDeadline); err != nil {
		return 0, err
	}
	return a.Conn.Read(p)
}

// Write fails when the server accepts no more data.
func (a *answering) Write(p []byte) (int, error) {
	if err := a.limit(a.Conn.SetWriteDeadline); err != nil {
		return 0, err
	}
	return a.Conn.Write(p)
}

// limit sets a deadline, unless the caller has set an earlier one.
func (a *answering) limit(set func(time.Time) error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	limit := time.Now().Add(a.most) //nolint:forbidigo // The deadline is the operating system's.
	if !a.until.IsZero() && a.until.Before(limit) {
		limit = a.until
	}
	return set(limit)
}

// SetDeadline sets the caller's deadline, or clears it.
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
