package remote

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
)

const (
	dialTimeout = 30 * time.Second
	// maxRefs is the size limit of a list of references, in bytes.
	maxRefs = 64 << 20
)

// dialHTTP prepares a connection. go-git follows redirects of the first request only,
// never from HTTPS to HTTP, and sends no credentials to another host.
func dialHTTP(_ context.Context, program string, at Address, way Options, creds Credentials) (session, error) {
	roots, err := way.Auth.roots()
	if err != nil {
		return nil, err
	}
	end, err := transport.NewEndpoint(at.URL.String())
	if err != nil {
		return nil, err
	}
	end.Path = at.URL.EscapedPath()
	var auth transport.AuthMethod
	if creds.user != "" {
		auth = &githttp.BasicAuth{Username: creds.user, Password: creds.password}
	}
	watch := guard{program: program, known: auth != nil, most: way.MaxBytes + maxRefs, way: way, RoundTripper: &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSHandshakeTimeout: dialTimeout,
		IdleConnTimeout:     dialTimeout,
		ForceAttemptHTTP2:   true,
		TLSClientConfig:     &tls.Config{RootCAs: roots, InsecureSkipVerify: way.Auth.SkipTLSVerify},
	}}
	client := githttp.NewClient(&http.Client{Transport: watch})
	if program == takes {
		return client.NewReceivePackSession(end, auth)
	}
	return client.NewUploadPackSession(end, auth)
}

// guard checks responses before go-git does, which puts whole pages into errors and
// reads lists without a limit.
type guard struct {
	http.RoundTripper
	known bool
	// program is the requested service, and way the options.
	program string
	way     Options
	most    int64
}

// RoundTrip sends the request and returns the response, if it is valid.
func (g guard) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := g.RoundTripper.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if err := g.check(res); err != nil {
		_ = res.Body.Close()
		return nil, err
	}
	if req.Method == http.MethodGet {
		g.most = maxRefs
	}
	res.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(res.Body, g.most), res.Body}
	return res, nil
}

// check explains an unexpected response.
func (g guard) check(res *http.Response) error {
	kind := res.Header.Get("Content-Type")
	switch code := res.StatusCode; {
	case code == http.StatusUnauthorized && !g.known:
		return Wrong("set a token that may "+g.way.verb()+" it; some servers also require one if the repository does not exist", "server requires credentials")
	case code == http.StatusUnauthorized:
		return Wrong("check that the token is complete, has not expired, and matches the user name", "server rejected the credentials")
	case code == http.StatusForbidden:
		return Wrong("use credentials that may "+g.way.verb()+" it", "permission denied for these credentials")
	case code == http.StatusNotFound:
		return Wrong("check the spelling; a private repository needs a token that may read it", "repository not found")
	case code >= http.StatusBadRequest:
		return Wrong("try again later", "server responded with %d %s", code, http.StatusText(code))
	case code == http.StatusOK && res.Request.Method == http.MethodGet && !strings.HasPrefix(kind, "application/x-"+g.program+"-advertisement"):
		return Wrong("check that the address is that of a repository, and whether the server requires credentials",
			"server did not respond with a repository")
	}
	return nil
}
