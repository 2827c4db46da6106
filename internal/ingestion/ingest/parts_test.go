package ingest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/object"
	"example.dev/ingestor/internal/ingestion/unit"
	"example.dev/ingestor/xrd"
)

// sees stores an object as a watch of a cluster would. An empty text deletes the object.
func (b *harness) sees(t *testing.T, cluster, list, key, text string, version int64) {
	t.Helper()
	o := mirror.Observation{Source: "composerIngestor/" + cluster, List: list, Look: true}
	if text == "" {
		o.Gone = []mirror.Gone{{Key: key, Version: version}}
	}
	set := &xrd.Set{}
	if err := set.Read(strings.NewReader(text), xrd.Origin{}); err != nil {
		t.Fatal(err)
	}
	origin := xrd.Origin{Source: xrd.SourceCluster, Cluster: cluster, Location: "url:https://" + cluster + ".example.org"}
	for _, d := range set.Definitions {
		o.Put = append(o.Put, b.variants[0].Definition(d.Node, origin))
	}
	for _, c := range set.Others {
		o.Put = append(o.Put, object.FromComposite(c.Node, origin))
	}
	for i := range o.Put {
		o.Put[i].Source, o.Put[i].List, o.Put[i].Key, o.Put[i].Version = o.Source, list, key, version
	}
	if _, err := b.Mirror.Observe(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

// dependencies returns what the Resource of a composite depends on, besides its definition.
func (b *harness) dependencies(t *testing.T, name string) []string {
	t.Helper()
	out := []string{}
	for ref, text := range b.catalog.entries() {
		if !strings.HasPrefix(ref, "Resource "+name+"-") {
			continue
		}
		n, err := wire.Decoder{}.Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range n.Get("spec", "dependsOn").Strings() {
			if name := strings.TrimPrefix(to, "resource:default/"); !strings.HasSuffix(name, "-xrd") {
				out = append(out, name[:strings.LastIndex(name, "-")])
			}
		}
	}
	slices.Sort(out)
	return out
}

// TestParts checks that a composite is related to the composites of other definitions that
// it composes as soon as they have entities, whatever comes first, and no longer.
func TestParts(t *testing.T) {
	t.Parallel()
	const part = "{apiVersion: example.org/v1, kind: Xsmalls, name: part}"
	shop := aComposite("shop", "bigs", part, "{apiVersion: other.example.org/v1, kind: Bucket, name: files}", "{apiVersion: v1, kind: ConfigMap, name: notes}")
	type step struct {
		reason                   string
		cluster, list, key, text string
		want                     []string
	}
	steps := []step{
		{"A composite whose definition is the only one is related to nothing.", "a", "definitions x", "bigs.example.org", definition("bigs", "x"), []string{}},
		{"The part does not exist.", "a", "composites bigs", "shop/shop", shop, []string{}},
		{"The part in another cluster is another object.", "b", "definitions x", "smalls.example.org", definition("smalls", "x"), []string{}},
		{"The part in another cluster is another object.", "b", "composites smalls", "shop/part", aComposite("part", "smalls"), []string{}},
		{"The definition of the part appears, and the part is not known.", "a", "definitions x", "smalls.example.org", definition("smalls", "x"), []string{}},
		{"An object of the same kind and another name is no part.", "a", "composites smalls", "shop/other", aComposite("other", "smalls"), []string{}},
		{"The part appears.", "a", "composites smalls", "shop/part", aComposite("part", "smalls"), []string{"part"}},
		{"The part disappears.", "a", "composites smalls", "shop/part", "", []string{}},
		{"The part appears again.", "a", "composites smalls", "shop/part", aComposite("part", "smalls"), []string{"part"}},
		{"The definition of the part is no longer ingested in one of the clusters, and the entity stays.", "a", "definitions x", "smalls.example.org", "", []string{"part"}},
		{"The definition of the part is no longer ingested, and the part has no entity.", "b", "definitions x", "smalls.example.org", "", []string{}},
		{"The definition is ingested again.", "b", "definitions x", "smalls.example.org", definition("smalls", "x"), []string{"part"}},
		{"The composite no longer composes the part.", "a", "composites bigs", "shop/shop", aComposite("shop", "bigs"), []string{}},
	}
	b := newHarness(t, nil, func(o *Options) { o.Caching = unit.Caching{Enabled: true, TTL: time.Minute, MaxSize: 10} })
	for i, s := range steps {
		b.sees(t, s.cluster, s.list, s.key, s.text, int64(i+1))
		b.works(t)
		if diff := cmp.Diff(s.want, b.dependencies(t, "shop")); diff != "" {
			t.Errorf("step %d: %s\n(-want +got):\n%s", i+1, s.reason, diff)
		}
	}
	b.sees(t, "a", "composites bigs", "shop/shop", shop, 100)
	b.works(t)
	if _, err := b.Mirror.DropLists(t.Context(), "composerIngestor/a", []string{"composites smalls"}); err != nil {
		t.Fatal(err)
	}
	b.works(t)
	if got := b.dependencies(t, "shop"); len(got) > 0 {
		t.Errorf("composite depends on %v after the list of its parts was dropped", got)
	}
}

// TestPartsInFolder checks relations between composites that are described in files.
func TestPartsInFolder(t *testing.T) {
	t.Parallel()
	b := newHarness(t, []string{"one", "two"}, nil)
	read := func(name string) {
		t.Helper()
		if _, err := b.read(t, name); err != nil {
			t.Fatal(err)
		}
	}
	b.sources["one"].set("bigs", definition("bigs", "x"))
	b.sources["one"].set("shop", aComposite("shop", "bigs", "{apiVersion: example.org/v1, kind: Xsmalls, name: part}"))
	read("one")
	if got := b.dependencies(t, "shop"); len(got) > 0 {
		t.Errorf("composite depends on %v, want nothing", got)
	}
	b.sources["two"].set("smalls", definition("smalls", "x")+"---\n"+aComposite("part", "smalls"))
	read("two")
	if diff := cmp.Diff([]string{"part"}, b.dependencies(t, "shop")); diff != "" {
		t.Errorf("dependencies (-want +got):\n%s", diff)
	}
}
