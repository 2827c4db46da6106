package inspect

import (
	"testing"

	"example.dev/ingestor/xrd/lint"
)

func TestRuleOf(t *testing.T) {
	t.Parallel()
	if rule := lint.Rules[0]; ruleOf(rule.ID) != rule {
		t.Errorf("rule %s is unknown", rule.ID)
	}
}
