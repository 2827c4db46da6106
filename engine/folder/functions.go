package folder

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/template/eta"
	"example.dev/ingestor/xrd"
)

// scope is the state that the functions of one render share.
type scope struct {
	def *xrd.Definition
	// written maps JSON text that was written to its value, so that parsing the output need
	// not parse it again.
	written map[string]*tree.Node
	// room is the buffer for building text.
	room *[]byte
	// warnings are those that templates reported with helpers.warn.
	warnings []finding.Finding
}

// rooms are the buffers of finished renders. The forms of definitions have similar
// sizes, and growing a buffer step by step takes longer than writing them.
var rooms = sync.Pool{New: func() any { return new([]byte) }}

// mostRoom is the maximum size of a buffer that is kept for reuse.
const mostRoom = 1 << 20

// newScope returns the scope of one render. The caller must close it when the render has
// ended.
func newScope(d *xrd.Definition) *scope {
	return &scope{def: d, written: map[string]*tree.Node{}, room: rooms.Get().(*[]byte)}
}

func (s *scope) close() {
	if cap(*s.room) <= mostRoom {
		rooms.Put(s.room)
	}
	s.room = nil
}

// json returns a value as JSON on one line.
func (s *scope) json(n *tree.Node) string {
	*s.room = tree.AppendJSON((*s.room)[:0], n, "")
	text := string(*s.room)
	s.remember(text, n)
	return text
}

func (s *scope) remember(text string, n *tree.Node) {
	if len(text) >= worthwhile {
		s.written[text] = n
	}
}

// lines writes each value on its own line, prefixed with mark.
func (s *scope) lines(mark string, all []*tree.Node) string {
	room := (*s.room)[:0]
	ends := make([]int, len(all))
	for i, n := range all {
		if i > 0 {
			room = append(room, '\n')
		}
		room = tree.AppendJSON(append(room, mark...), n, "")
		ends[i] = len(room)
	}
	*s.room = room
	text, from := string(room), 0
	for i, n := range all {
		s.remember(text[from+len(mark):ends[i]], n)
		from = ends[i] + 1
	}
	return text
}

// Items are values that a function returns as text: a YAML list with one line per value.
// That is faster than passing them to JavaScript and back.
type Items []*tree.Node

// Documents are values that a function returns as text: YAML documents, each after a
// marker.
type Documents []*tree.Node

// functions are the helpers that every template has, regardless of the caller.
var functions = map[string]func(s *scope, args []any) (any, error){
	"slugify":            slugify,
	"extractTitle":       extractTitle,
	"extractProperties":  extractProperties,
	"generateValidation": generateValidation,
	"toYaml":             toYAML,
	"toJson":             toJSON,
	"quote":              quote,
	"indent":             indent,
	"asked":              asked,
	"warn":               warn,
}

// helpers returns all functions of a template, including the caller's.
func (s *scope) helpers(own map[string]eta.Func) map[string]eta.Func {
	out := make(map[string]eta.Func, len(functions)+len(own))
	for name, f := range functions {
		out[name] = func(args []any) (any, error) { return f(s, args) }
	}
	for name, f := range own {
		out[name] = func(args []any) (any, error) {
			v, err := f(args)
			switch v := v.(type) {
			case Items:
				text := s.lines("- ", v)
				s.remember(text, tree.Arr(v...))
				return text, err
			case Documents:
				return s.lines("---\n", v), err
			}
			return v, err
		}
	}
	return out
}

// argument returns an argument as a value, or nil if it is missing.
func argument(args []any, i int) (*tree.Node, error) {
	if i >= len(args) || args[i] == nil {
		return nil, nil
	}
	return tree.From(args[i])
}

// argumentText returns a scalar argument as text.
func argumentText(args []any, i int) (string, bool) {
	n, err := argument(args, i)
	if err != nil || n.IsNull() || n.Kind == tree.List || n.Kind == tree.Map {
		return "", false
	}
	return n.Text, true
}

// mostIndent is the maximum indent.
const mostIndent = 64

// spaces returns an argument that is a number of spaces, or 0 if it is missing.
func spaces(args []any, i int) (int, bool) {
	if i >= len(args) || args[i] == nil {
		return 0, true
	}
	var n float64
	switch v := args[i].(type) {
	case int64:
		n = float64(v)
	case float64:
		n = v
	default:
		return 0, false
	}
	return int(n), n >= 0 && n <= mostIndent && n == float64(int(n))
}

// slugify converts any text into a name: lower-case letters and digits, separated by
// dashes.
func slugify(_ *scope, args []any) (any, error) {
	s, ok := argumentText(args, 0)
	if !ok {
		return nil, errors.New("slugify: argument must be a string")
	}
	name := Slug(s)
	if name == "" {
		return nil, fmt.Errorf("slugify: %q has no letters or digits", shorten(s))
	}
	name, _ = entity.Name(name)
	return name, nil
}

// Slug returns a text in lower case, with each run of other characters replaced by one
// dash.
func Slug(s string) string {
	parts := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return strings.Join(parts, "-")
}

// quote returns a value as double-quoted text on one line.
func quote(s *scope, args []any) (any, error) {
	word, ok := argumentText(args, 0)
	if !ok {
		return nil, errors.New("quote: argument must be a string, a number or a boolean; write helpers.quote(value ?? '') if the value may be missing, and helpers.toJson for lists and objects")
	}
	return s.json(tree.Str(word)), nil
}

// toJSON returns a value as JSON, on one line unless an indent is given.
func toJSON(s *scope, args []any) (any, error) {
	n, err := value("toJson", args)
	if err != nil {
		return nil, err
	}
	by, ok := spaces(args, 1)
	if !ok {
		return nil, fmt.Errorf("toJson: arguments must be a value and a number of spaces from 0 to %d", mostIndent)
	}
	if by == 0 {
		return s.json(n), nil
	}
	return string(tree.AppendJSON(nil, n, strings.Repeat(" ", by))), nil
}

// toYAML returns a value as YAML, with every line indented.
func toYAML(_ *scope, args []any) (any, error) {
	n, err := value("toYaml", args)
	if err != nil {
		return nil, err
	}
	by, ok := spaces(args, 1)
	if !ok {
		return nil, fmt.Errorf("toYaml: arguments must be a value and a number of spaces from 0 to %d", mostIndent)
	}
	if n.Len() == 0 {
		// A block scalar would depend on the context in which it is used.
		return strings.Repeat(" ", by) + string(tree.AppendJSON(nil, n, "")), nil
	}
	return shift(string(tree.AppendYAML(nil, n)), by, true), nil
}

// value returns the first argument, which is required.
func value(name string, args []any) (*tree.Node, error) {
	if len(args) == 0 {
		return nil, fmt.Errorf("%s: argument is missing", name)
	}
	n, err := tree.From(args[0])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return n, nil
}

// indent indents every line of a text, or every line except the first.
func indent(_ *scope, args []any) (any, error) {
	s, isText := argumentText(args, 0)
	by, ok := spaces(args, 1)
	if !isText || !ok || len(args) < 2 {
		return nil, fmt.Errorf("indent: arguments must be a string and a number of spaces from 0 to %d", mostIndent)
	}
	first := true
	if len(args) > 2 && args[2] != nil {
		if first, ok = args[2].(bool); !ok {
			return nil, errors.New("indent: third argument must be true or false")
		}
	}
	return shift(s, by, first), nil
}

// shift indents lines and removes the final line break. Empty lines stay empty.
func shift(s string, by int, first bool) string {
	s = strings.TrimSuffix(s, "\n")
	if by == 0 {
		return s
	}
	space := strings.Repeat(" ", by)
	var b strings.Builder
	b.Grow(len(s) + by*(1+strings.Count(s, "\n")))
	for line := range strings.Lines(s) {
		if first && strings.Trim(line, "\r\n") != "" {
			b.WriteString(space)
		}
		b.WriteString(line)
		first = true
	}
	return b.String()
}

// warn reports a warning about the definition, with an optional hint, and renders
// as an empty string.
func warn(s *scope, args []any) (any, error) {
	message, ok := argumentText(args, 0)
	hint, hinted := argumentText(args, 1)
	if !ok || message == "" || !hinted && len(args) > 1 {
		return nil, errors.New("warn: arguments must be a message and an optional hint")
	}
	s.warnings = append(s.warnings, finding.Finding{
		Rule: RuleWarned, Severity: severityOf(RuleWarned), Object: s.def.Label(), File: s.def.Origin.File,
		Pos: s.def.Node.Get("metadata").At(), Message: message, Hint: hint,
	})
	return "", nil
}

// asked returns the names of the parameters of pages: either text that is a YAML list of
// pages, as a wizard file outputs it, or the pages themselves.
func asked(s *scope, args []any) (any, error) {
	pages, err := argument(args, 0)
	if err != nil {
		return nil, fmt.Errorf("asked: %w", err)
	}
	if known := s.written[pages.Str()]; known.IsList() {
		pages = known
	}
	if pages.IsString() {
		docs, bad := decode(pages.Text, s.written)
		if len(bad) > 0 {
			return nil, fmt.Errorf("asked: pages are not YAML: %s (line %d of the pages: %s)", bad[0].Msg, bad[0].Pos.Line, shorten(lineOf(pages.Text, int(bad[0].Pos.Line))))
		}
		pages = tree.Arr()
		if len(docs) == 1 {
			pages = docs[0]
		}
	}
	if !pages.IsList() {
		return nil, errors.New("asked: argument must be a list of pages, as a value or YAML text")
	}
	out := []any{}
	seen := map[string]bool{}
	for _, page := range pages.Items {
		parameters(page, func(name string) {
			if !seen[name] {
				seen[name] = true
				out = append(out, name)
			}
		})
	}
	return out, nil
}

// parameters calls yield for each parameter of a page, including conditional ones.
func parameters(page *tree.Node, yield func(string)) {
	for _, f := range entries(page.Get("properties")) {
		yield(f.Key)
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		for _, branch := range page.Get(key).List() {
			parameters(branch, yield)
		}
	}
	for _, key := range []string{"then", "else"} {
		if branch := page.Get(key); branch.IsMap() {
			parameters(branch, yield)
		}
	}
	for _, f := range entries(page.Get("dependencies")) {
		if f.Value.IsMap() {
			parameters(f.Value, yield)
		}
	}
}

// lineOf returns a line of a text, counted from 1.
func lineOf(s string, number int) string {
	for ; number > 1; number-- {
		_, s, _ = strings.Cut(s, "\n")
	}
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimRight(line, "\r")
}

// entries returns the entries of a map, or nil for anything else.
func entries(n *tree.Node) []tree.Field {
	if n == nil {
		return nil
	}
	return n.Fields
}
