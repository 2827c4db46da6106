package form

import (
	"regexp"
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
)

// The clauses of a validation rule that a form supports. Submatches are the path below
// self, and the value.
var (
	clausePresent = regexp.MustCompile(`^has\(self((?:\.[A-Za-z_]\w*)+)\)$`)
	clauseAbsent  = regexp.MustCompile(`^!has\(self((?:\.[A-Za-z_]\w*)+)\)$`)
	clauseOther   = regexp.MustCompile(`^self((?:\.[A-Za-z_]\w*)+)!=(?:'([^'\\]*)'|"([^"\\]*)")$`)
	clauseOff     = regexp.MustCompile(`^!self((?:\.[A-Za-z_]\w*)+)$`)
	ruleKept      = regexp.MustCompile(`^self((?:\.[A-Za-z_]\w*)+)==oldSelf((?:\.[A-Za-z_]\w*)+)$`)
)

// rules converts validation rules into checks that a form runs before the cluster does:
// "self.a != 'x' || has(self.b)" requires b if a is x, and "self.a == oldSelf.a" makes a
// immutable. out is the object with the given fields; prefix is its path in the rules,
// such as spec.parameters. Other rules remain messages.
func (c *compiler) rules(out, rules *tree.Node, prefix []string, fields []field) {
	for _, r := range rules.List() {
		rule := compactRule(r.Get("rule").Str())
		if m := ruleKept.FindStringSubmatch(rule); m != nil && m[1] == m[2] {
			keep(out, below(m[1], prefix), fields)
			continue
		}
		condition := tree.Obj(tree.F("required", tree.Arr()), tree.F("properties", tree.Obj()))
		var needed string
		understood := true
		for clause := range strings.SplitSeq(rule, "||") {
			understood = understood && readClause(clause, prefix, fields, condition, &needed)
		}
		names := condition.Get("required")
		if !understood || needed == "" || len(names.Items) == 0 {
			continue
		}
		if condition.Get("properties").Len() == 0 {
			condition.Delete("properties")
		}
		all := out.Get("allOf")
		if all == nil {
			all = tree.Arr()
			out.Set("allOf", all)
		}
		all.Items = append(all.Items, tree.Obj(
			tree.F("if", condition),
			tree.F("then", tree.Obj(tree.F("required", tree.Strs([]string{needed})))),
		))
	}
}

// readClause adds a clause to the condition under which a field is needed, or sets
// needed. It reports whether the form supports the clause.
func readClause(clause string, prefix []string, fields []field, condition *tree.Node, needed *string) bool {
	param := func(path string) string {
		rest := below(path, prefix)
		if len(rest) != 1 {
			return ""
		}
		if i := slices.IndexFunc(fields, func(f field) bool { return f.key == rest[0] }); i >= 0 {
			return fields[i].param
		}
		return ""
	}
	when := func(name string, value *tree.Node) bool {
		if name == "" {
			return false
		}
		names := condition.Get("required")
		if !slices.ContainsFunc(names.Items, func(n *tree.Node) bool { return n.Text == name }) {
			names.Items = append(names.Items, tree.Str(name))
		}
		if value != nil {
			condition.Get("properties").Set(name, tree.Obj(tree.F("enum", tree.Arr(value))))
		}
		return true
	}
	if m := clausePresent.FindStringSubmatch(clause); m != nil && *needed == "" {
		*needed = param(m[1])
		return *needed != ""
	}
	if m := clauseAbsent.FindStringSubmatch(clause); m != nil {
		return when(param(m[1]), nil)
	}
	if m := clauseOther.FindStringSubmatch(clause); m != nil {
		return when(param(m[1]), tree.Str(m[2]+m[3]))
	}
	if m := clauseOff.FindStringSubmatch(clause); m != nil {
		return when(param(m[1]), yes)
	}
	return false
}

// below returns the steps of a path such as .spec.size that follow the prefix; nil if
// the path does not begin with it.
func below(path string, prefix []string) []string {
	steps := strings.Split(strings.TrimPrefix(path, "."), ".")
	if len(steps) <= len(prefix) || !slices.Equal(steps[:len(prefix)], prefix) {
		return nil
	}
	return steps[len(prefix):]
}

// keep marks the field at the end of a path as immutable.
func keep(out *tree.Node, path []string, fields []field) {
	for i, step := range path {
		if i == 0 {
			at := slices.IndexFunc(fields, func(f field) bool { return f.key == step })
			if at < 0 {
				return
			}
			step = fields[at].param
		}
		if out = out.Get("properties", step); out == nil {
			return
		}
	}
	if len(path) > 0 {
		setOption(out, "immutable", yes)
	}
}

// compactRule returns a rule without whitespace outside of strings.
func compactRule(rule string) string {
	var b strings.Builder
	quote := rune(0)
	for _, r := range rule {
		switch {
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		case quote == r:
			quote = 0
		case quote == 0 && (r == ' ' || r == '\n' || r == '\t'):
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// setOption sets a UI option unless the definition's author set it.
func setOption(out *tree.Node, key string, value *tree.Node) {
	options := out.Get("ui:options")
	if options == nil {
		options = tree.Obj()
		out.Set("ui:options", options)
	}
	if !options.Has(key) {
		options.Set(key, value)
	}
}
