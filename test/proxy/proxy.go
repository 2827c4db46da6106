// Package proxy is a network that tests can make fail: connections to a server go
// through it, and are cut or stand still when a test says so.
package proxy

import (
	"net"
	"sync"
	"testing"
)

// Proxy passes connections on to a server.
type Proxy struct {
	listener net.Listener
	target   string

	mu sync.Mutex
	// open is closed while bytes may pass.
	open    chan struct{}
	hanging bool
	refused bool
	conns   map[net.Conn]struct{}
	wg      sync.WaitGroup
}

// Start begins to pass connections on to the address of a server, until the test
// ends.
func Start(tb testing.TB, target string) *Proxy {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	p := &Proxy{listener: l, target: target, open: make(chan struct{}), conns: map[net.Conn]struct{}{}}
	close(p.open)
	p.wg.Go(p.accept)
	tb.Cleanup(p.Close)
	return p
}

// Address is where the proxy listens.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Close ends it, and all connections.
func (p *Proxy) Close() {
	_ = p.listener.Close()
	p.Cut()
	p.Pass()
	p.wg.Wait()
}

// Hang lets nothing pass any more, and keeps connections open: what a server does
// that stands still.
func (p *Proxy) Hang() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.hanging {
		p.hanging, p.open = true, make(chan struct{})
	}
}

// Refuse cuts all connections and takes no others.
func (p *Proxy) Refuse() {
	p.mu.Lock()
	p.refused = true
	p.mu.Unlock()
	p.Cut()
}

// Pass lets everything pass again.
func (p *Proxy) Pass() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refused = false
	if p.hanging {
		p.hanging = false
		close(p.open)
	}
}

// Cut ends all connections there are.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
}

func (p *Proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		refused := p.refused
		p.mu.Unlock()
		if refused {
			_ = c.Close()
			continue
		}
		p.wg.Go(func() { p.serve(c) })
	}
}

func (p *Proxy) serve(c net.Conn) {
	to, err := net.Dial("tcp", p.target)
	if err != nil {
		_ = c.Close()
		return
	}
	p.keep(c, to)
	defer p.drop(c, to)
	var both sync.WaitGroup
	both.Go(func() { p.copy(c, to) })
	both.Go(func() { p.copy(to, c) })
	both.Wait()
}

// copy passes on what comes, and closes both ends with the first.
func (p *Proxy) copy(from, to net.Conn) {
	defer func() {
		_ = from.Close()
		_ = to.Close()
	}()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		p.mu.Lock()
		open := p.open
		p.mu.Unlock()
		<-open
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (p *Proxy) keep(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		p.conns[c] = struct{}{}
	}
}

func (p *Proxy) drop(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		delete(p.conns, c)
	}
}
