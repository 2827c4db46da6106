package service_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.dev/ingestor/internal/plan"
	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/crossplane"
)

// stores is an XRD with claims, whose Composition composes an object with a fixed name in a
// fixed namespace.
const stores = `apiVersion: apiextensions.crossplane.io/v1
kind: CompositeResourceDefinition
metadata: {name: xstores.legacy.example.org}
spec:
  group: legacy.example.org
  names: {kind: XStore, plural: xstores}
  claimNames: {kind: Store, plural: stores}
  versions:
    - name: v1
      served: true
      referenceable: true
      schema:
        openAPIV3Schema:
          type: object
          properties: {spec: {type: object, properties: {size: {type: integer}}}}
---
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: stores}
spec:
  compositeTypeRef: {apiVersion: legacy.example.org/v1, kind: XStore}
  mode: Pipeline
  pipeline:
    - step: compose
      functionRef: {name: function-patch-and-transform}
      input:
        apiVersion: pt.fn.crossplane.io/v1beta1
        kind: Resources
        resources:
          - name: map
            base: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: theirs}, data: {a: b}}
            readinessChecks: [{type: None}]
`

// TestPlanAccess asks for plans of what the caller may and may not read, in a cluster where
// the portal decides, and in one that decides itself by impersonation.
func TestPlanAccess(t *testing.T) {
	s := apiserver.Start(t, apiserver.Options{CRDs: "none"})
	core := crossplane.Start(t, s)
	core.Define(t, crossplane.Definitions, stores)
	s.Apply(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: shops}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: theirs}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: theirs}\ndata: {a: secret-value}\n")
	program, err := core.Program()
	if err != nil {
		t.Fatal(err)
	}
	w := start(t, setup{sections: sections{
		"composerIngestor": sections{"clusters": []any{
			sections{"name": "decided", "kubeconfig": s.Kubeconfig}, sections{"name": "deciding", "kubeconfig": s.Kubeconfig, "impersonate": "user"},
		}},
		"plan": sections{"program": program},
		"permission": sections{"rules": []any{
			sections{"permissions": []string{"cluster.resource.read"}, "namespaces": []string{"theirs"}, "result": "deny"},
		}},
	}})
	ask := func(t *testing.T, cluster, manifest string) (int, *plan.Plan, string) {
		t.Helper()
		body, err := json.Marshal(sections{"cluster": cluster, "manifest": manifest})
		if err != nil {
			t.Fatal(err)
		}
		var got plan.Plan
		status, err := w.ask(http.MethodPost, "/api/composer-ingestor/plan", strings.NewReader(string(body)), &got)
		return status, &got, fmt.Sprint(err)
	}
	const shop = "apiVersion: shops.example.org/v1\nkind: Shop\nmetadata: {name: books, namespace: shops}\nspec: {title: Books, pods: 5}\n"
	const store = "apiVersion: legacy.example.org/v1\nkind: Store\nmetadata: {name: music, namespace: shops}\nspec: {size: 3}\n"

	if status, got, says := ask(t, "decided", shop); status != http.StatusOK || got.Counts.Create != 5 {
		t.Errorf("a plan in an allowed namespace is %d, %s: %s", status, got.Counts, says)
	}
	if status, _, says := ask(t, "decided", strings.Replace(shop, "namespace: shops", "namespace: theirs", 1)); status != http.StatusForbidden || !strings.Contains(says, "cluster.resource.read") {
		t.Errorf("a plan in a forbidden namespace is %d: %s", status, says)
	}
	status, got, says := ask(t, "decided", store)
	if status != http.StatusOK || got.Counts.Uncertain != 1 || got.Counts.Create+got.Counts.Change != 0 {
		t.Errorf("a plan of an object that the caller may not read is %d, %s: %s", status, got.Counts, says)
	}
	if text, err := json.Marshal(got); err != nil || strings.Contains(string(text), "secret-value") || !strings.Contains(fmt.Sprint(got.Unknown), "you may not read it") {
		t.Errorf("the plan shows what the caller may not read: %s: %v", text, err)
	}

	t.Run("Role", func(t *testing.T) { planWithRoles(t, s, program) })
	if status, _, says := ask(t, "deciding", shop); status != http.StatusForbidden || !strings.Contains(says, "permission") {
		t.Errorf("a plan as a user without a role is %d: %s", status, says)
	}
	s.Apply(t, "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: caller}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}\nsubjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: \"portal:service:tests\"}]\n")
	w.until("the role of the caller", func() error {
		if status, got, says := ask(t, "deciding", shop); status != http.StatusOK || got.Counts.Create != 5 {
			return fmt.Errorf("a plan as a user with a role is %d, %s: %s", status, got.Counts, says)
		}
		return nil
	})
}

// planWithRoles checks that the roles that the project ships suffice for plans, and that no
// plan is made without the one for them.
func planWithRoles(t *testing.T, s *apiserver.Server, program string) {
	s.Apply(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: composer-ingestor}\n---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: composer-ingestor, namespace: composer-ingestor}\n")
	for _, name := range []string{"rbac.yaml", "rbac-composed.yaml"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "deploy", name))
		if err != nil {
			t.Fatal(err)
		}
		s.Apply(t, strings.NewReplacer(`"platform.example.org"`, `"shops.example.org"`, `"provider.example.org"`, `"shops.example.org"`).Replace(string(text)))
	}
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(s.Token(t, "composer-ingestor", "composer-ingestor")), 0o600); err != nil {
		t.Fatal(err)
	}
	w := start(t, setup{sections: sections{
		"composerIngestor": sections{"clusters": []any{reader("limited", s, file)}}, "plan": sections{"program": program},
	}})
	body, err := json.Marshal(sections{"cluster": "limited", "manifest": "apiVersion: shops.example.org/v1\nkind: Shop\nmetadata: {name: books, namespace: shops}\nspec: {title: Books, pods: 5}\n"})
	if err != nil {
		t.Fatal(err)
	}
	var got plan.Plan
	try := func() (int, error) {
		return w.ask(http.MethodPost, "/api/composer-ingestor/plan", strings.NewReader(string(body)), &got)
	}
	w.until("a plan that lacks a role", func() error {
		if status, err := try(); status != http.StatusForbidden || !strings.Contains(err.Error(), "compositionrevisions") {
			return fmt.Errorf("got %d, %w", status, err)
		}
		return nil
	})
	s.Apply(t, filepath.Join("..", "..", "deploy", "rbac-plan.yaml"))
	w.until("a plan", func() error {
		if status, err := try(); status != http.StatusOK || got.Counts.Create != 5 {
			return fmt.Errorf("got %d, %s: %w", status, got.Counts, err)
		}
		return nil
	})
}
