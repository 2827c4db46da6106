package form

import (
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// Fill returns form values for an existing resource: the values with which the
// template's steps would apply exactly that resource. template is the spec of a
// Template, live the resource as the cluster has it, including its managed fields.
// Fields set by Crossplane are left out, so that Crossplane keeps owning them.
//
// Fill inverts the expressions that Compile writes, in which each parameter is a whole
// value. Other expressions cannot be inverted and are left out.
func Fill(template, live *tree.Node) *tree.Node {
	values := tree.Obj()
	input := applied(template)
	if input == nil {
		return values
	}
	f := filling{values}
	f.undo(input.Get("manifest"), xrd.Asked(live), "")
	f.undo(input.Get("observed"), tree.Str(xrd.Observed(live)), "")
	return values
}

// applied returns the input of the step that applies or proposes the resource; nil if
// there is none.
func applied(template *tree.Node) *tree.Node {
	for _, action := range []string{words.ActionApply, words.ActionChangeRequest} {
		for _, step := range template.Get("steps").List() {
			input := step.Get("input")
			if words.In(words.Action, step.Get("action").Str()) == action && input.Get("manifest").IsMap() && !input.Get("remove").IsTrue() {
				return input
			}
		}
	}
	return nil
}

// filling collects form values.
type filling struct{ values *tree.Node }

// undo finds the values with which part of the manifest evaluates to there. in is the
// key of the part.
func (f filling) undo(part, there *tree.Node, in string) {
	switch {
	case part == nil || there == nil:
	case part.IsString():
		if s, ok := readShape(part.Text); ok {
			f.bind(s, there)
		}
	case part.IsMap() && there.IsMap():
		for _, p := range part.Fields {
			v := there.Get(p.Key)
			if in == "annotations" || in == "labels" {
				v = spelled(there, p.Key)
			}
			f.undo(p.Value, v, p.Key)
		}
	case part.IsList() && len(part.Items) == len(there.List()):
		for i, item := range part.Items {
			f.undo(item, there.Items[i], "")
		}
	}
}

// spelled returns the value of a key, in either vocabulary.
func spelled(n *tree.Node, key string) *tree.Node {
	for _, s := range words.Spellings(words.Key, words.In(words.Key, key)) {
		if v := n.Get(s); v != nil {
			return v
		}
	}
	return nil
}

func (f filling) bind(s shape, there *tree.Node) {
	if s.param != nil {
		f.values.Set(*s.param, there)
		return
	}
	for key, inner := range s.fields {
		if v := there.Get(key); v != nil {
			f.bind(inner, v)
		}
	}
}

// shape is an expression of a manifest: a parameter, or an object of shapes.
type shape struct {
	param  *string
	fields map[string]shape
}

// readShape parses a text that is one expression. It returns false for expressions other
// than those that Compile writes.
func readShape(text string) (shape, bool) {
	inner, ok := strings.CutPrefix(text, "${{")
	if !ok {
		return shape{}, false
	}
	r := &reader{in: inner}
	s := r.value()
	r.expect("}}")
	return s, !r.bad && r.in == ""
}

// parametersIn returns the parameters that the expressions in a text refer to.
func parametersIn(text string) []string {
	const word = "parameters"
	var out []string
	for i := strings.Index(text, word); i >= 0; i = strings.Index(text, word) {
		r := &reader{in: text[i:]}
		if s := r.plain(); !r.bad && s.param != nil {
			out = append(out, *s.param)
		}
		text = text[i+len(word):]
	}
	return out
}

// reader parses expressions. Once bad is set, its results are meaningless.
type reader struct {
	in  string
	bad bool
}

func (r *reader) take(token string) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeft(r.in, " "), token)
	if ok {
		r.in = rest
	}
	return ok
}

func (r *reader) expect(token string) { r.bad = !r.take(token) || r.bad }

// value parses a parameter or object, then optionally "if" parameters "else undefined".
func (r *reader) value() shape {
	s := r.plain()
	if !r.bad && r.take("if ") {
		r.plain()
		for !r.bad && (r.take("or ") || r.take("and not ")) {
			r.plain()
		}
		r.expect("else")
		r.expect("undefined")
	}
	return s
}

func (r *reader) plain() shape {
	switch {
	case r.take("parameters."):
		end := 0
		for end < len(r.in) && (isLetter(r.in[end]) || r.in[end] == '_' || isDigit(r.in[end])) {
			end++
		}
		name := r.in[:end]
		r.in, r.bad = r.in[end:], r.bad || end == 0
		return shape{param: &name}
	case r.take("parameters["):
		name := r.quoted()
		r.expect("]")
		return shape{param: &name}
	case r.take("{"):
		s := shape{fields: map[string]shape{}}
		for {
			key := r.quoted()
			r.expect(":")
			s.fields[key] = r.value()
			if r.bad || !r.take(",") {
				break
			}
		}
		r.expect("}")
		return s
	}
	r.bad = true
	return shape{}
}

// quoted parses a double-quoted string, with the escapes that reference writes.
func (r *reader) quoted() string {
	r.expect(`"`)
	var b strings.Builder
	for i := 0; i < len(r.in) && !r.bad; i++ {
		c := r.in[i]
		switch c {
		case '"':
			r.in = r.in[i+1:]
			return b.String()
		case '\\':
			i++
			if i == len(r.in) {
				continue
			}
			if c = r.in[i]; strings.IndexByte("nrt", c) >= 0 {
				c = map[byte]byte{'n': '\n', 'r': '\r', 't': '\t'}[c]
			}
		}
		b.WriteByte(c)
	}
	r.bad = true
	return ""
}
