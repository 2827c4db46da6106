package expression

import (
	"slices"
	"strings"
)

// statement is a part of a template that writes or does something.
type statement interface{}

type (
	textOut  struct{ text string }
	valueOut struct{ value expr }

	branch struct {
		// condition is nil for else.
		condition expr
		body      []statement
	}
	ifStatement  struct{ branches []branch }
	forStatement struct {
		place
		targets         []string
		over            expr
		body, otherwise []statement
	}
	setStatement struct {
		targets []string
		// value is nil if the body is the value.
		value expr
		body  []statement
	}
	macroStatement struct {
		place
		name   string
		params params
		body   []statement
	}
	callStatement struct {
		call   *call
		params params
		body   []statement
	}
	filterStatement struct {
		// filter has no input: its input is the output of the body.
		filter *filtered
		body   []statement
	}
	switchStatement struct {
		value     expr
		cases     []branch
		otherwise []statement
	}
	blockStatement struct{ body []statement }
)

// params are the parameters of a macro.
type params struct {
	names []string
	// named are the parameters with a default value, defaults those values.
	named    []string
	defaults []expr
}

// template is a parsed text.
type template struct {
	text string
	body []statement
}

// sole returns the expression of a template that is a single expression.
func (t *template) sole() expr {
	if len(t.body) == 1 {
		if v, ok := t.body[0].(*valueOut); ok {
			return v.value
		}
	}
	return nil
}

// parseTemplate parses a text.
func parseTemplate(s string, env *Env, depth int) (t *template, bad *fault) {
	defer func() {
		if bad != nil {
			bad.tag = tagAround(s, bad.at, env)
		}
	}()
	defer caught(&bad)
	r := &reader{pieces: scan(s, env), limit: depth, end: len(s)}
	body, _ := r.body()
	return &template{s, body}, nil
}

// reader parses pieces into statements.
type reader struct {
	pieces       []piece
	i            int
	depth, limit int
	end          int
	reading      reading
}

// body parses statements up to one of the stop tags, and returns that tag, parsed up to
// its name. Without stops it parses to the end.
func (r *reader) body(stops ...string) (out []statement, stop *tag) {
	if r.depth++; r.depth > r.limit {
		panic(tooDeep(r.pieces[r.i-1].at))
	}
	defer func() { r.depth-- }()
	for r.i < len(r.pieces) {
		p := r.pieces[r.i]
		r.i++
		switch p.kind {
		case plain:
			out = append(out, &textOut{p.text})
		case output:
			out = append(out, &valueOut{r.parseOutput(p)})
		case block:
			t := r.tag(p)
			if slices.Contains(stops, t.name) {
				return out, t
			}
			out = append(out, r.statement(t))
		}
	}
	if len(stops) > 0 {
		last := stops[len(stops)-1]
		bail(r.end, "add {% "+last+" %}", "%s is missing", last)
	}
	return out, nil
}

// parseOutput parses the expression of an output. Its closing tag is the first one
// outside of strings, which two closing braces can be by mistake.
func (r *reader) parseOutput(p piece) expr {
	var e expr
	var bad *fault
	func() {
		defer caught(&bad)
		e = parseExpression(p.text, p.at, r.limit, &r.reading)
	}()
	if bad == nil {
		return e
	}
	if bad.hint == "" && strings.Count(p.text, "{") > strings.Count(p.text, "}") {
		bad.hint = "put a space between the closing braces; }} ends the expression"
	}
	panic(bad)
}

// tag is a statement's tag, parsed up to its name.
type tag struct {
	parser
	name string
	at   int
}

func (r *reader) tag(p piece) *tag {
	t := &tag{parser: parser{tokens: lex(p.text, p.at, &r.reading), limit: r.limit, reading: &r.reading}}
	name := t.parser.name("the name of a statement")
	t.name, t.at = name.text, name.at
	return t
}

var statements = []string{"if", "for", "set", "macro", "call", "filter", "block", "switch", "raw", "verbatim"}

func (r *reader) statement(t *tag) statement {
	switch t.name {
	case "if":
		return r.ifs(t)
	case "for":
		return r.loop(t)
	case "set":
		return r.set(t)
	case "macro":
		return r.macro(t)
	case "call":
		return r.callBlock(t)
	case "filter":
		return r.filterBlock(t)
	case "switch":
		return r.choose(t)
	case "block":
		t.parser.name("the name of the block")
		t.finish()
		body, _ := r.body("endblock")
		return &blockStatement{body}
	case "include", "import", "from", "extends":
		bail(t.at, "move the content into this file", "%s is not supported: other files cannot be read", t.name)
	case "else", "elif", "elseif", "endif", "endfor", "endset", "endmacro", "endcall", "endfilter", "endblock", "case", "default", "endswitch":
		bail(t.at, "", "unexpected %s without an opening statement", t.name)
	}
	bail(t.at, near(t.name, slices.Clone(statements), "use one of "+strings.Join(statements, ", ")), "unknown statement %s", t.name)
	return nil
}

// rest parses an expression up to the end of the tag.
func (t *tag) rest() expr {
	e := t.expression()
	t.finish()
	return e
}

func (r *reader) ifs(t *tag) statement {
	s := &ifStatement{}
	condition := t.rest()
	for {
		body, stop := r.body("elif", "elseif", "else", "endif")
		s.branches = append(s.branches, branch{condition, body})
		switch stop.name {
		case "endif":
			stop.finish()
			return s
		case "else":
			stop.finish()
			body, end := r.body("endif")
			end.finish()
			s.branches = append(s.branches, branch{nil, body})
			return s
		}
		condition = stop.rest()
	}
}

// names parses a, b, c.
func (t *tag) names() []string {
	var out []string
	for {
		n := t.parser.name("a name")
		if _, ok := constants[n.text]; ok {
			bail(n.at, "choose another name", "%s cannot be set", n.text)
		}
		out = append(out, n.text)
		if !t.take(",") {
			return out
		}
	}
}

func (r *reader) loop(t *tag) statement {
	s := &forStatement{place: place(t.at), targets: t.names()}
	if !t.word("in") {
		t.unexpected("in")
	}
	s.over = t.rest()
	body, stop := r.body("else", "endfor")
	s.body = body
	stop.finish()
	if stop.name == "else" {
		s.otherwise, stop = r.body("endfor")
		stop.finish()
	}
	return s
}

func (r *reader) set(t *tag) statement {
	s := &setStatement{targets: t.names()}
	if t.take("=") {
		s.value = t.rest()
		return s
	}
	t.finish()
	body, stop := r.body("endset")
	stop.finish()
	s.body = body
	return s
}

// params parses the parameters of a macro, after the opening parenthesis.
func (t *tag) params() (p params) {
	a := t.arguments()
	for _, e := range a.positional {
		s, ok := e.(*symbol)
		if !ok {
			bail(e.at(), "", "expected a name")
		}
		p.names = append(p.names, s.name)
	}
	p.named, p.defaults = a.names, a.named
	return p
}

func (r *reader) macro(t *tag) statement {
	s := &macroStatement{place: place(t.at), name: t.parser.name("the name of the macro").text}
	t.want("(")
	s.params = t.params()
	t.finish()
	body, stop := r.body("endmacro")
	stop.finish()
	s.body = body
	return s
}

func (r *reader) callBlock(t *tag) statement {
	s := &callStatement{}
	if t.take("(") {
		s.params = t.params()
	}
	e := t.rest()
	c, ok := e.(*call)
	if !ok {
		bail(e.at(), "write, for example, {% call box(\"title\") %}", "expected a macro call")
	}
	s.call = c
	body, stop := r.body("endcall")
	stop.finish()
	s.body = body
	return s
}

func (r *reader) filterBlock(t *tag) statement {
	s := &filterStatement{filter: t.filter(nil)}
	t.finish()
	body, stop := r.body("endfilter")
	stop.finish()
	s.body = body
	return s
}

func (r *reader) choose(t *tag) statement {
	s := &switchStatement{value: t.rest()}
	first, stop := r.body("case", "default", "endswitch")
	for _, f := range first {
		if text, ok := f.(*textOut); !ok || strings.TrimFunc(text.text, isSpace) != "" {
			bail(t.at, "", "unexpected content before the first case")
		}
	}
	for stop.name == "case" {
		condition := stop.rest()
		var body []statement
		body, stop = r.body("case", "default", "endswitch")
		s.cases = append(s.cases, branch{condition, body})
	}
	if stop.name == "default" {
		stop.finish()
		s.otherwise, stop = r.body("endswitch")
	}
	stop.finish()
	return s
}
