package expression

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/text"
)

// Scope is what names mean: parameters, steps, user, secrets, each, context.
type Scope map[string]*tree.Node

// Filter is what stands behind a |. Its input and arguments are nil where they
// are undefined, and it returns nil for undefined. What it is handed is
// read-only. Its error must not hold the input, which may be a secret.
type Filter func(in *tree.Node, args []*tree.Node) (*tree.Node, error)

// Func is a function that expressions may call, with the manners of a Filter.
type Func func(args []*tree.Node) (*tree.Node, error)

// Env is the language: what can be called, and how tags are written. The zero
// Env has what every template has and none of the scaffolder's filters. An Env
// is read only, so that several goroutines may use one.
type Env struct {
	// Filters and Globals come before those of the language.
	Filters map[string]Filter
	Globals map[string]Func
	// Open and Close are the tags of expressions; "" means ${{ and }}.
	Open, Close string
	// TrimBlocks takes the line break after a {% %} away, LstripBlocks the
	// indentation before one that begins a line.
	TrimBlocks, LstripBlocks bool
	Limits                   Limits
}

// Limits bound one call of Evaluate or Text. A zero is the default.
type Limits struct {
	// Steps bounds the work; the default is a million. Every part of an
	// expression and every value is one, and so are 32 bytes of text, and 64
	// characters that are held against an instruction of a regular expression.
	// With the default an evaluation takes about a second at most, and far less
	// than 200 MB.
	Steps int
	// Output bounds, in bytes, what is written and each text on the way there;
	// the default is 16 MiB.
	Output int
	// Depth bounds how deep expressions, values and calls are nested; the
	// default is 256.
	Depth int
}

func (l Limits) withDefaults() Limits {
	pick := func(n *int, otherwise int) {
		if *n <= 0 {
			*n = otherwise
		}
	}
	pick(&l.Steps, 1_000_000)
	pick(&l.Output, 16<<20)
	pick(&l.Depth, 256)
	return l
}

// The tags of statements and comments, which are the same everywhere.
const (
	openBlock, closeBlock     = "{%", "%}"
	openComment, closeComment = "{#", "#}"
)

func (e *Env) tags() (opening, closing string) {
	opening, closing = e.Open, e.Close
	if opening == "" {
		opening = "${{"
	}
	if closing == "" {
		closing = "}}"
	}
	return opening, closing
}

// Error is an expression that cannot be read or evaluated.
type Error struct {
	// Path is where in the value the text stands, such as spec.tags[2]; "" is
	// the value itself. Pos is where the text was written.
	Path string
	Pos  tree.Pos
	// Expression is what stands between the tags.
	Expression string
	// Line and Column are the place in the text, counted from 1; columns count
	// characters.
	Line, Column int
	Msg, Hint    string
	// Err is what a Filter or Func returned, or nil.
	Err error
}

// Error returns "path: cannot evaluate expression: msg".
func (e *Error) Error() string {
	s := "cannot evaluate " + strconv.Quote(e.Expression) + ": " + e.Msg
	if e.Path != "" {
		s = e.Path + ": " + s
	}
	return s
}

// Unwrap returns what the error came from, or nil.
func (e *Error) Unwrap() error { return e.Err }

// Evaluate returns n with the expressions in its texts evaluated. A text that
// is one expression becomes the value, with its type; in any other the values
// become text. A field or item whose value is undefined is left out, and nil
// stands for a whole that is. Keys are no expressions. Parts without
// expressions, and values handed through, are shared with n and scope. A nil
// env is Default.
func Evaluate(n *tree.Node, scope Scope, env *Env) (*tree.Node, error) {
	e := newEvaluation(scope, env)
	return e.node(n, nil, 0)
}

// Text returns s with its expressions replaced by text and its statements run:
// what a file of fetch:template becomes. A nil env is Default.
func Text(s string, scope Scope, env *Env) (string, error) {
	e := newEvaluation(scope, env)
	if !e.marked(s) {
		return s, nil
	}
	t, bad := parseTemplate(s, e.env, e.machine.limits.Depth)
	if bad == nil {
		var out string
		if out, bad = e.machine.text(t); bad == nil {
			return out, nil
		}
	}
	return "", bad.describe(s, nil, tree.Pos{})
}

// Truthy reports whether a step with this value in its if is run: not with
// nothing, null, false, 0, "" and the empty list. An empty object and the text
// "false" are true.
func Truthy(n *tree.Node) bool {
	if n == nil {
		return false
	}
	switch n.Kind {
	case tree.Null:
		return false
	case tree.Bool:
		return n.Text == "true"
	case tree.Int, tree.Float:
		f, err := strconv.ParseFloat(n.Text, 64)
		return err != nil || f != 0
	case tree.String:
		return n.Text != ""
	case tree.List:
		return len(n.Items) > 0
	}
	return true
}

// evaluation is one call of Evaluate or Text.
type evaluation struct {
	env     *Env
	opening string
	machine *machine
}

func newEvaluation(scope Scope, env *Env) *evaluation {
	if env == nil {
		env = Default()
	}
	opening, _ := env.tags()
	return &evaluation{env: env, opening: opening, machine: newMachine(scope, env)}
}

// marked reports whether a text may hold a tag.
func (e *evaluation) marked(s string) bool {
	return strings.Contains(s, e.opening) || strings.Contains(s, openBlock) || strings.Contains(s, openComment)
}

func (e *evaluation) node(n *tree.Node, path []string, depth int) (*tree.Node, error) {
	if n == nil {
		return nil, nil
	}
	if depth > e.machine.limits.Depth {
		return nil, tooDeep(0).describe("", path, n.Pos)
	}
	switch n.Kind {
	case tree.String:
		return e.whole(n, path)
	case tree.Map:
		return e.fields(n, path, depth)
	case tree.List:
		return e.items(n, path, depth)
	}
	return n, nil
}

// fields evaluates a map. It is copied when a field changes, not before.
func (e *evaluation) fields(n *tree.Node, path []string, depth int) (*tree.Node, error) {
	out, copied := n, false
	for i, f := range n.Fields {
		v, err := e.node(f.Value, append(path, "."+f.Key), depth+1)
		if err != nil {
			return nil, err
		}
		if v == f.Value && !copied {
			continue
		}
		if !copied {
			c := *n
			c.Fields = append(make([]tree.Field, 0, len(n.Fields)), n.Fields[:i]...)
			out, copied = &c, true
		}
		if v != nil {
			out.Fields = append(out.Fields, tree.Field{Key: f.Key, Value: v, Pos: f.Pos})
		}
	}
	return out, nil
}

// items evaluates a list.
func (e *evaluation) items(n *tree.Node, path []string, depth int) (*tree.Node, error) {
	out, copied := n, false
	for i, it := range n.Items {
		v, err := e.node(it, append(path, "["+strconv.Itoa(i)+"]"), depth+1)
		if err != nil {
			return nil, err
		}
		if v == it && !copied {
			continue
		}
		if !copied {
			c := *n
			c.Items = append(make([]*tree.Node, 0, len(n.Items)), n.Items[:i]...)
			out, copied = &c, true
		}
		if v != nil {
			out.Items = append(out.Items, v)
		}
	}
	return out, nil
}

// whole evaluates one text of a value.
func (e *evaluation) whole(n *tree.Node, path []string) (*tree.Node, error) {
	s := n.Text
	if !e.marked(s) {
		return n, nil
	}
	t, bad := parseTemplate(s, e.env, e.machine.limits.Depth)
	if bad != nil {
		if !strings.Contains(s, e.opening) {
			// A text that happens to hold {% or {# says nothing to us.
			return n, nil
		}
		return nil, bad.describe(s, path, n.Pos)
	}
	v, bad := e.machine.value(t)
	if bad != nil {
		return nil, bad.describe(s, path, n.Pos)
	}
	return v, nil
}

// fault is an error at an offset of a text.
type fault struct {
	at        int
	msg, hint string
	err       error
	// tag is the text between the tags in which it happened.
	tag string
}

func tooDeep(at int) *fault {
	return &fault{at: at, msg: "it is nested too deep", hint: "split it into steps of its own"}
}

// describe makes the fault an Error about a text.
func (f *fault) describe(text string, path []string, pos tree.Pos) *Error {
	at := max(0, min(f.at, len(text)))
	before := text[:at]
	start := strings.LastIndexByte(before, '\n') + 1
	return &Error{
		Path:       strings.TrimPrefix(strings.Join(path, ""), "."),
		Pos:        pos,
		Expression: short(f.tag),
		Line:       strings.Count(before, "\n") + 1,
		Column:     len([]rune(text[start:at])) + 1,
		Msg:        f.msg,
		Hint:       f.hint,
		Err:        f.err,
	}
}

// short returns as much of an expression as a message can hold.
func short(s string) string {
	const most = 120
	s = strings.ToValidUTF8(strings.TrimSpace(s), "\uFFFD")
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}

// bail ends reading or evaluating with a fault, which caught returns. Only
// faults travel this way.
func bail(at int, hint, format string, args ...any) {
	panic(&fault{at: at, hint: hint, msg: fmt.Sprintf(format, args...)})
}

// caught turns the fault that bail was called with into a value.
func caught(bad **fault) {
	switch r := recover().(type) {
	case nil:
	case *fault:
		*bad = r
	default:
		panic(r)
	}
}

// near returns the name that is most like the one that is not there, as a
// hint, or otherwise.
func near(name string, names []string, otherwise string) string {
	slices.Sort(names)
	best, least := "", 3
	for _, n := range names {
		if max(len(name)-len(n), len(n)-len(name)) >= least {
			continue
		}
		if d := text.Distance(strings.ToLower(name), strings.ToLower(n)); d < least {
			best, least = n, d
		}
	}
	if best == "" {
		return otherwise
	}
	return "did you mean " + best + "?"
}
