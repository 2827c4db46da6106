package eta

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/grafana/sobek"
	"github.com/grafana/sobek/ast"
	"github.com/grafana/sobek/file"
	"github.com/grafana/sobek/parser"
)

// The names of the parameters in the generated code. A template that uses them only
// harms itself.
const (
	writeName  = "__eta"
	setterName = "__eta_o"
	callName   = "__eta_f"
	selfName   = "__eta_a"
	dataName   = "it"
)

// functions are the functions that a template may call, ordered by number.
var functions = []struct{ name, head string }{
	{"include", "include=(p,d)=>" + callName + "(0," + selfName + ",p,d)"},
	{"layout", "layout=(p,d)=>" + callName + "(1," + selfName + ",p,d)"},
	{"block", "block=(n,f)=>" + callName + "(2," + selfName + ",n,f)"},
	{"capture", "capture=(f)=>" + callName + "(3," + selfName + ",f)"},
	{"output", "output=" + writeName},
}

// span maps the piece of the body that begins at start, with its code from begin to end,
// to offset at of the template.
type span struct{ start, begin, end, at int }

// program is a template compiled for a set of bare names.
type program struct {
	t     *template
	names []string
	code  *sobek.Program
	// bounds are the functions passed after the names. patterns is true if the program has
	// regular expressions; round is the maximum number of notes that one of them makes per
	// iteration.
	bounds   []int
	patterns bool
	round    int
	// methods are the JavaScript methods that the program may call and that must be
	// limited.
	methods []int
}

// generate generates the body: a call for each text and value, and the code of tags
// unchanged.
func (t *template) generate() {
	var b strings.Builder
	for _, p := range t.parts {
		start := b.Len()
		switch {
		case p.kind == comment, p.kind == literal && p.text == "":
			continue
		case p.kind == literal:
			b.WriteString(writeName + "(")
			writeQuoted(&b, p.text)
			b.WriteString(");\n")
			t.spans = append(t.spans, span{start, b.Len(), b.Len(), p.at})
			continue
		case p.kind == value && p.whole:
			b.WriteString(writeName + "(")
		case p.kind == value:
			// The rest of the call is in a later tag: <%~ capture(() => { %>.
			b.WriteString(setterName + ".v=")
		}
		begin := b.Len()
		b.WriteString(p.text)
		t.spans = append(t.spans, span{start, begin, b.Len(), p.at})
		b.WriteByte('\n')
		if p.kind == value && p.whole {
			b.WriteString(");\n")
		}
	}
	t.body = b.String()
	t.lines = []int{0}
	for at := 0; at < len(t.body); {
		n := nextLine(t.body[at:])
		if n < 0 {
			break
		}
		at += n
		t.lines = append(t.lines, at)
	}
}

// nextLine returns the start of the next line, by the engine's rules.
func nextLine(s string) int {
	for i, r := range s {
		switch r {
		case '\r':
			if strings.HasPrefix(s[i+1:], "\n") {
				return i + 2
			}
			return i + 1
		case '\n':
			return i + 1
		case '\u2028', '\u2029':
			return i + 3
		}
	}
	return -1
}

// writeQuoted writes s as a JavaScript string.
func writeQuoted(b *strings.Builder, s string) {
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r < ' ' || r == '\u2028' || r == '\u2029':
			fmt.Fprintf(b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
}

// offset returns the offset in the template of a position in the generated code, whose
// line 1 is the head. It returns false for a position in the head.
func (t *template) offset(line, column int) (int, bool) {
	line -= 2
	if line < 0 || len(t.spans) == 0 {
		return 0, false
	}
	if line >= len(t.lines) {
		return len(t.text), true
	}
	at := t.lines[line] + column - 1
	i := sort.Search(len(t.spans), func(i int) bool { return t.spans[i].start > at }) - 1
	if at >= len(t.body) {
		return len(t.text), true
	}
	if i < 0 {
		return 0, true
	}
	sp := t.spans[i]
	at = sp.at + max(0, min(at, sp.end)-sp.begin)
	for at < len(t.text) && at > 0 && !utf8.RuneStart(t.text[at]) {
		at--
	}
	return at, true
}

// afterText returns the offset of the code that follows if offset is in literal text;
// any other offset unchanged.
func (t *template) afterText(offset int) int {
	text := false
	for _, p := range t.parts {
		switch {
		case p.kind == literal && p.at == offset:
			text = true
		case text && p.kind != literal && p.kind != comment:
			return p.at
		}
	}
	return offset
}

// firstTag returns the offset of the first code.
func (t *template) firstTag() int {
	for _, p := range t.parts {
		if p.kind == code || p.kind == value {
			return p.at
		}
	}
	return 0
}

// errorAt returns an error at a position of the generated code.
func (t *template) errorAt(line, column int, msg string) *Error {
	offset, _ := t.offset(line, column)
	return errorAt(t.name, t.text, offset, msg)
}

// program compiles the template for the bare names of data that it uses. The error is an
// *Error.
func (t *template) program(keys []string) (*program, error) {
	var names []string
	for _, k := range keys {
		if t.words[k] && bareName(k) {
			names = append(names, k)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	key := strings.Join(names, ",")
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.programs[key]; p != nil {
		return p, nil
	}
	p, err := t.compile(names)
	if err != nil {
		return nil, err
	}
	if len(t.programs) < maxVariants {
		t.programs[key] = p
	}
	return p, nil
}

// head returns the beginning of the program, on one line.
func (t *template) head(names []string) string {
	var b strings.Builder
	b.WriteString("(" + strings.Join(append([]string{writeName, setterName, callName, selfName, dataName}, names...), ",") + ")=>{")
	sep := "const "
	for _, f := range functions {
		if t.words[f.name] {
			b.WriteString(sep + f.head)
			sep = ","
		}
	}
	if sep == "," {
		b.WriteByte(';')
	}
	// The block lets a template redeclare its parameters.
	b.WriteString("{\n")
	return b.String()
}

// compile compiles the program: a function of the template's parameters.
func (t *template) compile(names []string) (p *program, err error) {
	defer func() {
		if x := recover(); x != nil {
			p, err = nil, errorAt(t.name, t.text, 0, fmt.Sprintf("cannot compile template: %v", x))
		}
	}()
	src := t.head(names) + t.body + "}}"
	// A template must not name a source map: it would be read from disk.
	tree, err := parser.ParseFile(nil, t.name, src, 0, parser.WithDisableSourceMaps)
	if err != nil {
		return nil, t.syntaxError(err)
	}
	if err := t.checkShape(tree, len(src)); err != nil {
		return nil, err
	}
	if err := t.checkNumbers(tree); err != nil {
		return nil, err
	}
	p = &program{t: t, names: names}
	if err := p.bound(tree); err != nil {
		return nil, err
	}
	p.code, err = sobek.CompileAST(tree, false)
	if err != nil {
		return nil, t.syntaxError(err)
	}
	return p, nil
}

// bound replaces unlimited operations by calls, and rejects those that cannot be
// limited.
func (p *program) bound(tree *ast.Program) error {
	b := bounder{seen: map[any]bool{}, names: map[string]bool{}}
	b.rewrite(reflect.ValueOf(tree.Body))
	fail := func(at file.Idx, msg, hint string) error {
		pos := tree.File.Position(int(at) - tree.File.Base())
		e := p.t.errorAt(pos.Line, pos.Column, "cannot compile template: "+msg)
		e.Hint = hint
		return e
	}
	if b.with != nil {
		return fail(b.with.With, "with is not supported", "write the name of the object before each property")
	}
	for _, n := range b.patterns {
		round, err := checkPattern(n.Pattern, n.Flags)
		if err != nil {
			return fail(n.Idx, err.Error(), "make it shorter")
		}
		p.round = max(p.round, round)
	}
	p.patterns = len(b.patterns) > 0
	for i, m := range methods {
		if b.mayName(m.name) {
			p.methods = append(p.methods, i)
		}
	}
	fn := tree.Body[0].(*ast.ExpressionStatement).Expression.(*ast.ArrowFunctionLiteral)
	for which, used := range b.uses {
		if used {
			p.bounds = append(p.bounds, which)
			fn.ParameterList.List = append(fn.ParameterList.List, &ast.Binding{Target: &ast.Identifier{Name: boundName(which), Idx: fn.Start}})
		}
	}
	return nil
}

// checkShape ensures that the program is a single function: unbalanced braces may give a
// program of another shape.
func (t *template) checkShape(tree *ast.Program, size int) error {
	if len(tree.Body) == 1 {
		if st, ok := tree.Body[0].(*ast.ExpressionStatement); ok {
			if fn, ok := st.Expression.(*ast.ArrowFunctionLiteral); ok {
				if body, ok := fn.Body.(*ast.BlockStatement); ok && int(body.Idx1()) == size+1 && bracedOnce(body) {
					return nil
				}
			}
		}
	}
	return t.unbalanced("unexpected }")
}

// bracedOnce reports whether the block of the template is the last statement of the
// function, and ends where the function does.
func bracedOnce(body *ast.BlockStatement) bool {
	if len(body.List) == 0 || len(body.List) > 2 {
		return false
	}
	block, ok := body.List[len(body.List)-1].(*ast.BlockStatement)
	return ok && block.RightBrace == body.RightBrace-1
}

// unbalanced returns an error about the first unbalanced bracket.
func (t *template) unbalanced(msg string) *Error {
	if b := t.scan.stray; b != nil {
		e := errorAt(t.name, t.text, b.at, fmt.Sprintf("cannot compile template: unexpected %c", b.char))
		e.Hint = "remove it, or add the opening bracket"
		return e
	}
	if n := len(t.scan.open); n > 0 {
		b := t.scan.open[n-1]
		e := errorAt(t.name, t.text, b.at, fmt.Sprintf("cannot compile template: %c is never closed", b.char))
		e.Hint = fmt.Sprintf("close it in a later tag: <%% %c %%>", map[byte]rune{'(': ')', '[': ']', '{': '}'}[b.char])
		return e
	}
	return errorAt(t.name, t.text, 0, "cannot compile template: "+msg)
}

// syntaxError converts an error of the parser or compiler to an *Error.
func (t *template) syntaxError(err error) *Error {
	if t.scan.stray != nil || len(t.scan.open) > 0 {
		return t.unbalanced("")
	}
	if list, ok := errors.AsType[parser.ErrorList](err); ok && len(list) > 0 {
		return t.errorAt(list[0].Position.Line, list[0].Position.Column, "cannot compile template: "+lower(list[0].Message))
	}
	if ce, ok := errors.AsType[*sobek.CompilerSyntaxError](err); ok && ce.File != nil {
		at := ce.File.Position(ce.Offset)
		return t.errorAt(at.Line, at.Column, "cannot compile template: "+lower(ce.Message))
	}
	return errorAt(t.name, t.text, 0, "cannot compile template: "+strconv.Quote(err.Error()))
}

// lower converts the first letter of a message to lower case, like our messages.
func lower(s string) string {
	if s == "" || len(s) > 1 && s[1] >= 'A' && s[1] <= 'Z' {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// bareName reports whether a key of data can be a JavaScript name.
func bareName(k string) bool {
	if k == "" || !wordStart(k[0]) || reserved[k] {
		return false
	}
	for i := range len(k) {
		if !wordPart(k[i]) || k[i] >= 0x80 {
			return false
		}
	}
	return true
}

// reserved are the reserved words, and the names that are in use.
var reserved = func() map[string]bool {
	m := map[string]bool{writeName: true, setterName: true, callName: true, selfName: true, dataName: true}
	for _, f := range functions {
		m[f.name] = true
	}
	for _, w := range strings.Fields(`arguments async await break case catch class const continue debugger default delete
		do else enum eval export extends false finally for function if implements import in instanceof interface let new
		null of package private protected public return static super switch this throw true try typeof undefined var
		void while with yield`) {
		m[w] = true
	}
	return m
}()
