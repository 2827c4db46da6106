package service_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/test/apiserver"
)

// both returns the sections of variant B for a cluster, with further settings
// and sections.
func both(at sections, settings, others sections) sections {
	out := sections{
		"clusterIngestor": settings,
		"orchestrator": sections{
			"serviceLocatorMethod":  sections{"type": "multiTenant"},
			"clusterLocatorMethods": []any{sections{"type": "config", "clusters": []any{at}}},
		},
	}
	for name, section := range others {
		out[name] = section
	}
	return out
}

// variantBRefs returns the references of the entities that variant B makes of a
// definition with version v1 and others.
func variantBRefs(plural string, more ...string) []string {
	out := []string{resource(plural)}
	for _, version := range append([]string{"v1"}, more...) {
		out = append(out, template(plural)+"-"+version, "api:default/"+plural+"."+group+"-"+version+"-api")
	}
	return out
}

// versioned adds two versions to a definition: one that is served, and one that
// is not.
func versioned(definition string) string {
	const at = "    - name: v1\n"
	_, first, _ := strings.Cut(definition, at)
	other := func(name, served string) string {
		return "    - name: " + name + "\n" + strings.Replace(strings.Replace(first, "served: true", "served: "+served, 1), "referenceable: true", "referenceable: false", 1)
	}
	return strings.TrimRight(definition, "\n") + "\n" + other("v1beta1", "true") + other("v1alpha1", "false")
}

// v1Definition returns a definition of apiextensions v1, whose composites are
// cluster-scoped.
func v1Definition(definition string) string {
	out := strings.Replace(definition, "apiextensions.crossplane.io/v2", "apiextensions.crossplane.io/v1", 1)
	return strings.Replace(out, "  scope: Namespaced\n", "", 1)
}

// workload returns a workload of a kind, with a label.
func workload(kind, name, label, id string) string {
	version, pod := "apps/v1", `{metadata: {labels: {app: x}}, spec: {restartPolicy: Always, containers: [{name: main, image: example.org/main}]}}`
	once := strings.Replace(pod, "Always", "Never", 1)
	spec := fmt.Sprintf("{selector: {matchLabels: {app: x}}, template: %s}", pod)
	switch kind {
	case "StatefulSet":
		spec = fmt.Sprintf("{serviceName: x, selector: {matchLabels: {app: x}}, template: %s}", pod)
	case "CronJob":
		version, spec = "batch/v1", fmt.Sprintf("{schedule: '@daily', jobTemplate: {spec: {template: %s}}}", once)
	case "Job":
		version, spec = "batch/v1", fmt.Sprintf("{template: %s}", once)
	}
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: %s, namespace: shop, labels: {%s: %s}}\nspec: %s\n", version, kind, name, label, id, spec)
}

// Labels of workloads in each vocabulary.
const (
	idUpstream = "backstage.io/kubernetes-id"
	idContract = "portal.io/cluster-id"
)

// TestVariantB tests variant B end to end.
func TestVariantB(t *testing.T) {
	t.Parallel()
	c := apiserver.Start(t, apiserver.Options{XRCRDs: true, Apply: []string{
		versioned(formed("alphas", "true")), formed("betas", "True"), formed("gammas", "false"), formed("deltas", "yes"),
		v1Definition(formed("epsilons", "true")), definition("zetas", "one"),
		composite("mine", "alphas"),
		workload("Deployment", "front", idUpstream, "front"), workload("StatefulSet", "state", idUpstream, "state"),
		workload("DaemonSet", "daemon", idContract, "daemon"), workload("CronJob", "cron", idUpstream, "cron"),
		workload("Job", "job", idContract, "job"), workload("Deployment", "none", "app", "none"),
	}})
	t.Run("chooses exactly", func(t *testing.T) { checkSelection(t, c) })
	t.Run("is described by the environment", func(t *testing.T) { fromEnvironment(t, c) })
	t.Run("may only list", func(t *testing.T) { mayOnlyList(t, c) })
	t.Run("has workloads", func(t *testing.T) { hasWorkloads(t, c) })
}

// everySecond returns settings that scan definitions and workloads every second.
func everySecond(xrds sections) sections {
	every := sections{"frequency": 1}
	xrds["taskRunner"] = every
	return sections{"components": sections{"taskRunner": every}, "composer": sections{"xrds": xrds}}
}

func checkSelection(t *testing.T, c *apiserver.Server) {
	exact := start(t, setup{sections: both(cluster("prod", c), everySecond(sections{}), nil)})
	all := start(t, setup{sections: both(cluster("prod", c), everySecond(sections{"ingestAllXRDs": true}), nil)})
	const own = "kind=template"
	exact.waitForRefs(own, template("alphas")+"-v1", template("alphas")+"-v1beta1")
	all.waitForRefs(own, template("alphas")+"-v1", template("alphas")+"-v1beta1", formedRef("betas"), formedRef("deltas"))
	exact.waitForRefs("kind=api", variantBRefs("alphas", "v1beta1")[2], variantBRefs("alphas", "v1beta1")[4])

	var mine []string
	exact.until("the composite", func() (err error) {
		if mine, err = exact.refs("kind=resource,spec.type=crossplane-xr"); err == nil && len(mine) != 1 {
			err = fmt.Errorf("composites are %v, want one", mine)
		}
		return err
	})
	got := exact.entity(mine[0]).Metadata.Annotations
	for key, want := range map[string]string{"xr-name": "mine", "xr-apiversion": group + "/v1", "xr-kind": "Xalpha"} {
		if got["crossplane.terasky.io/"+key] != want {
			t.Errorf("%s is %q, want %q", key, got["crossplane.terasky.io/"+key], want)
		}
	}

	// Labels are changed, and versions added and removed.
	c.Apply(t, formed("betas", "true"), formed("alphas", "true"))
	exact.waitForRefs(own, formedRef("alphas"), formedRef("betas"))
	c.Apply(t, formed("betas", "false"), versioned(formed("alphas", "true")))
	exact.waitForRefs(own, template("alphas")+"-v1", template("alphas")+"-v1beta1")
	all.waitForRefs(own, template("alphas")+"-v1", template("alphas")+"-v1beta1", formedRef("deltas"))
	exact.wantHealth("healthy", map[string]string{"prod": "connected"})
}

// fromEnvironment configures the cluster by environment variables only, with a
// token that has the role the project ships.
func fromEnvironment(t *testing.T, c *apiserver.Server) {
	ca := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(ca, c.CA, 0o600); err != nil {
		t.Fatal(err)
	}
	c.Apply(t, "../../deploy/rbac.yaml")
	token := c.Token(t, "composer-ingestor", "composer-ingestor")
	p := launch(t, setup{sections: sections{"clusterIngestor": sections{}}, environment: []string{
		"ORCHESTRATOR_API_URL=" + c.URL, "ORCHESTRATOR_CLUSTER_NAME=elsewhere",
		"ORCHESTRATOR_SERVICE_ACCOUNT_TOKEN=" + token, "ORCHESTRATOR_CA_FILE=" + ca,
	}}).ready()
	p.waitForRefs("kind=template", template("alphas")+"-v1", template("alphas")+"-v1beta1")
	p.waitForRefs("kind=component", components("cron", "daemon", "front", "job", "state")...)
	p.wantHealth("healthy", map[string]string{"elsewhere": "connected"})
	var clusters struct {
		Items []struct{ Name, AuthProvider string }
	}
	if _, err := p.get("/api/orchestrator/clusters", &clusters); err != nil || len(clusters.Items) != 1 || clusters.Items[0].Name != "elsewhere" {
		t.Errorf("clusters are %v (error %v), want elsewhere", clusters, err)
	}
	if strings.Contains(p.log.String(), token) {
		t.Error("log contains the token")
	}
	p.stop()
}

// mayOnlyList grants the service only the permission that the contract
// requires: to list definitions.
func mayOnlyList(t *testing.T, c *apiserver.Server) {
	token := c.Token(t, "portal", "lister")
	c.Apply(t, `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: lister}
rules: [{apiGroups: [apiextensions.crossplane.io], resources: [compositeresourcedefinitions], verbs: [list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: lister}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: lister}
subjects: [{kind: ServiceAccount, name: lister, namespace: portal}]
`)
	at := sections{"name": "prod", "url": c.URL, "caData": base64.StdEncoding.EncodeToString(c.CA), "serviceAccountToken": token}
	s := start(t, setup{sections: both(at, sections{
		"components": sections{"enabled": false}, "composer": sections{"xrds": sections{"taskRunner": sections{"frequency": 1}}},
	}, nil)})
	s.waitForRefs("kind=template", template("alphas")+"-v1", template("alphas")+"-v1beta1")
	c.Apply(t, formed("gammas", "true"))
	s.waitForRefs("kind=template", template("alphas")+"-v1", template("alphas")+"-v1beta1", formedRef("gammas"))
	c.Apply(t, formed("gammas", "false"))
	s.waitForRefs("kind=template", template("alphas")+"-v1", template("alphas")+"-v1beta1")
	// Resources that the service may not read are not tracked, and that is not
	// an error.
	s.wantHealth("healthy", map[string]string{"prod": "connected"})
	s.stop()
}

// components returns the references of Components.
func components(ids ...string) (refs []string) {
	for _, id := range ids {
		refs = append(refs, "component:default/"+id)
	}
	return refs
}

// counted returns the numbers of workloads that the service has logged.
func (s *service) counted() (numbers []string) {
	for line := range strings.Lines(s.log.String()) {
		if _, rest, ok := strings.Cut(line, `"numOfCustomResources":`); ok {
			numbers = append(numbers, strings.TrimRight(rest, "}\n"))
		}
	}
	return numbers
}

func hasWorkloads(t *testing.T, c *apiserver.Server) {
	const source = "clusterIngestor/prod/workloads"
	s := start(t, setup{sections: both(cluster("prod", c), everySecond(sections{"enabled": false}), nil)})
	s.waitForRefs("", components("cron", "daemon", "front", "job", "state")...)
	front := s.entity("component:default/front").Metadata.Annotations
	if front[idUpstream] != "front" || front["backstage.io/kubernetes-namespace"] != "shop" {
		t.Errorf("annotations of the Component front are %v", front)
	}
	if daemon := s.entity("component:default/daemon").Metadata.Annotations; daemon[idContract] != "daemon" || daemon["portal.io/cluster-namespace"] != "shop" {
		t.Errorf("annotations of the Component daemon are %v", daemon)
	}
	// Two workloads with the same id make one Component; it stays when one of
	// them is deleted.
	c.Apply(t, workload("Deployment", "back", idUpstream, "front"))
	s.until("the description", func() error {
		if s.entity("component:default/front") == nil || !strings.Contains(string(s.raw("component:default/front")), "back, front") {
			return errors.New("description does not name both workloads")
		}
		return nil
	})
	c.Delete(t, workload("Deployment", "front", idUpstream, "front"), workload("Job", "job", idContract, "job"))
	s.waitForRefs("", components("cron", "daemon", "front", "state")...)
	since := time.Now()
	s.until("more scans", func() error {
		for _, h := range s.health().Sources {
			if h.Name == source && h.LastAttempt.After(since.Add(time.Second)) {
				return nil
			}
		}
		return errors.New("no further scan was made")
	})
	// Scans without changes are not recorded as runs, as there is one every few
	// seconds.
	if runs, err := s.runs(source); err != nil || len(begunSince(runs, since.Add(time.Second))) > 0 {
		t.Errorf("scans without changes are among the runs, error %v", err)
	}
	if got := s.counted(); !slices.Equal(got, []string{"5", "6", "4"}) && !slices.Equal(got, []string{"5", "6", "5", "4"}) {
		t.Errorf("numbers of workloads in the log are %v", got)
	}
	said := s.counted()
	before := s.waitUntilStable()

	c.Kill()
	s.wantHealth("unhealthy", map[string]string{"prod": "unreachable"})
	s.waitForRefs("", components("cron", "daemon", "front", "state")...)
	for ref, stamp := range s.stamps("") {
		if uid, _, _ := strings.Cut(before[ref], " "); !strings.HasPrefix(stamp, uid+" ") {
			t.Errorf("uid of %s changed: stamp is %q, was %q", ref, stamp, before[ref])
		}
	}
	if got := s.counted(); !slices.Equal(got, said) {
		t.Errorf("log says %v while the number of workloads is unknown", got)
	}
	c.Restart(t)
	s.wantHealth("healthy", map[string]string{"prod": "connected"})
	s.until("nothing is stale", func() error {
		for ref, stamp := range s.stamps("") {
			if stamp != before[ref] {
				return fmt.Errorf("stamp of %s is %q, was %q", ref, stamp, before[ref])
			}
		}
		return nil
	})
}

// raw returns an entity as it is served.
func (s *service) raw(ref string) []byte {
	s.t.Helper()
	kind, rest, _ := strings.Cut(ref, ":")
	var out json.RawMessage
	if _, err := s.get("/api/catalog/entities/by-name/"+kind+"/"+rest, &out); err != nil {
		s.t.Fatal(err)
	}
	return out
}
