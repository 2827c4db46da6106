package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/vocabulary"
	"example.dev/ingestor/internal/catalog/store/write"
)

// searchBenchSize is the number of entities of BenchmarkSearch.
const searchBenchSize = 15_000

// spoken returns the n-th of many words that can be spoken.
func spoken(n int) string {
	syllables := []string{"ba", "co", "di", "fen", "gar", "hul", "jo", "kir", "lem", "mos", "nu", "por", "qui", "ras", "sto", "tel", "ur", "vin", "wex", "zan"}
	var b strings.Builder
	for n += len(syllables); n > 0; n /= len(syllables) {
		b.WriteString(syllables[n%len(syllables)])
	}
	return b.String()
}

// searchBenchStore returns a catalog whose entities have names and descriptions of some
// ten thousand different words.
func searchBenchStore(b *testing.B) *Store {
	b.Helper()
	s := benchStore(b, 0)
	page, err := s.Query(b.Context(), Query{Limit: 1})
	if err != nil {
		b.Fatal(err)
	}
	if len(page.Items) > 0 {
		return s
	}
	random, at := rand.New(rand.NewPCG(1, 2)), 0
	mixedDocs(b, searchBenchSize, func(docs []write.Document) {
		for i := range docs {
			metadata := docs[i].Node.Get("metadata")
			name := spoken(at) + "-" + spoken(random.IntN(200))
			metadata.Set("name", tree.Str(name))
			metadata.Set("title", tree.Str(strings.ReplaceAll(name, "-", " ")))
			metadata.Set("description", tree.Str(fmt.Sprintf("Answers %s for %s and %s.", spoken(random.IntN(20_000)), spoken(random.IntN(2000)), spoken(random.IntN(50)))))
			at++
		}
		if _, err := s.Sync(b.Context(), write.Change{Provider: "bench", Put: docs}); err != nil {
			b.Fatal(err)
		}
	})
	return s
}

// searchTerms returns what users type, one key at a time: names, words, and typos of them.
func searchTerms(n int) []string {
	random := rand.New(rand.NewPCG(3, 4))
	var terms []string
	for range n {
		word := spoken(random.IntN(searchBenchSize))
		for end := 1; end <= len(word); end += 2 {
			terms = append(terms, word[:end])
		}
		swapped := []byte(word)
		swapped[1], swapped[2] = swapped[2], swapped[1]
		terms = append(terms, word, string(swapped), word+" "+spoken(random.IntN(200)), "service "+spoken(random.IntN(2000)))
	}
	return terms
}

// BenchmarkSearch measures searches of many terms, each of which is new to the caches.
// The callers see everything, or the entities of one owner.
func BenchmarkSearch(b *testing.B) {
	s := searchBenchStore(b)
	terms := searchTerms(40)
	for name, visible := range map[string]filter.Filter{"All": {}, "Owner": filter.In("relations.ownedBy", "group:default/team-3")} {
		b.Run(name, func(b *testing.B) {
			if _, err := s.Search(b.Context(), Search{Term: "warm", Limit: 1}); err != nil {
				b.Fatal(err)
			}
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				start := time.Now()
				_, err := s.Search(b.Context(), Search{Term: terms[i%len(terms)], Filter: visible, Limit: 25})
				if err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
		})
	}
}

// BenchmarkVocabulary measures reading all words, as the first search does.
func BenchmarkVocabulary(b *testing.B) {
	s := searchBenchStore(b)
	for b.Loop() {
		if near, err := vocabulary.New(s.DB, vocabulary.MaxWords).Near(b.Context(), []string{"servce"}); err != nil || len(near[0]) == 0 {
			b.Fatal(near, err)
		}
	}
}
