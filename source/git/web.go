package git

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
)

// The parts of Git's protocol over HTTP.
const (
	service     = "git-upload-pack"
	infoRefs    = "/info/refs"
	dialTimeout = 30 * time.Second
)

// webWire speaks Git's protocol over HTTP.
type webWire struct {
	client *http.Client
	// base is the address of the repository, which a server may move.
	base  *url.URL
	creds credentials
	// trusted says that base is still where the credentials are for.
	trusted bool
}

func newWeb(at address, auth Auth, creds credentials) (*webWire, error) {
	roots, err := auth.roots()
	if err != nil {
		return nil, err
	}
	return &webWire{
		base: at.url, creds: creds, trusted: true,
		client: &http.Client{
			CheckRedirect: checkRedirect,
			Transport: &http.Transport{
				Proxy:               http.ProxyFromEnvironment,
				DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext,
				TLSHandshakeTimeout: dialTimeout,
				ForceAttemptHTTP2:   true,
				TLSClientConfig: &tls.Config{
					RootCAs:            roots,
					InsecureSkipVerify: auth.SkipTLSVerify,
				},
			},
		},
	}, nil
}

// roots returns the authorities, or nil for those the system knows.
func (a Auth) roots() (*x509.CertPool, error) {
	data := a.CAData
	if len(data) == 0 && a.CAFile != "" {
		var err error
		if data, err = readFile("certificate", a.CAFile); err != nil {
			return nil, err
		}
	}
	if len(data) == 0 {
		return nil, nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		return nil, wrong("it begins with the line -----BEGIN CERTIFICATE-----", "the authority is not a certificate in PEM")
	}
	return pool, nil
}

// checkRedirect follows the first question only, never from HTTPS to HTTP, and
// takes no credentials to another host.
func checkRedirect(req *http.Request, via []*http.Request) error {
	last := via[len(via)-1]
	switch {
	case len(via) >= 10:
		return errors.New("the server leads from one address to the next without end")
	case via[0].Method != http.MethodGet:
		return errors.New("the server moves while it is read")
	case last.URL.Scheme == "https" && req.URL.Scheme != "https":
		return errors.New("the server leads from HTTPS to an address without")
	}
	// The standard library copies the headers of the first request every time.
	for _, r := range slices.Concat(via[1:], []*http.Request{req}) {
		if !sameOrigin(via[0].URL, r.URL) {
			req.Header.Del("Authorization")
			req.URL.User = nil
		}
	}
	return nil
}

// sameOrigin reports whether credentials for a may go to b.
func sameOrigin(a, b *url.URL) bool {
	return strings.EqualFold(a.Host, b.Host) && (a.Scheme == b.Scheme || b.Scheme == "https")
}

// advertise asks what there is.
func (w *webWire) advertise(ctx context.Context) (*packp.AdvRefs, error) {
	res, err := w.do(ctx, http.MethodGet, w.base.String()+infoRefs+"?service="+service, nil)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	at := *res.Request.URL
	base, ok := strings.CutSuffix(at.Path, infoRefs)
	if !ok || !strings.HasPrefix(res.Header.Get("Content-Type"), "application/x-"+service+"-advertisement") {
		return nil, wrong("check that the address is that of a repository; the server may also ask for credentials in this way",
			"the server answers with something that is not a repository")
	}
	w.trusted = sameOrigin(w.base, &at) && res.Request.Header.Get("Authorization") != ""
	at.Path, at.RawPath, at.RawQuery = base, "", ""
	w.base = &at
	refs, err := decodeRefs(res.Body)
	if errors.Is(err, packp.ErrEmptyInput) {
		return nil, notThere("")
	}
	return refs, err
}

// send sends a request for objects.
func (w *webWire) send(ctx context.Context, request []byte) (io.ReadCloser, error) {
	res, err := w.do(ctx, http.MethodPost, w.base.String()+"/"+service, request)
	if err != nil {
		return nil, err
	}
	return res.Body, nil
}

func (w *webWire) do(ctx context.Context, method, at string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, at, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the address is not a URL")
	}
	req.Header.Set("User-Agent", capability.DefaultAgent())
	if body != nil {
		req.Header.Set("Content-Type", "application/x-"+service+"-request")
		req.Header.Set("Accept", "application/x-"+service+"-result")
	}
	if w.trusted && w.creds.user != "" {
		req.SetBasicAuth(w.creds.user, w.creds.password)
	}
	res, err := w.client.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode == http.StatusOK {
		return res, nil
	}
	// What the server says beside the number is a page for a browser.
	_ = res.Body.Close()
	return nil, w.status(res.StatusCode)
}

// status explains an answer that is not the one that was hoped for.
func (w *webWire) status(code int) error {
	known := w.creds.user != ""
	switch {
	case code == http.StatusUnauthorized && !known:
		return wrong("give a token that may read it; some hosts ask for one too if there is no such repository", "the server asks for credentials")
	case code == http.StatusUnauthorized:
		return wrong("check that the token is whole, has not expired, and goes with the user name", "the server does not accept the credentials")
	case code == http.StatusForbidden:
		return wrong("give credentials that may read it", "the server does not let these credentials read it")
	case code == http.StatusNotFound && !known:
		return wrong("check the spelling; a private repository may need a token", "there is no such repository")
	case code == http.StatusNotFound:
		return wrong("check the spelling, and that the token may see it", "there is no such repository")
	}
	return fmt.Errorf("the server answers %d %s", code, http.StatusText(code))
}

func (w *webWire) close() { w.client.CloseIdleConnections() }
