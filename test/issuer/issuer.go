// Package issuer starts a certified OpenID Connect provider for tests. It runs
// on node, on loopback, with a certificate of its own authority, and ends with
// the test.
package issuer

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	_ "embed"
)

//go:embed provider.mjs
var script []byte

// Options are the settings of an issuer. The zero value is ready for use.
type Options struct {
	// Lifetime is the lifetime of ID tokens and access tokens, in whole
	// seconds; default one hour. A refresh token is valid for a day and for one
	// use.
	Lifetime time.Duration
	// AuthMethod is how the client authenticates: client_secret_basic, which is
	// the default, client_secret_post or none.
	AuthMethod string
	// Groups is the groups claim in ID tokens, People overrides it by subject.
	Groups []string
	People map[string][]string
	// Claims are further claims of all users, or override those that they have.
	Claims map[string]any
	// Redirect is the callback URL of the client; the default has no server.
	Redirect string
}

// Issuer is a running provider with one client.
type Issuer struct {
	// URL is the issuer's URL; CA, also in CAFile, is the authority of its
	// certificate in PEM.
	URL    string
	CA     []byte
	CAFile string

	// ClientID is the audience of ID tokens, and the subject of tokens from the
	// client credentials grant.
	ClientID, ClientSecret string
	// Audience is the only audience of such a token.
	Audience string
	// Subject is the user who signs in for a refresh token.
	Subject string
	// Client is an HTTP client that trusts CA and follows no redirects.
	Client *http.Client

	opts Options
	stop func()
}

// redirect is the default callback URL of the client.
const redirect = "https://127.0.0.1/callback"

// limit is a timeout for every operation on a busy machine.
const limit = time.Minute

// Start starts an issuer. The test is skipped if node is missing; the first
// time, the provider's packages are installed.
func Start(tb testing.TB, opts Options) *Issuer {
	tb.Helper()
	i, err := Run(opts)
	if errors.Is(err, ErrOff) {
		tb.Skip(err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(i.stop)
	return i
}

// Run starts an issuer, which the caller stops, such as in a TestMain.
func Run(opts Options) (*Issuer, error) {
	if opts.Lifetime == 0 {
		opts.Lifetime = time.Hour
	}
	if opts.AuthMethod == "" {
		opts.AuthMethod = "client_secret_basic"
	}
	if opts.Redirect == "" {
		opts.Redirect = redirect
	}
	if opts.Claims == nil {
		opts.Claims = map[string]any{}
	}
	node, modules, err := Install()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "ingestor-issuer-")
	if err != nil {
		return nil, err
	}
	i := &Issuer{
		CAFile: filepath.Join(dir, "ca.pem"), ClientID: "ingestor", ClientSecret: rand.Text(),
		Audience: "https://cluster.example", Subject: "reader", opts: opts,
	}
	at := filepath.Join(dir, "provider.mjs")
	own, err := newAuthority()
	if err == nil {
		i.CA = own.ca
		// The script finds its packages in its own folder.
		err = errors.Join(os.Symlink(modules, filepath.Join(dir, "node_modules")),
			os.WriteFile(at, script, 0o600), os.WriteFile(i.CAFile, i.CA, 0o600))
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(i.CA)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	i.Client = &http.Client{
		Transport: transport, Timeout: limit,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	clean := func() {
		transport.CloseIdleConnections()
		_ = os.RemoveAll(dir)
	}
	settings, err := json.Marshal(map[string]any{
		"key": string(own.key), "cert": string(own.cert), "clientId": i.ClientID, "clientSecret": i.ClientSecret,
		"authMethod": opts.AuthMethod, "audience": i.Audience, "redirect": opts.Redirect, "groups": append([]string{}, opts.Groups...),
		"people": opts.People, "claims": opts.Claims, "lifetime": int(opts.Lifetime.Seconds()),
	})
	if err == nil {
		err = i.run(exec.Command(node, at), settings, clean)
	}
	if err != nil {
		clean()
		return nil, err
	}
	return i, nil
}

// run starts the provider and waits for its URL.
func (i *Issuer) run(cmd *exec.Cmd, settings []byte, clean func()) error {
	var said bytes.Buffer
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	i.stop = sync.OnceFunc(func() {
		// The provider ends when its input is closed.
		_ = in.Close()
		late := time.AfterFunc(limit, func() { _ = cmd.Process.Kill() })
		defer late.Stop()
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
		clean()
	})
	late := time.AfterFunc(limit, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	_, err = in.Write(append(settings, '\n'))
	if err == nil {
		var line []byte
		line, err = bufio.NewReader(out).ReadBytes('\n')
		if err == nil {
			err = json.Unmarshal(line, &struct {
				URL *string `json:"url"`
			}{&i.URL})
		}
	}
	if err != nil {
		i.stop()
		return fmt.Errorf("cannot start the issuer: %w\n%s", err, said.String())
	}
	return nil
}

// Stop stops the issuer before the end of the test. Its address then refuses
// connections.
func (i *Issuer) Stop() { i.stop() }

// Request is a request for a token.
type Request struct {
	// Grant is the grant type: client_credentials, refresh_token or
	// authorization_code.
	Grant string `json:"grant"`
	// Error is the error of a rejected request, empty otherwise.
	Error string `json:"error"`
}

// Requests returns all requests for tokens in order, without those that
// RefreshToken made.
func (i *Issuer) Requests(tb testing.TB) []Request {
	tb.Helper()
	var all, out []Request
	if err := i.get(tb.Context(), i.URL+"/requests", &all); err != nil {
		tb.Fatalf("cannot read the requests: %v", err)
	}
	for _, r := range all {
		if r.Grant != "authorization_code" {
			out = append(out, r)
		}
	}
	return out
}

// get decodes a JSON document.
func (i *Issuer) get(ctx context.Context, url string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := i.Client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s returned %s", url, resp.Status)
	}
	return json.NewDecoder(resp.Body).Decode(into)
}
