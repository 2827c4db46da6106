package ingest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/ingestion/health"
	"example.dev/ingestor/internal/ingestion/inspect"
	"example.dev/ingestor/internal/ingestion/status"
)

// TestMissingReferences checks that a missing owner is one finding and one entry
// of health, until the owner is defined.
func TestMissingReferences(t *testing.T) {
	t.Parallel()
	b := newHarness(t, []string{"files"}, nil)
	b.sources["files"].set("a.yaml", definition("a", "one"))
	if _, err := b.read(t, "files"); err != nil {
		t.Fatal(err)
	}
	lacks := []inspect.MissingRef{{Ref: "group:default/platform-team", Relation: "ownedBy", Entities: 3, Example: "api:default/a.example.org-api"}}
	steps := []struct {
		reason string
		lacks  []inspect.MissingRef
	}{{"An owner that is not defined is reported.", lacks}, {"An owner that is defined is not reported.", nil}}
	for _, step := range steps {
		b.catalog.mu.Lock()
		b.catalog.lacks = step.lacks
		b.catalog.mu.Unlock()
		b.later(time.Minute)
		h, err := b.Health(t.Context(), 0)
		if diff := cmp.Diff(step.lacks, h.Missing); diff != "" || err != nil || h.Status != health.Healthy {
			t.Errorf("%s\n%s %s (%v)", step.reason, h.Status, diff, err)
		}
		found, err := b.Findings(t.Context(), inspect.FindingsQuery{Rule: status.RuleMissing, Limit: 10})
		if err != nil || found.TotalItems != len(step.lacks) || len(found.Items) != len(step.lacks) {
			t.Errorf("%s\nfindings are %+v (%v)", step.reason, found, err)
		}
		if len(found.Items) > 0 && (found.Items[0].Object != lacks[0].Ref || found.Items[0].Entity != lacks[0].Example || found.Items[0].Severity != "warning") {
			t.Errorf("%s\nfinding is %+v", step.reason, found.Items[0])
		}
	}
}
