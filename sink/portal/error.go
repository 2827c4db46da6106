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

// Problem is why a portal did not do what it was asked.
type Problem uint8

// The problems.
const (
	// Unreachable: nobody answers at the address.
	Unreachable Problem = iota + 1
	// Interrupted: the connection ended, or time ran out, before an answer.
	Interrupted
	// Unauthenticated: the portal does not know the caller (401).
	Unauthenticated
	// Forbidden: it does, and refuses (403).
	Forbidden
	// Missing: it has no such endpoint (404, 405).
	Missing
	// Conflict: something else is there already (409).
	Conflict
	// TooLarge: it takes no push of this size (413).
	TooLarge
	// TooMany: there were too many requests (429).
	TooMany
	// Invalid: it refuses the request (any other 4xx).
	Invalid
	// Broken: it failed (5xx).
	Broken
	// Strange: what answers is no portal's catalog.
	Strange
)

// Error is something a portal did not do. It never holds a token.
type Error struct {
	Problem Problem
	// URL is the portal's address.
	URL string
	// Status is the HTTP status; 0 if there was no answer.
	Status int
	// Message is what the portal said, on one line.
	Message string
	// Unsure says that the portal may have done it all the same. A push is
	// done whole or not at all.
	Unsure bool
	Err    error

	verb string
	// pushes says that it was about pushing, which not every portal knows.
	pushes bool
	// late says that time ran out.
	late bool
	// after is how long the portal asks to wait.
	after time.Duration
}

// Error says what could not be done, and why.
func (e *Error) Error() string {
	why := e.Message
	switch {
	case e.Err != nil:
		why = e.Err.Error()
	case why == "":
		why = "it answers " + statusText(e.Status)
	default:
		why = fmt.Sprintf("it answers %s: %s", statusText(e.Status), why)
	}
	return fmt.Sprintf("cannot %s the portal at %s: %s", e.verb, e.URL, why)
}

// Unwrap returns the cause, if there is one besides the answer.
func (e *Error) Unwrap() error { return e.Err }

func statusText(status int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}

// Hint returns the way out; empty if there is none to name.
func (e *Error) Hint() string {
	switch e.Problem {
	case Unreachable:
		switch {
		case isTrust(e.Err):
			return "name the authority of its certificate with --ca-file"
		case isPlain(e.Err):
			return "does its address begin with http://?"
		case isProxy(e.Err):
			return "HTTP_PROXY and HTTPS_PROXY name the proxy, and NO_PROXY hosts that are reached without"
		}
		return "is it running, and is that its address?"
	case Interrupted:
		if e.late {
			return "see the portal's log; a large push may need more time, which --timeout gives"
		}
		return "see the portal's log, then try again"
	case Unauthenticated:
		return "give a token with --token-file or in PORTAL_TOKEN"
	case Forbidden:
		return "the token has expired or is not valid, or its owner lacks the permission"
	case Missing:
		if e.pushes {
			return "is that the address of a portal's backend? Backstage takes no push: use portal-provide serve or portal-provide commit"
		}
		return "is that the address of a portal's backend?"
	case Conflict:
		return "somebody else changed the same; try again"
	case TooLarge:
		return "push in parts with --mode delta, or raise the portal's limit"
	case TooMany:
		return "try again later"
	case Invalid:
		if e.Status != 0 && e.Message == "" {
			return "is that the address of the portal's backend, and does it begin with http:// or https://?"
		}
	case Broken:
		return "see the portal's log"
	case Strange:
		return "is that the address of the portal's backend, and not of its pages or of a proxy before it?"
	}
	return ""
}

// retry reports whether another attempt may help, and does no harm. Again says
// that the thing may be done twice.
func (e *Error) retry(again bool) bool {
	switch e.Problem {
	case Unreachable:
		return !isTrust(e.Err) && !isPlain(e.Err)
	case TooMany:
		return true
	case Broken:
		return e.Status == http.StatusServiceUnavailable
	case Interrupted:
		// A portal that is slow is not helped by being asked twice.
		return !e.late && (again || !e.Unsure)
	}
	return false
}

// problems are what statuses mean.
var problems = map[int]Problem{
	http.StatusUnauthorized: Unauthenticated, http.StatusForbidden: Forbidden, http.StatusNotFound: Missing, http.StatusMethodNotAllowed: Missing,
	http.StatusConflict: Conflict, http.StatusRequestEntityTooLarge: TooLarge, http.StatusTooManyRequests: TooMany,
}

// refusal reads an answer that is an error.
func refusal(res *http.Response, text []byte, token string) *Error {
	e := &Error{Problem: problems[res.StatusCode], Status: res.StatusCode, after: waitOf(res.Header), Message: messageOf(text, token)}
	switch {
	case e.Problem != 0:
	case res.StatusCode/100 == 3:
		e.Problem = Strange
		e.Message = "the address leads elsewhere"
		if to, err := url.Parse(res.Header.Get("Location")); err == nil && to.Host != "" {
			e.Message += ", to " + clean(to.Scheme+"://"+to.Host, token)
		}
	case res.StatusCode/100 == 4:
		e.Problem = Invalid
	case res.StatusCode/100 == 5:
		e.Problem = Broken
		// A gateway answers for somebody who may have done it.
		e.Unsure = res.StatusCode == http.StatusBadGateway || res.StatusCode == http.StatusGatewayTimeout
	default:
		e.Problem = Strange
	}
	return e
}

// messageOf returns what an error's body says.
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

// clean returns text from a portal for one line, with nothing that gives a
// terminal orders, and without the token.
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

// isRead reports whether what was to be sent could not be read.
func isRead(err error) bool {
	_, ok := errors.AsType[*readError](err)
	return ok
}

// isDial reports whether no connection came about, so that nothing was asked.
func isDial(err error) bool {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return true
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return true
	}
	return isTrust(err) || isPlain(err) || isProxy(err)
}

// isProxy reports whether the proxy before the portal cannot be reached.
func isProxy(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "proxyconnect"
}

// isPlain reports whether what answers knows nothing of certificates.
func isPlain(err error) bool {
	_, ok := errors.AsType[tls.RecordHeaderError](err)
	return ok || errors.Is(err, http.ErrSchemeMismatch)
}

// isTrust reports whether the server's certificate is not believed.
func isTrust(err error) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	_, ok := errors.AsType[x509.UnknownAuthorityError](err)
	return ok
}
