package store

import (
	"fmt"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/write"
)

// TestConditionsInScope queries with every sort of condition, each of which
// matches four entities: one per kind and namespace. A scope selects some of the
// four, however the query is planned.
func TestConditionsInScope(t *testing.T) {
	conditions := map[string]struct {
		filter filter.Filter
		text   Text
	}{
		"Value":        {filter: filter.In("spec.type", "rare")},
		"Values":       {filter: filter.In("spec.type", "rare", "rarer")},
		"Prefix":       {filter: filter.Prefix("spec.type", "ra")},
		"Key":          {filter: filter.Has("spec.rare")},
		"Item":         {filter: filter.Has("metadata.tags.rare")},
		"Any":          {filter: filter.Any(filter.In("spec.type", "rare"), filter.Prefix("metadata.title", "ra"))},
		"AnyOfAll":     {filter: filter.Any(filter.All(filter.In("spec.type", "rare"), filter.Has("spec.rare")), filter.All(filter.In("spec.type", "usual"), filter.Has("spec.rare")))},
		"AllOfAny":     {filter: filter.All(filter.Any(filter.In("spec.type", "rare"), filter.Has("spec.rare")), filter.Any(filter.Prefix("spec.type", "r"), filter.Has("metadata.tags.rare")))},
		"Not":          {filter: filter.Not(filter.Has("spec.usual"))},
		"Word":         {text: Text{Term: "rar"}},
		"Words":        {text: Text{Term: "rar titl"}},
		"Substring":    {text: Text{Term: "ar", Fields: []string{"spec.type"}}},
		"PrefixAndKey": {filter: filter.All(filter.Prefix("spec.type", "ra"), filter.Has("spec.rare"))},
		"PrefixAndNot": {filter: filter.All(filter.Prefix("metadata.title", "ra"), filter.Not(filter.Has("spec.usual")))},
		"KeyAndWord":   {filter: filter.Has("spec.rare"), text: Text{Term: "rare"}},
	}
	const (
		apiHere, apiThere             = "api:default/x", "api:other/x"
		componentHere, componentThere = "component:default/x", "component:other/x"
	)
	scopes := map[string]struct {
		filter filter.Filter
		want   []string
	}{
		"Everything":     {filter.Filter{}, []string{apiHere, apiThere, componentHere, componentThere}},
		"Kind":           {filter.In("kind", "API"), []string{apiHere, apiThere}},
		"Kinds":          {filter.In("kind", "api", "component"), []string{apiHere, apiThere, componentHere, componentThere}},
		"OtherKind":      {filter.In("kind", "group"), []string{}},
		"NotKind":        {filter.Not(filter.In("kind", "api")), []string{componentHere, componentThere}},
		"Namespace":      {filter.In("metadata.namespace", "other"), []string{apiThere, componentThere}},
		"NamespaceKind":  {filter.All(filter.In("kind", "component"), filter.In("metadata.namespace", "other")), []string{componentThere}},
		"NamespacesKind": {filter.All(filter.In("kind", "component"), filter.In("metadata.namespace", "other", "default")), []string{componentHere, componentThere}},
		"NotNamespace":   {filter.All(filter.In("kind", "api"), filter.Not(filter.In("metadata.namespace", "other"))), []string{apiHere}},
		"NoNamespace":    {filter.All(filter.In("kind", "api"), filter.In("metadata.namespace", "default/x")), []string{}},
		"TwoKinds":       {filter.All(filter.In("kind", "api"), filter.Not(filter.Not(filter.In("kind", "component")))), []string{}},
		"UnknownKey":     {filter.All(filter.In("kind", "api"), filter.Has("no.such.key")), []string{}},
		"NotUnknownKey":  {filter.All(filter.In("kind", "api"), filter.Not(filter.Has("no.such.key"))), []string{apiHere, apiThere}},
	}
	orders := map[string][]Order{
		"Unsorted": nil, "ByType": {{Field: "spec.type"}}, "ByTitleDown": {{Field: "metadata.title", Desc: true}},
		"ByRareAndName": {{Field: "spec.rare"}, {Field: "metadata.name", Desc: true}},
	}
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		var docs []write.Document
		for _, kind := range []string{"API", "Component"} {
			for _, namespace := range []string{"default", "other"} {
				docs = append(docs, small(t, kind, "x", "  namespace: "+namespace+"\n  title: rare title\n  tags: [rare]\nspec: {type: rare, rare: yes}"))
				for i := range 20 {
					docs = append(docs, small(t, kind, fmt.Sprint("n", i), "  namespace: "+namespace+"\n  title: usual title\n  tags: [usual]\nspec: {type: usual, usual: yes}"))
				}
			}
		}
		put(t, s, docs...)
		for name, c := range conditions {
			for within, scope := range scopes {
				t.Run(name+"/"+within, func(t *testing.T) {
					filter := filter.All(scope.filter, c.filter)
					s.maxLoaded = 1 + len(name)%2*1000
					for by, order := range orders {
						page, err := s.Query(t.Context(), Query{Filter: filter, Text: c.text, Order: order, Limit: 50, Total: true})
						if err != nil {
							t.Fatal(by, err)
						}
						got := slices.Sorted(slices.Values(refsOf(page.Items)))
						if diff := gocmp.Diff(scope.want, append([]string{}, got...)); diff != "" || page.Total != len(scope.want) {
							t.Errorf("%s: total is %d, entities (-want +got):\n%s", by, page.Total, diff)
						}
					}
					facets, err := s.Facets(t.Context(), []string{"kind"}, filter, c.text)
					if err != nil {
						t.Fatal(err)
					}
					counted := 0
					for _, f := range facets["kind"] {
						counted += f.Count
					}
					if counted != len(scope.want) {
						t.Errorf("facets count %d entities: %v", counted, facets)
					}
				})
			}
		}
	})
}

// TestSubstringIsLiteral searches for characters that have a meaning in patterns of SQL.
func TestSubstringIsLiteral(t *testing.T) {
	titles := map[string]string{"underscore": "a_b", "percent": "a%b", "exclamation": "a!b", "backslash": `a\b`, "letter": "axb", "none": "ab", "quote": "a'b"}
	cases := map[string]struct {
		reason, term string
		want         []string
	}{
		"Underscore":  {"An underscore does not match any character.", "a_b", []string{"underscore"}},
		"Percent":     {"A percent sign does not match any characters.", "a%b", []string{"percent"}},
		"Exclamation": {"An exclamation mark escapes nothing.", "a!b", []string{"exclamation"}},
		"Backslash":   {"A backslash escapes nothing.", `a\b`, []string{"backslash"}},
		"Quote":       {"A quote does not end the literal.", "a'b", []string{"quote"}},
		"OnlyOne":     {"A single underscore matches only itself.", "_", []string{"underscore"}},
		"OnlyPercent": {"A single percent sign matches only itself.", "%", []string{"percent"}},
		"Escaped":     {"An escaped underscore matches nothing.", "!_", []string{}},
		"Letter":      {"A letter matches itself.", "x", []string{"letter"}},
	}
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		var docs []write.Document
		for name, title := range titles {
			docs = append(docs, small(t, "API", name, fmt.Sprintf("  title: %q", title)))
		}
		put(t, s, docs...)
		for name, tc := range cases {
			t.Run(name, func(t *testing.T) {
				text := Text{Term: tc.term, Fields: []string{"metadata.title"}}
				page, err := s.Query(t.Context(), Query{Text: text, Limit: NoLimit, Total: true})
				if err != nil {
					t.Fatal(err)
				}
				if diff := gocmp.Diff(tc.want, named(page.Items)); diff != "" || page.Total != len(tc.want) {
					t.Errorf("%s: total is %d, entities (-want +got):\n%s", tc.reason, page.Total, diff)
				}
				facets, err := s.Facets(t.Context(), []string{"metadata.name"}, filter.Filter{}, text)
				if err != nil || len(facets["metadata.name"]) != len(tc.want) {
					t.Errorf("%s: facets are %v, %v", tc.reason, facets, err)
				}
			})
		}
	})
}
