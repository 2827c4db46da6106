package lint

import (
	"math"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"

	"example.dev/ingestor/document/tree"
)

// values checks the keywords about values: default, enum, pattern and bounds.
func (l *linter) values(n *tree.Node, p place) {
	l.pattern(n)
	l.enum(n, p)
	if !p.branch {
		l.defaultValue(n)
	}
	for _, b := range bounds {
		low, high := n.Get(b.low), n.Get(b.high)
		if lo, ok := number(low); ok {
			if hi, ok := number(high); ok && lo > hi {
				l.report(RuleBounds, b.low, low.At(), "swap or correct them", "%s %s is above %s %s", b.low, low.Text, b.high, high.Text)
			}
		}
	}
}

var bounds = []struct{ low, high string }{
	{"minimum", "maximum"}, {"minLength", "maxLength"}, {"minItems", "maxItems"}, {"minProperties", "maxProperties"},
}

func number(n *tree.Node) (float64, bool) {
	if k := kindOf(n); k != tree.Int && k != tree.Float {
		return 0, false
	}
	f, err := strconv.ParseFloat(n.Text, 64)
	return f, err == nil
}

func (l *linter) pattern(n *tree.Node) {
	f := n.Field("pattern")
	if f == nil || !f.Value.IsString() {
		return
	}
	if c := l.compiled(f.Value.Text); c.err != nil {
		l.report(RulePattern, f.Key, f.Value.At(), patternHint(c.err), "pattern cannot be compiled: %s", shorten(patternError(c.err)))
	}
}

// compiled is a parsed pattern.
type compiled struct {
	err error
	// size is the approximate number of instructions.
	size int
	re   *regexp.Regexp
}

// compiled parses each pattern once. Only parsing can fail, and it is much cheaper than
// compiling, which is deferred until there is something to match.
func (l *linter) compiled(pattern string) *compiled {
	c := l.patterns[pattern]
	if c != nil {
		return c
	}
	c = &compiled{}
	re, err := syntax.Parse(pattern, syntax.Perl)
	if c.err = err; err == nil {
		c.size = patternSize(re)
	}
	if l.patterns == nil {
		l.patterns = map[string]*compiled{}
	}
	l.patterns[pattern] = c
	return c
}

// patternSize estimates the size of a pattern with its repetitions expanded.
func patternSize(re *syntax.Regexp) int {
	size := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		size += patternSize(sub)
	}
	if re.Op == syntax.OpRepeat {
		size *= max(re.Min, re.Max, 1)
	}
	return min(size, math.MaxInt32)
}

func patternError(err error) string {
	return strings.TrimPrefix(err.Error(), "error parsing regexp: ")
}

func patternHint(err error) string {
	if strings.Contains(err.Error(), "(?") {
		return "remove the look-around, which RE2 does not support, or write an x-kubernetes-validations rule"
	}
	return "fix the expression; the syntax is RE2"
}

func (l *linter) enum(n *tree.Node, p place) {
	f := n.Field("enum")
	if f == nil || !f.Value.IsList() {
		return
	}
	if len(f.Value.Items) == 0 {
		l.report(RuleEnumEmpty, f.Key, f.Pos, "fill it in or remove it", "enum has no values")
	}
	about := n
	if p.branch && p.outer != nil {
		about = p.outer
	}
	t := about.Get("type").Str()
	l.push("enum")
	defer l.pop()
	var before seen
	for i, v := range f.Value.Items {
		l.pushIndex(i)
		switch {
		case l.yamlBoolean(v, about, RuleEnumType):
		case !fitsType(v, about, t):
			l.report(RuleEnumType, "", v.At(), enumHint(v, t), "enum value %s is %s, but the type is %s", valueText(v), kindNames[kindOf(v)], t)
		case kindOf(v) < tree.List && before.add(string('0'+rune(kindOf(v)))+v.Scalar()):
			l.report(RuleEnumTwice, "", v.At(), "remove it, or write the value that was meant", "enum has %s twice", valueText(v))
		}
		l.pop()
	}
}

func enumHint(v *tree.Node, t string) string {
	if t == typeString && kindOf(v) < tree.List && kindOf(v) > tree.Null {
		return "quote it: \"" + v.Text + "\""
	}
	return "write a value of type " + t
}

// yamlBoolean reports a value that is a boolean to some parsers and a string to others,
// and returns whether it was one. The value violates rule if a string was meant:
// Kubernetes rejects a default of the wrong type, but not an enum value.
func (l *linter) yamlBoolean(v, schema *tree.Node, rule string) bool {
	if !v.IsString() || !v.Plain || !isYAMLBoolean(v.Text) {
		return false
	}
	if schema.Get("type").Str() == typeBoolean {
		l.report(RuleYAMLBoolean, "", v.At(), "write true or false", "some tools read %s as a boolean, others as a string", v.Text)
		return true
	}
	l.report(rule, "", v.At(), "quote it: \""+v.Text+"\"", "Kubernetes reads unquoted %s as a boolean", v.Text)
	return true
}

func (l *linter) defaultValue(n *tree.Node) {
	f := n.Field("default")
	if f == nil {
		return
	}
	l.push("default")
	defer l.pop()
	if f.Value.IsNull() {
		if !n.Get("nullable").IsTrue() {
			l.report(RuleDefaultNull, "", f.Pos, "remove it, or write nullable: true", "default is null, which is the same as no default")
		}
		return
	}
	if l.yamlBoolean(f.Value, n, RuleYAMLBooleanString) {
		return
	}
	if at, fault := l.fault(n, f.Value, 0); fault != "" {
		l.report(RuleDefault, "", at.At(), defaultHint(n, f.Value), "default %s", fault)
	}
}

func defaultHint(n, v *tree.Node) string {
	t := n.Get("type").Str()
	switch {
	case t == typeString && !v.IsString() && kindOf(v) < tree.List:
		return "quote it: \"" + v.Text + "\""
	case v.IsString() && !v.Plain && (t == typeBoolean && (v.Text == "true" || v.Text == "false") || t == typeInteger && isNumber(v.Text)):
		return "remove the quotes"
	}
	return "fix the default or the schema"
}

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}
