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

// record is what the audit log of the API server says of a request.
type record struct {
	Verb string
	User struct{ Username string }
	// ImpersonatedUser is nil if the request was made by the account itself.
	ImpersonatedUser *struct {
		Username string
		Groups   []string
	}
	ObjectRef      struct{ Resource, Namespace, Name string }
	ResponseStatus struct{ Code int }
}

// audited returns the records of an object that was written, without trials. The
// log is written when a request is over.
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

// TestClusterDecides applies an object to both clusters: where the portal
// decides, and where the cluster does.
func TestClusterDecides(t *testing.T) {
	w := enter(t)
	const (
		portal  = `permissions: [cluster.resource.create]`
		cluster = `The missing RBAC rule: { apiGroups: [\"\"], resources: [\"configmaps\"], verbs: [\"get\"] }`
	)
	cases := map[string]struct {
		reason, who, cluster, namespace string
		// refused are words of the answer; none means that it works.
		refused []string
		// as is who the audit log names beside the account.
		as     string
		groups []string
	}{
		"own":              {"a user in the namespace of their team", ada, sharedCluster, "team-a", nil, "", nil},
		"own, direct":      {"the same, decided by the cluster", ada, directCluster, "team-a", nil, userPrefix + ada, []string{"team-a"}},
		"foreign":          {"a user in the namespace of another team", ada, sharedCluster, "team-b", []string{portal, "team-b"}, "", nil},
		"foreign, direct":  {"the same, decided by the cluster", ada, directCluster, "team-b", []string{cluster, "in namespace team-b"}, "", nil},
		"no role":          {"a user with no role in the namespace of their team", bob, directCluster, "team-b", []string{cluster, "in namespace team-b"}, "", nil},
		"prefix":           {"a group with the prefix of the cluster", bob, prefixedCluster, "team-b", nil, userPrefix + bob, []string{groupPrefix + "team-b"}},
		"system":           {"a user in a namespace of Kubernetes", ada, sharedCluster, "kube-system", []string{portal, "kube-"}, "", nil},
		"system, direct":   {"the same, decided by the cluster", ada, directCluster, "kube-system", []string{cluster}, "", nil},
		"masters":          {"a group that Kubernetes keeps for itself", mallory, directCluster, "team-a", []string{"system:masters"}, "", nil},
		"masters, system":  {"the same where only that group may write", mallory, directCluster, "kube-system", []string{"system:masters"}, "", nil},
		"masters, shared":  {"the group does not count where the portal decides", mallory, sharedCluster, "team-a", []string{portal}, "", nil},
		"hidden masters":   {"the group behind a space, which HTTP drops", trudy, directCluster, "kube-system", []string{"system:masters"}, "", nil},
		"impostor":         {"a person with the name of a service", impostor, directCluster, "team-a", []string{"portal:service:ci"}, "", nil},
		"service":          {"a service by its name", ci, directCluster, "team-a", nil, userPrefix + "portal:service:ci", nil},
		"service, foreign": {"a service that has no role there", ci, directCluster, "team-b", []string{cluster}, "", nil},
		"service, shared":  {"a service where the portal decides", ci, sharedCluster, "team-b", nil, "", nil},
		"operator":         {"an operator has a rule, and no role", olivia, directCluster, "team-a", []string{cluster}, "", nil},
		"operator, shared": {"an operator where the portal decides", olivia, sharedCluster, "kube-public", nil, "", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			object := unique("cluster")
			r := w.as(t, tc.who).run("trusted-apply", applied(t, configMap(tc.namespace, object, ""), `,"cluster":"`+tc.cluster+`"`))
			there := w.find(t, "/api/v1/namespaces/"+tc.namespace+"/configmaps/"+object) != nil
			if len(tc.refused) > 0 {
				if r.status != "refused" || there {
					t.Errorf("%s: the task is %s, and the object is there: %v: %s", tc.reason, r.status, there, r.told)
				}
				for _, s := range tc.refused {
					if !strings.Contains(r.told, s) {
						t.Errorf("%s: the answer does not say %s: %s", tc.reason, s, r.told)
					}
				}
				w.checkRefusal(t, tc.who, tc.cluster)
				return
			}
			if r.status != "completed" || !there {
				t.Fatalf("%s: the task is %s, and the object is there: %v: %s", tc.reason, r.status, there, r.told)
			}
			w.checkAudit(t, tc.reason, w.audited(t, tc.namespace, object), tc.as, tc.groups)
		})
	}
}

// checkRefusal wants the portal's audit log to say that a caller was refused in a
// cluster, by the portal or by the cluster itself.
func (w *world) checkRefusal(t *testing.T, who, cluster string) {
	t.Helper()
	// In a reference a name has no colons.
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
		return false
	})
}

// checkAudit wants every record of a write to name who it was made as.
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
			t.Errorf("%s: the groups of the audit log (-want +got):\n%s", reason, diff)
		}
	}
}

// TestClusterReads reads a resource as the person: the account could.
func TestClusterReads(t *testing.T) {
	w := enter(t)
	name := unique("bucket")
	w.as(t, ada).completes("buckets.storage.example.org", `{"name":"`+name+`","namespace":"team-a","owner":"group:default/team-a","region":"eu-west-1","cluster":"direct"}`)
	filled := api + "/templates/default/template/buckets.storage.example.org-update/parameter-schema?cluster=direct&namespace=team-a&name=" + name
	for who, status := range map[string]int{ada: 200, bob: 400, ci: 200} {
		a := w.as(t, who).do("GET", filled, "")
		if who == bob && a.status != 400 && a.status != 403 || who != bob && a.status != status {
			t.Errorf("%s reads it: %d %s", who, a.status, a.body)
		}
		if who == bob {
			hides(t, a.body, "eu-west-1")
		}
	}
	w.as(t, bob).stopped("buckets.storage.example.org-delete", `{"name":"`+name+`","namespace":"team-a","cluster":"direct","confirm":true}`)
	if w.find(t, "/apis/storage.example.org/v1/namespaces/team-a/buckets/"+name) == nil {
		t.Error("the resource is gone")
	}
}

// TestGuest has a guest use both clusters.
func TestGuest(t *testing.T) {
	w := enter(t)
	guest := w.open.guest(t)
	for _, cluster := range []string{sharedCluster, directCluster} {
		name := unique("guest")
		if r := guest.run("trusted-apply", applied(t, configMap("team-a", name, ""), `,"cluster":"`+cluster+`"`)); r.status != "refused" {
			t.Errorf("a guest acts in cluster %s: %s", cluster, r.told)
		}
		if w.find(t, "/api/v1/namespaces/team-a/configmaps/"+name) != nil {
			t.Errorf("a guest created an object in cluster %s", cluster)
		}
	}
	if a := w.portal.client(t, guest.token).do("GET", "/api/catalog/entities", ""); a.status != 401 && a.status != 403 {
		t.Errorf("the token of a guest counts at a portal without guests: %d %s", a.status, a.body)
	}
	if a := w.portal.client(t, "").do("POST", "/api/auth/guest/refresh", ""); a.status != 403 {
		t.Errorf("a portal without guests welcomes one: %d %s", a.status, a.body)
	}
}
