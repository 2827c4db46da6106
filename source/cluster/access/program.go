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

// program is credentials that a program gives, as a kubeconfig's exec names
// it. The client library runs it; what is added here is that nobody waits for
// it longer than for the call it is for, nor at all while it hangs, that not
// all programs start at once, that a credential that is refused is replaced and
// tried again, and that a failure names the program.
type program struct {
	command string
	next    http.RoundTripper

	// hung counts the calls that were given up because the program did not
	// come to an end, and still does not.
	hung atomic.Int32
	// given says that it has given a credential.
	given atomic.Bool
}

// lag is how late the library may notice that a call has no more time. What
// takes longer is the program, which the library does not interrupt.
const lag = time.Second

// starting are the places for programs that have not given a credential yet: a
// kubeconfig may have a hundred contexts, each with a program. Who has waited
// for a place for long goes ahead without: others may hang.
var starting = make(chan struct{}, 8)

const longForPlace = 10 * time.Second

type outcome struct {
	resp *http.Response
	err  error
}

// RoundTrip sends the request, and once more if its credential is refused: the
// library has asked the program for another one by then.
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

// hangs notes that the program hangs, until the call that waits for it ends.
func (p *program) hangs(ended <-chan struct{}) {
	p.hung.Add(1)
	go func() {
		<-ended
		p.hung.Add(-1)
	}()
}

func (p *program) endless() error {
	return &CredentialError{Err: fmt.Errorf("program %q does not come to an end", p.command)}
}

// placeKey is where a request has the function that leaves its place.
type placeKey struct{}

// enter waits for a place, if one is needed, and returns what leaves it, which
// may be called several times. There is none while the program hangs, because
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

// below is what the library calls when it has a credential.
func (p *program) below(next http.RoundTripper) http.RoundTripper {
	return &equipped{p, next}
}

// equipped sends requests that have their credential.
type equipped struct {
	p    *program
	next http.RoundTripper
}

// RoundTrip leaves the place to another program, and sends the request.
func (e *equipped) RoundTrip(req *http.Request) (*http.Response, error) {
	e.p.given.Store(true)
	if leave, ok := req.Context().Value(placeKey{}).(func()); ok {
		leave()
	}
	return e.next.RoundTrip(req)
}

// WrappedRoundTripper returns the transport below, for the library's use.
func (e *equipped) WrappedRoundTripper() http.RoundTripper { return e.next }

func (p *program) send(req *http.Request) (*http.Response, error) {
	// The library writes into what it is given.
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

// explain says what is wrong with the program. The library has no type for it,
// and repeats what the program printed, a credential perhaps.
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
		why = "what it prints is not an ExecCredential"
	}
	return &CredentialError{Err: fmt.Errorf("program %q: %s", p.command, strings.TrimPrefix(why, "exec: "))}
}

// WrappedRoundTripper returns the transport below, for the library's use.
func (p *program) WrappedRoundTripper() http.RoundTripper { return p.next }
