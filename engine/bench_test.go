package engine_test

import (
	"bytes"
	"testing"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/test/sample"
	"example.dev/ingestor/xrd"
)

func definition(tb testing.TB, data []byte) *xrd.Definition {
	tb.Helper()
	var set xrd.Set
	if err := set.Read(bytes.NewReader(data), xrd.Origin{File: "sample.yaml"}); err != nil {
		tb.Fatal(err)
	}
	if len(set.Definitions) != 1 || len(set.Findings) > 0 {
		tb.Fatalf("sample reads to %d definitions, findings %v", len(set.Definitions), set.Findings)
	}
	return set.Definitions[0]
}

// BenchmarkTransform is one definition of 61 leaf fields to Template, API and
// Resource; the figure to look at is definitions a second.
func BenchmarkTransform(b *testing.B) {
	d := definition(b, sample.Definition(0))
	e := engine.New(engine.CLI, engine.Options{}, engine.Hooks{})
	b.ReportAllocs()
	for b.Loop() {
		res, err := e.Transform(engine.Input{Definition: d})
		if err != nil || len(res.Entities) != 3 {
			b.Fatalf("%d entities, error %v", len(res.Entities), err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "XRDs/s")
}

// BenchmarkTransformAndWrite adds the checks and the writing as YAML.
func BenchmarkTransformAndWrite(b *testing.B) {
	d := definition(b, sample.Definition(0))
	e := engine.New(engine.CLI, engine.Options{}, engine.Hooks{})
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		res, err := e.Transform(engine.Input{Definition: d})
		if err != nil {
			b.Fatal(err)
		}
		buf = buf[:0]
		for _, x := range res.Entities {
			if fs := entity.Check(x); len(fs) > 0 {
				b.Fatal(fs)
			}
			buf = entity.AppendYAML(buf, x)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "XRDs/s")
}
