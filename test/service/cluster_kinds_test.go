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

// kindOf is the definition of a kind as a server has it, to be put back after
// it was deleted.
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
		t.Fatalf("%s: %s %v", name, resp.Status, err)
	}
	delete(kind, "status")
	kind["metadata"] = map[string]any{"name": name}
	text, err := json.MarshalIndent(kind, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

// TestClusterKinds takes kinds away from a cluster: those of composites, that of
// Compositions, and that of definitions. The server deletes all objects of a
// kind with it, and says so, and still nothing goes from the catalog.
func TestClusterKinds(t *testing.T) {
	t.Parallel()
	began := time.Now()
	things := []string{definition("alphas", "one"), definition("betas", "one"), composition("alpha-one", "alphas"), composition("alpha-two", "alphas")}
	c := apiserver.Start(t, apiserver.Options{XRCRDs: true, Apply: things})
	c.Apply(t, composite("mine", "alphas"), composite("yours", "alphas"))
	// Without the condition, a definition whose kind is not served says so.
	reconciled(t, c, "alphas")
	s := start(t, setup{sections: composer(sections{"processing": sections{"retryAttempts": 0}}, cluster("prod", c))})
	of := slices.Concat(entities("alphas"), []string{"resource:default/alpha-one-composition", "resource:default/alpha-two-composition"}, s.composites(2))
	all := slices.Concat(of, entities("betas"))
	s.wants("", all...)
	s.fares("healthy", map[string]string{"prod": "connected"})
	before := s.contents()
	same := func(what string) {
		t.Helper()
		if diff := cmp.Diff(before, s.contents()); diff != "" {
			t.Errorf("%s: more than the stale marks has changed:\n%s", what, diff)
		}
	}

	// The kind of composites.
	c.Delete(t, kindOf(t, c, "alphas."+group))
	s.fares("degraded", map[string]string{"prod": "partial"})
	s.stale("prod/composites", began, of...)
	same("no kind of composites")
	if h := s.about(prod); !strings.Contains(h.LastError, "alphas."+group) || len(h.Stale) != 1 || s.staleObjects(prod) != 2 {
		t.Errorf("health says %+v, want two composites to be stale", h)
	}
	s.rescan(prod)
	same("no kind of composites, scanned")
	c.Apply(t, things[0])
	c.Apply(t, composite("mine", "alphas"), composite("yours", "alphas"))
	s.fares("healthy", map[string]string{"prod": "connected"})
	// Somebody may have seen the kind before there was anything of it.
	s.rescan(prod)
	s.wants("", all...)
	s.stale("", began)

	// That of Compositions.
	before = s.contents()
	const kinds = ".apiextensions.crossplane.io"
	compositions, definitions := kindOf(t, c, "compositions"+kinds), kindOf(t, c, "compositeresourcedefinitions"+kinds)
	c.Delete(t, compositions)
	s.fares("degraded", map[string]string{"prod": "partial"})
	s.stale("prod/compositions", began, of...)
	same("no Compositions")
	s.rescan(prod)
	same("no Compositions, scanned")
	// One that starts now knows of none, and will have to follow them all the same.
	late := start(t, setup{sections: composer(sections{"processing": sections{"retryAttempts": 0}}, cluster("prod", c))})
	late.wants("kind=template", template("alphas"), template("betas"))
	late.fares("healthy", nil)

	// That of definitions, and so all that belongs to them.
	c.Delete(t, definitions)
	s.fares("unhealthy", map[string]string{"prod": "absent"})
	s.stale("prod/definitions", began, all...)
	same("no definitions")
	s.rescan(prod)
	same("no definitions, scanned")
	if h := s.about(prod); !strings.Contains(h.LastError, "serves no compositeresourcedefinitions") {
		t.Errorf("health says %+v", h)
	}

	c.Apply(t, definitions, compositions)
	c.Apply(t, things...)
	s.fares("healthy", map[string]string{"prod": "connected"})
	s.wants("", all...)
	s.stale("", began)
	late.wants("", all...)
	late.fares("healthy", nil)
	late.rescan(prod)
	c.Apply(t, composition("beta-one", "betas"))
	late.wants("", append(slices.Clone(all), "resource:default/beta-one-composition")...)
	c.Apply(t, strings.ReplaceAll(things[1], "one: {", "other: {"))
	s.until("a change", func() error {
		if form := s.spec(template("betas")); !strings.Contains(form, "other") {
			return fmt.Errorf("the form is %s", form)
		}
		return nil
	})
}
