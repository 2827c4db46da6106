package security_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// configMap is a ConfigMap in YAML's flow style; metadata is added to its own.
func configMap(namespace, name, metadata string) string {
	return `{apiVersion: v1, kind: ConfigMap, metadata: {name: ` + name + `, namespace: ` + namespace + metadata + `}, data: {by: attacker}}`
}

// namespaceObject is a Namespace with an owner.
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

// TestForeignNamespace has ada of team-a create objects where, or with an owner,
// that is not theirs, through Templates of the operator that apply what the form
// says.
func TestForeignNamespace(t *testing.T) {
	w := enter(t)
	name := unique("foreign")
	text := func(s string) string { return quote(t, s) }
	cases := map[string]struct{ reason, manifest, more string }{
		"kube-system": {"a namespace of Kubernetes", configMap("kube-system", name, ""), ""},
		"cluster-admin": {"a role over the whole cluster, with an owner", `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: ` + name +
			`, annotations: {backstage.io/owner: "group:default/team-a"}}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ada}]}`, ""},
		"role": {"a role in the team's own namespace", `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: ` + name +
			`, namespace: team-a}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ada}]}`, ""},
		"namespace":           {"a namespace of the team's own", `{apiVersion: v1, kind: Namespace, metadata: {name: ` + name + `, annotations: {backstage.io/owner: "group:default/team-a"}}}`, ""},
		"kube-public":         {"another one", configMap("kube-public", name, ""), ""},
		"other team":          {"the namespace of another team", configMap("team-b", name, ""), ""},
		"step namespace":      {"the namespace beside the manifest", `{apiVersion: v1, kind: ConfigMap, metadata: {name: ` + name + `}, data: {}}`, `,"namespace":"team-b"`},
		"default":             {"a namespace without an owner", configMap("ownerless", name, ""), ""},
		"no such":             {"a namespace that is not there", configMap("nowhere", name, ""), ""},
		"claimed":             {"another team's namespace, as an owner of the object", configMap("team-b", name, `, annotations: {backstage.io/owner: "group:default/team-a"}`), ""},
		"claimed system":      {"a namespace of Kubernetes, as an owner of the object", configMap("kube-system", name, `, annotations: {backstage.io/owner: "group:default/team-a"}`), ""},
		"capitals":            {"a namespace in capitals", configMap("KUBE-SYSTEM", name, ""), ""},
		"space":               {"a namespace with a space", configMap(`" team-b"`, name, ""), ""},
		"escape":              {"a namespace that leads out of its path", configMap(`"team-a/../team-b"`, name, ""), ""},
		"escaped":             {"an escaped slash", configMap(`"team-a%2F..%2Fteam-b"`, name, ""), ""},
		"long s":              {"a letter that folds to s", configMap(`"kube-ſystem"`, name, ""), ""},
		"owner":               {"the owner is another team", configMap("team-a", name, owned), ""},
		"owner alone":         {"without kind and namespace", configMap("team-a", name, `, annotations: {backstage.io/owner: team-b}`), ""},
		"owner capitals":      {"in capitals", configMap("team-a", name, `, annotations: {backstage.io/owner: "GROUP:Default/TEAM-B"}`), ""},
		"owner spelling":      {"in the other spelling of the key", configMap("team-a", name, `, annotations: {portal.io/owner: "group:default/team-b"}`), ""},
		"owner user":          {"the owner is a person", configMap("team-a", name, `, annotations: {backstage.io/owner: "user:default/bob"}`), ""},
		"list":                {"the second of a List", `{apiVersion: v1, kind: List, items: [` + configMap("team-a", name, "") + `, ` + configMap("team-b", name, "") + `]}`, ""},
		"other list":          {"a List by another name", `{apiVersion: v1, kind: ConfigMapList, items: [` + configMap("team-b", name, "") + `]}`, ""},
		"nested list":         {"a List in a List", `{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: List, items: [` + configMap("team-b", name, "") + `]}]}`, ""},
		"array":               {"the second of an array", `[` + configMap("team-a", name, "") + `, ` + configMap("team-b", name, "") + `]`, ""},
		"documents":           {"the second document of a text", text(configMap("team-a", name, "") + "\n---\n" + configMap("team-b", name, "")), ""},
		"duplicate key":       {"a namespace that is written twice", text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: team-a, namespace: team-b}\n"), ""},
		"merge key":           {"a namespace from an alias", text("apiVersion: v1\nkind: ConfigMap\nx: &x {namespace: team-b}\nmetadata: {name: " + name + ", <<: *x}\n"), ""},
		"Namespace":           {"a Namespace that another team owns, with a new owner", `[` + namespaceObject("team-b", "group:default/team-a") + `, ` + configMap("team-b", name, "") + `]`, ""},
		"Namespace alone":     {"the same without anything in it", namespaceObject("team-b", "group:default/team-a"), ""},
		"Namespace of none":   {"a Namespace that has no owner", namespaceObject("ownerless", "group:default/team-a"), ""},
		"Namespace of system": {"a Namespace of Kubernetes", namespaceObject("kube-system", "group:default/team-a"), ""},
		"new system":          {"a new Namespace that looks like one of Kubernetes", namespaceObject("kube-"+name, "group:default/team-a"), ""},
		"new foreign":         {"a new Namespace for another team", namespaceObject(name, "group:default/team-b"), ""},
		"new of none":         {"a new Namespace without an owner", `{apiVersion: v1, kind: Namespace, metadata: {name: ` + name + `}}`, ""},
		"claimed Namespace":   {"a custom kind Namespace that claims one", `[{apiVersion: example.org/v1, kind: Namespace, metadata: {name: nowhere, annotations: {backstage.io/owner: team-a}}}, ` + configMap("nowhere", name, "") + `]`, ""},
		"cluster role":        {"a kind that lives in no namespace, without an owner", `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: ` + name + `}, rules: []}`, ""},
		"version path":        {"a version that leads elsewhere", `{apiVersion: "v1/../../api/v1", kind: ConfigMap, metadata: {name: ` + name + `, namespace: team-b}}`, ""},
		"group v1":            {"a group that is none", `{apiVersion: "/v1", kind: ConfigMap, metadata: {name: ` + name + `, namespace: team-b}}`, ""},
		"subresource":         {"a kind of a subresource", `{apiVersion: v1, kind: Eviction, metadata: {name: ` + name + `, namespace: team-b}}`, ""},
		"kind path":           {"a kind that is a path", `{apiVersion: v1, kind: "configmaps/` + name + `", metadata: {name: x, namespace: team-b}}`, ""},
		"name path":           {"a name that is a path", `{apiVersion: v1, kind: ConfigMap, metadata: {name: "../../team-b/configmaps/x", namespace: team-a}}`, ""},
		"binding":             {"a role for oneself in another namespace", `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: ` + name + `, namespace: team-b}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}, subjects: []}`, ""},
	}
	for caseName, tc := range cases {
		t.Run(caseName, func(t *testing.T) {
			t.Parallel()
			c := w.as(t, ada)
			c.stopped("trusted-apply", applied(t, tc.manifest, tc.more))
			if tc.more == "" {
				// What cannot be known before the task runs is refused when it does.
				c.stopped("trusted-late", `{"manifests":[`+asJSON(t, tc.manifest)+`]}`)
			}
			for _, path := range []string{
				"/api/v1/namespaces/kube-system/configmaps/" + name, "/api/v1/namespaces/kube-public/configmaps/" + name, configMaps + name,
				"/api/v1/namespaces/ownerless/configmaps/" + name, "/api/v1/namespaces/" + name, "/api/v1/namespaces/kube-" + name,
				"/apis/rbac.authorization.k8s.io/v1/clusterroles/" + name, "/apis/rbac.authorization.k8s.io/v1/namespaces/team-b/rolebindings/" + name,
			} {
				if w.find(t, path) != nil {
					t.Errorf("%s: there is %s", tc.reason, path)
				}
			}
			for name, owner := range map[string]string{"team-b": "group:default/team-b", "ownerless": "", "kube-system": ""} {
				if got := w.find(t, "/api/v1/namespaces/"+name).Get("metadata", "annotations", "backstage.io/owner").Str(); got != owner {
					t.Errorf("%s: namespace %s is owned by %q", tc.reason, name, got)
				}
			}
		})
	}
}

// TestOwnNamespace creates what a user may create, and looks at who the object
// says created it, whatever the manifest claims.
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
		t.Errorf("what is created names who asked for it (-want +got):\n%s", diff)
	}
	w.as(t, ada).completes("trusted-apply", applied(t, configMap("team-a", name, forged), `,"update":true`))
	if diff := cmp.Diff(want, annotations()); diff != "" {
		t.Errorf("an update keeps who created it (-want +got):\n%s", diff)
	}
	w.as(t, ada).completes("trusted-delete", `{"kind":"ConfigMap","namespace":"team-a","name":"`+name+`"}`)
}

// TestForeignResource has ada read, update, delete and take over resources of
// team-b: in the namespace of that team, and one in the namespace of team-a.
func TestForeignResource(t *testing.T) {
	w := enter(t)
	name := unique("bucket")
	values := `{"name":"` + name + `","namespace":"team-b","owner":"group:default/team-b","region":"eu-west-1","cluster":"shared"}`
	b, a := w.as(t, bob), w.as(t, ada)
	b.completes("buckets.storage.example.org", values)
	const path = "/apis/storage.example.org/v1/namespaces/team-b/buckets/"
	if w.find(t, path+name) == nil {
		t.Fatal("a team creates a resource of its own, and there is none")
	}
	filled := api + "/templates/default/template/buckets.storage.example.org-update/parameter-schema?cluster=shared&namespace=team-b&name=" + name
	b.want(http.StatusOK, http.MethodGet, filled, "")
	hides(t, a.want(http.StatusForbidden, http.MethodGet, filled, "").body, "eu-west-1")
	// What is not there is answered like what is there.
	a.want(http.StatusForbidden, http.MethodGet, strings.Replace(filled, name, "nothing", 1), "")
	a.stopped("buckets.storage.example.org-update", `{"name":"`+name+`","namespace":"team-b","cluster":"shared","versioning":true}`, "cluster.resource.update")
	a.stopped("buckets.storage.example.org-delete", `{"name":"`+name+`","namespace":"team-b","cluster":"shared","confirm":true}`, "cluster.resource.delete")
	a.stopped("buckets.storage.example.org", values, "cluster.resource.")
	if n := w.find(t, path+name); n == nil || n.Get("spec", "versioning").IsTrue() {
		t.Error("the resource of another team was changed")
	}

	// An object of team-b in the namespace of team-a: its own owner counts.
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
			t.Errorf("%s: the task is %s: %s", what, r.status, r.told)
		}
	}
	if got := w.find(t, "/api/v1/namespaces/team-a/configmaps/"+guest).Get("metadata", "annotations", "backstage.io/owner").Str(); got != "group:default/team-b" {
		t.Errorf("the owner is %q now", got)
	}
}

// TestTakeOver takes over what the portal did not make.
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
		t.Errorf("it is by %s now", got)
	}
	w.as(t, ci).completes("trusted-take-over", applied(t, configMap("team-a", name, ""), ""))
}

// TestUntrustedTemplates has Templates that the operator did not write act in the
// namespace of the caller's team.
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
			t.Errorf("a Template with the name of a trusted one is tried out: %d %s", dry.status, dry.body)
		}
	}
	for _, provider := range []string{"location:static:x", "definition:x", "xrdTemplates", "Location", "..", "a%2Fb"} {
		if a := w.as(t, bob).push(provider, template(unique("untrusted"), "", step)); a.status == http.StatusOK {
			t.Errorf("the provider %s takes a push: %s", provider, a.body)
		}
	}
	if w.find(t, "/api/v1/namespaces/team-a/configmaps/"+name) != nil {
		t.Error("an untrusted Template created an object")
	}
}
