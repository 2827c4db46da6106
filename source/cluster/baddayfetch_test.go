package cluster_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source/cluster"
)

// TestFetchTrouble fetches ten definitions, of which the fourth fails in
// different ways.
func TestFetchTrouble(t *testing.T) {
	t.Parallel()
	const bad = "d3"
	cases := map[string]struct {
		reason string
		answer func(w http.ResponseWriter)
		want   cluster.Reason
		// had is the number of fetched objects; it is not checked if negative.
		had  int
		gone []string
	}{
		"Gone": {reason: "A NotFound status means that the object is gone.", had: 9, gone: []string{bad}, answer: func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprintf(w, `{"kind":"Status","status":"Failure","reason":"NotFound","message":"not found","details":{"name":%q},"code":404}`, bad)
		}},
		"Unserved":   {reason: "A kind that is not served does not mean that the object is gone.", want: cluster.Absent, had: -1, answer: func(w http.ResponseWriter) { http.Error(w, "404 page not found", http.StatusNotFound) }},
		"Forbidden":  {reason: "After a missing permission no further objects are requested.", want: cluster.Forbidden, had: -1, answer: func(w http.ResponseWriter) { refuse(w, http.StatusForbidden, "no") }},
		"Fault":      {reason: "An object that the server fails to return does not affect the others.", want: cluster.Server, had: 9, answer: func(w http.ResponseWriter) { refuse(w, http.StatusInternalServerError, "the conversion is down") }},
		"Unreadable": {reason: "An object that cannot be parsed does not affect the others.", want: cluster.Unreadable, had: 9, answer: func(w http.ResponseWriter) { respond(w, strings.Repeat("[", 5000)+strings.Repeat("]", 5000)) }},
		"Nameless":   {reason: "An object without a name does not affect the others.", want: cluster.Unreadable, had: 9, answer: func(w http.ResponseWriter) { respond(w, `{"metadata":{}}`) }},
		"Foreign":    {reason: "A response that is not JSON is not an object.", want: cluster.Server, had: 9, answer: func(w http.ResponseWriter) { _, _ = w.Write([]byte("hello")) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &standIn{trouble: func(_ int, w http.ResponseWriter, r *http.Request) bool {
				name := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
				if name == bad {
					tc.answer(w)
					return true
				}
				respond(w, `{"metadata":{"name":"`+name+`","resourceVersion":"7"}}`)
				return true
			}}
			var names []cluster.NamespacedName
			for i := range 10 {
				names = append(names, cluster.NamespacedName{Name: fmt.Sprint("d", i)})
			}
			c := connect(t, "here", s.start(t), cluster.Options{Patience: 300 * time.Millisecond})
			objects, gone, err := c.Fetch(t.Context(), upstreamDefinitions, names)
			all := failures(err)
			if tc.want == "" != (len(all) == 0) || len(all) > 0 && (all[0].Reason != tc.want || !strings.Contains(all[0].Error(), bad)) {
				t.Errorf("%s\ngot %v", tc.reason, err)
			}
			if tc.had >= 0 && len(objects) != tc.had {
				t.Errorf("%s\nfetched %d objects, want %d", tc.reason, len(objects), tc.had)
			}
			if !slices.IsSortedFunc(objects, func(a, b *tree.Node) int {
				return strings.Compare(a.Get("metadata", "name").Str(), b.Get("metadata", "name").Str())
			}) {
				t.Errorf("%s\nobjects are not in the order of the names", tc.reason)
			}
			var missing []string
			for _, n := range gone {
				missing = append(missing, n.String())
			}
			if diff := cmp.Diff(tc.gone, missing); diff != "" {
				t.Errorf("%s\ngone (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFetchSilent fetches from a server that stops answering: the timeout is
// not spent once per object.
func TestFetchSilent(t *testing.T) {
	t.Parallel()
	s := &standIn{trouble: func(_ int, _ http.ResponseWriter, r *http.Request) bool { return hang(r.Context()) }}
	names := make([]cluster.NamespacedName, 200)
	for i := range names {
		names[i] = cluster.NamespacedName{Namespace: "red", Name: fmt.Sprint("d", i)}
	}
	objects, gone, err := connect(t, "here", s.start(t), cluster.Options{Timeout: 300 * time.Millisecond}).Fetch(t.Context(), upstreamDefinitions, names)
	if all := failures(err); len(objects)+len(gone) > 0 || len(all) == 0 || all[0].Reason != cluster.Timeout {
		t.Errorf("fetch from a silent server: %d objects, gone %v, %v; want none", len(objects), gone, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.calls) > 10 || !strings.Contains(s.calls[0].path, "/namespaces/red/compositeresourcedefinitions/d") {
		t.Errorf("server was asked %d times, first %+v", len(s.calls), s.calls[0])
	}
}

// TestEachExpired checks that a list which expires midway is started again.
func TestEachExpired(t *testing.T) {
	t.Parallel()
	expired := false
	s := &standIn{definitions: many(7), trouble: func(_ int, w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("continue") != "4" || expired {
			return false
		}
		expired = true
		refuse(w, http.StatusGone, "expired")
		return true
	}}
	c := connect(t, "here", s.start(t), cluster.Options{PageSize: 2})
	var pages []int
	version, err := c.Each(t.Context(), upstreamDefinitions, "", func(objects []*tree.Node, _ []finding.Finding) error {
		pages = append(pages, len(objects))
		return nil
	})
	if diff := cmp.Diff([]int{2, 2, 2, 2, 2, 1}, pages); diff != "" || version != 1 || err != nil {
		t.Errorf("objects after a restart of the list: version %d, %v (-want +got):\n%s", version, err, diff)
	}
	unreadable := &standIn{definitions: append(many(2), `{"metadata":{"name":"x","labels":7}}`)}
	survey, err := connect(t, "here", unreadable.start(t), cluster.Options{}).Survey(t.Context(), upstreamDefinitions, "")
	if err != nil || len(survey.Items) != 2 || len(survey.Unreadable) != 1 || survey.Unreadable[0].Where() != "here/xrd/x" {
		t.Errorf("object that cannot be parsed was not reported, or affected others: %+v, %v", survey, err)
	}
	cut := errors.New("cut")
	if _, err := c.Each(t.Context(), upstreamDefinitions, "", func([]*tree.Node, []finding.Finding) error { return cut }); !errors.Is(err, cut) {
		t.Errorf("fetch that the callback ended returned %v", err)
	}
}

// TestDecodingIsShared limits all clusters together to one page in memory:
// clusters that hang within a response, fail or send invalid pages do not block
// the others.
func TestDecodingIsShared(t *testing.T) {
	t.Parallel()
	shared := cluster.NewGate(1)
	read := func(name string, s *standIn, opts cluster.Options) ([]string, error) {
		opts.Decoding, opts.PageSize = shared, 2
		var had []string
		_, err := connect(t, name, s.start(t), opts).Each(t.Context(), upstreamDefinitions, "", func(objects []*tree.Node, _ []finding.Finding) error {
			for _, o := range objects {
				had = append(had, o.Get("metadata", "name").Str())
			}
			return nil
		})
		return had, err
	}
	half := make(chan struct{})
	hung := &standIn{definitions: many(7), trouble: func(_ int, w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("continue") != "2" {
			return false
		}
		respond(w, `{"kind":"List","metadata":{"resourceVersion":"7"},"items":[`)
		_ = http.NewResponseController(w).Flush()
		close(half)
		return hang(r.Context())
	}}
	done := make(chan error, 1)
	go func() {
		_, err := read("hung", hung, cluster.Options{Timeout: 3 * time.Second, Patience: time.Millisecond})
		done <- err
	}()
	<-half
	for name, answer := range map[string]string{"garbage": "[[[", "foreign": `{"kind":"Status"}`} {
		s := &standIn{trouble: func(_ int, w http.ResponseWriter, _ *http.Request) bool {
			respond(w, answer)
			return true
		}}
		if had, err := read(name, s, cluster.Options{Patience: time.Millisecond}); err == nil {
			t.Errorf("%s: had %v", name, had)
		}
	}
	if had, err := read("well", &standIn{definitions: many(7)}, cluster.Options{}); err != nil || len(had) != 7 {
		t.Errorf("had %v: %v", had, err)
	}
	select {
	case err := <-done:
		t.Errorf("cluster that hangs ended before the others: %v", err)
	default:
		if err := <-done; err == nil {
			t.Error("cluster that hangs ended")
		}
	}
}
