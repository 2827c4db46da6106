package resource

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/identity"
	"example.dev/ingestor/internal/reading"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/xrd/composed"
)

// manifests are a composite with one part, and a user who may read the composite only.
const manifests = `---
{apiVersion: v1, kind: Namespace, metadata: {name: team-a}}
---
{apiVersion: v1, kind: Secret, metadata: {name: credentials, namespace: team-a}, stringData: {password: hunter2}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: shops, namespace: team-a}
rules: [{apiGroups: [platform.example.org], resources: [shops], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: shops, namespace: team-a}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: shops}
subjects: [{kind: User, name: ada, apiGroup: rbac.authorization.k8s.io}, {kind: ServiceAccount, name: poor, namespace: team-a}]
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: poor, namespace: team-a}}
`

const shop = `---
apiVersion: platform.example.org/v1
kind: Shop
metadata: {name: invoices, namespace: team-a}
spec: {crossplane: {resourceRefs: [{apiVersion: v1, kind: Secret, name: credentials}]}}
status: {conditions: [{type: Ready, status: "False", reason: Creating, message: waiting for the network}]}
`

// calls counts requests to a cluster.
type calls struct {
	next http.RoundTripper
	n    *atomic.Int64
}

func (c calls) RoundTrip(r *http.Request) (*http.Response, error) {
	c.n.Add(1)
	return c.next.RoundTrip(r)
}

// world is an API of a cluster under several names.
type world struct {
	*Resources
	t      *testing.T
	server *apiserver.Server
	made   atomic.Int64
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, server: apiserver.Start(t, apiserver.Options{CRDs: "none"})}
	w.server.Apply(t, apiserver.CRD("platform.example.org", "Shop", "shops", "Namespaced"), manifests)
	w.server.Apply(t, "../../deploy/rbac.yaml", "../../deploy/rbac-composed.yaml")
	w.server.Apply(t, shop)
	connect := func(c source.Cluster) *cluster.Cluster {
		t.Helper()
		on, err := cluster.Connect(c, cluster.Options{Patience: time.Millisecond, Log: slog.New(slog.DiscardHandler),
			Wrap: func(_ string, next http.RoundTripper) http.RoundTripper { return calls{next, &w.made} }})
		if err != nil {
			t.Fatal(err)
		}
		return on
	}
	clusters := map[string]*cluster.Cluster{
		"plain":  connect(source.Cluster{Name: "plain", Kubeconfig: w.server.Kubeconfig}),
		"strict": connect(source.Cluster{Name: "strict", Kubeconfig: w.server.Kubeconfig, Impersonate: true}),
		"poor":   connect(source.Cluster{Name: "poor", URL: w.server.URL, CAData: w.server.CA, Token: source.Secret(w.server.Token(t, "team-a", "poor"))}),
		"role":   connect(source.Cluster{Name: "role", URL: w.server.URL, CAData: w.server.CA, Token: source.Secret(w.server.Token(t, "composer-ingestor", "composer-ingestor"))}),
		"down":   connect(source.Cluster{Name: "down", URL: "https://127.0.0.1:1", CAData: w.server.CA, Token: "x"}),
	}
	choose := func(ctx context.Context, name string) (*cluster.Cluster, error) {
		on := clusters[name]
		if on == nil || !on.Impersonates() {
			return on, nil
		}
		return on.As(identity.From(ctx).Login, nil)
	}
	w.Resources = New(Options{
		Now: time.Now, Log: slog.New(slog.DiscardHandler), Streams: 20, Cluster: choose,
		Object: func(_ context.Context, ref string) (Object, error) {
			name, ok := strings.CutPrefix(ref, "resource:default/")
			if !ok {
				return Object{}, db.ErrNotFound
			}
			return Object{Cluster: name, Ref: composed.Ref{APIVersion: "platform.example.org/v1", Kind: "Shop", Namespace: "team-a", Name: "invoices"}}, nil
		},
		Read: func(ctx context.Context, o Object) (*tree.Node, error) {
			on, err := choose(ctx, o.Cluster)
			if err != nil {
				return nil, err
			}
			return on.Do(ctx, cluster.Call{Doing: "read " + o.Ref.String(), Path: "/apis/platform.example.org/v1/namespaces/team-a/shops/" + o.Ref.Name})
		},
	})
	return w
}

// request returns a request of a user about the object of a cluster.
func request(ctx context.Context, who, kind, name, query string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/x?"+query, nil)
	r = r.WithContext(identity.With(ctx, identity.Caller{Kind: identity.User, Subject: "user:default/" + who, Login: who}))
	for k, v := range map[string]string{"kind": kind, "namespace": "default", "name": name} {
		r.SetPathValue(k, v)
	}
	return r
}

// get returns the status and body, or the message, of a response.
func get(t *testing.T, handle rest.Handler, r *http.Request) (int, string) {
	w := httptest.NewRecorder()
	if err := handle(w, r); err != nil {
		f, ok := errors.AsType[*rest.Fault](err)
		if !ok {
			t.Error(err)
			return 0, ""
		}
		return f.Status, f.Message
	}
	return w.Code, w.Body.String()
}

func TestStatus(t *testing.T) {
	s := newWorld(t)
	get := func(who, kind, name, query string) (int, string) {
		return get(t, s.status, request(t.Context(), who, kind, name, query))
	}
	tests := map[string]struct {
		reason                 string
		who, kind, name, query string
		status                 int
		want                   []string
	}{
		"NotReady":   {reason: "The tree and the sentence are returned.", who: "ada", kind: "resource", name: "plain", status: 200, want: []string{`"sentence":"waiting for the network"`, `"name":"credentials"`, "the object does not belong to Shop invoices"}},
		"As":         {reason: "A cluster that impersonates shows what the caller may read.", who: "ada", kind: "resource", name: "strict", status: 200, want: []string{`"state":"forbidden"`, "secrets"}},
		"AsOther":    {reason: "The composite itself may be forbidden too.", who: "bob", kind: "resource", name: "strict", status: 200, want: []string{`"ready":false`, `"name":"invoices"},"state":"forbidden"`}},
		"Down":       {reason: "A cluster that does not answer is an error without its address.", who: "ada", kind: "resource", name: "down", status: 503, want: []string{"Cluster down cannot be reached"}},
		"NoEntity":   {reason: "An entity that the caller may not read does not exist.", who: "ada", kind: "component", name: "x", status: 404, want: []string{"No cluster resource found for component:default/x"}},
		"Skip":       {reason: "Parts of an earlier response are left out.", who: "ada", kind: "resource", name: "plain", query: "skip=1", status: 200, want: []string{`"skipped":1`}},
		"SkipNumber": {reason: "skip is a number.", who: "ada", kind: "resource", name: "plain", query: "skip=-1", status: 400, want: []string{"Parameter skip"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			status, body := get(tc.who, tc.kind, tc.name, tc.query)
			if status != tc.status {
				t.Errorf("%s Got %d %s", tc.reason, status, body)
			}
			for _, want := range tc.want {
				if !strings.Contains(body, want) {
					t.Errorf("%s Response has no %s:\n%s", tc.reason, want, body)
				}
			}
			for _, secret := range []string{"hunter2", "aHVudGVyMg", "127.0.0.1"} {
				if strings.Contains(body, secret) {
					t.Errorf("%s Response contains %s:\n%s", tc.reason, secret, body)
				}
			}
		})
	}
	t.Run("Shared", func(t *testing.T) {
		one := s.calls(func() { get("ada", "resource", "plain", "") })
		ten := s.calls(func() {
			var all sync.WaitGroup
			for i := range 10 {
				all.Go(func() {
					if status, body := get(fmt.Sprint("user", i), "resource", "plain", ""); status != 200 {
						t.Errorf("got %d %s", status, body)
					}
				})
			}
			all.Wait()
		})
		if ten > one {
			t.Errorf("ten requests at once cost %d calls, and one %d", ten, one)
		}
	})
}

// calls returns how many requests to clusters do makes, with nothing kept from before.
func (w *world) calls(do func()) int64 {
	w.trees = newTrees(time.Now)
	before := w.made.Load()
	do()
	return w.made.Load() - before
}

// TestReadings checks that a cluster that does not answer has few requests open, however
// many trees are requested.
func TestReadings(t *testing.T) {
	var open atomic.Int64
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		open.Add(1)
		defer open.Add(-1)
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	defer close(release)
	on, err := cluster.Connect(source.Cluster{Name: "slow", URL: server.URL, Token: "x"}, cluster.Options{Patience: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	s := New(Options{
		Now:     time.Now,
		Cluster: func(context.Context, string) (*cluster.Cluster, error) { return on, nil },
		Object: func(context.Context, string) (Object, error) {
			return Object{Cluster: "slow", Ref: composed.Ref{APIVersion: "a/v1", Kind: "Shop", Name: "a"}}, nil
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var all sync.WaitGroup
	const requests = 50
	arrived := make(chan struct{}, requests)
	for i := range requests {
		all.Go(func() {
			r := httptest.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("/status?skip=%d", i), nil)
			arrived <- struct{}{}
			_ = s.status(httptest.NewRecorder(), r)
		})
	}
	for range requests {
		<-arrived
	}
	for deadline := time.Now().Add(10 * time.Second); open.Load() < reading.AtOnce && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	cancel()
	all.Wait()
	// All requests have been made, and those that wait for the cluster go on without the
	// callers.
	if n := open.Load(); n != reading.AtOnce {
		t.Errorf("%d requests are open, want %d", n, reading.AtOnce)
	}
}
