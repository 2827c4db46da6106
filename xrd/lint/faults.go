package lint

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"example.dev/ingestor/document/tree"
)

// fitsType reports whether v is a value of type t; schema says whether null is allowed.
func fitsType(v, schema *tree.Node, t string) bool {
	kind := kindOf(v)
	if kind == tree.Null {
		return schema.Get("nullable").IsTrue() || t == ""
	}
	switch t {
	case typeString:
		return kind == tree.String
	case typeInteger:
		return kind == tree.Int
	case typeNumber:
		return kind == tree.Int || kind == tree.Float
	case typeBoolean:
		return kind == tree.Bool
	case typeArray:
		return kind == tree.List
	case typeObject:
		return kind == tree.Map
	}
	return true
}

// fault returns why v is not valid for the schema n, and which part of v is invalid; ""
// if v is valid. It checks what Kubernetes checks for defaults, except for formats and
// rules. Once the budget of the run is used up, everything counts as valid.
func (l *linter) fault(n, v *tree.Node, depth int) (*tree.Node, string) {
	if l.budget--; l.budget < 0 || !n.IsMap() || depth > deepest {
		return nil, ""
	}
	t := n.Get("type").Str()
	if depth > 0 && v.IsString() && v.Plain && isYAMLBoolean(v.Text) && t == typeBoolean {
		return nil, ""
	}
	if !fitsType(v, n, t) {
		return v, fmt.Sprintf("%s is %s, but the type is %s", valueText(v), kindNames[kindOf(v)], t)
	}
	if v.IsNull() {
		return nil, ""
	}
	if enum := n.Get("enum"); enum.IsList() && len(enum.Items) > 0 && !l.oneOfThese(v, enum.Items) {
		return v, fmt.Sprintf("%s is not one of the enum values %s", valueText(v), listed(enum.Items))
	}
	switch v.Kind {
	case tree.String:
		return v, l.stringFault(n, v)
	case tree.Int, tree.Float:
		return v, numberFault(n, v)
	case tree.List:
		return l.listFault(n, v, depth)
	case tree.Map:
		return l.mapFault(n, v, depth)
	}
	return nil, ""
}

// oneOfThese reports whether v is one of the values of an enum. Maps and lists always
// pass: enums of them are too rare to spend time on.
func (l *linter) oneOfThese(v *tree.Node, enum []*tree.Node) bool {
	if v.Kind >= tree.List {
		return true
	}
	for _, e := range enum {
		if l.budget--; l.budget < 0 || v.Equal(e) {
			return true
		}
	}
	return false
}

func (l *linter) stringFault(n, v *tree.Node) string {
	length := float64(utf8.RuneCountInString(v.Text))
	if low, ok := number(n.Get("minLength")); ok && length < low {
		return fmt.Sprintf("%s is shorter than minLength %v", valueText(v), low)
	}
	if high, ok := number(n.Get("maxLength")); ok && length > high {
		return fmt.Sprintf("%s is longer than maxLength %v", valueText(v), high)
	}
	if p := n.Get("pattern"); p.IsString() && !l.matches(p.Text, v.Text) {
		return fmt.Sprintf("%s does not match the pattern %s", valueText(v), shorten(p.Text))
	}
	return ""
}

// matches reports whether s matches the pattern. A broken pattern is not the fault of
// the value, and a huge one is not worth the time; both count as a match.
func (l *linter) matches(pattern, s string) bool {
	c := l.compiled(pattern)
	const most = 1 << 20
	work := c.size * (1 + len(s)/64)
	if l.budget -= work / 100; c.err != nil || work > most || l.budget < 0 {
		return true
	}
	if c.re == nil {
		c.re, c.err = regexp.Compile(pattern)
	}
	return c.err != nil || c.re.MatchString(s)
}

func numberFault(n, v *tree.Node) string {
	value, ok := number(v)
	if !ok {
		return ""
	}
	if bits := 64; v.Kind == tree.Int && n.Get("type").Str() == typeInteger {
		if n.Get("format").Str() == "int32" {
			bits = 32
		}
		if _, err := strconv.ParseInt(v.Text, 10, bits); err != nil {
			return fmt.Sprintf("%s does not fit into %d bits", shorten(v.Text), bits)
		}
	}
	if low, ok := number(n.Get("minimum")); ok && (value < low || value == low && n.Get("exclusiveMinimum").IsTrue()) {
		return fmt.Sprintf("%s is below the minimum %v", v.Text, low)
	}
	if high, ok := number(n.Get("maximum")); ok && (value > high || value == high && n.Get("exclusiveMaximum").IsTrue()) {
		return fmt.Sprintf("%s is above the maximum %v", v.Text, high)
	}
	if of, ok := number(n.Get("multipleOf")); ok && of > 0 && of == math.Trunc(of) && math.Mod(value, of) != 0 {
		return fmt.Sprintf("%s is not a multiple of %v", v.Text, of)
	}
	return ""
}

func (l *linter) listFault(n, v *tree.Node, depth int) (*tree.Node, string) {
	if low, ok := number(n.Get("minItems")); ok && float64(len(v.Items)) < low {
		return v, fmt.Sprintf("has %d items, fewer than minItems %v", len(v.Items), low)
	}
	if high, ok := number(n.Get("maxItems")); ok && float64(len(v.Items)) > high {
		return v, fmt.Sprintf("has %d items, more than maxItems %v", len(v.Items), high)
	}
	items := n.Get("items")
	for _, it := range v.Items {
		if at, fault := l.fault(items, it, depth+1); fault != "" {
			return at, fault
		}
	}
	return nil, ""
}

func (l *linter) mapFault(n, v *tree.Node, depth int) (*tree.Node, string) {
	props, more := l.keysOf(n.Get("properties")), n.Get("additionalProperties")
	open := n.Get(extPreserve).IsTrue() || more.IsTrue() || n.Get(extEmbedded).IsTrue()
	for i := range v.Fields {
		f := &v.Fields[i]
		s := props.get(f.Key)
		switch {
		case s != nil:
		case more.IsMap():
			s = more
		case !open:
			return f.Value, fmt.Sprintf("has %s, which is not a property", shorten(f.Key))
		}
		if at, fault := l.fault(s, f.Value, depth+1); fault != "" {
			return at, fault
		}
	}
	// Defaults of the properties do not help: Kubernetes validates this default alone.
	has := l.keysOf(v)
	for _, r := range n.Get("required").List() {
		if r.IsString() && !has.has(r.Text) {
			return v, fmt.Sprintf("lacks required property %s", shorten(r.Text))
		}
	}
	if low, ok := number(n.Get("minProperties")); ok && float64(len(v.Fields)) < low {
		return v, fmt.Sprintf("has %d properties, fewer than minProperties %v", len(v.Fields), low)
	}
	if high, ok := number(n.Get("maxProperties")); ok && float64(len(v.Fields)) > high {
		return v, fmt.Sprintf("has %d properties, more than maxProperties %v", len(v.Fields), high)
	}
	return nil, ""
}

// valueText formats a value for a message.
func valueText(v *tree.Node) string {
	switch kindOf(v) {
	case tree.Null:
		return "null"
	case tree.String:
		return strconv.Quote(shorten(v.Text))
	case tree.List, tree.Map:
		return "value"
	}
	return shorten(v.Text)
}

// listed formats the first few values of an enum.
func listed(items []*tree.Node) string {
	const most = 6
	var b strings.Builder
	for i, v := range items {
		if i == most {
			return b.String() + ", …"
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(valueText(v))
	}
	return b.String()
}
