package settings

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/identity"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/internal/rest/httpd"
	"example.dev/ingestor/test/database"
)

func TestMain(m *testing.M) { database.Main(m) }

// world serves the settings of a database.
type world struct {
	t       *testing.T
	handler http.Handler
}

func newWorld(t *testing.T, d *db.DB) *world {
	t.Helper()
	srv := httpd.New(httpd.Options{
		Plugins: []rest.Plugin{New(d).Plugin()}, Authenticate: authenticate, AllowedHosts: []string{"example.com"},
		Log: slog.New(slog.DiscardHandler), Now: time.Now, Registry: prometheus.NewRegistry(),
	})
	return &world{t: t, handler: srv.Handler()}
}

// onBoth runs a test on both databases.
func onBoth(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	database.OnBoth(t, func(t *testing.T, open func() *db.DB) { test(t, newWorld(t, open())) })
}

// authenticate trusts the request: it has the kind and the subject of the caller.
func authenticate(r *http.Request) (context.Context, error) {
	kind, subject, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	c := identity.Caller{Subject: subject}
	if err := c.Kind.UnmarshalText([]byte(kind)); err != nil {
		return r.Context(), err
	}
	return identity.With(r.Context(), c), nil
}

const (
	ada   = "user user:default/ada"
	bob   = "user user:default/bob"
	guest = "guest user:development/guest"
	ci    = "service ci"
)

// do sends a request below /api/user-settings as a caller, and returns the status and the
// body.
func (w *world) do(as, method, path, body string) (int, string) {
	w.t.Helper()
	r := httptest.NewRequestWithContext(w.t.Context(), method, "/api/user-settings"+path, strings.NewReader(body))
	r.Header.Set("Authorization", as)
	rec := httptest.NewRecorder()
	w.handler.ServeHTTP(rec, r)
	data, err := io.ReadAll(rec.Result().Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return rec.Code, string(data)
}

// want sends a request and checks that the answer has the status and contains the text.
func (w *world) want(as, method, path, body string, status int, text string) {
	w.t.Helper()
	if code, got := w.do(as, method, path, body); code != status || !strings.Contains(got, text) {
		w.t.Errorf("%s %.200s as %s is %d %.500s, want %d with %s", method, path, as, code, got, status, text)
	}
}

func at(bucket, key string) string {
	return "/buckets/" + url.PathEscape(bucket) + "/keys/" + url.PathEscape(key)
}

func TestSettings(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.t = t
		stars := at("starredEntities", "entityRefs")
		w.want(ada, "GET", stars, "", 404, `"name":"NotFoundError","message":"Unable to find 'entityRefs' in bucket 'starredEntities'"`)
		w.want(ada, "DELETE", stars, "", 204, "")
		const first = `{"bucket":"starredEntities","key":"entityRefs","value":["component:default/a","api:default/<b>"]}`
		w.want(ada, "PUT", stars, `{"value": [ "component:default/a", "api:default/<b>" ]}`, 200, first)
		w.want(ada, "GET", stars, "", 200, first)
		w.want(ada, "PUT", stars, `{"value":[]}`, 200, `"value":[]}`)
		w.want(ada, "GET", stars, "", 200, `"value":[]}`)
		// The same key in another bucket is another setting.
		w.want(ada, "PUT", at("catalog views", "entityRefs"), `{"value":null}`, 200, `{"bucket":"catalog views","key":"entityRefs","value":null}`)
		w.want(ada, "GET", stars, "", 200, `"value":[]}`)
		w.want(ada, "POST", "/multiget", `{"items":[{"bucket":"catalog views","key":"entityRefs"},{"bucket":"x","key":"entityRefs"},{"bucket":"starredEntities","key":"entityRefs"}]}`, 200,
			`{"items":[{"value":null},null,{"value":[]}]}`)
		w.want(ada, "DELETE", stars, "", 204, "")
		w.want(ada, "GET", stars, "", 404, "NotFoundError")
		w.want(ada, "GET", at("catalog views", "entityRefs"), "", 200, "null")
		w.want(ada, "POST", "/multiget", `{"items":[]}`, 200, `{"items":[]}`)
	})
}

// TestOthers checks that no caller reads or changes the settings of another.
func TestOthers(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.t = t
		views := at("views", "mine")
		ask := `{"items":[{"bucket":"views","key":"mine"}]}`
		w.want(ada, "PUT", views, `{"value":"of ada"}`, 200, "of ada")
		w.want(bob, "GET", views, "", 404, "NotFoundError")
		w.want(bob, "POST", "/multiget", ask, 200, `{"items":[null]}`)
		w.want(bob, "PUT", views, `{"value":"of bob"}`, 200, "of bob")
		w.want(bob, "DELETE", views, "", 204, "")
		w.want(ada, "GET", views, "", 200, `"value":"of ada"`)
		for as, message := range map[string]string{guest: "Guests have no stored settings; sign in", ci: "Services have no stored settings; use the token of a user"} {
			w.want(as, "GET", views, "", 403, message)
			w.want(as, "PUT", views, `{"value":1}`, 403, message)
			w.want(as, "DELETE", views, "", 403, message)
			w.want(as, "POST", "/multiget", ask, 403, message)
		}
		// A guest with the name of a user is still a guest.
		w.want("guest user:default/ada", "GET", views, "", 403, "NotAllowedError")
	})
}

func TestHostile(t *testing.T) {
	long := strings.Repeat("ä", maxName+1)
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	cases := map[string]struct {
		reason       string
		method, path string
		body         string
		status       int
		text         string
	}{
		"LongBucket":   {"A bucket has a maximum length.", "GET", at(long, "k"), "", 400, "Invalid bucket, it has more than 255 characters"},
		"LongKey":      {"A key has a maximum length.", "DELETE", at("b", long), "", 400, "Invalid key, it has more than 255 characters"},
		"LongestNames": {"The longest names are stored.", "PUT", at(long[2:], long[2:]), `{"value":1}`, 200, `"value":1`},
		"NUL":          {"Databases store no NUL.", "PUT", at("b", "k\x00"), `{"value":1}`, 400, "Invalid key, it has a NUL or is not UTF-8"},
		"NotUTF8":      {"Databases store only UTF-8.", "PUT", at("b\xff", "k"), `{"value":1}`, 400, "Invalid bucket, it has a NUL or is not UTF-8"},
		"Slash":        {"An escaped slash is part of a key.", "PUT", at("b", "a/b"), `{"value":1}`, 200, `"key":"a/b"`},
		"SQL":          {"A name is a parameter.", "PUT", at("b' OR 1=1 --", "%"), `{"value":1}`, 200, `"bucket":"b' OR 1=1 --"`},
		"NoBody":       {"A body is required.", "PUT", at("b", "k"), "", 400, "request/body is empty"},
		"NoValue":      {"A value is required.", "PUT", at("b", "k"), `{"valu":1}`, 400, `Missing required field \"value\"`},
		"List":         {"The body is an object.", "PUT", at("b", "k"), `[1]`, 400, "request/body must be object"},
		"Broken":       {"The body is JSON.", "PUT", at("b", "k"), `{"value":tru}`, 400, "in JSON at position"},
		"BadUTF8":      {"The body is UTF-8.", "PUT", at("b", "k"), "{\"value\":\"\xff\"}", 400, "request/body is not UTF-8"},
		"EscapedNUL":   {"A value may have an escaped NUL.", "PUT", at("b", "k"), `{"value":"a\u0000b"}`, 200, `"value":"a\u0000b"`},
		"Largest":      {"The largest value is stored.", "PUT", at("b", "k"), `{"value":"` + strings.Repeat("x", maxValue-2) + `"}`, 200, "xxx"},
		"TooLarge":     {"A larger value is refused.", "PUT", at("b", "k"), `{"value":"` + strings.Repeat("x", maxValue-1) + `"}`, 413, "The value has 65537 bytes, but may have 65536"},
		"Spaces":       {"Spaces do not count.", "PUT", at("b", "k"), `{"value":[` + strings.Repeat(" ", maxValue) + `]}`, 200, `"value":[]`},
		"Body":         {"A body has a maximum size.", "PUT", at("b", "k"), `{"value":[` + strings.Repeat(" ", maxBody) + `]}`, 413, "PayloadTooLargeError"},
		"Nested":       {"A value may be nested.", "PUT", at("b", "k"), `{"value":` + deep(100) + `}`, 200, "[[[["},
		"Deep":         {"A value may not be nested deeply.", "PUT", at("b", "k"), `{"value":` + deep(101) + `}`, 400, "nested more than 100 levels deep"},
		"VeryDeep":     {"A value may not be nested very deeply.", "PUT", at("b", "k"), `{"value":` + deep(20_000) + `}`, 400, "InputError"},
		"Many":         {"A request has at most 100 items.", "POST", "/multiget", `{"items":[{}` + strings.Repeat(`,{"bucket":"b","key":"k"}`, 100) + `]}`, 400, "at most 100 items"},
		"NoItems":      {"Items are required.", "POST", "/multiget", `{}`, 400, "must have required property 'items'"},
		"ItemLong":     {"Names of items have a maximum length.", "POST", "/multiget", `{"items":[{"bucket":"b","key":"` + long + `"}]}`, 400, "Invalid request/body/items/key"},
		"ItemNUL":      {"Names of items have no NUL.", "POST", "/multiget", `{"items":[{"bucket":"b\u0000","key":"k"}]}`, 400, "NUL"},
		"Item":         {"Items are objects.", "POST", "/multiget", `{"items":["b"]}`, 400, "must be object"},
		"NoName":       {"A setting has a key.", "GET", "/buckets/b/keys/", "", 404, "NotFoundError"},
		"All":          {"Settings cannot be listed.", "GET", "/buckets/b", "", 404, "NotFoundError"},
	}
	onBoth(t, func(t *testing.T, w *world) {
		for name, tc := range cases {
			t.Run(name, func(t *testing.T) {
				w.t = t
				if code, got := w.do(ada, tc.method, tc.path, tc.body); code != tc.status || !strings.Contains(got, tc.text) {
					t.Errorf("%s: response is %d %.300s, want %d with %s", tc.reason, code, got, tc.status, tc.text)
				}
			})
		}
	})
}

// TestMaxKeys fills the settings of a user. Those that exist can still be changed, and
// others have room.
func TestMaxKeys(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.t = t
		var items []string
		for i := range maxKeys {
			w.want(ada, "PUT", at(fmt.Sprint("b", i%3), fmt.Sprint(i)), fmt.Sprintf(`{"value":%d}`, i), 200, "value")
			items = append(items, fmt.Sprintf(`{"bucket":"b%d","key":"%d"}`, i%3, i))
		}
		w.want(ada, "PUT", at("b", "new"), `{"value":1}`, 400, "You have 100 settings, which is the maximum; delete some first")
		w.want(ada, "PUT", at("b0", "0"), `{"value":"changed"}`, 200, "changed")
		w.want(bob, "PUT", at("b", "new"), `{"value":1}`, 200, "value")
		w.want(ada, "DELETE", at("b0", "99"), "", 204, "")
		w.want(ada, "PUT", at("b", "new"), `{"value":1}`, 200, "value")
		want := `{"items":[{"value":"changed"}`
		for i := 1; i < maxKeys-1; i++ {
			want += fmt.Sprintf(`,{"value":%d}`, i)
		}
		code, got := w.do(ada, "POST", "/multiget", `{"items":[`+strings.Join(items, ",")+`]}`)
		if diff := cmp.Diff(want+",null]}", got); code != 200 || diff != "" {
			t.Errorf("response is %d (-want +got):\n%s", code, diff)
		}
	})
}
