package live_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/source/cluster/live"
	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/xrd/composed"
)

// parts is how many ConfigMaps the composite composes.
const parts = 500

// objects are a composite that composes many ConfigMaps, a nested composite, a kind that
// is not served, an object that does not exist and a Secret.
func objects() string {
	var refs, b strings.Builder
	for i := range parts {
		fmt.Fprintf(&refs, "      - {apiVersion: v1, kind: ConfigMap, name: part-%03d}\n", i)
		fmt.Fprintf(&b, "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: part-%03d, namespace: team-a, labels: {crossplane.io/composite: invoices}}}\n", i)
	}
	return `---
{apiVersion: v1, kind: Namespace, metadata: {name: team-a}}
---
{apiVersion: v1, kind: Secret, metadata: {name: credentials, namespace: team-a}, stringData: {password: hunter2}}
---
{apiVersion: platform.example.org/v1, kind: Network, metadata: {name: shared}, spec: {resourceRefs: []}, status: {conditions: [{type: Ready, status: "False", reason: Creating, message: no free range}]}}
---
{apiVersion: platform.example.org/v1, kind: Database, metadata: {name: db, namespace: team-a}, spec: {crossplane: {resourceRefs: [{apiVersion: platform.example.org/v1, kind: Network, name: shared}]}}}
---
apiVersion: platform.example.org/v1
kind: Database
metadata: {name: invoices-x7k, namespace: team-a, labels: {crossplane.io/composite: invoices}}
spec: {crossplane: {resourceRefs: [{apiVersion: v1, kind: ConfigMap, name: part-000}, {apiVersion: v1, kind: ConfigMap, name: part-001}, {apiVersion: v1, kind: ConfigMap, name: part-002}]}}
---
apiVersion: platform.example.org/v1
kind: Shop
metadata: {name: invoices, namespace: team-a}
spec:
  crossplane:
    resourceRefs:
      - {apiVersion: platform.example.org/v1, kind: Database, name: db}
      - {apiVersion: platform.example.org/v1, kind: Gone, name: g}
      - {apiVersion: v1, kind: Secret, name: credentials}
      - {apiVersion: v1, kind: ConfigMap, name: not-yet}
` + refs.String() + b.String()
}

// uid returns the uid of an object.
func uid(t *testing.T, s *apiserver.Server, ref composed.Ref) string {
	t.Helper()
	resp, err := s.Client().Get(s.URL + "/apis/" + ref.APIVersion + "/namespaces/" + ref.Namespace + "/" + strings.ToLower(ref.Kind) + "s/" + ref.Name)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var o struct{ Metadata struct{ UID string } }
	if err := json.NewDecoder(resp.Body).Decode(&o); err != nil || o.Metadata.UID == "" {
		t.Fatalf("cannot read %s: %s %v", ref, resp.Status, err)
	}
	return o.Metadata.UID
}

func TestReader(t *testing.T) {
	s := apiserver.Start(t, apiserver.Options{CRDs: "none"})
	const group = "platform.example.org"
	s.Apply(t, apiserver.CRD(group, "Shop", "shops", "Namespaced"), apiserver.CRD(group, "Database", "databases", "Namespaced"), apiserver.CRD(group, "Network", "networks", "Cluster"))
	s.Apply(t, objects())
	root := composed.Ref{APIVersion: "platform.example.org/v1", Kind: "Shop", Namespace: "team-a", Name: "invoices"}

	connect := func(t *testing.T, c source.Cluster) (*cluster.Cluster, *bytes.Buffer) {
		t.Helper()
		var log bytes.Buffer
		c.Name = "test"
		on, err := cluster.Connect(c, cluster.Options{Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
		if err != nil {
			t.Fatal(err)
		}
		return on, &log
	}
	t.Run("Tree", func(t *testing.T) {
		on, log := connect(t, source.Cluster{Kubeconfig: s.Kubeconfig})
		n, err := composed.Build(t.Context(), live.NewReader(on, live.NewKinds(time.Now)), root, composed.Options{Most: 2 * parts})
		if err != nil {
			t.Fatal(err)
		}
		states := map[string]int{}
		for _, c := range n.Children {
			states[c.Ref.Kind+" "+string(c.State)]++
		}
		want := map[string]int{"ConfigMap present": parts, "ConfigMap missing": 1, "Database present": 1, "Gone unreadable": 1, "Secret present": 1}
		if diff := cmp.Diff(want, states); diff != "" {
			t.Errorf("states of the parts (-want +got):\n%s", diff)
		}
		if got, want := n.Why().String(), "Database db → Network shared: no free range"; got != want {
			t.Errorf("reason is %q, want %q", got, want)
		}
		// One request for each version, kind and namespace, and for the events of each
		// namespace; and one for the ConfigMap that the list does not have.
		if calls := strings.Count(log.String(), "msg=call "); calls > 11 {
			t.Errorf("made %d calls:\n%s", calls, log)
		}
	})
	t.Run("Nested", func(t *testing.T) {
		nested := composed.Ref{APIVersion: "platform.example.org/v1", Kind: "Database", Namespace: "team-a", Name: "invoices-x7k"}
		s.Apply(t, fmt.Sprintf(`
apiVersion: v1
kind: Event
metadata: {name: invoices-x7k.1, namespace: team-a}
involvedObject: {apiVersion: platform.example.org/v1, kind: Database, name: invoices-x7k, namespace: team-a, uid: %s}
type: Warning
reason: ComposeResources
message: quota exceeded
count: 4
firstTimestamp: "2026-11-01T08:00:00Z"
lastTimestamp: "2026-11-01T09:00:00Z"
`, uid(t, s, nested)))
		on, log := connect(t, source.Cluster{Kubeconfig: s.Kubeconfig})
		n, err := composed.Build(t.Context(), live.NewReader(on, live.NewKinds(time.Now)), nested, composed.Options{})
		if err != nil {
			t.Fatal(err)
		}
		// What a nested composite composes has the label of the outermost one.
		if gets := strings.Count(log.String(), "/configmaps/"); gets > 0 || len(n.Children) != 3 {
			t.Errorf("read %d of %d parts one by one:\n%s", gets, len(n.Children), log)
		}
		want := &composed.Event{Type: "Warning", Reason: "ComposeResources", Message: "quota exceeded", Count: 4, Last: time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)}
		if diff := cmp.Diff(want, n.Event); diff != "" {
			t.Errorf("last event (-want +got):\n%s", diff)
		}
	})
	t.Run("NotCreated", func(t *testing.T) {
		var refs strings.Builder
		for i := range parts {
			fmt.Fprintf(&refs, "{apiVersion: v1, kind: ConfigMap, name: later-%03d}, ", i)
		}
		s.Apply(t, "{apiVersion: platform.example.org/v1, kind: Shop, metadata: {name: coming, namespace: team-a}, spec: {crossplane: {resourceRefs: ["+refs.String()+"{apiVersion: v1, kind: ConfigMap, name: part-000}]}}}\n")
		on, log := connect(t, source.Cluster{Kubeconfig: s.Kubeconfig})
		coming := root
		coming.Name = "coming"
		n, err := composed.Build(t.Context(), live.NewReader(on, live.NewKinds(time.Now)), coming, composed.Options{Most: 2 * parts})
		if err != nil {
			t.Fatal(err)
		}
		states := map[composed.State]int{}
		for _, c := range n.Children {
			states[c.State]++
		}
		if diff := cmp.Diff(map[composed.State]int{composed.Present: 1, composed.Missing: parts}, states); diff != "" {
			t.Errorf("states of the parts (-want +got):\n%s", diff)
		}
		if calls := strings.Count(log.String(), "msg=call "); calls > 8 {
			t.Errorf("made %d calls:\n%s", calls, log)
		}
	})
	t.Run("Hostile", func(t *testing.T) {
		long := strings.Repeat("x", 10_000)
		s.Apply(t, `
apiVersion: platform.example.org/v1
kind: Shop
metadata: {name: hostile, namespace: team-a}
spec:
  crossplane:
    resourceRefs:
      - {apiVersion: v1, kind: Service, name: web/proxy/delete}
      - {apiVersion: v1, kind: Service, name: "web%2Fproxy"}
      - {apiVersion: v1, kind: ConfigMap, name: ..}
      - {apiVersion: v1, kind: ConfigMap, namespace: "team-a/services/web/proxy?x=", name: a}
      - {apiVersion: v1/../.., kind: ConfigMap, name: a}
      - {apiVersion: ../v1, kind: ConfigMap, name: a}
      - {apiVersion: v1, kind: `+long+`, name: a}
      - {apiVersion: v1, kind: ConfigMap, name: `+long+`}
`)
		on, log := connect(t, source.Cluster{Kubeconfig: s.Kubeconfig})
		hostile := root
		hostile.Name = "hostile"
		n, err := composed.Build(t.Context(), live.NewReader(on, live.NewKinds(time.Now)), hostile, composed.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(n.Children) != 8 {
			t.Errorf("tree has %d parts, want 8", len(n.Children))
		}
		for _, c := range n.Children {
			if c.State != composed.Unreadable || !strings.Contains(c.Problem, "no valid") || len(c.Ref.Kind)+len(c.Ref.Name) > 600 {
				t.Errorf("%.80s is %s: %s", c.Ref, c.State, c.Problem)
			}
		}
		// Nothing but the composite, its kind and its events is read.
		if calls := strings.Count(log.String(), "msg=call "); calls > 3 {
			t.Errorf("made %d calls:\n%s", calls, log)
		}
	})
	t.Run("WithoutNamespace", func(t *testing.T) {
		s.Apply(t, "{apiVersion: platform.example.org/v1, kind: Network, metadata: {name: global}, spec: {resourceRefs: [{apiVersion: v1, kind: ConfigMap, name: part-000}, {apiVersion: v1, kind: ConfigMap, name: part-001}]}}\n")
		on, log := connect(t, source.Cluster{Kubeconfig: s.Kubeconfig})
		n, err := composed.Build(t.Context(), live.NewReader(on, live.NewKinds(time.Now)), composed.Ref{APIVersion: "platform.example.org/v1", Kind: "Network", Name: "global"}, composed.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range n.Children {
			if c.State != composed.Unreadable {
				t.Errorf("%s is %s: %s", c.Ref, c.State, c.Problem)
			}
		}
		if strings.Contains(log.String(), "/configmaps") {
			t.Errorf("the ConfigMaps of all namespaces were listed:\n%s", log)
		}
	})
	t.Run("Forbidden", func(t *testing.T) {
		s.Apply(t, `---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: reader, namespace: team-a}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: team-a}
rules: [{apiGroups: [platform.example.org], resources: [shops], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader, namespace: team-a}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{kind: ServiceAccount, name: reader, namespace: team-a}]
`)
		on, _ := connect(t, source.Cluster{URL: s.URL, CAData: s.CA, Token: source.Secret(s.Token(t, "team-a", "reader"))})
		n, err := composed.Build(t.Context(), live.NewReader(on, live.NewKinds(time.Now)), root, composed.Options{Most: 2 * parts})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range n.Children {
			if c.Ref.Kind != "Gone" && (c.State != composed.Forbidden || !strings.Contains(c.Problem, "resources: [")) {
				t.Fatalf("%s is %s: %s", c.Ref, c.State, c.Problem)
			}
		}
	})
	t.Run("Down", func(t *testing.T) {
		on, _ := connect(t, source.Cluster{URL: "https://127.0.0.1:1", CAData: s.CA, Token: "x"})
		_, err := composed.Build(t.Context(), live.NewReader(on, live.NewKinds(time.Now)), root, composed.Options{})
		if e, ok := errors.AsType[*cluster.Error](err); !ok || e.Reason != cluster.Unreachable {
			t.Errorf("got %v, want an unreachable cluster", err)
		}
	})
}
