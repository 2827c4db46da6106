package service_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/test/apiserver"
)

// TestLive checks that applying, changing and deleting definitions,
// Compositions and composites shows in the catalog within a second while the
// service watches.
func TestLive(t *testing.T) {
	t.Parallel()
	c := apiserver.Start(t, apiserver.Options{XRCRDs: true, Apply: []string{definition("alphas", "one")}})
	s := start(t, setup{sections: composer(nil, cluster("prod", c))})
	s.waitForRefs("", entities("alphas")...)
	s.wantHealth("healthy", map[string]string{"prod": "connected"})

	steps := []struct {
		what string
		do   func()
		seen func() bool
	}{
		{"a definition", func() { c.Apply(t, definition("betas", "one")) }, func() bool { return s.entity(template("betas")) != nil }},
		{"a field", func() { c.Apply(t, definition("betas", "other")) }, func() bool { return strings.Contains(string(s.entity(template("betas")).Spec), "other") }},
		{"a Composition", func() { c.Apply(t, composition("beta-one", "betas")) }, func() bool { return s.entity("resource:default/beta-one-composition") != nil }},
		{"a composite", func() { c.Apply(t, composite("mine", "betas")) }, func() bool {
			refs, err := s.refs("kind=resource,spec.type=crossplane-xr")
			return err == nil && len(refs) == 1
		}},
		{"no composite", func() { c.Delete(t, composite("mine", "betas")) }, func() bool {
			refs, err := s.refs("kind=resource,spec.type=crossplane-xr")
			return err == nil && len(refs) == 0
		}},
		{"no Composition", func() { c.Delete(t, composition("beta-one", "betas")) }, func() bool { return s.entity("resource:default/beta-one-composition") == nil }},
		{"no definition", func() { c.Delete(t, definition("betas", "other")) }, func() bool { return s.entity(template("betas")) == nil }},
	}
	for _, step := range steps {
		step.do()
		began := time.Now()
		s.until(step.what, func() error {
			if !step.seen() {
				return fmt.Errorf("catalog does not show the change")
			}
			return nil
		})
		t.Logf("%s showed after %v", step.what, time.Since(began).Round(time.Millisecond))
	}
	s.waitForRefs("", entities("alphas")...)
}
