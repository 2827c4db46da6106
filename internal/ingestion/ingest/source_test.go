package ingest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/object"
	"example.dev/ingestor/xrd"
)

// TestSource checks that the source of an entity is the object that the entity is built
// from, without what an API server adds.
func TestSource(t *testing.T) {
	t.Parallel()
	b := newHarness(t, []string{"files", "more"}, nil)
	generation := func(text, n string) string {
		return strings.Replace(text, "metadata:", "metadata:\n  generation: "+n, 1)
	}
	named := func(name, more string) string {
		return strings.Replace(aComposition("fast", "buckets"), "{name: fast}", "{name: "+name+more+"}", 1)
	}
	b.sources["files"].set("a.yaml", generation(definition("buckets", "first"), "1"))
	b.sources["files"].set("b.yaml", generation(definition("buckets", "second"), "3"))
	b.sources["files"].set("c.yaml", generation(definition("buckets", "refused"), "9"))
	b.sources["files"].set("c.yaml", strings.Replace(b.sources["files"].files["c.yaml"], `"true"`, `"false"`, 1))
	b.sources["files"].set("fast-1.yaml", named("fast", ", labels: {from: first}"))
	b.sources["files"].set("fast-2.yaml", named("fast", ", generation: 2, labels: {from: second}"))
	b.sources["files"].set("queues.yaml", definition("queues", "size"))
	b.sources["more"].set("a.yaml", generation(definition("buckets", "more"), "2"))
	b.sources["more"].set("slow.yaml", named("slow", ", namespace: shop"))
	for _, name := range []string{"files", "more"} {
		if _, err := b.read(t, name); err != nil {
			t.Fatal(err)
		}
	}
	b.observeCluster(t)

	for name, tc := range map[string]struct {
		reason, unit, composition string
		// source is empty if there is no source.
		source string
		// path leads to a value of the object, which is want.
		path []string
		want string
	}{
		"Definition":  {"Of several copies, the one that entities are built from is returned; a refused one is not.", "buckets.example.org", "", "sources/files", []string{"metadata", "generation"}, "3"},
		"Composition": {"Of several Compositions of one name, the one that is used is returned.", "buckets.example.org", "fast", "sources/files", []string{"metadata", "labels", "from"}, "second"},
		"Namespace":   {"A Composition is found by its name alone.", "buckets.example.org", "slow", "sources/more", []string{"metadata", "name"}, "slow"},
		"Cluster":     {"A Composition is found in a cluster, although a composite has its name.", "buckets.example.org", "live", "production", []string{"kind"}, "Composition"},
		"Managed":     {"Managed fields are not stored.", "buckets.example.org", "live", "production", []string{"metadata", "managedFields"}, ""},
		"Uid":         {"What identifies one object of a cluster is not stored.", "buckets.example.org", "live", "production", []string{"metadata", "uid"}, ""},
		"Composite":   {"A composite is no source.", "buckets.example.org", "photos", "", nil, ""},
		"OtherKind":   {"A Composition of another definition is not returned.", "queues.example.org", "fast", "", nil, ""},
		"Unknown":     {"An unknown definition has no source.", "nosuch.example.org", "", "", nil, ""},
		"Workload":    {"A workload is no source.", "workload:shop", "", "", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok, err := b.Source(t.Context(), tc.unit, tc.composition)
			if err != nil || ok != (tc.source != "") {
				t.Fatalf("got %t %v, want %t: %s", ok, err, tc.source != "", tc.reason)
			}
			if !ok {
				return
			}
			n, err := wire.Decoder{}.Decode(got.Object)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([2]string{"composerIngestor/" + tc.source, tc.want}, [2]string{got.Source, n.Get(tc.path...).Scalar()}); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// observeCluster stores a Composition of a cluster, and composites, one of which has the
// same name.
func (b *harness) observeCluster(t *testing.T) {
	t.Helper()
	const source = "composerIngestor/production"
	origin := xrd.Origin{Source: xrd.SourceCluster, Cluster: "production"}
	see := func(list string, o mirror.Object, key string) {
		t.Helper()
		o.Source, o.List, o.Key, o.Version = source, list, key, 1
		if _, err := b.Mirror.Observe(t.Context(), mirror.Observation{Source: source, List: list, Put: []mirror.Object{o}}); err != nil {
			t.Fatal(err)
		}
	}
	read := func(text string) *tree.Node {
		t.Helper()
		set := &xrd.Set{}
		if err := set.Read(strings.NewReader(text), xrd.Origin{}); err != nil {
			t.Fatal(err)
		}
		if len(set.Compositions) > 0 {
			return set.Compositions[0].Node
		}
		return set.Others[0].Node
	}
	live := strings.Replace(aComposition("live", "buckets"), "{name: live}", "{name: live, uid: a1, managedFields: [{manager: kubectl}]}", 1)
	see(object.ListCompositions+"x", object.FromComposition(read(live), origin), "live")
	for _, name := range []string{"live", "photos"} {
		composite := "apiVersion: example.org/v1\nkind: Xbuckets\nmetadata: {name: " + name + "}\n"
		see(object.ListComposites+"x", object.FromComposite(read(composite), origin), name)
	}
	workload := object.FromWorkload(read("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: shop}\n"), "shop", origin)
	see(object.ListWorkloads+"x", workload, "shop")
}
