package query

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/rest"
)

func TestFilters(t *testing.T) {
	everything := filter.Filter{}
	cases := map[string]struct {
		reason string
		params []string
		want   filter.Filter
		err    string
	}{
		"None": {
			reason: "Without a filter everything matches.",
			want:   everything,
		},
		"Empty": {
			reason: "An empty filter is ignored, and does not match everything.",
			params: []string{"", " , ,", "kind=api"},
			want:   filter.In("kind", "api"),
		},
		"And": {
			reason: "All conditions of one filter must match.",
			params: []string{"kind=component, spec.type=service"},
			want:   filter.All(filter.In("kind", "component"), filter.In("spec.type", "service")),
		},
		"Or": {
			reason: "One of several filters must match.",
			params: []string{"kind=system", "kind=group"},
			want:   filter.Any(filter.In("kind", "system"), filter.In("kind", "group")),
		},
		"SameKey": {
			reason: "A repeated key may have any of its values.",
			params: []string{"kind=system,metadata.name=a,kind=group"},
			want:   filter.All(filter.In("kind", "system", "group"), filter.In("metadata.name", "a")),
		},
		"Case": {
			reason: "Keys and values are not case-sensitive.",
			params: []string{"Kind=API,KIND=Group"},
			want:   filter.In("kind", "api", "group"),
		},
		"Exists": {
			reason: "A key without a value must exist.",
			params: []string{"metadata.annotations.backstage.io/kubernetes-id"},
			want:   filter.Has("metadata.annotations.backstage.io/kubernetes-id"),
		},
		"ExistsAndValue": {
			reason: "A value implies existence, in either order.",
			params: []string{"kind,kind=api", "kind=api,kind"},
			want:   filter.Any(filter.In("kind", "api"), filter.In("kind", "api")),
		},
		"EmptyValue": {
			reason: "An empty value is a value.",
			params: []string{"metadata.description="},
			want:   filter.In("metadata.description", ""),
		},
		"EqualsInValue": {
			reason: "Only the first equals sign separates key and value.",
			params: []string{"metadata.annotations.a=b=c"},
			want:   filter.In("metadata.annotations.a", "b=c"),
		},
		"Relation": {
			reason: "Relations are keys like any other.",
			params: []string{"relations.ownedBy=group:default/Team"},
			want:   filter.In("relations.ownedby", "group:default/team"),
		},
		"NoKey": {
			reason: "A value without a key is refused as in Backstage.",
			params: []string{"kind=a,=x"},
			err:    "Invalid filter, '=x' is not a valid statement (expected a string on the form a=b or a= or a)",
		},
		"NotIndexed": {
			reason: "A field that is not indexed is refused, as it would seem to be missing.",
			params: []string{"spec.parameters.title=x"},
			err:    "Invalid filter, the field 'spec.parameters.title' cannot be searched: forms and steps of Templates are not indexed",
		},
		"Parameters": {
			reason: "The parent of fields that are not indexed is indexed.",
			params: []string{"spec.parameters"},
			want:   filter.Has("spec.parameters"),
		},
		"NUL": {
			reason: "A filter with NUL is refused, as no database can query it.",
			params: []string{"kind=a\x00b"},
			err:    "Invalid filter, it has a NUL or is not UTF-8",
		},
		"NotUTF8": {
			reason: "A filter that is not UTF-8 is refused.",
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
			got, err := ParseFilters(tc.params)
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
		want   filter.Filter
		err    string
	}{
		"None":   {reason: "A missing query matches everything."},
		"Null":   {reason: "A null query matches everything.", query: "null"},
		"Object": {reason: "An empty object matches everything.", query: "{}"},
		"Field": {
			reason: "Values are not case-sensitive.",
			query:  `{"Kind":"Component"}`,
			want:   filter.In("kind", "component"),
		},
		"Fields": {
			reason: "All fields must match.",
			query:  `{"kind":"component","spec.replicas":3,"spec.ready":true}`,
			want:   filter.All(filter.In("kind", "component"), filter.In("spec.replicas", "3"), filter.In("spec.ready", "true")),
		},
		"In": {
			reason: "One of several values must match.",
			query:  `{"kind":{"$in":["API",1,false]}}`,
			want:   filter.In("kind", "api", "1", "false"),
		},
		"InNothing": {
			reason: "An empty list of values matches nothing.",
			query:  `{"kind":{"$in":[]}}`,
			want:   filter.Filter{Op: filter.OpFalse},
		},
		"Exists": {
			reason: "A field can be required to exist or to be missing.",
			query:  `{"a":{"$exists":true},"b":{"$exists":false}}`,
			want:   filter.All(filter.Has("a"), filter.Not(filter.Has("b"))),
		},
		"Prefix": {
			reason: "A value can be matched by prefix.",
			query:  `{"metadata.name":{"$hasPrefix":"Demo-"}}`,
			want:   filter.Prefix("metadata.name", "demo-"),
		},
		"Contains": {
			reason: "A list can be required to have an item.",
			query:  `{"metadata.tags":{"$contains":"Java"}}`,
			want:   filter.In("metadata.tags", "java"),
		},
		"ContainsField": {
			reason: "A list can be required to have an item with a field.",
			query:  `{"spec.steps":{"$contains":{"action":{"$in":["a","b"]}}}}`,
			want:   filter.In("spec.steps.action", "a", "b"),
		},
		"ContainsFields": {
			reason: "Several fields of one item cannot be matched, as the index does not group them.",
			query:  `{"spec.steps":{"$contains":{"action":"a","id":"b"}}}`,
			err:    "Invalid query: $contains of field 'spec.steps' must be a value, or an object with one field",
		},
		"ContainsNone": {
			reason: "Items without a field cannot be matched.",
			query:  `{"spec.steps":{"$contains":{"if":{"$exists":false}}}}`,
			err:    "Invalid query: $contains of field 'spec.steps' cannot look for items without a field",
		},
		"Relation": {
			reason: "A relation is matched by type and target.",
			query:  `{"relations":{"$contains":{"type":"ownedBy","targetRef":{"$in":["group:default/a"]}}}}`,
			want:   filter.In("relations.ownedby", "group:default/a"),
		},
		"RelationCase": {
			reason: "The fields of a relation are not case-sensitive.",
			query:  `{"Relations":{"$contains":{"Type":"ownedBy","TARGETREF":"group:default/a"}}}`,
			want:   filter.In("relations.ownedby", "group:default/a"),
		},
		"RelationTwice": {
			reason: "A field of a relation cannot be given twice.",
			query:  `{"relations":{"$contains":{"type":"ownedBy","Type":"partOf"}}}`,
			err:    "Invalid query: $contains of field 'relations' must be an object with type and optionally targetRef",
		},
		"RelationType": {
			reason: "A relation is matched by type alone.",
			query:  `{"relations":{"$contains":{"type":"ownedBy"}}}`,
			want:   filter.Has("relations.ownedby"),
		},
		"RelationTarget": {
			reason: "A relation cannot be matched by target alone.",
			query:  `{"relations":{"$contains":{"targetRef":"group:default/a"}}}`,
			err:    "Invalid query: $contains of field 'relations' must be an object with type and optionally targetRef",
		},
		"Combined": {
			reason: "Predicates can be combined.",
			query:  `{"$all":[{"kind":"component"},{"$any":[{"a":"1"},{"$not":{"b":"2"}}]}]}`,
			want:   filter.All(filter.In("kind", "component"), filter.Any(filter.In("a", "1"), filter.Not(filter.In("b", "2")))),
		},
		"AllOfNothing": {
			reason: "An empty $all matches everything, as in Backstage.",
			query:  `{"$all":[]}`,
		},
		"NotAlone": {
			reason: "An operator beside other keys is refused as ambiguous.",
			query:  `{"$any":[],"kind":"a"}`,
			err:    "Invalid query: operator $any must be the only key of its object, wrap it in $all to combine it with others",
		},
		"Unknown": {
			reason: "An unknown operator is refused.",
			query:  `{"$or":[]}`,
			err:    "Invalid query: unknown operator $or (expected $all, $any or $not)",
		},
		"UnknownValue": {
			reason: "An unknown operator of a value is refused.",
			query:  `{"kind":{"$regex":"x"}}`,
			err:    badValue("kind").Error(),
		},
		"TwoOperators": {
			reason: "Two operators of one value are refused.",
			query:  `{"kind":{"$in":["a"],"$exists":true}}`,
			err:    badValue("kind").Error(),
		},
		"NullValue": {
			reason: "A null value is refused.",
			query:  `{"kind":null}`,
			err:    badValue("kind").Error(),
		},
		"Scalar": {
			reason: "A query that is a value is refused.",
			query:  `"component"`,
			err:    "Query must be an object",
		},
		"ScalarInside": {
			reason: "A nested query that is a value is refused.",
			query:  `{"$all":["component"]}`,
			err:    `Invalid query: string where an object such as {"kind":"component"} is expected`,
		},
		"NotIndexed": {
			reason: "A field that is not indexed is refused, as it would seem to be missing.",
			query:  `{"spec.parameters.x":{"$exists":false}}`,
			err:    "Invalid query, the field 'spec.parameters.x' cannot be searched: forms and steps of Templates are not indexed",
		},
		"Deep": {
			reason: "The nesting of conditions is limited.",
			query:  strings.Repeat(`{"$not":`, 30) + `{}` + strings.Repeat(`}`, 30),
			err:    TooComplex().Error(),
		},
		"TooDeep": {
			reason: "The nesting of JSON is limited.",
			query:  strings.Repeat(`{"$not":`, 5000) + `{}` + strings.Repeat(`}`, 5000),
			err:    "Invalid query: maps and lists are nested more than 80 levels deep",
		},
		"Long": {
			reason: "The number of values is limited.",
			query:  `{"kind":{"$in":[` + strings.Repeat(`"a",`, 1000) + `"b"]}}`,
			err:    TooComplex().Error(),
		},
		"Wide": {
			reason: "The number of empty operators is limited.",
			query:  `{"$all":[` + strings.Repeat(`{"$any":[]},`, 1000) + `{}]}`,
			err:    TooComplex().Error(),
		},
		"Empty": {
			reason: "The number of empty objects is limited.",
			query:  `{"$any":[` + strings.Repeat(`{},`, 1000) + `{}]}`,
			err:    TooComplex().Error(),
		},
		"NUL": {
			reason: "A query with NUL is refused, as no database can query it.",
			query:  `{"kind":{"$hasPrefix":"a\u0000"}}`,
			err:    "Invalid query, it has a NUL or is not UTF-8",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ParsePredicate([]byte(tc.query))
			if diff := cmp.Diff(tc.err, message(err)); diff != "" {
				t.Fatalf("%s\nparsePredicate(%.200s): error -want +got:\n%s", tc.reason, tc.query, diff)
			}
			if diff := cmp.Diff(tc.want, got); err == nil && diff != "" {
				t.Errorf("%s\nparsePredicate(%.200s): -want +got:\n%s", tc.reason, tc.query, diff)
			}
		})
	}
}

// FuzzFilters parses any text without a panic into a filter of limited size.
func FuzzFilters(f *testing.F) {
	for _, s := range []string{"kind=a,b=,c", `{"$all":[{"a":{"$in":[1]}},{"$not":{"b":{"$contains":{"c":"d"}}}}]}`, "=", "a\x00", `{"relations":{"$contains":{"type":"a"}}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, err := ParseFilters([]string{s, s}); err == nil {
			checkSize(t, got)
		}
		if got, err := ParsePredicate([]byte(s)); err == nil {
			checkSize(t, got)
		}
	})
}

func checkSize(t *testing.T, f filter.Filter) {
	t.Helper()
	var leaves, depth int
	var walk func(f filter.Filter, at int)
	walk = func(f filter.Filter, at int) {
		leaves += max(1, len(f.Values))
		depth = max(depth, at)
		for _, v := range append([]string{f.Key}, f.Values...) {
			if !rest.IsText(v) || v != strings.ToLower(v) {
				t.Errorf("filter contains %q", v)
			}
		}
		for _, inner := range f.Filters {
			walk(inner, at+1)
		}
	}
	walk(f, 1)
	if leaves > 3*maxConditions || depth > maxNesting+2 {
		t.Errorf("filter has %d conditions, nested %d deep", leaves, depth)
	}
}
