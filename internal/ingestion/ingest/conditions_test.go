package ingest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/internal/ingestion/batch"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/object"
	"example.dev/ingestor/xrd"
)

// TestConditions checks that conditions of a composite are stored and returned,
// and that messages and heartbeats do not change the catalog.
func TestConditions(t *testing.T) {
	t.Parallel()
	const source, secret = "composerIngestor/a", "a-password-0815"
	b := newHarness(t, nil, nil)
	origin := xrd.Origin{Source: xrd.SourceCluster, Cluster: "a", Location: "url:https://a.example.org"}
	version := int64(0)
	see := func(list, text string) {
		t.Helper()
		set := &xrd.Set{}
		if err := set.Read(strings.NewReader(text), xrd.Origin{}); err != nil {
			t.Fatal(err)
		}
		version++
		var o mirror.Object
		for _, d := range set.Definitions {
			o = b.variants[0].Definition(d.Node, origin)
			o.Key = d.Name
		}
		for _, c := range set.Others {
			o = object.FromComposite(c.Node, origin)
			o.Key = object.Key(c.Namespace, c.Name)
		}
		o.Source, o.List, o.Version = source, list, version
		if strings.Contains(string(o.Body)+string(o.Status)+string(o.Note), secret) {
			t.Errorf("stored object contains a secret: %s %s %s", o.Body, o.Status, o.Note)
		}
		if _, err := b.Mirror.Observe(t.Context(), mirror.Observation{Source: source, List: list, Put: []mirror.Object{o}, Look: true}); err != nil {
			t.Fatal(err)
		}
	}
	work := func() batch.Tally {
		t.Helper()
		tally, err := b.processor.Process(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return tally
	}
	beats := 0
	composite := func(status, message, since string) string {
		beats++
		return fmt.Sprintf(`apiVersion: example.org/v1
kind: Xbuckets
metadata: {name: photos, namespace: shop}
status:
  password: %s
  conditions:
    - {type: Ready, status: %q, reason: Creating, message: %q, lastTransitionTime: %q, lastHeartbeatTime: "2026-01-02T04:04:%02dZ"}
    - {type: Odd, status: "True", message: %q}
    - {status: "True"}
`, secret, status, message, since, beats, strings.Repeat("ä", 2048))
	}
	named := object.Composite{Cluster: "a", APIVersion: "example.org/v1", Kind: "Xbuckets", Namespace: "shop", Name: "photos"}
	told := func() []object.Condition {
		t.Helper()
		all, ok, err := b.Conditions(t.Context(), named)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		return all
	}

	see("definitions x", definition("buckets", "region"))
	see("composites x", composite("False", "https://me:"+secret+"@example.org is slow", "2026-01-02T03:04:05Z"))
	if tally := work(); !tally.Changed() {
		t.Fatal("first event changed nothing, want entities")
	}
	odd := object.Condition{Type: "Odd", Status: "True", Message: strings.Repeat("ä", 2048/2) + "…"}
	want := []object.Condition{{Type: "Ready", Status: "False", Reason: "Creating", Message: "https://example.org is slow", Since: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}, odd}
	if diff := cmp.Diff(want, told()); diff != "" {
		t.Errorf("first conditions (-want +got):\n%s", diff)
	}

	see("composites x", composite("False", "2 of 3", "2026-01-02T03:04:05Z"))
	if tally := work(); tally.Changed() {
		t.Errorf("changed message wrote to the catalog: %+v", tally)
	}
	want[0].Message = "2 of 3"
	if diff := cmp.Diff(want, told()); diff != "" {
		t.Errorf("second conditions (-want +got):\n%s", diff)
	}
	wantReadiness := func(want ...string) {
		t.Helper()
		for ref, text := range b.catalog.entries() {
			if !strings.Contains(ref, "photos") {
				continue
			}
			n, err := wire.Decoder{}.Decode([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, []string{n.Get("spec", "readiness").Str(), n.Get("spec", "readinessSince").Str()}); diff != "" {
				t.Errorf("readiness (-want +got):\n%s", diff)
			}
		}
	}
	wantReadiness("not ready", "2026-01-02T03:04:05Z")

	see("composites x", composite("True", "", "no time"))
	if tally := work(); !tally.Changed() {
		t.Error("catalog was not updated, want the ready state")
	}
	wantReadiness("ready", "")
	want[0] = object.Condition{Type: "Ready", Status: "True", Reason: "Creating"}
	if diff := cmp.Diff(want, told()); diff != "" {
		t.Errorf("last conditions (-want +got):\n%s", diff)
	}
	for _, other := range []object.Composite{
		{Cluster: "b", APIVersion: named.APIVersion, Kind: named.Kind, Namespace: named.Namespace, Name: named.Name},
		{Cluster: "a", APIVersion: named.APIVersion, Kind: named.Kind, Namespace: "other", Name: named.Name},
		{Cluster: "a", APIVersion: "v1", Kind: "Secret", Namespace: named.Namespace, Name: named.Name},
	} {
		if _, ok, err := b.Conditions(t.Context(), other); ok || err != nil {
			t.Errorf("conditions of %+v were returned, want none (%v)", other, err)
		}
	}
}
