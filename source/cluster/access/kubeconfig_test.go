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
// have the lines, and returns its path.
func kubeconfigOf(t *testing.T, server, cluster, user string) string {
	t.Helper()
	return write(t, "config", kubeconfigText("it", server, cluster, user)+"current-context: it\n")
}

// kubeconfigText is a kubeconfig without a current context.
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

// authorityLine is how a kubeconfig names an authority.
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
		"Current":  {"the current context is used", []string{second}, "", two.URL},
		"Named":    {"a context that is named is used", []string{first}, "one", one.URL},
		"Several":  {"several files are one", []string{first, second}, "one", one.URL},
		"Default":  {"the current context may stand in any of them", []string{first, second}, "", two.URL},
		"Mixed":    {"a context may speak of what stands in another file", []string{mixed, first}, "mixed", one.URL},
		"Some":     {"of several files, those that exist count", []string{filepath.Join(t.TempDir(), "nope"), second}, "", two.URL},
		"FirstHas": {"the first that says something wins", []string{first, second, first}, "two", two.URL},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := open(t, source.Cluster{Kubeconfig: strings.Join(tc.path, string(filepath.ListSeparator)), Context: tc.name})
			if a.URL != tc.want {
				t.Errorf("%s\nthe address is %s, want %s", tc.reason, a.URL, tc.want)
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
		t.Fatal("a kubeconfig that does not exist has contexts")
	}
	hinted(t, err)
}

func TestKubeconfigBad(t *testing.T) {
	t.Parallel()
	const there = "https://127.0.0.1:1"
	// What follows the text goes on with its last list, the contexts.
	good := kubeconfigText("a", there, "", "token: "+marker) + "- name: b\n  context: {cluster: a, user: a}\n"
	cases := map[string]struct {
		reason  string
		text    string
		context string
		want    string
		hint    string
	}{
		"Missing":      {reason: "the contexts there are help", text: good, context: "nope", want: `cannot find context "nope"`, hint: `it has "a", "b"`},
		"NoCurrent":    {reason: "no context is guessed", text: good, want: "it has no current context", hint: `name one of "a", "b"`},
		"Nothing":      {reason: "an empty file has no context", text: "", want: "it has no current context"},
		"NotYAML":      {reason: "what stands there is not shown", text: "token: " + marker + "\n  x: [", want: "cannot read the kubeconfig"},
		"Token":        {reason: "somebody may give the token's file", text: marker, want: "cannot read the kubeconfig"},
		"Number":       {reason: "a token of digits needs quotes", text: kubeconfigText("it", there, "", "token: 12345678901234567890"), want: "cannot read the kubeconfig"},
		"NotCoded":     {reason: "data is in base64", text: kubeconfigText("it", there, "", "client-key-data: "+marker+"!"), want: "cannot read the kubeconfig"},
		"NoCluster":    {reason: "a context names its cluster", text: "apiVersion: v1\nkind: Config\ncontexts: [{name: it, context: {cluster: gone, user: gone}}]\n", context: "it", want: `cannot use context "it"`},
		"Password":     {reason: "a password in an address ends up in logs", text: kubeconfigText("it", "https://admin:"+marker+"@127.0.0.1:1", "", ""), context: "it", want: `cannot use the address "https://xxxxx@127.0.0.1:1"`},
		"BadAddress":   {reason: "an address that cannot be taken apart is not shown", text: kubeconfigText("it", "https://admin:"+marker+"%zz@127.0.0.1:1/x", "", ""), context: "it", want: "cannot use the address"},
		"ProxyScheme":  {reason: "a proxy's password is not shown", text: kubeconfigText("it", there, "proxy-url: ftp://user:"+marker+"@proxy:3128", ""), context: "it", want: `its proxy-url is "ftp://xxxxx@proxy:3128"`, hint: "socks5://host:port"},
		"ProxyEscape":  {reason: "of one that cannot be taken apart, nothing is", text: kubeconfigText("it", there, "proxy-url: http://user:"+marker+"%zz@proxy:3128", ""), context: "it", want: `its proxy-url is "(not an address)"`, hint: "http://host:port"},
		"ProxyBare":    {reason: "nor of one without a scheme", text: kubeconfigText("it", there, "proxy-url: user:"+marker+"@proxy:3128", ""), context: "it", want: `its proxy-url is "(not an address)"`, hint: "http://host:port"},
		"AuthProvider": {reason: "what the library knows no more is said so", text: kubeconfigText("it", there, "", "auth-provider:\n  name: gone\n  config: {id-token: "+marker+", refresh-token: "+marker+"}"), context: "it", want: `"gone"`, hint: "use exec"},
		"Removed":      {reason: "what it knew once too", text: kubeconfigText("it", there, "", "auth-provider:\n  name: gcp\n  config: {access-token: "+marker+"}"), context: "it", want: "gcp", hint: "use exec"},
		"BadKey":       {reason: "a key that is none is not shown", text: kubeconfigText("it", there, "", "client-key-data: "+base64.StdEncoding.EncodeToString([]byte(marker))+"\nclient-certificate-data: aGVsbG8="), context: "it", want: "cannot use its settings"},
		"OnlyCert":     {reason: "a certificate needs its key", text: kubeconfigText("it", there, "", "client-certificate-data: aGVsbG8="), context: "it", want: `cannot use context "it"`},
		"NoTokenFile":  {reason: "a token's file that is named is there", text: kubeconfigText("it", there, "", "tokenFile: /nope/token"), context: "it", want: "/nope/token"},
		"NoCAFile":     {reason: "an authority's file as well", text: kubeconfigText("it", there, "certificate-authority: /nope/ca", ""), context: "it", want: "/nope/ca"},
		"TwoWays":      {reason: "one way is enough", text: kubeconfigText("it", there, "", "token: "+marker+"\nusername: u\npassword: "+marker), context: "it", want: "cannot use"},
		"ExecOld":      {reason: "versions the library does not know any more", text: kubeconfigText("it", there, "", "exec: {command: x, apiVersion: client.authentication.k8s.io/v1alpha1, interactiveMode: Never, env: [{name: A, value: "+marker+"}]}"), context: "it", want: "v1alpha1"},
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
			keeps(t, err, "12345678901234567890")
			if e, _ := errors.AsType[*Error](err); !strings.Contains(e.Hint, tc.hint) {
				t.Errorf("%s\nthe hint is %q, want one that says %q", tc.reason, e.Hint, tc.hint)
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

// TestProxy goes through proxies that want a password: one that takes it, and
// those that fail, of which none shows it.
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
		// The client may have sent something by now, which the server has read.
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
		"Good":    {"it takes the password", srv.URL, "http://user:" + marker + "@" + at, ""},
		"Refuses": {"it does not take it", srv.URL, "http://other:" + marker + "@" + at, "Proxy Authentication Required"},
		"Cannot":  {"it does not reach the server", "https://127.0.0.1:1", "http://user:" + marker + "@" + at, "Bad Gateway"},
		"Down":    {"nobody is there", srv.URL, "http://user:" + marker + "@127.0.0.1:1", "proxyconnect tcp"},
		"DownTLS": {"nor over TLS", srv.URL, "https://user:" + marker + "@127.0.0.1:1", "proxyconnect tcp"},
		"NoTLS":   {"it does not speak TLS", srv.URL, "https://user:" + marker + "@" + at, "proxyconnect tcp"},
		"Socks":   {"another kind of proxy is not there either", srv.URL, "socks5://user:" + marker + "@127.0.0.1:1", "proxyconnect tcp"},
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
			keeps(t, err, coded)
		})
	}
}

// TestKubeconfigTokenFile sees that a token's file is read when it is needed,
// and that a relative path is one from the kubeconfig.
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
				t.Fatalf("a token that is gone: %v", err)
			}
			keeps(t, err)
		})
	}
}

// identity is a client's certificate and key, in PEM.
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

// newCertificateAPI starts a server that asks for a certificate and answers
// those who have one with the name.
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
