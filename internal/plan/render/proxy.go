package render

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Function is where a function of a pipeline runs.
type Function struct {
	Name string
	// Endpoint is host:port, dns:///host:port or unix:///path.
	Endpoint string
	// TLS authenticates Crossplane to the function; nil means a connection without TLS.
	TLS *tls.Config
}

// dialTimeout is how long a connection to a function may take.
const dialTimeout = 5 * time.Second

// budget is how many bytes functions may still answer.
type budget = atomic.Int64

// proxy listens on the loopback interface, and copies what it receives to a function and
// back, because the renderer speaks plain gRPC and functions require Crossplane's
// certificate.
type proxy struct {
	session  *Session
	function Function
	listener net.Listener
	running  sync.WaitGroup

	// asked is the number of the last data that the renderer sent, among those of the
	// session; 0 if it sent none. lost counts the connections that the function closed first.
	asked, lost atomic.Int64
}

// mostLost is how often a function may close its connection: the renderer connects again
// until the session ends.
const mostLost = 3

// listen starts the proxy of a function.
func listen(s *Session, f Function) (*proxy, error) {
	l, err := (&net.ListenConfig{}).Listen(s.ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{session: s, function: f, listener: l}
	p.running.Go(p.accept)
	return p, nil
}

func (p *proxy) address() string { return p.listener.Addr().String() }

// close ends the proxy, and waits for its connections, which end with the session.
func (p *proxy) close() {
	_ = p.listener.Close()
	p.running.Wait()
}

func (p *proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.running.Go(func() { p.serve(c) })
	}
}

// serve copies between the renderer and the function until one of them closes.
func (p *proxy) serve(renderer net.Conn) {
	defer func() { _ = renderer.Close() }()
	to, err := p.dial()
	if err != nil {
		p.session.stop(&Error{Reason: Unreachable, Function: p.function.Name, Err: fmt.Errorf("cannot connect to function %s: %w", p.function.Name, err), Public: "cannot connect to function " + p.function.Name, Hint: unreachableHint})
		return
	}
	defer func() { _ = to.Close() }()
	end := context.AfterFunc(p.session.ctx, func() {
		_ = renderer.Close()
		_ = to.Close()
	})
	defer end()
	var closing atomic.Bool
	var copying sync.WaitGroup
	copying.Go(func() {
		_, _ = io.Copy(&asking{to, p}, renderer)
		closing.Store(true)
		_ = to.Close()
	})
	_, err = io.Copy(renderer, &counted{from: to, left: &p.session.left})
	switch {
	case errors.Is(err, errTooMuch):
		p.session.stop(&Error{Reason: TooMuch, Function: p.function.Name, Hint: tooMuchHint,
			Err: fmt.Errorf("function %s answered more than %d MiB", p.function.Name, mostAnswered>>20)})
	case !closing.Load() && p.session.ctx.Err() == nil:
		if lost := p.lost.Add(1); lost >= mostLost {
			p.session.stop(&Error{Reason: Crashed, Function: p.function.Name, Hint: lostHint,
				Err: fmt.Errorf("function %s closed the connection before it answered, %d times", p.function.Name, lost)})
		}
	}
	_ = renderer.Close()
	copying.Wait()
}

// asking notes when the renderer sends something to a function.
type asking struct {
	io.Writer
	to *proxy
}

// Write implements io.Writer.
func (a *asking) Write(data []byte) (int, error) {
	a.to.asked.Store(a.to.session.sent.Add(1))
	return a.Writer.Write(data)
}

// dial connects to the function.
func (p *proxy) dial() (net.Conn, error) {
	ctx, cancel := context.WithTimeout(p.session.ctx, dialTimeout)
	defer cancel()
	network, address := "tcp", strings.TrimPrefix(p.function.Endpoint, "dns:///")
	server, _, err := net.SplitHostPort(address)
	if path, ok := strings.CutPrefix(p.function.Endpoint, "unix://"); ok {
		network, address, server, err = "unix", path, "localhost", nil
	}
	if err != nil {
		return nil, errors.New("endpoint is not host:port")
	}
	if p.function.TLS == nil {
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	c := p.function.TLS.Clone()
	c.NextProtos = []string{"h2"}
	if c.ServerName == "" {
		c.ServerName = server
	}
	return (&tls.Dialer{Config: c}).DialContext(ctx, network, address)
}

var errTooMuch = errors.New("the function answered too much")

// counted reads from a function while its budget lasts.
type counted struct {
	from io.Reader
	left *budget
}

// Read implements io.Reader.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	if c.left.Add(-int64(n)) < 0 {
		return 0, errTooMuch
	}
	return n, err
}
