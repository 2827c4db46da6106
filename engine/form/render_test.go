package form

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/tree"
)

// render does what a scaffolder does with a template's input: a text that is
// one expression becomes the expression's value with its type, and disappears
// with its key when there is none; expressions inside other text become text.
func render(n, params *tree.Node) (*tree.Node, error) {
	switch n.Kind {
	case tree.Map:
		out := tree.Obj()
		for _, f := range n.Fields {
			v, err := render(f.Value, params)
			if err != nil {
				return nil, err
			}
			if v != nil {
				out.Fields = append(out.Fields, tree.F(f.Key, v))
			}
		}
		return out, nil
	case tree.List:
		out := tree.Arr()
		for _, it := range n.Items {
			v, err := render(it, params)
			if err != nil {
				return nil, err
			}
			if v == nil {
				return nil, fmt.Errorf("list would have a hole")
			}
			out.Items = append(out.Items, v)
		}
		return out, nil
	case tree.String:
		return renderText(n.Text, params)
	}
	return n, nil
}

const (
	opening = "${{"
	closing = "}}"
)

func renderText(s string, params *tree.Node) (*tree.Node, error) {
	var out strings.Builder
	for rest := s; ; {
		at := strings.Index(rest, opening)
		if at < 0 {
			out.WriteString(rest)
			return tree.Str(out.String()), nil
		}
		out.WriteString(rest[:at])
		e := &evaluator{in: rest[at+len(opening):], params: params}
		v, err := e.whole()
		if err != nil {
			return nil, fmt.Errorf("cannot evaluate %q: %w", s, err)
		}
		rest = e.in
		if at == 0 && rest == "" && out.Len() == 0 {
			return v, nil
		}
		switch {
		case v == nil, v.Kind == tree.Null:
		case v.Kind == tree.Map, v.Kind == tree.List:
			return nil, fmt.Errorf("cannot put an object into the text %q", s)
		default:
			out.WriteString(v.Text)
		}
	}
}

// evaluator is the part of the template language that forms are written in:
// parameters, undefined, object literals, and the conditional.
type evaluator struct {
	in     string
	params *tree.Node
}

func (e *evaluator) whole() (*tree.Node, error) {
	v, err := e.expression()
	if err != nil {
		return nil, err
	}
	return v, e.expect(closing)
}

func (e *evaluator) skip() { e.in = strings.TrimLeft(e.in, " ") }

func (e *evaluator) take(token string) bool {
	e.skip()
	rest, ok := strings.CutPrefix(e.in, token)
	if ok {
		e.in = rest
	}
	return ok
}

func (e *evaluator) expect(token string) error {
	if !e.take(token) {
		return fmt.Errorf("want %q at %q", token, e.in)
	}
	return nil
}

// expression is: either ["if" expression "else" expression].
func (e *evaluator) expression() (*tree.Node, error) {
	v, err := e.either()
	if err != nil || !e.take("if ") {
		return v, err
	}
	condition, err := e.expression()
	if err != nil {
		return nil, err
	}
	if err := e.expect("else "); err != nil {
		return nil, err
	}
	other, err := e.expression()
	if err != nil {
		return nil, err
	}
	if truthy(condition) {
		return v, nil
	}
	return other, nil
}

// either is: primary ["or" either].
func (e *evaluator) either() (*tree.Node, error) {
	v, err := e.primary()
	if err != nil || !e.take("or ") {
		return v, err
	}
	other, err := e.either()
	if err != nil || truthy(v) {
		return v, err
	}
	return other, nil
}

func truthy(n *tree.Node) bool {
	if n.IsNull() {
		return false
	}
	switch n.Kind {
	case tree.Bool:
		return n.Text == "true"
	case tree.Int:
		return n.Text != "0"
	case tree.String:
		return n.Text != ""
	}
	return true
}

func (e *evaluator) primary() (*tree.Node, error) {
	switch {
	case e.take("undefined"):
		return nil, nil
	case e.take("{"):
		return e.literal()
	case e.take("parameters."):
		end := strings.IndexFunc(e.in, func(r rune) bool {
			return r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
		})
		if end <= 0 {
			return nil, fmt.Errorf("want a name at %q", e.in)
		}
		name := e.in[:end]
		e.in = e.in[end:]
		return e.params.Get(name), nil
	case e.take("parameters["):
		name, err := e.quoted()
		if err != nil {
			return nil, err
		}
		return e.params.Get(name), e.expect("]")
	}
	return nil, fmt.Errorf("unknown expression at %q", e.in)
}

func (e *evaluator) literal() (*tree.Node, error) {
	out := tree.Obj()
	for {
		key, err := e.quoted()
		if err != nil {
			return nil, err
		}
		if err := e.expect(":"); err != nil {
			return nil, err
		}
		v, err := e.expression()
		if err != nil {
			return nil, err
		}
		if v != nil {
			out.Set(key, v)
		}
		if e.take(",") {
			continue
		}
		return out, e.expect("}")
	}
}

// quoted reads a text in double quotes. The language knows no escapes but
// these; any other character after a backslash stands for itself.
func (e *evaluator) quoted() (string, error) {
	if err := e.expect(`"`); err != nil {
		return "", err
	}
	var b strings.Builder
	for i := 0; i < len(e.in); i++ {
		switch c := e.in[i]; c {
		case '"':
			e.in = e.in[i+1:]
			return b.String(), nil
		case '\\':
			if i++; i == len(e.in) {
				return "", fmt.Errorf("text ends in a backslash")
			}
			switch c := e.in[i]; c {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case 'r':
				b.WriteByte('\r')
			default:
				b.WriteByte(c)
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", fmt.Errorf("text does not end")
}

// rendered renders the manifest of a form.
func rendered(t testing.TB, f *Form, values *tree.Node) *tree.Node {
	t.Helper()
	out, err := render(f.Manifest, values)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRender(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     string
		want   string
	}{
		"number":       {"a whole expression keeps the type", `a: "${{ parameters.n }}"`, `a: 3`},
		"null":         {"null is a value", `a: "${{ parameters.z }}"`, `a: null`},
		"absent":       {"nothing removes the key", `{a: "${{ parameters.no }}", b: 1}`, `b: 1`},
		"brackets":     {"any name can be said", `a: '${{ parameters["odd \"}} name"] }}'`, `a: odd`},
		"text":         {"inside text values become text", `a: x ${{ parameters.n }} y ${{ parameters.no }}.`, `a: x 3 y .`},
		"chosen":       {"an object literal", `a: '${{ {"name": parameters.s, "n": parameters.no} if parameters.s else undefined }}'`, `a: {name: text}`},
		"not chosen":   {"the other side of a condition", `{a: '${{ {"name": parameters.no} if parameters.no else undefined }}'}`, `{}`},
		"either":       {"one of two is enough", `a: '${{ {"n": parameters.n} if parameters.no or parameters.s else undefined }}'`, `a: {n: 3}`},
		"empty choice": {"an empty text is not true", `{a: '${{ {"name": parameters.e} if parameters.e else undefined }}'}`, `{}`},
	}
	params := yaml(t, `{n: 3, z: null, s: text, e: "", 'odd "}} name': odd}`)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := render(yaml(t, tc.in), params)
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if diff := cmp.Diff(text(yaml(t, tc.want)), text(got)); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}
