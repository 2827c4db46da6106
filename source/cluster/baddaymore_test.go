package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd"
)

// TestFirstBusy checks a server whose first response is that it is busy: it is
// alive, so its Retry-After is respected.
func TestFirstBusy(t *testing.T) {
	t.Parallel()
	for name, header := range map[string]func(http.Header){
		"Seconds": func(h http.Header) { h.Set("Retry-After", "3") },
		"Date": func(h http.Header) {
			now := time.Now().UTC()
			h.Set("Date", now.Format(http.TimeFormat))
			h.Set("Retry-After", now.Add(3*time.Second).Format(http.TimeFormat))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begin := time.Now()
			s := &standIn{trouble: func(_ int, w http.ResponseWriter, _ *http.Request) bool {
				busy := time.Since(begin) < 2*time.Second
				if busy {
					header(w.Header())
					refuse(w, http.StatusTooManyRequests, "too many requests")
				}
				return busy
			}}
			set, err := connect(t, "here", s.start(t), cluster.Options{}).Read(t.Context(), everything)
			if diff := cmp.Diff(whole("here"), contents(set)); diff != "" || err != nil {
				t.Fatalf("read (-want +got):\n%s\n%v", diff, err)
			}
			if took := time.Since(begin); took < 2*time.Second {
				t.Errorf("retried after %v, want not before Retry-After", took)
			}
		})
	}
}

// TestWhoseTime checks that our own timeout is told apart from that of the
// caller.
func TestWhoseTime(t *testing.T) {
	t.Parallel()
	s := &standIn{trouble: func(_ int, _ http.ResponseWriter, r *http.Request) bool { return hang(r.Context()) }}
	at := s.start(t)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := connect(t, "here", at, cluster.Options{}).Read(ctx, cluster.ReadOptions{})
	e, ok := errors.AsType[*cluster.Error](err)
	if !ok || e.Reason != cluster.Timeout || !strings.Contains(e.Error(), "overall timeout exceeded") {
		t.Errorf("timeout of the run returned %v, want no server to be blamed", err)
	}
	_, err = connect(t, "here", at, cluster.Options{Timeout: 300 * time.Millisecond}).Read(t.Context(), cluster.ReadOptions{})
	if e, ok := errors.AsType[*cluster.Error](err); !ok || e.Reason != cluster.Timeout || !strings.Contains(e.Error(), "did not respond within 300ms") {
		t.Errorf("timeout of the server returned %v", err)
	}
}

// TestDiscoveryPart checks a server that forbids one group: the other is still
// read.
func TestDiscoveryPart(t *testing.T) {
	t.Parallel()
	s := &standIn{trouble: func(_ int, w http.ResponseWriter, r *http.Request) bool {
		hidden := r.URL.Path == "/apis/"+other
		if hidden {
			refuse(w, http.StatusForbidden, "no")
		}
		return hidden
	}}
	set, err := connect(t, "broken", s.start(t), failing).Read(t.Context(), everything)
	if diff := cmp.Diff(whole("broken"), contents(set)); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	all := failures(err)
	if len(all) != 1 {
		t.Fatalf("got %d errors, want one: %v", len(all), err)
	}
	checkError(t, all[0], badDay{reason: "The missing rule is named.", want: cluster.Forbidden, says: []string{"find definitions", `nonResourceURLs: ["/apis", "/apis/*"]`}})
}

// TestNoAPIServer checks a server that answers 404 to everything.
func TestNoAPIServer(t *testing.T) {
	t.Parallel()
	s := &standIn{trouble: func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, "<h1>404</h1>")
		return true
	}}
	_, err := connect(t, "broken", s.start(t), failing).Read(t.Context(), everything)
	all := failures(err)
	if len(all) != 1 {
		t.Fatalf("got %d errors, want one: %v", len(all), err)
	}
	checkError(t, all[0], badDay{reason: "A 404 page of another server gives the hint to check the URL, not to install Crossplane.", want: cluster.Server, says: []string{"check the url of the cluster"}})
}

// TestEndless checks a list whose continue token does not advance.
func TestEndless(t *testing.T) {
	t.Parallel()
	s := &standIn{trouble: func(_ int, w http.ResponseWriter, r *http.Request) bool {
		if isList(r) {
			respond(w, `{"kind":"AnyList","metadata":{"continue":"again"},"items":[]}`)
		}
		return isList(r)
	}}
	_, err := connect(t, "here", s.start(t), failing).Read(t.Context(), cluster.ReadOptions{NoCompositions: true})
	if err == nil || !strings.Contains(err.Error(), "the list does not end") {
		t.Errorf("endless list returned %v", err)
	}
	if n := len(s.seen("/compositeresourcedefinitions")); n != 2 {
		t.Errorf("list was requested %d times", n)
	}
}

// TestOrder checks that the result has the same order, whichever list is first.
func TestOrder(t *testing.T) {
	t.Parallel()
	for i := range 8 {
		slow := []string{ours, other}[i%2]
		s := &standIn{groups: []string{ours, other}, trouble: func(_ int, _ http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, slow+"/v1/compositeresourcedefinitions") {
				time.Sleep(50 * time.Millisecond)
			}
			return false
		}}
		set, err := connect(t, "here", s.start(t), patient).Read(t.Context(), cluster.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range set.Definitions {
			got = append(got, d.Node.Get("apiVersion").Str()+" "+d.Name)
		}
		want := []string{
			ours + "/v1 xas." + plain, other + "/v1 xas." + plain, ours + "/v1 xbs." + plain, other + "/v1 xbs." + plain,
		}
		slices.Sort(want)
		slices.SortStableFunc(want, func(a, b string) int {
			return strings.Compare(a[strings.IndexByte(a, ' '):], b[strings.IndexByte(b, ' '):])
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s was late (-want +got):\n%s", slow, diff)
		}
	}
}

// TestCheckHardened checks a server that reveals neither the identity of the
// caller nor its version: everything else is still checked.
func TestCheckHardened(t *testing.T) {
	t.Parallel()
	s := &standIn{trouble: func(_ int, w http.ResponseWriter, r *http.Request) bool {
		switch r.URL.Path {
		case "/version", "/apis/authentication.k8s.io/v1/selfsubjectreviews":
			refuse(w, http.StatusForbidden, "no")
		case "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews":
			respond(w, `{"kind":"SelfSubjectAccessReview","status":{"allowed":true}}`)
		default:
			return false
		}
		return true
	}}
	var got []string
	connect(t, "here", s.start(t), failing).Check(t.Context(), cluster.CheckOptions{}, func(k cluster.Check) {
		got = append(got, fmt.Sprint(k.Name, " ", k.Result))
	})
	want := []string{
		"address ok", "TLS ok", "authentication skipped", "version skipped", "definitions ok",
		"list compositeresourcedefinitions." + ours + " ok", "list compositions." + ours + " ok",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("checks (-want +got):\n%s", diff)
	}
}

// TestCheckSilent checks a server that stops answering when permissions are
// checked: the timeout is spent once.
func TestCheckSilent(t *testing.T) {
	t.Parallel()
	s := &standIn{trouble: func(_ int, w http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.URL.Path == "/version":
			respond(w, `{"gitVersion":"v1.0.0"}`)
		case strings.HasSuffix(r.URL.Path, "/selfsubjectreviews"):
			respond(w, `{"status":{"userInfo":{"username":"me"}}}`)
		case strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews"):
			return hang(r.Context())
		default:
			return false
		}
		return true
	}}
	results := map[cluster.Result]int{}
	connect(t, "here", s.start(t), cluster.Options{Timeout: 500 * time.Millisecond}).Check(t.Context(), cluster.CheckOptions{Watch: true}, func(k cluster.Check) {
		results[k.Result]++
	})
	if results[cluster.Failed] != 1 || results[cluster.Skipped] != 5 {
		t.Errorf("want one failed permission and the others skipped: %v", results)
	}
	if n := len(s.seen("/selfsubjectaccessreviews")); n != 1 {
		t.Errorf("server was asked %d times", n)
	}
}

// TestCheckMany checks the permissions of many kinds: they are reported in
// order, and for a silent server the timeout is not spent once per kind.
func TestCheckMany(t *testing.T) {
	t.Parallel()
	const kinds = 40
	var all, want []string
	for i := range kinds {
		all = append(all, definitionItem(ours, fmt.Sprintf("k%02d", i), ""))
		want = append(want, fmt.Sprintf("list xk%02ds.%s ok", i, plain), fmt.Sprintf("get xk%02ds.%s ok", i, plain), fmt.Sprintf("watch xk%02ds.%s ok", i, plain))
	}
	var reviews atomic.Int64
	check := func(silentAfter int64) (got []string, asked int64) {
		reviews.Store(0)
		s := &standIn{definitions: all, trouble: func(_ int, w http.ResponseWriter, r *http.Request) bool {
			switch {
			case r.URL.Path == "/version":
				respond(w, `{"gitVersion":"v1.0.0"}`)
			case strings.HasSuffix(r.URL.Path, "/selfsubjectreviews"):
				respond(w, `{"status":{"userInfo":{"username":"me"}}}`)
			case strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews"):
				if reviews.Add(1) > silentAfter {
					return hang(r.Context())
				}
				respond(w, `{"kind":"SelfSubjectAccessReview","status":{"allowed":true}}`)
			default:
				return false
			}
			return true
		}}
		connect(t, "here", s.start(t), cluster.Options{Timeout: 500 * time.Millisecond}).Check(t.Context(), cluster.CheckOptions{
			Watch: true, Composites: func(*xrd.Definition) bool { return true },
		}, func(k cluster.Check) {
			if strings.Contains(k.Name, plain) {
				got = append(got, fmt.Sprint(k.Name, " ", k.Result))
			}
		})
		return got, reviews.Load()
	}
	got, _ := check(1 << 30)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("permissions (-want +got):\n%s", diff)
	}
	got, asked := check(10)
	if asked > 20 || len(got) != 3*kinds || !strings.HasSuffix(got[0], " failed") || !strings.HasSuffix(got[len(got)-1], " skipped") {
		t.Errorf("server was asked %d times; reported %d, first %q, last %q", asked, len(got), got[0], got[len(got)-1])
	}
}

// TestCheckProgram checks a cluster whose credential program does not end: the
// connection is fine, the identity is unknown, and the check does not wait for
// the program.
func TestCheckProgram(t *testing.T) {
	t.Parallel()
	s := &standIn{}
	at := s.start(t)
	dir := t.TempDir()
	script := filepath.Join(dir, "plugin.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nwhile [ -e \"$0\" ]; do sleep 0.1; done\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	ca := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(ca, at.CAData, 0o600); err != nil {
		t.Fatal(err)
	}
	kubeconfig := filepath.Join(dir, "kubeconfig")
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: here
clusters: [{name: here, cluster: {server: %q, certificate-authority: %q}}]
contexts: [{name: here, context: {cluster: here, user: here}}]
users: [{name: here, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: %q, interactiveMode: Never}}}]
`, at.URL, ca, script)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := connect(t, "here", source.Cluster{Kubeconfig: kubeconfig}, cluster.Options{Timeout: time.Second})
	var got []string
	begin := time.Now()
	c.Check(t.Context(), cluster.CheckOptions{}, func(k cluster.Check) { got = append(got, fmt.Sprint(k.Name, " ", k.Result)) })
	if diff := cmp.Diff([]string{"address ok", "TLS ok", "authentication failed", "version skipped", "definitions skipped", "permissions skipped"}, got); diff != "" {
		t.Errorf("checks (-want +got):\n%s", diff)
	}
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("check took %v", took)
	}
}
