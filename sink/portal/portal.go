// Package portal brings entities into a portal's catalog over HTTP: as a push,
// which ours takes, or as the address of a file that the portal reads itself,
// which every portal takes.
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

// The defaults of Options.
const (
	DefaultProvider = "portal-provide"
	DefaultTimeout  = 10 * time.Minute
	DefaultRetries  = 3
	DefaultPause    = 500 * time.Millisecond
)

const (
	// masked stands for a token.
	masked = "********"
	// longestPause is the longest it waits before it tries again. A portal that
	// asks for more is not tried again.
	longestPause = 30 * time.Second
	// maxAnswer is the most that is read of an answer, and maxMessage of one
	// that tells of an error.
	maxAnswer  = 64 << 20
	maxMessage = 64 << 10
)

// Options are how a Portal is spoken to.
type Options struct {
	// Token returns the token to show, before each request, so that it may
	// change. Nil, or an empty token, shows none.
	Token func() (string, error)
	// HTTP sends the requests. Nil means a client of its own with the system's
	// authorities and proxies. Redirects are not followed.
	HTTP *http.Client
	// Provider is the name that owns what is pushed. Empty means
	// DefaultProvider.
	Provider string
	// Timeout is how long one request may take, a push of very many entities
	// included. Zero means DefaultTimeout.
	Timeout time.Duration
	// Retries is how often something is tried again that may be. Zero means
	// DefaultRetries, less than zero never.
	Retries int
	// Pause is how long it waits before it tries again for the first time; then
	// twice as long each time. A portal may ask for something else. Zero means
	// DefaultPause.
	Pause time.Duration
	// Agent names the program. Empty means the library's name.
	Agent string
}

// Portal is a portal's catalog. It may be used by several goroutines at once.
type Portal struct {
	base string
	opts Options
	http *http.Client
}

// New returns the portal at an address such as https://portal.example.org, with
// a path if it has one, and with or without the /api at its end.
func New(address string, opts Options) (*Portal, error) {
	base, err := baseOf(address)
	if err != nil {
		return nil, err
	}
	opts.Provider = cmp.Or(opts.Provider, DefaultProvider)
	if !isProvider(opts.Provider) {
		return nil, fmt.Errorf("cannot use provider name %q: want at most 63 lower-case letters, digits, dashes, dots and underscores, "+
			"a letter or digit at both ends, and not location at the beginning", opts.Provider)
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

// URL returns the portal's address as it is used.
func (p *Portal) URL() string { return p.base }

// Provider returns the name that owns what is pushed.
func (p *Portal) Provider() string { return p.opts.Provider }

// baseOf returns what stands before /api in the addresses of a portal.
func baseOf(address string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	switch {
	case err != nil:
		// The library's words would quote the address, with a password in it.
		return "", errors.New("cannot use the portal's address: it is no URL such as https://portal.example.org")
	case u.User != nil:
		return "", errors.New("cannot use the portal's address: it holds a user name or a password")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return "", fmt.Errorf("cannot use the portal's address %q: want one such as https://portal.example.org", address)
	case u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf("cannot use the portal's address %q: it has more than a path", address)
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	for _, end := range []string{"/catalog", "/api"} {
		if rest, ok := strings.CutSuffix(u.Path, end); ok && (end == "/api" || strings.HasSuffix(rest, "/api")) {
			u.Path = rest
		}
	}
	return u.String(), nil
}

// isProvider reports whether a portal takes the name.
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

// call is one thing that is asked of a portal.
type call struct {
	// verb says what it is for in errors: "push to".
	verb         string
	method, path string
	query        url.Values
	// body makes the body anew for each attempt; nil means none.
	body func() (body, error)
	// again says that it may be done twice: if the portal may have done it, it
	// is tried again all the same.
	again bool
	// single says that it cannot be asked twice.
	single bool
	// good are statuses that are no errors.
	good []int
}

// body is what is sent.
type body struct {
	io.ReadCloser
	media, encoding string
	// sent reports whether all of it was handed to the network.
	sent func() bool
}

// answer is what came back.
type answer struct {
	status int
	body   []byte
}

// decode reads an answer that is JSON.
func (a answer) decode(v any) error {
	if err := json.Unmarshal(a.body, v); err != nil {
		return errors.New("the answer is not the JSON of a portal's catalog")
	}
	return nil
}

// do asks, and tries again what may be tried again.
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

// sleep waits, and reports whether ctx lasted.
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

// once asks once.
func (p *Portal) once(ctx context.Context, c call) (answer, *Error) {
	fail := func(e *Error) (answer, *Error) {
		e.verb, e.URL, e.pushes = c.verb, p.base, strings.Contains(c.path, "/providers")
		// Whoever only asks changes nothing.
		e.Unsure = e.Unsure && c.method != http.MethodGet
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
		// Whoever fills the body is gone before it is made anew.
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
	text, err := io.ReadAll(io.LimitReader(res.Body, most))
	if err != nil && good {
		return fail(p.unanswered(ctx, err, func() bool { return done }))
	}
	if token != "" {
		// No portal should repeat it; nobody is told if one does.
		text = bytes.ReplaceAll(text, []byte(token), []byte(masked))
	}
	a := answer{res.StatusCode, text}
	if good {
		return a, nil
	}
	_, e := fail(refusal(res, text, token))
	return a, e
}

// token returns the token, if there is one that can be sent.
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
			return "", errors.New("the token holds a space, a line's end or another character no token has")
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
		return nil, b, errors.New("the address cannot be used")
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
		// A portal that refuses the caller says so before much is sent.
		req.Header.Set("Expect", "100-continue")
	}
	return req, b, nil
}

// unanswered is the error of a request that got no answer, or half of one. Sent
// reports whether the portal may have done it; nil means that it may.
func (p *Portal) unanswered(ctx context.Context, err error, sent func() bool) *Error {
	// What the library adds is the address, which the error has already.
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
		// The time to connect is shorter, and its error looks like the next.
		e.Problem = Unreachable
		return e
	case errors.Is(err, context.DeadlineExceeded):
		e.Err, e.late = fmt.Errorf("there is no answer after %v", p.opts.Timeout), true
	}
	e.Unsure = sent == nil || sent()
	return e
}

// waitOf reads the header that says how long to wait.
func waitOf(h http.Header) time.Duration {
	if s, err := strconv.Atoi(h.Get("Retry-After")); err == nil && s > 0 {
		return time.Duration(min(s, 1<<20)) * time.Second
	}
	return 0
}
