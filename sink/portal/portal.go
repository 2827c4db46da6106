// Package portal writes entities to a portal's catalog over HTTP: as a push, which
// our portal supports, or as the URL of a file that the portal reads itself, which
// every portal supports. It also reads what a portal has.
package portal

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Defaults of Options.
const (
	DefaultProvider = "portal-provide"
	DefaultTimeout  = 10 * time.Minute
	DefaultRetries  = 3
	DefaultPause    = 500 * time.Millisecond
)

const (
	// masked replaces a token in messages.
	masked = "********"
	// longestPause is the maximum delay before a retry. If a portal asks for more,
	// there is no retry.
	longestPause = 30 * time.Second
	// maxAnswer is the maximum size that is read of a response, and maxMessage of an
	// error response.
	maxAnswer  = 64 << 20
	maxMessage = 64 << 10
)

// ErrLarge is the cause of an Error for a response that is too large to be read.
var ErrLarge = fmt.Errorf("response exceeds %d MiB", maxAnswer>>20)

// Options configure a Portal.
type Options struct {
	// Token returns the token. It is called before each request, so that the token
	// may change. Nil, or an empty token, means no authentication.
	Token func() (string, error)
	// HTTP sends the requests. Nil means a new client with the system's CAs and
	// proxies. Redirects are not followed.
	HTTP *http.Client
	// Provider is the name of the provider that owns the pushed entities. Empty
	// means DefaultProvider.
	Provider string
	// Timeout is the timeout of one request, including a push of very many entities.
	// Zero means DefaultTimeout.
	Timeout time.Duration
	// Retries is the maximum number of retries. Zero means DefaultRetries, a
	// negative number no retries.
	Retries int
	// Pause is the delay before the first retry; it doubles with each further one. A
	// Retry-After of the portal overrides it. Zero means DefaultPause.
	Pause time.Duration
	// Agent is the User-Agent. Empty means the name of this library.
	Agent string
	// Name is the portal in messages, such as Backstage. Empty means "the portal".
	Name string
}

// Portal is a portal's catalog. It may be used concurrently.
type Portal struct {
	base string
	opts Options
	http *http.Client
}

// New returns the portal at a URL such as https://portal.example.org, optionally
// with a path, and with or without /api at the end.
func New(address string, opts Options) (*Portal, error) {
	opts.Name = cmp.Or(opts.Name, "the portal")
	base, err := baseOf(opts.Name, address)
	if err != nil {
		return nil, err
	}
	opts.Provider = cmp.Or(opts.Provider, DefaultProvider)
	if !isProvider(opts.Provider) {
		return nil, fmt.Errorf("cannot use provider name %q: must be at most 63 lower-case letters, digits, dashes, dots and underscores,  "+
			"begin and end with a letter or digit, and not begin with location", opts.Provider)
	}
	opts.Timeout = cmp.Or(opts.Timeout, DefaultTimeout)
	opts.Retries = cmp.Or(opts.Retries, DefaultRetries)
	opts.Pause = cmp.Or(opts.Pause, DefaultPause)
	opts.Agent = cmp.Or(opts.Agent, "ingestor-sink-portal")
	client := http.Client{}
	if opts.HTTP != nil {
		client = *opts.HTTP
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Portal{base: base, opts: opts, http: &client}, nil
}

// URL returns the normalized base URL of the portal.
func (p *Portal) URL() string { return p.base }

// Provider returns the name of the provider that owns the pushed entities.
func (p *Portal) Provider() string { return p.opts.Provider }

// baseOf returns the part of the URL of a portal, called name in errors, before /api.
func baseOf(name, address string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	switch {
	case err != nil:
		// The library's message would quote the URL, which may contain a password.
		return "", fmt.Errorf("cannot use %s's address: must be a URL such as https://portal.example.org", name)
	case u.User != nil:
		return "", fmt.Errorf("cannot use %s's address: contains a user name or a password", name)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return "", fmt.Errorf("cannot use %s's address %q: must be a URL such as https://portal.example.org", name, address)
	case u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf("cannot use %s's address %q: must not have a query or fragment", name, address)
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	for _, end := range []string{"/catalog", "/api"} {
		if rest, ok := strings.CutSuffix(u.Path, end); ok && (end == "/api" || strings.HasSuffix(rest, "/api")) {
			u.Path = rest
		}
	}
	return u.String(), nil
}

// isProvider reports whether the name is valid for a provider.
func isProvider(s string) bool {
	plain := func(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }
	if s == "" || len(s) > 63 || !plain(s[0]) || !plain(s[len(s)-1]) || strings.HasPrefix(s, "location") {
		return false
	}
	for i := range len(s) {
		if !plain(s[i]) && !strings.ContainsRune("._-", rune(s[i])) {
			return false
		}
	}
	return true
}

// call is a request to a portal.
type call struct {
	// verb describes the request in errors, such as "push to".
	verb         string
	method, path string
	query        url.Values
	// body creates the body for each attempt; nil means none.
	body func() (body, error)
	// again means that the request is idempotent: it is retried even if the portal
	// may have executed it.
	again bool
	// single means that the request cannot be repeated.
	single bool
	// good are further statuses that are not errors.
	good []int
}

// body is a request body.
type body struct {
	io.ReadCloser
	media, encoding string
	// sent reports whether all of it was passed to the network.
	sent func() bool
}

// answer is a response.
type answer struct {
	status int
	body   []byte
}

// decode parses a JSON response.
func (a answer) decode(v any) error {
	if err := json.Unmarshal(a.body, v); err != nil {
		return errors.New("response is not JSON from a portal's catalog")
	}
	return nil
}

// do sends a request, with retries.
func (p *Portal) do(ctx context.Context, c call) (answer, error) {
	pause := p.opts.Pause
	for left := p.opts.Retries; ; left-- {
		a, err := p.once(ctx, c)
		if err == nil {
			return a, nil
		}
		if left <= 0 || c.single || !err.retry(c.again) || ctx.Err() != nil {
			return a, err
		}
		wait := cmp.Or(err.after, pause)
		pause = min(2*pause, longestPause)
		if wait > longestPause || !sleep(ctx, wait) {
			return a, err
		}
	}
}

// sleep waits, and reports whether it was not interrupted by ctx.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// once sends a request once.
func (p *Portal) once(ctx context.Context, c call) (answer, *Error) {
	fail := func(e *Error) (answer, *Error) {
		e.verb, e.name, e.URL, e.pushes = c.verb, p.opts.Name, p.base, strings.Contains(c.path, "/providers")
		// A GET and a dry run change nothing.
		e.Unsure = e.Unsure && c.method != http.MethodGet && !c.query.Has("dryRun")
		return answer{}, e
	}
	token, err := p.token()
	if err != nil {
		return fail(&Error{Problem: Unauthenticated, Err: err})
	}
	deadline, cancel := context.WithTimeout(ctx, p.opts.Timeout)
	defer cancel()
	req, sending, err := p.request(deadline, c, token)
	if err != nil {
		return fail(&Error{Problem: Strange, Err: err})
	}
	if sending.ReadCloser != nil {
		// Close waits for the writer of the body before it is created again.
		defer sending.Close()
	}
	res, err := p.http.Do(req)
	if err != nil {
		return fail(p.unanswered(ctx, err, sending.sent))
	}
	defer res.Body.Close()
	done := res.StatusCode/100 == 2
	good := done || slices.Contains(c.good, res.StatusCode)
	most := int64(maxMessage)
	if good {
		most = maxAnswer
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, most+1))
	if err != nil && good {
		return fail(p.unanswered(ctx, err, func() bool { return done }))
	}
	if int64(len(text)) > most {
		if good {
			return fail(&Error{Problem: Strange, Status: res.StatusCode, Err: ErrLarge, Unsure: done})
		}
		text = text[:most]
	}
	if token != "" {
		// Redact the token in case the portal repeats it.
		text = bytes.ReplaceAll(text, []byte(token), []byte(masked))
	}
	a := answer{res.StatusCode, text}
	if good {
		return a, nil
	}
	_, e := fail(refusal(res, text, token))
	return a, e
}

// token returns the token, empty if there is none.
func (p *Portal) token() (string, error) {
	if p.opts.Token == nil {
		return "", nil
	}
	token, err := p.opts.Token()
	if err != nil {
		return "", err
	}
	token = strings.TrimSpace(token)
	for i := range len(token) {
		if token[i] <= ' ' || token[i] > '~' {
			return "", errors.New("the token contains white space or other characters that are not allowed")
		}
	}
	return token, nil
}

func (p *Portal) request(ctx context.Context, c call, token string) (*http.Request, body, error) {
	var b body
	if c.body != nil {
		var err error
		if b, err = c.body(); err != nil {
			return nil, b, err
		}
	}
	address := p.base + c.path
	if len(c.query) > 0 {
		address += "?" + c.query.Encode()
	}
	var in io.Reader
	if b.ReadCloser != nil {
		in = b
	}
	req, err := http.NewRequestWithContext(ctx, c.method, address, in)
	if err != nil {
		return nil, b, errors.New("invalid address")
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", p.opts.Agent)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if b.ReadCloser != nil {
		req.Header.Set("Content-Type", b.media)
	}
	if b.encoding != "" {
		req.Header.Set("Content-Encoding", b.encoding)
		// A portal can reject the caller before much is sent.
		req.Header.Set("Expect", "100-continue")
	}
	return req, b, nil
}

// unanswered returns the error of a request without a complete response. sent
// reports whether the portal may have executed the request; nil means that it may.
func (p *Portal) unanswered(ctx context.Context, err error, sent func() bool) *Error {
	// Remove the URL that the library adds; the error already has it.
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	e := &Error{Problem: Interrupted, Err: err}
	switch {
	case isRead(err):
		e.Problem = Invalid
		return e
	case ctx.Err() != nil:
		e.Err = context.Cause(ctx)
	case isDial(err):
		// A connect timeout looks like the next case.
		e.Problem = Unreachable
		return e
	case errors.Is(err, context.DeadlineExceeded):
		e.Err, e.late = fmt.Errorf("no response within %v", p.opts.Timeout), true
	}
	e.Unsure = sent == nil || sent()
	return e
}

// waitOf parses the Retry-After header.
func waitOf(h http.Header) time.Duration {
	if s, err := strconv.Atoi(h.Get("Retry-After")); err == nil && s > 0 {
		return time.Duration(min(s, 1<<20)) * time.Second
	}
	return 0
}
