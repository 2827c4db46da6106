package expression

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/text"
)

// Scope maps names to values: parameters, steps, user, secrets, each, context.
type Scope map[string]*tree.Node

// Filter is the function after a |. Its input and arguments are nil if they are
// undefined, and it returns nil for undefined. It must not modify its arguments. Its
// error must not contain the input, which may be a secret.
type Filter func(in *tree.Node, args []*tree.Node) (*tree.Node, error)

// Func is a function that expressions may call; the rules of Filter apply.
type Func func(args []*tree.Node) (*tree.Node, error)

// Env is the language environment: the available functions and the tags. The zero Env
// has the built-in functions and none of the scaffolder's filters. An Env is only read,
// so it is safe for concurrent use.
type Env struct {
	// Filters and Globals override those of the language.
	Filters map[string]Filter
	Globals map[string]Func
	// Open and Close are the tags of expressions; "" means ${{ and }}.
	Open, Close string
	// TrimBlocks removes the line break after a {% %}, LstripBlocks the indent before one
	// that begins a line.
	TrimBlocks, LstripBlocks bool
	Limits                   Limits
}

// Limits limit one call of Evaluate or Text. Zero means the default.
type Limits struct {
	// Steps limits the work; the default is a million. One step is a part of an expression,
	// a value, 32 bytes of text, or 64 characters matched against one instruction of a
	// regular expression. With the default, an evaluation takes about a second at most, and
	// far less than 200 MB.
	Steps int
	// Output limits the output and each intermediate text, in bytes; the default is 16 MiB.
	Output int
	// Depth limits the nesting of expressions, values and calls; the default is 256.
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

// The tags of statements and comments, which are fixed.
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

// Error is an expression that cannot be parsed or evaluated.
type Error struct {
	// Path is the path of the text in the value, such as spec.tags[2]; "" is the value
	// itself. Pos is the position of the text in its source.
	Path string
	Pos  tree.Pos
	// Expression is the text between the tags.
	Expression string
	// Line and Column are the position in the text, counted from 1; columns count
	// characters.
	Line, Column int
	Msg, Hint    string
	// Err is the error of a Filter or Func, or nil.
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

// Unwrap returns the cause, or nil.
func (e *Error) Unwrap() error { return e.Err }

// Evaluate returns n with the expressions in its texts evaluated. A text that is a
// single expression becomes its value, with its type; in other texts the values become
// text. A field or item whose value is undefined is left out; the result is nil if n
// itself is undefined. Keys are not evaluated. Parts without expressions, and values
// passed through, are shared with n and scope. A nil env means Default.
func Evaluate(n *tree.Node, scope Scope, env *Env) (*tree.Node, error) {
	e := newEvaluation(scope, env)
	return e.node(n, nil, 0)
}

// Text returns s with its expressions replaced by text and its statements executed, as
// for a file of fetch:template. A nil env means Default.
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

// Truthy reports whether a step with this value as its if runs: not for nil, null,
// false, 0, "" and the empty list. An empty object and the text "false" are true.
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

// marked reports whether a text may contain a tag.
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

// fields evaluates a map. It is copied only when a field changes.
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
			// A text that happens to contain {% or {# is not a template.
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
	// tag is the text between the tags in which the error occurred.
	tag string
}

func tooDeep(at int) *fault {
	return &fault{at: at, msg: "expression is nested too deeply", hint: "split it into several steps"}
}

// describe converts the fault to an Error about a text.
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

// short shortens an expression for a message.
func short(s string) string {
	const most = 120
	s = strings.ToValidUTF8(strings.TrimSpace(s), "\uFFFD")
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}

// bail aborts parsing or evaluation with a fault, which caught returns. Only faults are
// raised this way.
func bail(at int, hint, format string, args ...any) {
	panic(&fault{at: at, hint: hint, msg: fmt.Sprintf(format, args...)})
}

// caught recovers the fault that bail raised.
func caught(bad **fault) {
	switch r := recover().(type) {
	case nil:
	case *fault:
		*bad = r
	default:
		panic(r)
	}
}

// near returns a hint with the most similar name, or otherwise if there is none.
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
