package service_test

import (
	"fmt"
	"strings"
	"testing"

	running "example.dev/ingestor/internal/resource"
	"example.dev/ingestor/test/apiserver"
	live "example.dev/ingestor/xrd/composed"
)

// TestResourceStatus reads the state of a composite through the portal: what it composes,
// why it is not ready, and that a cluster that is down is not said to be ready.
func TestResourceStatus(t *testing.T) {
	t.Parallel()
	c := apiserver.Start(t, apiserver.Options{XRCRDs: true, Apply: []string{definition("alphas", "one")}})
	s := start(t, setup{sections: composer(nil, cluster("prod", c))})
	s.waitForRefs("", entities("alphas")...)
	c.Apply(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: part, namespace: default}}\n---\n"+
		strings.Replace(composite("mine", "alphas"), "spec: {}", "spec: {crossplane: {resourceRefs: [{apiVersion: v1, kind: ConfigMap, name: part}, {apiVersion: v1, kind: ConfigMap, name: other}]}}", 1))
	var ref string
	s.until("the composite", func() error {
		refs, err := s.refs("kind=resource,spec.type=crossplane-xr")
		if err != nil || len(refs) != 1 {
			return fmt.Errorf("composites are %v: %w", refs, err)
		}
		ref = refs[0]
		return nil
	})
	path := "/api/resources/by-name/" + strings.Replace(ref, ":", "/", 1) + "/status"
	var got running.Status
	s.until("the state", func() error {
		if status, err := s.get(path, &got); status != 200 || err != nil {
			return fmt.Errorf("got %d: %w", status, err)
		}
		return nil
	})
	if len(got.Tree.Children) != 2 || got.Tree.Children[0].State != live.Missing || got.Tree.Children[1].State != live.Forbidden {
		t.Errorf("tree is %+v", got.Tree)
	}
	if got.Ready || got.Reason == nil || got.Reason.Sentence != "ConfigMap other: the object does not exist" || got.Cluster != "prod" {
		t.Errorf("state is %+v, reason %+v", got, got.Reason)
	}
	c.Kill()
	s.until("the outage", func() error {
		if status, err := s.get(path, nil); status != 503 {
			return fmt.Errorf("got %d: %w", status, err)
		}
		return nil
	})
}
