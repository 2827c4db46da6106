package httpd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"example.dev/ingestor/internal/config"
)

// The limits of a connection. Those of a body belong to its route.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 << 10
	// drainTimeout is how long requests may take to end once the server stops: less than
	// orchestrators wait before they kill the process.
	drainTimeout = 25 * time.Second
)

const (
	// warmFor is how long after a request the next one is expected on the same connection.
	// If the connection is closed in that time, that request fails.
	warmFor = 500 * time.Millisecond
	// warmLook is how often connections are checked.
	warmLook = 10 * time.Millisecond
)

// Serve serves requests from ln until ctx ends. Then it reports not ready, and closes
// every connection after its next response; after the delay it accepts no more
// connections, finishes running requests, waits a moment for requests on connections
// that were just used, and returns nil. It closes ln.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	return s.serveUntil(ctx, ln, drainTimeout)
}

func (s *Server) serveUntil(ctx context.Context, ln net.Listener, drain time.Duration) error {
	// Requests must outlive ctx, so that they can finish.
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	idle := &idleConns{now: s.opts.Now, since: map[net.Conn]time.Time{}}
	srv := &http.Server{
		ConnState:         idle.track,
		Handler:           s.Handler(),
		BaseContext:       func(net.Listener) context.Context { return base },
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.opts.Log.Handler(), slog.LevelDebug),
	}
	start := func() error { return srv.Serve(ln) }
	if s.opts.HTTPS.CertFile != "" {
		c, err := newCertificate(s.opts)
		if err != nil {
			_ = ln.Close()
			return err
		}
		srv.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get}
		start = func() error { return srv.ServeTLS(ln, "", "") }
	}
	failed := make(chan error, 1)
	go func() { failed <- start() }()
	select {
	case err := <-failed:
		return fmt.Errorf("cannot serve at %s: %w", ln.Addr(), err)
	case <-ctx.Done():
	}
	s.draining.Store(true)
	s.opts.Log.LogAttrs(base, slog.LevelInfo, "stopping", slog.String("delay", s.opts.ShutdownDelay.String()))
	select {
	case err := <-failed:
		return fmt.Errorf("cannot serve at %s: %w", ln.Addr(), err)
	case <-time.After(s.opts.ShutdownDelay):
	}
	s.leave()
	limit, stop := context.WithTimeout(base, drain)
	defer stop()
	// New connections are refused from now on, so that clients can go elsewhere at once.
	_ = ln.Close()
	if err := <-failed; !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("cannot serve at %s: %w", ln.Addr(), err)
	}
	idle.cool(limit)
	if err := srv.Shutdown(limit); err != nil {
		s.opts.Log.LogAttrs(base, slog.LevelWarn, "requests aborted", slog.String("after", drain.String()))
		cancel()
		_ = srv.Close()
	}
	return nil
}

// idleConns are the connections that wait for their next request, and since when.
type idleConns struct {
	now   func() time.Time
	mu    sync.Mutex
	since map[net.Conn]time.Time
}

// track records the states of connections.
func (i *idleConns) track(c net.Conn, state http.ConnState) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if state == http.StateIdle {
		i.since[c] = i.now()
		return
	}
	delete(i.since, c)
}

// cool waits until no idle connection was used just now, or until ctx ends. Their
// number only decreases: each response is the last one of its connection.
func (i *idleConns) cool(ctx context.Context) {
	ctx, stop := context.WithTimeout(ctx, 2*warmFor)
	defer stop()
	for i.warm() {
		select {
		case <-ctx.Done():
			return
		case <-time.After(warmLook):
		}
	}
}

// warm reports whether there is a connection on which a request is expected.
func (i *idleConns) warm() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	now := i.now()
	for _, since := range i.since {
		if now.Sub(since) < warmFor {
			return true
		}
	}
	return false
}

// certificate is that of the server, reloaded when its files change.
type certificate struct {
	files config.HTTPS
	log   *slog.Logger
	now   func() time.Time

	mu      sync.Mutex
	current *tls.Certificate
	stamp   [2]stamp
	checked time.Time
}

// stamp identifies the version of a file.
type stamp struct {
	size    int64
	changed time.Time
}

// checkEvery is how often the files are checked.
const checkEvery = 5 * time.Second

// Check returns an error if the server's certificate cannot be used.
func (s *Server) Check() error {
	if s.opts.HTTPS.CertFile == "" {
		return nil
	}
	_, err := newCertificate(s.opts)
	return err
}

func newCertificate(o Options) (*certificate, error) {
	c := &certificate{files: o.HTTPS, log: o.Log, now: o.Now}
	if err := c.load(); err != nil {
		return nil, err
	}
	c.checked = c.now()
	return c, nil
}

func (c *certificate) load() error {
	now, err := c.stamps()
	if err != nil {
		return fmt.Errorf("cannot read the server's certificate: %w", err)
	}
	pair, err := tls.LoadX509KeyPair(c.files.CertFile, c.files.KeyFile)
	if err != nil {
		return fmt.Errorf("cannot use the server's certificate %s with the key %s: %w", c.files.CertFile, c.files.KeyFile, err)
	}
	c.current, c.stamp = &pair, now
	return nil
}

func (c *certificate) stamps() ([2]stamp, error) {
	var out [2]stamp
	for i, path := range []string{c.files.CertFile, c.files.KeyFile} {
		info, err := os.Stat(path)
		if err != nil {
			return out, err
		}
		out[i] = stamp{info.Size(), info.ModTime()}
	}
	return out, nil
}

// get returns the certificate for a connection. If the files cannot be read, as when
// only one of them has been replaced, the last certificate stays in use.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if now.Sub(c.checked) < checkEvery {
		return c.current, nil
	}
	c.checked = now
	if stamps, err := c.stamps(); err == nil && stamps == c.stamp {
		return c.current, nil
	}
	if err := c.load(); err != nil {
		c.log.Warn("certificate not reloaded", slog.Any("error", err))
		return c.current, nil
	}
	c.log.Info("certificate reloaded")
	return c.current, nil
}
