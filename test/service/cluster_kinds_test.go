package service_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/test/apiserver"
)

// kindOf returns the CustomResourceDefinition of a kind as the API server has
// it, so that a test can restore it after deleting it.
func kindOf(t *testing.T, c *apiserver.Server, name string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.URL+"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"+name, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var kind map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&kind); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("cannot get %s: %s %v", name, resp.Status, err)
	}
	delete(kind, "status")
	kind["metadata"] = map[string]any{"name": name}
	text, err := json.MarshalIndent(kind, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

// TestClusterKinds deletes CustomResourceDefinitions from a cluster: those of
// composites, of Compositions and of definitions. The API server deletes all
// objects of a kind with it and reports each deletion. The catalog must keep
// all entities.
func TestClusterKinds(t *testing.T) {
	t.Parallel()
	began := time.Now()
	things := []string{definition("alphas", "one"), definition("betas", "one"), composition("alpha-one", "alphas"), composition("alpha-two", "alphas")}
	c := apiserver.Start(t, apiserver.Options{XRCRDs: true, Apply: things})
	c.Apply(t, composite("mine", "alphas"), composite("yours", "alphas"))
	// A definition without this condition is reported as not served when its
	// kind is not served.
	reconciled(t, c, "alphas")
	s := start(t, setup{sections: composer(sections{"processing": sections{"retryAttempts": 0}}, cluster("prod", c))})
	of := slices.Concat(entities("alphas"), []string{"resource:default/alpha-one-composition", "resource:default/alpha-two-composition"}, s.composites(2))
	all := slices.Concat(of, entities("betas"))
	s.waitForRefs("", all...)
	s.wantHealth("healthy", map[string]string{"prod": "connected"})
	before := s.contents()
	same := func(what string) {
		t.Helper()
		if diff := cmp.Diff(before, s.contents()); diff != "" {
			t.Errorf("%s: entities changed in more than their stale marks:\n%s", what, diff)
		}
	}

	// Delete the kind of composites.
	c.Delete(t, kindOf(t, c, "alphas."+group))
	s.wantHealth("degraded", map[string]string{"prod": "partial"})
	s.stale("prod/composites", began, of...)
	same("no kind of composites")
	if h := s.sourceHealth(prod); !strings.Contains(h.LastError, "alphas."+group) || len(h.Stale) != 1 || s.staleObjects(prod) != 2 {
		t.Errorf("health is %+v, want two stale composites", h)
	}
	s.rescan(prod)
	same("no kind of composites, scanned")
	c.Apply(t, things[0])
	c.Apply(t, composite("mine", "alphas"), composite("yours", "alphas"))
	s.wantHealth("healthy", map[string]string{"prod": "connected"})
	// The kind may have been discovered before any object of it existed.
	s.rescan(prod)
	s.waitForRefs("", all...)
	s.stale("", began)

	// Delete the kind of Compositions.
	before = s.contents()
	const kinds = ".apiextensions.crossplane.io"
	compositions, definitions := kindOf(t, c, "compositions"+kinds), kindOf(t, c, "compositeresourcedefinitions"+kinds)
	c.Delete(t, compositions)
	s.wantHealth("degraded", map[string]string{"prod": "partial"})
	s.stale("prod/compositions", began, of...)
	same("no Compositions")
	s.rescan(prod)
	same("no Compositions, scanned")
	// A service that starts now has seen no Composition, and must still watch
	// them when the kind comes back.
	late := start(t, setup{sections: composer(sections{"processing": sections{"retryAttempts": 0}}, cluster("prod", c))})
	late.waitForRefs("kind=template", template("alphas"), template("betas"))
	late.wantHealth("healthy", nil)

	// Delete the kind of definitions, and with it everything that depends on
	// definitions.
	c.Delete(t, definitions)
	s.wantHealth("unhealthy", map[string]string{"prod": "absent"})
	s.stale("prod/definitions", began, all...)
	same("no definitions")
	s.rescan(prod)
	same("no definitions, scanned")
	if h := s.sourceHealth(prod); !strings.Contains(h.LastError, "does not serve compositeresourcedefinitions") {
		t.Errorf("health is %+v, want the missing kind named", h)
	}

	c.Apply(t, definitions, compositions)
	c.Apply(t, things...)
	s.wantHealth("healthy", map[string]string{"prod": "connected"})
	s.waitForRefs("", all...)
	s.stale("", began)
	late.waitForRefs("", all...)
	late.wantHealth("healthy", nil)
	late.rescan(prod)
	c.Apply(t, composition("beta-one", "betas"))
	late.waitForRefs("", append(slices.Clone(all), "resource:default/beta-one-composition")...)
	c.Apply(t, strings.ReplaceAll(things[1], "one: {", "other: {"))
	s.until("a change in the form", func() error {
		if form := s.spec(template("betas")); !strings.Contains(form, "other") {
			return fmt.Errorf("form is %s", form)
		}
		return nil
	})
}
