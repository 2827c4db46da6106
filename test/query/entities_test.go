package query

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// numbers are how many entities of each kind there are, as a list of kinds to draw from.
var kinds = []string{
	"Component", "Component", "Component", "Component", "API", "API", "Resource", "Resource", "System", "Domain", "Group", "User", "Template", "Location",
}

// apiVersions are those of kinds that have another than the usual one.
var apiVersions = map[string]string{"Template": "scaffolder.backstage.io/v1beta3"}

const howMany = 360

// entities returns the catalog: always the same entities, which have fields of every type.
func entities() []map[string]any {
	d := draw{rand.New(rand.NewPCG(1, 2))}
	names := make([]string, howMany)
	for i := range names {
		names[i] = pick(d, "shop", "Shop", "pay_ment", "books.v2", "a", "search-index", "X-ray") + fmt.Sprintf("%s%d", pick(d, "-", "_", "."), i)
	}
	var all []map[string]any
	for i, name := range names {
		kind := kinds[i%len(kinds)]
		apiVersion := apiVersions[kind]
		if apiVersion == "" {
			apiVersion = "backstage.io/v1alpha1"
		}
		all = append(all, map[string]any{
			"apiVersion": apiVersion, "kind": kind, "metadata": d.metadata(name), "spec": d.spec(kind, names),
		})
	}
	return all
}

// draw draws random values.
type draw struct{ *rand.Rand }

// pick returns one of the values.
func pick[T any](d draw, values ...T) T { return values[d.IntN(len(values))] }

// one reports true once in n times.
func (d draw) one(n int) bool { return d.IntN(n) == 0 }

// some returns up to most of the values, which may repeat.
func some[T any](d draw, most int, values ...T) []any {
	out := []any{}
	for range d.IntN(most + 1) {
		out = append(out, pick(d, values...))
	}
	return out
}

// words are texts with letters whose case, order and length differ between languages, and
// with the wildcards of SQL.
var words = []string{
	"Books", "books", "BOOKS and more", "Größe", "straße", "数据库", "100%", "a_b", "axb", `back\slash`, "50% off", "_", "é", "Zebra", "zebra",
	"it's", `"quoted"`, "a=b", "x;y", "true", "false", "null", "1", "10", "9", "1.5", "-3", "0", "", " padded ", "tab\tbed", "😀 smile", "ﬁ", "ABC-def.ghi",
}

func (d draw) metadata(name string) map[string]any {
	m := map[string]any{"name": name}
	if !d.one(2) {
		m["namespace"] = pick(d, "default", "prod", "team-a", "staging")
	}
	if !d.one(3) {
		m["title"] = pick(d, words[:20]...)
	}
	if d.one(2) {
		m["description"] = d.text()
	}
	if !d.one(3) {
		m["tags"] = some(d, 4, "go", "java", "db", "c++", "web", "true", "data-base")
	}
	labels := map[string]any{}
	for _, key := range []string{"tier", "example.dev/tier", "example.dev/tier.name", "Team"} {
		if d.one(2) {
			labels[key] = pick(d, "gold", "Gold", "silver", "bronze", "", "1", "true")
		}
	}
	if len(labels) > 0 {
		m["labels"] = labels
	}
	m["annotations"] = map[string]any{
		"example.org/source": pick(d, "git", "Git", "url:https://example.org/a=b", ""), "example.org/weight": pick(d, "1", "10", "9", "010", "1.50"),
	}
	if d.one(4) {
		m["links"] = []any{
			map[string]any{"url": "https://example.org/" + pick(d, "a", "b"), "title": pick(d, "Docs", "docs", "Board")},
			map[string]any{"url": "https://example.org/c"},
		}
	}
	return m
}

// text returns a text, at times one whose length is close to the limit of what is indexed.
func (d draw) text() string {
	if d.one(6) {
		return strings.Repeat(pick(d, "x", "é", "Y"), 198+d.IntN(5))
	}
	return pick(d, words...) + " " + pick(d, words...)
}

func (d draw) spec(kind string, names []string) map[string]any {
	s := map[string]any{}
	group := func() string {
		return pick(d, "group:default/", "", "Group:prod/", "group:") + pick(d, "ops", "shop-team", names[10], names[24])
	}
	switch kind {
	case "Component":
		s["type"], s["lifecycle"], s["owner"] = pick(d, "service", "website", "library", "Service"), pick(d, "production", "experimental", "Production"), group()
		s["dependsOn"] = some(d, 3, "resource:default/"+pick(d, names...), "component:"+pick(d, names...), "resource:ops")
		s["providesApis"] = some(d, 2, pick(d, names...), "api:prod/"+pick(d, names...))
	case "API":
		s["type"], s["lifecycle"], s["owner"], s["definition"] = pick(d, "openapi", "grpc"), pick(d, "production", "deprecated"), group(), d.text()+"."
	case "Resource":
		s["type"], s["owner"] = pick(d, "database", "bucket", "queue"), group()
	case "System", "Domain":
		s["owner"] = group()
	case "Group":
		s["type"], s["children"] = pick(d, "team", "department"), some(d, 2, names[10], "ops")
	case "User":
		s["memberOf"] = some(d, 2, names[10], "ops", names[24])
	case "Template":
		s["type"], s["steps"] = pick(d, "service", "resource"), []any{
			map[string]any{"id": "one", "name": "One", "action": pick(d, "debug:log", "publish:file"), "input": map[string]any{"message": pick(d, words...)}},
			map[string]any{"id": "two", "action": "debug:wait"},
		}
		s["parameters"] = []any{map[string]any{"title": pick(d, words[:8]...), "properties": map[string]any{"name": map[string]any{"type": "string"}}}}
	case "Location":
		s["type"], s["targets"] = "url", some(d, 2, "https://example.org/a.yaml", "https://example.org/b.yaml")
	}
	d.odd(s)
	return s
}

// odd adds fields of all types and shapes.
func (d draw) odd(s map[string]any) {
	for _, field := range []struct {
		key  string
		make func() any
	}{
		{"replicas", func() any { return pick[any](d, 0, 1, 2, 10, 9, -3, 1.5, 0.1, 1e21, 1e-7, 100000, 9007199254740991) }},
		{"enabled", func() any { return pick[any](d, true, false) }},
		{"nothing", func() any { return nil }},
		{"note", func() any { return pick(d, words...) }},
		{"longText", func() any { return d.text() }},
		{"mixed", func() any {
			return pick[any](d, "one", "One", 1, true, nil, []any{"one", "Two", 3, nil}, map[string]any{"one": "six"}, []any{}, map[string]any{}, "")
		}},
		{"list", func() any {
			return some[any](d, 4, "Go", "go", "GO", "b", "a.b", "B", 1, "1", true, "true", "with space", "")
		}},
		{"items", func() any {
			return []any{
				map[string]any{"id": pick(d, "a", "b", "A"), "size": d.IntN(3)}, map[string]any{"id": pick(d, "c", "d"), "tags": some(d, 2, "x", "y")},
			}
		}},
		{"nested", func() any {
			return map[string]any{"a": map[string]any{"b.c": pick(d, "deep", "Deep", "other"), "b": map[string]any{"d": d.IntN(3)}}, "a.x": pick(d, "dot", "Dot")}
		}},
		{"matrix", func() any { return []any{[]any{"p", "q"}, []any{pick(d, "r", "s"), d.IntN(2)}} }},
		{"camelCase", func() any { return pick(d, "Hump", "hump", "other") }},
		{strings.Repeat("k", 198), func() any { return map[string]any{"too": "long"} }},
		{strings.Repeat("k", 190), func() any { return "fits" }},
	} {
		if d.one(3) {
			s[field.key] = field.make()
		}
	}
}
