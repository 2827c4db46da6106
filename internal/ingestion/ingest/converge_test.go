package ingest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/internal/ingestion/batch"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/object"
	"example.dev/ingestor/internal/ingestion/unit"
	"example.dev/ingestor/internal/ingestion/variant"
	"example.dev/ingestor/xrd"
)

// settled removes the discovery times from documents.
func settled(documents map[string]string) map[string]string {
	out := map[string]string{}
	for ref, text := range documents {
		n, err := wire.Decoder{}.Decode([]byte(text))
		if err != nil {
			panic(err)
		}
		annotations := n.Get("metadata", "annotations")
		annotations.Fields = slices.DeleteFunc(annotations.Fields, func(f tree.Field) bool { return strings.HasSuffix(f.Key, "/discovered-at") })
		out[ref] = string(tree.AppendCanonical(nil, n))
	}
	return out
}

// TestFoldersConverge changes, breaks and restores folders at random. Once all
// can be read, the catalog is the same as after a first scan.
func TestFoldersConverge(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 1))
			names := []string{"one", "two"}
			b := newHarness(t, names, func(o *Options) { o.Caching = unit.Caching{Enabled: true, TTL: time.Minute, MaxSize: 10} })
			for range 40 {
				name := names[random.IntN(2)]
				at := b.sources[name]
				which := fmt.Sprintf("d%d", random.IntN(4))
				switch random.IntN(6) {
				case 0, 1:
					at.set(which, definition(which, fmt.Sprintf("field%d", random.IntN(3))))
				case 2:
					at.set("c"+which, aComposition(which+"-one", which))
				case 3:
					at.set([]string{which, "c" + which}[random.IntN(2)], "")
				case 4:
					at.fail(errors.New("away"))
				case 5:
					at.fail(nil)
				}
				if random.IntN(2) == 0 {
					// The state of the source reports failures.
					_, _ = b.read(t, name)
				}
			}
			fresh := newHarness(t, names, nil)
			for _, name := range names {
				b.sources[name].fail(nil)
				fresh.sources[name].files = b.sources[name].files
			}
			for _, name := range names {
				if _, err := b.read(t, name); err != nil {
					t.Fatal(err)
				}
				if _, err := fresh.read(t, name); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(settled(fresh.catalog.entries()), settled(b.catalog.entries())); diff != "" {
				t.Errorf("catalog differs from a fresh one: %s", diff)
			}
			if run, err := b.read(t, "one"); err != nil || run.Tally.Changed() || run.Changed != 0 {
				t.Errorf("unchanged scan returned %+v, %v; want no changes", run, err)
			}
		})
	}
}

// truth is the actual state of a cluster: objects by key, with versions.
type truth struct {
	version int64
	objects map[string]mirror.Object
	// past are earlier observations, which may arrive late.
	past []mirror.Observation
}

// change creates, updates or deletes an object.
func (c *truth) change(p *variant.Variant, source string, random *rand.Rand) {
	c.version++
	which := fmt.Sprintf("d%d", random.IntN(3))
	text, list, key := definition(which, fmt.Sprintf("field%d", random.IntN(4))), "definitions x", which+".example.org"
	switch random.IntN(4) {
	case 0:
		text, list, key = aComposition(which+"-one", which), "compositions x", which+"-one"
	case 1:
		// Composites compose others, of their own kind and of other kinds.
		name, part := fmt.Sprintf("c%d", random.IntN(3)), fmt.Sprintf("{apiVersion: example.org/v1, kind: Xd%d, name: c%d}", random.IntN(3), random.IntN(3))
		text, list, key = aComposite(name, which, part), "composites "+which, object.Key("shop", name)
	}
	if _, there := c.objects[list+key]; there && random.IntN(3) == 0 {
		delete(c.objects, list+key)
		c.past = append(c.past, mirror.Observation{Source: source, List: list, Gone: []mirror.Gone{{Key: key, Version: c.version}}})
		return
	}
	set := &xrd.Set{}
	if err := set.Read(strings.NewReader(text), xrd.Origin{}); err != nil {
		panic(err)
	}
	origin := xrd.Origin{Source: xrd.SourceCluster, Cluster: source, Location: "url:https://" + strings.ReplaceAll(source, "/", ".") + ".example.org"}
	var o mirror.Object
	for _, d := range set.Definitions {
		o = p.Definition(d.Node, origin)
	}
	for _, c := range set.Compositions {
		o = object.FromComposition(c.Node, origin)
	}
	for _, c := range set.Others {
		o = object.FromComposite(c.Node, origin)
	}
	o.Source, o.List, o.Key, o.Version = source, list, key, c.version
	c.objects[list+key] = o
	c.past = append(c.past, mirror.Observation{Source: source, List: list, Put: []mirror.Object{o}})
}

// listed returns a list of the current state.
func (c *truth) listed(source, list string) mirror.Observation {
	o := mirror.Observation{Source: source, List: list, Complete: true, Version: c.version}
	for _, x := range c.objects {
		if x.List == list {
			o.Put = append(o.Put, x)
			o.Keys = append(o.Keys, x.Key)
		}
	}
	return o
}

// TestClustersConverge changes clusters while their events arrive twice, late,
// out of order or not at all. Once each cluster was listed, the catalog is the
// same as after a first list.
func TestClustersConverge(t *testing.T) {
	t.Parallel()
	sources := []string{"composerIngestor/a", "composerIngestor/b"}
	lists := []string{"definitions x", "compositions x", "composites d0", "composites d1", "composites d2"}
	observe := func(t *testing.T, b *harness, o mirror.Observation) {
		t.Helper()
		if _, err := b.Mirror.Observe(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	work := func(t *testing.T, b *harness) batch.Tally {
		t.Helper()
		tally, err := b.processor.Process(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return tally
	}
	related := atomic.Int64{}
	t.Cleanup(func() {
		if !t.Failed() && related.Load() == 0 {
			t.Error("no composite is related to another, want some")
		}
	})
	for seed := range uint64(16) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 2))
			b := newHarness(t, nil, nil)
			clusters := map[string]*truth{}
			for _, source := range sources {
				// A list without a version would always win.
				clusters[source] = &truth{version: 1, objects: map[string]mirror.Object{}}
			}
			var late []mirror.Observation
			for range 60 {
				source := sources[random.IntN(2)]
				c := clusters[source]
				switch random.IntN(6) {
				case 0, 1, 2:
					c.change(b.variants[0], source, random)
				case 3:
					// A watch delivers an event that may be old.
					if len(c.past) > 0 {
						observe(t, b, c.past[random.IntN(len(c.past))])
					}
				case 4:
					o := c.listed(source, lists[random.IntN(len(lists))])
					if random.IntN(2) == 0 {
						late = append(late, o)
						continue
					}
					observe(t, b, o)
				case 5:
					if len(late) > 0 {
						observe(t, b, late[random.IntN(len(late))])
					}
				}
				if random.IntN(3) == 0 {
					work(t, b)
				}
			}
			fresh := newHarness(t, nil, nil)
			for source, c := range clusters {
				c.version++
				for _, list := range lists {
					observe(t, b, c.listed(source, list))
					observe(t, fresh, c.listed(source, list))
				}
			}
			work(t, b)
			work(t, fresh)
			if len(fresh.catalog.entries()) == 0 {
				t.Error("fresh catalog is empty, want entities to compare")
			}
			if diff := cmp.Diff(settled(fresh.catalog.entries()), settled(b.catalog.entries())); diff != "" {
				t.Errorf("catalog differs from a fresh one: %s", diff)
			}
			for _, text := range fresh.catalog.entries() {
				if strings.Contains(text, `"dependsOn"`) && strings.Contains(text, `"resource:default/c`) {
					related.Add(1)
				}
			}
			for _, o := range late {
				observe(t, b, o)
			}
			if tally := work(t, b); tally.Changed() {
				t.Errorf("late events changed the catalog: %+v", tally)
			}
		})
	}
}
