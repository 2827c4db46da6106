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

// bomb is far more than any limit, in few bytes.
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
		_, _ = w.Write(packed) // A client that has enough may hang up.
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
		// problem is in the only problem; empty means there is none.
		problem string
	}{
		"Plain":    {reason: "a page is read", path: "/a.yaml", want: []string{"component:default/a"}},
		"Redirect": {reason: "a redirect is followed", path: "/moved", want: []string{"component:default/a"}},
		"Nested": {
			reason: "targets are relative to the page", path: "/d/all.yaml",
			want:    []string{"location:default/l", "component:default/b of location:default/l", "component:default/a of location:default/l"},
			problem: "NotFoundError: Unable to read url, no matching files found for /none.yaml (/d/all.yaml:1:1)",
		},
		"Missing":  {reason: "in the words of the original", path: "/none.yaml", problem: "NotFoundError: Unable to read url, no matching files found for /none.yaml"},
		"Itself":   {reason: "a page that names itself", path: "/self.yaml", want: []string{"location:default/l"}, problem: "the location leads to itself"},
		"File":     {reason: "a page names no files", path: "/passwd.yaml", want: []string{"location:default/l"}, problem: "what comes from elsewhere may not name files here"},
		"Out":      {reason: "nor hosts that are not on the list", path: "/out.yaml", want: []string{"location:default/l"}, problem: "is not allowed; add the host to backend.reading.allow"},
		"HTML":     {reason: "a page for people has no entities", path: "/html", problem: "InputError:"},
		"Loop":     {reason: "redirects come to an end", path: "/loop", problem: "it redirects more than 5 times"},
		"Away":     {reason: "redirects stay on the list", path: "/away", problem: "which is not allowed there"},
		"Schemed":  {reason: "and on the web", path: "/schemed", problem: "redirects to an address that is not allowed"},
		"Secret":   {reason: "without passwords", path: "/secret", problem: "redirects to an address that is not allowed"},
		"Endless":  {reason: "an endless page is cut off", path: "/endless", problem: "it has more than 100000 bytes"},
		"Silent":   {reason: "a server that says nothing is left", path: "/silent", problem: "it took longer than 400ms"},
		"Slow":     {reason: "and one that says it slowly", path: "/slow", problem: "it took longer than 400ms"},
		"Short":    {reason: "half a page is none", path: "/short", problem: "the answer was cut off"},
		"Bomb":     {reason: "what counts is what comes out", path: "/bomb", problem: "it has more than 100000 bytes"},
		"Headers":  {reason: "headers count too", path: "/headers", problem: "Unable to read url"},
		"Broken":   {reason: "the server's trouble is told", path: "/broken", problem: "the server answered 502 Bad Gateway"},
		"Unasked":  {reason: "nothing new is no answer to who has nothing", path: "/unasked", problem: "the server answered 304"},
		"Fragment": {reason: "a fragment is the browser's", path: "/a.yaml#x", want: []string{"component:default/a"}},
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
				t.Errorf("%s\nfound (-want +got):\n%s", tc.reason, diff)
			}
			got := strings.Join(texts(res.Problems, s.URL), "\n")
			if !strings.Contains(got, tc.problem) || (got == "") != (tc.problem == "") || len(res.Problems) > 1 {
				t.Errorf("%s\nproblems %q, want %q", tc.reason, got, tc.problem)
			}
			if strings.Contains(got, "hunter2") {
				t.Errorf("%s\nthe problem shows a password: %q", tc.reason, got)
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
		t.Errorf("error %v, want the redirect refused", err)
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
		"Named":     {"an address on the list", "127.0.0.1:" + port, "127.0.0.1:" + port, ""},
		"Localhost": {"so is localhost", "localhost:" + port, "localhost:" + port, ""},
		"OtherPort": {"another port is another place", "127.0.0.1:1", "127.0.0.1:" + port, "is not allowed"},
		"NoPort":    {"no port is the scheme's own", "127.0.0.1", "127.0.0.1:" + port, "is not allowed"},
		"OtherName": {"one name of a place does not allow the other", "127.0.0.1:" + port, "localhost:" + port, "is not allowed"},
		"Wildcard":  {"a pattern allows no private address", "*.0.0.1:" + port, "127.0.0.1:" + port, "its address is private"},
		"Rebound":   {"a name is judged by the address behind it", "*.localhost:" + port, "portal.localhost:" + port, "Unable to read url"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := New(Options{Config: config.Reading{Allow: []config.AllowedHost{{Host: tc.allow}}}, Rules: everything})
			_, err := r.Read(t.Context(), Target{Type: TypeURL, Target: "http://" + tc.host + "/a.yaml"})
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: error %v, want %q", tc.reason, err, tc.want)
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
		"Public":      {"the Internet", "example.org", "93.184.216.34:80", true},
		"PublicSix":   {"in both sizes", "example.org", "[2606:2800:220:1:248:1893:25c8:1946]:80", true},
		"Loopback":    {"a name that leads here", "example.org", "127.0.0.1:80", false},
		"Mapped":      {"however it is written", "example.org", "[::ffff:127.0.0.1]:80", false},
		"Private":     {"or to a neighbour", "example.org", "192.168.1.1:80", false},
		"LinkLocal":   {"or to the cloud's own data", "example.org", "169.254.169.254:80", false},
		"CarrierNAT":  {"or to the provider's", "example.org", "100.100.1.1:80", false},
		"Nothing":     {"or nowhere", "example.org", "0.0.0.0:80", false},
		"Multicast":   {"or to many", "example.org", "224.0.0.1:80", false},
		"Broadcast":   {"or to all", "example.org", "255.255.255.255:80", false},
		"SixLoopback": {"in the larger size", "example.org", "[::1]:80", false},
		"SixLocal":    {"with its zone", "example.org", "[fe80::1%eth0]:80", false},
		"SixPrivate":  {"private", "example.org", "[fd00::1]:80", false},
		"Translated":  {"an old address in a new one", "example.org", "[64:ff9b::7f00:1]:80", false},
		"SixToFour":   {"in another way", "example.org", "[2002:7f00:1::]:80", false},
		"TranslatedP": {"a public one is public", "example.org", "[64:ff9b::5db8:d822]:80", true},
		"Named":       {"an address that is on the list", "10.1.2.3", "10.1.2.3:80", true},
		"NamedOther":  {"is that one", "10.1.2.3", "10.1.2.4:80", false},
		"NamedSix":    {"in either size", "::1", "[::1]:80", true},
		"Localhost":   {"localhost is here", "localhost", "127.0.0.1:80", true},
		"LocalhostNo": {"and nowhere else", "localhost", "10.1.2.3:80", false},
		"Garbled":     {"what is no address is refused", "example.org", "pipe", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if err := r.checkDial(tc.host, "80", tc.address); (err == nil) != tc.ok {
				t.Errorf("%s: %v, want allowed: %v", tc.reason, err, tc.ok)
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
			t.Fatalf("%q was allowed and is no address: %v", address, err)
		}
		if !strings.HasSuffix(strings.ToLower(again.Hostname()), ".example.net") || again.User != nil {
			t.Errorf("%q leads to host %q", address, again.Hostname())
		}
		if again.Path != "/a" && !strings.HasPrefix(again.Path, "/a/") {
			t.Errorf("%q leads to path %q", address, again.Path)
		}
		if _, err := netip.ParseAddr(again.Hostname()); err == nil {
			t.Errorf("%q is an address", address)
		}
	})
}
