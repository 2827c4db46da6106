package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/write"
)

// searchAll returns the references of all results of a search, page by page.
func searchAll(t *testing.T, s *Store, term string, f filter.Filter, limit int) (refs []string) {
	t.Helper()
	for offset := 0; ; offset += limit {
		got, err := s.Search(t.Context(), Search{Term: term, Filter: f, Offset: offset, Limit: limit})
		if err != nil {
			t.Fatal(err)
		}
		for i := range got.Items {
			if !strings.Contains(string(got.Items[i].JSON), `"etag":"`+got.Items[i].ETag) {
				t.Errorf("%s has the JSON %.100s", got.Items[i].Ref, got.Items[i].JSON)
			}
			refs = append(refs, got.Items[i].Ref)
		}
		if len(refs) >= got.Total {
			if len(refs) != got.Total {
				t.Errorf("%d results of %q, but the total is %d", len(refs), term, got.Total)
			}
			return refs
		}
		if len(got.Items) != limit {
			t.Fatalf("a page of %q has %d results and is not the last, want %d", term, len(got.Items), limit)
		}
	}
}

func TestSearch(t *testing.T) {
	described := func(kind, name, title, text string) write.Document {
		return small(t, kind, name, fmt.Sprintf("  title: %s\n  description: %s\nspec: {owner: team}", title, text))
	}
	cases := map[string]struct {
		reason string
		term   string
		filter filter.Filter
		want   []string
	}{
		"Ranks": {"Exact names and titles, prefixes of them, words, typos; then kinds in their order, then titles.", "payments", filter.Filter{}, []string{
			"template:default/new", "api:default/payments",
			"component:default/z-first", "component:default/payments-api", "component:default/payments-db",
			"template:default/other", "resource:default/ledger", "location:default/root",
			"component:default/typo",
		}},
		"Case":       {"Case does not matter.", " PAYMENTS-Db ", filter.Filter{}, []string{"component:default/payments-db"}},
		"Prefix":     {"A word is found by its beginning.", "ledg", filter.Filter{}, []string{"resource:default/ledger"}},
		"Words":      {"All words must match.", "payments ledger", filter.Filter{}, []string{"resource:default/ledger"}},
		"Typo":       {"A typo is found.", "ledgre", filter.Filter{}, []string{"resource:default/ledger"}},
		"TypoInOne":  {"Of two words, one may have a typo.", "paymnets ledge", filter.Filter{}, []string{"resource:default/ledger"}},
		"TypoInBoth": {"Both may have one.", "paymnets ledgre", filter.Filter{}, []string{"resource:default/ledger"}},
		"TypoAndNo":  {"A typo in one word does not excuse the other.", "paymnets elephant", filter.Filter{}, nil},
		"Short":      {"Short words have no typos.", "lgd", filter.Filter{}, nil},
		"Kind":       {"The kind is a word.", "resource", filter.Filter{}, []string{"resource:default/ledger"}},
		"Filter":     {"Only what passes the filter is found.", "payments", filter.In("kind", "api"), []string{"api:default/payments"}},
		"None":       {"A filter may pass nothing.", "payments", filter.Filter{Op: filter.OpFalse}, nil},
		"Twice":      {"A word may be given twice.", "ledger ledger", filter.Filter{}, []string{"resource:default/ledger"}},
		"Empty":      {"Nothing is found without a term.", "", filter.Filter{}, nil},
		"Signs":      {"Signs are no words.", "%_-'\\", filter.Filter{}, nil},
		"Wildcard":   {"A sign is not a wildcard.", "ledg%", filter.Filter{}, []string{"resource:default/ledger"}},
	}
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		if got := searchAll(t, s, "payments", filter.Filter{}, 10); got != nil {
			t.Errorf("an empty catalog has the results %q", got)
		}
		put(t, s,
			described("Location", "root", "Root", "the payments"), described("API", "payments", "The API", "x"), described("Template", "new", "Payments", "x"),
			described("Component", "payments-db", "Zebra", "x"), described("Component", "payments-api", "Yak", "x"), described("Component", "z-first", "Payments first", "x"),
			described("Resource", "ledger", "Books", "of payments"), described("Template", "other", "Other", "for payments"), described("Component", "typo", "Typo", "of paymants"),
			described("Component", "unrelated", "Unrelated", "x"),
		)
		for name, tc := range cases {
			t.Run(name, func(t *testing.T) {
				for _, limit := range []int{100, 2, 1} {
					if diff := gocmp.Diff(tc.want, searchAll(t, s, tc.term, tc.filter, limit)); diff != "" {
						t.Errorf("%s Pages of %d (-want +got):\n%s", tc.reason, limit, diff)
					}
				}
			})
		}
	})
}

func TestSearchLast(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		put(t, s, small(t, "Template", "shop-new", "spec: {type: new}"), small(t, "Template", "shop-drop", "spec: {type: drop}"),
			small(t, "Resource", "shop-db", "spec: {type: db}"), small(t, "Resource", "other", "spec: {type: shop}"))
		cases := map[string]struct {
			reason string
			last   filter.Filter
			want   []string
		}{
			"Some":    {"They are the last of their rank.", filter.In("spec.type", "drop", "shop"), []string{"template:default/shop-new", "resource:default/shop-db", "template:default/shop-drop", "resource:default/other"}},
			"All":     {"The zero value changes nothing.", filter.Filter{}, []string{"template:default/shop-drop", "template:default/shop-new", "resource:default/shop-db", "resource:default/other"}},
			"Unknown": {"A field that no entity has changes nothing.", filter.In("spec.nothing", "x"), []string{"template:default/shop-drop", "template:default/shop-new", "resource:default/shop-db", "resource:default/other"}},
		}
		for name, tc := range cases {
			t.Run(name, func(t *testing.T) {
				var got []string
				for offset := range 4 {
					page, err := s.Search(t.Context(), Search{Term: "shop", Last: tc.last, Offset: offset, Limit: 1})
					if err != nil || page.Total != 4 {
						t.Fatalf("%d results in all, and the error %v", page.Total, err)
					}
					got = append(got, page.Items[0].Ref)
				}
				if diff := gocmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
				}
			})
		}
	})
}

// TestSearchMany searches among more entities than are sorted by title, and than can be
// paged through.
func TestSearchMany(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		var docs []write.Document
		for i := range 2100 {
			kind := []string{"Component", "API", "Zoo"}[i%3]
			docs = append(docs, small(t, kind, fmt.Sprintf("n-%04d", i), fmt.Sprintf("  title: Title %04d\nspec: {description: x, type: %s, owner: common}", 9999-i, []string{"rare", "usual", "usual"}[i/3%3])))
		}
		docs = append(docs, small(t, "Group", "common", ""), small(t, "Template", "last", "  title: Last\nspec: {owner: common}"))
		put(t, s, docs...)

		// Of a kind with more than maxTitles results, the references are in order.
		all := searchAll(t, s, "common", filter.Filter{}, 77)
		if len(all) != MaxResults || !slices.Equal(all[:3], []string{"group:default/common", "template:default/last", "component:default/n-0000"}) || all[702] != "api:default/n-0001" {
			t.Errorf("%d results begin with %q, and the APIs with %s", len(all), all[:3], all[702])
		}
		if slices.Sort(all); len(slices.Compact(all)) != MaxResults {
			t.Error("a result is there twice")
		}
		// Of a kind with fewer, the titles are.
		got := searchAll(t, s, "comon", filter.In("spec.type", "rare"), 100)
		if len(got) != 702 || got[0] != "component:default/n-2097" || got[234] != "api:default/n-2098" {
			t.Errorf("%d results begin with %s, and the APIs with %s", len(got), got[0], got[234])
		}
		if got := searchAll(t, s, "n", filter.Not(filter.In("kind", "component", "zoo")), 99); len(got) != 700 || got[0] != "api:default/n-0001" {
			t.Errorf("%d results begin with %s", len(got), got[0])
		}
	})
}
