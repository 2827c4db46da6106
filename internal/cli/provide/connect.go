package provide

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"time"

	"github.com/spf13/pflag"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/sink/portal"
)

// envToken and envFrom are the environment variables that hold the tokens of the portal and
// of Backstage.
const (
	envToken = "PORTAL_TOKEN"
	envFrom  = "BACKSTAGE_TOKEN"
)

// connection holds the flags that select the portal and configure the connection.
type connection struct {
	url, tokenFile, caFile string
	timeout                time.Duration
	// tokenFlag and tokenEnv name the flag and the variable of the token.
	tokenFlag, tokenEnv string
}

func (c *connection) bind(f *pflag.FlagSet, url string) {
	c.tokenFlag, c.tokenEnv = "--token-file", envToken
	f.StringVar(&c.url, "api-url", "", "`address` of the portal's backend, such as http://localhost:7007"+url)
	f.StringVar(&c.tokenFile, "token-file", "", "`file` with the portal's token (default: the token in "+envToken+")")
	f.StringVar(&c.caFile, "ca-file", "", "`file` with the certificate authority of the portal, in PEM")
	f.DurationVar(&c.timeout, "timeout", portal.DefaultTimeout, "timeout of one request")
}

// connect returns the portal. It sends no request yet.
func (c *connection) connect(env *app.Env, opts portal.Options) (*portal.Portal, error) {
	if c.timeout <= 0 {
		return nil, flags.Usagef("use a duration such as 30s or 2m", "cannot use timeout %v", c.timeout)
	}
	token, err := c.token(env)
	if err != nil {
		return nil, flags.Usage(err, "set "+c.tokenFlag+" to a file that contains only the token")
	}
	if c.caFile != "" {
		client, err := trusting(c.caFile)
		if err != nil {
			return nil, flags.Usage(err, "set --ca-file to a file that begins with -----BEGIN CERTIFICATE-----")
		}
		opts.HTTP = client
	}
	opts.Token, opts.Timeout, opts.Agent = token, c.timeout, Name+"/"+app.BuildVersion()
	p, err := portal.New(c.url, opts)
	if err != nil {
		return nil, flags.Usage(err, "see "+Name+" --help")
	}
	return p, nil
}

// token returns a function that returns the token for each request. A regular file
// is read again, because it may change; a pipe, such as a shell creates for
// <(command), can be read only once.
func (c *connection) token(env *app.Env) (func() (string, error), error) {
	if c.tokenFile == "" {
		return func() (string, error) { return env.Getenv(c.tokenEnv), nil }, nil
	}
	again := func() (string, error) { return read("token", c.tokenFile) }
	now, err := again()
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(c.tokenFile); err == nil && !info.Mode().IsRegular() {
		return func() (string, error) { return now, nil }, nil
	}
	return again, nil
}

// read returns the text of a small file.
func read(what, path string) (string, error) {
	text, err := os.ReadFile(path)
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	if err != nil {
		return "", fmt.Errorf("cannot read %s file %q: %w", what, path, err)
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return "", fmt.Errorf("%s file %q is empty", what, path)
	}
	return string(text), nil
}

// trusting returns a client that trusts the CAs of a file.
func trusting(path string) (*http.Client, error) {
	text, err := read("certificate", path)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(text)) {
		return nil, fmt.Errorf("certificate file %q contains no certificate in PEM format", path)
	}
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, errors.New("cannot create an HTTP client: the default transport was replaced")
	}
	t = t.Clone()
	t.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	return &http.Client{Transport: t}, nil
}
