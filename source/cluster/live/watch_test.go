package live_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/source/cluster/live"
	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/xrd/composed"
)

// TestWatches checks that the author of a composite cannot make the portal open any number
// of watches, and that followers close theirs.
func TestWatches(t *testing.T) {
	s := apiserver.Start(t, apiserver.Options{CRDs: "none"})
	on, err := cluster.Connect(source.Cluster{Name: "test", Kubeconfig: s.Kubeconfig}, cluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	watches := live.NewWatches(live.NewKinds(time.Now))
	var refs []composed.Ref
	for i := range 200 {
		refs = append(refs, composed.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: fmt.Sprintf("team-%d", i), Name: "a"})
	}

	f := watches.Follow(on)
	f.Set(t.Context(), refs)
	if n := watches.Len(); n == 0 || n > 40 {
		t.Errorf("%d watches are open, want 40 at most", n)
	}
	if f.IsComplete() {
		t.Error("follower is complete, although it does not follow all objects")
	}
	f.Set(t.Context(), refs[:2])
	if n := watches.Len(); n != 3 {
		t.Errorf("%d watches are open, want one of ConfigMaps and two of events", n)
	}
	f.Close()
	f.Close()
	if n := watches.Len(); n != 0 {
		t.Errorf("%d watches are open after the follower was closed", n)
	}

	var all sync.WaitGroup
	for i := range 10 {
		all.Go(func() {
			f := watches.Follow(on)
			defer f.Close()
			for j := range 10 {
				f.Set(t.Context(), refs[i:i+j])
				f.IsComplete()
			}
		})
	}
	all.Wait()
	if n := watches.Len(); n != 0 {
		t.Errorf("%d watches are open after all followers were closed", n)
	}
}
