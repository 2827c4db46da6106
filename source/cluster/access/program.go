package access

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// program is credentials that a program gives, as a kubeconfig's exec names
// it. The client library runs it; what is added here is that nobody waits for
// it longer than for the call it is for, that a credential that is refused is
// replaced and tried again, and that a failure names the program.
type program struct {
	command string
	next    http.RoundTripper
}

// lag is how late the library may notice that a call has no more time. What
// takes longer is the program, which the library does not interrupt.
const lag = time.Second

type outcome struct {
	resp *http.Response
	err  error
}

// RoundTrip sends the request, and once more if its credential is refused: the
// library has asked the program for another one by then.
func (p *program) RoundTrip(req *http.Request) (*http.Response, error) {
	done, gone := make(chan outcome), make(chan struct{})
	defer close(gone)
	go func() {
		resp, err := p.send(req)
		select {
		case done <- outcome{resp, err}:
		case <-gone:
			if err == nil {
				_ = resp.Body.Close()
			}
		}
	}()
	ctx := req.Context()
	select {
	case o := <-done:
		return o.resp, p.explain(o.err)
	case <-ctx.Done():
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil, ctx.Err()
	}
	late := time.NewTimer(lag)
	defer late.Stop()
	select {
	case o := <-done:
		return o.resp, p.explain(o.err)
	case <-late.C:
		return nil, &CredentialError{Err: fmt.Errorf("program %q does not come to an end", p.command)}
	}
}

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
