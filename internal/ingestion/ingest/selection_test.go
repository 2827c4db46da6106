package ingest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/ingestion/health"
	"example.dev/ingestor/internal/ingestion/inspect"
	"example.dev/ingestor/internal/ingestion/status"
)

// unlabelled returns a definition without the label.
func unlabelled(plural string) string {
	return strings.Replace(definition(plural, "one"), "  labels: {openportal.dev/ingest: \"true\"}\n", "", 1)
}

// TestNoneSelected checks a folder and a cluster whose definitions have no
// label: health, runs, findings, the log and the list of definitions report it,
// with the command that helps.
func TestNoneSelected(t *testing.T) {
	t.Parallel()
	a := stand(t)
	a.put(t, unlabelled("as"), 50)
	a.put(t, unlabelled("bs"), 51)
	b := abroad(t, a, nil)
	run := b.visits(t)
	const message = "2 definitions found, 0 selected: none has the label openportal.dev/ingest=true"
	const command = "kubectl label compositeresourcedefinitions.apiextensions.crossplane.io as.example.org openportal.dev/ingest=true"
	if run.Notice != message || run.Discovered != 2 || run.Selected != 0 {
		t.Errorf("run is %+v, want the notice", run)
	}
	h, s := b.healthOf(t)
	want := &status.Selection{Found: 2, Message: message, Hint: command + ", or set composerIngestor.ingestAll: true"}
	if diff := cmp.Diff(want, s.Definitions); diff != "" || len(h.Notices) != 1 || !strings.Contains(h.Notices[0], command) {
		t.Errorf("health has the notices %v, want one with the command %s", h.Notices, diff)
	}
	found, err := b.Findings(t.Context(), inspect.FindingsQuery{Rule: status.RuleNoneSelected, Limit: 10})
	if err != nil || found.TotalItems != 1 || found.Items[0].Message != message {
		t.Errorf("findings are %+v (%v), want one with the notice", found, err)
	}
	b.visits(t)
	if n := b.logged("no definition selected"); n != 1 {
		t.Errorf("notice was logged %d times, want once", n)
	}
	const why = `label openportal.dev/ingest: "true" is missing`
	all := []health.Definition{
		{Name: "as.example.org", Source: theCluster, Cluster: "prod", Why: why}, {Name: "bs.example.org", Source: theCluster, Cluster: "prod", Why: why},
	}
	items, total, err := b.Definitions(t.Context(), health.DefinitionsQuery{Limit: 10})
	if diff := cmp.Diff(all, items); diff != "" || total != 2 || err != nil {
		t.Errorf("definitions differ: %s (%d, %v)", diff, total, err)
	}
	if items, total, err = b.Definitions(t.Context(), health.DefinitionsQuery{Limit: 1, Offset: 1}); total != 2 || err != nil || !cmp.Equal(all[1:], items) {
		t.Errorf("second page is %v (%d, %v), want the second definition of 2", items, total, err)
	}
	// One definition with the label is enough.
	a.put(t, definition("as", "one"), 60)
	if run := b.visits(t); run.Notice != "" || run.Selected != 1 {
		t.Errorf("run with a labelled definition is %+v, want one selected and no notice", run)
	}
	if h, s := b.healthOf(t); len(h.Notices) > 0 || s.Definitions.Selected != 1 {
		t.Errorf("health with a labelled definition has %v, %+v; want no notice", h.Notices, s.Definitions)
	}
	no := false
	if items, _, err := b.Definitions(t.Context(), health.DefinitionsQuery{Selected: &no, Limit: 10}); err != nil || !cmp.Equal(all[1:], items) {
		t.Errorf("definitions that are not selected are %v (%v)", items, err)
	}
}

// TestNoneSelectedInFolder checks the same for files, with other reasons.
func TestNoneSelectedInFolder(t *testing.T) {
	t.Parallel()
	b := newHarness(t, []string{"files"}, func(o *Options) {
		o.Variants[0].Profile.RequiredLabel = ""
		o.Variants[0].Filter.Exclude = []string{"a.example.org"}
	})
	b.sources["files"].set("a.yaml", unlabelled("a"))
	run, err := b.read(t, "files")
	if err != nil || run.Notice != `1 definition found, 0 selected: 1 of them because name "a.example.org" is excluded` {
		t.Errorf("run is %+v (%v), want the notice that the name is excluded", run, err)
	}
	b.sources["files"].set("b.yaml", unlabelled("b"))
	if run, err = b.read(t, "files"); err != nil || run.Selected != 1 || run.Notice != "" || b.catalog.entries()["Template b.example.org"] == "" {
		t.Errorf("run without a required label is %+v (%v), want one selected", run, err)
	}
	if engine.ComposerIngestor.RequiredLabel == "" {
		t.Error("profile requires no label any more")
	}
}
