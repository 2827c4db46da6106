package form

import (
	"strings"

	"example.dev/ingestor/tree"
)

// ui writes the hints for the person's side: help, widgets, and details, the
// part of the description that is not shown at once.
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
	}
	if options != nil {
		out.Set("ui:options", options)
	}
}

// hasHints reports whether s has any hint of its author for the form.
func hasHints(s *tree.Node) bool {
	for i := range s.Fields {
		if strings.HasPrefix(s.Fields[i].Key, "x-ui-") {
			return true
		}
	}
	return false
}

// validations returns the messages of validation rules and whether one of
// them keeps the value from ever being changed.
func validations(rules *tree.Node) (help string, immutable bool) {
	var lines []string
	for _, r := range rules.Items {
		rule := r.Get("rule").Str()
		message := r.Get("message").Str()
		fixed := strings.Join(strings.Fields(rule), "") == "self==oldSelf"
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
