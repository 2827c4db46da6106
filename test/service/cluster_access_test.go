package service_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/test/apiserver"
)

// granted lets service accounts read some resources of Crossplane.
func granted(name string, resources, accounts []string) string {
	var subjects []string
	for _, a := range accounts {
		subjects = append(subjects, fmt.Sprintf("{kind: ServiceAccount, name: %s, namespace: readers}", a))
	}
	return fmt.Sprintf(`apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: %[1]s}
rules: [{apiGroups: [apiextensions.crossplane.io, %[4]s], resources: [%[2]s], verbs: [get, list, watch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: %[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %[1]s}
subjects: [%[3]s]
`, name, strings.Join(resources, ", "), strings.Join(subjects, ", "), group)
}

// reader describes a server for who has a token in a file.
func reader(name string, c *apiserver.Server, tokenFile string) sections {
	return sections{
		"name": name, "url": c.URL, "caFile": filepath.Join(c.Dir, "pki", "ca.crt"),
		"authProvider": "token", "tokenFile": tokenFile,
	}
}

// rescan asks for a scan and waits for the next one, whoever had asked for it
// before.
func (s *service) rescan(source string) {
	s.t.Helper()
	asked := time.Now()
	if _, err := s.ask(http.MethodPost, "/api/composer-ingestor/runs", strings.NewReader(fmt.Sprintf(`{"source":%q}`, source)), nil); err != nil {
		s.t.Fatal(err)
	}
	s.ran(source, asked)
}

// scanned has a source scanned until health is so: servers learn of permissions
// a moment after they are given.
func (s *service) scanned(source, status string, clusters map[string]string) {
	s.t.Helper()
	s.until("health "+status+" after a scan", func() error {
		s.rescan(source)
		h := s.health()
		if h.Status != status || !cmp.Equal(h.Clusters, clusters) {
			return fmt.Errorf("it is %s with %v", h.Status, h.Clusters)
		}
		return nil
	})
}

// TestClusterAccess takes away the right to read Compositions, and gives it
// back; and then the token itself.
func TestClusterAccess(t *testing.T) {
	t.Parallel()
	began := time.Now()
	c := apiserver.Start(t, apiserver.Options{XRCRDs: true, Apply: []string{
		definition("alphas", "one"), definition("betas", "one"), composition("alpha-one", "alphas"), composition("alpha-two", "alphas"),
	}})
	accounts := []string{"first", "second"}
	compositions := granted("compositions", []string{"compositions"}, accounts)
	c.Apply(t, granted("definitions", []string{"compositeresourcedefinitions", "alphas", "betas", "gammas"}, accounts), compositions)
	file := filepath.Join(t.TempDir(), "token")
	put(t, file, c.Token(t, "readers", "first"))
	s := start(t, setup{sections: composer(sections{"processing": sections{"retryAttempts": 0}}, reader("prod", c, file))})
	of := slices.Concat(entities("alphas"), []string{"resource:default/alpha-one-composition", "resource:default/alpha-two-composition"})
	s.wants("", slices.Concat(of, entities("betas"))...)
	s.scanned(prod, "healthy", map[string]string{"prod": "connected"})
	before, stamps := s.contents(), s.stamps("")

	// 403 on Compositions only.
	c.Delete(t, compositions)
	s.scanned(prod, "degraded", map[string]string{"prod": "partial"})
	s.stale("prod/compositions", began, of...)
	if diff := cmp.Diff(before, s.contents()); diff != "" {
		t.Errorf("more than the stale marks has changed:\n%s", diff)
	}
	s.unmoved(stamps, entities("betas")...)
	if form := s.spec(template("alphas")); !strings.Contains(form, "alpha-one") || !strings.Contains(form, "alpha-two") {
		t.Errorf("the form has lost a Composition: %s", form)
	}
	h := s.about(prod)
	if !strings.Contains(h.LastError, "forbidden") || !strings.Contains(h.LastError, `"compositions"`) || !strings.Contains(h.LastError, "list") {
		t.Errorf("the last error does not name the permission: %s", h.LastError)
	}
	if !strings.Contains(h.Hint, "add this rule") {
		t.Errorf("the way out is not named: %q", h.Hint)
	}
	if n := s.staleObjects(prod); n != 2 {
		t.Errorf("%d objects are stale, want two Compositions", n)
	}
	// Definitions come and change all the same.
	c.Apply(t, definition("gammas", "one"), definition("alphas", "other"))
	s.wants("kind=template", template("alphas"), template("betas"), template("gammas"))
	s.until("a new field", func() error {
		if form := s.spec(template("alphas")); !strings.Contains(form, "other") || !strings.Contains(form, "alpha-two") {
			return fmt.Errorf("the form is %s", form)
		}
		return nil
	})
	c.Apply(t, compositions, definition("alphas", "one"))
	c.Delete(t, definition("gammas", "one"))
	s.scanned(prod, "healthy", map[string]string{"prod": "connected"})
	s.wants("", slices.Concat(of, entities("betas"))...)
	s.stale("", began)
	if diff := cmp.Diff(before, s.contents()); diff != "" {
		t.Errorf("with the permission, more than the stale marks has changed:\n%s", diff)
	}

	// A token that is not one any more, because its account is gone.
	c.Delete(t, "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: first, namespace: readers}\n")
	s.scanned(prod, "unhealthy", map[string]string{"prod": "unauthorized"})
	s.stale("prod/definitions", began, slices.Concat(of, entities("betas"))...)
	if diff := cmp.Diff(before, s.contents()); diff != "" {
		t.Errorf("without a token, more than the stale marks has changed:\n%s", diff)
	}
	if strings.Contains(s.about(prod).LastError, "eyJ") {
		t.Error("the last error has a token")
	}
	put(t, file, c.Token(t, "readers", "second"))
	s.scanned(prod, "healthy", map[string]string{"prod": "connected"})
	s.stale("", began)
	if diff := cmp.Diff(before, s.contents()); diff != "" {
		t.Errorf("with a new token, more than the stale marks has changed:\n%s", diff)
	}
	c.Apply(t, definition("deltas", "one"))
	s.wants("kind=template", template("alphas"), template("betas"), template("deltas"))
}
