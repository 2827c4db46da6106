package forge

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"

	"example.dev/ingestor/internal/secret"
)

const (
	// callTimeout is the timeout of one call.
	callTimeout = 30 * time.Second
	// maxAnswer is the size limit of a response, in bytes.
	maxAnswer = 16 << 20
)

// client is a JSON client for a server.
type client struct {
	server Server
	at     *url.URL
	token  secret.Text
	pause  time.Duration
	http   *http.Client
}

// connect prepares a client for the server. Even if there is an error, shown can be
// called on the returned client.
func (s Server) connect() (*client, error) {
	c := &client{server: s, at: &url.URL{}, pause: cmp.Or(s.Pause, DefaultPause)}
	const hint = "write https://host"
	for _, address := range []string{s.API, s.Address} {
		if address == "" {
			continue
		}
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
			// An invalid URL may contain a password anywhere, so it is not quoted.
			return c, wrong(ErrRefused, hint, "invalid server address")
		}
		u.User = nil
		c.at = u
	}
	if c.at.Host == "" {
		return c, wrong(ErrRefused, hint, "missing server address")
	}
	token, err := given("token", s.Token, s.TokenFile)
	if err != nil {
		return c, err
	}
	c.token = secret.Text(strings.TrimSpace(string(token)))
	if strings.ContainsFunc(c.token.Reveal(), func(r rune) bool { return r <= ' ' || r > '~' }) {
		return c, wrong(ErrCredentials, "check that the token is complete and has no extra characters", "token contains invalid characters")
	}
	roots, err := s.roots()
	if err != nil {
		return c, err
	}
	c.http = &http.Client{
		CheckRedirect: stay,
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: callTimeout}).DialContext,
			TLSHandshakeTimeout: callTimeout,
			ForceAttemptHTTP2:   true,
			TLSClientConfig:     &tls.Config{RootCAs: roots, InsecureSkipVerify: s.SkipTLSVerify},
		},
	}
	return c, nil
}

func (c *client) close() { c.http.CloseIdleConnections() }

// shown returns the name of the server for messages.
func (c *client) shown() string { return cmp.Or(c.at.Host, "the server") }

// stay follows redirects only to the same server and with the same method, so that
// the token is sent nowhere else, and a request does not turn into another.
func stay(req *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) > 5 || req.URL.Host != first.URL.Host || req.URL.Scheme != first.URL.Scheme || req.Method != first.Method {
		return http.ErrUseLastResponse
	}
	return nil
}

// given returns a value, or the contents of the file that was named instead.
func given[T ~string | ~[]byte](what string, value T, path string) ([]byte, error) {
	if len(value) > 0 || path == "" {
		return []byte(value), nil
	}
	text, err := os.ReadFile(path)
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	if err != nil {
		return nil, wrong(ErrRefused, "check the path and the file permissions", "cannot read %s file %q: %v", what, path, err)
	}
	return text, nil
}

// roots returns the certificate authorities, or nil for those of the system.
func (s Server) roots() (*x509.CertPool, error) {
	text, err := given("certificate", s.CAData, s.CAFile)
	if err != nil || len(text) == 0 {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, wrong(ErrRefused, "the first line must be -----BEGIN CERTIFICATE-----", "certificate authority is not in PEM format")
	}
	return pool, nil
}

// answer is a response of a server.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// call sends a request, and decodes the response into a value, if one is given.
func (c *client) call(ctx context.Context, method, at string, body, into any) error {
	a, err := c.ask(ctx, method, at, body)
	if err != nil || into == nil {
		return err
	}
	if json.Unmarshal(a.body, into) != nil {
		return wrong(ErrRefused, "check the address of the server and of its API", "unexpected response from the server")
	}
	return nil
}

// first returns the default branch of a repository.
func (c *client) first(ctx context.Context, at string) (string, error) {
	var is struct {
		Branch string `json:"default_branch"`
	}
	if err := c.call(ctx, http.MethodGet, at, nil, &is); err != nil {
		return "", err
	}
	if is.Branch == "" {
		return "", wrong(ErrRefused, "specify the target branch", "repository has no default branch")
	}
	return is.Branch, nil
}

// ask sends a request. If the status is not a success, it returns an error in
// addition to the response.
func (c *client) ask(ctx context.Context, method, at string, body any) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return answer{}, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, at, bytes.NewReader(text))
	if err != nil {
		return answer{}, wrong(ErrRefused, "check the address of the server", "invalid server address")
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "ingestor")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token.Reveal())
	}
	res, err := c.http.Do(req)
	if err != nil {
		return answer{}, unreached(err)
	}
	defer res.Body.Close()
	a := answer{status: res.StatusCode, header: res.Header}
	a.body, err = io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return a, unreached(err)
	}
	if len(a.body) > maxAnswer {
		return a, wrong(ErrRefused, "check the address of the server", "response exceeds 16 MiB")
	}
	if a.status < http.StatusOK || a.status >= http.StatusMultipleChoices {
		// Redact before the message is cut, which could leave the beginning of a token.
		a.body = []byte(c.clean(string(a.body)))
		return a, c.judge(a)
	}
	return a, nil
}

// unreached explains why there is no response.
func unreached(err error) *problem {
	if u, ok := errors.AsType[*url.Error](err); ok {
		// The error quotes the whole URL.
		err = u.Err
	}
	dns, isDNS := errors.AsType[*net.DNSError](err)
	cert, isCert := errors.AsType[*tls.CertificateVerificationError](err)
	dial, isDial := errors.AsType[*net.OpError](err)
	var p *problem
	switch {
	case isDNS && dns.IsNotFound:
		return wrong(ErrUnavailable, "check the spelling, and that this machine can resolve host names", "host %q not found", dns.Name)
	case isCert:
		return wrong(ErrUnavailable, "set the certificate authority if it is private", "server certificate is not trusted: %v", cert.Err)
	case errors.Is(err, context.DeadlineExceeded):
		p = wrong(ErrUnavailable, "the server or the network may be slow; try again later", "server did not respond in time")
	case isDial && dial.Op == "dial":
		p = wrong(ErrUnavailable, "check the address, and any firewall or proxy in between", "cannot reach the server: %v", dial.Err)
	default:
		p = wrong(ErrUnavailable, "try again later", "server closed the connection: %v", err)
	}
	p.again = true
	return p
}

// after returns how long the server asks to wait before a retry; zero if it does not
// say.
func (a answer) after() time.Duration {
	then := a.header.Get("Retry-After")
	if s, err := strconv.Atoi(then); err == nil && s >= 0 {
		return time.Duration(min(s, 1<<20)) * time.Second
	}
	// Times are relative to the clock of the server.
	now, err := http.ParseTime(a.header.Get("Date"))
	if err != nil {
		return 0
	}
	if t, err := http.ParseTime(then); err == nil {
		return max(0, t.Sub(now))
	}
	if s, err := strconv.ParseInt(a.header.Get("X-Ratelimit-Reset"), 10, 64); err == nil && a.header.Get("X-Ratelimit-Remaining") == "0" {
		return max(0, time.Unix(s, 0).Sub(now))
	}
	return 0
}

// says returns the error message in a response, as one line of limited length. Each
// kind of server has its own format.
func (a answer) says() string {
	var all struct {
		Message any    `json:"message"`
		Error   any    `json:"error"`
		Text    string `json:"error_description"`
		Errors  []any  `json:"errors"`
	}
	if json.Unmarshal(a.body, &all) != nil {
		return ""
	}
	var parts []string
	add := func(v any) {
		switch v := v.(type) {
		case string:
			if v != "" {
				parts = append(parts, v)
			}
		case map[string]any:
			if m, ok := v["message"].(string); ok {
				parts = append(parts, m)
				return
			}
			if field, ok := v["field"].(string); ok {
				parts = append(parts, fmt.Sprintf("%s is %v", field, v["code"]))
				return
			}
			if text, err := json.Marshal(v); err == nil {
				parts = append(parts, string(text))
			}
		}
	}
	for _, v := range append([]any{all.Message, all.Error, all.Text}, all.Errors...) {
		if list, ok := v.([]any); ok {
			for _, v := range list {
				add(v)
			}
			continue
		}
		add(v)
	}
	return said(strings.Join(parts, ": "))
}

// said returns the message of a server without characters that could control a
// terminal.
func said(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.Trim(text, ": \n"))
	const most = 300
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// clean redacts the token in a text, in case a server has repeated it.
func (c *client) clean(text string) string {
	t := c.token.Reveal()
	if t == "" {
		return text
	}
	for _, form := range []string{t, url.QueryEscape(t), url.PathEscape(t), base64.StdEncoding.EncodeToString([]byte(t))} {
		text = strings.ReplaceAll(text, form, c.token.String())
	}
	return text
}
