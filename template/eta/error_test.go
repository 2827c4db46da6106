package eta

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// bad are the files of the error tests.
var bad = map[string]string{
	"syntax.eta":  "ok\n<% if (x { %>\n",
	"throw.eta":   "1\n2 <%= (() => { throw new TypeError('inner') })() %>\n",
	"outer.eta":   "first\n é <%~ include('./throw') %>\n",
	"circle.eta":  "x\n<%~ include('other') %>",
	"other.eta":   "<%~ include('circle') %>",
	"deep1.eta":   "<%~ include('deep2') %>",
	"deep2.eta":   "<%~ include('deep3') %>",
	"deep3.eta":   "<%~ include('deep4') %>",
	"deep4.eta":   "<%~ include('throw') %>",
	"layout.eta":  "<% layout('./throw') %>\nbody",
	"nowhere.eta": "a\n<% layout('./nope') %>\nbody",
	"latin.eta":   "a\nb \xe9",
	"loop.eta":    "a\n<% for (;;) {} %>",
}

func TestErrors(t *testing.T) {
	cases := map[string]struct {
		reason   string
		template string
		want     Error
	}{
		"unclosed tag":     {"An unclosed tag is reported at its position.", "a\n <%= 1", Error{Line: 2, Column: 2, Msg: "cannot read template: unclosed tag", Hint: "close it with %>", Text: " <%= 1"}},
		"unclosed string":  {"An unclosed string is reported at its position.", "<%= 'a\n' %>", Error{Line: 1, Column: 5, Msg: "cannot read template: unclosed string", Hint: "close it with ' on the same line", Text: "<%= 'a"}},
		"unclosed literal": {"An unclosed template literal is reported at its position.", "<%= `a${1 %>", Error{Line: 1, Column: 5, Msg: "cannot read template: unclosed string", Hint: "close it with `", Text: "<%= `a${1 %>"}},
		"unclosed comment": {"An unclosed comment is reported at its position.", "<% /* a %>", Error{Line: 1, Column: 4, Msg: "cannot read template: unclosed comment", Hint: "close it with */", Text: "<% /* a %>"}},
		"unclosed remark":  {"An unclosed comment is reported at its position.", "a <%# a", Error{Line: 1, Column: 3, Msg: "cannot read template: unclosed comment", Hint: "close it with %>", Text: "a <%# a"}},
		"open brace":       {"An unclosed brace is reported at its position, not at the end.", "<% if (true) { %>\nx\n", Error{Line: 1, Column: 14, Msg: "cannot compile template: { is never closed", Hint: "close it in a later tag: <% } %>", Text: "<% if (true) { %>"}},
		"stray brace":      {"An unmatched closing brace is reported at its position.", "a\n<% } %>", Error{Line: 2, Column: 4, Msg: "cannot compile template: unexpected }", Hint: "remove it, or add the opening bracket", Text: "<% } %>"}},
		"escape":           {"A template cannot close the function that it is compiled to.", "<% }} foo(); {{ %>", Error{Line: 1, Column: 4, Msg: "cannot compile template: unexpected }", Hint: "remove it, or add the opening bracket", Text: "<% }} foo(); {{ %>"}},
		"syntax":           {"A syntax error has its position in the template.", "é\n\n  <%= 1 +* 2 %>", Error{Line: 3, Column: 10, Msg: "cannot compile template: unexpected token *", Text: "  <%= 1 +* 2 %>"}},
		"declared twice":   {"A compile error has its position in the template.", "<% let a %>\n<% let a %>", Error{Line: 2, Column: 8, Msg: "cannot compile template: identifier 'a' has already been declared", Text: "<% let a %>"}},
		"throw":            {"A thrown error is reported with its position.", "a\n<% throw new Error('boom') %>", Error{Line: 2, Column: 10, Msg: "boom", Text: "<% throw new Error('boom') %>"}},
		"throw text":       {"Any value can be thrown.", "<% throw 'boom' %>", Error{Line: 1, Column: 4, Msg: "boom", Text: "<% throw 'boom' %>"}},
		"throw a book":     {"The message of a thrown value is shortened.", "<% throw 'é'.repeat(1e6) %>", Error{Line: 1, Column: 4, Msg: strings.Repeat("é", 500) + "…", Text: "<% throw 'é'.repeat(1e6) %>"}},
		"long name":        {"A long name is shortened.", "<% include('x'.repeat(1e6)) %>", Error{Line: 1, Column: 11, Msg: `cannot find template "` + strings.Repeat("x", longest-22) + "…", Hint: "write the path from the template folder, or from the including file with ./ or ../", Text: "<% include('x'.repeat(1e6)) %>"}},
		"throw object":     {"A thrown object without a message is reported.", "<% throw {} %>", Error{Line: 1, Column: 4, Msg: "thrown object has no message", Text: "<% throw {} %>"}},
		"throw bare":       {"A thrown object without a prototype is reported.", "<% throw Object.create(null) %>", Error{Line: 1, Column: 4, Msg: "thrown object has no message", Text: "<% throw Object.create(null) %>"}},
		"no text":          {"Internals of the engine are not shown.", "<%= Object.create(null) %>", Error{Line: 1, Column: 5, Msg: "TypeError: Cannot convert an object to a string", Text: "<%= Object.create(null) %>"}},
		"mark":             {"A byte order mark does not count as a column.", "\uFEFF<%= nope %>", Error{Line: 1, Column: 5, Msg: "ReferenceError: nope is not defined", Hint: "available variables: helpers, xrd, it", Text: "<%= nope %>"}},
		"no name":          {"The hint lists the available variables.", "<%= nope %>", Error{Line: 1, Column: 5, Msg: "ReferenceError: nope is not defined", Hint: "available variables: helpers, xrd, it", Text: "<%= nope %>"}},
		"of undefined":     {"The hint suggests optional chaining.", "<%= xrd.a.b %>", Error{Line: 1, Column: 11, Msg: "TypeError: Cannot read property 'b' of undefined", Hint: "write ?. where a value may be missing: a?.b", Text: "<%= xrd.a.b %>"}},
		"undefined":        {"undefined is not written.", "owner: <%= xrd.owner %>", Error{Line: 1, Column: 12, Msg: "cannot write undefined", Hint: `set a default: <%= value ?? "" %>`, Text: "owner: <%= xrd.owner %>"}},
		"object":           {"An object is not written.", "<%= [xrd] %>", Error{Line: 1, Column: 5, Msg: "cannot write an object", Hint: "write one of its values, or all as JSON: <%= JSON.stringify(value) %>", Text: "<%= [xrd] %>"}},
		"function":         {"A function is not written.", "<%= helpers.same %>", Error{Line: 1, Column: 5, Msg: "cannot write a function", Hint: "call it: <%= name() %>", Text: "<%= helpers.same %>"}},
		"nothing":          {"An empty output tag is an error.", "<%= %>", Error{Line: 1, Column: 5, Msg: "cannot write an empty tag", Hint: "put a value into a tag that begins with <%= or <%~", Text: "<%= %>"}},
		"helper":           {"An error of a helper has the position of the call.", "a\n  <%= helpers.fail(1) %>", Error{Line: 2, Column: 19, Msg: "cannot help", Text: "  <%= helpers.fail(1) %>", Err: errHelp}},
		"helper panics":    {"A panic of a helper is an error.", "<%= helpers.panic() %>", Error{Msg: "cannot render: runtime error: index out of range [7] with length 0"}},
		"function handed":  {"A function cannot be passed to a helper.", "<%= helpers.same({ f() {} }) %>", Error{Line: 1, Column: 17, Msg: "cannot pass a function to a helper", Hint: "call it first", Text: "<%= helpers.same({ f() {} }) %>"}},
		"itself handed":    {"A cyclic value cannot be passed to a helper.", "<% const a = {}; a.a = a %><%= helpers.same(a) %>", Error{Line: 1, Column: 44, Msg: "cannot convert a value that is nested too deeply, too large, or contains itself", Text: "<% const a = {}; a.a = a %><%= helpers.same(a) %>"}},
		"in include":       {"An error in an included file lists where it was included.", "<%~ include('outer') %>", Error{File: "throw.eta", Line: 2, Column: 22, Msg: "TypeError: inner", Text: "2 <%= (() => { throw new TypeError('inner') })() %>", From: []Place{{"outer.eta", 2, 15}, {"t.eta", 1, 12}}}},
		"syntax included":  {"A compile error in an included file lists where it was included.", "\n<%~ include('syntax') %>", Error{File: "syntax.eta", Line: 2, Column: 10, Msg: "cannot compile template: { is never closed", Hint: "close it in a later tag: <% } %>", Text: "<% if (x { %>", From: []Place{{"t.eta", 2, 12}}}},
		"in layout":        {"An error in a layout lists where it was included.", "<%~ include('layout') %>", Error{File: "throw.eta", Line: 2, Column: 22, Msg: "TypeError: inner", Text: "2 <%= (() => { throw new TypeError('inner') })() %>", From: []Place{{"layout.eta", 1, 10}, {"t.eta", 1, 12}}}},
		"no layout":        {"A missing layout is reported at the call of layout.", "<%~ include('nowhere') %>", Error{File: "nowhere.eta", Line: 2, Column: 10, Msg: `cannot find template "nope.eta"`, Hint: "write the path from the template folder, or from the including file with ./ or ../", Text: "<% layout('./nope') %>", From: []Place{{"t.eta", 1, 12}}}},
		"no file":          {"A missing file is reported at the include.", "<%~ include('nope') %>", Error{Line: 1, Column: 12, Msg: `cannot find template "nope.eta"`, Hint: "write the path from the template folder, or from the including file with ./ or ../", Text: "<%~ include('nope') %>"}},
		"outside":          {"A file outside the folder is not read.", "<%~ include('../../etc/passwd') %>", Error{Line: 1, Column: 12, Msg: `cannot include "../../etc/passwd": path is outside the template folder`, Hint: "include files from the template folder only", Text: "<%~ include('../../etc/passwd') %>"}},
		"roundabout":       {"A path that escapes the folder indirectly is refused.", "<%~ include('a/../../x') %>", Error{Line: 1, Column: 12, Msg: `cannot include "a/../../x": path is outside the template folder`, Hint: "include files from the template folder only", Text: "<%~ include('a/../../x') %>"}},
		"odd name":         {"An include needs a valid file name.", `<%~ include('a\\b') %>`, Error{Line: 1, Column: 12, Msg: `cannot include "a\\b": not a file name`, Hint: "separate folders with /, such as wizard/default.eta", Text: `<%~ include('a\\b') %>`}},
		"no string":        {"An include needs an argument.", "<%~ include() %>", Error{Line: 1, Column: 12, Msg: "cannot include undefined: not a file name", Text: "<%~ include() %>"}},
		"circle":           {"An include cycle is reported.", "<%~ include('circle') %>", Error{File: "circle.eta", Line: 2, Column: 12, Msg: `cannot include "other.eta": include cycle, other.eta → circle.eta → other.eta`, Hint: "check that the recursion ends; a file may include itself at most 4 levels deep", Text: "<%~ include('other') %>", From: []Place{{"other.eta", 1, 12}, {"circle.eta", 2, 12}, {"t.eta", 1, 12}}}},
		"too deep":         {"The depth of includes is limited.", "<%~ include('deep1') %>", Error{File: "deep3.eta", Line: 1, Column: 12, Msg: `cannot include "deep4.eta": includes are nested more than 4 levels deep`, Text: "<%~ include('deep4') %>", From: []Place{{"deep2.eta", 1, 12}, {"deep1.eta", 1, 12}, {"t.eta", 1, 12}}}},
		"not UTF-8":        {"A template must be UTF-8.", "<%~ include('latin') %>", Error{File: "latin.eta", Line: 2, Column: 3, Msg: "cannot read template: not UTF-8", Text: "b \uFFFD", From: []Place{{"t.eta", 1, 12}}}},
		"rejected":         {"A rejected promise is an error.", "<% Promise.reject(new Error('no')) %>", Error{Msg: "cannot render: no", Hint: "remove async, await and promises; templates are synchronous"}},
		"nesting":          {"Code that is nested too deep is not compiled.", "<%= " + strings.Repeat("(", 201) + " %>", Error{Line: 1, Column: 205, Msg: "cannot read template: brackets are nested more than 200 levels deep", Text: "<%= " + strings.Repeat("(", 201) + " %>"}},
	}
	set := New(folder(bad), Limits{Depth: 4})
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, err := set.RenderText(t.Context(), "t.eta", tc.template, Data{"xrd": map[string]any{}, "helpers": helpers()})
			var got *Error
			if !errors.As(err, &got) || out != "" {
				t.Fatalf("%s\ngot %q and error %v", tc.reason, out, err)
			}
			if tc.want.File == "" {
				tc.want.File = "t.eta"
			}
			if diff := cmp.Diff(&tc.want, got, cmpopts.IgnoreFields(Error{}, "Err")); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
			if tc.want.Err != nil && !errors.Is(err, tc.want.Err) {
				t.Errorf("%s\nerror is not %v", tc.reason, tc.want.Err)
			}
		})
	}
}

// TestBounds checks that every render ends.
func TestBounds(t *testing.T) {
	const slow, long, big, large, deep, code = "timeout exceeded", "output is larger than 4194304 bytes", "a string of more than 4 MiB",
		"a list of more than 262144 values", "nested too deep", "cannot compile code from a string in a template"
	cases := map[string]struct{ template, want string }{
		"endless loop":       {"a\n<% for (;;) {} %>", "t.eta:2:4: cannot render: " + slow},
		"endless first":      {"<%# why %>\n<% while (true) {} %>", "t.eta:2:4: cannot render: " + slow},
		"uncatchable":        {"<% for (;;) { try { for (;;) {} } catch { } finally { } } %>", slow},
		"endless promise":    {"<% (async () => { for (;;) await 1 })() %>", slow},
		"endless expression": {"<%= /^(?=(a+)+$)/.test('a'.repeat(40) + 'b') %>", slow},
		"endless output":     {"<% for (;;) { %>xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx<% } %>", long},
		"output caught":      {"<% try { for (;;) output('x'.repeat(1e6)) } catch { } %>ok", "t.eta:1:25: cannot render: " + long},
		"endless recursion":  {"<% const f = () => f(); f() %>", "t.eta:1:21: cannot render: function calls are nested too deeply"},
		"repeat":             {"<%= 'x'.repeat(1e9) %>", big},
		"padStart":           {"<%= 'x'.padStart(1e9) %>", big},
		"padEnd":             {"<%= 'x'.padEnd(1e9) %>", big},
		"replaceAll":         {"<%= 'x'.repeat(1e6).replaceAll('x', 'y'.repeat(1e6)) %>", big},
		"replace":            {"<%= 'x'.repeat(1e5).replace(/x/g, \"$'\") %>", big},
		"join":               {"<%= Array(1e4).fill('x'.repeat(1e6)).join() %>", big},
		"long join":          {"<%= Array(4e9).join('x') %>", large},
		"fill":               {"<%= Array(1e9).fill(1) %>", large},
		"spread":             {"<%= [...Array(1e9)] %>", large},
		"keys":               {"<%= [...Array(1e9).keys()] %>", large},
		"map":                {"<%= Array(1e9).map(x => x) %>", large},
		"from":               {"<%= Array.from({ length: 1e9 }) %>", large},
		"sort":               {"<%= Array(4e9).sort() %>", large},
		"sort anything":      {"<%= [].sort.call({ length: 4e9 }) %>", large},
		"toSorted":           {"<%= Array(4e9).toSorted() %>", large},
		"toReversed":         {"<%= Array(4e9).toReversed() %>", large},
		"toSpliced":          {"<%= Array(4e9).toSpliced(0, 1) %>", large},
		"with":               {"<%= Array(4e9).with(0, 1) %>", large},
		"values":             {"<%= [...Array(4e9).values()] %>", large},
		"toLocaleString":     {"<%= Array(4e9).toLocaleString() %>", large},
		"flat":               {"<% let a = []; for (let i = 0; i < 40; i++) a = [a, a] %><%= a.flat(Infinity) %>", deep},
		"replacer":           {"<%= JSON.stringify({}, Array(4e9)) %>", large},
		"raw":                {"<%= String.raw({ raw: { length: 1e12 } }) %>", large},
		"concat":             {"<% const s = 'x'.repeat(3e6) %><%= s.concat(s) %>", big},
		"stringify":          {"<%= JSON.stringify(Array(1e3).fill('x'.repeat(1e6))) %>", big},
		"with statement":     {"a\n<% with (Math) { } %>", "t.eta:2:4: cannot compile template: with is not supported"},
		"helper":             {"<%= f(Array(1e3).fill('x'.repeat(1e6))) %>", deep},
		"BigInt literal":     {"a\n<%= ({ in: 1 }).in / 1n / 2 %>", "t.eta:2:22: cannot compile template: BigInt is not supported"},
		"BigInt constant":    {"<%= 1n << 1000000000000n %>", "BigInt is not supported"},
		"BigInt":             {"<%= BigInt(1) %>", "BigInt is not defined"},
		"apply":              {"<%= Math.max.apply(null, { length: 1e9 }) %>", large},
		"deep list":          {"<% let a = []; for (let i = 0; i < 1000; i++) a = [a] %><%= a %>", deep},
		"deep stringify":     {"<% let a = []; for (let i = 0; i < 1000; i++) a = [a] %><%= JSON.stringify(a) %>", deep},
		"deep parse":         {"<%= JSON.parse('['.repeat(1e6)) %>", deep},
		"clock":              {"<%= new Date() %>", "current time is not available"},
		"clock now":          {"<%= Date.now() %>", "current time is not available"},
		"chance":             {"<%= Math.random() %>", "random numbers are not available"},
		"eval":               {"<%= eval('1') %>", "eval is not defined"},
		"Function":           {"<%= new Function('return 1')() %>", code},
		"constructor":        {"<%= (() => 1).constructor.constructor('return 1')() %>", code},
		"generator":          {"<%= (function* () {}).constructor('yield 1') %>", code},
		"async function":     {"<%= (async () => 1).constructor('return 1') %>", code},
		"require":            {"<%= require('fs') %>", "require is not defined"},
		"process":            {"<%= process.env %>", "process is not defined"},
		"global eval":        {"<%= globalThis.eval('1') %>", "TypeError"},
		"memory":             {"<%= new Uint8Array(1e9) %>", "Uint8Array is not defined"},
		"proxy":              {"<%= new Proxy({}, {}) %>", "Proxy is not defined"},
		"import":             {"<% import('fs') %>", "dynamic modules not enabled"},
	}
	set := New(folder(nil), Limits{Time: 100 * time.Millisecond})
	patient := New(folder(nil), Limits{Time: MaxTime})
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := patient
			if strings.Contains(tc.want, slow) {
				s = set
			}
			out, err := s.RenderText(t.Context(), "t.eta", tc.template, Data{"f": Func(func([]any) (any, error) { return "", nil })})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %.60q, %v; want an error with %q", out, err, tc.want)
			}
			if e, ok := errors.AsType[*Error](err); !ok || e.File != "t.eta" {
				t.Errorf("got %#v, want an *Error that names the file", err)
			}
		})
	}
}

// TestMemory checks that a render with unlimited allocations is stopped before
// it exhausts the memory.
func TestMemory(t *testing.T) {
	set := New(folder(nil), Limits{Time: MaxTime, Memory: 32 << 20})
	_, err := set.RenderText(t.Context(), "t.eta", "<% const a = [], s = 'x'.repeat(1e5); for (let i = 0; ; i++) a.push(s + i) %>", nil)
	runtime.GC()
	if err == nil || !strings.Contains(err.Error(), "memory limit exceeded") {
		t.Errorf("got %v, want an error about memory", err)
	}
}

// TestMemoryAtOnce checks that allocations at the beginning of a render count.
func TestMemoryAtOnce(t *testing.T) {
	runtime.GC()
	w := newWatch(newMachine(), Limits{Time: time.Hour, Memory: 32 << 20})
	defer w.start(t.Context())()
	kept := make([]byte, 64<<20)
	w.look()
	runtime.KeepAlive(kept)
	if w.mu.Lock(); w.why != errMemory { //nolint:errorlint // it is this one
		t.Errorf("got %v, want the error about memory", w.why)
	}
	w.mu.Unlock()
}

// TestCancelled checks that a render ends with its context.
func TestCancelled(t *testing.T) {
	set := New(folder(bad), Limits{Time: MaxTime})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := set.Render(ctx, "loop", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the error of the context", err)
	}
	if _, err := set.Render(ctx, "loop", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v before anything ran, want the error of the context", err)
	}
}

// TestSlowHelper checks that a render waits for a slow Func.
func TestSlowHelper(t *testing.T) {
	returned := false
	data := Data{"f": Func(func([]any) (any, error) { time.Sleep(1500 * time.Millisecond); returned = true; return nil, nil })}
	_, err := New(folder(nil), Limits{Time: time.Millisecond}).RenderText(t.Context(), "t.eta", "<% f(); f() %>", data)
	if err == nil || !returned {
		t.Errorf("got %v, and the function returned: %t", err, returned)
	}
}

func TestCheck(t *testing.T) {
	set := New(folder(bad), Limits{})
	for name, want := range map[string]string{
		"loop":    "",
		"throw":   "",
		"syntax":  "syntax.eta:2:10: cannot compile template: { is never closed",
		"nope":    `nope.eta: cannot find template "nope.eta"`,
		"../nope": `../nope: cannot include "../nope": path is outside the template folder`,
	} {
		got := ""
		if err := set.Check(name); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if err := set.Check("nope"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want an error that the file does not exist", err)
	}
}

// TestNoFile checks that anything but a regular file is not opened: opening a
// pipe would block.
func TestNoFile(t *testing.T) {
	files := folder(map[string]string{"t.eta": "a\n<%~ include('pipe') %>"})
	files["pipe.eta"] = &fstest.MapFile{Mode: fs.ModeNamedPipe}
	_, err := New(files, Limits{}).Render(t.Context(), "t", nil)
	if want := "t.eta:2:12: cannot open template: not a file"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestExcerpt(t *testing.T) {
	e := &Error{Line: 3, Column: 4, Text: "\té <%= x %>"}
	if want := "\té <%= x %>\n\t  ^"; e.Excerpt() != want {
		t.Errorf("got %q, want %q", e.Excerpt(), want)
	}
	long := strings.Repeat("a", 1000) + "é\tX" + strings.Repeat("b", 1000)
	lines := strings.Split((&Error{Line: 1, Column: 1003, Text: long}).Excerpt(), "\n")
	shown, caret := []rune(lines[0]), strings.Index(lines[1], "^")
	if len(shown) != widest+2 || shown[0] != '…' || shown[len(shown)-1] != '…' || shown[caret] != 'X' || lines[1][caret-1] != '\t' {
		t.Errorf("got %q and a caret at %d for a long line", lines[0], caret)
	}
	for column, want := range map[int]int{1: 0, 2000: widest} {
		if _, got, _ := strings.Cut((&Error{Line: 1, Column: column, Text: strings.Repeat("a", 2000)}).Excerpt(), "\n"); got != strings.Repeat(" ", want)+"^" {
			t.Errorf("column %d of a long line: got %q", column, got)
		}
	}
	if got := (&Error{File: "t"}).Excerpt(); got != "" {
		t.Errorf("got %q for an error without a line", got)
	}
}
