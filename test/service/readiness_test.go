package service_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/test/apiserver"
)

// ready sets the condition Ready of a composite, without a change of anything else.
func ready(t *testing.T, c *apiserver.Server, plural, name, status, message string, since time.Time) {
	t.Helper()
	body := fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","status":%q,"reason":"Seen","message":%q,"lastTransitionTime":%q}]}}`,
		status, message, since.UTC().Format(time.RFC3339))
	path := "/apis/" + group + "/v1/namespaces/default/" + plural + "/" + name + "/status"
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, c.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/merge-patch+json")
	res, err := c.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		t.Fatalf("PATCH %s returned %s", path, res.Status)
	}
}

// runningSpec is the spec of the entity of a composite.
type runningSpec struct {
	Readiness      string   `json:"readiness"`
	ReadinessSince string   `json:"readinessSince"`
	DependsOn      []string `json:"dependsOn"`
}

// TestReadiness changes the status of composites in a real API server: the change reaches
// the catalog through the watch, its facets and its filters, a repeated status does not
// change the entity, and the composites that one composes are its dependencies.
func TestReadiness(t *testing.T) {
	t.Parallel()
	whole := strings.Replace(composite("whole", "alphas"), "spec: {}",
		"spec: {crossplane: {resourceRefs: [{apiVersion: "+group+"/v1, kind: Xbeta, name: part}, {apiVersion: "+group+"/v1, kind: Xbeta, name: missing}]}}", 1)
	c := apiserver.Start(t, apiserver.Options{XRCRDs: true, Apply: []string{definition("alphas", "one"), definition("betas", "one")}})
	s := start(t, setup{sections: composer(nil, cluster("prod", c))})
	s.waitForRefs("", entities("alphas", "betas")...)
	c.Apply(t, whole)
	spec := func(name string) (out runningSpec, ref string, err error) {
		var all []found
		query := url.Values{"filter": {"spec.type=crossplane-xr,metadata.title=" + name}}
		if _, err := s.get("/api/catalog/entities?"+query.Encode(), &all); err != nil || len(all) != 1 {
			return out, "", fmt.Errorf("%d entities of %s: %w", len(all), name, err)
		}
		return out, all[0].ref(), json.Unmarshal(all[0].Spec, &out)
	}
	var last runningSpec
	until := func(name, readiness string) {
		t.Helper()
		s.until(name+" to be "+readiness, func() error {
			got, _, err := spec(name)
			if last = got; err == nil && got.Readiness != readiness {
				err = fmt.Errorf("readiness is %q", got.Readiness)
			}
			return err
		})
	}
	until("whole", "unknown")
	if last.ReadinessSince != "" || len(last.DependsOn) != 1 {
		t.Errorf("spec is %+v, want no time and no relation to what does not exist", last)
	}

	c.Apply(t, composite("part", "betas"))
	until("part", "unknown")
	_, part, err := spec("part")
	if err != nil {
		t.Fatal(err)
	}
	s.until("the relation", func() error {
		got, ref, err := spec("whole")
		if err != nil || !slices.Contains(got.DependsOn, part) || len(got.DependsOn) != 2 {
			return fmt.Errorf("%s depends on %v, want %s: %w", ref, got.DependsOn, part, err)
		}
		return nil
	})

	since := time.Now().Add(-time.Hour).Truncate(time.Second)
	// On a busy machine one change may be slow; if readiness is slow, every change is.
	fastest := time.Hour
	for range 5 {
		ready(t, c, "betas", "part", "False", "waiting", since)
		begun := time.Now()
		until("part", "not ready")
		if fastest = min(fastest, time.Since(begun)); fastest <= 2*time.Second {
			break
		}
		ready(t, c, "betas", "part", "True", "", since)
		until("part", "ready")
	}
	if t.Logf("change of readiness took %s", fastest.Round(time.Millisecond)); fastest > 2*time.Second {
		t.Errorf("change of readiness took %s", fastest)
	}
	if want := since.UTC().Format(time.RFC3339); last.ReadinessSince != want {
		t.Errorf("not ready since %q, want %q", last.ReadinessSince, want)
	}
	ready(t, c, "alphas", "whole", "True", "", since)
	until("whole", "ready")

	refs, err := s.refs("spec.readiness=not ready")
	if err != nil || !slices.Equal(refs, []string{part}) {
		t.Errorf("entities that are not ready are %v (error %v), want %s", refs, err, part)
	}
	type value struct {
		Value string `json:"value"`
		Count int    `json:"count"`
	}
	var counts struct {
		Facets map[string][]value `json:"facets"`
	}
	if _, err := s.get("/api/catalog/entity-facets?facet=spec.readiness", &counts); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(counts.Facets["spec.readiness"], func(a, b value) int { return strings.Compare(a.Value, b.Value) })
	if diff := cmp.Diff([]value{{"not ready", 1}, {"ready", 1}}, counts.Facets["spec.readiness"]); diff != "" {
		t.Errorf("facets (-want +got):\n%s", diff)
	}

	// A message that changes is no change of the entity; the change after it is.
	before := s.stamps("metadata.title=part")
	ready(t, c, "betas", "part", "False", "still waiting", since)
	ready(t, c, "alphas", "whole", "False", "", since)
	until("whole", "not ready")
	s.scan(prod)
	if diff := cmp.Diff(before, s.stamps("metadata.title=part")); diff != "" {
		t.Errorf("a message changed the entity (-before +after):\n%s", diff)
	}

	c.Delete(t, composite("part", "betas"))
	s.until("the end of the relation", func() error {
		got, _, err := spec("whole")
		if err == nil && len(got.DependsOn) != 1 {
			err = fmt.Errorf("whole depends on %v", got.DependsOn)
		}
		return err
	})

	c.Kill()
	s.until("stale entities", func() error {
		var all []found
		if _, err := s.get("/api/catalog/entities?filter="+url.QueryEscape("metadata.title=whole"), &all); err != nil {
			return err
		}
		if len(all) != 1 || all[0].Metadata.Annotations["backstage.io/stale"] == "" {
			return fmt.Errorf("entity is not stale: %+v", all)
		}
		return nil
	})
	until("whole", "not ready")
}
