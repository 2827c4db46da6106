package workload

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/identity"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/test/apiserver"
)

// manifests are the workloads of a shop with values that must not be shown, those of
// another team, and a user who may read the pods of the shop only.
const manifests = `---
{apiVersion: v1, kind: Namespace, metadata: {name: shop}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: other}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: shop}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: other}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, labels: {backstage.io/kubernetes-id: shop}, annotations: {note: short, copy: '{"password":"hunter2"}'}}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web, backstage.io/kubernetes-id: shop}}
    spec:
      containers:
        - name: web
          image: web:1
          command: [run, --password=hunter2]
          args: [hunter2]
          env: [{name: PASSWORD, value: hunter2}, {name: OTHER, valueFrom: {secretKeyRef: {name: credentials, key: password}}}]
          readinessProbe: {httpGet: {port: 80, httpHeaders: [{name: Authorization, value: hunter2}]}, periodSeconds: 5}
---
apiVersion: v1
kind: Pod
metadata: {name: web-1, namespace: shop, labels: {app: web, backstage.io/kubernetes-id: shop}}
spec: {nodeName: node, containers: [{name: web, image: web:1, env: [{name: PASSWORD, value: hunter2}]}, {name: sidecar, image: sidecar:1}]}
---
apiVersion: v1
kind: Pod
metadata: {name: old-1, namespace: shop, labels: {app: old, portal.io/cluster-id: shop}}
spec: {nodeName: node, containers: [{name: old, image: old:1}]}
---
apiVersion: v1
kind: Pod
metadata: {name: theirs, namespace: other, labels: {app: theirs, backstage.io/kubernetes-id: other}}
spec: {nodeName: node, containers: [{name: theirs, image: theirs:1}]}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: shop, labels: {backstage.io/kubernetes-id: shop}}, data: {password: hunter2}}
---
{apiVersion: v1, kind: Secret, metadata: {name: credentials, namespace: shop, labels: {backstage.io/kubernetes-id: shop}}, stringData: {password: hunter2}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: pods, namespace: shop}
rules: [{apiGroups: [""], resources: [pods, events], verbs: [list]}, {apiGroups: [""], resources: [pods/log], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: pods, namespace: shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: pods}
subjects: [{kind: User, name: ada, apiGroup: rbac.authorization.k8s.io}]
`

// entities are the catalog. Names that begin with hidden are not readable.
var entities = map[string]Entity{
	"component:default/shop":       stored(permission.OriginDefinition, "backstage.io/kubernetes-id", "shop", "backstage.io/kubernetes-namespace", "shop"),
	"component:default/everywhere": stored(permission.OriginDefinition, "portal.io/cluster-id", "shop"),
	"component:default/selector":   stored(permission.OriginDefinition, "backstage.io/kubernetes-id", "ignored", "backstage.io/kubernetes-label-selector", "app in (web, old),app!=old", "backstage.io/kubernetes-cluster", "plain"),
	"component:default/strict":     stored(permission.OriginRegistered, "backstage.io/kubernetes-id", "shop", "backstage.io/kubernetes-namespace", "shop", "backstage.io/kubernetes-cluster", "strict"),
	"component:default/down":       stored(permission.OriginDefinition, "backstage.io/kubernetes-id", "shop", "backstage.io/kubernetes-cluster", "down"),
	"component:default/gone":       stored(permission.OriginDefinition, "backstage.io/kubernetes-id", "shop", "backstage.io/kubernetes-cluster", "nowhere"),
	"component:default/found":      stored(permission.OriginDefinition, "backstage.io/kubernetes-id", "shop", "backstage.io/discovered-from", "plain,former"),
	"component:default/claims":     stored(permission.OriginConfig, "backstage.io/kubernetes-id", "shop", "backstage.io/discovered-from", "down"),
	"component:default/many":       stored(permission.OriginDefinition, "backstage.io/kubernetes-label-selector", "many=yes", "backstage.io/kubernetes-cluster", "plain"),
	"component:default/plain":      stored(permission.OriginDefinition),
	"component:default/registered": stored(permission.OriginRegistered, "backstage.io/kubernetes-id", "shop", "backstage.io/kubernetes-cluster", "plain"),
	"component:default/comma":      stored(permission.OriginDefinition, "backstage.io/kubernetes-id", "a,b=c"),
	"component:default/equals":     stored(permission.OriginDefinition, "backstage.io/kubernetes-id", "="),
	"component:default/unicode":    stored(permission.OriginDefinition, "backstage.io/kubernetes-id", "shöp"),
	"component:default/line":       stored(permission.OriginDefinition, "backstage.io/kubernetes-id", "shop\n"),
	"component:default/traversal":  stored(permission.OriginDefinition, "backstage.io/kubernetes-id", "shop", "backstage.io/kubernetes-namespace", "../secrets"),
	"component:default/all":        stored(permission.OriginDefinition, "backstage.io/kubernetes-label-selector", "app!=none"),
	"component:default/malformed":  stored(permission.OriginDefinition, "backstage.io/kubernetes-label-selector", "app=(", "backstage.io/kubernetes-id", "shop"),
}

func stored(origin string, annotations ...string) Entity {
	e := Entity{Resource: &permission.Resource{Kind: "component", Namespace: "default", Origin: origin}, Annotations: map[string]string{}}
	for i := 0; i < len(annotations); i += 2 {
		e.Annotations[annotations[i]] = annotations[i+1]
	}
	return e
}

// calls counts requests to a cluster.
type calls struct {
	next http.RoundTripper
	n    *atomic.Int64
}

func (c calls) RoundTrip(r *http.Request) (*http.Response, error) {
	c.n.Add(1)
	return c.next.RoundTrip(r)
}

// world is the API with clusters.
type world struct {
	server   *apiserver.Server
	api      *Workloads
	handler  http.Handler
	made     atomic.Int64
	clusters map[string]*cluster.Cluster
}

func newWorld(t *testing.T, rules ...config.PermissionRule) *world {
	t.Helper()
	w := &world{server: apiserver.Start(t, apiserver.Options{CRDs: "none"})}
	w.server.Apply(t, kubelet(t))
	w.server.Apply(t, apiserver.CRD("platform.example.org", "Rollout", "rollouts", "Namespaced"), manifests)
	w.server.Apply(t, `---
{apiVersion: platform.example.org/v1, kind: Rollout, metadata: {name: web, namespace: shop, labels: {backstage.io/kubernetes-id: shop}}, spec: {adminPassword: hunter2, passwordSecretRef: {name: credentials}, env: {A: hunter2}}}`)
	connect := func(c source.Cluster) *cluster.Cluster {
		on, err := cluster.Connect(c, cluster.Options{Patience: time.Millisecond, Log: slog.New(slog.DiscardHandler),
			Wrap: func(_ string, next http.RoundTripper) http.RoundTripper { return calls{next, &w.made} }})
		if err != nil {
			t.Fatal(err)
		}
		return on
	}
	w.clusters = map[string]*cluster.Cluster{
		"plain":  connect(source.Cluster{Name: "plain", Kubeconfig: w.server.Kubeconfig}),
		"strict": connect(source.Cluster{Name: "strict", Kubeconfig: w.server.Kubeconfig, Impersonate: true}),
		"down":   connect(source.Cluster{Name: "down", URL: "https://127.0.0.1:1", CAData: w.server.CA, Token: "x"}),
	}
	w.api = New(Options{
		Names: []string{"kubernetes"}, Clusters: []string{"plain", "strict", "down"}, Now: time.Now,
		Policy: permission.New(config.Permission{Enabled: true, Rules: rules}),
		Entity: func(_ context.Context, ref string) (Entity, error) {
			e, ok := entities[ref]
			if !ok {
				return e, db.ErrNotFound
			}
			in := *e.Resource
			in.Ref = ref
			e.Resource = &in
			return e, nil
		},
		Cluster: func(ctx context.Context, name string) (*cluster.Cluster, error) {
			on, who := w.clusters[name], identity.From(ctx)
			if on == nil || !on.Impersonates() {
				return on, nil
			}
			if who.Kind == identity.Guest {
				return nil, rest.NotAllowed("Cannot act as a guest")
			}
			return on.As(who.Login, nil)
		},
	})
	mux := http.NewServeMux()
	for _, r := range w.api.Plugin().Routes {
		mux.HandleFunc(r.Method+" /api/kubernetes"+r.Path, func(rw http.ResponseWriter, q *http.Request) {
			if err := r.Handle(rw, q); err != nil {
				if f := rest.FaultOf(err); f.Write(rw, q) != nil {
					t.Error(err)
				}
			}
		})
	}
	w.handler = mux
	return w
}

// kubelet starts a kubelet that has a log for every container, and returns its Node.
func kubelet(t *testing.T) string {
	t.Helper()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The path is /containerLogs/<namespace>/<pod>/<container>.
		fmt.Fprintf(w, "log of %s, tail %s\n\xff\n", strings.TrimPrefix(r.URL.Path, "/containerLogs/"), r.URL.Query().Get("tailLines"))
	}))
	t.Cleanup(s.Close)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`---
{apiVersion: v1, kind: Node, metadata: {name: node}, status: {addresses: [{type: InternalIP, address: 127.0.0.1}], daemonEndpoints: {kubeletEndpoint: {Port: %s}}}}`, port)
}

var (
	guest = identity.Caller{Kind: identity.Guest, Subject: "user:development/guest"}
	ada   = identity.Caller{Kind: identity.User, Subject: "user:default/ada", Login: "ada"}
	bob   = identity.Caller{Kind: identity.User, Subject: "user:default/bob", Login: "bob"}
)

// send makes a request; a body makes it a POST.
func (w *world) send(ctx context.Context, who identity.Caller, path, body, on string) (int, string) {
	r := httptest.NewRequest(http.MethodGet, "/api/kubernetes"+path, nil)
	if body != "" {
		r = httptest.NewRequest(http.MethodPost, "/api/kubernetes"+path, strings.NewReader(body))
	}
	r = r.WithContext(identity.With(ctx, who))
	if on != "" {
		r.Header.Set("Backstage-Kubernetes-Cluster", on)
	}
	rec := httptest.NewRecorder()
	w.handler.ServeHTTP(rec, r)
	return rec.Code, rec.Body.String()
}

func query(name string) string { return `{"auth":{},"entityRef":"component:default/` + name + `"}` }

func custom(name, group, version, plural string) string {
	return fmt.Sprintf(`{"entityRef":"component:default/%s","customResources":[{"group":%q,"apiVersion":%q,"plural":%q}]}`, name, group, version, plural)
}

const (
	queryPath  = "/resources/workloads/query"
	customPath = "/resources/custom/query"
)

func TestQuery(t *testing.T) {
	w := newWorld(t)
	tests := map[string]struct {
		reason     string
		who        identity.Caller
		path, body string
		status     int
		want       []string
		not        []string
	}{
		"Services": {"The objects of the stored entity are returned, and clusters fail on their own.", ada, "/services/x",
			`{"entity":{"kind":"Component","metadata":{"name":"shop","annotations":{"backstage.io/kubernetes-id":"other","backstage.io/kubernetes-label-selector":"app=theirs","backstage.io/kubernetes-namespace":"other"}}},"auth":{"google":"x"}}`, 200,
			[]string{`"cluster":{"name":"plain"}`, `"type":"pods","resources":[{`, `"name":"web-1"`, `"name":"old-1"`, `"type":"deployments","resources":[{`, `"type":"daemonsets","resources":[]`, `"podMetrics":[]`,
				`"name":"PASSWORD","value":"(hidden)"`, `"secretKeyRef":{"name":"credentials","key":"password"}`, `"data":{"password":"(hidden)"}`, `"note":"short"`, `"periodSeconds":5`,
				`{"errorType":"FETCH_ERROR","message":"Cluster down cannot be reached"}`,
				`{"errorType":"UNKNOWN_ERROR","statusCode":403,"resourcePath":"/apis/apps/v1/namespaces/shop/deployments","message":"Missing RBAC rule: { apiGroups: [\"apps\"], resources: [\"deployments\"], verbs: [\"list\"] }"}`},
			[]string{`theirs`, "managedFields", `"type":"secrets"`, `"copy"`, `"command"`}},
		"Workloads":  {"A query by reference returns the same.", ada, queryPath, query("selector"), 200, []string{`"name":"web-1"`}, []string{`old-1`, `"down"`, `"strict"`}},
		"Everywhere": {"Without a namespace all are read.", ada, queryPath, query("everywhere"), 200, []string{`"name":"web-1"`, `"name":"old-1"`}, []string{"theirs"}},
		"As":         {"A cluster that impersonates shows what the caller may read, of any origin.", ada, queryPath, query("strict"), 200, []string{`"name":"web-1"`, `"statusCode":403`}, []string{`"type":"deployments"`}},
		"AsOther":    {"Another user may read nothing there.", bob, queryPath, query("strict"), 200, []string{`"resourcePath":"/api/v1/namespaces/shop/pods"`}, []string{"web-1"}},
		"Guest":      {"Guests read what the portal's account reads, without values.", guest, queryPath, query("selector"), 200, []string{`"name":"web-1"`}, nil},
		"GuestAs":    {"A cluster that impersonates knows no guests.", guest, queryPath, query("strict"), 200, []string{`"message":"Cannot act as a guest"`}, []string{"web-1"}},
		"Registered": {"An entity that anyone could register selects nothing with the portal's account.", ada, queryPath, query("registered"), 403, []string{"kubernetes.resources.read", `the entity comes from registered`, `providers: [\"registered\"]`}, []string{"web-1"}},
		"Down":       {"A cluster that does not answer is a problem without its address.", ada, queryPath, query("down"), 200, []string{"Cluster down cannot be reached"}, nil},
		"Found":      {"An ingested entity selects nothing in clusters that it was not found in.", ada, queryPath, query("found"), 200, []string{`"name":"web-1"`}, []string{`"down"`, `"strict"`}},
		"Claims":     {"In other entities the annotation of ingestion means nothing.", ada, queryPath, query("claims"), 200, []string{`"name":"web-1"`, `"name":"down"`}, nil},
		"Gone":       {"A cluster that is not configured has nothing.", ada, queryPath, query("gone"), 200, []string{`{"items":[]}`}, nil},
		"Plain":      {"An entity without annotations has no workloads.", ada, queryPath, query("plain"), 200, []string{`{"items":[]}`}, nil},
		"NoEntity":   {"An entity that the caller may not read does not exist.", ada, queryPath, query("hidden"), 404, []string{"No entity component:default/hidden found"}, nil},
		"NoService":  {"The same with the entity in the body.", ada, "/services/shop", `{"entity":{"kind":"Component","metadata":{"name":"hidden","annotations":{"backstage.io/kubernetes-id":"shop"}}}}`, 404, []string{"No entity"}, nil},
		"EmptyBody":  {"An entity is required.", ada, "/services/shop", `{}`, 400, []string{"entity"}, nil},
		"NoRef":      {"A reference is required.", ada, queryPath, `{}`, 400, []string{"entityRef"}, nil},
		"BadRef":     {"A reference must be one.", ada, queryPath, `{"entityRef":"::/"}`, 400, []string{"entityRef"}, nil},
		"Comma":      {"An id does not become several terms.", ada, queryPath, query("comma"), 400, []string{"backstage.io/kubernetes-id"}, nil},
		"Equals":     {"An id is a value.", ada, queryPath, query("equals"), 400, []string{"must be the value of a label"}, nil},
		"Unicode":    {"An id has the letters of labels.", ada, queryPath, query("unicode"), 400, []string{"must be the value of a label"}, nil},
		"Line":       {"An id has no line end.", ada, queryPath, query("line"), 400, []string{"must be the value of a label"}, nil},
		"Traversal":  {"A namespace does not become a path.", ada, queryPath, query("traversal"), 400, []string{"must be the name of a namespace"}, nil},
		"All":        {"A selector must not select what has no labels.", ada, queryPath, query("all"), 400, []string{"requires a label"}, nil},
		"Malformed":  {"A malformed selector does not fall back to the id.", ada, queryPath, query("malformed"), 400, []string{"must be a label selector"}, nil},

		"Custom":          {"Custom resources have their kind, and no values that are named like secrets.", ada, customPath, custom("everywhere", "platform.example.org", "v1", "rollouts"), 200, []string{`"type":"customresources"`, `"kind":"Rollout"`, `"adminPassword":"(hidden)"`, `"passwordSecretRef":{"name":"credentials"}`, `"A":"(hidden)"`}, []string{`"type":"pods"`}},
		"CustomMissing":   {"A kind that is not served is a problem.", ada, customPath, custom("selector", "platform.example.org", "v1", "others"), 200, []string{`"errorType":"NOT_FOUND","statusCode":404,"resourcePath":"/apis/platform.example.org/v1/others"`}, nil},
		"CustomSecrets":   {"Secrets are refused.", ada, customPath, custom("everywhere", "", "v1", "secrets"), 403, []string{"Secrets are not shown"}, nil},
		"CustomConfigMap": {"Values of ConfigMaps are hidden on this way too.", ada, customPath, custom("everywhere", "", "v1", "configmaps"), 200, []string{`"data":{"password":"(hidden)"}`}, nil},
		"CustomSlash":     {"A plural does not become a path.", ada, customPath, custom("everywhere", "", "v1", "configmaps/../secrets"), 400, []string{"plural"}, nil},
		"CustomCase":      {"A plural has no capitals.", ada, customPath, custom("everywhere", "", "v1", "Secrets"), 400, []string{"plural"}, nil},
		"CustomVersion":   {"A version does not become a path.", ada, customPath, custom("everywhere", "", "v1/namespaces/shop/secrets", "x"), 400, []string{"apiVersion"}, nil},
		"CustomGroup":     {"A group does not become a path.", ada, customPath, custom("everywhere", "../api", "v1", "x"), 400, []string{"group"}, nil},
		"CustomNone":      {"A kind is required.", ada, customPath, query("shop"), 400, []string{"customResources"}, nil},
		"CustomMany":      {"The number of kinds is limited.", ada, customPath, `{"entityRef":"component:default/shop","customResources":[` + strings.Repeat(`{},`, 20) + `{}]}`, 400, []string{"1 to 20"}, nil},
		"CustomHidden":    {"An entity that the caller may not read does not exist.", ada, customPath, custom("hidden", "platform.example.org", "v1", "rollouts"), 404, []string{"No entity"}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			status, body := w.send(t.Context(), tc.who, tc.path, tc.body, "")
			check(t, tc.reason, status, tc.status, body, tc.want, tc.not)
		})
	}
	t.Run("Shared", func(t *testing.T) {
		ask := func() {
			if status, body := w.send(t.Context(), ada, queryPath, query("selector"), ""); status != 200 {
				t.Errorf("got %d %s", status, body)
			}
		}
		count := func(do func()) int64 {
			w.api.readings = newReadings(time.Now)
			before := w.made.Load()
			do()
			return w.made.Load() - before
		}
		one := count(ask)
		if ten := count(func() {
			var all sync.WaitGroup
			for range 10 {
				all.Go(ask)
			}
			all.Wait()
		}); ten > one {
			t.Errorf("ten requests at once cost %d calls, and one %d", ten, one)
		}
	})
	t.Run("Canceled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if status, body := w.send(ctx, bob, queryPath, query("strict"), ""); status != 500 {
			t.Errorf("A request that ended gets no objects. Got %d %s", status, body)
		}
	})
	t.Run("Many", func(t *testing.T) {
		var all strings.Builder
		for i := range mostObjects + 20 {
			fmt.Fprintf(&all, "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: many-%d, namespace: shop, labels: {many: 'yes'}}}\n", i)
		}
		w.server.Apply(t, all.String())
		status, body := w.send(t.Context(), ada, queryPath, query("many"), "")
		check(t, "A long list is cut off.", status, 200, body, []string{"Only 500 configmaps are shown; there are more"}, nil)
		var got struct{ Items []ClusterObjects }
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Fatal(err)
		}
		for _, r := range got.Items[0].Resources {
			if r.Type == "configmaps" && len(r.Resources) != mostObjects {
				t.Errorf("response has %d ConfigMaps, want %d", len(r.Resources), mostObjects)
			}
		}
	})
}

// check compares a response, which must not contain secrets.
func check(t *testing.T, reason string, status, wantStatus int, body string, want, not []string) {
	t.Helper()
	if status != wantStatus {
		t.Errorf("%s Got %d, want %d: %s", reason, status, wantStatus, body)
	}
	for _, s := range want {
		if !strings.Contains(body, s) {
			t.Errorf("%s Response has no %s:\n%s", reason, s, body)
		}
	}
	for _, s := range append(not, "hunter2", "aHVudGVyMg", "127.0.0.1") {
		if strings.Contains(body, s) {
			t.Errorf("%s Response contains %s:\n%s", reason, s, body)
		}
	}
}

func TestLogs(t *testing.T) {
	w := newWorld(t, config.PermissionRule{Who: []string{"user:default/operator"}, Permissions: []string{permission.KubernetesProxy}, Allow: true})
	w.server.Apply(t, `
{apiVersion: v1, kind: Event, metadata: {name: a, namespace: shop}, involvedObject: {kind: Pod, namespace: shop, name: web-1, uid: `+uid(t, w, "shop", "web-1")+`}, type: Warning, reason: BackOff, message: restarting, count: 3, lastTimestamp: "2026-01-02T03:04:05Z"}
---
{apiVersion: v1, kind: Event, metadata: {name: b, namespace: shop}, involvedObject: {kind: Pod, namespace: shop, name: web-1, uid: another}, type: Normal, reason: Other, message: of a former pod}
`)
	log := func(name, namespace, pod, more string) string {
		return "/logs/by-name/component/default/" + name + "?cluster=plain&namespace=" + namespace + "&pod=" + pod + more
	}
	events := func(name, typ, object string) string {
		return "/events/by-name/component/default/" + name + "?cluster=plain&namespace=shop&type=" + typ + "&object=" + object
	}
	const proxied = "/proxy/api/v1/namespaces/shop/pods/web-1/log?container=web&previous="
	const proxiedEvents = "/proxy/api/v1/namespaces/shop/events?fieldSelector=involvedObject.name=web-1"
	operator := identity.Caller{Kind: identity.User, Subject: "user:default/operator", Login: "operator"}
	tests := map[string]struct {
		reason    string
		who       identity.Caller
		path, on  string
		status    int
		want, not []string
	}{
		"Log":          {"The first container is the default.", ada, log("shop", "shop", "web-1", ""), "", 200, []string{"log of shop/web-1/web, tail 200\n\uFFFD"}, nil},
		"Container":    {"A container is chosen by name.", ada, log("shop", "shop", "web-1", "&container=sidecar&tailLines=5"), "", 200, []string{"log of shop/web-1/sidecar, tail 5"}, nil},
		"Tail":         {"The number of lines is limited.", ada, log("shop", "shop", "web-1", "&tailLines=100000"), "", 200, []string{"tail 1000"}, nil},
		"OldSpelling":  {"The label of the other vocabulary counts.", ada, log("shop", "shop", "old-1", ""), "", 200, []string{"log of shop/old-1/old"}, nil},
		"NoContainer":  {"A container must exist.", ada, log("shop", "shop", "web-1", "&container=../x"), "", 404, []string{"no container"}, nil},
		"Theirs":       {"A pod that the entity does not select does not exist.", ada, log("everywhere", "other", "theirs", ""), "", 404, []string{"has no pod theirs"}, []string{"log of"}},
		"Namespace":    {"A namespace that the entity does not select has no pods.", ada, log("shop", "other", "theirs", ""), "", 404, []string{"has no pod theirs"}, nil},
		"Missing":      {"A pod must exist.", ada, log("shop", "shop", "web-2", ""), "", 404, []string{"has no pod web-2"}, nil},
		"Slash":        {"The name of a pod does not become a path.", ada, log("shop", "shop", "web-1%2Flog", ""), "", 400, []string{"pod must be the name"}, nil},
		"Traversal":    {"A namespace does not become a path.", ada, log("shop", "..%2Fshop", "web-1", ""), "", 400, []string{"namespace must be"}, nil},
		"NoCluster":    {"A cluster is required.", ada, "/logs/by-name/component/default/shop", "", 400, []string{"cluster must be"}, nil},
		"OtherCluster": {"A cluster that the entity does not select has no pods.", ada, strings.Replace(log("selector", "shop", "web-1", ""), "plain", "strict", 1), "", 404, []string{"has no pod"}, nil},
		"Hidden":       {"An entity that the caller may not read does not exist.", ada, log("hidden", "shop", "web-1", ""), "", 404, []string{"No entity"}, nil},
		"Guest":        {"Guests read no logs.", guest, log("shop", "shop", "web-1", ""), "", 403, []string{"kubernetes.logs.read"}, []string{"log of"}},
		"Registered":   {"An entity that anyone could register gives no logs.", ada, log("registered", "shop", "web-1", ""), "", 403, []string{"kubernetes.logs.read"}, []string{"log of"}},
		"As":           {"A cluster that impersonates decides.", ada, strings.Replace(log("strict", "shop", "web-1", ""), "plain", "strict", 1), "", 200, []string{"log of shop/web-1"}, nil},
		"AsOther":      {"Another user may not list pods there.", bob, strings.Replace(log("strict", "shop", "web-1", ""), "plain", "strict", 1), "", 403, []string{`resources: [\"pods\"]`}, []string{"log of"}},
		"Down":         {"A cluster that does not answer is an error without its address.", ada, strings.Replace(log("down", "shop", "web-1", ""), "plain", "down", 1), "", 503, []string{"Cluster down cannot be reached"}, nil},

		"Events":      {"Events are those of the object, not of one with the same name.", ada, events("shop", "pods", "web-1"), "", 200, []string{`{"items":[{"type":"Warning","reason":"BackOff","message":"restarting","count":3,"last":"2026-01-02T03:04:05Z"}]}`}, nil},
		"NoEvents":    {"An object without events has an empty list.", ada, events("shop", "deployments", "web"), "", 200, []string{`{"items":[]}`}, nil},
		"EventsType":  {"A type is one of those in responses.", ada, events("shop", "secrets", "credentials"), "", 400, []string{"type must be"}, nil},
		"EventsOther": {"An object that the entity does not select does not exist.", ada, strings.Replace(events("everywhere", "pods", "theirs"), "namespace=shop", "namespace=other", 1), "", 404, []string{"has no pod"}, nil},

		"Proxy":             {"In a cluster that does not impersonate the proxy requires a rule.", ada, proxied, "plain", 403, []string{"kubernetes.proxy"}, []string{"log of"}},
		"ProxyRule":         {"A rule allows it.", operator, proxied, "plain", 200, []string{"log of shop/web-1/web"}, nil},
		"ProxyAs":           {"A cluster that impersonates decides.", ada, proxied, "strict", 200, []string{"log of shop/web-1/web"}, nil},
		"ProxyAsOther":      {"Another user may not read logs there.", bob, proxied, "strict", 403, []string{`pods/log`}, []string{"log of"}},
		"ProxyGuest":        {"Guests may not.", guest, proxied, "plain", 403, []string{"kubernetes.proxy"}, []string{"log of"}},
		"ProxyNoCluster":    {"The header is required.", operator, proxied, "", 400, []string{"Backstage-Kubernetes-Cluster"}, nil},
		"ProxyOtherCluster": {"An unknown cluster is not found.", operator, proxied, "x", 404, []string{"not configured"}, nil},
		"ProxySlash":        {"The name of a pod does not become a path.", operator, "/proxy/api/v1/namespaces/shop/pods/web-1%2Fx/log", "plain", 404, []string{"No such object"}, nil},
		"ProxyTraversal":    {"A namespace does not become a path.", operator, "/proxy/api/v1/namespaces/..%2Fshop/pods/web-1/log", "plain", 404, []string{"No such object"}, nil},
		"ProxyContainer":    {"The name of a container does not become a parameter.", operator, "/proxy/api/v1/namespaces/shop/pods/web-1/log?container=a%26follow=true", "plain", 400, []string{"container"}, nil},
		"ProxySecrets":      {"Nothing else is proxied.", operator, "/proxy/api/v1/namespaces/shop/secrets", "plain", 404, nil, []string{"credentials"}},
		"ProxyPods":         {"Not even pods.", operator, "/proxy/api/v1/namespaces/shop/pods", "plain", 404, nil, []string{"web-1\""}},
		"ProxyEvents":       {"Events are a list as Kubernetes returns it.", operator, proxiedEvents, "plain", 200, []string{`"kind":"EventList"`, `"reason":"BackOff"`, `"reason":"Other"`}, []string{"managedFields"}},
		"ProxyEventsDenied": {"They require the rule too.", ada, proxiedEvents, "plain", 403, []string{"kubernetes.proxy"}, []string{"BackOff"}},
		"ProxyEventsAll":    {"All events of a namespace are not returned.", operator, "/proxy/api/v1/namespaces/shop/events", "plain", 400, []string{"fieldSelector"}, nil},
		"ProxyEventsMore":   {"A selector has one term.", operator, "/proxy/api/v1/namespaces/shop/events?fieldSelector=" + url.QueryEscape("involvedObject.name=a,reason!=b"), "plain", 404, []string{"No such object"}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			status, body := w.send(t.Context(), tc.who, tc.path, "", tc.on)
			check(t, tc.reason, status, tc.status, body, tc.want, tc.not)
		})
	}
}

// uid returns the uid of a pod.
func uid(t *testing.T, w *world, namespace, pod string) string {
	t.Helper()
	r, err := w.server.Client().Get(w.server.URL + "/api/v1/namespaces/" + namespace + "/pods/" + pod)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	data, err := io.ReadAll(r.Body)
	var got struct{ Metadata struct{ UID string } }
	if err = errors.Join(err, json.Unmarshal(data, &got)); err != nil || got.Metadata.UID == "" {
		t.Fatalf("pod has no uid: %v %s", err, data)
	}
	return got.Metadata.UID
}
