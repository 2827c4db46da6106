package security_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// configMap returns a ConfigMap in YAML flow style; metadata is added to its
// own.
func configMap(namespace, name, metadata string) string {
	return `{apiVersion: v1, kind: ConfigMap, metadata: {name: ` + name + `, namespace: ` + namespace + metadata + `}, data: {by: attacker}}`
}

// namespaceObject returns a Namespace with an owner.
func namespaceObject(name, owner string) string {
	return `{apiVersion: v1, kind: Namespace, metadata: {name: ` + name + `, annotations: {backstage.io/owner: "` + owner + `"}}}`
}

// applied returns the values of a Template that applies a manifest.
func applied(t *testing.T, manifest, more string) string {
	t.Helper()
	return `{"manifest":` + asJSON(t, manifest) + more + `}`
}

const (
	owned      = `, annotations: {backstage.io/owner: "group:default/team-b"}`
	configMaps = "/api/v1/namespaces/team-b/configmaps/"
)

// TestForeignNamespace checks that ada of team-a cannot create objects in
// namespaces of others, or with other owners, through Templates of the operator
// that apply the values of the form.
func TestForeignNamespace(t *testing.T) {
	w := enter(t)
	name := unique("foreign")
	text := func(s string) string { return quote(t, s) }
	cases := map[string]struct{ reason, manifest, more string }{
		"kube-system": {"A user cannot write to a namespace of Kubernetes.", configMap("kube-system", name, ""), ""},
		"cluster-admin": {"An owner annotation does not allow a cluster-wide role.", `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: ` + name +
			`, annotations: {backstage.io/owner: "group:default/team-a"}}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ada}]}`, ""},
		"role": {"A user cannot grant roles in the namespace of their team.", `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: ` + name +
			`, namespace: team-a}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ada}]}`, ""},
		"namespace":           {"A user cannot create a namespace for their team.", `{apiVersion: v1, kind: Namespace, metadata: {name: ` + name + `, annotations: {backstage.io/owner: "group:default/team-a"}}}`, ""},
		"kube-public":         {"A user cannot write to another namespace of Kubernetes.", configMap("kube-public", name, ""), ""},
		"other team":          {"A user cannot write to the namespace of another team.", configMap("team-b", name, ""), ""},
		"step namespace":      {"A namespace in the step's input is checked like one in the manifest.", `{apiVersion: v1, kind: ConfigMap, metadata: {name: ` + name + `}, data: {}}`, `,"namespace":"team-b"`},
		"default":             {"A user cannot write to a namespace without an owner.", configMap("ownerless", name, ""), ""},
		"no such":             {"A namespace that does not exist is refused.", configMap("nowhere", name, ""), ""},
		"claimed":             {"The owner of an object does not override the owner of its namespace.", configMap("team-b", name, `, annotations: {backstage.io/owner: "group:default/team-a"}`), ""},
		"claimed system":      {"The owner of an object does not open a namespace of Kubernetes.", configMap("kube-system", name, `, annotations: {backstage.io/owner: "group:default/team-a"}`), ""},
		"capitals":            {"The case of a namespace does not matter.", configMap("KUBE-SYSTEM", name, ""), ""},
		"space":               {"A namespace with a space is refused.", configMap(`" team-b"`, name, ""), ""},
		"escape":              {"A namespace with a path traversal is refused.", configMap(`"team-a/../team-b"`, name, ""), ""},
		"escaped":             {"A namespace with escaped slashes is refused.", configMap(`"team-a%2F..%2Fteam-b"`, name, ""), ""},
		"long s":              {"A namespace with a letter that folds to s is refused.", configMap(`"kube-ſystem"`, name, ""), ""},
		"owner":               {"A user cannot create an object for another team.", configMap("team-a", name, owned), ""},
		"owner alone":         {"An owner without kind and namespace is resolved.", configMap("team-a", name, `, annotations: {backstage.io/owner: team-b}`), ""},
		"owner capitals":      {"The case of an owner does not matter.", configMap("team-a", name, `, annotations: {backstage.io/owner: "GROUP:Default/TEAM-B"}`), ""},
		"owner spelling":      {"The owner annotation is checked in both vocabularies.", configMap("team-a", name, `, annotations: {portal.io/owner: "group:default/team-b"}`), ""},
		"owner user":          {"A user cannot create an object for another user.", configMap("team-a", name, `, annotations: {backstage.io/owner: "user:default/bob"}`), ""},
		"list":                {"Every item of a List is checked.", `{apiVersion: v1, kind: List, items: [` + configMap("team-a", name, "") + `, ` + configMap("team-b", name, "") + `]}`, ""},
		"other list":          {"A List of another kind is checked.", `{apiVersion: v1, kind: ConfigMapList, items: [` + configMap("team-b", name, "") + `]}`, ""},
		"nested list":         {"A List inside a List is checked.", `{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: List, items: [` + configMap("team-b", name, "") + `]}]}`, ""},
		"array":               {"Every item of an array is checked.", `[` + configMap("team-a", name, "") + `, ` + configMap("team-b", name, "") + `]`, ""},
		"documents":           {"Every document of a text is checked.", text(configMap("team-a", name, "") + "\n---\n" + configMap("team-b", name, "")), ""},
		"duplicate key":       {"A duplicate namespace key is refused.", text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: team-a, namespace: team-b}\n"), ""},
		"merge key":           {"A namespace from a YAML merge key is checked.", text("apiVersion: v1\nkind: ConfigMap\nx: &x {namespace: team-b}\nmetadata: {name: " + name + ", <<: *x}\n"), ""},
		"Namespace":           {"A user cannot change the owner of another team's Namespace and then write to it.", `[` + namespaceObject("team-b", "group:default/team-a") + `, ` + configMap("team-b", name, "") + `]`, ""},
		"Namespace alone":     {"A user cannot change the owner of another team's Namespace.", namespaceObject("team-b", "group:default/team-a"), ""},
		"Namespace of none":   {"A user cannot become the owner of a Namespace without an owner.", namespaceObject("ownerless", "group:default/team-a"), ""},
		"Namespace of system": {"A user cannot become the owner of a Namespace of Kubernetes.", namespaceObject("kube-system", "group:default/team-a"), ""},
		"new system":          {"A user cannot create a Namespace with a name reserved for Kubernetes.", namespaceObject("kube-"+name, "group:default/team-a"), ""},
		"new foreign":         {"A user cannot create a Namespace for another team.", namespaceObject(name, "group:default/team-b"), ""},
		"new of none":         {"A user cannot create a Namespace without an owner.", `{apiVersion: v1, kind: Namespace, metadata: {name: ` + name + `}}`, ""},
		"claimed Namespace":   {"A custom kind named Namespace makes no namespace writable.", `[{apiVersion: example.org/v1, kind: Namespace, metadata: {name: nowhere, annotations: {backstage.io/owner: team-a}}}, ` + configMap("nowhere", name, "") + `]`, ""},
		"cluster role":        {"A cluster-scoped object needs an owner.", `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: ` + name + `}, rules: []}`, ""},
		"version path":        {"An apiVersion with a path traversal is refused.", `{apiVersion: "v1/../../api/v1", kind: ConfigMap, metadata: {name: ` + name + `, namespace: team-b}}`, ""},
		"group v1":            {"An empty API group is refused.", `{apiVersion: "/v1", kind: ConfigMap, metadata: {name: ` + name + `, namespace: team-b}}`, ""},
		"subresource":         {"The kind of a subresource is refused.", `{apiVersion: v1, kind: Eviction, metadata: {name: ` + name + `, namespace: team-b}}`, ""},
		"kind path":           {"A kind that is a path is refused.", `{apiVersion: v1, kind: "configmaps/` + name + `", metadata: {name: x, namespace: team-b}}`, ""},
		"name path":           {"A name that is a path is refused.", `{apiVersion: v1, kind: ConfigMap, metadata: {name: "../../team-b/configmaps/x", namespace: team-a}}`, ""},
		"binding":             {"A user cannot grant roles in another namespace.", `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: ` + name + `, namespace: team-b}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}, subjects: []}`, ""},
	}
	for caseName, tc := range cases {
		t.Run(caseName, func(t *testing.T) {
			t.Parallel()
			c := w.as(t, ada)
			c.stopped("trusted-apply", applied(t, tc.manifest, tc.more))
			if tc.more == "" {
				// What cannot be decided when the task is created is refused
				// when it runs.
				c.stopped("trusted-late", `{"manifests":[`+asJSON(t, tc.manifest)+`]}`)
			}
			for _, path := range []string{
				"/api/v1/namespaces/kube-system/configmaps/" + name, "/api/v1/namespaces/kube-public/configmaps/" + name, configMaps + name,
				"/api/v1/namespaces/ownerless/configmaps/" + name, "/api/v1/namespaces/" + name, "/api/v1/namespaces/kube-" + name,
				"/apis/rbac.authorization.k8s.io/v1/clusterroles/" + name, "/apis/rbac.authorization.k8s.io/v1/namespaces/team-b/rolebindings/" + name,
			} {
				if w.find(t, path) != nil {
					t.Errorf("%s: object %s was created", tc.reason, path)
				}
			}
			for name, owner := range map[string]string{"team-b": "group:default/team-b", "ownerless": "", "kube-system": ""} {
				if got := w.find(t, "/api/v1/namespaces/"+name).Get("metadata", "annotations", "backstage.io/owner").Str(); got != owner {
					t.Errorf("%s: owner of namespace %s is %q now", tc.reason, name, got)
				}
			}
		})
	}
}

// TestOwnNamespace checks that a user can create objects for their team, and
// that the annotations name the real creator, whatever the manifest claims.
func TestOwnNamespace(t *testing.T) {
	w := enter(t)
	name := unique("own")
	forged := `, annotations: {example.dev/requested-by: "user:default/bob", example.dev/task: forged, example.dev/from-template: "template:default/other", backstage.io/owner: "group:default/team-a", mine: "yes"}`
	r := w.as(t, ada).completes("trusted-apply", applied(t, configMap("team-a", name, forged), ""))
	annotations := func() map[string]string {
		return w.find(t, "/api/v1/namespaces/team-a/configmaps/"+name).Get("metadata", "annotations").StringMap()
	}
	want := map[string]string{
		"example.dev/requested-by": "user:default/ada", "example.dev/task": r.id, "example.dev/from-template": "template:default/trusted-apply",
		"backstage.io/owner": "group:default/team-a", "mine": "yes",
	}
	if diff := cmp.Diff(want, annotations()); diff != "" {
		t.Errorf("annotations of the created object differ (-want +got):\n%s", diff)
	}
	w.as(t, ada).completes("trusted-apply", applied(t, configMap("team-a", name, forged), `,"update":true`))
	if diff := cmp.Diff(want, annotations()); diff != "" {
		t.Errorf("annotations after an update differ (-want +got):\n%s", diff)
	}
	w.as(t, ada).completes("trusted-delete", `{"kind":"ConfigMap","namespace":"team-a","name":"`+name+`"}`)
}

// TestForeignResource checks that ada cannot read, update, delete or take over
// resources of team-b: in the namespace of that team, and one in the namespace
// of team-a.
func TestForeignResource(t *testing.T) {
	w := enter(t)
	name := unique("bucket")
	values := `{"name":"` + name + `","namespace":"team-b","owner":"group:default/team-b","region":"eu-west-1","cluster":"shared"}`
	b, a := w.as(t, bob), w.as(t, ada)
	b.completes("buckets.storage.example.org", values)
	const path = "/apis/storage.example.org/v1/namespaces/team-b/buckets/"
	if w.find(t, path+name) == nil {
		t.Fatal("resource of the team was not created")
	}
	filled := api + "/templates/default/template/buckets.storage.example.org-update/parameter-schema?cluster=shared&namespace=team-b&name=" + name
	b.want(http.StatusOK, http.MethodGet, filled, "")
	checkAbsent(t, a.want(http.StatusForbidden, http.MethodGet, filled, "").body, "eu-west-1")
	// A missing object gets the same response as an existing one.
	a.want(http.StatusForbidden, http.MethodGet, strings.Replace(filled, name, "nothing", 1), "")
	a.stopped("buckets.storage.example.org-update", `{"name":"`+name+`","namespace":"team-b","cluster":"shared","versioning":true}`, "cluster.resource.update")
	a.stopped("buckets.storage.example.org-delete", `{"name":"`+name+`","namespace":"team-b","cluster":"shared","confirm":true}`, "cluster.resource.delete")
	a.stopped("buckets.storage.example.org", values, "cluster.resource.")
	if n := w.find(t, path+name); n == nil || n.Get("spec", "versioning").IsTrue() {
		t.Error("resource of another team was changed")
	}

	// The object is of team-b in the namespace of team-a: the owner of the
	// object decides.
	guest := unique("guest")
	w.as(t, ci).completes("trusted-apply", applied(t, configMap("team-a", guest, owned), ""))
	for what, r := range map[string]result{
		"update":     a.run("trusted-apply", applied(t, configMap("team-a", guest, ""), `,"update":true`)),
		"apply":      a.run("trusted-apply", applied(t, configMap("team-a", guest, ""), "")),
		"take owner": a.run("trusted-apply", applied(t, configMap("team-a", guest, `, annotations: {backstage.io/owner: "group:default/team-a"}`), "")),
		"delete":     a.run("trusted-delete", `{"kind":"ConfigMap","namespace":"team-a","name":"`+guest+`"}`),
		"namespace":  a.run("trusted-delete", `{"kind":"Namespace","name":"team-b"}`),
		"system":     a.run("trusted-delete", `{"kind":"Namespace","name":"ownerless"}`),
	} {
		if r.status != "refused" && r.status != "failed" {
			t.Errorf("%s: task is %s, want it refused or failed: %s", what, r.status, r.told)
		}
	}
	if got := w.find(t, "/api/v1/namespaces/team-a/configmaps/"+guest).Get("metadata", "annotations", "backstage.io/owner").Str(); got != "group:default/team-b" {
		t.Errorf("owner is %q now", got)
	}
}

// TestTakeOver checks that a user cannot take over objects that the portal did
// not create.
func TestTakeOver(t *testing.T) {
	w := enter(t)
	name := unique("foreign")
	if status, n := w.ask(t, http.MethodPost, "/api/v1/namespaces/team-a/configmaps?fieldManager=helm", `{"metadata":{"name":"`+name+`"},"data":{"by":"helm"}}`); status != http.StatusCreated {
		t.Fatalf("%d %v", status, n)
	}
	pushed := unique("take-over")
	w.as(t, ada).pushed("granted", template(pushed, "", `{id: apply, action: "kubernetes:apply", input: {takeOver: true, manifest: `+configMap("team-a", name, "")+`}}`))
	forced := unique("take-over")
	w.as(t, ada).pushed("granted", template(forced, "", `{id: apply, action: "kubernetes:apply", input: {takeOver: "${{ 'x' == 'x' }}", manifest: `+configMap("team-a", name, "")+`}}`))
	for _, who := range []string{ada, bob} {
		c := w.as(t, who)
		c.stopped("trusted-take-over", applied(t, configMap("team-a", name, ""), ""), "cluster.resource.")
		c.stopped(pushed, "{}", "cluster.resource.")
		c.stopped(forced, "{}", "cluster.resource.")
		c.stopped("trusted-apply", applied(t, configMap("team-a", name, ""), ""))
	}
	if got := w.find(t, "/api/v1/namespaces/team-a/configmaps/"+name).Get("data", "by").Str(); got != "helm" {
		t.Errorf("object was taken over: by is %s, want helm", got)
	}
	w.as(t, ci).completes("trusted-take-over", applied(t, configMap("team-a", name, ""), ""))
}

// TestUntrustedTemplates checks that Templates that the operator did not write
// cannot create objects, not even in the namespace of the caller's team.
func TestUntrustedTemplates(t *testing.T) {
	w := enter(t)
	name := unique("untrusted")
	step := `{id: apply, action: ACTION, input: {manifest: ` + configMap("team-a", name, "") + `}}`
	for _, action := range []string{"kubernetes:apply", "cluster:apply"} {
		steps := strings.ReplaceAll(step, "ACTION", quote(t, action))
		for _, provider := range []string{"granted", "some", "definition", "config", "generated", "push", "static"} {
			made := unique("untrusted")
			w.as(t, bob).pushed(provider, template(made, "", steps))
			w.as(t, ada).stopped(made, "{}", "not trusted")
		}
		registered := unique("untrusted")
		locate(w.as(t, ada), "", "url", w.pages.put(template(registered, "", steps)))
		w.as(t, ada).stopped(registered, "{}", "not trusted")
		dry := w.as(t, ada).do(http.MethodPost, api+"/dry-run", `{"template":`+asJSON(t, template("trusted-apply", "", steps))+`,"values":{}}`)
		if dry.status != http.StatusForbidden {
			t.Errorf("dry run of a Template with the name of a trusted one returned %d, want 403: %s", dry.status, dry.body)
		}
	}
	for _, provider := range []string{"location:static:x", "definition:x", "xrdTemplates", "Location", "..", "a%2Fb"} {
		if a := w.as(t, bob).push(provider, template(unique("untrusted"), "", step)); a.status == http.StatusOK {
			t.Errorf("provider %s accepted a push: %s", provider, a.body)
		}
	}
	if w.find(t, "/api/v1/namespaces/team-a/configmaps/"+name) != nil {
		t.Error("untrusted Template created an object")
	}
}
