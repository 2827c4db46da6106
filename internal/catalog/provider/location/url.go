package location

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"
)

// errPrivate is the error for an address that is not public.
var errPrivate = errors.New("address is private; to allow it, add the address with its port to backend.reading.allow")

const maxRedirects = 5

// newClient returns the client for all reads. It uses no proxy, no cookies and no
// credentials.
func (r *Reader) newClient() *http.Client {
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		host, port, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, err
		}
		d := net.Dialer{
			Timeout: r.opts.Config.Timeout,
			Control: func(_, address string, _ syscall.RawConn) error { return r.checkDial(host, port, address) },
		}
		return d.DialContext(ctx, network, addr)
	}
	return &http.Client{
		Transport: &http.Transport{
			DialContext:            dial,
			ForceAttemptHTTP2:      true,
			MaxIdleConns:           20,
			MaxIdleConnsPerHost:    2,
			MaxConnsPerHost:        8,
			IdleConnTimeout:        30 * time.Second,
			TLSHandshakeTimeout:    10 * time.Second,
			MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: r.checkRedirect,
	}
}

func (r *Reader) checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return fmt.Errorf("more than %d redirects", maxRedirects)
	}
	if via[len(via)-1].URL.Scheme == "https" && req.URL.Scheme != "https" {
		return errors.New("redirect from https to http")
	}
	if _, p := parseURL(req.URL.String()); p != nil {
		return errors.New("redirect to an address that is not allowed")
	}
	if !r.allowed(req.URL) {
		return fmt.Errorf("redirect to %s://%s, which is not allowed; add it to backend.reading.allow", req.URL.Scheme, req.URL.Host)
	}
	// The previous URL may contain data that is not meant for the next server.
	req.Header.Del("Referer")
	return nil
}

// page is the response of a server.
type page struct {
	body           []byte
	etag, modified string
	// same says that the page has not been modified.
	same bool
}

// fetch reads a URL. With a known entry, the request is conditional.
func (r *Reader) fetch(ctx context.Context, u *url.URL, known *entry) (*page, *Problem) {
	if !r.allowed(u) {
		return nil, problemf(nameNotAllowed,
			"Unable to read url, reading from '%s://%s%s' is not allowed; add the host to backend.reading.allow", u.Scheme, u.Host, clip(u.EscapedPath()))
	}
	limited, cancel := context.WithTimeout(ctx, r.opts.Config.Timeout)
	defer cancel()
	p, err := r.get(limited, u, known)
	switch {
	case err == nil:
		return p, nil
	case errors.Is(err, errNoPage):
		return nil, problemf(nameNotFound, "Unable to read url, no matching files found for %s", shown(u))
	case limited.Err() != nil && ctx.Err() == nil:
		err = fmt.Errorf("timed out after %s", r.opts.Config.Timeout)
	case errors.Is(err, errPrivate):
		return nil, problemf(nameNotAllowed, "Unable to read url, %s: %v", shown(u), errPrivate)
	}
	return nil, problemf(nameOther, "Unable to read url, %s: %v", shown(u), reason(err))
}

var errNoPage = errors.New("page not found")

func (r *Reader) get(ctx context.Context, u *url.URL, known *entry) (*page, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", r.opts.Agent)
	req.Header.Set("Accept", "application/yaml, application/json, text/yaml, text/plain, */*;q=0.5")
	conditional := known != nil && (known.etag != "" || known.modified != "")
	if conditional {
		set(req.Header, "If-None-Match", known.etag)
		set(req.Header, "If-Modified-Since", known.modified)
	}
	res, err := r.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode == http.StatusNotModified && conditional:
		return &page{same: true}, nil
	case res.StatusCode == http.StatusNotFound, res.StatusCode == http.StatusGone:
		return nil, errNoPage
	case res.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("server returned %d %s", res.StatusCode, http.StatusText(res.StatusCode))
	}
	body, err := readAll(res.Body, r.opts.Config.MaxSize)
	if err != nil {
		return nil, err
	}
	return &page{body: body, etag: res.Header.Get("ETag"), modified: res.Header.Get("Last-Modified")}, nil
}

func set(h http.Header, key, value string) {
	if value != "" {
		h.Set(key, value)
	}
}

// readAll reads at most so many bytes; more is an error. For compressed data the
// decompressed size counts.
func readAll(in io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("more than %d bytes", most)
	}
	return data, nil
}

// reason removes the address from an error: the message already contains it.
func reason(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("response was truncated")
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		if e.IsNotFound {
			return errors.New("no such host")
		}
		return errors.New("host name lookup failed")
	}
	return err
}

// shown returns the address for messages, as it was given.
func shown(u *url.URL) string { return clip(u.Redacted()) }
