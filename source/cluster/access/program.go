package access

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// program provides credentials from a program, as named by exec in a kubeconfig.
// client-go runs it. This type adds: a call does not wait for the program longer than
// its own timeout, nor at all while the program hangs; not all programs start at
// once; a refused credential is replaced and the request retried; and errors name the
// program.
type program struct {
	command string
	next    http.RoundTripper

	// hung counts the calls that were given up because the program did not end, and
	// still has not.
	hung atomic.Int32
	// given says that the program has provided a credential.
	given atomic.Bool
}

// lag is how late client-go may notice the end of a call's context. If it takes
// longer, it is waiting for the program, which client-go does not interrupt.
const lag = time.Second

// starting are the slots for programs that have not provided a credential yet: a
// kubeconfig may have a hundred contexts, each with a program. A call that has waited
// for a slot for longForPlace proceeds without one, because other programs may hang.
var starting = make(chan struct{}, 8)

const longForPlace = 10 * time.Second

type outcome struct {
	resp *http.Response
	err  error
}

// RoundTrip sends the request, and retries once if its credential is refused:
// client-go has asked the program for another one by then.
func (p *program) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	leave, err := p.enter(ctx)
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	defer leave()
	req = req.WithContext(context.WithValue(ctx, placeKey{}, leave))
	done, gone, ended := make(chan outcome), make(chan struct{}), make(chan struct{})
	defer close(gone)
	go func() {
		defer close(ended)
		resp, err := p.send(req)
		select {
		case done <- outcome{resp, err}:
		case <-gone:
			if err == nil {
				_ = resp.Body.Close()
			}
		}
	}()
	select {
	case o := <-done:
		return o.resp, p.explain(o.err)
	case <-ctx.Done():
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		go func() {
			select {
			case <-ended:
			case <-time.After(lag):
				p.hangs(ended)
			}
		}()
		return nil, ctx.Err()
	}
	late := time.NewTimer(lag)
	defer late.Stop()
	select {
	case o := <-done:
		return o.resp, p.explain(o.err)
	case <-late.C:
		p.hangs(ended)
		return nil, p.endless()
	}
}

// hangs records that the program hangs, until the call that waits for it ends.
func (p *program) hangs(ended <-chan struct{}) {
	p.hung.Add(1)
	go func() {
		<-ended
		p.hung.Add(-1)
	}()
}

func (p *program) endless() error {
	return &CredentialError{Err: fmt.Errorf("program %q does not terminate", p.command)}
}

// placeKey is the context key of the function that releases a request's slot.
type placeKey struct{}

// enter waits for a slot, if one is needed, and returns the function that releases
// it, which may be called several times. It fails while the program hangs, because
// another call would hang as well.
func (p *program) enter(ctx context.Context) (leave func(), err error) {
	if p.hung.Load() > 0 {
		return nil, p.endless()
	}
	leave = func() {}
	if p.given.Load() {
		return leave, nil
	}
	enough := time.NewTimer(longForPlace)
	defer enough.Stop()
	select {
	case starting <- struct{}{}:
		return sync.OnceFunc(func() { <-starting }), nil
	case <-enough.C:
		return leave, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// below wraps the transport that client-go calls when it has a credential.
func (p *program) below(next http.RoundTripper) http.RoundTripper {
	return &equipped{p, next}
}

// equipped sends requests that have their credential.
type equipped struct {
	p    *program
	next http.RoundTripper
}

// RoundTrip releases the slot for another program, and sends the request.
func (e *equipped) RoundTrip(req *http.Request) (*http.Response, error) {
	e.p.given.Store(true)
	if leave, ok := req.Context().Value(placeKey{}).(func()); ok {
		leave()
	}
	return e.next.RoundTrip(req)
}

// WrappedRoundTripper returns the wrapped transport, for client-go.
func (e *equipped) WrappedRoundTripper() http.RoundTripper { return e.next }

func (p *program) send(req *http.Request) (*http.Response, error) {
	// client-go modifies the request.
	resp, err := p.next.RoundTrip(req.Clone(req.Context()))
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		return resp, err
	}
	again, ok := repeat(req)
	if !ok {
		return resp, nil
	}
	drain(resp)
	return p.next.RoundTrip(again)
}

// explain returns an error about the program. client-go has no error type for it, and
// quotes the program's output, which may contain a credential.
func (p *program) explain(err error) error {
	if err == nil {
		return nil
	}
	_, why, ok := strings.Cut(err.Error(), "getting credentials: ")
	if !ok {
		return err
	}
	why, _, _ = strings.Cut(why, "\n")
	if strings.HasPrefix(why, "decoding stdout: ") || strings.HasSuffix(why, "/__internal") {
		why = "output is not an ExecCredential"
	}
	return &CredentialError{Err: fmt.Errorf("program %q: %s", p.command, strings.TrimPrefix(why, "exec: "))}
}

// WrappedRoundTripper returns the wrapped transport, for client-go.
func (p *program) WrappedRoundTripper() http.RoundTripper { return p.next }
