package ingest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/ingestion/health"
	"example.dev/ingestor/internal/ingestion/inspect"
	"example.dev/ingestor/internal/ingestion/variant"
)

// TestNames checks the definitions of a cluster and a folder by name: with the command
// that selects them, and their states while the cluster can be read and afterwards.
func TestNames(t *testing.T) {
	t.Parallel()
	a := stand(t)
	a.put(t, definition("as", "one"), 50)
	a.put(t, unlabelled("bs"), 51)
	b := newHarness(t, []string{"files"}, func(o *Options) { o.Variants[0].Clusters = append(o.Variants[0].Clusters, a.settings()) })
	b.sources["files"].set("a.yaml", unlabelled("as"))
	if _, err := b.read(t, "files"); err != nil {
		t.Fatal(err)
	}
	b.visits(t)
	b.works(t)
	names := func(q health.NamesQuery) health.Names {
		t.Helper()
		if q.Limit == 0 {
			q.Limit = 10
		}
		out, err := b.Names(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	const why = `label openportal.dev/ingest: "true" is missing`
	label := &variant.Change{Field: "labels", Key: "openportal.dev/ingest", Value: "true"}
	inFile := health.Copy{Source: "composerIngestor/sources/files", File: "a.yaml", Why: why, State: health.Found, Remedy: &variant.Remedy{Change: label}}
	// The stand-in has definitions, but serves no kind that they define.
	inCluster := health.Copy{
		Source: theCluster, Cluster: "prod", Selected: true, State: health.NotServed,
		Message: "Established is Unknown: NotServed: the cluster does not serve the kind Xas, and the definition has no such condition yet",
	}
	other := health.Named{Name: "bs.example.org", Copies: []health.Copy{{
		Source: theCluster, Cluster: "prod", Why: why, State: health.Found,
		Remedy: &variant.Remedy{Change: label, Command: "kubectl label compositeresourcedefinitions.apiextensions.crossplane.io bs.example.org openportal.dev/ingest=true"},
	}}}
	want := health.Names{
		Items:      []health.Named{{Name: "as.example.org", Selected: true, Copies: []health.Copy{inCluster, inFile}}, other},
		TotalItems: 2, Counts: health.NameCounts{All: 2, Selected: 1, Unselected: 1},
	}
	if diff := cmp.Diff(want, names(health.NamesQuery{})); diff != "" {
		t.Errorf("definitions by name (-want +got):\n%s", diff)
	}
	if got := names(health.NamesQuery{Only: health.OnlyUnselected}); len(got.Items) != 1 || got.Items[0].Name != other.Name || got.Counts != want.Counts {
		t.Errorf("definitions that are not selected are %+v, want the second, and the counts of all", got)
	}
	if got := names(health.NamesQuery{Text: "AS.exam"}); got.TotalItems != 1 || got.Counts.All != 1 {
		t.Errorf("definitions with a text in their name are %+v, want the first", got)
	}
	if got := names(health.NamesQuery{Cluster: "prod", Limit: 1, Offset: 1}); got.TotalItems != 2 || len(got.Items) != 1 || got.Items[0].Name != other.Name {
		t.Errorf("second page of the cluster is %+v, want the second definition of 2", got)
	}
	if got := names(health.NamesQuery{Cluster: "prod"}); len(got.Items) != 2 || !cmp.Equal([]health.Copy{inCluster}, got.Items[0].Copies) {
		t.Errorf("copies in the cluster are %+v, want no others", got.Items)
	}
	b.looks(t)
	found, err := b.Findings(t.Context(), inspect.FindingsQuery{Definition: "as.example.org", Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	counted := 0
	for _, n := range names(health.NamesQuery{Only: health.OnlyFindings}).Items[0].Findings {
		counted += n
	}
	if counted == 0 || counted != found.TotalItems {
		t.Errorf("%d findings were counted, and %d are listed", counted, found.TotalItems)
	}
	a.Close()
	if _, err := b.visit(t); err == nil {
		t.Fatal("the cluster can still be read")
	}
	if got := names(health.NamesQuery{Cluster: "prod"}).Items[0].Copies[0]; got.State != health.Unreadable || got.Since.IsZero() || !got.Selected {
		t.Errorf("definition of a cluster that cannot be read is %+v, want it selected, and since when it cannot be read", got)
	}
}
