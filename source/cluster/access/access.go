// Package access provides the access to a cluster: from settings, a kubeconfig or the
// inside of a pod to an HTTP client that verifies the server's certificate and
// authenticates itself, with credentials that are renewed while it is used.
package access

import (
	"crypto/x509"
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

// Access is the access to one cluster.
type Access struct {
	// URL is the API server's URL, without a trailing slash.
	URL string
	// Config is the same for client-go; credentials that we manage are in its transport.
	Config *rest.Config
	// Client follows no redirects, so that a credential is sent to no other address.
	Client *http.Client
}

// Error is returned for settings that cannot be used.
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

// Open prepares the access to a cluster. It reads files, and makes no requests: a
// wrong address or credential shows when it is used. agent is the user agent of this
// program.
func Open(c source.Cluster, agent string) (*Access, error) {
	cfg, tokens, err := settle(c)
	if err != nil {
		return nil, err
	}
	cfg.UserAgent = agent
	cfg.WarningHandler = rest.NoWarnings{}
	base, err := address(cfg)
	if err != nil {
		return nil, err
	}
	if tokens != nil {
		cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return &bearer{tokens: tokens, host: base.Host, next: next}
		})
	}
	var asked *program
	if cfg.ExecProvider != nil {
		asked = &program{command: cfg.ExecProvider.Command}
		cfg.Wrap(asked.below)
	}
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		hint := "check the certificates and keys in the cluster's settings"
		if cfg.AuthProvider != nil {
			hint = "replace auth-provider in the kubeconfig by exec with a credential program, or by a token"
		}
		return nil, bad(hint, "invalid settings: %w", err)
	}
	// client-go may return a client that is shared by the whole program.
	own := *client
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if asked != nil {
		asked.next = client.Transport
		own.Transport = asked
	}
	return &Access{URL: strings.TrimSuffix(base.String(), "/"), Config: cfg, Client: &own}, nil
}

// address returns the URL of the server. client-go's error about an invalid address
// quotes it, with any password in it.
func address(cfg *rest.Config) (*url.URL, error) {
	base, _, err := rest.DefaultServerUrlFor(cfg)
	if err != nil {
		return nil, bad("write it as https://host:port", "cannot use URL %q", redact(cfg.Host))
	}
	if base.User != nil {
		return nil, bad("set credentials as a token, not in the URL", "cannot use URL %q", redact(cfg.Host))
	}
	return base, nil
}

// settle returns the settings for client-go and, if they are not part of those, the
// source of the tokens.
func settle(c source.Cluster) (*rest.Config, tokenSource, error) {
	switch {
	case c.Kubeconfig != "":
		return fromKubeconfig(c)
	case c.InCluster:
		cfg, err := rest.InClusterConfig()
		if err != nil {
			return nil, nil, bad("run in a pod with its service account token mounted", "cannot use the in-cluster configuration: %w", err)
		}
		cfg, tokens := ownTokens(cfg)
		return cfg, tokens, nil
	}
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, nil, bad("write it as https://host:port", "cannot use URL %q", redact(c.URL))
	}
	cfg := &rest.Config{Host: c.URL}
	cfg.Insecure = c.SkipTLSVerify
	if !c.SkipTLSVerify {
		// client-go refuses both at once.
		if cfg.CAData, err = authority(c.CAFile, c.CAData, "caFile"); err != nil {
			return nil, nil, err
		}
	}
	tokens, err := tokensOf(c)
	return cfg, tokens, err
}

// authority returns the certificates of an authority in PEM, from a file or as data,
// also in base64 as in a kubeconfig; nil if there are none. setting is the name of
// the setting for the file.
func authority(file string, data []byte, setting string) ([]byte, error) {
	if file != "" && len(data) == 0 {
		var err error
		if data, err = os.ReadFile(file); err != nil {
			return nil, bad("check "+setting, "cannot read the CA certificate: %w", err)
		}
	}
	if len(data) == 0 && file == "" {
		return nil, nil
	}
	if block, _ := pem.Decode(data); block == nil {
		if decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(data))); err == nil {
			data = decoded
		}
	}
	if !x509.NewCertPool().AppendCertsFromPEM(data) {
		return nil, bad("use a PEM certificate that begins with -----BEGIN CERTIFICATE-----", "cannot use the CA certificate: not in PEM format")
	}
	return data, nil
}

func tokensOf(c source.Cluster) (tokenSource, error) {
	switch c.Auth {
	case source.AuthOIDC:
		return newIssuer(c.OIDC)
	case source.AuthServiceAccount, source.AuthToken, "":
	default:
		return nil, bad("use serviceAccount, token or oidc", "cannot use authentication %q", c.Auth)
	}
	token := strings.TrimSpace(c.Token.Reveal())
	switch {
	case c.TokenFile != "":
		return &tokenFile{path: c.TokenFile}, nil
	case token != "" && !isToken(token):
		return nil, bad("set token to a single token", "cannot authenticate: token contains white space or non-ASCII characters")
	case token != "":
		return fixed(token), nil
	case c.Auth == source.AuthToken:
		return nil, bad("set token or tokenFile", "cannot authenticate: no token set")
	}
	own, err := rest.InClusterConfig()
	if err != nil {
		own = nil
	}
	return podTokens(c.URL, own)
}

// podTokens uses the token in a pod's file system only for the API server of the
// pod's own cluster: any other server could use it there. own is that cluster, nil
// outside a pod.
func podTokens(address string, own *rest.Config) (tokenSource, error) {
	const hint = "set serviceAccountToken or serviceAccountTokenFile; create a token with kubectl create token"
	if own == nil {
		return nil, bad(hint, "cannot authenticate: no service account token set")
	}
	if !isOwn(address, own.Host) {
		return nil, bad(hint, "cannot authenticate: no service account token set, and this pod's token is only used for its own cluster, over https")
	}
	return &tokenFile{path: own.BearerTokenFile}, nil
}

// ownNames are the names of the API server inside its cluster.
var ownNames = []string{"kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"}

// isOwn reports whether an address is that of the cluster this runs in.
func isOwn(address, own string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" {
		return false
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	o, err := url.Parse(own)
	return slices.Contains(ownNames, host) || err == nil && host != "" && host == strings.ToLower(o.Hostname())
}

// ownTokens takes the token file out of client-go's settings: client-go reads it once
// a minute, which is too late for a token that was replaced.
func ownTokens(cfg *rest.Config) (*rest.Config, tokenSource) {
	if cfg.BearerTokenFile == "" {
		return cfg, nil
	}
	own := rest.CopyConfig(cfg)
	// A token overrides a credential program, which is not run then.
	own.BearerToken, own.BearerTokenFile, own.ExecProvider = "", "", nil
	return own, &tokenFile{path: cfg.BearerTokenFile}
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
		return nil, nil, bad("set --context to one of "+quoteAll(contextNames(all.Contexts)), "cannot use kubeconfig %q: no current context", c.Kubeconfig)
	}
	if _, ok := all.Contexts[name]; !ok {
		return nil, nil, bad("use one of "+quoteAll(contextNames(all.Contexts)), "cannot find context %q in kubeconfig %q", name, c.Kubeconfig)
	}
	if cluster := all.Clusters[all.Contexts[name].Cluster]; cluster != nil && !isProxy(cluster.ProxyURL) {
		// client-go's error quotes the address, with any password in it.
		return nil, nil, bad("write it as http://host:port, https://host:port or socks5://host:port",
			"cannot use context %q: invalid proxy-url %q", name, redact(cluster.ProxyURL))
	}
	cfg, err := clientcmd.NewNonInteractiveClientConfig(*all, name, &clientcmd.ConfigOverrides{}, rules).ClientConfig()
	if err != nil {
		return nil, nil, bad("check the context, for example with kubectl --context "+name+" version", "cannot use context %q: %w", name, err)
	}
	cfg, tokens := ownTokens(cfg)
	return cfg, tokens, nil
}

// isProxy reports whether an address is that of a proxy, or empty.
func isProxy(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (address == "" || u.Host != "" && slices.Contains([]string{"http", "https", "socks5"}, u.Scheme))
}

// Contexts returns the names of a kubeconfig's contexts, sorted, and the current one.
// path may be a list of files, as in the environment variable.
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
		// A single file must exist; of several, missing ones are ignored.
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

// redact returns an address without parts that may be secret.
func redact(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" && strings.Contains(address, "@") {
		// Any part of it may be a password.
		return "(not a URL)"
	}
	if u.User != nil {
		u.User = url.User("xxxxx")
	}
	u.RawQuery, u.Fragment = "", ""
	return u.String()
}

// plain removes a URL from an error that would quote it.
func plain(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}
