package impact

import (
	"fmt"
	"strings"

	"example.dev/ingestor/xrd/diff"
	"example.dev/ingestor/xrd/structural"
)

// attribute returns the effect of the change that concerns a field most closely. Among
// equals it prefers one that is about the problem: a missing field, a dropped one.
func (t *tally) attribute(version, field string, outcome Outcome, p structural.Problem) effectKey {
	best, most := -1, 0
	for i := range t.pair.Changes {
		c := &t.pair.Changes[i]
		closeness := 4 * c.Covers(version, field)
		if !c.Breaking() || closeness == 0 {
			continue
		}
		if c.Field == "" && (c.Rule != diff.RuleValidation || !p.Rule) {
			// Of the changes of whole objects, only a rule of the root is about values.
			continue
		}
		if about(c, outcome, p, field) {
			closeness += 2
		}
		if closeness > most {
			best, most = i, closeness
		}
	}
	if best >= 0 {
		return effectKey{best, outcome, ""}
	}
	return effectKey{-1, outcome, t.reason(field, outcome, p)}
}

// reason says why a resource is refused without a change that explains it. The text of a
// validation rule may have values of the resource.
func (t *tally) reason(field string, outcome Outcome, p structural.Problem) string {
	switch {
	case outcome != Refused:
		return field
	case p.Rule:
		return strings.TrimPrefix(field+": refused by a validation rule", ": ")
	}
	return strings.TrimPrefix(field+": "+p.Text(), ": ")
}

// about reports whether a change is of the kind that causes a problem.
func about(c *diff.Change, outcome Outcome, p structural.Problem, field string) bool {
	switch c.Rule {
	case diff.RuleNoField, diff.RuleUnknown:
		return outcome == Dropped
	case diff.RuleRequired:
		return p.Missing
	case diff.RuleEnumValue:
		// The message names the value.
		_, removed, _ := strings.Cut(c.Message, "enum value ")
		value, _, _ := strings.Cut(removed, " removed")
		return outcome == Refused && field != "" && strings.Contains(p.Message, value+":")
	case diff.RuleEnumAdded:
		return strings.HasPrefix(p.Message, "Unsupported value")
	case diff.RuleValidation:
		return p.Detail != "" && (strings.Contains(c.Message, p.Detail) || strings.Contains(p.Detail, c.New))
	case diff.RuleType:
		return strings.Contains(p.Message, "must be of type")
	}
	return false
}

// describe returns the text of an effect.
func (t *tally) describe(key effectKey) string {
	if key.change < 0 {
		return key.reason
	}
	f := t.pair.Changes[key.change].Finding()
	return f.Message
}

// Describe returns an effect in one sentence: "v1: spec.size: enum value "small" removed:
// 7 of 412 resources in 3 clusters would be refused".
func (e *Effect) Describe(checked int) string {
	clusters := "1 cluster"
	if n := len(e.Clusters); n != 1 {
		clusters = fmt.Sprintf("%d clusters", n)
	}
	return fmt.Sprintf("%s: %d of %d resources in %s %s", e.Message, e.Count, checked, clusters, e.Outcome.consequence())
}
