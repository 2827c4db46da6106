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
		"Plain":         {"Text without tags is unchanged.", "a {{ b }} \n", "a {{ b }} \n"},
		"Value":         {"Values are written.", "name: ${{ values.name }}\n", "name: shop\n"},
		"Sole":          {"A single value is converted to text.", "${{ values.list }}", "b,a"},
		"If":            {"if, elif and else select a branch.", "{% if values.off %}1{% elif values.none %}2{% else %}3{% endif %}{% if values.off %}4{% elseif values.on %}5{% endif %}", "25"},
		"For":           {"A loop visits each item and sets the loop variables.", "{% for x in values.list %}${{ loop.index }}${{ loop.index0 }}${{ loop.revindex }}${{ loop.revindex0 }}${{ x }}${{ loop.first }}${{ loop.last }}${{ loop.length }} {% endfor %}", "1021btruefalse2 2110afalsetrue2 "},
		"ForElse":       {"The else branch is used if there are no items.", "{% for x in values.none %}x{% else %}no{% endfor %}{% for x in values.gone %}x{% else %}no{% endfor %}", "nono"},
		"ForMap":        {"A loop over a map has keys and values.", "{% for k, v in values.map %}${{ k }}=${{ v }} {% endfor %}", "b=1 a=2 "},
		"ForIndexes":    {"Numeric keys come first.", "{% for k, v in values.idx %}${{ k }}=${{ v }} {% endfor %}", "1=one 2=two x=ex "},
		"ForApart":      {"Items are unpacked into several names.", "{% for a, b, c in [[1, 2, 3]] %}${{ a }}${{ b }}${{ c }}{% endfor %}", "123"},
		"ForText":       {"A loop over a string visits its characters.", "{% for c in 'ab' %}${{ c }}.{% endfor %}{% for i, c in 'ab' %}${{ i }}${{ c }}{% endfor %}", "a.b.0a1b"},
		"Nested":        {"Loops can be nested.", "{% for x in values.list %}{% for y in [1, 2] %}${{ x }}${{ y }}{% endfor %}${{ loop.index }};{% endfor %}", "b1b21;a1a22;"},
		"Set":           {"set assigns names.", "{% set x = 1 %}{% set a, b = 5 %}${{ x }}${{ a }}${{ b }}", "155"},
		"SetLoop":       {"A loop changes outer names, and its own names end with it.", "{% set x = 1 %}{% for i in [1, 2] %}{% set x = x + i %}{% set y = i %}{% endfor %}${{ x }}[${{ y }}]", "4[]"},
		"SetBlock":      {"A set block assigns its output.", "{% set x %}hi ${{ values.name }}{% endset %}${{ x | upper }}", "HI SHOP"},
		"Macro":         {"Macro arguments are positional, named or defaults.", "{% macro f(a, b=2) %}${{ a }}-${{ b }};{% endmacro %}${{ f(1) }}${{ f(1, 3) }}${{ f(b=9, a=8) }}${{ f() }}", "1-2;1-3;8-9;-2;"},
		"MacroSees":     {"A macro has the names of the text, not of the caller.", "{% macro f() %}${{ y }}${{ i }}{% endmacro %}{% set y = 5 %}{% for i in [1] %}${{ f() }}{% endfor %}", "5"},
		"Recursion":     {"A macro may call itself.", "{% macro f(n) %}${{ n }}{% if n > 0 %}${{ f(n - 1) }}{% endif %}{% endmacro %}${{ f(3) }}", "3210"},
		"Call":          {"A macro may call the block of its caller.", "{% macro box(t) %}[${{ t }}:${{ caller(5) }}]{% endmacro %}{% call(n) box('x') %}${{ n }}${{ values.name }}{% endcall %}", "[x:5shop]"},
		"Filter":        {"A filter block filters its output.", "{% filter replace('a', 'o') %}aha ${{ values.name }}{% endfilter %}", "oho shop"},
		"Raw":           {"Raw text is not evaluated.", "{% raw %}${{ x }}{% if %}{% raw %}b{% endraw %}{% endraw %}{% verbatim %}{# #}{% endverbatim %}", "${{ x }}{% if %}{% raw %}b{% endraw %}{# #}"},
		"Switch":        {"switch uses the equal case; an empty case falls through.", "{% switch 3 %}{% case '3' %}no{% case 3 %}{% case 4 %}yes{% default %}other{% endswitch %}{% switch 9 %}{% case 1 %}{% default %}other{% endswitch %}", "yesother"},
		"Block":         {"A block writes its content.", "{% block a %}x{% endblock %}", "x"},
		"Cycler":        {"cycler alternates between its values.", "{% set c = cycler('a', 'b') %}{% for i in range(3) %}${{ c.next() }}{% endfor %}${{ c.current }}", "abaa"},
		"Joiner":        {"joiner writes a separator between items.", "{% set j = joiner('|') %}{% for i in range(3) %}${{ j() }}${{ i }}{% endfor %}", "0|1|2"},
		"Collect":       {"A list can be extended in a loop.", "{% set l = [] %}{% for i in range(3) %}{% set _ = l.push(i) %}{% endfor %}${{ l | dump }}", "[0,1,2]"},
		"Sorted":        {"Statements may use filters.", "{% for p in values.people | sort(attribute='age') %}${{ p.name }} {% endfor %}", "adam Zoe "},
		"Comment":       {"A comment writes nothing.", "a{# ${{ b }} {% if %} #}c", "ac"},
		"CommentEnd":    {"The end of a comment without a start is text.", "${x#} ${{ 1 }}", "${x#} 1"},
		"Dashes":        {"Dashes trim white space.", "a  {%- if true -%}  b  {%- endif -%}  c ${{- 1 -}} d {#- x -#} e", "abc1de"},
		"Quotes":        {"The end of a tag is ignored in quotes.", "{% set x = '%}' %}${{ x }}${{ \"}}\" }}", "%}}}"},
		"Lines":         {"Line breaks are kept.", "{% if true %}\n  a\n{% endif %}\nb\n", "\n  a\n\nb\n"},
		"Undefined":     {"undefined and null write nothing.", "[${{ values.gone.more }}${{ null }}]", "[]"},
		"Objects":       {"An object is written as in JavaScript.", "${{ values.map }}", "[object Object]"},
		"WindowsBreaks": {"Windows line breaks are kept.", "a\r\n{% if true %}\r\nb{% endif %}", "a\r\n\r\nb"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Text(tc.text, scoped(t, scope), nil)
			if err != nil || got != tc.want {
				t.Errorf("%s\ngot %q, %v; want %q", tc.reason, got, err, tc.want)
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
		"Trim":   {"TrimBlocks removes line breaks after statements.", text, "    a\n  b cx\n\nd\r\ne", Env{TrimBlocks: true}},
		"Lstrip": {"LstripBlocks removes indentation before statements.", text, "\n  a\n\nb \nc\n\nx\n\nd\r\n\r\ne", Env{LstripBlocks: true}},
		"Both":   {"TrimBlocks and LstripBlocks can be combined.", text, "  a\nb cx\n\nd\r\ne", Env{TrimBlocks: true, LstripBlocks: true}},
		"Tags":   {"The opening tag can be changed.", "{{ 1 }} ${{ 2 }} <${{ 'a' }}>", "1 $2 <$a>", Env{Open: "{{"}},
		"Angles": {"Both tags can be changed.", "<< 1 >> ${{ 2 }}", "1 ${{ 2 }}", Env{Open: "<<", Close: ">>"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Text(tc.text, nil, &tc.env)
			if err != nil || got != tc.want {
				t.Errorf("%s\ngot %q, %v; want %q", tc.reason, got, err, tc.want)
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
		"Line":     {"An error has its line.", "a\nb ${{ x | nope }}\n", 2, 11, "unknown filter nope"},
		"Comment":  {"An unclosed comment is reported.", "a {# b", 1, 3, "{# is not closed"},
		"Raw":      {"Unclosed raw text is reported.", "a\n{% raw %}b", 2, 3, "raw is not closed"},
		"Endif":    {"An end statement without a start is reported.", "a{% endif %}", 1, 5, "unexpected endif without an opening statement"},
		"Wrong":    {"An end statement of another kind is reported.", "{% if a %}{% endfor %}", 1, 14, "unexpected endfor without an opening statement"},
		"Empty":    {"A statement without a name is reported.", "{% %}", 1, 4, "unexpected end of expression, expected the name of a statement"},
		"In":       {"A loop without in is reported.", "{% for x of y %}{% endfor %}", 1, 10, `unexpected "of", expected in`},
		"Constant": {"true cannot be assigned.", "{% set true = 1 %}", 1, 8, "true cannot be set"},
		"Apart":    {"null cannot be unpacked.", "{% for a, b in [null] %}{% endfor %}", 1, 4, "cannot unpack null into 2 names"},
		"Case":     {"Text before the first case is reported.", "{% switch 1 %}x{% case 1 %}{% endswitch %}", 1, 4, "unexpected content before the first case"},
		"Call":     {"A call block needs a macro call.", "{% call x %}{% endcall %}", 1, 9, "expected a macro call"},
		"Include":  {"Other files cannot be read.", "{% extends 'a' %}", 1, 4, "extends is not supported: other files cannot be read"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Text(tc.text, nil, nil)
			e, ok := errors.AsType[*Error](err)
			if !ok || e.Line != tc.line || e.Column != tc.column || e.Msg != tc.msg {
				t.Errorf("%s\ngot %q, %+v; want %d:%d: %s", tc.reason, got, err, tc.line, tc.column, tc.msg)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	cases := map[string]struct {
		reason, text, want string
		limits             Limits
	}{
		"Rounds":    {"The number of iterations is limited.", "{% for i in range(1000) %}{% for j in range(1000) %}{% for k in range(1000) %}{% endfor %}{% endfor %}{% endfor %}", "evaluation takes more than", Limits{}},
		"Range":     {"The size of a range is limited.", "${{ range(1000000000000) }}", "evaluation takes more than", Limits{}},
		"Infinite":  {"An infinite range is refused.", "${{ range(1/0) }}", "evaluation takes more than", Limits{}},
		"Double":    {"The size of strings that double is limited.", "{% set s = 'abcdefgh' %}{% for i in range(60) %}{% set s = s ~ s %}{% endfor %}", "", Limits{}},
		"Replace":   {"The size of replaced strings is limited.", "{% set s = 'a' %}{% for i in range(60) %}{% set s = s | replace('a', 'aaaaaaaaaa') %}{% endfor %}", "", Limits{}},
		"Regex":     {"The size of strings replaced by a pattern is limited.", "{% set s = 'aaaa' %}{% for i in range(60) %}{% set s = s | replace(r/a/g, '$`$`') %}{% endfor %}", "", Limits{}},
		"Lists":     {"The size of written lists is limited.", "{% set a = ['x'] %}{% for i in range(60) %}{% set a = [a, a] %}{% endfor %}${{ a }}", "", Limits{}},
		"Dump":      {"The size of lists written as JSON is limited.", "{% set a = ['x'] %}{% for i in range(60) %}{% set a = [a, a] %}{% endfor %}${{ a | dump }}", "", Limits{}},
		"Circle":    {"A cyclic list is refused.", "{% set a = [] %}{% set _ = a.push(a) %}${{ a }}", "nested too deep", Limits{}},
		"DumpRound": {"A cyclic list cannot be written as JSON.", "{% set a = [] %}{% set _ = a.push(a) %}${{ a | dump }}", "nested too deep", Limits{}},
		"Flat":      {"A cyclic list cannot be flattened.", "{% set a = [] %}{% set _ = a.push(a) %}${{ a.flat(1/0) }}", "nested too deep", Limits{}},
		"Recursion": {"The depth of recursion is limited.", "{% macro f() %}${{ f() }}{% endmacro %}${{ f() }}", "nested too deep", Limits{}},
		"Spaces":    {"The width of padding is limited.", "${{ 'a' | center(100000000) }}", "result is larger than", Limits{}},
		"Indent":    {"The width of indentation is limited.", "${{ '\\n\\n\\n' | indent(16000000) }}", "result is larger than", Limits{}},
		"Brackets":  {"The nesting of brackets is limited.", "${{ " + strings.Repeat("(", 10000) + "1" + strings.Repeat(")", 10000) + " }}", "nested too deep", Limits{}},
		"Nots":      {"The nesting of not is limited.", "${{ " + strings.Repeat("not ", 10000) + "1 }}", "nested too deep", Limits{}},
		"Signs":     {"The nesting of signs is limited.", "${{ " + strings.Repeat("- ", 10000) + "1 }}", "nested too deep", Limits{}},
		"Chain":     {"The length of an expression is limited.", "${{ 1" + strings.Repeat("+1", 1<<20) + " }}", "too long", Limits{}},
		"Ifs":       {"The nesting of statements is limited.", strings.Repeat("{% if 1 %}", 10000), "nested too deep", Limits{}},
		"Output":    {"The output limit is configurable.", "{% for i in range(100) %}0123456789{% endfor %}", "larger than 500 bytes", Limits{Output: 500}},
		"Steps":     {"The step limit is configurable.", "{% for i in range(100) %}{% endfor %}", "evaluation takes more than", Limits{Steps: 100}},
		"Depth":     {"The depth limit is configurable.", "${{ [[[[1]]]] }}", "nested too deep", Limits{Depth: 3}},
		"Length":    {"A false length does not bypass the limit.", "{% for x in {length: 1000000000000} %}{% endfor %}", "evaluation takes more than", Limits{}},
		"Batch":     {"The size of a batch is limited.", "${{ [1] | batch(100000000, 1) }}", "evaluation takes more than", Limits{}},
		"Slices":    {"The number of slices is limited.", "${{ [1] | slice(100000000) }}", "evaluation takes more than", Limits{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			env := Default()
			env.Limits = tc.limits
			out, err := Text(tc.text, nil, env)
			if _, ok := errors.AsType[*Error](err); !ok || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\ngot %d bytes, %v; want %q", tc.reason, len(out), err, tc.want)
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
