package httpd

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"example.dev/ingestor/internal/rest"
)

// TestHosts sends requests for several hosts, as a browser does after DNS
// rebinding.
func TestHosts(t *testing.T) {
	s, _ := start(t, Options{
		BaseURL: "https://portal.example.org:8443/backend", AppURL: "https://App.example.org",
		AllowedHosts: []string{"portal.svc", "named.example.org:8080", "https.example.org:443", "*.apps.example.org", "*.dev.example.org:9000", "10.0.0.7", "[fd00::7]:7007"},
	}, rest.Route{Method: "GET", Path: "/x", Public: true, Handle: textRoute(func(*http.Request) string { return "x" })})
	const api, ready, metrics = "/api/things/x", "/health/ready", "/metrics"
	cases := map[string]struct {
		reason string
		path   string
		host   string
		ok     bool
	}{
		"Base":            {"The host of backend.baseUrl is accepted.", api, "portal.example.org:8443", true},
		"BaseNoPort":      {"The host of backend.baseUrl is accepted with any port.", api, "portal.example.org", true},
		"BaseCase":        {"Hosts are not case-sensitive.", api, "Portal.Example.ORG", true},
		"BaseDot":         {"A trailing dot is ignored.", api, "portal.example.org.:8443", true},
		"App":             {"The host of app.baseUrl is accepted.", api, "app.example.org", true},
		"Listed":          {"An allowed host is accepted.", api, "portal.svc:7007", true},
		"Port":            {"An allowed host with a port is accepted.", api, "named.example.org:8080", true},
		"OtherPort":       {"An allowed host with another port is refused.", api, "named.example.org:8081", false},
		"NoPort":          {"An allowed host without its port is refused.", api, "named.example.org", false},
		"DefaultPort":     {"The port 443 can be omitted.", api, "https.example.org", true},
		"Below":           {"A name below a pattern is accepted.", api, "a.apps.example.org:1", true},
		"FarBelow":        {"A name at any depth below a pattern is accepted.", api, "a.b.apps.example.org", true},
		"BelowItself":     {"The parent of a pattern is refused.", api, "apps.example.org", false},
		"BelowGlued":      {"A name with the same suffix is refused.", api, "evilapps.example.org", false},
		"BelowNoName":     {"An invalid name is refused.", api, "a@b.apps.example.org", false},
		"BelowPort":       {"A name below a pattern with a port is accepted.", api, "a.dev.example.org:9000", true},
		"BelowOtherPort":  {"A name below a pattern with another port is refused.", api, "a.dev.example.org", false},
		"Address":         {"An allowed address is accepted.", api, "10.0.0.7:7007", true},
		"Address6":        {"An allowed IPv6 address is accepted.", api, "[FD00::7]:7007", true},
		"Localhost":       {"localhost is accepted.", api, "localhost", true},
		"LocalhostPort":   {"localhost is accepted with any port.", api, "LOCALHOST:3000", true},
		"Loopback":        {"A loopback address is accepted.", api, "127.0.0.1:7007", true},
		"Loopback8":       {"All loopback addresses are accepted.", api, "127.9.8.7", true},
		"Loopback6":       {"The IPv6 loopback address is accepted.", api, "[::1]:7007", true},
		"Mapped":          {"A mapped loopback address is accepted.", api, "[::ffff:127.0.0.1]", true},
		"Rebound":         {"Another name that resolves to the portal is refused.", api, "evil.example.net:7007", false},
		"Ending":          {"A name with the portal's name as prefix is refused.", api, "portal.example.org.evil.example.net", false},
		"LocalhostEnding": {"A name with localhost as prefix is refused.", api, "localhost.evil.example.net", false},
		"LoopbackEnding":  {"A name with a loopback address as prefix is refused.", api, "127.0.0.1.evil.example.net", false},
		"OtherAddress":    {"An address that is not allowed is refused.", api, "10.0.0.8:7007", false},
		"OtherAddress6":   {"An IPv6 address that is not allowed is refused.", api, "[fd00::8]", false},
		"Short":           {"A short form of an address is refused.", api, "127.1", false},
		"None":            {"A missing host is refused.", api, "", false},
		"Garbage":         {"A malformed host is refused.", api, "[::1", false},
		"GarbagePort":     {"A malformed port is refused.", api, "localhost:x", false},
		"Colons":          {"An IPv6 address needs brackets.", api, "::1", false},
		"Probe":           {"Health checks are accepted by the pod's address.", ready, "10.1.2.3:7007", true},
		"Probe6":          {"Health checks are accepted by the pod's IPv6 address.", "/.backstage/health/v1/liveness", "[fd00::8]:7007", true},
		"ProbeNone":       {"Health checks are accepted without a host.", "/health/live", "", true},
		"ProbeName":       {"Health checks are refused for another name.", ready, "evil.example.net", false},
		"Metrics":         {"Metrics are accepted by the pod's address.", metrics, "10.1.2.3:7007", true},
		"MetricsName":     {"Metrics are refused for another name.", metrics, "evil.example.net", false},
		"Crooked":         {"The exception applies to those paths only.", "/health/../api/things/x", "10.1.2.3", false},
		"Page":            {"Pages are refused for another name.", "/", "evil.example.net", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, tc.path, nil)
			r.Host, r.RemoteAddr = tc.host, "127.0.0.1:1"
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, r)
			if got := w.Code != http.StatusMisdirectedRequest; got != tc.ok {
				t.Errorf("%s: %q returned %d", tc.reason, tc.host, w.Code)
			}
			if tc.ok && w.Code != http.StatusOK {
				t.Errorf("%s: response is %d %s", tc.reason, w.Code, w.Body)
			}
		})
	}
}

// TestMisdirected checks the response to a request for another host over HTTP.
func TestMisdirected(t *testing.T) {
	called := false
	_, hs := start(t, Options{BaseURL: "https://portal.example.org"}, rest.Route{Method: "POST", Path: "/x", Public: true,
		Handle: func(http.ResponseWriter, *http.Request) error { called = true; return nil }})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, hs.URL+"/api/things/x", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "rebound.example.net:7007"
	got := roundTrip(t, hs, req)
	const want = `{"error":{"name":"MisdirectedRequestError","message":"Host \"rebound.example.net:7007\" is not allowed; ` +
		`add it to backend.allowedHosts"},"request":{"method":"POST","url":"/x"},"response":{"statusCode":421}}`
	if got.StatusCode != http.StatusMisdirectedRequest || got.body != want {
		t.Errorf("response is %s %s, want %s", got.Status, got.body, want)
	}
	if called {
		t.Error("handler was called")
	}
}

// FuzzHosts checks that a request is accepted only for hosts of the portal
// according to a URL parser.
func FuzzHosts(f *testing.F) {
	h := newHosts([]string{"https://portal.example.org"}, []string{"*.svc"})
	for _, seed := range []string{"portal.example.org", "a.svc:80", "[::1]:7007", "127.0.0.1", "localhost.", "evil.example.net", "[::1", "a:b:c", ".svc", "127.0.0.1:80@evil", "#.svC"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, host string) {
		if !h.accepts(&http.Request{Host: host, URL: &url.URL{Path: "/api/catalog/entities"}}) {
			return
		}
		u, err := url.Parse("http://" + host + "/")
		if err != nil {
			return // A client cannot request that.
		}
		name := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
		ip, err := netip.ParseAddr(name)
		if name != "portal.example.org" && !strings.HasSuffix(name, ".svc") && name != "localhost" && (err != nil || !ip.Unmap().IsLoopback()) {
			t.Errorf("%q is accepted as %q", host, name)
		}
	})
}

func BenchmarkHosts(b *testing.B) {
	h := newHosts([]string{"https://portal.example.org"}, []string{"*.apps.example.org", "portal.svc"})
	for name, host := range map[string]string{"base": "portal.example.org", "loopback": "127.0.0.1:7007", "below": "a.apps.example.org", "other": "evil.example.net"} {
		r := httptest.NewRequest(http.MethodGet, "/api/catalog/entities", nil)
		r.Host = host
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				h.accepts(r)
			}
		})
	}
}
