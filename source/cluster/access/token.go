package access

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// tokenSource provides bearer tokens. It must be safe for concurrent use.
type tokenSource interface {
	// token returns the token to use now.
	token(ctx context.Context) (string, error)
	// refused is called when the server did not accept a token, and reports whether
	// there may be another one.
	refused(token string) bool
}

// CredentialError is returned for a token that cannot be obtained.
type CredentialError struct{ Err error }

// Error returns the message.
func (e *CredentialError) Error() string { return "cannot get a token: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *CredentialError) Unwrap() error { return e.Err }

// Temporary reports whether a retry may succeed: the issuer was unreachable, too
// busy, or failed.
func (e *CredentialError) Temporary() bool {
	_, ok := errors.AsType[*unavailable](e.Err)
	return ok
}

// unavailable is the error for a token that is temporarily not available.
type unavailable struct{ err error }

// Error returns the message.
func (u *unavailable) Error() string { return u.err.Error() }

// Unwrap returns the cause.
func (u *unavailable) Unwrap() error { return u.err }

// bearer sends a token with every request to its host.
type bearer struct {
	tokens tokenSource
	host   string
	next   http.RoundTripper
}

// RoundTrip sends the request, and retries once with another token if the first one
// is refused and there is another.
func (b *bearer) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Host != b.host {
		return b.next.RoundTrip(req)
	}
	token, resp, err := b.send(req)
	if err != nil || resp.StatusCode != http.StatusUnauthorized || !b.tokens.refused(token) {
		return resp, err
	}
	again, ok := repeat(req)
	if !ok {
		return resp, nil
	}
	drain(resp)
	_, resp, err = b.send(again)
	return resp, err
}

// repeat returns the request as it was before it was sent, if it can be sent again.
func repeat(req *http.Request) (*http.Request, bool) {
	again := req.Clone(req.Context())
	if req.Body == nil || req.Body == http.NoBody {
		return again, true
	}
	if req.GetBody == nil {
		return nil, false
	}
	body, err := req.GetBody()
	again.Body = body
	return again, err == nil
}

// drain discards a response, so that its connection can be reused.
func drain(resp *http.Response) {
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	_ = resp.Body.Close()
}

func (b *bearer) send(req *http.Request) (string, *http.Response, error) {
	token, err := b.tokens.token(req.Context())
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return "", nil, &CredentialError{Err: err}
	}
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := b.next.RoundTrip(req)
	return token, resp, err
}

// WrappedRoundTripper returns the wrapped transport, for client-go.
func (b *bearer) WrappedRoundTripper() http.RoundTripper { return b.next }

// isToken reports whether a text can be sent as one token.
func isToken(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// fixed is a token that does not change.
type fixed string

func (f fixed) token(context.Context) (string, error) { return string(f), nil }

func (fixed) refused(string) bool { return false }

// tokenFile is a token in a file, which is read again when the file changes.
type tokenFile struct {
	path string

	mu    sync.Mutex
	text  string
	mtime time.Time
	size  int64
}

func (f *tokenFile) token(context.Context) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	// Follow symbolic links: a pod's token is replaced by switching a link.
	info, err := os.Stat(f.path)
	if err != nil {
		return "", fmt.Errorf("cannot read token file: %w", err)
	}
	if f.text != "" && info.ModTime().Equal(f.mtime) && info.Size() == f.size {
		return f.text, nil
	}
	if !info.Mode().IsRegular() {
		// Opening a pipe may block forever.
		return "", fmt.Errorf("cannot use token file %s: not a regular file", f.path)
	}
	const most = 1 << 20
	if info.Size() > most {
		return "", fmt.Errorf("cannot read token file %s: too large for a token", f.path)
	}
	data, err := os.ReadFile(f.path)
	if err != nil {
		return "", fmt.Errorf("cannot read token file: %w", err)
	}
	text := strings.TrimSpace(string(data))
	if text == "" {
		return "", fmt.Errorf("cannot use token file %s: empty", f.path)
	}
	if !isToken(text) {
		return "", errors.New("cannot use token file " + f.path + ": contains white space or non-ASCII characters")
	}
	f.text, f.mtime, f.size = text, info.ModTime(), info.Size()
	return text, nil
}

// refused drops the cached token, in case the file was replaced within the resolution
// of its modification time.
func (f *tokenFile) refused(token string) bool {
	f.mu.Lock()
	f.text = ""
	f.mu.Unlock()
	now, err := f.token(context.Background())
	return err == nil && now != token
}
