package expression

import (
	"strconv"
	"strings"
)

// parser parses the tokens of one expression.
type parser struct {
	tokens       []token
	i            int
	depth, limit int
	reading      *reading
	// links counts operators and lookups that are chained rather than nested.
	links int
}

// parseExpression parses one whole expression at offset base of its text.
func parseExpression(s string, base, limit int, r *reading) expr {
	p := &parser{tokens: lex(s, base, r), limit: limit, reading: r}
	e := p.expression()
	p.finish()
	return e
}

func (p *parser) peek() token { return p.tokens[p.i] }

func (p *parser) take(operator string) bool {
	if t := p.peek(); t.kind != isOperator || t.text != operator {
		return false
	}
	p.i++
	return true
}

func (p *parser) word(name string) bool {
	if t := p.peek(); t.kind != isName || t.text != name {
		return false
	}
	p.i++
	return true
}

func (p *parser) want(operator string) {
	if !p.take(operator) {
		p.unexpected(operator)
	}
}

func (p *parser) name(what string) token {
	t := p.peek()
	if t.kind != isName {
		p.unexpected(what)
	}
	p.i++
	return t
}

func (p *parser) finish() {
	if p.peek().kind != ended {
		p.unexpected("the end of the expression")
	}
}

// unexpected aborts because something other than wanted was found.
func (p *parser) unexpected(wanted string) {
	t := p.peek()
	if t.kind == ended {
		bail(t.at, "", "unexpected end of expression, expected %s", wanted)
	}
	hint := ""
	switch {
	case t.text == "|" && p.i > 0 && p.tokens[p.i-1].text == "|":
		hint = "write or"
	case t.text == "=":
		hint = habits['=']
	case t.kind == isName && p.i > 0 && p.tokens[p.i-1].text == ".":
		hint = "write [\"" + t.text + "\"]"
	}
	bail(t.at, hint, "unexpected %s, expected %s", strconv.Quote(short(t.text)), wanted)
}

// link limits chains, which also nest in the syntax tree.
func (p *parser) link() {
	const most = 10_000
	if p.links++; p.links > most {
		bail(p.peek().at, "split it", "the expression is too long")
	}
}

// nested limits recursion.
func (p *parser) nested(read func()) {
	if p.depth++; p.depth > p.limit {
		panic(tooDeep(p.peek().at))
	}
	read()
	p.depth--
}

// expression parses: either ["if" either ["else" either]].
func (p *parser) expression() (e expr) {
	p.nested(func() {
		e = p.either()
		at := p.peek().at
		if !p.word("if") {
			return
		}
		c := &choice{place: place(at), then: e, condition: p.either()}
		if p.word("else") {
			c.otherwise = p.either()
		}
		e = c
	})
	return e
}

func (p *parser) either() expr {
	e := p.both()
	for at := p.peek().at; p.word("or"); at = p.peek().at {
		p.link()
		e = &binary{place(at), "or", e, p.both()}
	}
	return e
}

func (p *parser) both() expr {
	e := p.negated()
	for at := p.peek().at; p.word("and"); at = p.peek().at {
		p.link()
		e = &binary{place(at), "and", e, p.negated()}
	}
	return e
}

func (p *parser) negated() (e expr) {
	at := p.peek().at
	if !p.word("not") {
		return p.membership()
	}
	p.nested(func() { e = negate(p.negated(), at) })
	return e
}

// negate puts a not before an expression. As in JavaScript it binds closer than
// comparison and arithmetic: not a == b is (not a) == b.
func negate(e expr, at int) expr {
	if b, ok := e.(*binary); ok && strings.Contains(" + - ~ * / % == != === !== < > <= >= ", " "+b.operator+" ") {
		return &binary{b.place, b.operator, negate(b.left, at), b.right}
	}
	return &unary{place(at), "not", e}
}

func (p *parser) membership() expr {
	e := p.tested()
	for {
		at, before := p.peek().at, p.i
		not := p.word("not")
		if !p.word("in") {
			p.i = before
			return e
		}
		p.link()
		e = &binary{place(at), "in", e, p.tested()}
		if not {
			e = &unary{place(at), "not", e}
		}
	}
}

func (p *parser) tested() expr {
	e := p.equality()
	at := p.peek().at
	if !p.word("is") {
		return e
	}
	not := p.word("not")
	t := &test{place: place(at), input: e}
	switch right := p.equality().(type) {
	case *symbol:
		t.name = right.name
	case *literal:
		if _, ok := right.value.(none); ok {
			t.name = "null"
		}
	case *call:
		if s, ok := right.callee.(*symbol); ok {
			t.name, t.args = s.name, right.args
		}
	}
	if t.name == "" {
		bail(at, "write a test such as x is defined, and put it in parentheses to compare it", "expected the name of a test after is")
	}
	if not {
		return &unary{place(at), "not", t}
	}
	return t
}

// leftward parses left-associative operators of one precedence.
func (p *parser) leftward(operand func() expr, operators ...string) expr {
	e := operand()
	for {
		t := p.peek()
		found := ""
		for _, o := range operators {
			if p.take(o) {
				found = o
				break
			}
		}
		if found == "" {
			return e
		}
		p.link()
		e = &binary{place(t.at), found, e, operand()}
	}
}

func (p *parser) equality() expr { return p.leftward(p.order, "==", "===", "!=", "!==") }
func (p *parser) order() expr    { return p.leftward(p.sum, "<", "<=", ">", ">=") }
func (p *parser) sum() expr      { return p.leftward(p.product, "+", "-", "~") }
func (p *parser) power() expr    { return p.leftward(p.piped, "**") }

// step is an operator and its right operand.
type step struct {
	operator string
	at       int
	right    expr
}

// product parses * / % and //. They are left-associative, but // first applies to the
// adjacent powers and remainders.
func (p *parser) product() expr {
	first, steps := p.quotient()
	for {
		t := p.peek()
		if !p.take("*") && !p.take("/") {
			return fold(first, steps)
		}
		p.link()
		right, more := p.quotient()
		steps = append(append(steps, step{t.text, t.at, right}), more...)
	}
}

func (p *parser) quotient() (expr, []step) {
	first, steps := p.remainder()
	for t := p.peek(); p.take("//"); t = p.peek() {
		p.link()
		right, more := p.remainder()
		steps = append(append(steps, step{"/", t.at, right}), more...)
		first, steps = &unary{place(t.at), "floor", fold(first, steps)}, nil
	}
	return first, steps
}

func (p *parser) remainder() (first expr, steps []step) {
	first = p.power()
	for t := p.peek(); p.take("%"); t = p.peek() {
		p.link()
		steps = append(steps, step{"%", t.at, p.power()})
	}
	return first, steps
}

func fold(e expr, steps []step) expr {
	for _, s := range steps {
		e = &binary{place(s.at), s.operator, e, s.right}
	}
	return e
}

// piped parses a value and its filters.
func (p *parser) piped() expr {
	e := p.signed()
	for p.take("|") {
		p.link()
		e = p.filter(e)
	}
	return e
}

func (p *parser) filter(input expr) *filtered {
	t := p.name("the name of a filter")
	f := &filtered{place: place(t.at), name: t.text, input: input}
	for p.take(".") {
		f.name += "." + p.name("the name of a filter").text
	}
	if p.take("(") {
		f.args = p.arguments()
	}
	return f
}

func (p *parser) signed() (e expr) {
	t := p.peek()
	if !p.take("-") && !p.take("+") {
		return p.postfix()
	}
	p.nested(func() { e = &unary{place(t.at), t.text, p.signed()} })
	return e
}

func (p *parser) primary() expr {
	t := p.peek()
	at := place(t.at)
	switch t.kind {
	case isNumber:
		p.i++
		f, _ := strconv.ParseFloat(t.text, 64)
		return &literal{at, number(f)}
	case isText:
		p.i++
		return &literal{at, t.text}
	case isRegex:
		p.i++
		return &regexLiteral{at, newPattern(t.text, t.flags, t.at, p.reading)}
	case isName:
		p.i++
		if v, ok := constants[t.text]; ok {
			return &literal{at, v}
		}
		return &symbol{at, t.text}
	}
	switch {
	case p.take("("):
		items := p.list(")")
		if len(items) == 0 {
			bail(t.at, "", "empty parentheses")
		}
		return &sequence{at, items}
	case p.take("["):
		return &listLiteral{at, p.list("]")}
	case p.take("{"):
		return p.mapping(at)
	}
	p.unexpected("a value")
	return nil
}

var constants = map[string]value{"true": true, "false": false, "none": none{}, "null": none{}}

// list parses values up to the closing bracket.
func (p *parser) list(closing string) []expr {
	var items []expr
	if p.take(closing) {
		return nil
	}
	for {
		items = append(items, p.expression())
		if !p.take(",") {
			p.want(closing)
			return items
		}
	}
}

func (p *parser) mapping(at place) expr {
	m := &mapLiteral{place: at}
	if p.take("}") {
		return m
	}
	for {
		t := p.peek()
		if _, constant := constants[t.text]; t.kind != isText && (t.kind != isName || constant) {
			p.unexpected("a key")
		}
		p.i++
		p.want(":")
		m.keys = append(m.keys, t.text)
		m.values = append(m.values, p.expression())
		if !p.take(",") {
			p.want("}")
			return m
		}
	}
}
