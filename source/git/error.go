package git

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"unicode"
)

// Error is a repository that cannot be read, and why.
type Error struct {
	// Repository is its address as it was given, without credentials.
	Repository string
	Err        error
	// Hint is the way out; empty if there is none to name.
	Hint string
}

// Error returns the message.
func (e *Error) Error() string {
	return fmt.Sprintf("cannot read repository %q: %v", e.Repository, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// problem is a cause that knows the way out.
type problem struct {
	err  error
	hint string
}

// Error returns the message.
func (p *problem) Error() string { return p.err.Error() }

// Unwrap returns the cause.
func (p *problem) Unwrap() error { return p.err }

func wrong(hint, format string, args ...any) error {
	return &problem{err: fmt.Errorf(format, args...), hint: hint}
}

// failures are several errors that become one Error each.
type failures []error

// Error returns the messages.
func (f failures) Error() string { return errors.Join(f...).Error() }

// fail makes an Error of err.
func (s *Source) fail(ctx context.Context, err error, c credentials) error {
	if ctx.Err() != nil {
		// Whatever broke, it broke because of this.
		err = context.Cause(ctx)
	}
	if many, ok := errors.AsType[failures](err); ok {
		var all []error
		for _, e := range many {
			all = append(all, s.fail(ctx, e, c))
		}
		return errors.Join(all...)
	}
	p := explain(err)
	return &Error{Repository: s.at.shown, Err: c.clean(p.err), Hint: p.hint}
}

// explain returns the cause without the wrapping that says nothing to people,
// and the way out.
func explain(err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		// It quotes an address that is in the message already.
		err = u.Err
	}
	if d, ok := errors.AsType[*net.DNSError](err); ok && d.IsNotFound {
		return &problem{
			err:  fmt.Errorf("there is no host %q", d.Name),
			hint: "check the spelling, and whether this machine can look up names of hosts",
		}
	}
	if c, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return &problem{
			err:  fmt.Errorf("the certificate of the server is not trusted: %w", c.Err),
			hint: "name the authority that signed it, if it is one of your own",
		}
	}
	if o, ok := errors.AsType[*net.OpError](err); ok && o.Op == "dial" {
		return &problem{
			err:  fmt.Errorf("the server cannot be reached: %w", o.Err),
			hint: "check the address, and whether a firewall or a proxy is in between",
		}
	}
	if n, ok := errors.AsType[net.Error](err); ok && n.Timeout() {
		return &problem{err: fmt.Errorf("the server does not answer: %w", err), hint: "try again later"}
	}
	return &problem{err: err}
}

// hidden is what stands where a secret stood.
const hidden = "********"

// clean returns err, or one without the secrets if somebody, such as a server
// that repeats what it was sent, put them into the message.
func (c credentials) clean(err error) error {
	text := err.Error()
	clean := text
	for _, secret := range c.secrets() {
		clean = strings.ReplaceAll(clean, secret, hidden)
	}
	if clean == text {
		return err
	}
	return errors.New(clean)
}

// said returns what a server says as one line that is not too long, without
// what could change how a terminal shows it.
func said(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
	const most = 300
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
