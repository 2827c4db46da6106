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

// says gives a definition a condition, as Crossplane does.
func says(t *testing.T, c *apiserver.Server, plural, typ, status, reason, message string) {
	t.Helper()
	amend(t, c, plural, "/status", fmt.Sprintf(`{"status":{"conditions":[{"type":%q,"status":%q,"reason":%q,"message":%q,"lastTransitionTime":%q}]}}`,
		typ, status, reason, message, time.Now().UTC().Format(time.RFC3339)))
}

// unserved is what an entity says of clusters that do not serve it.
func (s *service) unserved(ref string) string {
	s.t.Helper()
	e := s.entity(ref)
	if e == nil {
		return "there is no such entity"
	}
	return e.Metadata.Annotations["crossplane.io/unserved"]
}

// asks asks for a task of a Template in a cluster, and returns the answer's status
// and what it says is wrong.
func (s *service) asks(plural, cluster, name string) (int, string) {
	s.t.Helper()
	body := fmt.Sprintf(`{"templateRef":%q,"values":{"name":%q,"namespace":"default","deliveryCluster":%q}}`, template(plural), name, cluster)
	status, err := s.ask(http.MethodPost, "/api/scaffolder/v2/tasks", strings.NewReader(body), nil)
	if err != nil {
		return status, err.Error()
	}
	return status, ""
}

// tries tries a Template out that the caller sends without its annotations.
func (s *service) tries(plural, cluster string) (int, string) {
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

// TestServing follows the conditions of a definition in one of two clusters: what
// is not established there shows on its entities and in health, and locks the
// form there and nowhere else, until it is established.
func TestServing(t *testing.T) {
	t.Parallel()
	options := apiserver.Options{XRCRDs: true, Apply: []string{definition("alphas", "one")}}
	prod, spare := apiserver.Start(t, options), apiserver.Start(t, options)
	s := start(t, setup{sections: composer(nil, cluster("prod", prod), cluster("spare", spare))})
	s.wants("", entities("alphas")...)
	s.fares("healthy", map[string]string{"prod": "connected", "spare": "connected"})
	created := func(cluster, name, reason string) {
		t.Helper()
		if status, err := s.asks("alphas", cluster, name); status != http.StatusCreated {
			t.Errorf("%s: %s", reason, err)
		}
	}
	created("prod", "a", "what is served without a condition is not locked")
	if got := s.unserved(template("alphas")); got != "" || s.health().Unserved != nil {
		t.Errorf("what is served without a condition says %s", got)
	}

	const cause = "Established is False: Broken: the CRD is refused"
	says(t, prod, "alphas", "Established", "False", "Broken", "the CRD is refused")
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
		t.Errorf("the condition shows after %v", took)
	}
	if got := s.entity(resource("alphas")).Metadata.Annotations["crossplane.io/condition-established"]; got != "False (Broken)" {
		t.Errorf("the definition's entity says %q", got)
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
		"a task": func() (int, string) { return s.asks("alphas", "prod", "b") }, "a dry run": func() (int, string) { return s.tries("alphas", "prod") },
	} {
		if status, err := try(); status != http.StatusConflict || !strings.Contains(err, `in cluster \"prod\": XRD alphas.`+group+": "+cause) {
			t.Errorf("%s in the cluster that does not serve it: %d: %s", what, status, err)
		}
	}
	created("spare", "b", "the other cluster serves it")

	// What the tasks create is in relations of the definition's entity.
	s.until("both composites", func() error {
		refs, err := s.refs("kind=resource,spec.type=crossplane-xr")
		if err == nil && len(refs) != 2 {
			err = fmt.Errorf("have %v", refs)
		}
		return err
	})
	before := s.rests()
	says(t, prod, "alphas", "Established", "False", "Broken", "the CRD is refused")
	s.scan("")
	s.unmoved(before, entities("alphas")...)

	says(t, prod, "alphas", "Established", "True", "WatchingCompositeResource", "")
	s.until("the form is unlocked", func() error {
		if got := s.unserved(template("alphas")); got != "" {
			return fmt.Errorf("annotation crossplane.io/unserved is %q", got)
		}
		return nil
	})
	created("prod", "c", "what is established is not locked")
	s.until("health is rid of it", func() error {
		if h := s.health(); h.Unserved != nil || h.UnservedCount != 0 {
			return fmt.Errorf("health lists %+v as unserved", h.Unserved)
		}
		return nil
	})
}

// TestServingWithoutConditions creates a definition without conditions:
// it is not established as long as the cluster does not serve its kind.
func TestServingWithoutConditions(t *testing.T) {
	t.Parallel()
	plain := apiserver.Start(t, apiserver.Options{Apply: []string{definition("alphas", "one")}})
	s := start(t, setup{sections: composer(nil, cluster("prod", plain))})
	s.wants("", entities("alphas")...)
	locked := func(plural string) {
		t.Helper()
		s.until(plural+" is locked", func() error {
			if got := s.unserved(template(plural)); !strings.Contains(got, `"condition":"Established","status":"Unknown","reason":"NotServed"`) {
				return fmt.Errorf("annotation crossplane.io/unserved is %q", got)
			}
			if status, err := s.asks(plural, "", "a"); status != http.StatusConflict {
				return fmt.Errorf("a task is answered with %d: %s", status, err)
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
			return fmt.Errorf("health lists %+v", u)
		}
		return nil
	})
	if status, err := s.asks("betas", "", "a"); status != http.StatusCreated {
		t.Errorf("what is served is not locked: %s", err)
	}
}

// manifest writes a manifest into a file of the test.
func manifest(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "manifest.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
