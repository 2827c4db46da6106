package lint

import (
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd"
)

// choices checks the live choices f of the schema n.
func (l *linter) choices(n *tree.Node, f *tree.Field) {
	l.push(f.Key)
	defer l.pop()
	c, problems := xrd.ReadChoices(f.Value)
	for _, p := range problems {
		rule := RuleChoices
		if p.Secret {
			rule = RuleChoicesSecret
		}
		l.report(rule, p.Key, p.Pos, p.Hint, "%s", p.Message)
	}
	if len(problems) == 0 && c.Namespace == xrd.NamespaceOfForm && l.about != nil && !l.about.Target().Namespaced {
		key := f.Value.Field("namespace")
		l.report(RuleChoices, key.Key, key.Value.At(), "write the name of a namespace, or remove the key for all namespaces",
			"namespace of %s is form, but the form of a cluster-scoped resource asks for no namespace", f.Key)
	}
	if _, _, ok := xrd.ChoosableType(n); !ok {
		l.report(RuleChoicesType, "", f.Pos, "use it on a string, an integer, or a list of these, without enum",
			"%s has no effect on this type, or beside enum", f.Key)
	}
}
