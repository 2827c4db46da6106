package portal_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// TestBadTokens asks with tokens that are not what they say.
func TestBadTokens(t *testing.T) {
	w := start(t, setup{})
	good := w.guest()
	const path = "/api/catalog/entities"
	w.want(call{path: path, token: good}, http.StatusOK, nil)
	parts := strings.Split(good, ".")
	decoded := func(part string) map[string]any {
		data, err := base64.RawURLEncoding.DecodeString(part)
		if err != nil {
			t.Fatal(err)
		}
		return decode(t, data).(map[string]any)
	}
	encoded := func(v any) string {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(data)
	}
	none := decoded(parts[0])
	none["alg"] = "none"
	service := decoded(parts[1])
	service["sub"] = "user:default/admin"
	delete(service, "guest")

	cases := map[string]struct{ reason, token string }{
		"someone else's":  {"signed by a key that is not ours, under the name of ours", w.forged(decoded(parts[0]), parts[1])},
		"none":            {"not signed, and saying so", encoded(none) + "." + parts[1] + "."},
		"none, signed":    {"not signed, and saying so", encoded(none) + "." + parts[1] + "." + parts[2]},
		"promoted":        {"signed for something else", parts[0] + "." + encoded(service) + "." + parts[2]},
		"no signature":    {"truncated", parts[0] + "." + parts[1]},
		"empty signature": {"truncated", parts[0] + "." + parts[1] + "."},
		"garbage":         {"no token at all", "garbage"},
		"dots":            {"no token at all", "..."},
		"almost a token":  {"a service's token but for a character", theToken[:len(theToken)-1] + "x"},
		"more":            {"a service's token and a character", theToken + "x"},
		"long":            {"forty thousand characters", strings.Repeat("x", 40_000)},
	}
	for i := 1; i < len(good); i += len(good)/20 + 1 {
		cases[fmt.Sprintf("first %d characters", i)] = struct{ reason, token string }{"truncated", good[:i]}
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := w.in(t)
			for _, x := range []call{{path: path, token: tc.token}, {method: "POST", path: "/api/permission/authorize", body: `[]`, token: tc.token}} {
				r := w.send(x)
				if r.status != http.StatusForbidden && !(len(tc.token) > 30_000 && r.status == http.StatusRequestHeaderFieldsTooLarge) {
					t.Errorf("%s: got %d %s, want 403", tc.reason, r.status, brief(r.body))
				}
				if len(tc.token) > 10 && strings.Contains(string(r.body), tc.token) {
					t.Errorf("%s: the answer repeats the token", tc.reason)
				}
			}
		})
	}
	t.Run("expired", func(t *testing.T) {
		other := start(t, setup{base: w.base, database: w.database, lifetime: time.Second})
		token := other.guest()
		w := w.in(t)
		w.until("the token has expired", func() bool { return w.send(call{path: path, token: token}).status == http.StatusForbidden })
	})
	w.want(call{path: path, token: good}, http.StatusOK, nil)
}

// forged signs claims with a key of our own, under the header of another.
func (c caller) forged(header map[string]any, claims string) string {
	c.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		c.t.Fatal(err)
	}
	opts := (&jose.SignerOptions{}).WithHeader("kid", header["kid"]).WithType(jose.ContentType(fmt.Sprint(header["typ"])))
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, opts)
	if err != nil {
		c.t.Fatal(err)
	}
	payload, err := base64.RawURLEncoding.DecodeString(claims)
	if err != nil {
		c.t.Fatal(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		c.t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		c.t.Fatal(err)
	}
	return token
}

// locationBody is a location of type url.
func locationBody(target string) string {
	data, _ := json.Marshal(map[string]string{"type": "url", "target": target})
	return string(data)
}

// register registers a location.
func (c caller) register(target string) string {
	c.t.Helper()
	var made struct{ Location struct{ ID string } }
	c.want(call{method: "POST", path: "/api/catalog/locations", body: locationBody(target)}, http.StatusCreated, &made)
	return made.Location.ID
}

// problem waits until a location shows one.
func (c caller) problem(id string) string {
	c.t.Helper()
	var location struct{ Error string }
	c.until("the location shows what is wrong", func() bool {
		c.get("/api/catalog/locations/"+id, &location)
		return location.Error != ""
	})
	return location.Error
}

// TestBadLocations points at addresses that nothing good comes from.
func TestBadLocations(t *testing.T) {
	served := serveFiles(t, "")
	self := served.put("self.yaml", "apiVersion: backstage.io/v1alpha1\nkind: Location\nmetadata: {name: self}\nspec: {type: url, target: BASE/self.yaml}\n")
	ended := make(chan struct{})
	t.Cleanup(func() { close(ended) })
	served.handle("slow.yaml", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		for {
			select {
			case <-ended:
				return
			case <-r.Context().Done():
				return
			case <-time.After(100 * time.Millisecond):
				_, _ = w.Write([]byte("#"))
				_ = http.NewResponseController(w).Flush()
			}
		}
	})
	served.handle("silent.yaml", func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-ended:
		case <-r.Context().Done():
		}
	})
	served.handle("endless.yaml", func(w http.ResponseWriter, r *http.Request) {
		line := []byte(strings.Repeat("# more\n", 1000))
		for r.Context().Err() == nil {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	})
	served.handle("around.yaml", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "around.yaml", http.StatusFound)
	})
	hidden := closedPort(t)
	served.handle("away.yaml", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://"+hidden+"/x.yaml", http.StatusFound)
	})
	broken := served.put("broken.yaml", "apiVersion: backstage.io/v1alpha1\nkind: [\n")
	w := start(t, setup{allow: []string{served.host, "internal.example.org"}})
	w.push("first", component("a"))

	cases := map[string]struct{ reason, target string }{
		"slow":             {"a server that takes its time", served.base + "/slow.yaml"},
		"silent":           {"a server that says nothing", served.base + "/silent.yaml"},
		"endless":          {"a server that never ends", served.base + "/endless.yaml"},
		"around":           {"a server that sends around in circles", served.base + "/around.yaml"},
		"away":             {"a redirect to what is not allowed", served.base + "/away.yaml"},
		"missing":          {"a file that is not there", served.base + "/missing.yaml"},
		"broken":           {"a file that is no YAML", broken},
		"loopback":         {"another port on this machine", "http://" + hidden + "/x.yaml"},
		"private":          {"a private address", "http://10.0.0.1/x.yaml"},
		"metadata service": {"a link-local address", "http://169.254.169.254/latest/meta-data"},
		"IPv6 loopback":    {"this machine", "http://[::1]/x.yaml"},
		"mapped":           {"this machine, in disguise", "http://[::ffff:127.0.0.1]/x.yaml"},
		"number":           {"this machine, in disguise", "http://2130706433/x.yaml"},
		"zero":             {"this machine, in disguise", "http://0.0.0.0/x.yaml"},
		"localhost":        {"this machine by name", "http://localhost:" + hidden[strings.LastIndexByte(hidden, ':')+1:] + "/x.yaml"},
		"credentials":      {"a password in the address", "http://user:secret@" + served.host + "/x.yaml"},
		"scheme":           {"a scheme that is not read", "gopher://" + served.host + "/x.yaml"},
		"file":             {"a file in disguise", "file:///etc/passwd"},
		"no host":          {"an address without a host", "http:///x.yaml"},
		"port":             {"an address with half a port", "http://" + served.host + "x/"},
	}
	t.Run("read at once", func(t *testing.T) {
		for name, tc := range cases {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := w.in(t)
				r := w.send(call{method: "POST", path: "/api/catalog/locations?dryRun=true", body: locationBody(tc.target)})
				if r.status != http.StatusBadRequest || !strings.Contains(string(r.body), "InputError") {
					t.Errorf("%s: got %d %s, want an InputError", tc.reason, r.status, brief(r.body))
				}
				if strings.Contains(string(r.body), "secret") && name == "credentials" && !strings.Contains(string(r.body), "xxxxx") {
					t.Errorf("%s: the answer repeats the password: %s", tc.reason, brief(r.body))
				}
			})
		}
	})
	t.Run("itself", func(t *testing.T) {
		w := w.in(t)
		if got := w.problem(w.register(self)); !strings.Contains(got, "self.yaml") {
			t.Errorf("the problem names the location, got %q", got)
		}
	})
	t.Run("the same entity", func(t *testing.T) {
		w := w.in(t)
		const system = "apiVersion: backstage.io/v1alpha1\nkind: System\nmetadata: {name: shop, title: %s}\nspec: {owner: team}\n"
		first := served.put("first.yaml", fmt.Sprintf(system, "First"))
		second := served.put("second.yaml", fmt.Sprintf(system, "Second")+"---\n"+component("second"))
		w.register(first)
		w.until("the first is read", func() bool { return w.there("system/default/shop") })
		id := w.register(second)
		if got := w.problem(id); !strings.Contains(got, "system:default/shop") {
			t.Errorf("the problem names the entity, got %q", got)
		}
		var got struct{ Metadata struct{ Title string } }
		w.get("/api/catalog/entities/by-name/system/default/shop", &got)
		if got.Metadata.Title != "First" || !w.there("component/default/second") {
			t.Errorf("the first owner keeps it and the rest is taken, got %+v", got)
		}
		w.want(call{method: "DELETE", path: "/api/catalog/locations/" + id}, http.StatusNoContent, nil)
		if !w.there("system/default/shop") || w.there("component/default/second") {
			t.Error("a location takes along what is its own, and nothing else")
		}
	})
	t.Run("an outage", func(t *testing.T) {
		w := w.in(t)
		target := served.put("gone.yaml", component("gone"))
		id := w.register(target)
		w.until("it is read", func() bool { return w.there("component/default/gone") })
		served.handle("gone.yaml", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
		w.want(call{method: "POST", path: "/api/catalog/refresh", body: `{"entityRef":"component:default/gone"}`}, http.StatusOK, nil)
		w.problem(id)
		if !w.there("component/default/gone") {
			t.Error("what cannot be read stays as it was")
		}
	})
	if !w.there("component/default/a") {
		t.Error("something was lost")
	}
}

// TestTooMany asks too often.
func TestTooMany(t *testing.T) {
	w := start(t, setup{rateLimit: map[string]any{"window": "1m", "incomingRequestLimit": 5, "ipAllowList": []string{}}})
	var fine, refused int
	for range 20 {
		switch r := w.send(call{path: "/api/catalog/entities"}); r.status {
		case http.StatusOK:
			fine++
		case http.StatusTooManyRequests:
			refused++
		default:
			t.Fatalf("got %d %s", r.status, brief(r.body))
		}
	}
	if fine < 5 || refused < 10 {
		t.Errorf("%d were answered and %d refused, where five may be asked in a minute", fine, refused)
	}
	w.want(call{path: "/health/ready", token: nobody}, http.StatusOK, nil)
}
