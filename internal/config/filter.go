package config

import (
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd/selector"
)

// selector reads a selector of labels or annotations; an empty one selects everything.
func (o *object) selector(key string, to *selector.Selector, parse func(string) (selector.Selector, error)) {
	v := o.get(key)
	if v.node != nil && v.node.Kind != tree.String {
		o.r.wrongType(v, "a selector", "write it as text, such as team=payments,env in (dev, test),!legacy")
		v.node = nil
	}
	if v.node != nil {
		s, err := parse(v.node.Text)
		switch {
		case err == nil:
			*to = s
		case v.from != "":
			o.r.wrong(v, "a selector", "write it as in team=payments,env in (dev, test),!legacy")
		default:
			o.r.report(RuleValue, v.at, v.path, "write it as in team=payments,env in (dev, test),!legacy", "%s: %v", v.path, err)
		}
	}
	o.done(key, "selector", tree.OptStr(to.String()))
}
