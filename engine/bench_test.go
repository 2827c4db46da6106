package engine_test

import (
	"bytes"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

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
		tb.Fatalf("sample has %d definitions, findings %v", len(set.Definitions), set.Findings)
	}
	return set.Definitions[0]
}

// cpuSeconds returns the CPU time of this process, because on a shared machine
// wall time says little about a core.
func cpuSeconds(tb testing.TB) float64 {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// BenchmarkTransform transforms one definition with 61 leaf fields to Template,
// API and Resource; the relevant figure is definitions per second of CPU time.
func BenchmarkTransform(b *testing.B) {
	d := definition(b, sample.Definition(0))
	e := engine.New(engine.CLI, engine.Options{}, engine.Hooks{})
	b.ReportAllocs()
	before := cpuSeconds(b)
	for b.Loop() {
		res, err := e.Transform(engine.Input{Definition: d})
		if err != nil || len(res.Entities) != 3 {
			b.Fatalf("%d entities, error %v", len(res.Entities), err)
		}
	}
	b.ReportMetric(float64(b.N)/(cpuSeconds(b)-before), "XRDs/cpu-s")
}

// BenchmarkReadAndTransform is BenchmarkTransform from the YAML text of the definition.
func BenchmarkReadAndTransform(b *testing.B) {
	data := sample.Definition(0)
	e := engine.New(engine.CLI, engine.Options{}, engine.Hooks{})
	b.ReportAllocs()
	before := cpuSeconds(b)
	for b.Loop() {
		res, err := e.Transform(engine.Input{Definition: definition(b, data)})
		if err != nil || len(res.Entities) != 3 {
			b.Fatalf("%d entities, error %v", len(res.Entities), err)
		}
	}
	b.ReportMetric(float64(b.N)/(cpuSeconds(b)-before), "XRDs/cpu-s")
}

// BenchmarkTransformAndWrite adds validation and the YAML output.
func BenchmarkTransformAndWrite(b *testing.B) {
	d := definition(b, sample.Definition(0))
	e := engine.New(engine.CLI, engine.Options{}, engine.Hooks{})
	var buf []byte
	b.ReportAllocs()
	before := cpuSeconds(b)
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
	b.ReportMetric(float64(b.N)/(cpuSeconds(b)-before), "XRDs/cpu-s")
}

// BenchmarkParseOnly is the baseline for the others: the YAML parser alone on
// the same definition. On a shared machine only the ratio is stable.
func BenchmarkParseOnly(b *testing.B) {
	data := sample.Definition(0)
	b.ReportAllocs()
	before := cpuSeconds(b)
	for b.Loop() {
		var n yaml.Node
		if err := yaml.Unmarshal(data, &n); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/(cpuSeconds(b)-before), "XRDs/cpu-s")
}
