package expression_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/template/expression"
	"example.dev/ingestor/test/cost"
)

// most is the time limit of one evaluation, with some margin.
var most = cost.Cost{CPU: 4 * time.Second, Memory: 128 << 20}

// hostile are texts that would run for ever, or exhaust the memory. Their scope
// has texts of 4 MiB: x, spaces, words, wide and quotes, and a map with many
// keys.
func hostile() map[string]string {
	doubling := func(kind string) string {
		return "{% set s = 'x' %}" + strings.Repeat("{% set s = "+kind+" %}", 40) + "${{ s | length }}"
	}
	many := "r/" + strings.Repeat("(?:x{1000})?", 1300) + "/"
	groups := strings.Repeat("(x?)", 900)
	var patterns strings.Builder
	for i := range 40 {
		fmt.Fprintf(&patterns, "${{ r/%s%d/.test('x') }}", strings.Repeat("(?:x{1000})?", 40), i)
	}
	return map[string]string{
		"Concat":         doubling("s ~ s"),
		"Add":            doubling("s + s"),
		"Method":         doubling("s.concat(s)"),
		"Join":           doubling("[s, s].join('')"),
		"Filter":         doubling("[s, s] | join"),
		"Replace":        doubling("s | replace('x', 'xx')"),
		"ReplacePattern": doubling("s.replace(r/x/g, 'xx')"),
		"ReplaceMatched": doubling("s.replace(r/.*/, '$&$&')"),
		"ReplaceEmpty":   "${{ x | replace('', 'y') | length }}",
		"ReplaceBehind":  "${{ x.replace(r/x/g, \"$'\") }}",
		"ReplaceMany":    "${{ x.replace(r/x/g, 'y') | length }}",
		"ReplaceGroups":  "${{ x.replace(r/" + groups + "/g, 'y') | length }}",
		"Indent":         "${{ lines | indent(1000000) }}",
		"Center":         "${{ 'x' | center(1000000000) }}",
		"CenterLoop":     "{% for i in range(1000) %}{% set s = ('x' | center(16000000)) %}{% endfor %}",
		"Range":          "${{ range(1000000000) }}",
		"RangeFloat":     "${{ range(0, 1, 0.0000000001) }}",
		"RangeLoop":      "{% set a = [] %}{% for i in range(900000) %}{% set n = a.push(range(900000)) %}{% endfor %}",
		"Batch":          "${{ range(100000) | batch(1000000000, 'x') }}",
		"BatchSmall":     "${{ range(300000) | batch(1) }}",
		"Slice":          "${{ range(10) | slice(1000000000) }}",
		"Letters":        "${{ x | list | length }}",
		"Reverse":        "${{ x | reverse | length }}",
		"ReverseWide":    "${{ wide | reverse | length }}",
		"Split":          "${{ x.split('') | length }}",
		"SplitPattern":   "${{ words.split(r/ /) | length }}",
		"SplitGroups":    "${{ words.split(r/" + strings.Repeat("( ?)", 900) + "/) | length }}",
		"WordCount":      "${{ words | wordcount }}",
		"Title":          "${{ spaces | title | length }}",
		"Capitalize":     "${{ words | title | capitalize | upper | lower | length }}",
		"Escape":         "${{ quotes | escape | length }}",
		"EscapeLoop":     "{% set s = quotes %}" + strings.Repeat("{% set s = (s | string | escape | string) %}", 10),
		"Break":          "${{ lines | nl2br | length }}",
		"Encode":         "${{ wide | urlencode | length }}",
		"Urlize":         "${{ (words | replace('w', 'a.com')) | urlize | length }}",
		"Striptags":      "${{ ('<b>' ~ words) | striptags | length }}",
		"Truncate":       "${{ wide | truncate(2000000) | length }}",
		"Dump":           "${{ quotes | dump | length }}",
		"DumpDeep":       "{% set a = ['x'] %}" + strings.Repeat("{% set a = [a, a] %}", 40) + "${{ a | dump | length }}",
		"DumpIndent":     "{% set a = ['x'] %}" + strings.Repeat("{% set a = [a] %}", 200) + "{% set b = [] %}{% for i in range(2000) %}{% set n = b.push(a) %}{% endfor %}${{ b | dump(10) | length }}",
		"Unbox":          "${{ [[[1]]] }}",
		"Text":           "{% set a = ['x'] %}" + strings.Repeat("{% set a = [a, a] %}", 40) + "${{ a ~ '' }}",
		"Flat":           "{% set a = ['x'] %}" + strings.Repeat("{% set a = [a, a] %}", 40) + "${{ a.flat(100) | length }}",
		"Sum":            "${{ range(900000) | sum }}",
		"SumText":        "{% set a = [] %}{% for i in range(1000) %}{% set n = a.push(x) %}{% endfor %}${{ a | sum }}",
		"Sort":           "${{ (x | list) | sort | length }}",
		"SortWide":       "{% set a = [wide, wide, wide, wide, wide, wide, wide, wide, wide, wide] %}${{ a | sort | length }}{{ a.sort() | length }}",
		"Push":           "{% set a = [] %}{% for i in range(120000) %}{% set n = a.push(i) %}{% endfor %}",
		"PushLoops":      "{% set a = [] %}{% for i in range(120000) %}{% set n = a.push(loop) %}{% endfor %}",
		"PushMaps":       "{% set a = [] %}{% for i in range(120000) %}{% set n = a.push({a: 1}) %}{% endfor %}",
		"PushLists":      "{% set a = [] %}{% for i in range(120000) %}{% set n = a.push([]) %}{% endfor %}",
		"PushMethods":    "{% set a = [] %}{% for i in range(120000) %}{% set n = a.push(a.push) %}{% endfor %}",
		"PushCyclers":    "{% set a = [] %}{% for i in range(120000) %}{% set n = a.push(cycler(1)) %}{% endfor %}",
		"PushMacros":     "{% set a = [] %}{% for i in range(120000) %}{% macro m() %}{% endmacro %}{% set n = a.push(m) %}{% endfor %}",
		"Unshift":        "{% set a = [] %}{% for i in range(120000) %}{% set n = a.unshift(i) %}{% endfor %}",
		"Splice":         "{% set a = range(1000) %}{% for i in range(900000) %}{% set n = a.splice(0, 0, a) %}{% endfor %}",
		"ListConcat":     "{% set a = [1] %}" + strings.Repeat("{% set a = a.concat(a) %}", 40),
		"Groupby":        "${{ (x | list) | groupby('length') | length }}",
		"Dictsort":       "{% set s = (map | dictsort) %}",
		"MapList":        "{% set s = (map | list) %}",
		"MapLoop":        "{% for k, v in map %}{% endfor %}",
		"Macro":          "{% macro f(n) %}${{ f(n + 1) }}${{ f(n + 1) }}{% endmacro %}${{ f(0) }}",
		"MacroWide":      "{% macro f(n) %}{% if n < 40 %}${{ f(n + 1) }}${{ f(n + 1) }}{% endif %}{% endmacro %}${{ f(0) }}",
		"Loops":          "{% for i in range(1000) %}{% for j in range(1000) %}{% for k in range(1000) %}x{% endfor %}{% endfor %}{% endfor %}",
		"Nested":         "${{ " + strings.Repeat("(", 100_000) + "1" + strings.Repeat(")", 100_000) + " }}",
		"Tokens":         "${{ 0" + strings.Repeat("+1", 1_000_000) + " }}",
		"Tags":           strings.Repeat("${{1}}", 3_000_000),
		"Blocks":         strings.Repeat("{%set a=1%}", 2_000_000),
		"Comments":       strings.Repeat("{##}", 4_000_000),
		"Filters":        "${{ 'x'" + strings.Repeat("|upper", 1_000_000) + " }}",
		"Pattern":        "${{ " + many + ".test('x') }}",
		"Patterns":       patterns.String(),
		"PatternSlow":    "${{ r/(?:x?){500}x{500}z/.test(x) }}",
		"PatternSplit":   "${{ x.split(r/(?:x?){500}x{500}z/) | length }}",
		"PatternReplace": "${{ x | replace(r/(?:x?){500}x{500}z/g, '') | length }}",
		"PatternLoop":    "{% for i in range(100000) %}${{ r/(?:x?){500}x{500}z/.test(short) }}{% endfor %}",
		"LongLoop":       "{% for i in range(300000) %}${{ x.indexOf('y') }}{% endfor %}",
		"LongEqual":      "{% for i in range(300000) %}{% if x === y %}{% endif %}{% endfor %}",
		"LongIn":         "{% for i in range(300000) %}{% if x in [y] %}{% endif %}{% endfor %}",
		"LongLength":     "{% for i in range(300000) %}${{ wide | length }}{% endfor %}",
		"LongTruthy":     "{% for i in range(300000) %}{% if x and y %}{% endif %}{% endfor %}",
		"LongNumber":     "{% for i in range(300000) %}{% set n = +x %}{% endfor %}",
		"LongKey":        "{% for i in range(300000) %}{% set n = map[x] %}{% endfor %}",
		"LongMapKey":     "{% for i in range(300000) %}{% set n = map.k1 %}{% endfor %}",
		"LongLast":       "{% for i in range(300000) %}{% set n = map.k99999 %}{% endfor %}",
		"LongSwitch":     "{% for i in range(300000) %}{% switch x %}{% case y %}{% endswitch %}{% endfor %}",
		"LongTest":       "{% for i in range(300000) %}{% if x is upper %}{% endif %}{% endfor %}",
		"LongSameList":   "{% set a = range(1000) %}{% for i in range(300000) %}{% set n = a.includes(-1) %}{% endfor %}",
		"LongDigits":     "{% for i in range(300000) %}{% set n = (digits | int) %}{% endfor %}",
	}
}

// TestHostile evaluates each of them.
func TestHostile(t *testing.T) {
	keys := tree.Obj()
	for i := range 200_000 {
		keys.Fields = append(keys.Fields, tree.F(fmt.Sprint("k", i), tree.Number(int64(i))))
	}
	long := func(s string) *tree.Node { return tree.Str(strings.Repeat(s, 4<<20/len(s))) }
	scope := expression.Scope{
		"x": long("x"), "y": long("x"), "spaces": long(" "), "words": long("w "), "wide": long("ü"), "quotes": long(`"`), "lines": long("\n"), "digits": long("9"),
		"short": tree.Str(strings.Repeat("x", 1000)), "map": keys,
	}
	scope["y"].Text = scope["y"].Text[1:] + "y"
	for name, text := range hostile() {
		t.Run(name, func(t *testing.T) {
			var err error
			took := cost.Within(t, most, func() {
				if name == "Unbox" {
					_, err = expression.Evaluate(tree.Str("${{ a }}"), expression.Scope{"a": keys}, nil)
					return
				}
				_, err = expression.Text(text, scope, nil)
			})
			said := "<nil>"
			if e, ok := errors.AsType[*expression.Error](err); ok {
				said = e.Msg
			}
			t.Logf("%v: %s", took, said)
		})
	}
}
