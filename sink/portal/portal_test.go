package portal

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
)

// secret must not be in any error.
const secret = "sesame/with+marks=="

// stage is a fake portal whose responses a test defines.
type stage struct {
	*httptest.Server
	mu sync.Mutex
	// asked are the recorded requests, including bodies.
	asked []string
}

// newStage starts a server that answers the n-th request, counted from 0, with
// answer.
func newStage(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request)) *stage {
	t.Helper()
	s := &stage{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in io.Reader = r.Body
		if r.Header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(r.Body)
			if err != nil {
				panic(http.ErrAbortHandler)
			}
			in = z
		}
		text, _ := io.ReadAll(in)
		s.mu.Lock()
		n := len(s.asked)
		s.asked = append(s.asked, r.Method+" "+r.URL.RequestURI()+" "+r.Header.Get("Authorization")+" "+r.Header.Get("Content-Type")+" "+string(text))
		s.mu.Unlock()
		answer(n, w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// requests returns the recorded requests.
func (s *stage) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// always answers with a status and a body.
func always(status int, body string, header ...string) func(int, http.ResponseWriter, *http.Request) {
	return func(_ int, w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

func fault(name, message string) string {
	return fmt.Sprintf(`{"error":{"name":%q,"message":%q},"response":{"statusCode":0}}`, name, message)
}

func open(t *testing.T, address string, opts Options) *Portal {
	t.Helper()
	if opts.Pause == 0 {
		opts.Pause = time.Millisecond
	}
	if opts.Timeout == 0 {
		opts.Timeout = 20 * time.Second
	}
	opts.Token = func() (string, error) { return secret + "\n", nil }
	p, err := New(address, opts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestNew(t *testing.T) {
	cases := map[string]struct {
		reason        string
		address, name string
		want, err     string
	}{
		"Plain":    {reason: "A URL is accepted.", address: "http://localhost:7007", want: "http://localhost:7007"},
		"Slash":    {reason: "A trailing slash is removed.", address: "https://portal.example.org/", want: "https://portal.example.org"},
		"Prefix":   {reason: "A portal can have a path prefix.", address: "https://example.org/tools/portal/", want: "https://example.org/tools/portal"},
		"API":      {reason: "The path of the API is removed.", address: "http://localhost:7007/api", want: "http://localhost:7007"},
		"Catalog":  {reason: "The path of the catalog API is removed.", address: "http://h/p/api/catalog/", want: "http://h/p"},
		"Other":    {reason: "A path that only ends like an API path is kept.", address: "http://h/catalog", want: "http://h/catalog"},
		"Password": {reason: "A password is refused and not shown.", address: "https://me:" + url.PathEscape(secret) + "@h", err: "contains a user name or a password"},
		"Garbage":  {reason: "A URL that cannot be parsed is not shown.", address: "http://me:" + secret + "@%zz", err: "must be a URL"},
		"Scheme":   {reason: "Only HTTP and HTTPS are supported.", address: "ftp://h", err: "must be a URL such as https://portal.example.org"},
		"Host":     {reason: "A URL needs a host.", address: "localhost:7007", err: "must be a URL such as"},
		"Query":    {reason: "A query is refused.", address: "http://h/?a=b", err: "must not have a query or fragment"},
		"Name":     {reason: "A provider name follows the rules of the portal.", address: "http://h", name: "My Provider", err: "cannot use provider name"},
		"Reserved": {reason: "A reserved provider name is refused.", address: "http://h", name: "location-7", err: "cannot use provider name"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := New(tc.address, Options{Provider: tc.name})
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) || strings.Contains(err.Error(), secret) {
					t.Errorf("%s\ngot %v, want %q", tc.reason, err, tc.err)
				}
				return
			}
			if err != nil || p.URL() != tc.want {
				t.Errorf("%s\ngot %v, %v; want %s", tc.reason, p, err, tc.want)
			}
		})
	}
}

func TestPush(t *testing.T) {
	const done = `{"added":1,"updated":2,"removed":3,"unchanged":4,"kept":5,"refused":[{"index":6,"line":7,"ref":"a:b/c","reason":"it is \u001b[31mthere"}]}`
	s := newStage(t, always(http.StatusOK, done))
	p := open(t, s.URL+"/tools", Options{Provider: "ci"})
	got, err := p.Push(t.Context(), strings.NewReader("one\ntwo\n"), PushOptions{AllowEmpty: true})
	if err != nil {
		t.Fatal(err)
	}
	want := Report{1, 2, 3, 4, 5, []Refusal{{Line: 7, Ref: "a:b/c", Reason: "it is \uFFFD[31mthere"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	if _, err := p.Push(t.Context(), strings.NewReader("one\n"), PushOptions{Mode: Delta, Strict: true, AllowEmpty: true}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{
		"PUT /tools/api/catalog/providers/ci/entities?allowEmpty=true Bearer " + secret + " application/x-ndjson one\ntwo\n",
		"POST /tools/api/catalog/providers/ci/delta?strict=true Bearer " + secret + " application/x-ndjson one\n",
	}, s.requests()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// TestStrict checks that the error of a refused strict push has the reasons,
// however many.
func TestStrict(t *testing.T) {
	const refused = `{"index":0,"line":1,"ref":"a:b/c","reason":"no"}`
	s := newStage(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, []string{`{"added":0,"refused":[` + refused + strings.Repeat(","+refused, 2999) + `]}`, fault("InputError", "line 1: no")}[n])
	})
	p := open(t, s.URL, Options{})
	_, err := p.Push(t.Context(), strings.NewReader("one\n"), PushOptions{Strict: true})
	if e, ok := errors.AsType[*RefusedError](err); !ok || !e.Nothing || len(e.Report.Refused) != 3000 {
		t.Errorf("refused strict push: got %v", err)
	}
	_, err = p.Push(t.Context(), strings.NewReader("one\n"), PushOptions{Strict: true})
	if e, ok := errors.AsType[*Error](err); !ok || e.Problem != Invalid || !strings.Contains(err.Error(), "InputError: line 1: no") {
		t.Errorf("strict push whose report cannot be parsed: got %v", err)
	}
}

func TestRefused(t *testing.T) {
	cases := map[string]struct {
		reason  string
		answer  func(int, http.ResponseWriter, *http.Request)
		problem Problem
		asked   int
		unsure  bool
		err     string
		hint    string
	}{
		"401": {"A request without credentials is unauthenticated.", always(401, fault("AuthenticationError", "Missing credentials")), Unauthenticated, 1, false,
			"returned 401 Unauthorized: AuthenticationError: Missing credentials", "PORTAL_TOKEN"},
		"403": {"A missing permission is reported, and the token is not shown.", always(403, fault("NotAllowedError", "bad token "+secret)), Forbidden, 1, false,
			"NotAllowedError: bad token ********", "permission"},
		"404":      {"A server without the push API is reported.", always(404, "<html>"), Missing, 1, false, "returned 404 Not Found", "portal-provide serve"},
		"409":      {"A concurrent change is a conflict.", always(409, fault("ConflictError", "busy")), Conflict, 1, false, "409 Conflict: ConflictError: busy", "try again"},
		"413":      {"A push that is too large is reported.", always(413, "{}"), TooLarge, 1, false, "413", "--mode delta"},
		"400":      {"A push that is not valid is reported.", always(400, fault("InputError", "line 3\nis bad")), Invalid, 1, false, "line 3 is bad", ""},
		"429":      {"A rate limit is retried up to the maximum.", always(429, "", "Retry-After", "0"), TooMany, 3, false, "429", "later"},
		"429 long": {"A Retry-After of an hour is not waited for.", always(429, "", "Retry-After", "3600"), TooMany, 1, false, "429", "later"},
		"500":      {"An internal error is not retried.", always(500, fault("Error", "oops")), Broken, 1, false, "500 Internal Server Error: Error: oops", "log"},
		"502":      {"After a gateway error the outcome is unknown.", always(502, "<html>"), Broken, 1, true, "502 Bad Gateway", "log"},
		"503":      {"An unavailable portal is retried.", always(503, fault("ServiceUnavailableError", "starting")), Broken, 3, false, "starting", "log"},
		"Redirect": {"A redirect is not followed with a token.", always(302, "", "Location", "https://login.example.org/?t="+secret), Strange, 1, false,
			"redirects to another one, to https://login.example.org", "proxy"},
		"Page": {"An HTML page is not a report.", always(200, "<html>sign in</html>"), Strange, 1, true, "not JSON from a portal", "proxy"},
		"Died": {"A connection that is closed before the response is retried for a full push.", func(int, http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		}, Interrupted, 3, true, "EOF", "log"},
		"Half": {"A connection that is closed within the response is reported.", func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, "{")
		}, Interrupted, 3, true, "EOF", "log"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, tc.answer)
			_, err := open(t, s.URL, Options{Retries: 2}).Push(t.Context(), strings.NewReader("one\n"), PushOptions{})
			e, ok := errors.AsType[*Error](err)
			if !ok {
				t.Fatalf("%s\ngot %v", tc.reason, err)
			}
			if e.Problem != tc.problem || len(s.requests()) != tc.asked || e.Unsure != tc.unsure {
				t.Errorf("%s\ngot problem %d after %d requests, unsure %v; want %d, %d, %v", tc.reason, e.Problem, len(s.requests()), e.Unsure, tc.problem, tc.asked, tc.unsure)
			}
			if !strings.HasPrefix(err.Error(), "cannot push to the portal at "+s.URL+": ") || !strings.Contains(err.Error(), tc.err) || !strings.Contains(e.Hint(), tc.hint) {
				t.Errorf("%s\ngot %q, hint %q; want %q, %q", tc.reason, err, e.Hint(), tc.err, tc.hint)
			}
			if strings.Contains(fmt.Sprintf("%+v %s", err, e.Hint()), secret) {
				t.Errorf("%s\ntoken is in the error: %v", tc.reason, err)
			}
		})
	}
}

// TestRetry checks that a retried push is complete, and that a body which can
// be read only once is not retried.
func TestRetry(t *testing.T) {
	busy := func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, `{"added":2}`)
	}
	s := newStage(t, busy)
	got, err := open(t, s.URL, Options{}).Push(t.Context(), strings.NewReader("one\ntwo\n"), PushOptions{Mode: Delta})
	if err != nil || got.Added != 2 || len(s.requests()) != 2 || s.requests()[0] != s.requests()[1] || !strings.HasSuffix(s.requests()[1], "one\ntwo\n") {
		t.Errorf("got %v, %v after %q", got, err, s.requests())
	}
	s = newStage(t, busy)
	_, err = open(t, s.URL, Options{}).Push(t.Context(), io.MultiReader(strings.NewReader("one\n")), PushOptions{})
	if e, ok := errors.AsType[*Error](err); !ok || e.Status != http.StatusServiceUnavailable || len(s.requests()) != 1 {
		t.Errorf("push of a body that can be read once: got %v after %d requests", err, len(s.requests()))
	}
	s = newStage(t, func(int, http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	_, err = open(t, s.URL, Options{}).Push(t.Context(), strings.NewReader("one\n"), PushOptions{Mode: Delta})
	if e, ok := errors.AsType[*Error](err); !ok || !e.Unsure || len(s.requests()) != 1 {
		t.Errorf("delta with unknown outcome was repeated: got %v after %d requests", err, len(s.requests()))
	}
}

// TestTornSource checks that a push whose source fails arrives as aborted, not
// as complete.
func TestTornSource(t *testing.T) {
	whole := make(chan bool, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		z, err := gzip.NewReader(r.Body)
		if err == nil {
			_, err = io.Copy(io.Discard, z)
		}
		whole <- err == nil
	}))
	defer server.Close()
	broken := errors.New("the disk is gone")
	// The body is large enough to be partly sent before the error.
	lines := io.MultiReader(iotest.OneByteReader(strings.NewReader(strings.Repeat("one\n", 1000))), iotest.ErrReader(broken))
	_, err := open(t, server.URL, Options{}).Push(t.Context(), lines, PushOptions{})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "cannot read the entities to push") {
		t.Errorf("got %v", err)
	}
	select {
	case ok := <-whole:
		if ok {
			t.Error("portal accepted a partial push")
		}
	case <-time.After(10 * time.Second):
		// The portal was never asked.
	}
}

func TestToken(t *testing.T) {
	s := newStage(t, always(http.StatusOK, `{"items":[]}`))
	for text, want := range map[string]string{"two words": "the token contains white space", "line\nline": "the token contains white space", "ümlaut": "characters that are not allowed"} {
		p, err := New(s.URL, Options{Token: func() (string, error) { return text, nil }})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Count(t.Context()); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), text) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if len(s.requests()) != 0 {
		t.Errorf("token that is not valid was sent: %q", s.requests())
	}
}

func TestWrite(t *testing.T) {
	s := newStage(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, []string{`{"added":1}`, `{"refused":[{"index":0,"line":1,"ref":"a:b/c","reason":"it belongs to another"}]}`}[n])
	})
	e := &entity.Entity{APIVersion: "portal.io/v1alpha1", Kind: "API", Metadata: entity.Metadata{Name: "a"}, Spec: tree.Obj()}
	p := open(t, s.URL, Options{})
	if err := p.Write(t.Context(), []*entity.Entity{e}); err != nil || !strings.Contains(s.requests()[0], `"name":"a"`) {
		t.Errorf("got %v of %q", err, s.requests())
	}
	err := p.Write(t.Context(), []*entity.Entity{e})
	if r, ok := errors.AsType[*RefusedError](err); !ok || r.Nothing || !strings.Contains(err.Error(), "a:b/c: it belongs to another") {
		t.Errorf("got %v", err)
	}
}
