package access

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/oauth2"

	"example.dev/ingestor/source"
)

// line is the connection to an issuer. It records what the libraries do not report:
// that the issuer was unreachable or had a server error, which may be temporary.
type line struct {
	next http.RoundTripper
	down atomic.Bool
}

// RoundTrip sends the request.
func (l *line) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := l.next.RoundTrip(req)
	switch {
	case err != nil:
		_, distrusted := errors.AsType[*tls.CertificateVerificationError](err)
		_, foreign := errors.AsType[tls.RecordHeaderError](err)
		if !distrusted && !foreign && !errors.Is(err, context.Canceled) {
			l.down.Store(true)
		}
	case resp.StatusCode == http.StatusTooManyRequests, resp.StatusCode >= http.StatusInternalServerError:
		l.down.Store(true)
	}
	return resp, err
}

// explain describes a failure of the issuer, without secrets that it was sent or
// returned.
func (i *issuer) explain(err error) error {
	at := fmt.Sprintf("issuer %q", redact(i.settings.Issuer))
	if r, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return fmt.Errorf("%s refused: %s", at, i.refusal(r))
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("cannot reach %s: %w", at, u.Err)
	}
	if i.provider != nil && i.shortest() < long {
		return fmt.Errorf("%s: invalid response", at)
	}
	return fmt.Errorf("%s: %s", at, i.brief(err.Error()))
}

// refusal returns the issuer's error message.
func (i *issuer) refusal(r *oauth2.RetrieveError) string {
	status := fmt.Sprintf("%d %s", r.Response.StatusCode, http.StatusText(r.Response.StatusCode))
	if i.shortest() < long {
		for _, s := range i.secrets() {
			if strings.Contains(r.ErrorCode, s) {
				return status
			}
		}
		return cmp.Or(r.ErrorCode, status)
	}
	what := cmp.Or(r.ErrorCode, status)
	if r.ErrorDescription != "" {
		what += ": " + r.ErrorDescription
	}
	return i.brief(what)
}

// long is the minimum length of a secret that is redacted from a text. Ordinary words
// contain shorter ones by chance, and the gaps would reveal them: if there is a
// shorter secret, none of the issuer's free text is shown.
const long = 8

// secrets returns the secrets that were sent to the issuer.
func (i *issuer) secrets() []string {
	all := []string{i.settings.ClientSecret.Reveal(), i.settings.RefreshToken.Reveal(), i.refresh}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

// shortest returns the length of the shortest secret, at most long.
func (i *issuer) shortest() int {
	least := long
	for _, s := range i.secrets() {
		least = min(least, len(s))
	}
	return least
}

// brief shortens a message to its first line, because the rest is the page that was
// returned, and redacts what an issuer repeats of the secrets.
func (i *issuer) brief(message string) string {
	var forms []string
	for _, s := range i.secrets() {
		if len(s) >= long {
			forms = append(forms, spellings(s)...)
		}
	}
	name, secret := url.QueryEscape(i.settings.ClientID), url.QueryEscape(i.settings.ClientSecret.Reveal())
	forms = append(forms, base64.StdEncoding.EncodeToString([]byte(name+":"+secret)))
	// One form may be part of another.
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	for _, f := range forms {
		message = strings.ReplaceAll(message, f, source.Secret(f).String())
	}
	first, _, _ := strings.Cut(message, "\n")
	const most = 300
	if runes := []rune(first); len(runes) > most {
		first = string(runes[:most]) + "…"
	}
	return first
}

var escaped = regexp.MustCompile(`%[0-9A-F]{2}`)

// spellings returns the forms in which a secret may be written in a text.
func spellings(secret string) []string {
	query, path := url.QueryEscape(secret), url.PathEscape(secret)
	coded, _ := json.Marshal(secret) // A string can always be encoded.
	quoted := string(coded[1 : len(coded)-1])
	bare := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(secret)
	return []string{
		secret, html.EscapeString(secret),
		query, escaped.ReplaceAllStringFunc(query, strings.ToLower), path, escaped.ReplaceAllStringFunc(path, strings.ToLower),
		quoted, bare, strings.ReplaceAll(bare, "/", `\/`),
	}
}
