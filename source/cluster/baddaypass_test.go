package cluster_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd"
)

// patient has long timeouts, for servers that fail now and then.
var patient = cluster.Options{Timeout: time.Minute, Patience: time.Minute, PageSize: 2}

// many returns definitions for several pages.
func many(n int) []string {
	var out []string
	for i := range n {
		out = append(out, definitionItem(ours, fmt.Sprintf("%04d", i), ""))
	}
	return out
}

// isList reports whether a request is for a page of definitions.
func isList(r *http.Request) bool {
	return strings.HasSuffix(r.URL.Path, "/compositeresourcedefinitions")
}

// TestPasses checks servers that fail for a while: everything is read in the
// end, exactly once.
func TestPasses(t *testing.T) {
	t.Parallel()
	// once fails the first request for the third page.
	once := func(fail func(w http.ResponseWriter)) func(int, http.ResponseWriter, *http.Request) bool {
		var mu sync.Mutex
		failed := false
		return func(_ int, w http.ResponseWriter, r *http.Request) bool {
			mu.Lock()
			if failed || !isList(r) || r.URL.Query().Get("continue") != "4" {
				mu.Unlock()
				return false
			}
			failed = true
			mu.Unlock()
			fail(w)
			return true
		}
	}
	page := func(items ...string) string {
		return `{"kind":"AnyList","metadata":{"continue":"6"},"items":[` + strings.Join(items, ",")
	}
	four, five := definitionItem(ours, "0004", ""), definitionItem(ours, "0005", "")
	cases := map[string]struct {
		reason  string
		trouble func(int, http.ResponseWriter, *http.Request) bool
		// unpaged reports whether the list is requested without pages in the end.
		unpaged bool
	}{
		"Nothing": {reason: "Pages are joined to a list."},
		"EverySecond": {
			reason: "Temporary failures are retried.",
			trouble: func(n int, w http.ResponseWriter, _ *http.Request) bool {
				codes := []int{http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable}
				if n%2 == 0 {
					refuse(w, codes[n/2%3], "not now")
				}
				return n%2 == 0
			},
		},
		"CutOff": {
			reason: "The connection is closed in the middle of a page.",
			trouble: once(func(w http.ResponseWriter) {
				respond(w, page(four, five[:20]))
				w.(http.Flusher).Flush()
				panic(http.ErrAbortHandler)
			}),
		},
		"HalfJSON": {
			reason:  "A page ends in the middle, without an error of the connection.",
			trouble: once(func(w http.ResponseWriter) { respond(w, page(four, five[:20])) }),
		},
		"NoEnd": {
			reason:  "A page ends after its last object.",
			trouble: once(func(w http.ResponseWriter) { respond(w, page(four, five)) }),
		},
		"Nothing200": {
			reason:  "A response is empty.",
			trouble: once(func(w http.ResponseWriter) { respond(w, "") }),
		},
		"Gone": {
			reason:  "The continue token expires once.",
			trouble: once(func(w http.ResponseWriter) { refuse(w, http.StatusGone, "the continue parameter is too old") }),
		},
		"GoneAlways": {
			reason: "The continue token expires every time.",
			trouble: func(_ int, w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Query().Get("continue") != "4" {
					return false
				}
				refuse(w, http.StatusGone, "the continue parameter is too old")
				return true
			},
			unpaged: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &standIn{definitions: many(7), trouble: tc.trouble}
			said := &journal{}
			opts := patient
			opts.Log = said.logger()
			set, err := connect(t, "here", s.start(t), opts).Read(t.Context(), cluster.ReadOptions{})
			if err != nil {
				t.Fatalf("%s\n%v", tc.reason, err)
			}
			want := []string{"here/composition/how"}
			for i := range 7 {
				want = append(want, fmt.Sprintf("here/xrd/x%04ds.%s", i, plain))
			}
			if diff := cmp.Diff(want, contents(set)); diff != "" {
				t.Errorf("%s\nread (-want +got):\n%s", tc.reason, diff)
			}
			if set.Documents != 8 || len(set.Findings) > 0 {
				t.Errorf("%s\n%d documents, findings %v", tc.reason, set.Documents, set.Findings)
			}
			said.checkNoCredential(t, nil)
			if lists := len(s.seen("/compositeresourcedefinitions")); tc.unpaged && lists != 7 {
				t.Errorf("%s\n%d lists, want three pages twice and one whole list", tc.reason, lists)
			}
		})
	}
}

// TestRetryAfter checks that Retry-After is respected.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for _, code := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		t.Run(http.StatusText(code), func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			s := &standIn{trouble: func(_ int, w http.ResponseWriter, r *http.Request) bool {
				if !isList(r) || asked.Add(1) > 1 {
					return false
				}
				w.Header().Set("Retry-After", "1")
				refuse(w, code, "slow down")
				return true
			}}
			c := s.start(t)
			set, err := connect(t, "here", c, patient).Read(t.Context(), everything)
			if diff := cmp.Diff(whole("here"), contents(set)); diff != "" || err != nil {
				t.Fatalf("read (-want +got):\n%s\n%v", diff, err)
			}
			calls := s.seen("/compositeresourcedefinitions")
			if len(calls) != 2 || calls[1].at.Sub(calls[0].at) < time.Second {
				t.Errorf("requests at %v, want two, a second apart", calls)
			}
		})
	}
}

// TestGivenUp checks how often a server is asked that keeps failing.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		answer func(w http.ResponseWriter)
		// once is set if the server is asked once, not several times.
		once bool
	}{
		"Fault":        {reason: "A server error is retried.", answer: func(w http.ResponseWriter) { refuse(w, http.StatusServiceUnavailable, "no") }},
		"CutOff":       {reason: "A response that is cut off is retried.", answer: func(w http.ResponseWriter) { respond(w, "{") }},
		"LongPause":    {reason: "A Retry-After of an hour is not waited for.", answer: func(w http.ResponseWriter) { w.Header().Set("Retry-After", "3600"); refuse(w, 429, "no") }, once: true},
		"Forbidden":    {reason: "A missing permission is not retried.", answer: func(w http.ResponseWriter) { refuse(w, http.StatusForbidden, "no") }, once: true},
		"Unauthorized": {reason: "A rejected token is not retried.", answer: func(w http.ResponseWriter) { refuse(w, http.StatusUnauthorized, "no") }, once: true},
		"HTML":         {reason: "An HTML response is not retried.", answer: func(w http.ResponseWriter) { w.Header().Set("Content-Type", "text/html") }, once: true},
		"OtherJSON":    {reason: "A response of another API is not retried.", answer: func(w http.ResponseWriter) { respond(w, `{}`) }, once: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &standIn{trouble: func(_ int, w http.ResponseWriter, r *http.Request) bool {
				if isList(r) {
					tc.answer(w)
				}
				return isList(r)
			}}
			opts := cluster.Options{Timeout: time.Minute, Patience: 2 * time.Second}
			_, err := connect(t, "here", s.start(t), opts).Read(t.Context(), cluster.ReadOptions{})
			if calls := len(s.seen("/compositeresourcedefinitions")); err == nil || tc.once != (calls == 1) || calls > 30 {
				t.Errorf("%s\nserver was asked %d times: %v", tc.reason, calls, err)
			}
		})
	}
}

// TestCutForever checks a list that is always cut off on its third page: the
// pages before are read, and the missing rest is reported.
func TestCutForever(t *testing.T) {
	t.Parallel()
	s := &standIn{definitions: many(7), trouble: func(_ int, w http.ResponseWriter, r *http.Request) bool {
		cut := r.URL.Query().Get("continue") == "4"
		if cut {
			respond(w, `{"kind":"AnyList","items":[`+definitionItem(ours, "0004", "")+`,{"api`)
		}
		return cut
	}}
	opts := patient
	opts.Patience = 400 * time.Millisecond
	set, err := connect(t, "broken", s.start(t), opts).Read(t.Context(), cluster.ReadOptions{NoCompositions: true})
	all := failures(err)
	if len(all) != 1 {
		t.Fatalf("got %d errors, want one: %v", len(all), err)
	}
	checkError(t, all[0], badDay{reason: "The missing rest is reported.", want: cluster.Server, says: []string{"list compositeresourcedefinitions." + ours, "cut off"}})
	if got := contents(set); len(got) != 5 || set.Documents != 5 {
		t.Errorf("%d documents, read %q, want the five before the cut", set.Documents, got)
	}
}

// TestCancel checks that a cancelled read ends at once.
func TestCancel(t *testing.T) {
	t.Parallel()
	cases := map[string]func(w http.ResponseWriter, r *http.Request) bool{
		"Discovery": func(_ http.ResponseWriter, r *http.Request) bool { return hang(r.Context()) },
		"List":      func(_ http.ResponseWriter, r *http.Request) bool { return isList(r) && hang(r.Context()) },
		"Composite": func(_ http.ResponseWriter, r *http.Request) bool {
			return strings.HasSuffix(r.URL.Path, "/xas") && hang(r.Context())
		},
		"Pause": func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Retry-After", "1")
			refuse(w, http.StatusTooManyRequests, "no")
			return true
		},
	}
	for name, stop := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var canceled time.Time
			var first sync.Once
			s := &standIn{trouble: func(_ int, w http.ResponseWriter, r *http.Request) bool {
				path := r.URL.Path
				if name == "Discovery" || name == "Pause" || name == "List" && isList(r) || strings.HasSuffix(path, "/xas") {
					first.Do(func() { time.AfterFunc(50*time.Millisecond, func() { canceled = time.Now(); cancel() }) })
				}
				return stop(w, r)
			}}
			opts := cluster.Options{Timeout: time.Hour, Patience: time.Hour}
			_, err := cluster.New([]*cluster.Cluster{connect(t, "here", s.start(t), opts)}, everything, nil).Read(ctx)
			took := time.Since(canceled)
			if all := failures(err); len(all) == 0 || all[0].Reason != cluster.Canceled || all[0].Cluster != "here" {
				t.Errorf("got %v, want a cancellation", err)
			}
			if took > 10*time.Second {
				t.Errorf("read took %v to end", took)
			}
		})
	}
}

// TestHundred checks that a hundred slow clusters are read concurrently.
func TestHundred(t *testing.T) {
	const n, each = 100, 200 * time.Millisecond
	cert := certificate(t, time.Now().Add(time.Hour), []byte{127, 0, 0, 1})
	var clusters []*cluster.Cluster
	for i := range n {
		s := &standIn{trouble: func(int, http.ResponseWriter, *http.Request) bool { time.Sleep(each); return false }}
		clusters = append(clusters, connect(t, fmt.Sprintf("c%02d", i), s.start(t, cert), cluster.Options{}))
	}
	begin := time.Now()
	set, err := cluster.New(clusters, cluster.ReadOptions{}, nil).Read(t.Context())
	took := time.Since(begin)
	if err != nil || len(set.Definitions) != 2*n || len(set.Compositions) != n {
		t.Fatalf("%d definitions, %d Compositions, %v", len(set.Definitions), len(set.Compositions), err)
	}
	if got := set.Definitions[2*n-1].Origin.Cluster; got != "c99" {
		t.Errorf("last definition is of %s, want the last cluster", got)
	}
	// Sequential reads would take more than a minute.
	if took > 10*time.Second {
		t.Errorf("%d clusters took %v", n, took)
	}
	t.Logf("%d clusters took %v", n, took)
}

// TestSilent checks a server that stops answering when composites are read: the
// timeout is not spent once per kind.
func TestSilent(t *testing.T) {
	t.Parallel()
	var all []string
	for i := range 40 {
		all = append(all, definitionItem(ours, fmt.Sprint("k", i), ""))
	}
	s := &standIn{definitions: all, trouble: func(_ int, _ http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(r.URL.Path, "/apis/"+plain) {
			return false
		}
		<-r.Context().Done()
		return true
	}}
	c := connect(t, "silent", s.start(t), cluster.Options{Timeout: 500 * time.Millisecond})
	set, err := c.Read(t.Context(), cluster.ReadOptions{Composites: func(*xrd.Definition) bool { return true }})
	if len(set.Definitions) != len(all) {
		t.Errorf("read %d definitions of %d", len(set.Definitions), len(all))
	}
	// The error has the kinds that were requested, and one line for the rest.
	if said := fmt.Sprint(err); !strings.Contains(said, "more kinds of composites and claims: skipped because the server stopped responding") {
		t.Errorf("error does not report the kinds that were not requested: %s", said)
	}
	asked := 0
	for i := range all {
		asked += len(s.seen(fmt.Sprintf("/xk%ds", i)))
	}
	if asked == 0 || asked > 8 {
		t.Errorf("silent server was asked %d times", asked)
	}
}
