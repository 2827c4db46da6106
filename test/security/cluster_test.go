package security_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// record is an audit record of the API server.
type record struct {
	Verb string
	User struct{ Username string }
	// ImpersonatedUser is nil if the account made the request without
	// impersonation.
	ImpersonatedUser *struct {
		Username string
		Groups   []string
	}
	ObjectRef      struct{ Resource, Namespace, Name string }
	ResponseStatus struct{ Code int }
}

// audited returns the records of writes of an object, without dry runs. The log
// is written after a request has ended.
func (w *world) audited(t *testing.T, namespace, name string) []record {
	t.Helper()
	var found []record
	until(t, "the audit log has "+namespace+"/"+name, func() bool {
		log, err := os.ReadFile(w.audit)
		if err != nil {
			t.Fatal(err)
		}
		found = nil
		for line := range bytes.Lines(log) {
			var r record
			if json.Unmarshal(line, &r) == nil && r.ObjectRef.Namespace == namespace && r.ObjectRef.Name == name {
				found = append(found, r)
			}
		}
		return len(found) > 0
	})
	return found
}

// TestClusterDecides applies an object to clusters where the portal decides,
// and to clusters that decide themselves by impersonation.
func TestClusterDecides(t *testing.T) {
	w := enter(t)
	const (
		portal  = `permissions: [cluster.resource.create]`
		cluster = `The missing RBAC rule: { apiGroups: [\"\"], resources: [\"configmaps\"], verbs: [\"get\"] }`
	)
	cases := map[string]struct {
		reason, who, cluster, namespace string
		// refused are texts of the error; none means success.
		refused []string
		// as is the impersonated user in the audit log.
		as     string
		groups []string
	}{
		"own":              {"A user may write to the namespace of their team.", ada, sharedCluster, "team-a", nil, "", nil},
		"own, direct":      {"The same is allowed by the RBAC of the cluster.", ada, directCluster, "team-a", nil, userPrefix + ada, []string{"team-a"}},
		"foreign":          {"A user may not write to the namespace of another team.", ada, sharedCluster, "team-b", []string{portal, "team-b"}, "", nil},
		"foreign, direct":  {"The same is denied by the RBAC of the cluster.", ada, directCluster, "team-b", []string{cluster, "in namespace team-b"}, "", nil},
		"no role":          {"A user without a role in the namespace of their team is denied.", bob, directCluster, "team-b", []string{cluster, "in namespace team-b"}, "", nil},
		"prefix":           {"Groups get the configured prefix.", bob, prefixedCluster, "team-b", nil, userPrefix + bob, []string{groupPrefix + "team-b"}},
		"system":           {"A user may not write to a namespace of Kubernetes.", ada, sharedCluster, "kube-system", []string{portal, "kube-"}, "", nil},
		"system, direct":   {"The same is denied by the RBAC of the cluster.", ada, directCluster, "kube-system", []string{cluster}, "", nil},
		"masters":          {"A group that is reserved for Kubernetes is not impersonated.", mallory, directCluster, "team-a", []string{"system:masters"}, "", nil},
		"masters, system":  {"The same holds where only that group may write.", mallory, directCluster, "kube-system", []string{"system:masters"}, "", nil},
		"masters, shared":  {"The group does not count where the portal decides.", mallory, sharedCluster, "team-a", []string{portal}, "", nil},
		"hidden masters":   {"The group with a leading space, which HTTP drops, is not impersonated.", trudy, directCluster, "kube-system", []string{"system:masters"}, "", nil},
		"impostor":         {"A user with the name of a service is not impersonated.", impostor, directCluster, "team-a", []string{"portal:service:ci"}, "", nil},
		"service":          {"A service is impersonated by its name.", ci, directCluster, "team-a", nil, userPrefix + "portal:service:ci", nil},
		"service, foreign": {"A service without a role is denied.", ci, directCluster, "team-b", []string{cluster}, "", nil},
		"service, shared":  {"A service is allowed where the portal decides.", ci, sharedCluster, "team-b", nil, "", nil},
		"operator":         {"An operator with a rule and without a role is denied.", olivia, directCluster, "team-a", []string{cluster}, "", nil},
		"operator, shared": {"An operator is allowed where the portal decides.", olivia, sharedCluster, "kube-public", nil, "", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			object := unique("cluster")
			try := func() result {
				return w.as(t, tc.who).run("trusted-apply", applied(t, configMap(tc.namespace, object, ""), `,"cluster":"`+tc.cluster+`"`))
			}
			r := try()
			there := w.find(t, "/api/v1/namespaces/"+tc.namespace+"/configmaps/"+object) != nil
			if len(tc.refused) > 0 {
				if r.status != "refused" || there {
					t.Errorf("%s: task is %s, want refused; object exists: %v: %s", tc.reason, r.status, there, r.told)
				}
				for _, s := range tc.refused {
					if !strings.Contains(r.told, s) {
						t.Errorf("%s: response does not contain %s: %s", tc.reason, s, r.told)
					}
				}
				w.checkRefusal(t, tc.who, tc.cluster, func() { try() })
				return
			}
			if r.status != "completed" || !there {
				t.Fatalf("%s: task is %s, want completed; object exists: %v: %s", tc.reason, r.status, there, r.told)
			}
			w.checkAudit(t, tc.reason, w.audited(t, tc.namespace, object), tc.as, tc.groups)
		})
	}
}

// checkRefusal checks that the portal's audit log records that a caller was
// refused in a cluster, by the portal or by the cluster. The log suppresses a flood of
// one caller's refusals, which other tests may cause: then the caller tries again.
func (w *world) checkRefusal(t *testing.T, who, cluster string, try func()) {
	t.Helper()
	polls := 0
	// A name in a reference has no colons.
	name, _, _ := strings.Cut(strings.TrimPrefix(who, "service "), ":")
	until(t, "the audit log says that "+who+" was refused in cluster "+cluster, func() bool {
		log, err := os.ReadFile(filepath.Join(w.portal.dir, "audit.log"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(log) {
			var e struct {
				Event, RequestID string
				Actor            struct{ Subject string }
				Target           struct{ Cluster string }
			}
			if json.Unmarshal(line, &e) == nil && e.Event == "permission.refused" && strings.Contains(e.Actor.Subject, name) &&
				e.Target.Cluster == cluster && e.RequestID != "" {
				return true
			}
		}
		if polls++; polls%50 == 0 {
			try()
		}
		return false
	})
}

// checkAudit checks that every record of a write names the impersonated user
// and groups.
func (w *world) checkAudit(t *testing.T, reason string, records []record, as string, groups []string) {
	t.Helper()
	for _, r := range records {
		got, in := "", []string(nil)
		if r.ImpersonatedUser != nil {
			got, in = r.ImpersonatedUser.Username, r.ImpersonatedUser.Groups
			in = slices.DeleteFunc(in, func(g string) bool { return g == "system:authenticated" })
		}
		if got != as {
			t.Errorf("%s: %s was made as %q, want %q", reason, r.Verb, got, as)
		}
		if diff := cmp.Diff(groups, in); diff != "" && len(groups)+len(in) > 0 {
			t.Errorf("%s: groups in the audit log differ (-want +got):\n%s", reason, diff)
		}
	}
}

// TestClusterReads checks that a resource is read with the permissions of the
// user, not of the account.
func TestClusterReads(t *testing.T) {
	w := enter(t)
	name := unique("bucket")
	w.as(t, ada).completes("buckets.storage.example.org", `{"name":"`+name+`","namespace":"team-a","owner":"group:default/team-a","region":"eu-west-1","cluster":"direct"}`)
	filled := api + "/templates/default/template/buckets.storage.example.org-update/parameter-schema?cluster=direct&namespace=team-a&name=" + name
	for who, status := range map[string]int{ada: 200, bob: 400, ci: 200} {
		a := w.as(t, who).do("GET", filled, "")
		if who == bob && a.status != 400 && a.status != 403 || who != bob && a.status != status {
			t.Errorf("read by %s returned %d %s", who, a.status, a.body)
		}
		if who == bob {
			checkAbsent(t, a.body, "eu-west-1")
		}
	}
	w.as(t, bob).stopped("buckets.storage.example.org-delete", `{"name":"`+name+`","namespace":"team-a","cluster":"direct","confirm":true}`)
	if w.find(t, "/apis/storage.example.org/v1/namespaces/team-a/buckets/"+name) == nil {
		t.Error("resource was removed")
	}
}

// TestGuest checks that a guest cannot create objects in either cluster.
func TestGuest(t *testing.T) {
	w := enter(t)
	guest := w.open.guest(t)
	for _, cluster := range []string{sharedCluster, directCluster} {
		name := unique("guest")
		if r := guest.run("trusted-apply", applied(t, configMap("team-a", name, ""), `,"cluster":"`+cluster+`"`)); r.status != "refused" {
			t.Errorf("guest created a task in cluster %s: %s", cluster, r.told)
		}
		if w.find(t, "/api/v1/namespaces/team-a/configmaps/"+name) != nil {
			t.Errorf("guest created an object in cluster %s", cluster)
		}
	}
	if a := w.portal.client(t, guest.token).do("GET", "/api/catalog/entities", ""); a.status != 401 && a.status != 403 {
		t.Errorf("token of a guest at a portal without guests returned %d, want 401 or 403: %s", a.status, a.body)
	}
	if a := w.portal.client(t, "").do("POST", "/api/auth/guest/refresh", ""); a.status != 403 {
		t.Errorf("guest sign-in at a portal without guests returned %d, want 403: %s", a.status, a.body)
	}
}
