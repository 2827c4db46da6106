package expression

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.dev/ingestor/document/tree"
)

const shop = `{
  parameters: {name: shop, n: 3, list: [a, b], owner: null, big: 12345678901234567890, spec: {size: 2}},
  steps: {apply: {output: {url: "https://x/y"}}}, secrets: {token: "p4ss ${{ not.again }}"}, each: {key: "0", value: {host: h}}
}`

func TestEvaluate(t *testing.T) {
	cases := map[string]struct {
		reason, value, want string
	}{
		"Type":       {"A string that is only an expression keeps the type of its value.", `{a: "${{ parameters.n }}", b: "${{ parameters.list }}", c: "${{ parameters.spec }}"}`, `{a: 3, b: [a, b], c: {size: 2}}`},
		"Text":       {"Within a string, values are converted to text.", `a: x ${{ parameters.n }} y ${{ parameters.list }}.`, `a: x 3 y a,b.`},
		"Space":      {"A surrounding space makes the result a string.", `a: " ${{ parameters.n }}"`, `a: " 3"`},
		"Dash":       {"A space that the tag trims does not make it a string.", `a: " ${{- parameters.n -}} "`, `a: 3`},
		"Comment":    {"A comment does not make it a string.", `a: "{# how many #}${{ parameters.n }}"`, `a: 3`},
		"Null":       {"Null is a value.", `a: "${{ parameters.owner }}"`, `a: null`},
		"NullText":   {"Null within a string is written as nothing.", `a: "x${{ parameters.owner }}${{ parameters.no }}"`, `a: x`},
		"Empty":      {"The empty string is a value.", `a: "${{ '' }}"`, `a: ""`},
		"Field":      {"A field whose value is undefined is removed.", `{a: "${{ parameters.no }}", b: 1}`, `b: 1`},
		"Item":       {"An item whose value is undefined is removed.", `["${{ parameters.no }}", 1, "${{ parameters.no.more }}"]`, `[1]`},
		"Literal":    {"Undefined values are removed from a list literal.", `a: "${{ [parameters.no, 1, {b: parameters.no} ] }}"`, `a: [1, {}]`},
		"Deep":       {"Expressions are evaluated at every depth.", `{a: [{b: ["${{ parameters.name }}"]}]}`, `{a: [{b: [shop]}]}`},
		"Keys":       {"Keys are not expressions.", `{"${{ parameters.name }}": 1}`, `{"${{ parameters.name }}": 1}`},
		"Others":     {"Values other than strings are unchanged.", `{a: 1, b: true, c: null, d: 1.5}`, `{a: 1, b: true, c: null, d: 1.5}`},
		"Big":        {"A number is passed through exactly.", `{a: "${{ parameters.big }}", b: "n${{ parameters.big }}", c: "${{ parameters.big | dump }}"}`, `{a: 12345678901234567890, b: n12345678901234567890, c: "12345678901234567890"}`},
		"Calculated": {"Arithmetic has the precision of JavaScript.", `a: "${{ parameters.big + 0 }}"`, `a: 12345678901234567000`},
		"NaN":        {"A number that JSON does not support becomes null.", `a: "${{ parameters.name * 2 }}"`, `a: null`},
		"Once":       {"The result is not evaluated again.", `a: "${{ secrets.token }}"`, `a: "p4ss ${{ not.again }}"`},
		"Step":       {"Outputs of steps are available.", `a: "${{ steps.apply.output.url }}"`, `a: "https://x/y"`},
		"NoStep":     {"A step that has not run has no outputs.", `{a: "${{ steps.other.output.url }}"}`, `{}`},
		"Each":       {"The iteration of a step is available.", `a: "${{ each.key }}-${{ each.value.host }}"`, `a: 0-h`},
		"Statement":  {"Statements work in values.", `a: "{% if parameters.n > 2 %}many{% else %}few{% endif %}"`, `a: many`},
		"Jinja":      {"Other braces are text.", `a: "{{ parameters.n }} $${ {x} }"`, `a: "{{ parameters.n }} $${ {x} }"`},
		"Hash":       {"A string with an incomplete tag is unchanged.", `{a: "color {#fff", b: "50{% of", c: "{% nope %}"}`, `{a: "color {#fff", b: "50{% of", c: "{% nope %}"}`},
		"Choice":     {"The expression that the form writes for a choice is evaluated.", `a: '${{ {"name": parameters.name, "ns": parameters.no} if parameters.name else undefined }}'`, `a: {name: shop}`},
		"NoChoice":   {"The expression for a choice is undefined if nothing was chosen.", `{a: '${{ {"name": parameters.no} if parameters.no else undefined }}'}`, `{}`},
		"Changed":    {"A method changes a list only within one string.", `["${{ parameters.list.push('c') }}", "${{ parameters.list }}", "{% set _ = parameters.list.push('d') %}${{ parameters.list | join }}"]`, `[3, [a, b], abd]`},
		"ChangedOne": {"The value that contains the list is changed too.", `a: "${{ [parameters.list.reverse(), parameters] }}"`, `a: [[b, a], {name: shop, n: 3, list: [b, a], owner: null, big: 12345678901234567890, spec: {size: 2}}]`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			scope, before := scoped(t, shop), scoped(t, shop)
			got, err := Evaluate(decoded(t, tc.value), scope, nil)
			if err != nil {
				t.Fatalf("%s\n%v", tc.reason, err)
			}
			if diff := cmp.Diff(decoded(t, tc.want), got); diff != "" {
				t.Errorf("%s\ngot %s, want %s", tc.reason, written(got), tc.want)
			}
			if diff := cmp.Diff(before, scope); diff != "" {
				t.Errorf("%s\nscope was changed: %s", tc.reason, diff)
			}
		})
	}
}

func TestEvaluateNothing(t *testing.T) {
	for _, n := range []*tree.Node{nil, tree.Str("${{ parameters.no }}")} {
		got, err := Evaluate(n, nil, nil)
		if got != nil || err != nil {
			t.Errorf("got %s, %v; want nothing", written(got), err)
		}
	}
}

func TestErrors(t *testing.T) {
	cases := map[string]struct {
		reason, value string
		want          Error
	}{
		"Filter":    {"An unknown filter is reported.", `{a: [x, "${{ n | uper }}"]}`, Error{Path: "a[1]", Expression: "n | uper", Line: 1, Column: 9, Msg: "unknown filter uper", Hint: "did you mean upper?"}},
		"Text":      {"An unclosed string is reported.", `a: '${{ "abc }}'`, Error{Path: "a", Expression: `"abc }}`, Line: 1, Column: 1, Msg: "${{ is not closed", Hint: "add }}"}},
		"End":       {"A missing operand is reported.", `a: 'x ${{ 1 + }}'`, Error{Path: "a", Expression: "1 +", Line: 1, Column: 11, Msg: "unexpected end of expression, expected a value"}},
		"Nothing":   {"An empty expression is reported.", `a: '${{ }}'`, Error{Path: "a", Expression: "", Line: 1, Column: 5, Msg: "unexpected end of expression, expected a value"}},
		"Not":       {"The operator ! is not supported.", `a: '${{ !x }}'`, Error{Path: "a", Expression: "!x", Line: 1, Column: 5, Msg: "unexpected '!'", Hint: "write not"}},
		"Or":        {"The operator || is not supported.", `a: '${{ a || b }}'`, Error{Path: "a", Expression: "a || b", Line: 1, Column: 8, Msg: `unexpected "|", expected the name of a filter`, Hint: "write or"}},
		"Ternary":   {"The operator ?: is not supported.", `a: '${{ a ? b : c }}'`, Error{Path: "a", Expression: "a ? b : c", Line: 1, Column: 7, Msg: "unexpected '?'", Hint: "write a if b else c"}},
		"Assign":    {"An assignment is not supported.", `a: '${{ a = b }}'`, Error{Path: "a", Expression: "a = b", Line: 1, Column: 7, Msg: `unexpected "=", expected the end of the expression`, Hint: "compare with =="}},
		"Braces":    {"Two closing braces end the expression.", `a: '${{ {"a": {"b": 1}} }}'`, Error{Path: "a", Expression: `{"a": {"b": 1`, Line: 1, Column: 18, Msg: "unexpected end of expression, expected }", Hint: "put a space between the closing braces; }} ends the expression"}},
		"Call":      {"An unknown function is reported.", `a: '${{ rnge(3) }}'`, Error{Path: "a", Expression: "rnge(3)", Line: 1, Column: 5, Msg: "cannot call rnge, which is undefined", Hint: "did you mean range?"}},
		"Method":    {"An unknown method is reported.", `a: '${{ parameters.name.repeat(3) }}'`, Error{Path: "a", Expression: "parameters.name.repeat(3)", Line: 1, Column: 21, Msg: "cannot call parameters.name.repeat, which is undefined"}},
		"Unclosed":  {"An unclosed tag is reported.", `a: '${{ 1'`, Error{Path: "a", Expression: "1", Line: 1, Column: 1, Msg: "${{ is not closed", Hint: "add }}"}},
		"Endif":     {"A missing end statement is reported.", "a: \"${{ 1 }}\\n{% if x %}\"", Error{Path: "a", Expression: "if x", Line: 2, Column: 11, Msg: "endif is missing", Hint: "add {% endif %}"}},
		"Statement": {"An unknown statement is reported.", `a: '${{ 1 }}{% fro x in y %}'`, Error{Path: "a", Expression: "fro x in y", Line: 1, Column: 12, Msg: "unknown statement fro", Hint: "did you mean for?"}},
		"Include":   {"Files cannot be read.", `a: '${{ 1 }}{% include "x" %}'`, Error{Path: "a", Expression: `include "x"`, Line: 1, Column: 12, Msg: "include is not supported: other files cannot be read", Hint: "move the content into this file"}},
		"In":        {"The operator in does not accept undefined.", `a: '${{ 1 in parameters.no }}'`, Error{Path: "a", Expression: "1 in parameters.no", Line: 1, Column: 7, Msg: "cannot use in with undefined", Hint: "set a default with | default([])"}},
		"Function":  {"A function is not a value.", `a: '${{ range }}'`, Error{Path: "a", Expression: "range", Line: 1, Column: 5, Msg: "range is a function, not a value", Hint: "call it: range(…)"}},
		"Kind":      {"A filter for strings does not accept a number.", `a: '${{ parameters.n | upper }}'`, Error{Path: "a", Expression: "parameters.n | upper", Line: 1, Column: 20, Msg: "filter upper takes a string, not a number", Hint: "convert it with | string"}},
		"Random":    {"Random results are not supported.", `a: '${{ [1] | random }}'`, Error{Path: "a", Expression: "[1] | random", Line: 1, Column: 11, Msg: "filter random is not supported: a task that runs again must give the same result", Hint: "use first"}},
		"Regex":     {"Lookahead is not supported, because it is not RE2.", `a: '${{ "a" | replace(r/(?=a)/, "") }}'`, Error{Path: "a", Expression: `"a" | replace(r/(?=a)/, "")`, Line: 1, Column: 19, Msg: "cannot read the regular expression: invalid or unsupported Perl syntax: `(?=`", Hint: "remove look-ahead and look-behind, which are not supported"}},
		"Test":      {"The result of a test cannot be compared.", `a: '${{ 1 is odd == true }}'`, Error{Path: "a", Expression: "1 is odd == true", Line: 1, Column: 7, Msg: "expected the name of a test after is", Hint: "write a test such as x is defined, and put it in parentheses to compare it"}},
		"Secret":    {"The value is not shown.", `a: '${{ secrets.token | parseRepoUrl }}'`, Error{Path: "a", Expression: "secrets.token | parseRepoUrl", Line: 1, Column: 21, Msg: "filter parseRepoUrl: cannot read repository URL: want a form such as github.com?owner=acme&repo=shop"}},
		"Unicode":   {"Columns are counted in characters.", `a: 'größe ${{ "ß" | nope }}'`, Error{Path: "a", Expression: `"ß" | nope`, Line: 1, Column: 17, Msg: "unknown filter nope"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			value := decoded(t, tc.value)
			got, err := Evaluate(value, scoped(t, shop), nil)
			e, ok := errors.AsType[*Error](err)
			if !ok {
				t.Fatalf("%s\ngot %s, %v; want an *Error", tc.reason, written(got), err)
			}
			if e.Pos.Line == 0 {
				t.Errorf("%s\nerror has no position", tc.reason)
			}
			have := *e
			have.Pos, have.Err = tree.Pos{}, nil
			if diff := cmp.Diff(tc.want, have); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
			if !strings.HasPrefix(err.Error(), e.Path+": cannot evaluate ") {
				t.Errorf("%s\n%v", tc.reason, err)
			}
		})
	}
}

func TestHost(t *testing.T) {
	gone := errors.New("cannot reach it")
	env := &Env{
		Filters: map[string]Filter{
			"upper": func(in *tree.Node, args []*tree.Node) (*tree.Node, error) {
				return tree.Arr(in, tree.Arr(args...)), nil
			},
			"fail": func(*tree.Node, []*tree.Node) (*tree.Node, error) { return nil, gone },
		},
		Globals: map[string]Func{
			"failure": func([]*tree.Node) (*tree.Node, error) { return tree.Boolean(false), nil },
			"nothing": func([]*tree.Node) (*tree.Node, error) { return nil, nil },
		},
	}
	got, err := Evaluate(decoded(t, `{a: "${{ 'x' | upper(1, parameters.list) }}", b: "${{ failure() or 'ok' }}", c: "${{ nothing() }}", d: "${{ ('x' | upper)[0] ~ 1 }}"}`), scoped(t, shop), env)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(decoded(t, `{a: [x, [1, [a, b]]], b: ok, d: x1}`), got); diff != "" {
		t.Errorf("got %s: %s", written(got), diff)
	}
	for _, s := range []string{"${{ 1 | fail }}", "a ${{ 1 | fail }}"} {
		if _, err := Evaluate(tree.Str(s), nil, env); !errors.Is(err, gone) {
			t.Errorf("%s: got %v, want the error of the filter", s, err)
		}
	}
	if _, err := Evaluate(tree.Str("${{ failure(a=1) }}"), nil, env); err == nil {
		t.Error("function of the host accepted a named argument")
	}
	if _, err := Evaluate(tree.Str("${{ 'a' | pick('b') }}"), nil, &Env{}); err == nil {
		t.Error("zero Env has the filters of the scaffolder")
	}
}

func TestTruthy(t *testing.T) {
	for value, want := range map[string]bool{
		"null": false, "false": false, "true": true, "0": false, "0.0": false, "1": true, `""`: false, `"false"`: true, `" "`: true, `"0"`: true,
		"[]": false, "[0]": true, "{}": true, "{a: 1}": true,
	} {
		if got := Truthy(decoded(t, "a: "+value).Get("a")); got != want {
			t.Errorf("Truthy(%s) is %v, want %v", value, got, want)
		}
	}
	if Truthy(nil) {
		t.Error("Truthy(nil) is true")
	}
}

// anyValue draws values whose texts contain no tag.
func anyValue() *rapid.Generator[*tree.Node] {
	text := rapid.String().Filter(func(s string) bool {
		return !strings.Contains(s, "${{") && !strings.Contains(s, openBlock) && !strings.Contains(s, openComment)
	})
	scalar := rapid.OneOf(
		rapid.Map(text, tree.Str),
		rapid.Map(rapid.SampledFrom([]string{"}}", "{{ x }}", "%}", "#}", "$", "${", "{", "$ {{"}), tree.Str),
		rapid.Map(rapid.Int64(), tree.Number),
		rapid.Map(rapid.Bool(), tree.Boolean),
		rapid.Just(tree.Nil()),
	)
	value := scalar
	for range 3 {
		inner := value
		value = rapid.OneOf(
			scalar,
			rapid.Map(rapid.SliceOfN(inner, 0, 4), func(items []*tree.Node) *tree.Node { return tree.Arr(items...) }),
			rapid.Map(rapid.MapOfN(rapid.String(), inner, 0, 4), func(m map[string]*tree.Node) *tree.Node {
				n := tree.Obj()
				for k, v := range m {
					n.Set(k, v)
				}
				return n
			}),
		)
	}
	return value
}

// TestUntouched checks that a value without expressions is returned unchanged,
// and that a passed-through value is the same node.
func TestUntouched(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := anyValue().Draw(t, "value")
		got, err := Evaluate(n, Scope{"x": tree.Nil()}, nil)
		if err != nil || got != n {
			t.Fatalf("got %s, %v; want the same node", written(got), err)
		}
		got, err = Evaluate(tree.Obj(tree.F("a", tree.Str("${{ p.v }}"))), Scope{"p": tree.Obj(tree.F("v", n))}, nil)
		if err != nil || !got.Get("a").Equal(n) {
			t.Fatalf("got %s, %v; want %s", written(got), err, written(n))
		}
	})
}
