package form

import (
	"strings"

	"example.dev/ingestor/document/tree"
)

// ui writes the UI hints: help, widgets, and details, the part of the description that
// is not shown at once.
func (c *compiler) ui(out, s *tree.Node, details string) {
	var options *tree.Node
	option := func(key string, v *tree.Node) {
		if options == nil {
			options = tree.Obj()
		}
		options.Set(key, v)
	}
	if details != "" {
		option("details", tree.Str(details))
	}
	if rules := s.Get("x-kubernetes-validations"); rules.IsList() {
		help, immutable := validations(rules)
		if help != "" {
			out.Set("ui:help", tree.Str(help))
		}
		if immutable {
			option("immutable", tree.Boolean(true))
		}
	}
	if hasHints(s) {
		if s.Get("x-ui-hidden").IsTrue() {
			out.Set("ui:widget", tree.Str("hidden"))
		}
		if s.Get("x-ui-advanced").IsTrue() {
			option("advanced", tree.Boolean(true))
		}
		if f := s.Get("x-ui-field"); f.IsString() {
			out.Set("ui:field", f)
		}
		if p := s.Get("x-ui-placeholder").Scalar(); p != "" {
			out.Set("ui:placeholder", tree.Str(p))
		}
		if o := s.Get("x-ui-options").Sorted(); o.IsMap() {
			for _, f := range o.Fields {
				option(f.Key, f.Value)
			}
		}
		if choices := liveChoices(s); choices != nil && !out.Has("ui:field") && !out.Has("ui:widget") {
			out.Set("ui:field", tree.Str(FieldChoices))
			option(optionChoices, choices)
		}
	}
	if options != nil {
		out.Set("ui:options", options)
	}
}

// widget selects a widget if the type does not determine it and the author did not set
// one.
func (c *compiler) widget(out, s *tree.Node, key string) {
	if out.Has("ui:widget") || out.Has("ui:field") || out.Has("enum") {
		return
	}
	switch typ := typeOf(s); {
	case typ == "string" && isPassword(s, key):
		out.Set("ui:widget", tree.Str("password"))
		return
	case c.untouched == 0 || !hasOwnDefault(s):
	case typ == "boolean":
		if s.Get("default").IsTrue() {
			// An unticked box would mean false, while an absent value means true.
			out.Set("ui:widget", tree.Str("select"))
		}
	case !out.Has("ui:placeholder") && isText(typ):
		if text := s.Get("default").Scalar(); text != "" {
			out.Set("ui:placeholder", tree.Str(text))
		}
	}
	if e := s.Get("example"); e.Scalar() != "" && !out.Has("ui:placeholder") && isText(typeOf(s)) {
		out.Set("examples", tree.Arr(e))
	}
}

// isText reports whether values of a type are entered as text.
func isText(typ string) bool { return typ == "string" || typ == "integer" || typ == "number" }

// isPassword reports whether a text must be masked: its format or its name says so. The
// name of a Secret is not masked.
func isPassword(s *tree.Node, key string) bool {
	if s.Get("format").Str() == "password" {
		return true
	}
	parts := split(nil, key)
	if len(parts) == 0 {
		return false
	}
	last := strings.ToLower(parts[len(parts)-1])
	switch last {
	case "password", "passwd", "pwd", "passphrase", "token":
		return true
	case "secret":
		return !strings.Contains(strings.ToLower(s.Get("description").Str()), "name")
	case "key":
		before := ""
		if len(parts) > 1 {
			before = strings.ToLower(parts[len(parts)-2])
		}
		return before == "api" || before == "private"
	}
	return false
}

// hasHints reports whether s has UI hints of its author.
func hasHints(s *tree.Node) bool {
	for i := range s.Fields {
		if strings.HasPrefix(s.Fields[i].Key, "x-ui-") {
			return true
		}
	}
	return false
}

// validations returns the messages of validation rules and whether one of them makes the
// value immutable.
func validations(rules *tree.Node) (help string, immutable bool) {
	var lines []string
	for _, r := range rules.Items {
		rule := r.Get("rule").Str()
		message := r.Get("message").Str()
		fixed := isTransition(rule)
		immutable = immutable || fixed
		switch {
		case message != "":
		case fixed:
			message = "Cannot be changed after creation."
		case rule != "":
			message = "Must satisfy: " + rule
		default:
			continue
		}
		lines = append(lines, message)
	}
	return strings.Join(lines, "\n"), immutable
}

// isTransition reports whether a rule makes a value, or the whole of spec, immutable.
func isTransition(rule string) bool {
	switch strings.Join(strings.Fields(rule), "") {
	case "self==oldSelf", "oldSelf==self", "self.spec==oldSelf.spec", "oldSelf.spec==self.spec":
		return true
	}
	return false
}
