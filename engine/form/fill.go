package form

import (
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// Fill returns the values of a form for a resource that is there: what its steps
// would have been given to apply just that. template is the spec of a Template,
// live the resource as the cluster has it, its managed fields included. What the
// machinery has filled in itself is left out, so that it stays the machinery's.
//
// It undoes the expressions that Compile writes, whose parameters are each the
// whole of a value. What a template makes in any other way cannot be undone, and
// is left out.
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

// applied returns the input of the step that applies the resource, or proposes
// it; nil if there is none.
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

// filling collects values.
type filling struct{ values *tree.Node }

// undo finds the values that make of a part of the manifest what is there. in is
// the key the part stands under.
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

// spelled returns what stands under a key, in either vocabulary.
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

// readShape reads a text that is one expression; false if it is any other than
// those that Compile writes.
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

// parametersIn returns the parameters that a text with expressions names.
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

// reader reads expressions. Once something is not as it should be, all it
// returns means nothing.
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

// value is: parameter or object, then perhaps "if" parameters "else undefined".
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

// quoted reads a text in double quotes, with the escapes that reference writes.
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
