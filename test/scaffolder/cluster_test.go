package scaffolder_test

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"example.dev/ingestor/document/tree"
)

// pause is how long the slow cluster takes to respond to a write.
const pause = 3 * time.Second

// rough is a portal that knows the cluster under several names: slow,
// unreachable, and without permissions.
var rough = sync.OnceValues(func() (*backend, error) {
	w, err := shared()
	if err != nil {
		return nil, err
	}
	at, err := url.Parse(w.cluster.URL)
	if err != nil {
		return nil, err
	}
	proxy := &httputil.ReverseProxy{Transport: w.cluster.Client().Transport, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(at)
		r.Out.Header.Del("Authorization")
	}}
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPatch {
			select {
			case <-time.After(pause):
			case <-r.Context().Done():
			}
		}
		proxy.ServeHTTP(w, r)
	}))
	atEnd = append(atEnd, func() error { slow.Close(); return nil })
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	token, err := w.cluster.Do("token", "--namespace", "accounts", "--service-account", "poor")
	if err != nil {
		return nil, err
	}
	ca := base64.StdEncoding.EncodeToString(w.cluster.CA)
	b, err := open(sections{
		"orchestrator": sections{"serviceLocatorMethod": sections{"type": "multiTenant"}, "clusterLocatorMethods": []any{
			sections{"type": "config", "clusters": []any{
				sections{"name": "real", "kubeconfig": w.cluster.Kubeconfig},
				sections{"name": "slow", "url": slow.URL, "authProvider": "token", "token": "any"},
				sections{"name": "gone", "url": gone.URL, "authProvider": "token", "token": "any"},
				sections{"name": "poor", "url": w.cluster.URL, "caData": ca, "authProvider": "token", "token": strings.TrimSpace(token)},
			}},
		}},
		"scaffolder": sections{"concurrentTasksLimit": 20, "defaultCluster": "real"},
	}, flood, hold)
	if err != nil {
		return nil, err
	}
	atEnd = append(atEnd, b.stop)
	return b, nil
})

// enterRough returns the world and a client of the portal with these clusters.
func enterRough(t *testing.T) (*world, client) {
	t.Helper()
	w, _ := enter(t)
	b, err := rough()
	if err != nil {
		t.Fatal(err)
	}
	return w, b.client(t)
}

// template returns a Template with steps, in YAML flow style.
func template(name, steps string) string {
	return `{apiVersion: scaffolder.backstage.io/v1beta3, kind: Template, metadata: {name: ` + name + `}, spec: {type: x, owner: a,
  parameters: {properties: {cluster: {type: string}, name: {type: string}, size: {type: string}}},
  steps: [` + steps + `]}}`
}

// applying returns a step that applies a thing with the size of the parameters.
func applying(ns string) string {
	return `{id: apply, action: 'kubernetes:apply', input: {cluster: '${{ parameters.cluster }}', manifest: {apiVersion: test.example.org/v1, kind: Thing,
  metadata: {name: '${{ parameters.name }}', namespace: ` + ns + `}, spec: {size: '${{ parameters.size }}', left: a}}}}`
}

// TestClusterBadDays checks the errors of clusters that reject or cannot
// receive a resource.
func TestClusterBadDays(t *testing.T) {
	w, c := enterRough(t)
	ns := w.namespace(t, "bad-days")
	c.push("bad-days", template("bad-day", applying(ns)))
	c.form("bad-day", "")
	w.deny(t, ns)
	foreign := func(t *testing.T, name, size string) {
		t.Helper()
		body := `{"apiVersion":"test.example.org/v1","kind":"Thing","metadata":{"name":"` + name + `"},"spec":{"size":"` + size + `","left":"a"}}`
		if status, n := w.ask(t, http.MethodPost, things+ns+"/things?fieldManager=helm", "application/json", body); status != http.StatusCreated {
			t.Fatalf("cannot create an object: %d %s", status, tree.AppendJSON(nil, n, ""))
		}
	}
	cases := map[string]struct {
		reason, values string
		// foreign is the size of an object that another client has created
		// before.
		foreign string
		want    []string
		// size is the size of the object at the end; empty means that there is
		// none.
		size string
	}{
		"unreachable": {"An unreachable cluster is an error.", "{cluster: gone}", "", []string{`cluster "gone"`, "connection refused"}, ""},
		"unknown":     {"A cluster that is not configured is an error.", "{cluster: reel}", "", []string{`"reel"`}, ""},
		"slow":        {"A slow response is waited for.", "{cluster: slow}", "", nil, "small"},
		"forbidden":   {"A missing permission is an error that names the cluster.", "{cluster: poor}", "", []string{`cluster "poor"`, "poor"}, ""},
		"foreign":     {"A field that another client owns is not overwritten.", "{}", "large", []string{`spec.size is owned by "helm"`}, "large"},
		"adopted":     {"An equal object that another client created is not adopted.", "{}", "small", []string{`was not created by the portal, but by "helm"`}, "small"},
		"denied":      {"A policy of the cluster that denies the object is an error.", "{name: denied}", "", []string{"nothing is called denied here"}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := c.in(t)
			values := override(t, parse(t, "{name: "+name+", size: small, cluster: real}"), tc.values)
			if tc.foreign != "" {
				foreign(t, name, tc.foreign)
			}
			if tc.want == nil {
				c.completes("bad-day", values)
			} else {
				c.fails("bad-day", values, tc.want...)
			}
			if got := w.find(t, things+ns+"/things/"+name).Get("spec", "size").Str(); got != tc.size {
				t.Errorf("%s: size is %q, want %q", tc.reason, got, tc.size)
			}
		})
	}
}

// deny creates an admission policy that denies every object named denied in a
// namespace, and waits until it is enforced.
func (w *world) deny(t *testing.T, ns string) {
	t.Helper()
	const group = "/apis/admissionregistration.k8s.io/v1/"
	policy := `{"metadata":{"name":"denied"},"spec":{"matchConstraints":{"resourceRules":[{"apiGroups":["test.example.org"],"apiVersions":["*"],"operations":["CREATE"],"resources":["*"]}]},
  "validations":[{"expression":"object.metadata.name != 'denied'","message":"nothing is called denied here"}]}}`
	binding := `{"metadata":{"name":"denied"},"spec":{"policyName":"denied","validationActions":["Deny"]}}`
	for path, body := range map[string]string{"validatingadmissionpolicies": policy, "validatingadmissionpolicybindings": binding} {
		if status, n := w.ask(t, http.MethodPost, group+path, "application/json", body); status != http.StatusCreated && status != http.StatusConflict {
			t.Fatalf("cannot create the policy: %d %s", status, tree.AppendJSON(nil, n, ""))
		}
	}
	until(t, "the policy holds", func() bool {
		status, _ := w.ask(t, http.MethodPost, things+ns+"/things?dryRun=All", "application/json",
			`{"apiVersion":"test.example.org/v1","kind":"Thing","metadata":{"name":"denied"},"spec":{"size":"small","left":"a"}}`)
		return status == http.StatusUnprocessableEntity
	})
}

// TestConflict checks that an update does not overwrite a field that another
// client has taken over.
func TestConflict(t *testing.T) {
	w, c := enterRough(t)
	ns := w.namespace(t, "conflict")
	c.push("conflict", template("conflict", applying(ns)))
	c.form("conflict", "")
	values := parse(t, "{name: one, size: small, cluster: real}")
	c.completes("conflict", values)
	if status, n := w.ask(t, http.MethodPatch, things+ns+"/things/one?fieldManager=operator", "application/merge-patch+json", `{"spec":{"size":"large"}}`); status != http.StatusOK {
		t.Fatalf("cannot change the object: %d %s", status, tree.AppendJSON(nil, n, ""))
	}
	c.fails("conflict", values, `"operator"`, "spec.size")
	if got := w.find(t, things+ns+"/things/one").Get("spec", "size").Str(); got != "large" {
		t.Errorf("size is %s, want large: a field of another owner was overwritten", got)
	}
}

// TestTemplateGone checks that a running task continues with its steps after
// its Template was removed.
func TestTemplateGone(t *testing.T) {
	w, c := enterRough(t)
	ns := w.namespace(t, "template-gone")
	c.push("template-gone", template("template-gone", holdStep("template-gone")+","+applying(ns)))
	c.form("template-gone", "")
	id := c.create("template-gone", parse(t, "{name: one, size: small, cluster: real}"), nil)
	waitForHold(t, "template-gone")
	c.push("template-gone")
	until(t, "the Template is gone", func() bool {
		status, _ := c.send(http.MethodGet, api+"/templates/default/template/template-gone/parameter-schema", nil)
		return status == http.StatusNotFound
	})
	release("template-gone")
	if h := c.follow(id); h.status != "completed" {
		t.Errorf("task is %s, want completed:\n%s", h.status, h.log())
	}
	if w.find(t, things+ns+"/things/one") == nil {
		t.Error("object was not created")
	}
}
