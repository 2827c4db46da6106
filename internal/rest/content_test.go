package rest

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ask sends a request with headers, each "Name: value", to a handler.
func ask(t *testing.T, method string, handle Handler, headers ...string) (*http.Response, string) {
	t.Helper()
	hs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := handle(w, r); err != nil {
			_ = FaultOf(err).Write(w, r)
		}
	}))
	defer hs.Close()
	req, err := http.NewRequestWithContext(t.Context(), method, hs.URL+"/api/things/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	// Otherwise the transport requests gzip and decompresses it transparently.
	req.Header.Set("Accept-Encoding", "identity")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	res, err := hs.Client().Transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(data)
}

func TestWrite(t *testing.T) {
	long := strings.Repeat("abcdefgh", compressFrom/8)
	cases := map[string]struct {
		reason  string
		method  string
		content Content
		headers []string
		status  int
		want    map[string]string
		body    string
	}{
		"Plain": {"A short body is not compressed.", "GET", Content{ETag: "v1", Body: []byte("{}")}, []string{"Accept-Encoding: gzip"},
			200, map[string]string{"ETag": `"v1"`, "Content-Type": jsonType, "Content-Length": "2", "Vary": "", "Content-Encoding": ""}, "{}"},
		"Quoted": {"A tag may be quoted.", "GET", Content{ETag: `"v1"`, Body: []byte("{}")}, nil,
			200, map[string]string{"ETag": `"v1"`}, "{}"},
		"Untagged": {"Without a tag nothing matches.", "GET", Content{Body: []byte("{}")}, []string{"If-None-Match: *"},
			200, map[string]string{"ETag": ""}, "{}"},
		"Has": {"A matching tag is 304.", "GET", Content{ETag: "v1", Body: []byte("{}")}, []string{`If-None-Match: "v1"`},
			304, map[string]string{"ETag": `"v1"`, "Content-Length": "", "Content-Type": ""}, ""},
		"HasOther": {"Another tag is 200.", "GET", Content{ETag: "v2", Body: []byte("{}")}, []string{`If-None-Match: "v1"`},
			200, map[string]string{"ETag": `"v2"`}, "{}"},
		"HasAny": {"A star matches any tag.", "GET", Content{ETag: "v2", Body: []byte("{}")}, []string{`If-None-Match: *`},
			304, nil, ""},
		"Head": {"HEAD has only headers.", "HEAD", Content{ETag: "v1", Body: []byte("{}")}, nil,
			200, map[string]string{"ETag": `"v1"`, "Content-Length": "2"}, ""},
		"HeadHas": {"HEAD can match a tag.", "HEAD", Content{ETag: "v1", Body: []byte("{}")}, []string{`If-None-Match: "v1"`},
			304, map[string]string{"ETag": `"v1"`}, ""},
		"Post": {"Only reads are conditional.", "POST", Content{ETag: "v1", Body: []byte("{}")}, []string{`If-None-Match: "v1"`},
			200, nil, "{}"},
		"Gzip": {"A long body is compressed, with its own tag.", "GET", Content{ETag: "v1", Body: []byte(long)}, []string{"Accept-Encoding: br, GZIP;q=0.5"},
			200, map[string]string{"ETag": `"v1-gzip"`, "Vary": "Accept-Encoding", "Content-Encoding": "gzip"}, long},
		"NoGzip": {"A long body is not compressed for a client that refuses gzip.", "GET", Content{ETag: "v1", Body: []byte(long)}, []string{"Accept-Encoding: gzip;q=0, br"},
			200, map[string]string{"ETag": `"v1"`, "Vary": "Accept-Encoding", "Content-Encoding": "", "Content-Length": "4096"}, long},
		"GzipHead": {"HEAD has the headers of a compressed GET.", "HEAD", Content{ETag: "v1", Body: []byte(long)}, []string{"Accept-Encoding: gzip"},
			200, map[string]string{"ETag": `"v1-gzip"`, "Content-Encoding": "gzip"}, ""},
		"GzipHas": {"A client with the compressed body gets 304.", "GET", Content{ETag: "v1", Body: []byte(long)}, []string{"Accept-Encoding: gzip", `If-None-Match: "v1-gzip"`},
			304, map[string]string{"ETag": `"v1-gzip"`, "Vary": "Accept-Encoding", "Content-Encoding": ""}, ""},
		"GzipHasPlain": {"A client with the uncompressed body gets 304 with gzip.", "GET", Content{ETag: "v1", Body: []byte(long)}, []string{"Accept-Encoding: gzip", `If-None-Match: "v1"`},
			304, map[string]string{"ETag": `"v1"`}, ""},
		"PlainHasGzip": {"A client with the compressed body gets 304 without gzip.", "GET", Content{ETag: "v1", Body: []byte(long)}, []string{`If-None-Match: "v1-gzip"`},
			304, map[string]string{"ETag": `"v1-gzip"`}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, body := ask(t, tc.method, func(w http.ResponseWriter, r *http.Request) error { return Write(w, r, tc.content) }, tc.headers...)
			if got.StatusCode != tc.status {
				t.Errorf("%s: status is %d", tc.reason, got.StatusCode)
			}
			for key, want := range tc.want {
				if is := got.Header.Get(key); is != want {
					t.Errorf("%s: %s is %q, want %q", tc.reason, key, is, want)
				}
			}
			if got.Header.Get("Content-Encoding") == "gzip" && tc.method != "HEAD" {
				z, err := gzip.NewReader(strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				data, err := io.ReadAll(z)
				if err != nil {
					t.Fatal(err)
				}
				if len(body) >= len(data) {
					t.Errorf("%s: %d bytes became %d", tc.reason, len(data), len(body))
				}
				body = string(data)
			}
			if body != tc.body {
				t.Errorf("%s: body has %d bytes, want %d", tc.reason, len(body), len(tc.body))
			}
		})
	}
}

func TestWriteJSON(t *testing.T) {
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/", nil)
	if err := WriteJSON(w, r, http.StatusCreated, map[string]string{"a": "<b> & ☃"}); err != nil {
		t.Fatal(err)
	}
	if w.Code != 201 || w.Body.String() != `{"a":"<b> & ☃"}` || w.Header().Get("Content-Type") != jsonType {
		t.Errorf("response is %d %s %v", w.Code, w.Body, w.Header())
	}
	w = httptest.NewRecorder()
	if err := WriteJSON(w, r, http.StatusOK, math.Inf(1)); err == nil || w.Body.Len() > 0 || len(w.Header()) > 0 {
		t.Errorf("value that cannot be encoded returned %v, %s %v", err, w.Body, w.Header())
	}
}

func TestHolds(t *testing.T) {
	cases := map[string]struct {
		reason string
		values []string
		want   bool
	}{
		"Same":      {"The same tag matches.", []string{`"a"`}, true},
		"Weak":      {"Weak tags match.", []string{`W/"a"`}, true},
		"Other":     {"Another tag does not match.", []string{`"b"`}, false},
		"List":      {"A tag in a list matches.", []string{`"b", W/"c" ,"a"`}, true},
		"Tight":     {"A list needs no spaces.", []string{`"b","a"`}, true},
		"Comma":     {"A comma in a tag is part of it.", []string{`"x,"`, `"b,a"`}, false},
		"TwoLines":  {"A list may have two headers.", []string{`"b"`, `"a"`}, true},
		"Star":      {"any", []string{`*`}, true},
		"Bare":      {"A tag without quotes does not match.", []string{`a`}, false},
		"Open":      {"An unclosed tag does not match.", []string{`"a`}, false},
		"Empty":     {"An empty list does not match.", []string{``}, false},
		"Commas":    {"A list of commas does not match.", []string{`,,, ,`}, false},
		"AfterBare": {"Nothing is read after an invalid tag.", []string{`b "a"`}, false},
		"Prefix":    {"The whole tag must match.", []string{`"aa"`}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := holds(tc.values, `"a"`); got != tc.want {
				t.Errorf("%s: result is %t", tc.reason, got)
			}
		})
	}
}

func FuzzHolds(f *testing.F) {
	f.Add(`"a", W/"b", *`)
	f.Fuzz(func(t *testing.T, s string) {
		if holds([]string{s}, `"a"`) && !strings.Contains(s, `"a"`) && !strings.Contains(s, "*") {
			t.Errorf("%q matches a tag it does not have", s)
		}
	})
}

func TestETagOf(t *testing.T) {
	a, b := ETagOf([]byte("a")), ETagOf([]byte("b"))
	if a == b || a != ETagOf([]byte("a")) || len(a) != 34 || !strings.HasPrefix(a, `"`) {
		t.Errorf("tags are %s and %s", a, b)
	}
}

func TestWriteStream(t *testing.T) {
	handle := func(fail int) Handler {
		return func(w http.ResponseWriter, r *http.Request) error {
			return WriteStream(w, r, Streamed{Type: "text/plain", ETag: "v1", Write: func(w io.Writer) error {
				for i := range 3 {
					if i == fail {
						return Unavailable(errors.New("x"), "gone")
					}
					if _, err := fmt.Fprintln(w, i); err != nil {
						return err
					}
				}
				return nil
			}})
		}
	}
	cases := map[string]struct {
		reason  string
		method  string
		fail    int
		headers []string
		status  int
		tag     string
		body    string
	}{
		"Whole": {"A stream is written as it is produced.", "GET", -1, nil, 200, `"v1"`, "0\n1\n2\n"},
		"Has":   {"A stream with a matching tag is 304.", "GET", -1, []string{`If-None-Match: "v1-gzip"`}, 304, `"v1-gzip"`, ""},
		"Head":  {"HEAD writes no stream.", "HEAD", -1, nil, 200, `"v1"`, ""},
		"None": {"A stream that fails at once is an error.", "GET", 0, []string{"Accept-Encoding: gzip"}, 503, "",
			`{"error":{"name":"ServiceUnavailableError","message":"gone"},"request":{"method":"GET","url":"/x"},"response":{"statusCode":503}}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, body := ask(t, tc.method, handle(tc.fail), tc.headers...)
			if got.StatusCode != tc.status || got.Header.Get("ETag") != tc.tag {
				t.Errorf("%s: response is %d %s", tc.reason, got.StatusCode, got.Header.Get("ETag"))
			}
			if diff := cmp.Diff(tc.body, body); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
		})
	}
}

func BenchmarkETagOf(b *testing.B) {
	body := make([]byte, 300<<10)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		ETagOf(body)
	}
}
