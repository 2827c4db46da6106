package mirror

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/test/database"
)

// TestWorkingOffAtOnce has replicas observe the same objects, late and out of
// order, while replicas process the units. In the end every unit was built from
// the newest version.
func TestWorkingOffAtOnce(t *testing.T) {
	const keys, versions = 6, 40
	onBoth(t, func(t *testing.T, open func() *Mirror) {
		stores := []*Mirror{open(), open()}
		var observers, workers sync.WaitGroup
		for i, s := range stores {
			observers.Go(func() {
				for v := 1; v <= versions; v++ {
					// One replica is ahead of the other.
					version := int64(v)
					if i == 0 {
						version = int64(max(1, v-7))
					}
					for k := range keys {
						o := Object{Key: fmt.Sprint(k), Unit: fmt.Sprint("u", k), Version: version, Body: fmt.Append(nil, version)}
						if _, err := s.Observe(context.Background(), Observation{Source: "s", List: "l", Put: []Object{o}}); err != nil {
							t.Error(err)
							return
						}
					}
				}
			})
		}
		var mu sync.Mutex
		made := map[string]string{}
		observed := make(chan struct{})
		for _, s := range stores {
			workers.Go(func() {
				for last := false; ; {
					units, err := s.Units(context.Background(), 2)
					if err != nil {
						t.Error(err)
						return
					}
					if len(units) == 0 {
						if last {
							return
						}
						select {
						case <-observed:
							last = true
						case <-time.After(time.Millisecond):
						}
						continue
					}
					// Both may process a unit, but never replace it with an older build.
					turn := stores[0]
					if s.Client == db.Postgres {
						turn = s
					}
					err = turn.WithLock(context.Background(), "work", func(ctx context.Context) error {
						objects, err := s.UnitObjects(ctx, unitNames(units))
						if err != nil {
							return err
						}
						mu.Lock()
						defer mu.Unlock()
						for _, o := range objects {
							made[o.Unit] = string(o.Body)
						}
						return s.Done(ctx, units)
					})
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		observers.Wait()
		close(observed)
		workers.Wait()
		for k := range keys {
			if got := made[fmt.Sprint("u", k)]; got != strconv.Itoa(versions) {
				t.Errorf("unit %d was last built from version %s", k, got)
			}
		}
	})
}

// TestReplicasConverge has two replicas observe the history of a cluster out of
// order. After all observations, or a list of the final state, the store has the
// final state.
func TestReplicasConverge(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Mirror) {
		replicas := []*Mirror{open(), open()}
		rapid.Check(t, func(rt *rapid.T) {
			if _, err := replicas[0].DropSources(rt.Context(), nil); err != nil {
				rt.Fatal(err)
			}
			for _, replica := range replicas {
				// The versions of this source restart at one without notice.
				replica.horizons.clear()
			}
			lists := rapid.Bool().Draw(rt, "lists")
			live := map[string]Object{}
			var told []Observation
			end := Observation{}
			for v := int64(1); v <= int64(rapid.IntRange(1, 12).Draw(rt, "events")); v++ {
				key := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "key")
				event := Observation{Source: "s", List: "l"}
				if _, there := live[key]; there && rapid.Bool().Draw(rt, "delete") {
					delete(live, key)
					event.Gone = []Gone{{Key: key, Version: v}}
				} else {
					live[key] = Object{Key: key, Unit: "u" + key, Version: v, Body: fmt.Append(nil, v)}
					event.Put = []Object{live[key]}
				}
				told = append(told, event)
				end = Observation{Source: "s", List: "l", Complete: true, Version: v}
				for _, o := range live {
					end.Put, end.Keys = append(end.Put, o), append(end.Keys, o.Key)
				}
				if lists && rapid.IntRange(0, 2).Draw(rt, "list") == 0 {
					told = append(told, end)
				}
			}
			told = append(told, rapid.SliceOfN(rapid.SampledFrom(told), 0, 3).Draw(rt, "twice")...)
			told = rapid.Permutation(told).Draw(rt, "order")
			if lists {
				told = append(told, end)
			}
			for _, o := range told {
				if _, err := replicas[rapid.IntRange(0, 1).Draw(rt, "replica")].Observe(rt.Context(), o); err != nil {
					rt.Fatal(err)
				}
			}
			got, err := replicas[0].SourceObjects(rt.Context(), "s")
			if err != nil {
				rt.Fatal(err)
			}
			for _, o := range got {
				if o.Version != live[o.Key].Version {
					rt.Fatalf("%s has version %d, want %d", o.Key, o.Version, live[o.Key].Version)
				}
			}
			if len(got) != len(live) {
				rt.Fatalf("mirror has %d objects, want %d", len(got), len(live))
			}
		})
	})
}

// crashObserve is the environment variable by which TestCrashObserve tells a
// child process which database to write until it is killed.
const crashObserve = "STORE_CRASH_OBSERVE"

// TestCrashObserve kills a process that observes one generation of objects after
// the other and processes each. The stored objects are of one generation, and
// unless it was processed, all its units are dirty.
func TestCrashObserve(t *testing.T) {
	const size = 300
	if path := os.Getenv(crashObserve); path != "" {
		s := New(database.Open(t, db.Options{Client: db.SQLite, Path: path, Now: time.Now}))
		states, err := s.SourceStates(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		first, _ := strconv.Atoi(string(states["done"]))
		fmt.Println("ready")
		for n := first + 2; ; n++ {
			o := Observation{Source: "s", List: "l", Complete: true, Version: int64(n)}
			for i := range size {
				o.Put = append(o.Put, Object{
					Key: fmt.Sprint(i), Unit: fmt.Sprint("u", i), Version: int64(n), Body: fmt.Append(nil, n),
				})
			}
			mustObserve(t, s, o)
			units, err := s.Units(t.Context(), NoLimit)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.SetSource(t.Context(), "done", fmt.Append(nil, n)); err != nil {
				t.Fatal(err)
			}
			if err := s.Done(t.Context(), units); err != nil {
				t.Fatal(err)
			}
		}
	}
	path := filepath.Join(t.TempDir(), "portal.db")
	opts := db.Options{Client: db.SQLite, Path: path, Now: time.Now}
	for range 5 {
		database.Crash(t, "TestCrashObserve", crashObserve, path)
		s := New(database.Open(t, opts))
		objects, err := s.UnitObjects(t.Context(), func() (names []string) {
			for i := range size {
				names = append(names, fmt.Sprint("u", i))
			}
			return names
		}())
		if err != nil {
			t.Fatal(err)
		}
		states, err := s.SourceStates(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		units, err := s.Units(t.Context(), NoLimit)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if len(objects) == 0 {
			continue
		}
		there := string(objects[0].Body)
		mixed := slices.ContainsFunc(objects, func(o Object) bool { return string(o.Body) != there })
		if len(objects) != size || mixed {
			t.Errorf("mirror has %d objects, of several generations: %v", len(objects), mixed)
		}
		if there != string(states["done"]) && len(units) != size {
			t.Errorf("stored generation is %s, processed %s, but %d units are dirty", there, states["done"], len(units))
		}
	}
}
