package git

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"unicode"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/transport"
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

// wrong returns an Error that is still to learn of which repository.
func wrong(hint, format string, args ...any) *Error {
	return &Error{Err: fmt.Errorf(format, args...), Hint: hint}
}

var errEmpty = wrong("commit something first, or check the address", "it has no commits yet")

// fail makes an Error of err, or one of each if it is several. Secrets are taken
// out, should somebody, such as a server that repeats what it was sent, have put
// them into the message.
func (s *Source) fail(ctx context.Context, err error, c credentials) error {
	if ctx.Err() != nil {
		// Whatever broke, it broke because of this.
		err = context.Cause(ctx)
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, e := range many.Unwrap() {
			all = append(all, s.fail(ctx, e, c))
		}
		return errors.Join(all...)
	}
	e := *explain(err)
	text := e.Err.Error()
	clean := text
	for _, secret := range c.secrets() {
		clean = strings.ReplaceAll(clean, secret, "********")
	}
	if clean != text {
		e.Err = errors.New(clean)
	}
	e.Repository = s.at.shown
	return &e
}

// explain returns the cause without the wrapping that says nothing to people,
// and the way out.
func explain(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if u, ok := errors.AsType[*plumbing.UnexpectedError](err); ok {
		// It unwraps nothing.
		return explain(u.Err)
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		// It quotes an address that is in the message already.
		err = u.Err
	}
	line, isLine := errors.AsType[*pktline.ErrorLine](err)
	_, garbage := errors.AsType[*packp.ErrUnexpectedData](err)
	dns, isDNS := errors.AsType[*net.DNSError](err)
	cert, isCert := errors.AsType[*tls.CertificateVerificationError](err)
	dial, isDial := errors.AsType[*net.OpError](err)
	switch {
	case isLine:
		return wordsOf(line.Text)
	case errors.Is(err, transport.ErrEmptyRemoteRepository):
		return errEmpty
	case errors.Is(err, packp.ErrEmptyInput):
		return wordsOf("")
	case garbage, errors.Is(err, pktline.ErrInvalidPktLen):
		return wrong("check that the address is that of a repository", "the server does not speak as Git does, or in a newer way")
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.Is(err, transport.ErrEmptyUploadPackRequest):
		return wrong("try again", "the server ends the connection before all has come, or sends too much")
	case isDNS && dns.IsNotFound:
		return wrong("check the spelling, and whether this machine can look up names of hosts", "there is no host %q", dns.Name)
	case isCert:
		return wrong("name the authority that signed it, if it is one of your own", "the certificate of the server is not trusted: %w", cert.Err)
	case isDial && dial.Op == "dial":
		return wrong("check the address, and whether a firewall or a proxy is in between", "the server cannot be reached: %w", dial.Err)
	}
	return &Error{Err: err}
}

// wordsOf explains what a server says instead of an answer: its first line that
// says something.
func wordsOf(text string) *Error {
	const hint = "check the address, and that the credentials may see it"
	for line := range strings.Lines(text) {
		line = said(strings.TrimLeft(strings.TrimPrefix(line, "remote:"), " ="))
		if line != "" {
			return wrong(hint, "the server says %q", line)
		}
	}
	return wrong(hint, "the server ends the connection without a word")
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
