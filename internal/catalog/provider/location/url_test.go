package location

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/config"
)

// bomb returns a short body that expands beyond any limit.
func bomb(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	zeros := make([]byte, 1<<20)
	for range 4 {
		if _, err := z.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPages(t *testing.T) {
	elsewhere := httptest.NewServer(http.NotFoundHandler())
	defer elsewhere.Close()
	tls := httptest.NewTLSServer(http.NotFoundHandler())
	defer tls.Close()
	packed := bomb(t)
	done := make(chan struct{})
	mux := http.NewServeMux()
	page := func(path string, h http.HandlerFunc) { mux.HandleFunc(path, h) }
	text := func(path, s string) {
		page(path, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, s) })
	}
	text("/a.yaml", component("a"))
	text("/d/all.yaml", leading("l", "./b.yaml", "../a.yaml", "/none.yaml"))
	text("/d/b.yaml", component("b"))
	text("/self.yaml", leading("l", "./self.yaml"))
	text("/passwd.yaml", "apiVersion: portal.io/v1alpha1\nkind: Location\nmetadata: {name: l}\nspec: {type: file, target: /etc/passwd}\n")
	text("/out.yaml", leading("l", elsewhere.URL+"/x.yaml"))
	text("/html", "<html><body>\tSign in</body></html>")
	redirect := func(path, to string) {
		page(path, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) })
	}
	redirect("/moved", "/a.yaml")
	redirect("/loop", "/loop")
	redirect("/away", elsewhere.URL+"/a.yaml")
	redirect("/schemed", "file:///etc/passwd")
	redirect("/secret", "http://ada:hunter2@"+strings.TrimPrefix(elsewhere.URL, "http://")+"/a.yaml")
	page("/endless", func(w http.ResponseWriter, r *http.Request) {
		line := []byte(strings.Repeat("# and on\n", 1000))
		for r.Context().Err() == nil {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	})
	page("/silent", func(http.ResponseWriter, *http.Request) { <-done })
	page("/slow", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := fmt.Fprint(w, "#"); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
			select {
			case <-done:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
	page("/short", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100000")
		fmt.Fprint(w, component("a"))
	})
	page("/bomb", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(packed) // A client that has enough may close the connection.
	})
	page("/headers", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X", strings.Repeat("x", 200<<10))
	})
	page("/broken", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	page("/unasked", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) })
	s := httptest.NewServer(mux)
	defer s.Close()
	defer close(done)

	cases := map[string]struct {
		reason string
		path   string
		want   []string
		// problem is part of the only problem; empty means no problem.
		problem string
	}{
		"Plain":    {reason: "A page is read.", path: "/a.yaml", want: []string{"component:default/a"}},
		"Redirect": {reason: "A redirect is followed.", path: "/moved", want: []string{"component:default/a"}},
		"Nested": {
			reason: "Targets are relative to the page.", path: "/d/all.yaml",
			want:    []string{"location:default/l", "component:default/b of location:default/l", "component:default/a of location:default/l"},
			problem: "NotFoundError: Unable to read url, no matching files found for /none.yaml (/d/all.yaml:1:1)",
		},
		"Missing":  {reason: "A missing page is reported as in Backstage.", path: "/none.yaml", problem: "NotFoundError: Unable to read url, no matching files found for /none.yaml"},
		"Itself":   {reason: "A page that refers to itself is reported.", path: "/self.yaml", want: []string{"location:default/l"}, problem: "the location refers to itself"},
		"File":     {reason: "A page cannot refer to files.", path: "/passwd.yaml", want: []string{"location:default/l"}, problem: "a URL location may not refer to files of the server"},
		"Out":      {reason: "A page cannot refer to hosts that are not allowed.", path: "/out.yaml", want: []string{"location:default/l"}, problem: "is not allowed; add the host to backend.reading.allow"},
		"HTML":     {reason: "An HTML page has no entities.", path: "/html", problem: "InputError:"},
		"Loop":     {reason: "The number of redirects is limited.", path: "/loop", problem: "more than 5 redirects"},
		"Away":     {reason: "A redirect to a host that is not allowed is refused.", path: "/away", problem: "which is not allowed; add it to backend.reading.allow"},
		"Schemed":  {reason: "A redirect to another scheme is refused.", path: "/schemed", problem: "redirect to an address that is not allowed"},
		"Secret":   {reason: "A redirect with credentials is refused.", path: "/secret", problem: "redirect to an address that is not allowed"},
		"Endless":  {reason: "The size of a page is limited.", path: "/endless", problem: "more than 100000 bytes"},
		"Silent":   {reason: "A server that sends nothing times out.", path: "/silent", problem: "timed out after 400ms"},
		"Slow":     {reason: "A slow server times out.", path: "/slow", problem: "timed out after 400ms"},
		"Short":    {reason: "A truncated page is refused.", path: "/short", problem: "response was truncated"},
		"Bomb":     {reason: "The decompressed size is limited.", path: "/bomb", problem: "more than 100000 bytes"},
		"Headers":  {reason: "The size of headers is limited.", path: "/headers", problem: "Unable to read url"},
		"Broken":   {reason: "A server error is reported.", path: "/broken", problem: "server returned 502 Bad Gateway"},
		"Unasked":  {reason: "A 304 without a conditional request is an error.", path: "/unasked", problem: "server returned 304"},
		"Fragment": {reason: "A fragment is ignored.", path: "/a.yaml#x", want: []string{"component:default/a"}},
	}
	conf := reading(s.URL, "/nowhere")
	conf.Timeout, conf.MaxSize = 400*time.Millisecond, 100_000
	quick := New(Options{Config: conf, Rules: everything})
	conf.Timeout = 20 * time.Second
	patient := New(Options{Config: conf, Rules: everything})
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := patient
			if strings.Contains(tc.problem, "400ms") {
				r = quick
			}
			res, _ := r.Read(t.Context(), Target{Type: TypeURL, Target: s.URL + tc.path})
			if diff := cmp.Diff(tc.want, names(res)); diff != "" {
				t.Errorf("%s\nentities (-want +got):\n%s", tc.reason, diff)
			}
			got := strings.Join(texts(res.Problems, s.URL), "\n")
			if !strings.Contains(got, tc.problem) || (got == "") != (tc.problem == "") || len(res.Problems) > 1 {
				t.Errorf("%s\nproblems are %q, want %q", tc.reason, got, tc.problem)
			}
			if strings.Contains(got, "hunter2") {
				t.Errorf("%s\nproblem contains a password: %q", tc.reason, got)
			}
		})
	}
}

func TestDowngrade(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, component("a")) }))
	defer plain.Close()
	s := httptest.NewTLSServer(http.RedirectHandler(plain.URL, http.StatusFound))
	defer s.Close()
	conf := reading(s.URL, "/nowhere")
	conf.Allow = append(conf.Allow, reading(plain.URL, "").Allow...)
	r := New(Options{Config: conf, Rules: everything})
	r.client.Transport.(*http.Transport).TLSClientConfig = s.Client().Transport.(*http.Transport).TLSClientConfig
	_, err := r.Read(t.Context(), Target{Type: TypeURL, Target: s.URL})
	if err == nil || !strings.Contains(err.Error(), "from https to http") {
		t.Errorf("error is %v, want the redirect refused", err)
	}
}

func TestPrivate(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, component("a")) }))
	defer s.Close()
	_, port, err := net.SplitHostPort(strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason      string
		allow, host string
		want        string
	}{
		"Named":     {"An allowed address is read.", "127.0.0.1:" + port, "127.0.0.1:" + port, ""},
		"Localhost": {"An allowed localhost is read.", "localhost:" + port, "localhost:" + port, ""},
		"OtherPort": {"Another port is not allowed.", "127.0.0.1:1", "127.0.0.1:" + port, "is not allowed"},
		"NoPort":    {"A host without a port allows the default port only.", "127.0.0.1", "127.0.0.1:" + port, "is not allowed"},
		"OtherName": {"An allowed address does not allow its other names.", "127.0.0.1:" + port, "localhost:" + port, "is not allowed"},
		"Wildcard":  {"A pattern does not allow private addresses.", "*.0.0.1:" + port, "127.0.0.1:" + port, "address is private"},
		"Rebound":   {"A name is checked by its address.", "*.localhost:" + port, "portal.localhost:" + port, "Unable to read url"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := New(Options{Config: config.Reading{Allow: []config.AllowedHost{{Host: tc.allow}}}, Rules: everything})
			_, err := r.Read(t.Context(), Target{Type: TypeURL, Target: "http://" + tc.host + "/a.yaml"})
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: error is %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}

func TestDial(t *testing.T) {
	r := New(Options{Config: config.Reading{Allow: []config.AllowedHost{{Host: "example.org"}, {Host: "10.1.2.3:80"}, {Host: "localhost:80"}, {Host: "[::1]:80"}}}})
	cases := map[string]struct {
		reason, host, address string
		ok                    bool
	}{
		"Public":      {"A public address is allowed.", "example.org", "93.184.216.34:80", true},
		"PublicSix":   {"A public IPv6 address is allowed.", "example.org", "[2606:2800:220:1:248:1893:25c8:1946]:80", true},
		"Loopback":    {"A loopback address is refused.", "example.org", "127.0.0.1:80", false},
		"Mapped":      {"A loopback address mapped to IPv6 is refused.", "example.org", "[::ffff:127.0.0.1]:80", false},
		"Private":     {"A private address is refused.", "example.org", "192.168.1.1:80", false},
		"LinkLocal":   {"The metadata address of clouds is refused.", "example.org", "169.254.169.254:80", false},
		"CarrierNAT":  {"A carrier-grade NAT address is refused.", "example.org", "100.100.1.1:80", false},
		"Nothing":     {"The unspecified address is refused.", "example.org", "0.0.0.0:80", false},
		"Multicast":   {"A multicast address is refused.", "example.org", "224.0.0.1:80", false},
		"Broadcast":   {"A broadcast address is refused.", "example.org", "255.255.255.255:80", false},
		"SixLoopback": {"The IPv6 loopback address is refused.", "example.org", "[::1]:80", false},
		"SixLocal":    {"A link-local address with a zone is refused.", "example.org", "[fe80::1%eth0]:80", false},
		"SixPrivate":  {"private", "example.org", "[fd00::1]:80", false},
		"Translated":  {"A loopback address in NAT64 is refused.", "example.org", "[64:ff9b::7f00:1]:80", false},
		"SixToFour":   {"A loopback address in 6to4 is refused.", "example.org", "[2002:7f00:1::]:80", false},
		"TranslatedP": {"A public address in NAT64 is allowed.", "example.org", "[64:ff9b::5db8:d822]:80", true},
		"Named":       {"A private address that is configured is allowed.", "10.1.2.3", "10.1.2.3:80", true},
		"NamedOther":  {"A configured address allows no other address.", "10.1.2.3", "10.1.2.4:80", false},
		"NamedSix":    {"An IPv6 address that is configured is allowed.", "::1", "[::1]:80", true},
		"Localhost":   {"A configured localhost allows loopback addresses.", "localhost", "127.0.0.1:80", true},
		"LocalhostNo": {"A configured localhost allows no other address.", "localhost", "10.1.2.3:80", false},
		"Garbled":     {"A text that is not an address is refused.", "example.org", "pipe", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if err := r.checkDial(tc.host, "80", tc.address); (err == nil) != tc.ok {
				t.Errorf("%s: result is %v, want allowed: %v", tc.reason, err, tc.ok)
			}
		})
	}
}

func TestAllowed(t *testing.T) {
	r := New(Options{Config: config.Reading{Allow: []config.AllowedHost{
		{Host: "Example.org"}, {Host: "*.example.net"}, {Host: "ports.example.com:8443"},
		{Host: "paths.example.com", Paths: []string{"/a/b", "/c/"}}, {Host: "[2001:db8::1]:81"},
	}}})
	cases := map[string]bool{
		"https://example.org/x":                         true,
		"http://EXAMPLE.org:80/x":                       true,
		"https://example.org:443/":                      true,
		"https://example.org:80/":                       false,
		"https://example.org.evil.com/":                 false,
		"https://notexample.org/":                       false,
		"https://a.example.net/":                        true,
		"https://a.b.example.net/":                      true,
		"https://example.net/":                          false,
		"https://evilexample.net/":                      false,
		"https://ports.example.com:8443/":               true,
		"https://ports.example.com/":                    false,
		"https://paths.example.com/a/b":                 true,
		"https://paths.example.com/a/b/c?x=/":           true,
		"https://paths.example.com/a/bc":                false,
		"https://paths.example.com/c/d":                 true,
		"https://paths.example.com/":                    false,
		"https://paths.example.com":                     false,
		"https://paths.example.com/a/b/../../x":         false,
		"https://paths.example.com/a/b/%2e%2e/%2e%2e/x": false,
		"https://paths.example.com/a/b/..%2f..%2fx":     false,
		"https://paths.example.com/a/b/%252e%252e/x":    false,
		`https://paths.example.com/a/b/..\..\x`:         false,
		"https://paths.example.com/a/b//x":              false,
		"http://[2001:db8:0:0::1]:81/":                  true,
		"http://[2001:db8::1]/":                         false,
	}
	for address, want := range cases {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.allowed(u); got != want {
			t.Errorf("%s is allowed: %v, want %v", address, got, want)
		}
	}
}

func FuzzAllowed(f *testing.F) {
	for _, s := range []string{"http://a.example.net/x", "http://[::1]:80/", "https://example.org/a/../b", "http://127.0.0.1%00.example.net/"} {
		f.Add(s)
	}
	r := New(Options{Config: config.Reading{Allow: []config.AllowedHost{{Host: "*.example.net", Paths: []string{"/a"}}}}})
	f.Fuzz(func(t *testing.T, address string) {
		u, p := parseURL(address)
		if p != nil || !r.allowed(u) {
			return
		}
		again, err := url.Parse(u.String())
		if err != nil {
			t.Fatalf("allowed URL %q cannot be parsed: %v", address, err)
		}
		if !strings.HasSuffix(strings.ToLower(again.Hostname()), ".example.net") || again.User != nil {
			t.Errorf("%q leads to host %q", address, again.Hostname())
		}
		if again.Path != "/a" && !strings.HasPrefix(again.Path, "/a/") {
			t.Errorf("%q leads to path %q", address, again.Path)
		}
		if _, err := netip.ParseAddr(again.Hostname()); err == nil {
			t.Errorf("%q leads to an IP address", address)
		}
	})
}
