package remote

import (
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

// Problem is an error about a repository or the connection to it.
type Problem struct {
	Err error
	// Hint says how to solve the problem; empty if there is no hint.
	Hint string
}

// Error returns the message.
func (p *Problem) Error() string { return p.Err.Error() }

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Err }

// Wrong returns a Problem.
func Wrong(hint, format string, args ...any) *Problem {
	return &Problem{Err: fmt.Errorf(format, args...), Hint: hint}
}

// ErrEmpty is returned for a repository without commits.
var ErrEmpty = Wrong("push a commit first, or check the address", "repository has no commits yet")

// Explain returns the cause without wrapping that is meaningless to users, and with a
// hint.
func Explain(err error) *Problem {
	if e, ok := errors.AsType[*Problem](err); ok {
		return e
	}
	if u, ok := errors.AsType[*plumbing.UnexpectedError](err); ok {
		// UnexpectedError has no Unwrap method.
		return Explain(u.Err)
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		// The error quotes an address that is already in the message.
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
		return ErrEmpty
	case errors.Is(err, packp.ErrEmptyInput):
		return wordsOf("")
	case garbage, errors.Is(err, pktline.ErrInvalidPktLen):
		return Wrong("check that the address is that of a repository", "server does not support the Git protocol, or only a newer version")
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.Is(err, transport.ErrEmptyUploadPackRequest):
		return Wrong("try again", "server closed the connection early, or sent too much data")
	case isDNS && dns.IsNotFound:
		return Wrong("check the spelling, and that this machine can resolve host names", "host %q not found", dns.Name)
	case isCert:
		return Wrong("set the certificate authority if it is private", "server certificate is not trusted: %w", cert.Err)
	case isDial && dial.Op == "dial":
		return Wrong("check the address, and any firewall or proxy in between", "cannot reach the server: %w", dial.Err)
	}
	return &Problem{Err: err}
}

// wordsOf explains an error message that a server sent instead of a response.
func wordsOf(text string) *Problem {
	const hint = "check the address, and that the credentials may read it"
	if words := firstWords(text); words != "" {
		return Wrong(hint, "server responded with %q", words)
	}
	return Wrong(hint, "server closed the connection without a response")
}

// firstWords returns the first non-empty line of a message, or "".
func firstWords(text string) string {
	for line := range strings.Lines(text) {
		line = Said(strings.TrimLeft(strings.TrimPrefix(line, "remote:"), " =*"))
		if line != "" {
			return line
		}
	}
	return ""
}

// Said returns the message of a server as one line of limited length, without
// characters that could control a terminal.
func Said(text string) string {
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
