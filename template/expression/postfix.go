package expression

// postfix parses a value with its lookups and calls.
func (p *parser) postfix() expr {
	e := p.primary()
	for {
		at := p.peek().at
		switch {
		case p.take("."):
			t := p.name("a name")
			e = &lookup{place(t.at), e, &literal{place(t.at), t.text}}
		case p.take("["):
			e = p.subscript(e, at)
		case p.take("("):
			e = &call{place(at), e, p.arguments()}
		default:
			return e
		}
		p.link()
	}
}

// subscript parses the square brackets after a value: a key, or from:to:by, each of
// which may be omitted.
func (p *parser) subscript(target expr, at int) expr {
	var bounds [3]expr
	n := 0
	for ; n < len(bounds); n++ {
		if t := p.peek(); t.kind != isOperator || t.text != ":" && t.text != "]" {
			bounds[n] = p.expression()
		}
		if !p.take(":") {
			break
		}
	}
	if n == 0 && bounds[0] == nil {
		p.unexpected("a key")
	}
	p.want("]")
	if n == 0 {
		return &lookup{place(at), target, bounds[0]}
	}
	return &span{place(at), target, bounds[0], bounds[1], bounds[2]}
}

// arguments parses the arguments of a call, after its opening parenthesis.
func (p *parser) arguments() (a arguments) {
	if p.take(")") {
		return a
	}
	for {
		t := p.peek()
		if t.kind == isName && p.tokens[p.i+1].kind == isOperator && p.tokens[p.i+1].text == "=" {
			p.i += 2
			a.names = append(a.names, t.text)
			a.named = append(a.named, p.expression())
		} else {
			a.positional = append(a.positional, p.expression())
		}
		if !p.take(",") {
			p.want(")")
			return a
		}
	}
}
