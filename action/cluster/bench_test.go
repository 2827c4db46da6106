package cluster_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	actions "example.dev/ingestor/action/cluster"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/test/apiserver"
)

// BenchmarkApply applies new objects to a real server, four at once:
// validation, dry run and apply.
func BenchmarkApply(b *testing.B) {
	s, err := shared()
	if errors.Is(err, apiserver.ErrOff) {
		b.Skip(err)
	}
	if err != nil {
		b.Fatal(err)
	}
	fleet := actions.NewFleet([]source.Cluster{{Name: "real", Kubeconfig: s.Kubeconfig}}, cluster.Options{})
	apply := actions.Actions(fleet, actions.Options{})[0]
	var number atomic.Int64
	run := fmt.Sprintf("bench-%d", b.N)
	b.SetParallelism(2)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if r := do(b.Context(), b, apply, with(thing("default", fmt.Sprint(run, "-", number.Add(1)), "{size: small}"), "")); r.err != nil {
				b.Error(r.message())
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
}
