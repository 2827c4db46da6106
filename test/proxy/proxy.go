// Package proxy simulates network failures: tests connect to a server through
// it, and can cut or stall the connections.
package proxy

import (
	"net"
	"sync"
	"testing"
)

// Proxy forwards connections to a server.
type Proxy struct {
	listener net.Listener
	target   string

	mu sync.Mutex
	// open is closed while data may pass.
	open    chan struct{}
	hanging bool
	refused bool
	conns   map[net.Conn]struct{}
	wg      sync.WaitGroup
}

// Start forwards connections to the address of a server, until the test ends.
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

// Address returns the address of the proxy.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Close closes the proxy and all connections.
func (p *Proxy) Close() {
	_ = p.listener.Close()
	p.Cut()
	p.Pass()
	p.wg.Wait()
}

// Hang stalls all connections and keeps them open, like a server that is
// paused.
func (p *Proxy) Hang() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.hanging {
		p.hanging, p.open = true, make(chan struct{})
	}
}

// Refuse closes all connections and refuses new ones.
func (p *Proxy) Refuse() {
	p.mu.Lock()
	p.refused = true
	p.mu.Unlock()
	p.Cut()
}

// Pass forwards data again.
func (p *Proxy) Pass() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refused = false
	if p.hanging {
		p.hanging = false
		close(p.open)
	}
}

// Cut closes all connections.
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

// copy forwards data, and closes both ends when one is closed.
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
