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
		// want is part of the error of Open, and untrusted says that the
		// server is not believed; neither means that all is well.
		want      string
		untrusted bool
	}{
		"Data":        {reason: "a certificate as it is", c: source.Cluster{CAData: srv.CA}},
		"Coded":       {reason: "a certificate as a kubeconfig has it", c: source.Cluster{CAData: []byte(coded + "\n")}},
		"File":        {reason: "a certificate in a file", c: source.Cluster{CAFile: write(t, "ca.pem", string(srv.CA))}},
		"Bundle":      {reason: "a file may hold several, and words between them", c: source.Cluster{CAFile: write(t, "ca.pem", "ours:\n"+string(srv.CA)+string(srv.CA))}},
		"Both":        {reason: "data goes before a file", c: source.Cluster{CAData: srv.CA, CAFile: "nope"}},
		"Skip":        {reason: "nothing is believed, so nothing is read", c: source.Cluster{SkipTLSVerify: true, CAFile: "nope", CAData: []byte("bad")}},
		"None":        {reason: "the system does not know it", c: source.Cluster{}, untrusted: true},
		"FileMissing": {reason: "a file that is named is there", c: source.Cluster{CAFile: filepath.Join(t.TempDir(), "nope.pem")}, want: "nope.pem: no such file"},
		"FileEmpty":   {reason: "an empty file is not the system's authorities", c: source.Cluster{CAFile: write(t, "ca.pem", "")}, want: "not a certificate in PEM"},
		"Text":        {reason: "any text is no certificate", c: source.Cluster{CAData: []byte(marker)}, want: "not a certificate in PEM"},
		"CodedText":   {reason: "in base64 either", c: source.Cluster{CAData: []byte(base64.StdEncoding.EncodeToString([]byte(marker)))}, want: "not a certificate in PEM"},
		"Key":         {reason: "a key is no certificate, and is not shown", c: source.Cluster{CAData: []byte(key)}, want: "not a certificate in PEM"},
		"Garbled":     {reason: "what calls itself a certificate may be none", c: source.Cluster{CAData: []byte(strings.ReplaceAll(key, "PRIVATE KEY", "CERTIFICATE"))}, want: "not a certificate in PEM"},
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

// hinted sees that an error says the way out, and no secret.
func hinted(t *testing.T, err error) {
	t.Helper()
	if e, ok := errors.AsType[*Error](err); !ok || e.Hint == "" {
		t.Errorf("%v has no hint", err)
	}
	keeps(t, err)
}

func TestAddress(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		address string
		// want is how the address is shown.
		want string
	}{
		"Empty":      {"there must be one", "", ""},
		"Name":       {"a name alone says neither how nor where", "cluster", "cluster"},
		"Port":       {"nor does a port", "cluster:6443", "cluster:6443"},
		"Scheme":     {"an API server speaks HTTP", "ftp://cluster/", "ftp://cluster/"},
		"NoHost":     {"a host is needed", "https://", "https:"},
		"Path":       {"a path is no host", "https:/cluster", "https:/cluster"},
		"Password":   {"a password in an address ends up in logs", "https://admin:" + marker + "@cluster:6443", "https://xxxxx@cluster:6443"},
		"User":       {"a token in an address as well", "https://" + marker + "@cluster:6443", "https://xxxxx@cluster:6443"},
		"NoScheme":   {"a password may stand where it is not looked for", "admin:" + marker + "@cluster:6443", "(not an address)"},
		"OneSlash":   {"there too", "https:/admin:" + marker + "@cluster", "(not an address)"},
		"Slash":      {"and with characters that should have been escaped", "https://admin:" + marker + "/x@cluster", "(not an address)"},
		"Percent":    {"or were, wrongly", "https://admin:" + marker + "%zz@cluster", "(not an address)"},
		"BadPort":    {"a port is a number", "https://cluster:" + marker, "(not an address)"},
		"Query":      {"a token in the query of what is no address", "cluster?token=" + marker, "cluster"},
		"Whitespace": {"an address has no space", "https://clu ster/" + marker, "(not an address)"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Open(source.Cluster{URL: tc.address, Token: marker}, "tests")
			if err == nil || !strings.Contains(err.Error(), "cannot use the address \""+tc.want+"\"") {
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
		t.Skip("this runs in a pod")
	}
	const there = "https://127.0.0.1:1"
	cases := map[string]struct {
		reason string
		c      source.Cluster
		want   string
	}{
		"Unknown":        {"a way that is not known is not guessed", source.Cluster{Auth: "magic", Token: marker}, `cannot authenticate by "magic"`},
		"NoToken":        {"a token is needed", source.Cluster{Auth: source.AuthToken}, "there is no token"},
		"BlankToken":     {"space is no token", source.Cluster{Auth: source.AuthToken, Token: " \n"}, "there is no token"},
		"NoAccount":      {"outside a pod there is no token to be found", source.Cluster{Auth: source.AuthServiceAccount}, "there is no service account's token"},
		"Default":        {"a service account is meant if nothing is said", source.Cluster{}, "there is no service account's token"},
		"Lines":          {"two lines are two tokens", source.Cluster{Token: marker + "\n" + marker}, "more than one token"},
		"NotASCII":       {"a header takes no such letters", source.Cluster{Token: marker + "é"}, "more than one token"},
		"NoIssuer":       {"an issuer is needed", source.Cluster{Auth: source.AuthOIDC, OIDC: source.OIDC{ClientID: "c", ClientSecret: marker}}, "cannot use the issuer"},
		"NoClient":       {"a client is needed", source.Cluster{Auth: source.AuthOIDC, OIDC: source.OIDC{Issuer: there, ClientSecret: marker}}, "there is no client"},
		"NoSecret":       {"a secret or a refresh token is needed", source.Cluster{Auth: source.AuthOIDC, OIDC: source.OIDC{Issuer: there, ClientID: "c"}}, "neither a client's secret nor a refresh token"},
		"IssuerPassword": {"a password in an address ends up in logs", source.Cluster{Auth: source.AuthOIDC, OIDC: source.OIDC{Issuer: "https://a:" + marker + "@b", ClientID: "c", ClientSecret: marker}}, "there are credentials in its address"},
		"IssuerCA":       {"an authority is one", source.Cluster{Auth: source.AuthOIDC, OIDC: source.OIDC{Issuer: there, ClientID: "c", ClientSecret: marker, CAData: []byte(marker)}}, "not a certificate in PEM"},
		"IssuerCAFile":   {"a file that is named is there", source.Cluster{Auth: source.AuthOIDC, OIDC: source.OIDC{Issuer: there, ClientID: "c", ClientSecret: marker, CAFile: "nope.pem"}}, "nope.pem: no such file"},
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

// TestPodToken sees that the token of a pod goes to nobody but the cluster the
// pod runs in.
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
		"Address":     {"as the environment says it", "https://10.96.0.1", v4, true},
		"AddressV6":   {"in the new notation too", "https://[fd00::1]:443", v6, true},
		"Name":        {"by the name it has in every pod", "https://kubernetes.default.svc", v4, true},
		"ShortName":   {"which may be shorter", "https://kubernetes.default:443/", v4, true},
		"LongName":    {"or longer", "https://Kubernetes.Default.svc.cluster.local.", v4, true},
		"Another":     {"another cluster is sent nothing", "https://east.example.org:6443", v4, false},
		"OtherAddr":   {"nor is another address", "https://10.96.0.10", v4, false},
		"Plain":       {"nothing goes over plain HTTP", "http://10.96.0.1", v4, false},
		"PlainName":   {"whatever the name", "http://kubernetes.default.svc", v4, false},
		"Lookalike":   {"a name may begin alike", "https://kubernetes.default.svc.example.org", v4, false},
		"Unqualified": {"a service of that name may be anybody's", "https://kubernetes", v4, false},
		"Outside":     {"outside a pod there is none", "https://kubernetes.default.svc", nil, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tokens, err := podTokens(tc.address, tc.own)
			if !tc.good {
				if err == nil || !strings.Contains(err.Error(), "there is no service account's token") {
					t.Fatalf("%s\ngot %v, want an error that says so", tc.reason, err)
				}
				hinted(t, err)
				return
			}
			if err != nil {
				t.Fatalf("%s\n%v", tc.reason, err)
			}
			if got, err := tokens.token(t.Context()); err != nil || got != marker {
				t.Errorf("%s\nthe token cannot be had: %v", tc.reason, err)
			}
		})
	}
}

// TestInCluster is what the cluster this runs in is when there is none. Where
// a pod's token lies is not for a test to choose.
func TestInCluster(t *testing.T) {
	if _, err := os.Stat(podToken); err == nil {
		t.Skip("this runs in a pod")
	}
	for name, host := range map[string]string{"Outside": "", "NoToken": "127.0.0.1"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBERNETES_SERVICE_HOST", host)
			t.Setenv("KUBERNETES_SERVICE_PORT", "6443")
			_, err := Open(source.Cluster{InCluster: true}, "tests")
			if err == nil || !strings.Contains(err.Error(), "cannot use the cluster this runs in") {
				t.Fatalf("got %v", err)
			}
			hinted(t, err)
		})
	}
}

// TestShared sees that the client all the program shares stays as it is.
func TestShared(t *testing.T) {
	at := kubeconfigOf(t, "http://127.0.0.1:1", "", "")
	if _, err := Open(source.Cluster{Kubeconfig: at}, ""); err != nil {
		t.Fatal(err)
	}
	if http.DefaultClient.CheckRedirect != nil {
		t.Error("opening a way to a cluster changes http.DefaultClient")
	}
}
