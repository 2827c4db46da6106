package expression

import (
	"errors"
	"strings"
	"testing"

	"example.dev/ingestor/document/tree"
)

func TestText(t *testing.T) {
	const scope = `{values: {name: shop, on: true, off: false, list: [b, a], none: [], map: {b: 1, a: 2}, idx: {"2": two, "1": one, x: ex}, people: [{name: Zoe, age: 3}, {name: adam, age: 1}]}}`
	cases := map[string]struct {
		reason, text, want string
	}{
		"Plain":         {"text without tags", "a {{ b }} \n", "a {{ b }} \n"},
		"Value":         {"values", "name: ${{ values.name }}\n", "name: shop\n"},
		"Sole":          {"one value is a text too", "${{ values.list }}", "b,a"},
		"If":            {"if, elif, else", "{% if values.off %}1{% elif values.none %}2{% else %}3{% endif %}{% if values.off %}4{% elseif values.on %}5{% endif %}", "25"},
		"For":           {"each item, and where we are", "{% for x in values.list %}${{ loop.index }}${{ loop.index0 }}${{ loop.revindex }}${{ loop.revindex0 }}${{ x }}${{ loop.first }}${{ loop.last }}${{ loop.length }} {% endfor %}", "1021btruefalse2 2110afalsetrue2 "},
		"ForElse":       {"nothing to go over", "{% for x in values.none %}x{% else %}no{% endfor %}{% for x in values.gone %}x{% else %}no{% endfor %}", "nono"},
		"ForMap":        {"keys and values", "{% for k, v in values.map %}${{ k }}=${{ v }} {% endfor %}", "b=1 a=2 "},
		"ForIndexes":    {"keys that are numbers come first", "{% for k, v in values.idx %}${{ k }}=${{ v }} {% endfor %}", "1=one 2=two x=ex "},
		"ForApart":      {"items are taken apart", "{% for a, b, c in [[1, 2, 3]] %}${{ a }}${{ b }}${{ c }}{% endfor %}", "123"},
		"ForText":       {"the letters of a text", "{% for c in 'ab' %}${{ c }}.{% endfor %}{% for i, c in 'ab' %}${{ i }}${{ c }}{% endfor %}", "a.b.0a1b"},
		"Nested":        {"loops within loops", "{% for x in values.list %}{% for y in [1, 2] %}${{ x }}${{ y }}{% endfor %}${{ loop.index }};{% endfor %}", "b1b21;a1a22;"},
		"Set":           {"names", "{% set x = 1 %}{% set a, b = 5 %}${{ x }}${{ a }}${{ b }}", "155"},
		"SetLoop":       {"a loop sets what is outside", "{% set x = 1 %}{% for i in [1, 2] %}{% set x = x + i %}{% set y = i %}{% endfor %}${{ x }}[${{ y }}]", "4[]"},
		"SetBlock":      {"what a body writes", "{% set x %}hi ${{ values.name }}{% endset %}${{ x | upper }}", "HI SHOP"},
		"Macro":         {"arguments by place, by name and by default", "{% macro f(a, b=2) %}${{ a }}-${{ b }};{% endmacro %}${{ f(1) }}${{ f(1, 3) }}${{ f(b=9, a=8) }}${{ f() }}", "1-2;1-3;8-9;-2;"},
		"MacroSees":     {"the names of the text, not of the caller", "{% macro f() %}${{ y }}${{ i }}{% endmacro %}{% set y = 5 %}{% for i in [1] %}${{ f() }}{% endfor %}", "5"},
		"Recursion":     {"a macro may call itself", "{% macro f(n) %}${{ n }}{% if n > 0 %}${{ f(n - 1) }}{% endif %}{% endmacro %}${{ f(3) }}", "3210"},
		"Call":          {"a macro calls back", "{% macro box(t) %}[${{ t }}:${{ caller(5) }}]{% endmacro %}{% call(n) box('x') %}${{ n }}${{ values.name }}{% endcall %}", "[x:5shop]"},
		"Filter":        {"a filter on a body", "{% filter replace('a', 'o') %}aha ${{ values.name }}{% endfilter %}", "oho shop"},
		"Raw":           {"text that looks like tags", "{% raw %}${{ x }}{% if %}{% raw %}b{% endraw %}{% endraw %}{% verbatim %}{# #}{% endverbatim %}", "${{ x }}{% if %}{% raw %}b{% endraw %}{# #}"},
		"Switch":        {"the case that is the same; an empty one takes the next", "{% switch 3 %}{% case '3' %}no{% case 3 %}{% case 4 %}yes{% default %}other{% endswitch %}{% switch 9 %}{% case 1 %}{% default %}other{% endswitch %}", "yesother"},
		"Block":         {"a block writes what is in it", "{% block a %}x{% endblock %}", "x"},
		"Cycler":        {"what comes in turns", "{% set c = cycler('a', 'b') %}{% for i in range(3) %}${{ c.next() }}{% endfor %}${{ c.current }}", "abaa"},
		"Joiner":        {"what stands between", "{% set j = joiner('|') %}{% for i in range(3) %}${{ j() }}${{ i }}{% endfor %}", "0|1|2"},
		"Collect":       {"a list that grows", "{% set l = [] %}{% for i in range(3) %}{% set _ = l.push(i) %}{% endfor %}${{ l | dump }}", "[0,1,2]"},
		"Sorted":        {"filters in statements", "{% for p in values.people | sort(attribute='age') %}${{ p.name }} {% endfor %}", "adam Zoe "},
		"Comment":       {"a comment writes nothing", "a{# ${{ b }} {% if %} #}c", "ac"},
		"CommentEnd":    {"the end of a comment without one is text", "${x#} ${{ 1 }}", "${x#} 1"},
		"Dashes":        {"dashes take white space away", "a  {%- if true -%}  b  {%- endif -%}  c ${{- 1 -}} d {#- x -#} e", "abc1de"},
		"Quotes":        {"a tag's end within quotes is none", "{% set x = '%}' %}${{ x }}${{ \"}}\" }}", "%}}}"},
		"Lines":         {"line breaks stay", "{% if true %}\n  a\n{% endif %}\nb\n", "\n  a\n\nb\n"},
		"Undefined":     {"nothing is written for nothing", "[${{ values.gone.more }}${{ null }}]", "[]"},
		"Objects":       {"an object within text says little", "${{ values.map }}", "[object Object]"},
		"WindowsBreaks": {"line breaks of two characters", "a\r\n{% if true %}\r\nb{% endif %}", "a\r\n\r\nb"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Text(tc.text, scoped(t, scope), nil)
			if err != nil || got != tc.want {
				t.Errorf("%s: got %q, %v; want %q", tc.reason, got, err, tc.want)
			}
		})
	}
}

func TestTextOptions(t *testing.T) {
	const text = "  {% if true %}\n  a\n  {% endif %}\nb {% if true %}\nc{% endif %}\n{% raw %}\nx\n{% endraw %}\nd\r\n{% if true %}\r\ne{% endif %}"
	cases := map[string]struct {
		reason, text, want string
		env                Env
	}{
		"Trim":   {"line breaks behind statements go", text, "    a\n  b cx\n\nd\r\ne", Env{TrimBlocks: true}},
		"Lstrip": {"indentation before statements goes", text, "\n  a\n\nb \nc\n\nx\n\nd\r\n\r\ne", Env{LstripBlocks: true}},
		"Both":   {"and both", text, "  a\nb cx\n\nd\r\ne", Env{TrimBlocks: true, LstripBlocks: true}},
		"Tags":   {"other tags", "{{ 1 }} ${{ 2 }} <${{ 'a' }}>", "1 $2 <$a>", Env{Open: "{{"}},
		"Angles": {"quite other tags", "<< 1 >> ${{ 2 }}", "1 ${{ 2 }}", Env{Open: "<<", Close: ">>"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Text(tc.text, nil, &tc.env)
			if err != nil || got != tc.want {
				t.Errorf("%s: got %q, %v; want %q", tc.reason, got, err, tc.want)
			}
		})
	}
}

func TestTextErrors(t *testing.T) {
	cases := map[string]struct {
		reason, text string
		line, column int
		msg          string
	}{
		"Line":     {"the line is told", "a\nb ${{ x | nope }}\n", 2, 11, "unknown filter nope"},
		"Comment":  {"a comment that does not end", "a {# b", 1, 3, "{# is not closed"},
		"Raw":      {"raw text that does not end", "a\n{% raw %}b", 2, 3, "raw is not closed"},
		"Endif":    {"an end without a beginning", "a{% endif %}", 1, 5, "unexpected endif without an opening statement"},
		"Wrong":    {"the end of something else", "{% if a %}{% endfor %}", 1, 14, "unexpected endfor without an opening statement"},
		"Empty":    {"a statement without a name", "{% %}", 1, 4, "unexpected end of expression, expected the name of a statement"},
		"In":       {"a loop over nothing", "{% for x of y %}{% endfor %}", 1, 10, `unexpected "of", expected in`},
		"Constant": {"true stays true", "{% set true = 1 %}", 1, 8, "true cannot be set"},
		"Apart":    {"null has no parts", "{% for a, b in [null] %}{% endfor %}", 1, 4, "cannot unpack null into 2 names"},
		"Case":     {"text before the first case", "{% switch 1 %}x{% case 1 %}{% endswitch %}", 1, 4, "unexpected content before the first case"},
		"Call":     {"a call block calls", "{% call x %}{% endcall %}", 1, 9, "expected a macro call"},
		"Include":  {"no other file", "{% extends 'a' %}", 1, 4, "extends is not supported: other files cannot be read"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Text(tc.text, nil, nil)
			e, ok := errors.AsType[*Error](err)
			if !ok || e.Line != tc.line || e.Column != tc.column || e.Msg != tc.msg {
				t.Errorf("%s: got %q, %+v; want %d:%d: %s", tc.reason, got, err, tc.line, tc.column, tc.msg)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	cases := map[string]struct {
		reason, text, want string
		limits             Limits
	}{
		"Rounds":    {"loops end", "{% for i in range(1000) %}{% for j in range(1000) %}{% for k in range(1000) %}{% endfor %}{% endfor %}{% endfor %}", "evaluation takes more than", Limits{}},
		"Range":     {"nothing huge is made", "${{ range(1000000000000) }}", "evaluation takes more than", Limits{}},
		"Infinite":  {"nor endless", "${{ range(1/0) }}", "evaluation takes more than", Limits{}},
		"Double":    {"texts that double", "{% set s = 'abcdefgh' %}{% for i in range(60) %}{% set s = s ~ s %}{% endfor %}", "", Limits{}},
		"Replace":   {"texts within texts", "{% set s = 'a' %}{% for i in range(60) %}{% set s = s | replace('a', 'aaaaaaaaaa') %}{% endfor %}", "", Limits{}},
		"Regex":     {"and by pattern", "{% set s = 'aaaa' %}{% for i in range(60) %}{% set s = s | replace(r/a/g, '$`$`') %}{% endfor %}", "", Limits{}},
		"Lists":     {"lists within lists", "{% set a = ['x'] %}{% for i in range(60) %}{% set a = [a, a] %}{% endfor %}${{ a }}", "", Limits{}},
		"Dump":      {"as JSON", "{% set a = ['x'] %}{% for i in range(60) %}{% set a = [a, a] %}{% endfor %}${{ a | dump }}", "", Limits{}},
		"Circle":    {"a list within itself", "{% set a = [] %}{% set _ = a.push(a) %}${{ a }}", "nested too deep", Limits{}},
		"DumpRound": {"also as JSON", "{% set a = [] %}{% set _ = a.push(a) %}${{ a | dump }}", "nested too deep", Limits{}},
		"Flat":      {"also flat", "{% set a = [] %}{% set _ = a.push(a) %}${{ a.flat(1/0) }}", "nested too deep", Limits{}},
		"Recursion": {"a macro without end", "{% macro f() %}${{ f() }}{% endmacro %}${{ f() }}", "nested too deep", Limits{}},
		"Spaces":    {"a great width", "${{ 'a' | center(100000000) }}", "result is larger than", Limits{}},
		"Indent":    {"a great indentation", "${{ '\\n\\n\\n' | indent(16000000) }}", "result is larger than", Limits{}},
		"Brackets":  {"brackets within brackets", "${{ " + strings.Repeat("(", 10000) + "1" + strings.Repeat(")", 10000) + " }}", "nested too deep", Limits{}},
		"Nots":      {"not not not", "${{ " + strings.Repeat("not ", 10000) + "1 }}", "nested too deep", Limits{}},
		"Signs":     {"minus minus minus", "${{ " + strings.Repeat("- ", 10000) + "1 }}", "nested too deep", Limits{}},
		"Chain":     {"an expression that goes on and on", "${{ 1" + strings.Repeat("+1", 1<<20) + " }}", "too long", Limits{}},
		"Ifs":       {"statements within statements", strings.Repeat("{% if 1 %}", 10000), "nested too deep", Limits{}},
		"Output":    {"what is written", "{% for i in range(100) %}0123456789{% endfor %}", "larger than 500 bytes", Limits{Output: 500}},
		"Steps":     {"what is done", "{% for i in range(100) %}{% endfor %}", "evaluation takes more than", Limits{Steps: 100}},
		"Depth":     {"how deep", "${{ [[[[1]]]] }}", "nested too deep", Limits{Depth: 3}},
		"Length":    {"what says it is long", "{% for x in {length: 1000000000000} %}{% endfor %}", "evaluation takes more than", Limits{}},
		"Batch":     {"a fill without end", "${{ [1] | batch(100000000, 1) }}", "evaluation takes more than", Limits{}},
		"Slices":    {"slices without end", "${{ [1] | slice(100000000) }}", "evaluation takes more than", Limits{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			env := Default()
			env.Limits = tc.limits
			out, err := Text(tc.text, nil, env)
			if _, ok := errors.AsType[*Error](err); !ok || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: got %d bytes, %v; want %q", tc.reason, len(out), err, tc.want)
			}
		})
	}
}

// TestLimitOfWhole checks that all texts of a value share one limit, and that
// values without expressions can have any depth that can be parsed.
func TestLimitOfWhole(t *testing.T) {
	env := Default()
	env.Limits.Steps = 1000
	n := tree.Arr()
	for range 100 {
		n.Items = append(n.Items, tree.Str("${{ range(20) | length }}"))
	}
	if _, err := Evaluate(n, nil, env); err == nil || !strings.Contains(err.Error(), "evaluation takes more than") {
		t.Errorf("got %v", err)
	}
	deep := tree.Str("${{ 1 }}")
	for range 1000 {
		deep = tree.Arr(deep)
	}
	if _, err := Evaluate(deep, nil, nil); err == nil || !strings.Contains(err.Error(), "nested too deep") {
		t.Errorf("got %v", err)
	}
}
