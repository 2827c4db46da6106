package forge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Reasons why a change request cannot be opened.
var (
	ErrCredentials  = errors.New("server rejected the token")
	ErrForbidden    = errors.New("token lacks permission")
	ErrNotFound     = errors.New("repository not found, or not visible to the token")
	ErrNoDifference = errors.New("the branches do not differ")
	ErrUnavailable  = errors.New("server unavailable")
	ErrRefused      = errors.New("server refused the request")
)

// Error is returned for a change request that cannot be opened.
type Error struct {
	// Server is the address of the server, and Repository the repository of the request.
	Server, Repository string
	// Status is the status of the response; zero if there was none.
	Status int
	// Err is or wraps one of the errors above.
	Err error
	// Hint says how to solve the problem; empty if there is no hint.
	Hint string
}

// Error returns the message.
func (e *Error) Error() string {
	if e.Repository == "" {
		return fmt.Sprintf("cannot detect the kind of server %s: %v", e.Server, e.Err)
	}
	return fmt.Sprintf("cannot open a change request in %q at %s: %v", e.Repository, e.Server, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// problem is an error that does not know its request yet.
type problem struct {
	status int
	// why is one of the errors above, and text the message.
	why  error
	text string
	hint string
	// again says that a retry may succeed, and after how long the server asks to wait
	// before it.
	again bool
	after time.Duration
}

// Error returns the message.
func (p *problem) Error() string { return p.text }

// Unwrap returns why.
func (p *problem) Unwrap() error { return p.why }

// wrong returns a problem.
func wrong(why error, hint, format string, args ...any) *problem {
	return &problem{why: why, hint: hint, text: fmt.Sprintf(format, args...)}
}

// fail converts err to an Error, without secrets.
func (r Request) fail(ctx context.Context, c *client, err error) error {
	if ctx.Err() != nil {
		// The end of the context is the cause of any other error.
		err = context.Cause(ctx)
	}
	p, ok := errors.AsType[*problem](err)
	if !ok {
		return &Error{Server: c.shown(), Repository: r.Repository, Err: err}
	}
	return &Error{
		Server: c.shown(), Repository: r.Repository, Status: p.status, Hint: p.hint,
		Err: &problem{why: p.why, text: c.clean(p.text)},
	}
}

// judge explains an unsuccessful response.
func (c *client) judge(a answer) *problem {
	p := &problem{status: a.status}
	says := a.says()
	low := strings.ToLower(says)
	limited := a.status == http.StatusTooManyRequests || a.status == http.StatusForbidden &&
		(a.header.Get("Retry-After") != "" || a.header.Get("X-Ratelimit-Remaining") == "0")
	switch {
	case limited:
		p.why, p.hint, p.again, p.after = ErrUnavailable, "try again later", true, a.after()
		p.text = "rate limit exceeded"
	case a.status == http.StatusUnauthorized && c.token == "":
		p.why, p.hint, p.text = ErrCredentials, "set a token that may open change requests", "server requires a token"
	case a.status == http.StatusUnauthorized:
		p.why, p.hint = ErrCredentials, "check that the token is complete, has not expired, and belongs to this server"
	case a.status == http.StatusForbidden:
		p.why, p.hint = ErrForbidden, "set a token that may open change requests: repo or pull requests (write) at GitHub, api at GitLab, repository (write) at Gitea"
	case a.status == http.StatusNotFound:
		p.why, p.hint = ErrNotFound, "check the spelling; a private repository needs a token that may read it and open change requests"
	case strings.Contains(low, "no commits between"), strings.Contains(low, "no changes between"):
		p.why, p.hint = ErrNoDifference, "nothing to propose"
	case strings.Contains(low, "already exists"):
		// Another client was faster; the next attempt finds its change request.
		p.why, p.hint, p.again = ErrRefused, "close the existing change request, or use another branch", true
		p.text = "a change request already exists, but was not found"
	case a.status >= http.StatusInternalServerError || a.status == http.StatusRequestTimeout:
		p.why, p.hint, p.again, p.after = ErrUnavailable, "try again later", true, a.after()
		p.text = fmt.Sprintf("server responded with %d %s", a.status, http.StatusText(a.status))
	case a.status < http.StatusBadRequest:
		p.why, p.hint = ErrRefused, "check the address of the server; the repository may have been renamed"
		p.text = fmt.Sprintf("server responded with %d %s", a.status, http.StatusText(a.status))
	default:
		p.why, p.hint = ErrRefused, "check the branches and the title"
		p.text = fmt.Sprintf("server refused the request with %d %s", a.status, http.StatusText(a.status))
	}
	p.text = cmp.Or(p.text, p.why.Error())
	if says != "" {
		p.text += fmt.Sprintf(": %q", says)
	}
	return p
}
