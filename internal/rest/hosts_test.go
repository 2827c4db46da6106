package rest

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

// TestHosts has requests come for one host or another, as a browser sends them
// after a name was made to resolve to the portal's address.
func TestHosts(t *testing.T) {
	s, _ := start(t, Options{
		BaseURL: "https://portal.example.org:8443/backend", AppURL: "https://App.example.org",
		AllowedHosts: []string{"portal.svc", "named.example.org:8080", "https.example.org:443", "*.apps.example.org", "*.dev.example.org:9000", "10.0.0.7", "[fd00::7]:7007"},
	}, Route{Method: "GET", Path: "/x", Public: true, Handle: textRoute(func(*http.Request) string { return "x" })})
	const api, ready, metrics = "/api/things/x", "/health/ready", "/metrics"
	cases := map[string]struct {
		reason string
		path   string
		host   string
		ok     bool
	}{
		"Base":            {"the host of backend.baseUrl", api, "portal.example.org:8443", true},
		"BaseNoPort":      {"whatever the port", api, "portal.example.org", true},
		"BaseCase":        {"names know no case", api, "Portal.Example.ORG", true},
		"BaseDot":         {"nor a dot at their end", api, "portal.example.org.:8443", true},
		"App":             {"the host of app.baseUrl", api, "app.example.org", true},
		"Listed":          {"an entry", api, "portal.svc:7007", true},
		"Port":            {"an entry with its port", api, "named.example.org:8080", true},
		"OtherPort":       {"and with another", api, "named.example.org:8081", false},
		"NoPort":          {"and with none", api, "named.example.org", false},
		"DefaultPort":     {"clients leave 443 out", api, "https.example.org", true},
		"Below":           {"a name below an entry", api, "a.apps.example.org:1", true},
		"FarBelow":        {"however far", api, "a.b.apps.example.org", true},
		"BelowItself":     {"not the entry itself", api, "apps.example.org", false},
		"BelowGlued":      {"nor a name that ends alike", api, "evilapps.example.org", false},
		"BelowNoName":     {"nor what is no name", api, "a@b.apps.example.org", false},
		"BelowPort":       {"a name below an entry with a port", api, "a.dev.example.org:9000", true},
		"BelowOtherPort":  {"and with another", api, "a.dev.example.org", false},
		"Address":         {"an entry that is an address", api, "10.0.0.7:7007", true},
		"Address6":        {"of version 6", api, "[FD00::7]:7007", true},
		"Localhost":       {"this machine", api, "localhost", true},
		"LocalhostPort":   {"whatever the port", api, "LOCALHOST:3000", true},
		"Loopback":        {"by its address", api, "127.0.0.1:7007", true},
		"Loopback8":       {"of which there are many", api, "127.9.8.7", true},
		"Loopback6":       {"and of version 6", api, "[::1]:7007", true},
		"Mapped":          {"or both", api, "[::ffff:127.0.0.1]", true},
		"Rebound":         {"the name of another site, which resolves to the portal", api, "evil.example.net:7007", false},
		"Ending":          {"a name that begins like ours", api, "portal.example.org.evil.example.net", false},
		"LocalhostEnding": {"or like this machine", api, "localhost.evil.example.net", false},
		"LoopbackEnding":  {"or like its address", api, "127.0.0.1.evil.example.net", false},
		"OtherAddress":    {"an address is no name of the portal", api, "10.0.0.8:7007", false},
		"OtherAddress6":   {"nor of version 6", api, "[fd00::8]", false},
		"Short":           {"nor one that is written oddly", api, "127.1", false},
		"None":            {"a request without a host", api, "", false},
		"Garbage":         {"no host at all", api, "[::1", false},
		"GarbagePort":     {"no port", api, "localhost:x", false},
		"Colons":          {"an address of version 6 has brackets", api, "::1", false},
		"Probe":           {"the kubelet knows the pod's address", ready, "10.1.2.3:7007", true},
		"Probe6":          {"of version 6", "/.backstage/health/v1/liveness", "[fd00::8]:7007", true},
		"ProbeNone":       {"an old balancer says no host", "/health/live", "", true},
		"ProbeName":       {"a name is held against the list", ready, "evil.example.net", false},
		"Metrics":         {"Prometheus knows the pod's address, too", metrics, "10.1.2.3:7007", true},
		"MetricsName":     {"but no other name", metrics, "evil.example.net", false},
		"Crooked":         {"the exception is for those paths alone", "/health/../api/things/x", "10.1.2.3", false},
		"Page":            {"pages are not shown under another name either", "/", "evil.example.net", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, tc.path, nil)
			r.Host, r.RemoteAddr = tc.host, "127.0.0.1:1"
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, r)
			if got := w.Code != http.StatusMisdirectedRequest; got != tc.ok {
				t.Errorf("%s: %q is answered with %d", tc.reason, tc.host, w.Code)
			}
			if tc.ok && w.Code != http.StatusOK {
				t.Errorf("%s: %d %s", tc.reason, w.Code, w.Body)
			}
		})
	}
}

// TestMisdirected sees what a request for another host is told, over HTTP.
func TestMisdirected(t *testing.T) {
	called := false
	_, hs := start(t, Options{BaseURL: "https://portal.example.org"}, Route{Method: "POST", Path: "/x", Public: true,
		Handle: func(http.ResponseWriter, *http.Request) error { called = true; return nil }})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, hs.URL+"/api/things/x", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "rebound.example.net:7007"
	got := roundTrip(t, hs, req)
	const want = `{"error":{"name":"MisdirectedRequestError","message":"Cannot answer for the host \"rebound.example.net:7007\": ` +
		`it is not the portal's; add it to backend.allowedHosts if it should be"},"request":{"method":"POST","url":"/x"},"response":{"statusCode":421}}`
	if got.StatusCode != http.StatusMisdirectedRequest || got.body != want {
		t.Errorf("got %s %s, want %s", got.Status, got.body, want)
	}
	if called {
		t.Error("the handler was called")
	}
}

// FuzzHosts sees that a request is accepted only for what a URL parser, too,
// takes for a host of the portal.
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
			return // A client cannot ask for that.
		}
		name := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
		ip, err := netip.ParseAddr(name)
		if name != "portal.example.org" && !strings.HasSuffix(name, ".svc") && name != "localhost" && (err != nil || !ip.Unmap().IsLoopback()) {
			t.Errorf("%q is accepted, and is %q", host, name)
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
