package eta

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
)

// folder returns a file system of names and texts.
func folder(files map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

// sample is a document whose keys are not sorted.
func sample(t testing.TB) *tree.Node {
	t.Helper()
	docs, errs := parser.DecodeBytes([]byte("name: xs.example.org\nzeta: 1\nalpha: [a, b]\n10: ten\n2: two\n__proto__: {x: own}\nempty: null\n"))
	if len(errs) > 0 {
		t.Fatal(errs[0])
	}
	return docs[0]
}

func TestRender(t *testing.T) {
	cases := map[string]struct {
		reason   string
		template string
		want     string
	}{
		"value":          {"A value and the line break after it are written.", "name: <%= xrd.name %>\nnext", "name: xs.example.org\nnext"},
		"below it":       {"Variables are also fields of it.", "<%= it.xrd.name %>", "xs.example.org"},
		"own name":       {"A template may redeclare a variable.", "<% const xrd = { name: 'own' } %><%= xrd.name %>", "own"},
		"silent line":    {"A line that contains only silent tags is removed.", "a:\n  <% if (true) { %>  <%# why %>\n  b: 1\n  <% } %>\nc: 2\n", "a:\n  b: 1\nc: 2\n"},
		"inline":         {"A silent tag on a line with text removes nothing.", "a: <% if (true) { %>b<% } %>\nc", "a: b\nc"},
		"several lines":  {"A tag may span several lines, which are removed.", "a\n<%\n  const x = 1\n%>\nb<%= x %>", "a\nb1"},
		"last line":      {"The last line may have no line break.", "a\n  <% const x = 1 %>", "a\n"},
		"windows":        {"Windows line breaks become newlines.", "a\r\n<% const x = 1 %>\r\nb\r\n", "a\nb\n"},
		"minus":          {"A dash removes one line break.", "a\n\n<%- = 1 -%>\n\nb", "a\n1\nb"},
		"underscore":     {"An underscore removes all white space.", "a \n\n <%_= 1 _%> \n\n b", "a1b"},
		"one control":    {"A line that contains only silent tags is removed even if one end has a control character.", "a\n  <%_ const x = 1 %>  \nb", "ab"},
		"null":           {"Null is written as in YAML.", "<%= xrd.empty %>", "null"},
		"order":          {"Keys have the order of the document.", "<%= Object.keys(xrd) %>", "name,zeta,alpha,10,2,__proto__,empty"},
		"proto":          {"The key __proto__ does not change the prototype.", "<%= xrd.__proto__.x %> <%= xrd.x ?? 'none' %>", "own none"},
		"map order":      {"The keys of a Go map are sorted.", "<%= Object.keys(metadata) %>", "a,b,c"},
		"change":         {"A template may change its copy.", "<% xrd.alpha.push('c'); xrd.zeta = 2; xrd.added = 3; delete xrd.name %><%= xrd.alpha %> <%= Object.keys(xrd) %> <%= xrd.zeta %>", "a,b,c zeta,alpha,10,2,__proto__,empty,added 2"},
		"spread":         {"An object can be spread.", "<%= JSON.stringify({ ...xrd, zeta: undefined }) %>", `{"2":"two","10":"ten","name":"xs.example.org","alpha":["a","b"],"__proto__":{"x":"own"},"empty":null}`},
		"for in":         {"An object can be iterated.", "<% for (const k in xrd.__proto__) { %><%= k %><% } %> <%= 'zeta' in xrd %> <%= xrd.hasOwnProperty('nope') %>", "x true false"},
		"absent":         {"A nil node is undefined.", "<%= absent === undefined %>", "true"},
		"helper":         {"Helpers get copies with keys in order.", "<%= helpers.keys({ b: 1, a: [{ c: null }], f: undefined }) %>", "b,a"},
		"helper list":    {"Helpers can be listed, replaced and removed.", "<%= Object.keys(helpers) %> <% delete helpers.fail; helpers.keys = () => 'own' %><%= helpers.keys() %> <%= typeof helpers.fail %> <%= Object.keys(helpers) %>", "fail,keys,panic,same own undefined keys,panic,same"},
		"values":         {"Values passed through a helper are unchanged.", "<%= JSON.stringify(helpers.same([1, 1.5, 'a', true, null, { b: [] }])) %>", `[1,1.5,"a",true,null,{"b":[]}]`},
		"caught inside":  {"Only the text of an error of a helper is visible.", "<% try { helpers.fail() } catch (e) { %><%= e.value %> <%= Object.getOwnPropertyNames(e.value).length %> <%= typeof e.value.Error %><% } %>", "cannot help 0 undefined"},
		"mark":           {"A byte order mark is removed.", "\uFEFF<% const x = 1 %>\na", "a"},
		"flat":           {"A cyclic list is flattened to the given depth.", "<% const a = [1]; a.push(a) %><%= a.flat().length %> <%= [[1, [2]]].flat(Infinity) %>", "3 1,2"},
		"caught":         {"An error of a helper can be caught.", "<% try { helpers.fail() } catch (e) { %><%= e.message %><% } %>", "cannot help"},
		"include":        {"An included file has all variables and those passed to it.", "<%= include('part', { v: 1 }) %>", "1 1 xs.example.org"},
		"include line":   {"The last line break of an included file is not doubled.", "a\n<%~ include('lines') %>\nb\n", "a\nl1\nl2\nb\n"},
		"relative":       {"A name that begins with ./ is relative to the including file.", "<%= include('sub/one') %>", "one two"},
		"from root":      {"Any other name is relative to the folder, with or without a leading slash.", "<%= include('/sub/two.eta') %><%= include('sub/../sub/two') %>", "twotwo"},
		"recursion":      {"A file may include itself.", "<%= include('tree', { n: 3 }) %>", "3210"},
		"layout":         {"The result of a file is passed to its layout.", "<% layout('layout', { t: 1 }) %>\nbody\n<%~ block('side', () => { %>mine<% }) %>", "1[body]mine other"},
		"capture":        {"The output of a function can be captured.", "<% const x = capture(() => { %>in<% }) %>[<%= x %>]", "[in]"},
		"open tag":       {"A value may continue in a later tag.", "<%~ capture(() => { %>in<% }).toUpperCase() %>", "IN"},
		"output":         {"output writes its argument.", "<% output('a'); output(1) %>", "a1"},
		"early end":      {"return ends the file.", "a<% if (true) return %>b", "a"},
		"strings":        {"The end of a tag is ignored in strings, comments and regular expressions.", "<%= '%>' + \"%>\" + `%>${'%>'}` /* %> */ + 'x%>'.replace(/%>/, '') %>", "%>%>%>%>x"},
		"quotes":         {"Quotes in comments and regular expressions do not open strings.", "<% // don't %><% /* it's */ %><%# it's %><%= /['\"`]/.test(\"'\") %>", "true"},
		"division":       {"A slash after a value is a division.", "<% let i = 4 %><%= i++ / 2 %> / <%= (i) / 5 %>", "2 / 1"},
		"decrement":      {"The decrement operator before the end of a tag is not a control character.", "<% let i = 4; i--%><%= i %>", "3"},
		"text as is":     {"Text is written unchanged.", "`${x}` \\ ' \" %> \u2028 \x01 é 😀", "`${x}` \\ ' \" %> \u2028 \x01 é 😀"},
		"promise":        {"The output of a promise comes last.", "<% Promise.resolve(1).then(output) %>a", "a1"},
		"date":           {"A date with an argument works.", "<%= new Date('2020-01-02').toISOString() %>", "2020-01-02T00:00:00.000Z"},
		"lists":          {"Functions of arrays and strings work as usual.", "<%= [1,[2]].flat().concat([3]).map(x => x * 2).join('-') %> <%= [...'ab'].fill('c').slice(1) %> <%= Array.from({ length: 2 }) %> <%= Math.max.apply(null, [1, 2]) %> <%= 'abc'.replace('b', '$&$&').padStart(6, '.').padEnd(7).repeat(2) %>", "2-4-6 c , 2 ..abbc ..abbc "},
		"list in itself": {"A cyclic list is written as empty inside itself.", "<% const a = [1]; a.push(a) %><%= a %>", "1,"},
		"JSON":           {"JSON can be parsed and written.", `<%= JSON.stringify(JSON.parse('{"a":[1,{"b":null}]}')) %>`, `{"a":[1,{"b":null}]}`},
	}
	set := New(folder(map[string]string{
		"part.eta":    "<%= v %> <%= it.v %> <%= xrd.name %>\n",
		"lines.eta":   "l1\nl2\n",
		"sub/one.eta": "one <%= include('./two') %>",
		"sub/two.eta": "two",
		"tree.eta":    "<%= n %><% if (n > 0) { %><%= include('./tree', { n: n - 1 }) %><% } %>",
		"layout.eta":  "<%= it.t %>[<%~ it.body %>]<%~ block('side') %> <%~ block('rest', () => { %>other<% }) %>",
	}), Limits{})
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := set.RenderText(t.Context(), "t.eta", tc.template, Data{
				"xrd":      sample(t),
				"metadata": map[string]any{"c": 1, "a": []any{1, "x"}, "b": map[string]string{"k": "v"}},
				"absent":   (*tree.Node)(nil),
				"helpers":  helpers(),
			})
			if err != nil {
				t.Fatalf("%s\n%v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDates checks that the time zone does not change the output.
func TestDates(t *testing.T) {
	here := time.Local
	t.Cleanup(func() { time.Local = here })
	time.Local = time.FixedZone("far", 5*60*60)
	const at = "2020-01-02T03:04:05.006Z"
	cases := map[string]struct{ template, want string }{
		"parts":       {"new Date(2020, 0, 2, 3, 4, 5, 6).toISOString()", at},
		"text":        {"new Date('2020-01-02T03:04:05.006').toISOString()", at},
		"words":       {"new Date('Jan 2 2020 03:04').toISOString()", "2020-01-02T03:04:00.000Z"},
		"zone":        {"new Date('2020-01-02T08:04:05.006+05:00').toISOString()", at},
		"parse":       {"Date.parse('2020-01-02T00:00') === Date.UTC(2020, 0, 2)", "true"},
		"get":         {"new Date('" + at + "').getHours()", "3"},
		"set":         {"(d => { d.setHours(4); return d.toISOString() })(new Date('" + at + "'))", "2020-01-02T04:04:05.006Z"},
		"offset":      {"new Date(0).getTimezoneOffset()", "0"},
		"string":      {"new Date(0)", "Thu, 01 Jan 1970 00:00:00 GMT"},
		"locale":      {"new Date(0).toLocaleString()", "Thu, 01 Jan 1970 00:00:00 GMT"},
		"date":        {"new Date('" + at + "').toLocaleDateString()", "2020-01-02"},
		"time":        {"new Date('" + at + "').toTimeString()", "03:04:05"},
		"copy":        {"new Date(new Date('" + at + "')).toJSON()", at},
		"constructor": {"new Date(0).constructor === Date && new Date(0) instanceof Date", "true"},
		"invalid":     {"new Date('nope')", "Invalid Date"},
	}
	set := New(folder(nil), Limits{})
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := set.RenderText(t.Context(), "t.eta", "<%= "+tc.template+" %>", nil)
			if err != nil || got != tc.want {
				t.Errorf("got %q, %v; want %q", got, err, tc.want)
			}
		})
	}
}

var errHelp = errors.New("cannot help")

func helpers() map[string]Func {
	return map[string]Func{
		"same": func(args []any) (any, error) { return args[0], nil },
		"fail": func([]any) (any, error) { return nil, errHelp },
		"keys": func(args []any) (any, error) {
			var keys []string
			for _, f := range args[0].(*tree.Node).Fields {
				keys = append(keys, f.Key)
			}
			return strings.Join(keys, ","), nil
		},
		"panic": func(args []any) (any, error) { return args[7], nil },
	}
}

// TestArguments checks the arguments of a Func.
func TestArguments(t *testing.T) {
	var got []any
	record := Func(func(args []any) (any, error) {
		got = args
		return map[string]any{"n": uint(3), "s": []string{"a"}}, nil
	})
	out, err := New(folder(nil), Limits{}).RenderText(t.Context(), "t", "<%= JSON.stringify(f(null, undefined, true, 3, 4 / 2, 0.5, 'é', [1, 'a'], { b: 1, a: 2 })) %>", Data{"f": record})
	if err != nil {
		t.Fatal(err)
	}
	want := []any{nil, nil, true, int64(3), int64(2), 0.5, "é",
		tree.Arr(tree.Number(1), tree.Str("a")), tree.Obj(tree.F("b", tree.Number(1)), tree.F("a", tree.Number(2)))}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("arguments: -want +got:\n%s", diff)
	}
	if want := `{"n":3,"s":["a"]}`; out != want {
		t.Errorf("result: got %s, want %s", out, want)
	}
}

// TestIsolation checks that no render sees the changes of another, neither in
// its data nor in the runtime, and that renders can run concurrently.
func TestIsolation(t *testing.T) {
	set := New(folder(map[string]string{"t.eta": `<%= [].seen ?? typeof leak %><%= xrd.alpha.length %><%= helpers.keys ? 'k' : '' %><%
		Array.prototype.seen = 'seen'; leak = 1; xrd.alpha.push('c'); delete helpers.keys; Object.prototype.x = 1; JSON.parse = null %>`}), Limits{})
	doc := sample(t)
	before := doc.Clone()
	data := Data{"xrd": doc, "helpers": helpers()}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20 {
				got, err := set.Render(context.Background(), "t", data)
				if want := "undefined2k"; err != nil || got != want {
					t.Errorf("got %q, %v; want %q", got, err, want)
				}
			}
		})
	}
	wg.Wait()
	if !doc.Equal(before) || len(data["helpers"].(map[string]Func)) != 4 {
		t.Error("render changed its data")
	}
}

// TestCompiledOnce checks that a file is read and compiled once, and again for
// another set of names.
func TestCompiledOnce(t *testing.T) {
	set := New(folder(map[string]string{"t.eta": "<%= typeof a %>"}), Limits{})
	for _, data := range []Data{{"a": 1}, {"a": 2, "unused": 3}, {}, {"other": 1}} {
		if _, err := set.Render(t.Context(), "t", data); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(set.templates["t.eta"].t.programs); got != 2 {
		t.Errorf("got %d programs, want one with the name and one without", got)
	}
}
