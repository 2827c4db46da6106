package eta

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/grafana/sobek"
	"pgregory.net/rapid"
)

// evaluated returns the output of a template that evaluates code, and the
// result of the engine without our limits: type and text of the value, or the
// error.
func evaluated(t *rapid.T, code string) (ours, plain string) {
	const show = "(() => { try { const v = (() => { %s })(); return typeof v + ' ' + String(v) } catch (e) { return String(e) } })()"
	out, err := New(folder(nil), Limits{Time: MaxTime}).RenderText(t.Context(), "t.eta", "<%= "+fmt.Sprintf(show, code)+" %>", nil)
	if err != nil {
		t.Fatalf("%s: %v", code, err)
	}
	v, err := sobek.New().RunString(fmt.Sprintf(show, code))
	if err != nil {
		t.Fatalf("%s: %v", code, err)
	}
	return address.ReplaceAllString(out, ""), address.ReplaceAllString(v.String(), "")
}

// address matches the address of an object in the output of the engine.
var address = regexp.MustCompile(`&\{[^}]*\}`)

// values are the operands of additions.
var values = []string{
	"1", "2.5", "-0", "NaN", "Infinity", "2 ** 53", "-(2 ** 53)", "0.1", "''", "'a'", "'ü'", "'\\u{1F600}'", "'\\uD83D'", "null", "undefined", "true", "false",
	"[]", "[1, [2, 'x']]", "{}.x", "({})", "({valueOf() { return 3 }})", "({toString() { return 's' }})", "({valueOf() { return 3 }, toString() { return 's' }})",
	"({[Symbol.toPrimitive](hint) { return hint }})", "new String('w')", "new Number(4)", "Symbol('y')", "(() => 1)", "({toString() { throw 'no' }})", "Object.create(null)",
}

// expression draws an expression of variables a and b, and an object o.
func expression(depth int) func(*rapid.T) string {
	return func(t *rapid.T) string {
		if depth == 0 {
			return rapid.SampledFrom(append([]string{"a", "b", "o.x", "o['y']", "log('l')"}, values...)).Draw(t, "value")
		}
		inner := func() string { return "(" + rapid.Custom(expression(depth-1)).Draw(t, "inner") + ")" }
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 0, 1:
			return inner() + " + " + inner()
		case 2:
			return "`<${" + inner() + "}|${" + inner() + "}>`"
		case 3:
			return "a += " + inner()
		case 4:
			return "o.x += " + inner()
		case 5:
			return "o[log('k')] += " + inner()
		case 6:
			return "[..." + rapid.SampledFrom([]string{"'ab'", "[1, 2]", "new Set([1, 1, 2])", "new Map([[1, 2]])", "(function* () { yield 1; yield 2 })()"}).Draw(t, "list") + ", " + inner() + "].length"
		case 7:
			return "''.concat(" + inner() + ", " + inner() + ")"
		case 8:
			return "[a, b].join(" + inner() + ")"
		default:
			return "(a = " + inner() + ", b)"
		}
	}
}

// TestSame checks that limited operations give the same results as the engine,
// with side effects in the same order.
func TestSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		code := rapid.Custom(expression(3)).Draw(t, "code")
		code = "let a = 'p', b = 2; const done = [], log = (x) => { done.push(x); return x }; const o = {k: 'K', get x() { done.push('get'); return this.v ?? 'X' }, set x(v) { done.push('set'); this.v = v }, y: 5}; " +
			"const v = " + code + "; return [typeof v, String(v), String(a), b, String(o.v), String(o.k), done].join()"
		if ours, plain := evaluated(t, code); ours != plain {
			t.Fatalf("%s\ngot  %q\nwant %q", code, ours, plain)
		}
	})
}

// TestStringify checks that JSON is written as the engine writes it.
func TestStringify(t *testing.T) {
	var json func(depth int) func(*rapid.T) string
	json = func(depth int) func(*rapid.T) string {
		return func(t *rapid.T) string {
			kind := rapid.IntRange(0, 3).Draw(t, "kind")
			if depth == 0 || kind == 0 {
				return rapid.SampledFrom(append([]string{
					`'"\\\b\f\n\r\t\u0001\u001f\u007f\u2028'`, "new Boolean(false)", "({toJSON(k) { return 'json ' + k }})", "({toJSON() { return undefined }})", "1e21", "-1e-7",
					"'\\uDE00\\uD83D'", "'\\u{1F600}é'", "(function () { return 1 })",
				}, values...)).Draw(t, "value")
			}
			var parts []string
			for range rapid.IntRange(0, 3).Draw(t, "parts") {
				part := rapid.Custom(json(depth-1)).Draw(t, "part")
				if kind == 1 {
					part = rapid.SampledFrom([]string{"a", "b", "2", "1", "'ü\\n'", "toString"}).Draw(t, "key") + ": " + part
				}
				parts = append(parts, part)
			}
			if kind == 1 {
				return "({" + strings.Join(parts, ", ") + "})"
			}
			return "[" + strings.Join(parts, ", ") + "]"
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		replace := rapid.SampledFrom([]string{"undefined", "null", "['a', 'b', 'a', 2, new String('c'), {}]", "(k, v) => k === 'a' ? undefined : v", "(k, v) => typeof v === 'number' ? [v, k] : v", "[]"}).Draw(t, "replace")
		if strings.Contains(replace, "[v, k]") {
			replace = "(k, v) => typeof v === 'number' ? 'n' + v : v"
		}
		// The engine indents wrongly after an empty object.
		code := "return JSON.stringify(" + rapid.Custom(json(3)).Draw(t, "json") + ", " + replace + ")"
		if ours, plain := evaluated(t, code); ours != plain {
			t.Fatalf("%s\ngot  %q\nwant %q", code, ours, plain)
		}
	})
}

// TestRewritten checks cases that the property test does not draw.
func TestRewritten(t *testing.T) {
	cases := map[string]struct{ reason, code, want string }{
		"Private":     {"A compound assignment to a private field works.", "class A { #s = 'a'; m() { this.#s += this.#s; return this.#s } }; return new A().m()", "aa"},
		"Super":       {"A compound assignment to a property of the superclass works.", "class B { get s() { return 'b' } set s(v) { this.t = v } }; class A extends B { m() { super.s += this.x ?? 'y'; return this.t } }; return new A().m()", "by"},
		"This":        {"this and arguments are unchanged.", "const o = {n: 'a', m() { this.n += (() => this.n)() + arguments[0]; return this.n }}; return o.m('z')", "aaz"},
		"Yield":       {"A generator may yield inside a compound assignment.", "function* f() { const o = {s: 'a'}; o.s += (yield o.s) + (yield 'y'); return o.s }; const g = f(); g.next(); g.next('b'); return g.next('c').value", "abc"},
		"Old":         {"The old value is read first.", "const o = {n: 1}; const f = () => { o.n = 10; return o.n }; o.n += f(); return o.n", "11"},
		"Once":        {"The object and the key are evaluated once.", "let n = 0; const o = [1, 2]; const f = () => { n++; return o }; const v = {a: 5}; f()[0] += v.a; return o[0] + ' ' + n", "6 1"},
		"Default":     {"Parameter defaults are expressions.", "const f = (a, b = a + a) => b; return f('x')", "xx"},
		"Destructure": {"Defaults in destructuring patterns are expressions.", "const s = 't'; const {a = s + s, ...rest} = {b: 1}; const [x, ...y] = [1, 2, 3]; return a + rest.b + y.length", "tt12"},
		"Named":       {"Functions keep their names.", "const f = () => 1; let g; g = f; return f.name + g.name", "ff"},
		"Tagged":      {"A tag function gets the parts of the literal.", "const f = (s, ...v) => s.raw.join('|') + v.join(); const a = 1, b = 2; return f`x${a}\\n${b}`", "x|\\n|1,2"},
		"Optional":    {"An optional chain may end early.", "const o = null, s = 'a'; return `${o?.x ?? s}${o?.y?.[s + s] ?? s}`", "aa"},
		"Regex":       {"Regular expressions work as usual.", "const r = new RegExp('a(b)', 'g'); return [r instanceof RegExp, r.flags, 'xabab'.replace(r, '[$1]'), RegExp('c').test('c'), /d/.constructor === RegExp, 'a1b2'.split(/\\d/).length, [...'aXbX'.matchAll(/X/g)].length, /y/.source, 'q'.search('q'), 'zz'.match('z').index, RegExp(/e/, 'i').flags].join()", "true,g,x[b][b],true,true,3,2,y,0,0,i"},
		"ReplaceWith": {"A replacer function gets all its arguments.", "return 'aXbX'.replace(/(X)/g, (m, g, at, all) => m + g + at + all.length) + 'ab'.replaceAll('b', (m) => m + m) + 'ab'.replace('a', '$&$$') + 'x'.replace('x')", "aXX14bXX34abba$bundefined"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, err := New(folder(nil), Limits{Time: MaxTime}).RenderText(t.Context(), "t.eta", "<%= (() => { "+tc.code+" })() %>", nil)
			if err != nil || out != tc.want {
				t.Errorf("%s\ngot %q, %v, want %q", tc.reason, out, err, tc.want)
			}
		})
	}
}

// TestGap checks the indentation of JSON.
func TestGap(t *testing.T) {
	const value = "{a: {}, b: [], c: [1, {d: null}], e: {f: undefined}}"
	want := "{\n-\"a\": {},\n-\"b\": [],\n-\"c\": [\n--1,\n--{\n---\"d\": null\n--}\n-],\n-\"e\": {}\n}"
	for gap, indent := range map[string]string{
		"1": " ", "2": "  ", "11": "          ", "'--'": "--", "'0123456789abc'": "0123456789", "new Number(3)": "   ", "new String('x')": "x", "1.9": " ",
	} {
		out, err := New(folder(nil), Limits{}).RenderText(t.Context(), "t.eta", "<%= JSON.stringify("+value+", null, "+gap+") %>", nil)
		if got := strings.ReplaceAll(out, indent, "-"); err != nil || indent != " " && indent != "  " && got != want {
			t.Errorf("%s: got %q, %v, want %q", gap, got, err, want)
		}
	}
	for _, gap := range []string{"0", "-1", "''", "null", "undefined", "({})", "true"} {
		out, err := New(folder(nil), Limits{}).RenderText(t.Context(), "t.eta", "<%= JSON.stringify("+value+", null, "+gap+") %>", nil)
		if want := `{"a":{},"b":[],"c":[1,{"d":null}],"e":{}}`; err != nil || out != want {
			t.Errorf("%s: got %q, %v, want %q", gap, out, err, want)
		}
	}
}

// TestPattern checks the cost estimate of regular expressions.
func TestPattern(t *testing.T) {
	cases := map[string]struct {
		source string
		want   pattern
	}{
		"Plain":   {"abc", pattern{instructions: 3}},
		"Class":   {`[a(*\]]\(+`, pattern{instructions: 2}},
		"Counted": {"a{3}b{2,10}c{5,}d{x", pattern{instructions: 3 + 10 + 5 + 3}},
		"Group":   {"(?:ab)*(c)", pattern{instructions: 4 + 3, groups: 2, round: 3}},
		"Nested":  {"(?<name>a(?=b){2}c)+", pattern{instructions: 1 + 3*2 + 1 + 2, groups: 2, round: 5}},
		"Many":    {"((a{1000}){1000}){1000}", pattern{instructions: 1 << 30, groups: 2, round: 3}},
		"Broken":  {"a)(b{", pattern{instructions: 3, groups: 1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := measurePattern(tc.source)
			if name == "Many" {
				got.instructions = max(got.instructions, 1<<30)
			}
			if got != tc.want {
				t.Errorf("%s: got %+v, want %+v", tc.source, got, tc.want)
			}
		})
	}
}

// BenchmarkAdd adds values that may be long, which are checked, and values that
// cannot be.
func BenchmarkAdd(b *testing.B) {
	s := New(folder(map[string]string{
		"looked.eta": "<% let n = 0; const k = 'ab'; for (let i = 0; i < 1000; i++) { const t = k + k; n += t.length } %><%= n %>",
		"not.eta":    "<% let n = 0; const k = 'ab'; for (let i = 0; i < 1000; i++) { const t = k + 'ab'; n += 1 } %><%= n %>",
	}), Limits{Time: 10 * time.Second})
	for _, name := range []string{"looked", "not"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Render(b.Context(), name, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
