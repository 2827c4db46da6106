package location

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/internal/config"
)

// TestManyDocuments checks that the documents of a large location are not held in memory,
// and that they are the same as others.
func TestManyDocuments(t *testing.T) {
	const n = 20_000
	var files [2]strings.Builder
	for i := range n {
		text := component(fmt.Sprintf("c-%05d", i))
		files[i%2].WriteString(strings.Replace(text, "\nspec:", "\n  description: "+strings.Repeat("word ", 40)+"\nspec:", 1))
	}
	dir := writeFiles(t, map[string]string{"a.yaml": files[0].String(), "b.yaml": files[1].String()})
	r := New(Options{Rules: everything, Config: config.Reading{Roots: []string{dir}}})
	heap := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before := heap()
	res, err := r.Read(t.Context(), Target{Type: TypeFile, Target: filepath.ToSlash(dir) + "/*.yaml"})
	if err != nil || !res.Complete || len(res.Documents) != n+1 {
		t.Fatalf("%d documents were read, want %d (%v)", len(res.Documents), n+1, err)
	}
	// As values, a document takes almost 3 kB.
	if grown := (heap() - before) / n; grown > 1000 {
		t.Errorf("a document takes %d bytes of memory", grown)
	}
	shape := func(d *Document) string {
		text, err := d.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (wire.Decoder{}).Decode(text); err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(d.Ref, "component:default/")
		return strings.NewReplacer(name, "NAME", filepath.Base(d.File), "FILE").Replace(string(text))
	}
	if first, last := shape(&res.Documents[1]), shape(&res.Documents[n]); first != last || res.Documents[n].Node != nil {
		t.Errorf("the last document is %s, want %s, as text", last, first)
	}
	if err := res.Close(); err != nil {
		t.Error(err)
	}
	if _, err := res.Documents[n].JSON(); err == nil {
		t.Error("a closed result still has its documents")
	}
}
