package access

import (
	"encoding/base64"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"example.dev/ingestor/source"
)

func TestAuthority(t *testing.T) {
	t.Parallel()
	srv := newAPI(t, only(marker))
	coded := base64.StdEncoding.EncodeToString(srv.CA)
	const key = "-----BEGIN PRIVATE KEY-----\naHVudGVyMg==\n-----END PRIVATE KEY-----\n"
	cases := map[string]struct {
		reason string
		c      source.Cluster
		// want is part of the error of Open, and untrusted is set if the certificate
		// of the server is not trusted; with neither, all requests succeed.
		want      string
		untrusted bool
	}{
		"Data":        {reason: "The data can be a certificate in PEM.", c: source.Cluster{CAData: srv.CA}},
		"Coded":       {reason: "The data can be base64, as in a kubeconfig.", c: source.Cluster{CAData: []byte(coded + "\n")}},
		"File":        {reason: "A certificate can be in a file.", c: source.Cluster{CAFile: write(t, "ca.pem", string(srv.CA))}},
		"Bundle":      {reason: "A file can contain several certificates and text between them.", c: source.Cluster{CAFile: write(t, "ca.pem", "ours:\n"+string(srv.CA)+string(srv.CA))}},
		"Both":        {reason: "Data overrides a file.", c: source.Cluster{CAData: srv.CA, CAFile: "nope"}},
		"Skip":        {reason: "Without verification neither data nor file is read.", c: source.Cluster{SkipTLSVerify: true, CAFile: "nope", CAData: []byte("bad")}},
		"None":        {reason: "Without an authority only those of the system are trusted.", c: source.Cluster{}, untrusted: true},
		"FileMissing": {reason: "A missing file is reported.", c: source.Cluster{CAFile: filepath.Join(t.TempDir(), "nope.pem")}, want: "nope.pem: no such file"},
		"FileEmpty":   {reason: "An empty file does not mean the authorities of the system.", c: source.Cluster{CAFile: write(t, "ca.pem", "")}, want: "not in PEM format"},
		"Text":        {reason: "Text is not a certificate.", c: source.Cluster{CAData: []byte(marker)}, want: "not in PEM format"},
		"CodedText":   {reason: "Text in base64 is not a certificate.", c: source.Cluster{CAData: []byte(base64.StdEncoding.EncodeToString([]byte(marker)))}, want: "not in PEM format"},
		"Key":         {reason: "A private key is not a certificate, and is not shown.", c: source.Cluster{CAData: []byte(key)}, want: "not in PEM format"},
		"Garbled":     {reason: "A PEM block with invalid content is not a certificate.", c: source.Cluster{CAData: []byte(strings.ReplaceAll(key, "PRIVATE KEY", "CERTIFICATE"))}, want: "not in PEM format"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.c.URL, tc.c.Token = srv.URL, marker
			a, err := Open(tc.c, "tests")
			if tc.want != "" {
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Fatalf("%s\ngot %v, want an error that says %q", tc.reason, err, tc.want)
				}
				hinted(t, err)
				return
			}
			if err != nil {
				t.Fatalf("%s\n%v", tc.reason, err)
			}
			_, err = get(t.Context(), a, "/")
			if tc.untrusted != (err != nil && strings.Contains(err.Error(), "certificate")) || !tc.untrusted && err != nil {
				t.Errorf("%s\ngot %v", tc.reason, err)
			}
		})
	}
}

// hinted checks that an error has a hint and shows no secret.
func hinted(t *testing.T, err error) {
	t.Helper()
	if e, ok := errors.AsType[*Error](err); !ok || e.Hint == "" {
		t.Errorf("%v has no hint", err)
	}
	checkNoSecrets(t, err)
}

func TestAddress(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		address string
		// want is the URL as the error shows it.
		want string
	}{
		"Empty":      {"A URL is required.", "", ""},
		"Name":       {"A host name alone is not a URL.", "cluster", "cluster"},
		"Port":       {"A host name with a port is not a URL.", "cluster:6443", "cluster:6443"},
		"Scheme":     {"Only HTTP and HTTPS are supported.", "ftp://cluster/", "ftp://cluster/"},
		"NoHost":     {"A URL needs a host.", "https://", "https:"},
		"Path":       {"A path is not a host.", "https:/cluster", "https:/cluster"},
		"Password":   {"A password in a URL is refused and not shown.", "https://admin:" + marker + "@cluster:6443", "https://xxxxx@cluster:6443"},
		"User":       {"A user name in a URL is refused and not shown.", "https://" + marker + "@cluster:6443", "https://xxxxx@cluster:6443"},
		"NoScheme":   {"A password in a URL without a scheme is not shown.", "admin:" + marker + "@cluster:6443", "(not a URL)"},
		"OneSlash":   {"A password in a URL with one slash is not shown.", "https:/admin:" + marker + "@cluster", "(not a URL)"},
		"Slash":      {"A password with unescaped characters is not shown.", "https://admin:" + marker + "/x@cluster", "(not a URL)"},
		"Percent":    {"A password with an invalid escape is not shown.", "https://admin:" + marker + "%zz@cluster", "(not a URL)"},
		"BadPort":    {"A port must be a number.", "https://cluster:" + marker, "(not a URL)"},
		"Query":      {"A token in a query is not shown.", "cluster?token=" + marker, "cluster"},
		"Whitespace": {"A URL with a space is refused.", "https://clu ster/" + marker, "(not a URL)"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Open(source.Cluster{URL: tc.address, Token: marker}, "tests")
			if err == nil || !strings.Contains(err.Error(), "cannot use URL \""+tc.want+"\"") {
				t.Fatalf("%s\ngot %v, want one that shows %q", tc.reason, err, tc.want)
			}
			hinted(t, err)
		})
	}
}

func TestAddressGood(t *testing.T) {
	t.Parallel()
	for in, out := range map[string]string{
		"https://cluster":            "https://cluster",
		"https://cluster:6443/":      "https://cluster:6443",
		"http://127.0.0.1:8001":      "http://127.0.0.1:8001",
		"https://[::1]:6443":         "https://[::1]:6443",
		"https://proxy/k8s/clusters": "https://proxy/k8s/clusters",
	} {
		if a := open(t, source.Cluster{URL: in, Token: marker}); a.URL != out {
			t.Errorf("%s becomes %s, want %s", in, a.URL, out)
		}
	}
}

func TestMethod(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(podToken); err == nil {
		t.Skip("this test does not run in a pod")
	}
	const there = "https://127.0.0.1:1"
	cases := map[string]struct {
		reason string
		c      source.Cluster
		want   string
	}{
		"Unknown":        {"An unknown authentication method is refused.", source.Cluster{Auth: "magic", Token: marker}, `cannot use authentication "magic"`},
		"NoToken":        {"A token is required.", source.Cluster{Auth: source.AuthToken}, "no token set"},
		"BlankToken":     {"A blank token is refused.", source.Cluster{Auth: source.AuthToken, Token: " \n"}, "no token set"},
		"NoAccount":      {"Outside of a pod there is no service account token.", source.Cluster{Auth: source.AuthServiceAccount}, "no service account token set"},
		"Default":        {"The default method is the service account.", source.Cluster{}, "no service account token set"},
		"Lines":          {"A token of two lines is refused.", source.Cluster{Token: marker + "\n" + marker}, "white space or non-ASCII"},
		"NotASCII":       {"A token with characters that a header does not allow is refused.", source.Cluster{Token: marker + "é"}, "white space or non-ASCII"},
		"NoIssuer":       {"An issuer is required.", source.Cluster{Auth: source.AuthOIDC, OIDC: source.OIDC{ClientID: "c", ClientSecret: marker}}, "cannot use issuer"},
		"NoClient":       {"A client is required.", source.Cluster{Auth: source.AuthOIDC, OIDC: source.OIDC{Issuer: there, ClientSecret: marker}}, "no client ID set"},
		"NoSecret":       {"A secret or a refresh token is required.", source.Cluster{Auth: source.AuthOIDC, OIDC: source.OIDC{Issuer: there, ClientID: "c"}}, "neither client secret nor refresh token"},
		"IssuerPassword": {"A password in the URL of the issuer is refused.", source.Cluster{Auth: source.AuthOIDC, OIDC: source.OIDC{Issuer: "https://a:" + marker + "@b", ClientID: "c", ClientSecret: marker}}, "URL contains credentials"},
		"IssuerCA":       {"A certificate authority that cannot be parsed is refused.", source.Cluster{Auth: source.AuthOIDC, OIDC: source.OIDC{Issuer: there, ClientID: "c", ClientSecret: marker, CAData: []byte(marker)}}, "not in PEM format"},
		"IssuerCAFile":   {"A missing certificate file is reported.", source.Cluster{Auth: source.AuthOIDC, OIDC: source.OIDC{Issuer: there, ClientID: "c", ClientSecret: marker, CAFile: "nope.pem"}}, "nope.pem: no such file"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.c.URL = there
			_, err := Open(tc.c, "tests")
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("%s\ngot %v, want an error that says %q", tc.reason, err, tc.want)
			}
			hinted(t, err)
		})
	}
}

// TestPodToken checks that the token of a pod is sent only to the cluster that
// the pod runs in.
func TestPodToken(t *testing.T) {
	t.Parallel()
	file := write(t, "token", marker)
	v4 := &rest.Config{Host: "https://10.96.0.1:443", BearerTokenFile: file}
	v6 := &rest.Config{Host: "https://[fd00::1]:443", BearerTokenFile: file}
	cases := map[string]struct {
		reason  string
		address string
		own     *rest.Config
		good    bool
	}{
		"Address":     {"The address from the environment is the cluster of the pod.", "https://10.96.0.1", v4, true},
		"AddressV6":   {"An IPv6 address from the environment is supported.", "https://[fd00::1]:443", v6, true},
		"Name":        {"kubernetes.default.svc is the cluster of the pod.", "https://kubernetes.default.svc", v4, true},
		"ShortName":   {"kubernetes.default is the cluster of the pod.", "https://kubernetes.default:443/", v4, true},
		"LongName":    {"The fully qualified name is the cluster of the pod.", "https://Kubernetes.Default.svc.cluster.local.", v4, true},
		"Another":     {"Another cluster does not get the token.", "https://east.example.org:6443", v4, false},
		"OtherAddr":   {"Another address does not get the token.", "https://10.96.0.10", v4, false},
		"Plain":       {"The token is not sent over plain HTTP.", "http://10.96.0.1", v4, false},
		"PlainName":   {"The token is not sent over plain HTTP to the service name.", "http://kubernetes.default.svc", v4, false},
		"Lookalike":   {"A host name with the same prefix does not get the token.", "https://kubernetes.default.svc.example.org", v4, false},
		"Unqualified": {"An unqualified name does not get the token, because it can be any service.", "https://kubernetes", v4, false},
		"Outside":     {"Outside of a pod there is no token.", "https://kubernetes.default.svc", nil, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tokens, err := podTokens(tc.address, tc.own)
			if !tc.good {
				if err == nil || !strings.Contains(err.Error(), "no service account token set") {
					t.Fatalf("%s\ngot %v, want an error that says so", tc.reason, err)
				}
				hinted(t, err)
				return
			}
			if err != nil {
				t.Fatalf("%s\n%v", tc.reason, err)
			}
			if got, err := tokens.token(t.Context()); err != nil || got != marker {
				t.Errorf("%s\ncannot get the token: %v", tc.reason, err)
			}
		})
	}
}

// TestInCluster checks the in-cluster configuration outside of a pod. The path
// of a pod's token cannot be changed for a test.
func TestInCluster(t *testing.T) {
	if _, err := os.Stat(podToken); err == nil {
		t.Skip("this test does not run in a pod")
	}
	for name, host := range map[string]string{"Outside": "", "NoToken": "127.0.0.1"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBERNETES_SERVICE_HOST", host)
			t.Setenv("KUBERNETES_SERVICE_PORT", "6443")
			_, err := Open(source.Cluster{InCluster: true}, "tests")
			if err == nil || !strings.Contains(err.Error(), "cannot use the in-cluster configuration") {
				t.Fatalf("got %v", err)
			}
			hinted(t, err)
		})
	}
}

// TestShared checks that http.DefaultClient is not changed.
func TestShared(t *testing.T) {
	at := kubeconfigOf(t, "http://127.0.0.1:1", "", "")
	if _, err := Open(source.Cluster{Kubeconfig: at}, ""); err != nil {
		t.Fatal(err)
	}
	if http.DefaultClient.CheckRedirect != nil {
		t.Error("Open changed http.DefaultClient")
	}
}
