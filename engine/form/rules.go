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
	// clauseKept may be in parentheses, which must be a pair.
	clauseKept = regexp.MustCompile(`^(\()?(?:has\(self((?:\.[A-Za-z_]\w*)+)\)&&)?self((?:\.[A-Za-z_]\w*)+)==oldSelf((?:\.[A-Za-z_]\w*)+)(\))?$`)
	// clauseNew is true of a field that is set or removed.
	clauseNew = regexp.MustCompile(`^!has\((?:self|oldSelf)((?:\.[A-Za-z_]\w*)+)\)$`)
	// clausePath is the path of any of them.
	clausePath = regexp.MustCompile(`^!?(?:has\()?self((?:\.[A-Za-z_]\w*)+)`)
)

// rules converts validation rules into checks that a form runs before the cluster does:
// "self.a != 'x' || has(self.b)" requires b if a is x, and "self.a == oldSelf.a" makes a
// immutable, also if it holds only while both have a. out is the object with the given
// fields; prefix is its path in the rules, such as spec.parameters. Other rules remain
// messages.
func (c *compiler) rules(out, rules *tree.Node, prefix []string, fields []field) {
	for _, r := range rules.List() {
		clauses := strings.Split(compactRule(r.Get("rule").Str()), "||")
		if path := keptPath(clauses); path != "" {
			keep(out, below(path, prefix), fields)
			continue
		}
		require(out, clauses, prefix, fields)
	}
}

// keptPath returns the path of the field that a rule makes immutable; empty if it does
// not.
func keptPath(clauses []string) string {
	last := len(clauses) - 1
	m := clauseKept.FindStringSubmatch(clauses[last])
	if m == nil || m[3] != m[4] || m[2] != "" && m[2] != m[3] || (m[1] == "") != (m[5] == "") {
		return ""
	}
	for _, clause := range clauses[:last] {
		// An object that contains the field may be absent too.
		if g := clauseNew.FindStringSubmatch(clause); g == nil || !strings.HasPrefix(m[3]+".", g[1]+".") {
			return ""
		}
	}
	return m[3]
}

// require adds the condition under which a rule requires a field. A rule that is only
// about the fields of an inner object becomes a condition of that object.
func require(out *tree.Node, clauses, prefix []string, fields []field) {
	if step, inner := innerRule(clauses, prefix); step != "" {
		if out = property(out, []string{step}, fields); out == nil || !out.Get("properties").IsMap() {
			return
		}
		var own []field
		for _, f := range out.Get("properties").Fields {
			own = append(own, field{key: f.Key, param: f.Key})
		}
		require(out, inner, append(slices.Clone(prefix), step), own)
		return
	}
	condition := tree.Obj(tree.F("required", tree.Arr()), tree.F("properties", tree.Obj()))
	var needed string
	for _, clause := range clauses {
		if !readClause(clause, prefix, fields, condition, &needed) {
			return
		}
	}
	if needed == "" || len(condition.Get("required").Items) == 0 {
		return
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

// innerRule returns the object whose fields all clauses are about, and the clauses without
// one that it may be absent: in "!has(self.a) || !self.a.on || has(self.a.b)" it is a.
func innerRule(clauses, prefix []string) (step string, inner []string) {
	for _, clause := range clauses {
		m := clausePath.FindStringSubmatch(clause)
		if m == nil {
			return "", nil
		}
		steps := below(m[1], prefix)
		if len(steps) == 0 || step != "" && steps[0] != step || len(steps) == 1 && !clauseAbsent.MatchString(clause) {
			return "", nil
		}
		step = steps[0]
		if len(steps) > 1 {
			inner = append(inner, clause)
		}
	}
	if len(inner) == 0 {
		return "", nil
	}
	return step, inner
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
	if out = property(out, path, fields); out != nil && len(path) > 0 {
		setOption(out, "immutable", yes)
	}
}

// property returns the schema at the end of a path in an object with the given fields; nil
// if the form has none.
func property(out *tree.Node, path []string, fields []field) *tree.Node {
	for i, step := range path {
		if i == 0 {
			at := slices.IndexFunc(fields, func(f field) bool { return f.key == step })
			if at < 0 {
				return nil
			}
			step = fields[at].param
		}
		if out = out.Get("properties", step); out == nil {
			return nil
		}
	}
	return out
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
