package portal

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
)

// Problem is the class of an Error.
type Problem uint8

// The problems.
const (
	// Unreachable: the portal cannot be connected to.
	Unreachable Problem = iota + 1
	// Interrupted: the connection broke, or the timeout expired, before a response.
	Interrupted
	// Unauthenticated: the portal does not accept the credentials (401).
	Unauthenticated
	// Forbidden: the caller lacks a permission (403).
	Forbidden
	// Missing: the portal has no such endpoint (404, 405).
	Missing
	// Conflict: the request conflicts with another change (409).
	Conflict
	// TooLarge: the push exceeds the portal's limit (413).
	TooLarge
	// TooMany: the rate limit was exceeded (429).
	TooMany
	// Invalid: the portal rejected the request (any other 4xx).
	Invalid
	// Broken: server error (5xx).
	Broken
	// Strange: the response is not that of a portal's catalog.
	Strange
)

// Error is the error of a request to a portal. It never contains a token.
type Error struct {
	Problem Problem
	// URL is the portal's address.
	URL string
	// Status is the HTTP status; 0 if there was no response.
	Status int
	// Message is the portal's message, on one line.
	Message string
	// Unsure reports that the portal may have executed the request nonetheless. A
	// push is atomic.
	Unsure bool
	Err    error

	// verb and name are what was requested, and what the portal is called.
	verb, name string
	// pushes reports that the request was a push, which not every portal supports.
	pushes bool
	// late reports that the timeout expired.
	late bool
	// after is the delay that the portal asked for with Retry-After.
	after time.Duration
}

// Error returns what failed, and why.
func (e *Error) Error() string {
	why := e.Message
	switch {
	case e.Err != nil:
		why = e.Err.Error()
	case why == "":
		why = "returned " + statusText(e.Status)
	default:
		why = fmt.Sprintf("returned %s: %s", statusText(e.Status), why)
	}
	return fmt.Sprintf("cannot %s %s at %s: %s", e.verb, e.name, e.URL, why)
}

// Unwrap returns the cause, if there is one besides the response.
func (e *Error) Unwrap() error { return e.Err }

func statusText(status int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}

// Hint says how to fix the problem; it may be empty.
func (e *Error) Hint() string {
	switch e.Problem {
	case Unreachable:
		switch {
		case isTrust(e.Err):
			return "set --ca-file to the CA that signed its certificate"
		case isPlain(e.Err):
			return "check whether its address should begin with http://"
		case isProxy(e.Err):
			return "check HTTP_PROXY and HTTPS_PROXY, which set the proxy, and NO_PROXY, which lists hosts to reach directly"
		}
		return "check that it is running, and that the address is correct"
	case Interrupted:
		if e.late {
			return "check the portal's log; a large push may need a longer --timeout"
		}
		return "check the portal's log, then try again"
	case Unauthenticated:
		return "set a token with --token-file or PORTAL_TOKEN"
	case Forbidden:
		return "check that the token is valid and not expired, and that its owner has the permission"
	case Missing:
		if e.pushes {
			return "check that the address is that of a portal's backend; for Backstage, which accepts no push, use portal-provide serve or portal-provide commit"
		}
		return "check that the address is that of a portal's backend"
	case Conflict:
		return "try again; another client changed the same entities"
	case TooLarge:
		return "push in parts with --mode delta, or raise the portal's limit"
	case TooMany:
		return "try again later"
	case Invalid:
		if e.Status != 0 && e.Message == "" {
			return "check that the address is that of the portal's backend, and that it begins with http:// or https://"
		}
	case Broken:
		return "check the portal's log"
	case Strange:
		return "check that the address is that of the portal's backend, not of its pages or of a proxy in front of it"
	}
	return ""
}

// retry reports whether a retry may help and is safe. again means that the request
// is idempotent.
func (e *Error) retry(again bool) bool {
	switch e.Problem {
	case Unreachable:
		return !isTrust(e.Err) && !isPlain(e.Err)
	case TooMany:
		return true
	case Broken:
		return e.Status == http.StatusServiceUnavailable
	case Interrupted:
		// Retrying does not help if the portal is slow.
		return !e.late && (again || !e.Unsure)
	}
	return false
}

// problems maps HTTP statuses to problems.
var problems = map[int]Problem{
	http.StatusUnauthorized: Unauthenticated, http.StatusForbidden: Forbidden, http.StatusNotFound: Missing, http.StatusMethodNotAllowed: Missing,
	http.StatusConflict: Conflict, http.StatusRequestEntityTooLarge: TooLarge, http.StatusTooManyRequests: TooMany,
}

// refusal converts an error response to an Error.
func refusal(res *http.Response, text []byte, token string) *Error {
	e := &Error{Problem: problems[res.StatusCode], Status: res.StatusCode, after: waitOf(res.Header), Message: messageOf(text, token)}
	switch {
	case e.Problem != 0:
	case res.StatusCode/100 == 3:
		e.Problem = Strange
		e.Message = "the address redirects to another one"
		if to, err := url.Parse(res.Header.Get("Location")); err == nil && to.Host != "" {
			e.Message += ", to " + clean(to.Scheme+"://"+to.Host, token)
		}
	case res.StatusCode/100 == 4:
		e.Problem = Invalid
	case res.StatusCode/100 == 5:
		e.Problem = Broken
		// Behind a gateway, the portal may have executed the request.
		e.Unsure = res.StatusCode == http.StatusBadGateway || res.StatusCode == http.StatusGatewayTimeout
	default:
		e.Problem = Strange
	}
	return e
}

// messageOf returns the message in the body of an error response.
func messageOf(text []byte, token string) string {
	var body struct {
		Error struct {
			Name    string `json:"name"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(text, &body) != nil || body.Error.Message == "" {
		return ""
	}
	if body.Error.Name == "" {
		return clean(body.Error.Message, token)
	}
	return clean(body.Error.Name+": "+body.Error.Message, token)
}

// clean returns text from a portal on one line, without terminal control
// characters and without the token.
func clean(text, token string) string {
	const most = 1000
	if token != "" {
		text = strings.ReplaceAll(text, token, masked)
	}
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		}
		return r
	}, text)
	if short := []rune(text); len(short) > most {
		text = string(short[:most]) + "…"
	}
	return text
}

// isRead reports whether the body could not be read.
func isRead(err error) bool {
	_, ok := errors.AsType[*readError](err)
	return ok
}

// isDial reports whether no connection was established, so that nothing was
// requested.
func isDial(err error) bool {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return true
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return true
	}
	return isTrust(err) || isPlain(err) || isProxy(err)
}

// isProxy reports whether the proxy cannot be reached.
func isProxy(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "proxyconnect"
}

// isPlain reports whether the server does not speak TLS.
func isPlain(err error) bool {
	_, ok := errors.AsType[tls.RecordHeaderError](err)
	return ok || errors.Is(err, http.ErrSchemeMismatch)
}

// isTrust reports whether the server's certificate is not trusted.
func isTrust(err error) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	_, ok := errors.AsType[x509.UnknownAuthorityError](err)
	return ok
}
