package form

import (
	"regexp"
	"slices"

	"example.dev/ingestor/document/tree"
)

// visibleMost is how many fields a page shows at once. A larger page groups them:
// required fields and single values first, then a collapsed section for each object,
// then provider and connection settings.
const visibleMost = 40

// platformSetting matches fields that concern the platform rather than the resource.
var platformSetting = regexp.MustCompile(`^(provider(Config)?(Name|Ref|Reference|Policy)?|(write|publish)Connection\w*|connectionSecret\w*|deletionPolicy|managementPolic(y|ies))$`)

// The groups of a large page, in order.
const (
	groupValue = iota
	groupObject
	groupPlatform
)

// groupOf returns the group of a field on a large page.
func groupOf(key string, s *tree.Node) int {
	switch {
	case platformSetting.MatchString(key):
		return groupPlatform
	case isSection(s):
		return groupObject
	}
	return groupValue
}

// isSection reports whether a field is an object with its own fields.
func isSection(s *tree.Node) bool {
	return typeOf(s) == "object" && s.Get("properties").Len() > 0 && !s.Has("x-ui-field")
}

// isLarge reports whether a page has more fields than it should show at once.
func isLarge(s *tree.Node) bool { return countVisible(s, 0) > visibleMost }

// countVisible counts the fields that a page shows when all sections are open. It stops
// when there are too many.
func countVisible(s *tree.Node, depth int) int {
	props := s.Get("properties")
	if !props.IsMap() || depth > maxDepth {
		return 0
	}
	n := 0
	for i := range props.Fields {
		p := props.Fields[i].Value
		switch {
		case n > visibleMost:
			return n
		case p.Get("x-ui-hidden").IsTrue():
		case isSection(p):
			n += countVisible(p, depth+1)
		default:
			n++
		}
	}
	return n
}

// singles counts the fields that are shown as single values.
func singles(fields []field) int {
	n := 0
	for i := range fields {
		if f := &fields[i]; !f.advanced && !isSection(f.schema) && !f.schema.Get("x-ui-hidden").IsTrue() {
			n++
		}
	}
	return n
}

// layout decides which fields of one object are shown at once on a large page.
type layout struct {
	c *compiler
	// left is how many more optional single values may be shown.
	left int
}

// begin starts the layout of an object and subtracts its single values from the room on
// the page.
func (c *compiler) begin(fields []field) layout {
	if !c.large {
		return layout{}
	}
	n := singles(fields)
	required := singles(slices.DeleteFunc(slices.Clone(fields), func(f field) bool { return !f.required }))
	l := layout{c: c, left: max(c.room, required) - required}
	c.room = max(c.room-n, 0)
	return l
}

// field compiles a field and marks it as collapsed or advanced if it does not fit.
func (l *layout) field(f *field, compile func() *tree.Node) *tree.Node {
	c := l.c
	if c == nil {
		return compile()
	}
	if isSection(f.schema) {
		fits := f.required && singles(c.fields(f.schema, nil)) <= c.room
		room := c.room
		if !fits {
			c.room = visibleMost
		}
		out := compile()
		if !fits {
			c.room = room
		}
		if out.Has("properties") {
			setOption(out, "collapsed", tree.Boolean(!fits))
		}
		return out
	}
	out := compile()
	if f.required || f.advanced || f.schema.Get("x-ui-hidden").IsTrue() {
		return out
	}
	if l.left--; l.left < 0 {
		setOption(out, "advanced", yes)
	}
	return out
}
