package access

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/source"
)

// kubeconfigOf writes a kubeconfig with one context, whose cluster and user
// have the given lines, and returns its path.
func kubeconfigOf(t *testing.T, server, cluster, user string) string {
	t.Helper()
	return write(t, "config", kubeconfigText("it", server, cluster, user)+"current-context: it\n")
}

// kubeconfigText returns a kubeconfig without a current context.
func kubeconfigText(name, server, cluster, user string) string {
	lines := func(text string) string { return strings.ReplaceAll(text, "\n", "\n    ") }
	if user == "" {
		user = "{}"
	}
	return fmt.Sprintf(`apiVersion: v1
kind: Config
clusters:
- name: %[1]s
  cluster:
    server: %[2]q
    %[3]s
users:
- name: %[1]s
  user:
    %[4]s
contexts:
- name: %[1]s
  context: {cluster: %[1]s, user: %[1]s}
`, name, server, lines(cluster), lines(user))
}

// authorityLine returns the line of a kubeconfig for a certificate authority.
func (a *api) authorityLine() string {
	return "certificate-authority-data: " + base64.StdEncoding.EncodeToString(a.CA)
}

func TestKubeconfig(t *testing.T) {
	t.Parallel()
	one, two := newAPI(t, only("one-"+marker)), newAPI(t, only("two-"+marker))
	first := write(t, "first", kubeconfigText("one", one.URL, one.authorityLine(), "token: one-"+marker))
	second := write(t, "second", kubeconfigText("two", two.URL, two.authorityLine(), "token: two-"+marker)+"current-context: two\n")
	mixed := write(t, "mixed", "apiVersion: v1\nkind: Config\ncontexts:\n- name: mixed\n  context: {cluster: one, user: one}\n")
	cases := map[string]struct {
		reason string
		path   []string
		name   string
		want   string
	}{
		"Current":  {"The current context is used.", []string{second}, "", two.URL},
		"Named":    {"A named context is used.", []string{first}, "one", one.URL},
		"Several":  {"Several files are merged.", []string{first, second}, "one", one.URL},
		"Default":  {"The current context can be in any of the files.", []string{first, second}, "", two.URL},
		"Mixed":    {"A context can refer to a cluster in another file.", []string{mixed, first}, "mixed", one.URL},
		"Some":     {"Missing files are ignored if another exists.", []string{filepath.Join(t.TempDir(), "nope"), second}, "", two.URL},
		"FirstHas": {"The first definition of a name wins.", []string{first, second, first}, "two", two.URL},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := open(t, source.Cluster{Kubeconfig: strings.Join(tc.path, string(filepath.ListSeparator)), Context: tc.name})
			if a.URL != tc.want {
				t.Errorf("%s\nURL is %s, want %s", tc.reason, a.URL, tc.want)
			}
			want(t, a, http.StatusOK)
		})
	}
}

func TestContexts(t *testing.T) {
	t.Parallel()
	first := write(t, "first", kubeconfigText("b", "https://b", "", "")+"current-context: b\n")
	second := write(t, "second", kubeconfigText("a", "https://a", "", ""))
	names, current, err := Contexts(first + string(filepath.ListSeparator) + second)
	if diff := cmp.Diff([]any{[]string{"a", "b"}, "b", nil}, []any{names, current, err}); diff != "" {
		t.Errorf("contexts (-want +got):\n%s", diff)
	}
	if _, _, err = Contexts(filepath.Join(t.TempDir(), "nope")); err == nil {
		t.Fatal("kubeconfig that does not exist has contexts")
	}
	hinted(t, err)
}

func TestKubeconfigBad(t *testing.T) {
	t.Parallel()
	const there = "https://127.0.0.1:1"
	// The lines after the text continue its last list, the contexts.
	good := kubeconfigText("a", there, "", "token: "+marker) + "- name: b\n  context: {cluster: a, user: a}\n"
	cases := map[string]struct {
		reason  string
		text    string
		context string
		want    string
		hint    string
	}{
		"Missing":      {reason: "The hint lists the contexts.", text: good, context: "nope", want: `cannot find context "nope"`, hint: `use one of "a", "b"`},
		"NoCurrent":    {reason: "A missing current context is not guessed.", text: good, want: "no current context", hint: `set --context to one of "a", "b"`},
		"Nothing":      {reason: "An empty file has no context.", text: "", want: "no current context"},
		"NotYAML":      {reason: "The content of a file that is not YAML is not shown.", text: "token: " + marker + "\n  x: [", want: "cannot read the kubeconfig"},
		"Token":        {reason: "A token file given as a kubeconfig is refused without showing the token.", text: marker, want: "cannot read the kubeconfig"},
		"Number":       {reason: "A numeric token without quotes is refused.", text: kubeconfigText("it", there, "", "token: 12345678901234567890"), want: "cannot read the kubeconfig"},
		"NotCoded":     {reason: "Data must be base64.", text: kubeconfigText("it", there, "", "client-key-data: "+marker+"!"), want: "cannot read the kubeconfig"},
		"NoCluster":    {reason: "A context must refer to an existing cluster.", text: "apiVersion: v1\nkind: Config\ncontexts: [{name: it, context: {cluster: gone, user: gone}}]\n", context: "it", want: `cannot use context "it"`},
		"Password":     {reason: "A password in the URL is refused and not shown.", text: kubeconfigText("it", "https://admin:"+marker+"@127.0.0.1:1", "", ""), context: "it", want: `cannot use URL "https://xxxxx@127.0.0.1:1"`},
		"BadAddress":   {reason: "A URL that cannot be parsed is not shown.", text: kubeconfigText("it", "https://admin:"+marker+"%zz@127.0.0.1:1/x", "", ""), context: "it", want: "cannot use URL"},
		"ProxyScheme":  {reason: "The password of a proxy is not shown.", text: kubeconfigText("it", there, "proxy-url: ftp://user:"+marker+"@proxy:3128", ""), context: "it", want: `invalid proxy-url "ftp://xxxxx@proxy:3128"`, hint: "socks5://host:port"},
		"ProxyEscape":  {reason: "A proxy URL that cannot be parsed is not shown.", text: kubeconfigText("it", there, "proxy-url: http://user:"+marker+"%zz@proxy:3128", ""), context: "it", want: `invalid proxy-url "(not a URL)"`, hint: "http://host:port"},
		"ProxyBare":    {reason: "A proxy URL without a scheme is not shown.", text: kubeconfigText("it", there, "proxy-url: user:"+marker+"@proxy:3128", ""), context: "it", want: `invalid proxy-url "(not a URL)"`, hint: "http://host:port"},
		"AuthProvider": {reason: "An unknown auth provider is reported.", text: kubeconfigText("it", there, "", "auth-provider:\n  name: gone\n  config: {id-token: "+marker+", refresh-token: "+marker+"}"), context: "it", want: `"gone"`, hint: "by exec"},
		"Removed":      {reason: "A removed auth provider is reported.", text: kubeconfigText("it", there, "", "auth-provider:\n  name: gcp\n  config: {access-token: "+marker+"}"), context: "it", want: "gcp", hint: "by exec"},
		"BadKey":       {reason: "An invalid key is not shown.", text: kubeconfigText("it", there, "", "client-key-data: "+base64.StdEncoding.EncodeToString([]byte(marker))+"\nclient-certificate-data: aGVsbG8="), context: "it", want: "invalid settings"},
		"OnlyCert":     {reason: "A certificate without a key is refused.", text: kubeconfigText("it", there, "", "client-certificate-data: aGVsbG8="), context: "it", want: `cannot use context "it"`},
		"NoTokenFile":  {reason: "A missing token file is reported.", text: kubeconfigText("it", there, "", "tokenFile: /nope/token"), context: "it", want: "/nope/token"},
		"NoCAFile":     {reason: "A missing certificate file is reported.", text: kubeconfigText("it", there, "certificate-authority: /nope/ca", ""), context: "it", want: "/nope/ca"},
		"TwoWays":      {reason: "Two authentication methods are refused.", text: kubeconfigText("it", there, "", "token: "+marker+"\nusername: u\npassword: "+marker), context: "it", want: "cannot use"},
		"ExecOld":      {reason: "An old version of the exec API is refused.", text: kubeconfigText("it", there, "", "exec: {command: x, apiVersion: client.authentication.k8s.io/v1alpha1, interactiveMode: Never, env: [{name: A, value: "+marker+"}]}"), context: "it", want: "v1alpha1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := write(t, "config", tc.text)
			_, err := Open(source.Cluster{Kubeconfig: at, Context: tc.context}, "tests")
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("%s\ngot %v, want an error that says %q", tc.reason, err, tc.want)
			}
			hinted(t, err)
			checkNoSecrets(t, err, "12345678901234567890")
			if e, _ := errors.AsType[*Error](err); !strings.Contains(e.Hint, tc.hint) {
				t.Errorf("%s\nhint is %q, want %q in it", tc.reason, e.Hint, tc.hint)
			}
		})
	}
	for name, at := range map[string]string{"NoFile": filepath.Join(t.TempDir(), "nope"), "Folder": t.TempDir()} {
		_, err := Open(source.Cluster{Kubeconfig: at}, "tests")
		if err == nil || !strings.Contains(err.Error(), at) {
			t.Errorf("%s: got %v, want an error that names %s", name, err, at)
			continue
		}
		hinted(t, err)
	}
}

// TestProxy checks proxies that require a password: one that accepts it, and
// several that fail without showing it.
func TestProxy(t *testing.T) {
	t.Parallel()
	srv := newAPI(t, only(marker))
	coded := base64.StdEncoding.EncodeToString([]byte("user:" + marker))
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Proxy-Authorization") != "Basic "+coded {
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		there, err := net.Dial("tcp", r.Host)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer func() { _ = there.Close() }()
		w.WriteHeader(http.StatusOK)
		here, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer func() { _ = here.Close() }()
		// The client may already have sent data, which the server has buffered.
		go func() { _, _ = io.Copy(there, buffered) }()
		_, _ = io.Copy(here, there)
	}))
	t.Cleanup(proxy.Close)
	at := strings.TrimPrefix(proxy.URL, "http://")
	cases := map[string]struct {
		reason string
		server string
		proxy  string
		want   string
	}{
		"Good":    {"The password is accepted.", srv.URL, "http://user:" + marker + "@" + at, ""},
		"Refuses": {"A proxy that rejects the password is reported.", srv.URL, "http://other:" + marker + "@" + at, "Proxy Authentication Required"},
		"Cannot":  {"A proxy that cannot reach the server is reported.", "https://127.0.0.1:1", "http://user:" + marker + "@" + at, "Bad Gateway"},
		"Down":    {"A proxy without a listener is reported.", srv.URL, "http://user:" + marker + "@127.0.0.1:1", "proxyconnect tcp"},
		"DownTLS": {"A TLS proxy without a listener is reported.", srv.URL, "https://user:" + marker + "@127.0.0.1:1", "proxyconnect tcp"},
		"NoTLS":   {"A proxy that does not speak TLS is reported.", srv.URL, "https://user:" + marker + "@" + at, "proxyconnect tcp"},
		"Socks":   {"A SOCKS proxy without a listener is reported.", srv.URL, "socks5://user:" + marker + "@127.0.0.1:1", "proxyconnect tcp"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := open(t, source.Cluster{Kubeconfig: kubeconfigOf(t, tc.server, srv.authorityLine()+"\nproxy-url: "+tc.proxy, "token: "+marker)})
			if tc.want == "" {
				want(t, a, http.StatusOK)
				return
			}
			_, err := get(t.Context(), a, "/")
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("%s\ngot %v, want an error that says %q", tc.reason, err, tc.want)
			}
			checkNoSecrets(t, err, coded)
		})
	}
}

// TestKubeconfigTokenFile checks that a token file is read when it is needed,
// and that its path is relative to the kubeconfig.
func TestKubeconfigTokenFile(t *testing.T) {
	t.Parallel()
	for _, relative := range []bool{true, false} {
		t.Run(fmt.Sprintf("relative=%v", relative), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			at, said := filepath.Join(dir, "token"), "token"
			if !relative {
				said = at
			}
			write(t, at, "one-"+marker)
			srv := newAPI(t, nil)
			config := write(t, filepath.Join(dir, "config"), kubeconfigText("it", srv.URL, srv.authorityLine(), "tokenFile: "+said))
			a := open(t, source.Cluster{Kubeconfig: config, Context: "it"})
			want(t, a, http.StatusOK)
			write(t, at, "another-"+marker)
			want(t, a, http.StatusOK)
			if diff := cmp.Diff([]string{"one-" + marker, "another-" + marker}, srv.seen()); diff != "" {
				t.Errorf("tokens sent (-want +got):\n%s", diff)
			}
			if err := os.Remove(at); err != nil {
				t.Fatal(err)
			}
			_, err := get(t.Context(), a, "/")
			if err == nil || !strings.Contains(err.Error(), at) {
				t.Fatalf("request after the token file was removed: %v", err)
			}
			checkNoSecrets(t, err)
		})
	}
}

// identity is the certificate and key of a client, in PEM.
func identity(t *testing.T, name string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs}))
}

// newCertificateAPI starts a server that accepts client certificates with the
// given name.
func newCertificateAPI(t *testing.T, name string) *httptest.Server {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TLS.PeerCertificates) == 0 || r.TLS.PeerCertificates[0].Subject.CommonName != name {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	srv.TLS = &tls.Config{ClientAuth: tls.RequestClientCert, MinVersion: tls.VersionTLS12}
	srv.StartTLS()
	t.Cleanup(srv.Close)
	return srv
}

func TestKubeconfigCertificate(t *testing.T) {
	t.Parallel()
	srv := newCertificateAPI(t, "reader")
	cert, key := identity(t, "reader")
	dir := t.TempDir()
	write(t, filepath.Join(dir, "cert.pem"), cert)
	write(t, filepath.Join(dir, "key.pem"), key)
	coded := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	for name, tc := range map[string]struct {
		user string
		want int
	}{
		"Data": {"client-certificate-data: " + coded(cert) + "\nclient-key-data: " + coded(key), http.StatusOK},
		"File": {"client-certificate: cert.pem\nclient-key: key.pem", http.StatusOK},
		"None": {"{}", http.StatusUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := write(t, filepath.Join(dir, "config-"+name), kubeconfigText("it", srv.URL, "insecure-skip-tls-verify: true", tc.user))
			want(t, open(t, source.Cluster{Kubeconfig: at, Context: "it"}), tc.want)
		})
	}
}
