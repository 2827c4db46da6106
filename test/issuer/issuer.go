// Package issuer starts a certified OpenID Connect provider for tests. It runs
// under node, on loopback, with a certificate of an authority of its own, and
// ends with the test.
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

// Options are how an issuer behaves. The zero value is ready for use.
type Options struct {
	// Lifetime is that of ID tokens and access tokens, in whole seconds;
	// default one hour. A refresh token lives for a day, and for one use.
	Lifetime time.Duration
	// AuthMethod is how the client proves who it is: client_secret_basic,
	// which is the default, client_secret_post or none.
	AuthMethod string
	// Groups is the claim of that name in ID tokens, and People the same for
	// those who have other groups, by their subjects.
	Groups []string
	People map[string][]string
	// Redirect is where the client waits for its code; by default nobody is
	// there.
	Redirect string
}

// Issuer is a running provider with one client.
type Issuer struct {
	// URL is the issuer's address and CA, also in CAFile, the authority of its
	// certificate, in PEM.
	URL    string
	CA     []byte
	CAFile string

	// ClientID is the audience of ID tokens, and the subject of tokens that
	// are given for the client's own credentials.
	ClientID, ClientSecret string
	// Audience is the only one such a token can be had for.
	Audience string
	// Subject is who signs in for a refresh token.
	Subject string
	// Client is an HTTP client that trusts CA and follows no redirects.
	Client *http.Client

	opts Options
	stop func()
}

// redirect is where the client waits for its code by default.
const redirect = "https://127.0.0.1/callback"

// limit is how long anything may take on a machine that is busy.
const limit = time.Minute

// Start starts an issuer. The test is skipped if there is no node; the first
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

// Run starts an issuer for a caller that stops it, such as a TestMain.
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
		// The script finds its packages beside itself.
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
		"people": opts.People, "lifetime": int(opts.Lifetime.Seconds()),
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

// run starts the provider and waits for its address.
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
		// It ends when its input does.
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

// Stop ends the issuer before the test does. Nobody answers at its address
// then.
func (i *Issuer) Stop() { i.stop() }

// Request is a request for a token.
type Request struct {
	// Grant is what it was asked for: client_credentials, refresh_token or
	// authorization_code.
	Grant string `json:"grant"`
	// Error is why it was refused, empty if it was not.
	Error string `json:"error"`
}

// Requests returns the requests for tokens there were, in order, those for
// refresh tokens left out.
func (i *Issuer) Requests(tb testing.TB) []Request {
	tb.Helper()
	var all, out []Request
	if err := i.get(tb.Context(), i.URL+"/requests", &all); err != nil {
		tb.Fatalf("cannot count the requests: %v", err)
	}
	for _, r := range all {
		if r.Grant != "authorization_code" {
			out = append(out, r)
		}
	}
	return out
}

// get reads a JSON document.
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
		return fmt.Errorf("%s answers %s", url, resp.Status)
	}
	return json.NewDecoder(resp.Body).Decode(into)
}
