package choice

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/identity"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/test/apiserver"
)

// manifests are StorageClasses, namespaces and networks of two teams, a Secret, and a user
// who may list networks of one namespace only.
const manifests = `---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: ssd, labels: {tier: fast}, annotations: {title: Solid state}}, provisioner: example.org/x}
---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: nvme, labels: {tier: fast}}, provisioner: example.org/x}
---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: tape, labels: {tier: slow}}, provisioner: example.org/x}
---
{apiVersion: v1, kind: Namespace, metadata: {name: team-a, annotations: {backstage.io/owner: group:default/a}}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: team-a-test, annotations: {backstage.io/owner: group:default/a}}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: team-b, annotations: {backstage.io/owner: group:default/b}}}
---
{apiVersion: v1, kind: Secret, metadata: {name: hunter2, namespace: team-a}, stringData: {password: hunter2}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: team-a}, data: {password: hunter2}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: networks, namespace: team-a}
rules: [{apiGroups: [platform.example.org], resources: [networks], verbs: [list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: networks, namespace: team-a}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: networks}
subjects: [{kind: User, name: ada, apiGroup: rbac.authorization.k8s.io}]
`

const networks = `---
{apiVersion: platform.example.org/v1, kind: Network, metadata: {name: blue, namespace: team-a}, spec: {vlan: 10, title: Blue net, adminPassword: hunter2}}
---
{apiVersion: platform.example.org/v1, kind: Network, metadata: {name: green, namespace: team-b}, spec: {vlan: 20}}
---
{apiVersion: platform.example.org/v1, kind: Network, metadata: {name: shared, namespace: team-b, annotations: {backstage.io/owner: group:default/a}}, spec: {vlan: many}}
`

// fields are the fields of the form, by name: their types and choices.
var fields = map[string]string{
	"class":     `"type":"string","choices":{"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","labelSelector":"tier=fast","labelPath":"metadata.annotations.title"}`,
	"namespace": `"type":"string","choices":{"apiVersion":"v1","kind":"Namespace"}`,
	"network":   `"type":"string","choices":{"apiVersion":"platform.example.org/v1","kind":"Network"}`,
	"near":      `"type":"string","choices":{"apiVersion":"platform.example.org/v1","kind":"Network","namespace":"form"}`,
	"vlan":      `"type":"integer","choices":{"apiVersion":"platform.example.org/v1","kind":"Network","valuePath":"spec.vlan","labelPath":"spec.title"}`,
	"many":      `"type":"array","items":{"type":"string"},"choices":{"apiVersion":"platform.example.org/v1","kind":"Network"}`,
	"secret":    `"type":"string","choices":{"apiVersion":"v1","kind":"Secret"}`,
	"data":      `"type":"string","choices":{"apiVersion":"v1","kind":"ConfigMap","valuePath":"data.password"}`,
	"password":  `"type":"string","choices":{"apiVersion":"platform.example.org/v1","kind":"Network","valuePath":"spec.adminPassword"}`,
	"absent":    `"type":"string","choices":{"apiVersion":"platform.example.org/v1","kind":"Absent"}`,
	"invalid":   `"type":"string","choices":{"apiVersion":"v1/../x","kind":"Node"}`,
	"maps":      `"type":"string","choices":{"apiVersion":"v1","kind":"ConfigMap","labelSelector":"many=yes"}`,
	"plain":     `"type":"string","other":{}`,
}

// specOf returns the spec of a Template with the fields.
func specOf(withCluster bool) string {
	var all []string
	for name, f := range fields {
		at := strings.LastIndex(f, `,"`)
		if i := strings.Index(f, `,"choices":`); i >= 0 {
			at = i
		}
		all = append(all, fmt.Sprintf(`%q:{%s,"ui:field":"LiveChoices","ui:options":{%s}}`, name, f[:at], f[at+1:]))
	}
	if withCluster {
		all = append(all, `"deliveryCluster":{"type":"string","enum":["plain","strict","down"]}`)
	}
	return `{"parameters":[{"properties":{` + strings.Join(all, ",") + `}}],"steps":[{"action":"cluster:apply","input":{"manifest":{"apiVersion":"platform.example.org/v1","kind":"Shop"}}}]}`
}

// calls counts requests to a cluster, and those that do not ask for metadata only.
type calls struct {
	next       http.RoundTripper
	all, whole *atomic.Int64
}

func (c calls) RoundTrip(r *http.Request) (*http.Response, error) {
	c.all.Add(1)
	if !strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadataList") && r.URL.Query().Has("limit") {
		c.whole.Add(1)
	}
	return c.next.RoundTrip(r)
}

// world is the API with clusters.
type world struct {
	server     *apiserver.Server
	api        *Choices
	all, whole atomic.Int64
}

func newWorld(t *testing.T, rules ...config.PermissionRule) *world {
	t.Helper()
	w := &world{server: apiserver.Start(t, apiserver.Options{CRDs: "none"})}
	w.server.Apply(t, apiserver.CRD("platform.example.org", "Network", "networks", "Namespaced"), manifests)
	w.server.Apply(t, networks)
	connect := func(c source.Cluster) *cluster.Cluster {
		on, err := cluster.Connect(c, cluster.Options{Patience: time.Millisecond, Log: slog.New(slog.DiscardHandler),
			Wrap: func(_ string, next http.RoundTripper) http.RoundTripper { return calls{next, &w.all, &w.whole} }})
		if err != nil {
			t.Fatal(err)
		}
		return on
	}
	clusters := map[string]*cluster.Cluster{
		"plain":  connect(source.Cluster{Name: "plain", Kubeconfig: w.server.Kubeconfig}),
		"strict": connect(source.Cluster{Name: "strict", Kubeconfig: w.server.Kubeconfig, Impersonate: true}),
		"down":   connect(source.Cluster{Name: "down", URL: "https://127.0.0.1:1", CAData: w.server.CA, Token: "x"}),
	}
	templates := map[string]Template{}
	for name, origin := range map[string]string{"shop": permission.OriginDefinition, "single": permission.OriginDefinition, "pushed": permission.OriginPush + "ci"} {
		spec, err := wire.Decoder{}.Decode([]byte(specOf(name != "single")))
		if err != nil {
			t.Fatal(err)
		}
		ref := "template:default/" + name
		templates[ref] = Template{Resource: &permission.Resource{Ref: ref, Kind: "template", Namespace: "default", Origin: origin}, Spec: spec}
	}
	w.api = New(Options{
		Now: time.Now, Policy: permission.New(config.Permission{Enabled: true, Rules: rules}),
		Template: func(_ context.Context, ref string) (Template, error) {
			t, ok := templates[ref]
			if !ok {
				return t, db.ErrNotFound
			}
			return t, nil
		},
		Cluster: func(ctx context.Context, name string) (*cluster.Cluster, error) {
			if name == "" {
				name = "plain"
			}
			on := clusters[name]
			if on == nil || !on.Impersonates() {
				return on, nil
			}
			return on.As(identity.From(ctx).Login, nil)
		},
	})
	return w
}

// member returns a user who is a member of a group of the same letter.
func member(name, group string) identity.Caller {
	return identity.Caller{Kind: identity.User, Subject: "user:default/" + name, Login: name, Ownership: []string{"group:default/" + group}}
}

// ask returns status and body of a response to a caller.
func (w *world) ask(who identity.Caller, query string) (int, string) {
	r := httptest.NewRequest(http.MethodGet, "/choices?"+query, nil)
	r = r.WithContext(identity.With(r.Context(), who))
	rec := httptest.NewRecorder()
	if err := w.api.choices(rec, r); err != nil {
		f := rest.FaultOf(err)
		return f.Status, f.Message
	}
	return rec.Code, rec.Body.String()
}

// values returns the values of a response, and whether there are more.
func values(t *testing.T, body string) (out []string, more bool) {
	t.Helper()
	var r Response
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		t.Fatal(err, body)
	}
	for _, i := range r.Items {
		text := string(i.Value)
		if i.Label != "" {
			text += " " + i.Label
		}
		out = append(out, text)
	}
	return out, r.More
}

// rules let users read StorageClasses.
var rules = []config.PermissionRule{{Who: []string{"user"}, Permissions: []string{permission.ResourceRead}, Kinds: []string{"StorageClass"}, Clusters: []string{"plain"}, Allow: true}}

func TestChoices(t *testing.T) {
	w := newWorld(t, rules...)
	ada, bob, guest := member("ada", "a"), member("bob", "b"), identity.Caller{Kind: identity.Guest, Subject: "user:default/guest"}
	service := identity.Caller{Kind: identity.Service, Subject: "ci"}
	cases := map[string]struct {
		reason string
		who    identity.Caller
		query  string
		status int
		// want are the values, or the beginning of the message.
		want []string
	}{
		"Classes":        {"StorageClasses with a label, with their titles, by a rule.", ada, "field=/class", 200, []string{`"nvme"`, `"ssd" Solid state`}},
		"Search":         {"A search finds values and titles.", ada, "field=/class&search=SOLID", 200, []string{`"ssd" Solid state`}},
		"SearchNothing":  {"A search may find nothing.", ada, "field=/class&search=tape", 200, nil},
		"NamespacesA":    {"The namespaces in which the caller may create the resource.", ada, "field=/namespace", 200, []string{`"team-a"`, `"team-a-test"`}},
		"NamespacesB":    {"Another caller gets others.", bob, "field=/namespace", 200, []string{`"team-b"`}},
		"NamespacesNone": {"A caller with none gets the reason.", member("eve", "e"), "field=/namespace", 403, []string{"Missing permission cluster.resource.create for all Shop objects in cluster plain"}},
		"NetworksA":      {"XRs of another kind: of the caller's namespaces, or its own.", ada, "field=/network", 200, []string{`"blue"`, `"shared"`}},
		"NetworksB":      {"An owner of the object is more specific than that of the namespace.", bob, "field=/network", 200, []string{`"green"`}},
		"NetworksAll":    {"A service may read them all.", service, "field=/network", 200, []string{`"blue"`, `"green"`, `"shared"`}},
		"Near":           {"The namespace of the form.", service, "field=/near&namespace=team-b", 200, []string{`"green"`, `"shared"`}},
		"NearForeign":    {"A namespace of others.", bob, "field=/near&namespace=team-a", 403, []string{"Missing permission cluster.resource.read for all Network objects in cluster plain in namespace team-a"}},
		"NearNone":       {"The namespace of the form must be chosen.", ada, "field=/near", 400, []string{"Choose a namespace first"}},
		"NearPath":       {"A namespace is a name.", ada, "field=/near&namespace=team-a/../..", 400, []string{"Choose a namespace first"}},
		"Integers":       {"Values of another type are left out.", service, "field=/vlan", 200, []string{"10 Blue net", "20"}},
		"List":           {"A list of texts.", bob, "field=/many", 200, []string{`"green"`}},
		"Guest":          {"Guests may not read.", guest, "field=/class&cluster=plain", 403, []string{"Missing permission"}},
		"Pushed":         {"The author of a pushed Template does not choose what the portal's account lists.", ada, "template=pushed&field=/network", 403, []string{"Missing permission cluster.resource.read for all Network objects"}},
		"Impersonated":   {"A cluster decides for the user.", ada, "field=/near&namespace=team-a&cluster=strict", 200, []string{`"blue"`}},
		"Lacks":          {"A user without the right gets the reason.", ada, "field=/network&cluster=strict", 403, []string{"No permission to list networks in cluster strict"}},
		"LacksAll":       {"Another one too.", bob, "field=/near&namespace=team-a&cluster=strict", 403, []string{"No permission to list networks in cluster strict"}},
		"Down":           {"A cluster that does not answer, without its address.", ada, "field=/class&cluster=down", 503, []string{"Cluster down cannot be reached"}},
		"OtherCluster":   {"A cluster that the form does not offer.", ada, "field=/class&cluster=other", 404, []string{"The form does not offer cluster other"}},
		"NoCluster":      {"The cluster must be chosen.", ada, "field=/class&cluster=", 400, []string{"Choose a cluster first"}},
		"Single":         {"A form that does not ask uses the cluster of its steps.", ada, "template=single&field=/class&cluster=down", 200, []string{`"nvme"`, `"ssd" Solid state`}},
		"NoTemplate":     {"No such Template.", ada, "template=none&field=/class", 404, []string{"Template template:default/none not found"}},
		"NotTemplate":    {"Another kind of entity.", ada, "template=component:default/shop&field=/class", 404, []string{"Template component:default/shop not found"}},
		"NoField":        {"No such field.", ada, "field=/nothing", 404, []string{"template:default/shop has no field /nothing with live choices"}},
		"PlainField":     {"A field without choices.", ada, "field=/plain", 404, []string{"template:default/shop has no field /plain"}},
		"NoFieldGiven":   {"The field is required.", ada, "x=y", 400, []string{"request/query must have required property 'field'"}},
		"Secret":         {"Secrets are refused, also to a service.", service, "field=/secret", 403, []string{"Field /secret has choices that are never shown: objects of kind Secret hold secrets"}},
		"Data":           {"Data of ConfigMaps is refused.", service, "field=/data", 403, []string{"Field /data has choices that are never shown"}},
		"Password":       {"Passwords are refused.", service, "field=/password", 403, []string{"Field /password has choices that are never shown"}},
		"OtherKind":      {"A request does not choose the kind.", ada, "field=/class&kind=Secret&apiVersion=v1&valuePath=data&labelSelector=", 200, []string{`"nvme"`, `"ssd" Solid state`}},
		"Absent":         {"A kind that the cluster does not serve.", ada, "field=/absent", 404, []string{"Cluster plain does not have this kind of object"}},
		"Invalid":        {"A Template with invalid choices.", ada, "field=/invalid", 404, []string{"Field /invalid has no valid choices"}},
		"Twice":          {"A parameter is given once.", ada, "field=/class&search=a&search=b", 400, []string{"request/query/search must be string"}},
		"Long":           {"A parameter is short.", ada, "field=/class&search=" + strings.Repeat("a", 2000), 400, []string{"request/query/search must NOT have more than 1024 characters"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			q, err := url.ParseQuery(tc.query)
			if err != nil {
				t.Fatal(err)
			}
			for key, byDefault := range map[string]string{"template": "shop", "cluster": "plain"} {
				if !q.Has(key) {
					q.Set(key, byDefault)
				}
			}
			status, body := w.ask(tc.who, q.Encode())
			if status != tc.status {
				t.Fatalf("%s Got %d %s", tc.reason, status, body)
			}
			for _, hidden := range []string{"hunter2", "127.0.0.1", w.server.URL} {
				if strings.Contains(body, hidden) {
					t.Errorf("%s Response contains %s: %s", tc.reason, hidden, body)
				}
			}
			if status != 200 {
				if !strings.HasPrefix(body, tc.want[0]) {
					t.Errorf("%s Got %s", tc.reason, body)
				}
				return
			}
			got, _ := values(t, body)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestClusterIn reads the cluster of a form, and not a field of its definition that has the
// same name as the one of other forms.
func TestClusterIn(t *testing.T) {
	const (
		delivery = `"deliveryCluster":{"type":"string","enum":["dev"]}`
		plain    = `"cluster":{"type":"string","enum":["dev"]}`
	)
	cases := map[string]struct {
		reason, fields, input, name string
		// want is the cluster, or the message.
		want string
	}{
		"Delivery":     {"A generated form asks for the cluster.", delivery, `"${{ parameters.deliveryCluster }}"`, "dev", "dev"},
		"Proposed":     {"It does so too if no step reads it.", delivery, `null`, "", "Choose a cluster first: request/query must have required property 'cluster'"},
		"Both":         {"A field of the definition is not the one that is reserved.", delivery + "," + plain, `"${{ parameters.deliveryCluster }}"`, "prod", "The form does not offer cluster prod"},
		"Field":        {"A definition may have a field of that name.", plain, `null`, "", ""},
		"FieldGiven":   {"Its value is no cluster.", plain, `null`, "prod", ""},
		"FieldInName":  {"A step may use it for anything else.", plain, `"east-${{ parameters.cluster }}"`, "dev", ""},
		"Written":      {"A Template written by hand passes it to a step.", plain, `"${{ parameters.cluster }}"`, "dev", "dev"},
		"WrittenDense": {"Spaces do not matter.", plain, `"${{parameters.cluster}}"`, "", "Choose a cluster first: request/query must have required property 'cluster'"},
		"WrittenOther": {"It must be one that the form offers.", plain, `"${{ parameters.cluster }}"`, "prod", "The form does not offer cluster prod"},
		"None":         {"A form without a field uses that of its steps.", `"size":{}`, `"${{ parameters.cluster }}"`, "prod", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			spec, err := wire.Decoder{}.Decode([]byte(`{"parameters":[{"properties":{` + tc.fields + `}}],"steps":[{"action":"debug:log"},{"action":"cluster:apply","input":{"cluster":` + tc.input + `}}]}`))
			if err != nil {
				t.Fatal(err)
			}
			got, err := clusterIn(spec, tc.name)
			if err != nil {
				got = rest.FaultOf(err).Message
			}
			if got != tc.want {
				t.Errorf("%s Got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestDefaultPolicy checks that without a rule users do not read kinds of the cluster
// itself, and that the reason names a rule.
func TestDefaultPolicy(t *testing.T) {
	w := newWorld(t)
	status, body := w.ask(member("ada", "a"), "template=shop&field=/class&cluster=plain")
	if status != 403 || !strings.Contains(body, "Missing permission cluster.resource.read for StorageClass objects in cluster plain") || !strings.Contains(body, `kinds: ["StorageClass"]`) {
		t.Errorf("got %d %s", status, body)
	}
}

// TestMany lists many objects: bounded, in little time, with metadata only, and once for
// several requests.
func TestMany(t *testing.T) {
	w := newWorld(t)
	const many = 5000
	var b strings.Builder
	for i := range many {
		fmt.Fprintf(&b, "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: map-%05d, namespace: team-a, labels: {many: \"yes\"}}}\n", i)
	}
	w.server.Apply(t, b.String())
	ada := member("ada", "a")
	began, before, whole := time.Now(), w.all.Load(), w.whole.Load()
	status, body := w.ask(ada, "template=shop&field=/maps&cluster=plain")
	took := time.Since(began)
	if status != 200 {
		t.Fatalf("got %d %s", status, body)
	}
	got, more := values(t, body)
	if len(got) != mostItems || !more || len(body) > 64<<10 || took > 15*time.Second {
		t.Errorf("got %d values (more: %v), %d bytes in %v", len(got), more, len(body), took)
	}
	first := w.all.Load() - before
	if first > 16 || w.whole.Load() != whole {
		t.Errorf("made %d requests, %d of them for whole objects", first, w.whole.Load()-whole)
	}
	status, body = w.ask(ada, "template=shop&field=/maps&cluster=plain&search=map-04999")
	if got, more := values(t, body); status != 200 || !cmp.Equal(got, []string{`"map-04999"`}) || more {
		t.Errorf("a search returns %d %v (more: %v)", status, got, more)
	}
	if status, body := w.ask(member("bob", "b"), "template=shop&field=/maps&cluster=plain"); status != 403 {
		t.Errorf("what is kept was shown to another caller: %d %s", status, body)
	}
	if again := w.all.Load() - before; again != first {
		t.Errorf("three requests made %d calls, and the first %d", again, first)
	}
	t.Logf("%d objects: %d requests, %v", many, first, took.Round(time.Millisecond))
}
