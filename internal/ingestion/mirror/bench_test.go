package mirror

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"example.dev/ingestor/test/database"
)

// benchObservation returns 500 objects of 10 KB.
func benchObservation(from int, version int64) Observation {
	o := Observation{Source: "composerIngestor/prod", List: "definitions"}
	filler := strings.Repeat("A definition as its cluster has it. ", 280)
	for i := from; i < from+500; i++ {
		name := fmt.Sprintf("xsamples%05d.platform.example.org", i)
		o.Put = append(o.Put, Object{
			Key: name, Unit: "definition:" + name, Kind: fmt.Sprint("platform.example.org/XSample", i),
			Claim: fmt.Sprint("platform.example.org/Sample", i), Version: version, Body: fmt.Appendf(nil, "%d %d %s", i, version, filler),
		})
	}
	return o
}

// BenchmarkObserve measures a mirror of 5,000 definitions and 10,000 composites.
func BenchmarkObserve(b *testing.B) {
	s := New(database.Open(b, database.SQLite(b)))
	var keys []string
	for from := 0; from < 5000; from += 500 {
		o := benchObservation(from, 1)
		for _, p := range o.Put {
			keys = append(keys, p.Key)
		}
		if _, err := s.Observe(b.Context(), o); err != nil {
			b.Fatal(err)
		}
	}
	composites := Observation{Source: "composerIngestor/prod", List: "composites"}
	for i := range 10_000 {
		composites.Put = append(composites.Put, Object{
			Key: fmt.Sprint("ns/", i), Of: fmt.Sprint("platform.example.org/Sample", i%5000), Version: 1, Body: bytes.Repeat([]byte("x"), 1000),
		})
	}
	if _, err := s.Observe(b.Context(), composites); err != nil {
		b.Fatal(err)
	}
	b.Run("Changed500", func(b *testing.B) {
		for version := int64(2); b.Loop(); version++ {
			if n, err := s.Observe(b.Context(), benchObservation(0, version)); err != nil || n != 500 {
				b.Fatal(n, err)
			}
		}
	})
	b.Run("Unchanged5000", func(b *testing.B) {
		o := Observation{Source: "composerIngestor/prod", List: "definitions", Complete: true, Keys: keys, Version: 1}
		for b.Loop() {
			if n, err := s.Observe(b.Context(), o); err != nil || n != 0 {
				b.Fatal(n, err)
			}
		}
	})
	b.Run("Touch5000", func(b *testing.B) {
		for b.Loop() {
			if n, err := s.TouchSource(b.Context(), "composerIngestor/prod", ""); err != nil || n != 5000 {
				b.Fatal(n, err)
			}
		}
	})
	b.Run("Units100", func(b *testing.B) {
		for b.Loop() {
			units, err := s.Units(b.Context(), 100)
			if err != nil || len(units) != 100 {
				b.Fatal(len(units), err)
			}
		}
	})
	b.Run("UnitObjects10", func(b *testing.B) {
		var names []string
		for _, key := range keys[100:110] {
			names = append(names, "definition:"+key)
		}
		for b.Loop() {
			if all, err := s.UnitObjects(b.Context(), names); err != nil || len(all) != 10 {
				b.Fatal(len(all), err)
			}
		}
	})
	b.Run("KindObjects20", func(b *testing.B) {
		var kinds []string
		for i := range 20 {
			kinds = append(kinds, fmt.Sprint("platform.example.org/Sample", 7*i))
		}
		for b.Loop() {
			if all, err := s.KindObjects(b.Context(), kinds); err != nil || len(all) != 40 {
				b.Fatal(len(all), err)
			}
		}
	})
	b.Run("Done5000", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			if _, err := s.TouchSource(b.Context(), "composerIngestor/prod", ""); err != nil {
				b.Fatal(err)
			}
			units, err := s.Units(b.Context(), NoLimit)
			if err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
			if err := s.Done(b.Context(), units); err != nil {
				b.Fatal(err)
			}
		}
	})
}
