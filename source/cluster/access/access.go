// Package access opens the way to a cluster: from settings, a kubeconfig or
// the inside of a pod to an HTTP client that trusts the right certificate and
// proves who it is, with credentials that are renewed while it is used.
package access

import (
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"example.dev/ingestor/source"
)

// podToken is where a pod finds its service account's token.
const podToken = "/var/run/secrets/kubernetes.io/serviceaccount/token"

// Access is the way to one cluster.
type Access struct {
	// URL is the API server's address, without a slash at the end.
	URL string
	// Config is the same for the client library; its own credentials are in
	// its transport.
	Config *rest.Config
	// Client follows no redirects: a credential goes to no other address.
	Client *http.Client
}

// Error is a way that cannot be opened, and why.
type Error struct {
	Err  error
	Hint string
}

// Error returns the message.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func bad(hint, format string, args ...any) error {
	return &Error{Err: fmt.Errorf(format, args...), Hint: hint}
}

// Open opens the way to a cluster. It reads files, and asks nobody: what is
// wrong with an address or a credential shows when it is used. agent is the
// name this program tells the server.
func Open(c source.Cluster, agent string) (*Access, error) {
	cfg, tokens, err := settle(c)
	if err != nil {
		return nil, err
	}
	cfg.UserAgent = agent
	cfg.WarningHandler = rest.NoWarnings{}
	base, _, err := rest.DefaultServerUrlFor(cfg)
	if err != nil {
		return nil, bad("write it as https://host:port", "cannot use the address: %w", plain(err))
	}
	if tokens != nil {
		cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return &bearer{tokens: tokens, host: base.Host, next: next}
		})
	}
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, bad("check the certificates and keys of the cluster's settings", "cannot use its settings: %w", err)
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Access{URL: strings.TrimSuffix(base.String(), "/"), Config: cfg, Client: client}, nil
}

// settle returns the client library's settings and, if they are not among
// them, where the tokens come from.
func settle(c source.Cluster) (*rest.Config, tokenSource, error) {
	switch {
	case c.Kubeconfig != "":
		return fromKubeconfig(c)
	case c.InCluster:
		cfg, err := rest.InClusterConfig()
		if err != nil {
			return nil, nil, bad("this works in a pod only, with its service account's token mounted", "cannot use the cluster this runs in: %w", err)
		}
		return ownTokens(cfg, "")
	}
	cfg := &rest.Config{Host: c.URL}
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, nil, bad("write it as https://host:port", "cannot use the address %q", redact(c.URL))
	}
	if u.User != nil {
		return nil, nil, bad("give credentials as a token, not in the address", "cannot use the address %q", redact(c.URL))
	}
	cfg.TLSClientConfig, err = trust(c)
	if err != nil {
		return nil, nil, err
	}
	tokens, err := tokensOf(c)
	return cfg, tokens, err
}

// trust says whose certificate is believed.
func trust(c source.Cluster) (rest.TLSClientConfig, error) {
	t := rest.TLSClientConfig{Insecure: c.SkipTLSVerify, CAFile: c.CAFile, CAData: c.CAData}
	if c.SkipTLSVerify {
		// The library refuses to be given both.
		t.CAFile, t.CAData = "", nil
		return t, nil
	}
	if t.CAFile != "" && len(t.CAData) == 0 {
		data, err := os.ReadFile(t.CAFile)
		if err != nil {
			return t, bad("check caFile", "cannot read the certificate authority: %w", err)
		}
		t.CAFile, t.CAData = "", data
	}
	if len(t.CAData) == 0 {
		return t, nil
	}
	if block, _ := pem.Decode(t.CAData); block == nil {
		decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(t.CAData)))
		if err == nil {
			t.CAData = decoded
		}
	}
	if block, _ := pem.Decode(t.CAData); block == nil || block.Type != "CERTIFICATE" {
		return t, bad("give the certificate in PEM, beginning with -----BEGIN CERTIFICATE-----", "cannot use the certificate authority: it is not a certificate in PEM")
	}
	return t, nil
}

func tokensOf(c source.Cluster) (tokenSource, error) {
	switch c.Auth {
	case source.AuthOIDC:
		return newIssuer(c.OIDC)
	case source.AuthServiceAccount, source.AuthToken, "":
	default:
		return nil, bad("use serviceAccount, token or oidc", "cannot authenticate by %q", c.Auth)
	}
	switch {
	case c.TokenFile != "":
		return &tokenFile{path: c.TokenFile}, nil
	case c.Token != "":
		return fixed(strings.TrimSpace(c.Token.Reveal())), nil
	case c.Auth == source.AuthToken:
		return nil, bad("set token or tokenFile", "cannot authenticate: there is no token")
	}
	if _, err := os.Stat(podToken); err != nil {
		return nil, bad("set serviceAccountToken or serviceAccountTokenFile; kubectl create token makes one", "cannot authenticate: there is no service account's token")
	}
	return &tokenFile{path: podToken}, nil
}

// ownTokens takes the token file out of the library's settings: the library
// looks at it once a minute, which is late for a token that was replaced.
func ownTokens(cfg *rest.Config, origin string) (*rest.Config, tokenSource, error) {
	if cfg.BearerTokenFile == "" {
		return cfg, nil, nil
	}
	path := cfg.BearerTokenFile
	if origin != "" && !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(origin), path)
	}
	cfg.BearerToken, cfg.BearerTokenFile = "", ""
	return cfg, &tokenFile{path: path}, nil
}

func fromKubeconfig(c source.Cluster) (*rest.Config, tokenSource, error) {
	rules := loading(c.Kubeconfig)
	all, err := rules.Load()
	if err != nil {
		return nil, nil, bad("check the file, for example with kubectl config view", "cannot read the kubeconfig: %w", plain(err))
	}
	name := c.Context
	if name == "" {
		name = all.CurrentContext
	}
	if name == "" {
		return nil, nil, bad("name one of "+quoteAll(contextNames(all.Contexts))+" with --context", "cannot use kubeconfig %q: it has no current context", c.Kubeconfig)
	}
	if _, ok := all.Contexts[name]; !ok {
		return nil, nil, bad("it has "+quoteAll(contextNames(all.Contexts)), "cannot find context %q in kubeconfig %q", name, c.Kubeconfig)
	}
	cfg, err := clientcmd.NewNonInteractiveClientConfig(*all, name, &clientcmd.ConfigOverrides{}, rules).ClientConfig()
	if err != nil {
		return nil, nil, bad("check the context, for example with kubectl --context "+name+" version", "cannot use context %q: %w", name, err)
	}
	return ownTokens(cfg, "")
}

// Contexts returns the names of a kubeconfig's contexts in order, and the
// current one. path may be several, as the environment variable has them.
func Contexts(path string) (names []string, current string, err error) {
	all, err := loading(path).Load()
	if err != nil {
		return nil, "", bad("check the file, for example with kubectl config view", "cannot read the kubeconfig: %w", plain(err))
	}
	return contextNames(all.Contexts), all.CurrentContext, nil
}

func loading(path string) *clientcmd.ClientConfigLoadingRules {
	files := filepath.SplitList(path)
	if len(files) == 1 {
		// One that is named must exist; of several, those that do count.
		return &clientcmd.ClientConfigLoadingRules{ExplicitPath: path}
	}
	return &clientcmd.ClientConfigLoadingRules{Precedence: files, WarnIfAllMissing: false}
}

func contextNames[T any](contexts map[string]T) []string {
	names := make([]string, 0, len(contexts))
	for n := range contexts {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

func quoteAll(names []string) string {
	if len(names) == 0 {
		return "no context"
	}
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = fmt.Sprintf("%q", n)
	}
	return strings.Join(quoted, ", ")
}

// redact returns an address without what may be secret in it.
func redact(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "(not an address)"
	}
	if u.User != nil {
		u.User = url.User("…")
	}
	u.RawQuery, u.Fragment = "", ""
	return u.String()
}

// plain takes an address out of an error that would repeat it.
func plain(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}
