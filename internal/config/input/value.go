package input

import (
	"math"
	"strconv"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/config/rule"
	"example.dev/ingestor/internal/text"
)

// Value is the value of a key after variables and files are substituted. Its methods
// report a value that is not what they expect.
type Value struct {
	// Node is nil if there is no value, or if it could not be substituted.
	Node *tree.Node
	At   Place
	// Path is the path of the key as it is written.
	Path string
	// Secret reports that no part of the value is ever shown.
	Secret bool
	// filled reports that the value is text because it was substituted, and may be meant
	// as a number or a boolean.
	filled bool
	// from is where text came from that is not in the file. Such text is never shown.
	from string
	r    *Reader
}

// fill sets v to text that came from elsewhere.
func (v *Value) fill(text, from string) {
	v.Node = &tree.Node{Kind: tree.String, Text: text, Pos: v.At.Pos}
	v.filled, v.from = true, from
}

// Report adds a finding about v.
func (v Value) Report(id, hint, format string, args ...any) {
	v.r.Report(id, v.At, v.Path, hint, format, args...)
}

// WrongType reports a value of the wrong type.
func (v Value) WrongType(want, hint string) {
	v.Report(rule.Type, hint, "%s: want %s, found %s", v.Path, want, v.Found())
}

// Wrong reports a value of the right type that is not allowed.
func (v Value) Wrong(want, hint string) {
	v.Report(rule.Value, hint, "%s: want %s, found %s", v.Path, want, v.Found())
}

// kindNames are the kinds in messages.
var kindNames = [...]string{
	tree.Null: "nothing", tree.Bool: "a boolean", tree.Int: "a number", tree.Float: "a number",
	tree.String: "text", tree.List: "a list", tree.Map: "a map",
}

// Found describes v, and shows its text unless it may be secret.
func (v Value) Found() string {
	switch {
	case v.Node == nil:
		return kindNames[tree.Null]
	case v.from != "":
		return "the value of the " + v.from
	case v.Secret, v.Node.Kind == tree.List, v.Node.Kind == tree.Map:
		return kindNames[v.Node.Kind]
	case v.Node.Kind == tree.String:
		return strconv.Quote(Shorten(v.Node.Text))
	}
	return Shorten(v.Node.Text)
}

// Origin returns where text came from that is not in the file, such as "environment
// variable NAME"; empty if it is in the file.
func (v Value) Origin() string { return v.from }

// OfOrigin returns " of the " and the origin; empty if there is none.
func (v Value) OfOrigin() string {
	if v.from == "" {
		return ""
	}
	return " of the " + v.from
}

// Text returns the text in v, and reports a value that is not text or is empty.
func (v Value) Text() (string, bool) {
	switch {
	case v.Node == nil:
		return "", false
	case v.Node.Kind == tree.List, v.Node.Kind == tree.Map:
		v.WrongType("text", "")
		return "", false
	case v.Node.Kind != tree.String:
		v.WrongType("text", "put it in quotes")
		return "", false
	case strings.TrimSpace(v.Node.Text) == "":
		because := ""
		if v.from != "" {
			because = ", because the " + v.from + " is empty"
		}
		v.Report(rule.Value, "write a value, or remove it", "%s is empty%s", v.Path, because)
		return "", false
	}
	return v.Node.Text, true
}

// Checked returns the text in v, and reports an invalid one. check, if not nil, returns
// what a valid text looks like, "" if the text is valid.
func (v Value) Checked(check func(string) string) (string, bool) {
	text, ok := v.Text()
	if !ok || check == nil {
		return text, ok
	}
	if want := check(text); want != "" {
		v.Wrong(want, "")
		return "", false
	}
	return text, true
}

// Flag reads the boolean in v.
func (v Value) Flag(to *bool) {
	isBool := func(s string) bool { return s == "true" || s == "false" }
	switch {
	case v.Node.Kind == tree.Bool, v.filled && isBool(v.Node.Text):
		*to = v.Node.Text == "true"
	case isBool(v.Node.Scalar()):
		v.WrongType("true or false", "remove the quotes")
	default:
		v.WrongType("true or false", "")
	}
}

// Number returns the number in v, and reports nothing. All allowed numbers are small
// enough to be exact.
func (v Value) Number() (float64, bool) {
	if v.Node.Kind != tree.Int && v.Node.Kind != tree.Float && !(v.filled && isNumber(v.Node.Text)) {
		return 0, false
	}
	// A number that is too large becomes infinite, and exceeds all bounds.
	n, _ := strconv.ParseFloat(strings.TrimSpace(v.Node.Text), 64)
	return n, true
}

// Whole returns the whole number of something in v, within bounds.
func (v Value) Whole(of string, least, most int64) (int64, bool) {
	want := "a number" + of + " from " + strconv.FormatInt(least, 10) + " to " + strconv.FormatInt(most, 10)
	n, ok := v.Number()
	switch {
	case !ok && v.Node.Kind == tree.String && v.from == "" && isNumber(v.Node.Text):
		v.WrongType(want, "remove the quotes")
	case !ok && v.Node.Kind == tree.String && v.from == "":
		v.WrongType(want, "write the number alone")
	case !ok:
		v.WrongType(want, "")
	case n != math.Trunc(n):
		v.WrongType("a whole number"+of, "")
	case n < float64(least) || n > float64(most):
		v.Wrong(want, "")
	default:
		return int64(n), true
	}
	return 0, false
}

// isNumber reports whether text is a number as in JSON, or one that is too large.
func isNumber(s string) bool {
	s = strings.TrimSpace(s)
	if strings.Trim(s, "+-.0123456789eE") != "" {
		return false
	}
	n, err := strconv.ParseFloat(s, 64)
	return err == nil || math.IsInf(n, 0)
}

// IsOneOf checks that the text in v is one of the allowed words, and reports it
// otherwise.
func (v Value) IsOneOf(s string, allowed ...string) bool {
	for _, a := range allowed {
		if s == a {
			return true
		}
	}
	v.Wrong(text.Enumerate(allowed, "or"), v.Suggest(s, allowed, ""))
	return false
}

// Suggest returns a hint with the word that the text in v is a typo of. If there is none,
// or the text is not in the file and must not be shown, it returns the other hint.
func (v Value) Suggest(s string, all []string, other string) string {
	if near := text.Nearest(s, all); near != "" && v.from == "" {
		return "did you mean " + near + "?"
	}
	return other
}

// IsPath checks the path in v, and reports one that only a shell understands.
func (v Value) IsPath(s string) bool {
	if s != "~" && !strings.HasPrefix(s, "~/") {
		return true
	}
	v.Wrong("a path", "write ${HOME} instead of ~, which is not expanded")
	return false
}
