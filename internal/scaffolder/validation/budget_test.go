package validation_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/scaffolder/validation"
	"example.dev/ingestor/test/cost"
)

// most is the cost limit for all checks of a request, somewhat above the budget.
var most = cost.Cost{CPU: 4 * time.Second, Memory: 128 << 20}

// doubling returns a schema in which each of sixty definitions refers to the
// next one twice, and the last of them is given.
func doubling(t testing.TB, word, last string) *tree.Node {
	t.Helper()
	var all []string
	for i := range 60 {
		all = append(all, fmt.Sprintf(`"d%d":{%q:[{"$ref":"#/definitions/d%d"},{"$ref":"#/definitions/d%d"}]}`, i, word, i+1, i+1))
	}
	return decoded(t, `{"$ref":"#/definitions/d0","definitions":{`+strings.Join(all, ",")+`,"d60":`+last+`}}`)
}

// field returns a form with one filled field.
func field(schema, value *tree.Node) (page, filled *tree.Node) {
	return tree.Obj(tree.F("properties", tree.Obj(tree.F("a", schema)))), tree.Obj(tree.F("a", value))
}

// TestBudget validates forms whose checks would take forever. However many pages
// they have, they take about a second in total, and are refused.
func TestBudget(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	wideKeywords := tree.Obj(tree.F("type", tree.Str("string")))
	for i := range 5000 {
		wideKeywords.Fields = append(wideKeywords.Fields, tree.F(fmt.Sprint("x-", i), tree.Nil()))
	}
	repeated := func(patterns, times int) (page, filled *tree.Node) {
		properties, filled := tree.Obj(), tree.Obj()
		for i := range patterns {
			name := fmt.Sprint("p", i)
			properties.Fields = append(properties.Fields, tree.F(name, tree.Obj(tree.F("pattern", tree.Str(strings.Repeat("(?:x{1000})?", times)+name)))))
			filled.Fields = append(filled.Fields, tree.F(name, tree.Str("x")))
		}
		return tree.Obj(tree.F("properties", properties)), filled
	}
	few, filledFew := repeated(20, 1300)
	many, filledMany := repeated(5000, 1)
	entries, patterns := tree.Obj(), tree.Obj()
	for i := range 20_000 {
		entries.Fields = append(entries.Fields, tree.F(fmt.Sprint("k", i), tree.Str("")))
	}
	for i := range 2000 {
		patterns.Fields = append(patterns.Fields, tree.F(fmt.Sprint("x", i), tree.Obj()))
	}
	long := tree.Arr()
	for i := range 20_000 {
		long.Items = append(long.Items, tree.Number(int64(i)))
	}
	ids := decoded(t, `{"$ref":"#/none"}`)
	for range 90 {
		ids = tree.Obj(tree.F("$id", tree.Str(x(20_000)+"/")), tree.F("properties", tree.Obj(tree.F("a", ids))))
	}
	slow, slowFilled := field(tree.Obj(tree.F("pattern", tree.Str("(?:x?){500}x{500}z"))), tree.Str(x(10_000)))
	numbers := doubling(t, "oneOf", `{"properties":{"a":{"multipleOf":1.7976931348623157e308,"minimum":4.9e-324}}}`)
	cases := map[string]struct {
		reason       string
		page, filled *tree.Node
	}{
		"OneOf":             {"Nested oneOf doubles the checks at each level.", doubling(t, "oneOf", `{"type":"string"}`), tree.Obj()},
		"AnyOf":             {"Nested anyOf doubles the checks at each level.", doubling(t, "anyOf", `{"type":"string"}`), tree.Obj()},
		"AllOf":             {"Nested allOf doubles the checks at each level if all match.", doubling(t, "allOf", `{"type":"object"}`), tree.Obj()},
		"MinLength":         {"Counting the characters of a text costs budget.", doubling(t, "oneOf", `{"properties":{"a":{"minLength":1000000}}}`), tree.Obj(tree.F("a", tree.Str(x(900_000))))},
		"Const":             {"Writing a message costs budget, and alternatives need none.", doubling(t, "oneOf", `{"properties":{"a":{"const":"`+x(1<<20)+`"}}}`), tree.Obj(tree.F("a", tree.Str("y")))},
		"Enum":              {"Comparing values costs budget.", doubling(t, "oneOf", `{"properties":{"a":{"enum":["`+x(1<<20)+`","`+x(1<<20)+`"]}}}`), tree.Obj(tree.F("a", tree.Str(x(1<<20-1)+"y")))},
		"UniqueItems":       {"Comparing all items costs budget.", doubling(t, "oneOf", `{"properties":{"a":{"uniqueItems":true,"maxItems":1}}}`), tree.Obj(tree.F("a", long))},
		"Keywords":          {"Unknown keywords cost budget.", doubling(t, "oneOf", string(tree.AppendJSON(nil, wideKeywords, ""))), tree.Obj()},
		"Numbers":           {"Numbers with a thousand digits cost budget.", numbers, decoded(t, `{"a":1.7976931348623157e-300}`)},
		"Format":            {"A format is a regular expression.", doubling(t, "oneOf", `{"properties":{"a":{"format":"email"}}}`), tree.Obj(tree.F("a", tree.Str(x(10_000))))},
		"FormatRegex":       {"A value can itself be a regular expression.", doubling(t, "oneOf", `{"properties":{"a":{"format":"regex"}}}`), tree.Obj(tree.F("a", tree.Str(strings.Repeat("(?:x{1000})?", 1300))))},
		"Patterns":          {"A repetition in a pattern is expanded.", few, filledFew},
		"ManyPatterns":      {"Repetitions in many small patterns are expanded.", many, filledMany},
		"SlowPattern":       {"Each character is matched against each part of a pattern.", slow, slowFilled},
		"PatternProperties": {"Each key is matched against each pattern.", tree.Obj(tree.F("patternProperties", patterns)), entries},
		"Addresses":         {"The URI of a schema repeats those of its parents.", ids, decoded(t, nested(90, `{"a":`, `{}`, `}`))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var err error
			var pages int
			took := cost.Within(t, most, func() {
				err, pages = nil, 0
				for budget := validation.NewBudget(); err == nil && pages < 50; pages++ {
					_, err = validation.Check(tc.page, tc.filled, budget)
				}
			})
			t.Logf("%d pages took %v", pages, took)
			if !errors.Is(err, validation.ErrTooManySteps) {
				t.Errorf("%s\nvalidation of 50 pages returned %v", tc.reason, err)
			}
		})
	}
}

// TestBudgetPatterns validates fifty pages with patterns that backtrack until
// their limit.
func TestBudgetPatterns(t *testing.T) {
	page, filled := field(tree.Obj(tree.F("pattern", tree.Str("^(?=x)(x+x+)+y$"))), tree.Str(strings.Repeat("x", 5000)))
	cost.Within(t, most, func() {
		budget := validation.NewBudget()
		for i := range 50 {
			// Each page has its own pattern.
			page.Get("properties", "a").Set("pattern", tree.Str(fmt.Sprintf("^(?=x)(x+x+)+y%d$", i)))
			problems, err := validation.Check(page, filled, budget)
			if err != nil || len(problems) != 1 || !strings.Contains(problems[0].Message, "takes too long") {
				t.Fatalf("page %d returned %v, %v; want that the pattern takes too long", i, problems, err)
			}
		}
	})
}

// TestBudgetProblems validates fifty pages on which all fields are missing: the
// response is no longer than that of one page.
func TestBudgetProblems(t *testing.T) {
	page, _ := wide(900)
	budget := validation.NewBudget()
	var all []validation.Problem
	for range 50 {
		problems, err := validation.Check(page, tree.Obj(), budget)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, problems...)
	}
	if size := len(answer(t, all)); len(all) != 1000 || size > 4<<20 {
		t.Errorf("%d problems of %d bytes, want 1000 of less than 4 MiB", len(all), size)
	}
}

// TestBudgetRoom checks that forms of ordinary size are far from the limit.
func TestBudgetRoom(t *testing.T) {
	page, filled := wide(2000)
	budget := validation.NewBudget()
	for i := range 10 {
		if problems, err := validation.Check(page, filled, budget); err != nil || len(problems) > 0 {
			t.Fatalf("page %d of 2000 fields returned %v, %v", i+1, problems, err)
		}
	}
}

// TestBudgetSame checks that a check ends after the same number of pages each
// time: it counts steps, not time.
func TestBudgetSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema := rapid.Custom(anySchema(4)).Draw(t, "schema")
		ends := func() (pages, problems int) {
			budget := validation.NewBudget()
			for pages < 20 {
				found, err := validation.Check(schema, tree.Obj(tree.F("a", tree.Str("text"))), budget)
				if err != nil {
					return pages, problems
				}
				pages++
				problems += len(found)
			}
			return pages, problems
		}
		pages, problems := ends()
		if again, found := ends(); again != pages || found != problems {
			t.Fatalf("%s\nvalidation ended after %d pages with %d problems, then after %d with %d", tree.AppendJSON(nil, schema, ""), pages, problems, again, found)
		}
	})
}

// anySchema draws a schema of a given depth.
func anySchema(depth int) func(*rapid.T) *tree.Node {
	return func(t *rapid.T) *tree.Node {
		words := []string{"type", "required", "pattern", "minLength", "maximum"}
		if depth > 0 {
			words = append(words, "oneOf", "anyOf", "allOf", "properties", "not", "if")
		}
		n := tree.Obj()
		for _, word := range rapid.SliceOfNDistinct(rapid.SampledFrom(words), 0, 3, rapid.ID).Draw(t, "words") {
			inner := func() *tree.Node { return rapid.Custom(anySchema(depth-1)).Draw(t, word) }
			switch word {
			case "type":
				n.Set(word, tree.Str(rapid.SampledFrom([]string{"object", "string", "integer"}).Draw(t, word)))
			case "required":
				n.Set(word, tree.Arr(tree.Str("a"), tree.Str("b")))
			case "pattern":
				n.Set(word, tree.Str("^(a?){20}$"))
			case "minLength", "maximum":
				n.Set(word, tree.Number(3))
			case "properties":
				n.Set(word, tree.Obj(tree.F("a", inner()), tree.F("b", inner())))
			case "not", "if":
				n.Set(word, inner())
			default:
				n.Set(word, tree.Arr(inner(), inner(), inner()))
			}
		}
		return n
	}
}
