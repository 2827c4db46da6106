package expression

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"example.dev/ingestor/document/tree"
)

var seeds = []string{
	"", "plain", "${{ a.b[0] }}", "x ${{ 1 + 'a' ~ b }} y", "${{ {a: [1, {b: 2} ], 'c': x if y else z} }}", "${{ r/[a-c]+\\s/gi }}", "${{ 'é😀' | truncate(1) | reverse }}",
	"{% for k, v in p %}${{ loop.index }}{% else %}{% endfor %}", "{% macro f(a, b=1) %}${{ caller() }}{% endmacro %}{% call f(1) %}{% endcall %}", "{%- raw -%}{% endraw %}", "{# #}${{",
	"{% set a = [] %}{% set _ = a.push(a) %}${{ a }}", "${{ p | dump(2) | indent(4, true) }}", "${{ p.list.splice(-1, 1/0, 1) }}", "${{ (1/0).toString(36) }}${{ 0.1.toFixed(20) }}", "${{ p.list[1:-1:-2] }}",
	"${{ 'a' | replace(r/(a)/, '$1$&$`$$') }}", "{% switch 1 %}{% case 1 %}{% default %}{% endswitch %}{% filter upper %}{% endfilter %}", "${{ p is mapping and not 1 in [1] // 2 ** 3 % 4 }}", "\xff${{ '\xff' }}",
}

// FuzzEvaluate checks that an evaluation ends within its limits, with a value
// or an error that has a position in the text, is deterministic, and does not
// change the scope.
func FuzzEvaluate(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	_, lines := facts(f)
	for _, line := range lines {
		e, _, _ := strings.Cut(line, "  =>  ")
		f.Add("${{ " + e + " }}")
	}
	env := Default()
	env.Limits = Limits{Steps: 20_000, Output: 1 << 16, Depth: 50}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<12 {
			t.Skip("long texts find no more than short ones")
		}
		scope := func() Scope {
			return Scope{"p": tree.Obj(tree.F("list", tree.Arr(tree.Str("b"), tree.Number(1))), tree.F("s", tree.Str("größe 😀"))), "a": tree.Nil(), "parameters": tree.Obj(tree.F("name", tree.Str("shop")))}
		}
		used := scope()
		out, err := Text(text, used, env)
		again, errAgain := Text(text, used, env)
		if out != again || (err == nil) != (errAgain == nil) || err != nil && err.Error() != errAgain.Error() {
			t.Fatalf("got %q, %v; then %q, %v", out, err, again, errAgain)
		}
		if len(out) > env.Limits.Output {
			t.Fatalf("wrote %d bytes", len(out))
		}
		checkPlace(t, text, err)
		value, err := Evaluate(tree.Str(text), used, env)
		checkPlace(t, text, err)
		if err == nil && value.IsString() && utf8.ValidString(text) && !utf8.ValidString(value.Text) {
			t.Fatalf("%q is not valid", value.Text)
		}
		for name, n := range scope() {
			if !n.Equal(used[name]) {
				t.Fatalf("%s changed to %s", name, written(used[name]))
			}
		}
	})
}

// checkPlace checks that an error is an *Error with a position in the text.
func checkPlace(t *testing.T, text string, err error) {
	t.Helper()
	if err == nil {
		return
	}
	e, ok := errors.AsType[*Error](err)
	if !ok {
		t.Fatalf("%T is not an *Error: %v", err, err)
	}
	lines := strings.Split(text, "\n")
	if e.Line < 1 || e.Line > len(lines) || e.Column < 1 || e.Column > len([]rune(lines[e.Line-1]))+1 {
		t.Fatalf("%d:%d: %v: position is not in the text", e.Line, e.Column, err)
	}
}
