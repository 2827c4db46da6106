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

// granted returns RBAC manifests that let service accounts read some Crossplane
// resources.
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

// reader returns the configuration of a cluster that is accessed with the token
// in a file.
func reader(name string, c *apiserver.Server, tokenFile string) sections {
	return sections{
		"name": name, "url": c.URL, "caFile": filepath.Join(c.Dir, "pki", "ca.crt"),
		"authProvider": "token", "tokenFile": tokenFile,
	}
}

// rescan triggers a scan and waits for the next run, even if an earlier trigger
// started it.
func (s *service) rescan(source string) {
	s.t.Helper()
	asked := time.Now()
	if _, err := s.ask(http.MethodPost, "/api/composer-ingestor/runs", strings.NewReader(fmt.Sprintf(`{"source":%q}`, source)), nil); err != nil {
		s.t.Fatal(err)
	}
	s.ran(source, asked)
}

// scanned rescans a source until its health is as wanted. API servers apply
// RBAC changes with a delay.
func (s *service) scanned(source, status string, clusters map[string]string) {
	s.t.Helper()
	s.until("health "+status+" after a scan", func() error {
		s.rescan(source)
		h := s.health()
		if h.Status != status || !cmp.Equal(h.Clusters, clusters) {
			return fmt.Errorf("health is %s with clusters %v", h.Status, h.Clusters)
		}
		return nil
	})
}

// TestClusterAccess checks that entities are kept and marked stale while the
// permission to read Compositions, and then the token itself, is revoked.
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
	s.waitForRefs("", slices.Concat(of, entities("betas"))...)
	s.scanned(prod, "healthy", map[string]string{"prod": "connected"})
	before, stamps := s.contents(), s.stamps("")

	// Compositions are forbidden (403), everything else is readable.
	c.Delete(t, compositions)
	s.scanned(prod, "degraded", map[string]string{"prod": "partial"})
	s.stale("prod/compositions", began, of...)
	if diff := cmp.Diff(before, s.contents()); diff != "" {
		t.Errorf("entities changed in more than their stale marks:\n%s", diff)
	}
	s.checkUnchanged(stamps, entities("betas")...)
	if form := s.spec(template("alphas")); !strings.Contains(form, "alpha-one") || !strings.Contains(form, "alpha-two") {
		t.Errorf("form lost a Composition: %s", form)
	}
	h := s.sourceHealth(prod)
	if !strings.Contains(h.LastError, "forbidden") || !strings.Contains(h.LastError, `"compositions"`) || !strings.Contains(h.LastError, "list") {
		t.Errorf("last error does not name the missing permission: %s", h.LastError)
	}
	if !strings.Contains(h.Hint, "add this rule") {
		t.Errorf("hint is %q, want the rule to add", h.Hint)
	}
	if n := s.staleObjects(prod); n != 2 {
		t.Errorf("%d objects are stale, want two Compositions", n)
	}
	// New and changed definitions are still ingested.
	c.Apply(t, definition("gammas", "one"), definition("alphas", "other"))
	s.waitForRefs("kind=template", template("alphas"), template("betas"), template("gammas"))
	s.until("changed field in the form", func() error {
		if form := s.spec(template("alphas")); !strings.Contains(form, "other") || !strings.Contains(form, "alpha-two") {
			return fmt.Errorf("form is %s", form)
		}
		return nil
	})
	c.Apply(t, compositions, definition("alphas", "one"))
	c.Delete(t, definition("gammas", "one"))
	s.scanned(prod, "healthy", map[string]string{"prod": "connected"})
	s.waitForRefs("", slices.Concat(of, entities("betas"))...)
	s.stale("", began)
	if diff := cmp.Diff(before, s.contents()); diff != "" {
		t.Errorf("entities changed in more than their stale marks after the permission was restored:\n%s", diff)
	}

	// The token becomes invalid because its service account is deleted.
	c.Delete(t, "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: first, namespace: readers}\n")
	s.scanned(prod, "unhealthy", map[string]string{"prod": "unauthorized"})
	s.stale("prod/definitions", began, slices.Concat(of, entities("betas"))...)
	if diff := cmp.Diff(before, s.contents()); diff != "" {
		t.Errorf("entities changed in more than their stale marks without a valid token:\n%s", diff)
	}
	if strings.Contains(s.sourceHealth(prod).LastError, "eyJ") {
		t.Error("last error contains a token")
	}
	put(t, file, c.Token(t, "readers", "second"))
	s.scanned(prod, "healthy", map[string]string{"prod": "connected"})
	s.stale("", began)
	if diff := cmp.Diff(before, s.contents()); diff != "" {
		t.Errorf("entities changed in more than their stale marks after the token was replaced:\n%s", diff)
	}
	c.Apply(t, definition("deltas", "one"))
	s.waitForRefs("kind=template", template("alphas"), template("betas"), template("deltas"))
}
