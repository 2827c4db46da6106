package lint

import (
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd"
)

// choices checks the live choices f of the schema n.
func (l *linter) choices(n *tree.Node, f *tree.Field) {
	l.push(f.Key)
	defer l.pop()
	_, problems := xrd.ReadChoices(f.Value)
	for _, p := range problems {
		rule := RuleChoices
		if p.Secret {
			rule = RuleChoicesSecret
		}
		l.report(rule, p.Key, p.Pos, p.Hint, "%s", p.Message)
	}
	if _, _, ok := xrd.ChoosableType(n); !ok {
		l.report(RuleChoicesType, "", f.Pos, "use it on a string, an integer, or a list of these, without enum",
			"%s has no effect on this type, or beside enum", f.Key)
	}
}
