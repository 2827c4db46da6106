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

// TestBadTokens checks that forged, expired and malformed tokens are rejected.
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
		"someone else's":  {"A token signed with another key under our key id is rejected.", w.forged(decoded(parts[0]), parts[1])},
		"none":            {"A token with algorithm none is rejected.", encoded(none) + "." + parts[1] + "."},
		"none, signed":    {"A token with algorithm none is rejected, even with a signature.", encoded(none) + "." + parts[1] + "." + parts[2]},
		"promoted":        {"A signature of other claims is rejected.", parts[0] + "." + encoded(service) + "." + parts[2]},
		"no signature":    {"A truncated token is rejected.", parts[0] + "." + parts[1]},
		"empty signature": {"A token with an empty signature is rejected.", parts[0] + "." + parts[1] + "."},
		"garbage":         {"A text that is not a token is rejected.", "garbage"},
		"dots":            {"A text that is not a token is rejected.", "..."},
		"almost a token":  {"A service token with one wrong character is rejected.", theToken[:len(theToken)-1] + "x"},
		"more":            {"A service token with an additional character is rejected.", theToken + "x"},
		"long":            {"A token of forty thousand characters is rejected.", strings.Repeat("x", 40_000)},
	}
	for i := 1; i < len(good); i += len(good)/20 + 1 {
		cases[fmt.Sprintf("first %d characters", i)] = struct{ reason, token string }{"A truncated token is rejected.", good[:i]}
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
					t.Errorf("%s: response contains the token", tc.reason)
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

// forged signs claims with a new key, under a copied header.
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

// locationBody returns the body of a request that registers a location of type
// url.
func locationBody(target string) string {
	data, _ := json.Marshal(map[string]string{"type": "url", "target": target})
	return string(data)
}

// register registers a location and returns its id.
func (c caller) register(target string) string {
	c.t.Helper()
	var made struct{ Location struct{ ID string } }
	c.want(call{method: "POST", path: "/api/catalog/locations", body: locationBody(target)}, http.StatusCreated, &made)
	return made.Location.ID
}

// problem waits until a location has an error, and returns it.
func (c caller) problem(id string) string {
	c.t.Helper()
	var location struct{ Error string }
	c.until("the location shows what is wrong", func() bool {
		c.get("/api/catalog/locations/"+id, &location)
		return location.Error != ""
	})
	return location.Error
}

// TestBadLocations checks that locations with bad or forbidden targets are
// rejected or report an error, and remove no entities.
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
		"slow":             {"A slow server ends in a timeout.", served.base + "/slow.yaml"},
		"silent":           {"A server that does not respond ends in a timeout.", served.base + "/silent.yaml"},
		"endless":          {"An endless response is cut off.", served.base + "/endless.yaml"},
		"around":           {"A redirect loop is an error.", served.base + "/around.yaml"},
		"away":             {"A redirect to a host that is not allowed is not followed.", served.base + "/away.yaml"},
		"missing":          {"A missing file is an error.", served.base + "/missing.yaml"},
		"broken":           {"A file that is not YAML is an error.", broken},
		"loopback":         {"Another port on the loopback interface is not allowed.", "http://" + hidden + "/x.yaml"},
		"private":          {"A private address is not allowed.", "http://10.0.0.1/x.yaml"},
		"metadata service": {"A link-local address is not allowed.", "http://169.254.169.254/latest/meta-data"},
		"IPv6 loopback":    {"The IPv6 loopback address is not allowed.", "http://[::1]/x.yaml"},
		"mapped":           {"A loopback address as mapped IPv6 is not allowed.", "http://[::ffff:127.0.0.1]/x.yaml"},
		"number":           {"A loopback address as a number is not allowed.", "http://2130706433/x.yaml"},
		"zero":             {"The unspecified address is not allowed.", "http://0.0.0.0/x.yaml"},
		"localhost":        {"The name localhost is not allowed.", "http://localhost:" + hidden[strings.LastIndexByte(hidden, ':')+1:] + "/x.yaml"},
		"credentials":      {"A URL with a password is not allowed.", "http://user:secret@" + served.host + "/x.yaml"},
		"scheme":           {"An unsupported scheme is rejected.", "gopher://" + served.host + "/x.yaml"},
		"file":             {"A file URL is rejected.", "file:///etc/passwd"},
		"no host":          {"A URL without a host is rejected.", "http:///x.yaml"},
		"port":             {"A URL with a malformed port is rejected.", "http://" + served.host + "x/"},
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
					t.Errorf("%s: response contains the password: %s", tc.reason, brief(r.body))
				}
			})
		}
	})
	t.Run("itself", func(t *testing.T) {
		w := w.in(t)
		if got := w.problem(w.register(self)); !strings.Contains(got, "self.yaml") {
			t.Errorf("error of the location is %q, want it to name self.yaml", got)
		}
	})
	t.Run("the same entity", func(t *testing.T) {
		w := w.in(t)
		const system = "apiVersion: backstage.io/v1alpha1\nkind: System\nmetadata: {name: shop, title: %s}\nspec: {owner: team}\n"
		first := served.put("first.yaml", fmt.Sprintf(system, "First"))
		second := served.put("second.yaml", fmt.Sprintf(system, "Second")+"---\n"+component("second"))
		w.register(first)
		w.until("the first is read", func() bool { return w.exists("system/default/shop") })
		id := w.register(second)
		if got := w.problem(id); !strings.Contains(got, "system:default/shop") {
			t.Errorf("error of the location is %q, want it to name the entity", got)
		}
		var got struct{ Metadata struct{ Title string } }
		w.get("/api/catalog/entities/by-name/system/default/shop", &got)
		if got.Metadata.Title != "First" || !w.exists("component/default/second") {
			t.Errorf("title is %+v, want the first owner to keep the entity and the others to be added", got)
		}
		w.want(call{method: "DELETE", path: "/api/catalog/locations/" + id}, http.StatusNoContent, nil)
		if !w.exists("system/default/shop") || w.exists("component/default/second") {
			t.Error("deleting a location must remove its own entities and no others")
		}
	})
	t.Run("an outage", func(t *testing.T) {
		w := w.in(t)
		target := served.put("gone.yaml", component("gone"))
		id := w.register(target)
		w.until("it is read", func() bool { return w.exists("component/default/gone") })
		served.handle("gone.yaml", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
		w.want(call{method: "POST", path: "/api/catalog/refresh", body: `{"entityRef":"component:default/gone"}`}, http.StatusOK, nil)
		w.problem(id)
		if !w.exists("component/default/gone") {
			t.Error("entity was removed while its location could not be read, want it kept")
		}
	})
	if !w.exists("component/default/a") {
		t.Error("entities were lost")
	}
}

// TestTooMany checks that the rate limit rejects excess requests.
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
			t.Fatalf("got %d %s, want 200 or 429", r.status, brief(r.body))
		}
	}
	if fine < 5 || refused < 10 {
		t.Errorf("%d requests succeeded and %d were rejected with a limit of five per minute", fine, refused)
	}
	w.want(call{path: "/health/ready", token: noToken}, http.StatusOK, nil)
}
