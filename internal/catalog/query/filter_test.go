package query

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/catalog/store"
)

func TestFilters(t *testing.T) {
	everything := store.Filter{}
	cases := map[string]struct {
		reason string
		params []string
		want   store.Filter
		err    string
	}{
		"None": {
			reason: "Without a filter everything passes.",
			want:   everything,
		},
		"Empty": {
			reason: "An empty filter says nothing, and does not stand for one that passes everything.",
			params: []string{"", " , ,", "kind=api"},
			want:   store.In("kind", "api"),
		},
		"And": {
			reason: "All conditions of one filter must hold.",
			params: []string{"kind=component, spec.type=service"},
			want:   store.All(store.In("kind", "component"), store.In("spec.type", "service")),
		},
		"Or": {
			reason: "One filter is enough.",
			params: []string{"kind=system", "kind=group"},
			want:   store.Any(store.In("kind", "system"), store.In("kind", "group")),
		},
		"SameKey": {
			reason: "A key that comes again may have any of its values.",
			params: []string{"kind=system,metadata.name=a,kind=group"},
			want:   store.All(store.In("kind", "system", "group"), store.In("metadata.name", "a")),
		},
		"Case": {
			reason: "Keys and values have no case.",
			params: []string{"Kind=API,KIND=Group"},
			want:   store.In("kind", "api", "group"),
		},
		"Exists": {
			reason: "A key alone must be there.",
			params: []string{"metadata.annotations.backstage.io/kubernetes-id"},
			want:   store.Has("metadata.annotations.backstage.io/kubernetes-id"),
		},
		"ExistsAndValue": {
			reason: "A value says more than being there, in either order.",
			params: []string{"kind,kind=api", "kind=api,kind"},
			want:   store.Any(store.In("kind", "api"), store.In("kind", "api")),
		},
		"EmptyValue": {
			reason: "An empty value is one.",
			params: []string{"metadata.description="},
			want:   store.In("metadata.description", ""),
		},
		"EqualsInValue": {
			reason: "Only the first sign divides.",
			params: []string{"metadata.annotations.a=b=c"},
			want:   store.In("metadata.annotations.a", "b=c"),
		},
		"Relation": {
			reason: "Relations are keys as any other.",
			params: []string{"relations.ownedBy=group:default/Team"},
			want:   store.In("relations.ownedby", "group:default/team"),
		},
		"NoKey": {
			reason: "A value without a key is a mistake, in the words clients know.",
			params: []string{"kind=a,=x"},
			err:    "Invalid filter, '=x' is not a valid statement (expected a string on the form a=b or a= or a)",
		},
		"NotIndexed": {
			reason: "What is not indexed would look as if there were none.",
			params: []string{"spec.parameters.title=x"},
			err:    "Invalid filter, the field 'spec.parameters.title' cannot be searched: forms, and what steps make of them, are not indexed",
		},
		"Parameters": {
			reason: "The key itself is indexed.",
			params: []string{"spec.parameters"},
			want:   store.Has("spec.parameters"),
		},
		"NUL": {
			reason: "A database cannot be asked for it.",
			params: []string{"kind=a\x00b"},
			err:    "Invalid filter, it has a NUL or is not UTF-8",
		},
		"NotUTF8": {
			reason: "Nor for this.",
			params: []string{"ki\xffnd"},
			err:    "Invalid filter, it has a NUL or is not UTF-8",
		},
		"TooMany": {
			reason: "Conditions are counted over all filters.",
			params: append(make([]string, 5), strings.Repeat("a,", 600), strings.Repeat("b=c,", 401)),
			err:    "Invalid filter, it has more than 1000 conditions or is nested too deep",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Filters(tc.params)
			if diff := cmp.Diff(tc.err, message(err)); diff != "" {
				t.Fatalf("%s\nparseFilters(%q): error -want +got:\n%s", tc.reason, tc.params, diff)
			}
			if diff := cmp.Diff(tc.want, got); err == nil && diff != "" {
				t.Errorf("%s\nparseFilters(%q): -want +got:\n%s", tc.reason, tc.params, diff)
			}
		})
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestPredicate(t *testing.T) {
	cases := map[string]struct {
		reason string
		query  string
		want   store.Filter
		err    string
	}{
		"None":   {reason: "No query says nothing."},
		"Null":   {reason: "Nor does null.", query: "null"},
		"Object": {reason: "Nor does an empty object.", query: "{}"},
		"Field": {
			reason: "A field has a value, whatever its case.",
			query:  `{"Kind":"Component"}`,
			want:   store.In("kind", "component"),
		},
		"Fields": {
			reason: "All fields must fit.",
			query:  `{"kind":"component","spec.replicas":3,"spec.ready":true}`,
			want:   store.All(store.In("kind", "component"), store.In("spec.replicas", "3"), store.In("spec.ready", "true")),
		},
		"In": {
			reason: "One of several values.",
			query:  `{"kind":{"$in":["API",1,false]}}`,
			want:   store.In("kind", "api", "1", "false"),
		},
		"InNothing": {
			reason: "None of no values.",
			query:  `{"kind":{"$in":[]}}`,
			want:   store.Filter{Op: store.OpFalse},
		},
		"Exists": {
			reason: "There, or not there.",
			query:  `{"a":{"$exists":true},"b":{"$exists":false}}`,
			want:   store.All(store.Has("a"), store.Not(store.Has("b"))),
		},
		"Prefix": {
			reason: "The beginning of a value.",
			query:  `{"metadata.name":{"$hasPrefix":"Demo-"}}`,
			want:   store.Prefix("metadata.name", "demo-"),
		},
		"Contains": {
			reason: "A list has an item.",
			query:  `{"metadata.tags":{"$contains":"Java"}}`,
			want:   store.In("metadata.tags", "java"),
		},
		"ContainsField": {
			reason: "A list has an item with a field.",
			query:  `{"spec.steps":{"$contains":{"action":{"$in":["a","b"]}}}}`,
			want:   store.In("spec.steps.action", "a", "b"),
		},
		"ContainsFields": {
			reason: "Which fields stand in one item is not known.",
			query:  `{"spec.steps":{"$contains":{"action":"a","id":"b"}}}`,
			err:    "Invalid query: $contains of field 'spec.steps' must be a value, or an object with one field",
		},
		"ContainsNone": {
			reason: "Nor which items lack one.",
			query:  `{"spec.steps":{"$contains":{"if":{"$exists":false}}}}`,
			err:    "Invalid query: $contains of field 'spec.steps' cannot look for items without a field",
		},
		"Relation": {
			reason: "A relation is found by its type and target.",
			query:  `{"relations":{"$contains":{"type":"ownedBy","targetRef":{"$in":["group:default/a"]}}}}`,
			want:   store.In("relations.ownedby", "group:default/a"),
		},
		"RelationType": {
			reason: "Or by its type alone.",
			query:  `{"relations":{"$contains":{"type":"ownedBy"}}}`,
			want:   store.Has("relations.ownedby"),
		},
		"RelationTarget": {
			reason: "The target alone is no key.",
			query:  `{"relations":{"$contains":{"targetRef":"group:default/a"}}}`,
			err:    "Invalid query: $contains of field 'relations' must be an object with type and, if wanted, targetRef",
		},
		"Combined": {
			reason: "Predicates combine.",
			query:  `{"$all":[{"kind":"component"},{"$any":[{"a":"1"},{"$not":{"b":"2"}}]}]}`,
			want:   store.All(store.In("kind", "component"), store.Any(store.In("a", "1"), store.Not(store.In("b", "2")))),
		},
		"AllOfNothing": {
			reason: "Clients know that it finds nothing.",
			query:  `{"$all":[]}`,
			want:   store.Any(),
		},
		"NotAlone": {
			reason: "Whether it would be and or or is not clear.",
			query:  `{"$any":[],"kind":"a"}`,
			err:    "Invalid query: operator $any must be the only key of its object, wrap it in $all to combine it with others",
		},
		"Unknown": {
			reason: "An operator that is not known is not passed over.",
			query:  `{"$or":[]}`,
			err:    "Invalid query: unknown operator $or (expected $all, $any or $not)",
		},
		"UnknownValue": {
			reason: "Nor is one of a value.",
			query:  `{"kind":{"$regex":"x"}}`,
			err:    badValue("kind").Error(),
		},
		"TwoOperators": {
			reason: "One of them would be forgotten.",
			query:  `{"kind":{"$in":["a"],"$exists":true}}`,
			err:    badValue("kind").Error(),
		},
		"NullValue": {
			reason: "Nothing is null.",
			query:  `{"kind":null}`,
			err:    badValue("kind").Error(),
		},
		"Scalar": {
			reason: "A value without a field fits nothing.",
			query:  `"component"`,
			err:    "Query must be an object",
		},
		"ScalarInside": {
			reason: "Nor inside.",
			query:  `{"$all":["component"]}`,
			err:    `Invalid query: string where an object such as {"kind":"component"} is expected`,
		},
		"NotIndexed": {
			reason: "What is not indexed would look as if there were none.",
			query:  `{"spec.parameters.x":{"$exists":false}}`,
			err:    "Invalid query, the field 'spec.parameters.x' cannot be searched: forms, and what steps make of them, are not indexed",
		},
		"Deep": {
			reason: "Nesting has an end.",
			query:  strings.Repeat(`{"$not":`, 30) + `{}` + strings.Repeat(`}`, 30),
			err:    TooComplex().Error(),
		},
		"TooDeep": {
			reason: "And is not even read beyond it.",
			query:  strings.Repeat(`{"$not":`, 5000) + `{}` + strings.Repeat(`}`, 5000),
			err:    "Invalid query: maps and lists are nested more than 80 deep",
		},
		"Long": {
			reason: "So do lists.",
			query:  `{"kind":{"$in":[` + strings.Repeat(`"a",`, 1000) + `"b"]}}`,
			err:    TooComplex().Error(),
		},
		"Wide": {
			reason: "And operators without conditions.",
			query:  `{"$all":[` + strings.Repeat(`{"$any":[]},`, 1000) + `{}]}`,
			err:    TooComplex().Error(),
		},
		"Empty": {
			reason: "And objects without any.",
			query:  `{"$any":[` + strings.Repeat(`{},`, 1000) + `{}]}`,
			err:    TooComplex().Error(),
		},
		"NUL": {
			reason: "A database cannot be asked for it.",
			query:  `{"kind":{"$hasPrefix":"a\u0000"}}`,
			err:    "Invalid query, it has a NUL or is not UTF-8",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Predicate([]byte(tc.query))
			if diff := cmp.Diff(tc.err, message(err)); diff != "" {
				t.Fatalf("%s\nparsePredicate(%.200s): error -want +got:\n%s", tc.reason, tc.query, diff)
			}
			if diff := cmp.Diff(tc.want, got); err == nil && diff != "" {
				t.Errorf("%s\nparsePredicate(%.200s): -want +got:\n%s", tc.reason, tc.query, diff)
			}
		})
	}
}

// FuzzFilters reads anything without a panic, and what it makes has an end.
func FuzzFilters(f *testing.F) {
	for _, s := range []string{"kind=a,b=,c", `{"$all":[{"a":{"$in":[1]}},{"$not":{"b":{"$contains":{"c":"d"}}}}]}`, "=", "a\x00", `{"relations":{"$contains":{"type":"a"}}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, err := Filters([]string{s, s}); err == nil {
			checkSize(t, got)
		}
		if got, err := Predicate([]byte(s)); err == nil {
			checkSize(t, got)
		}
	})
}

func checkSize(t *testing.T, f store.Filter) {
	t.Helper()
	var leaves, depth int
	var walk func(f store.Filter, at int)
	walk = func(f store.Filter, at int) {
		leaves += max(1, len(f.Values))
		depth = max(depth, at)
		for _, v := range append([]string{f.Key}, f.Values...) {
			if !IsText(v) || v != strings.ToLower(v) {
				t.Errorf("filter has %q", v)
			}
		}
		for _, inner := range f.Filters {
			walk(inner, at+1)
		}
	}
	walk(f, 1)
	if leaves > 3*maxConditions || depth > maxNesting+2 {
		t.Errorf("filter has %d conditions, %d deep", leaves, depth)
	}
}
