package crossplane_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/internal/plan"
	"example.dev/ingestor/internal/plan/render"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/source/cluster/live"
	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/crossplane"
)

// mostPlan is the target of docs/benchmarks.md.
const mostPlan = 300 * time.Millisecond

// BenchmarkPlan measures the plan of one composite with five composed objects, with the
// real Crossplane, function and API server.
func BenchmarkPlan(b *testing.B) {
	s := apiserver.Start(b, apiserver.Options{CRDs: "none"})
	core := crossplane.Start(b, s)
	core.Define(b, crossplane.Definitions, fiveParts())
	s.Apply(b, "apiVersion: v1\nkind: Namespace\nmetadata: {name: shops}\n")
	program, err := core.Program()
	if err != nil {
		b.Fatal(err)
	}
	on, err := cluster.Connect(source.Cluster{Name: "test", Kubeconfig: s.Kubeconfig}, cluster.Options{})
	if err != nil {
		b.Fatal(err)
	}
	kinds := live.NewKinds(time.Now)
	docs, _ := parser.DecodeBytes([]byte(site("five")))
	planner := plan.New(plan.Options{Render: render.New(render.Options{Program: program})})
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		got, err := planner.Plan(b.Context(), plan.Request{
			Cluster: "test", Manifest: docs[0], Source: live.NewObjects(on, kinds), Machine: plan.ClusterMachine(on, kinds, nil, plan.DefaultSecret),
		})
		if err != nil || got.Counts.Create != 5 {
			b.Fatalf("cannot plan five objects: %v, %+v", err, got)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	p50 := took[len(took)/2]
	b.ReportMetric(float64(p50.Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
	if p50 > mostPlan {
		b.Errorf("p50 is %v, want at most %v", p50, mostPlan)
	}
}

// fiveParts returns a Composition of Websites with five ConfigMaps.
func fiveParts() string {
	var text strings.Builder
	text.WriteString(`---
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: five}
spec:
  compositeTypeRef: {apiVersion: shops.example.org/v1, kind: Website}
  mode: Pipeline
  pipeline:
    - step: compose
      functionRef: {name: function-patch-and-transform}
      input:
        apiVersion: pt.fn.crossplane.io/v1beta1
        kind: Resources
        resources:
`)
	for i := range 5 {
		fmt.Fprintf(&text, "          - {name: part-%d, base: {apiVersion: v1, kind: ConfigMap}, patches: [{type: FromCompositeFieldPath, fromFieldPath: spec.title, toFieldPath: data.title}]}\n", i)
	}
	return text.String()
}
