package service_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/test/apiserver"
)

// setCondition sets a condition of a definition, as Crossplane does.
func setCondition(t *testing.T, c *apiserver.Server, plural, typ, status, reason, message string) {
	t.Helper()
	amend(t, c, plural, "/status", fmt.Sprintf(`{"status":{"conditions":[{"type":%q,"status":%q,"reason":%q,"message":%q,"lastTransitionTime":%q}]}}`,
		typ, status, reason, message, time.Now().UTC().Format(time.RFC3339)))
}

// unserved returns the annotation of an entity that lists the clusters that do
// not serve it.
func (s *service) unserved(ref string) string {
	s.t.Helper()
	e := s.entity(ref)
	if e == nil {
		return "no such entity"
	}
	return e.Metadata.Annotations["crossplane.io/unserved"]
}

// asks creates a task of a Template in a cluster, and returns the status and
// the error of the response.
func (s *service) asks(plural, cluster, name string) (int, string) {
	s.t.Helper()
	body := fmt.Sprintf(`{"templateRef":%q,"values":{"name":%q,"namespace":"default","deliveryCluster":%q}}`, template(plural), name, cluster)
	status, err := s.ask(http.MethodPost, "/api/scaffolder/v2/tasks", strings.NewReader(body), nil)
	if err != nil {
		return status, err.Error()
	}
	return status, ""
}

// dryRun makes a dry run of a Template that is sent without its annotations.
func (s *service) dryRun(plural, cluster string) (int, string) {
	s.t.Helper()
	e := s.document(template(plural))
	meta := e["metadata"].(map[string]any)
	delete(meta, "annotations")
	body, err := json.Marshal(map[string]any{"template": map[string]any{"apiVersion": e["apiVersion"], "kind": e["kind"], "metadata": meta, "spec": e["spec"]},
		"values": map[string]any{"name": "tried", "namespace": "default", "deliveryCluster": cluster}})
	if err != nil {
		s.t.Fatal(err)
	}
	status, err := s.ask(http.MethodPost, "/api/scaffolder/v2/dry-run", strings.NewReader(string(body)), nil)
	if err != nil {
		return status, err.Error()
	}
	return status, ""
}

// TestServing checks the conditions of a definition in one of two clusters:
// while it is not established there, its entities and health show that, and its
// form is locked for that cluster only.
func TestServing(t *testing.T) {
	t.Parallel()
	options := apiserver.Options{XRCRDs: true, Apply: []string{definition("alphas", "one")}}
	prod, spare := apiserver.Start(t, options), apiserver.Start(t, options)
	s := start(t, setup{sections: composer(nil, cluster("prod", prod), cluster("spare", spare))})
	s.waitForRefs("", entities("alphas")...)
	s.wantHealth("healthy", map[string]string{"prod": "connected", "spare": "connected"})
	created := func(cluster, name, reason string) {
		t.Helper()
		if status, err := s.asks("alphas", cluster, name); status != http.StatusCreated {
			t.Errorf("%s: %s", reason, err)
		}
	}
	created("prod", "a", "a definition that is served without a condition is not locked")
	if got := s.unserved(template("alphas")); got != "" || s.health().Unserved != nil {
		t.Errorf("definition that is served without a condition has the annotation %s", got)
	}

	const cause = "Established is False: Broken: the CRD is refused"
	setCondition(t, prod, "alphas", "Established", "False", "Broken", "the CRD is refused")
	began := time.Now()
	const want = `[{"cluster":"prod","condition":"Established","status":"False","reason":"Broken","message":"the CRD is refused"}]`
	for _, ref := range []string{template("alphas"), api("alphas"), resource("alphas")} {
		s.until("the condition on "+ref, func() error {
			if got := s.unserved(ref); got != want {
				return fmt.Errorf("annotation crossplane.io/unserved is %q", got)
			}
			return nil
		})
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("condition was shown after %v, want at most 10 s", took)
	}
	if got := s.entity(resource("alphas")).Metadata.Annotations["crossplane.io/condition-established"]; got != "False (Broken)" {
		t.Errorf("entity of the definition has the condition %q, want False (Broken)", got)
	}
	s.until("health", func() error {
		h := s.health()
		if len(h.Unserved) != 1 || h.UnservedCount != 1 {
			return fmt.Errorf("health lists %+v as unserved", h.Unserved)
		}
		if u := h.Unserved[0]; u.Cluster != "prod" || u.Definition != "alphas."+group || u.Condition != "Established" || u.Reason != "Broken" || u.Message != "the CRD is refused" {
			return fmt.Errorf("health lists %+v as unserved", u)
		}
		if h.Status != "healthy" || h.Clusters["prod"] != "connected" {
			return fmt.Errorf("status is %s with clusters %v", h.Status, h.Clusters)
		}
		return nil
	})
	for what, try := range map[string]func() (int, string){
		"a task": func() (int, string) { return s.asks("alphas", "prod", "b") }, "a dry run": func() (int, string) { return s.dryRun("alphas", "prod") },
	} {
		if status, err := try(); status != http.StatusConflict || !strings.Contains(err, `in cluster \"prod\": XRD alphas.`+group+": "+cause) {
			t.Errorf("%s in the cluster that does not serve the definition returned %d, want 409: %s", what, status, err)
		}
	}
	created("spare", "b", "the other cluster serves it")

	// The composites that the tasks create are in relations of the definition's
	// entity.
	s.until("both composites", func() error {
		refs, err := s.refs("kind=resource,spec.type=crossplane-xr")
		if err == nil && len(refs) != 2 {
			err = fmt.Errorf("composites are %v, want 2", refs)
		}
		return err
	})
	before := s.waitUntilStable()
	setCondition(t, prod, "alphas", "Established", "False", "Broken", "the CRD is refused")
	s.scan("")
	s.checkUnchanged(before, entities("alphas")...)

	setCondition(t, prod, "alphas", "Established", "True", "WatchingCompositeResource", "")
	s.until("the form is unlocked", func() error {
		if got := s.unserved(template("alphas")); got != "" {
			return fmt.Errorf("annotation crossplane.io/unserved is %q", got)
		}
		return nil
	})
	created("prod", "c", "an established definition is not locked")
	s.until("health no longer lists the definition", func() error {
		if h := s.health(); h.Unserved != nil || h.UnservedCount != 0 {
			return fmt.Errorf("health lists %+v as unserved", h.Unserved)
		}
		return nil
	})
}

// TestServingWithoutConditions checks that a definition without conditions
// counts as not established as long as the cluster does not serve its kind.
func TestServingWithoutConditions(t *testing.T) {
	t.Parallel()
	plain := apiserver.Start(t, apiserver.Options{Apply: []string{definition("alphas", "one")}})
	s := start(t, setup{sections: composer(nil, cluster("prod", plain))})
	s.waitForRefs("", entities("alphas")...)
	locked := func(plural string) {
		t.Helper()
		s.until(plural+" is locked", func() error {
			if got := s.unserved(template(plural)); !strings.Contains(got, `"condition":"Established","status":"Unknown","reason":"NotServed"`) {
				return fmt.Errorf("annotation crossplane.io/unserved is %q", got)
			}
			if status, err := s.asks(plural, "", "a"); status != http.StatusConflict {
				return fmt.Errorf("task creation returned %d, want 409: %s", status, err)
			}
			return nil
		})
	}
	locked("alphas")
	plain.Apply(t, definition("betas", "one"))
	locked("betas")
	if _, err := plain.Do("apply", "--xr-crds", manifest(t, definition("betas", "one"))); err != nil {
		t.Fatal(err)
	}
	s.until("betas is unlocked", func() error {
		if got := s.unserved(template("betas")); got != "" {
			return fmt.Errorf("annotation crossplane.io/unserved is %q", got)
		}
		if u := s.health().Unserved; len(u) != 1 || u[0].Definition != "alphas."+group {
			return fmt.Errorf("health lists %+v as unserved", u)
		}
		return nil
	})
	if status, err := s.asks("betas", "", "a"); status != http.StatusCreated {
		t.Errorf("form of a served definition is locked: %s", err)
	}
}

// manifest writes a manifest to a file of the test, and returns its path.
func manifest(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "manifest.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
