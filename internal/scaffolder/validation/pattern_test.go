package validation

import (
	"strings"
	"testing"

	"example.dev/ingestor/document/tree"
)

// TestPatience has a check whose patterns have used up their time together,
// though none of them its own.
func TestPatience(t *testing.T) {
	c := &checker{budget: NewBudget()}
	c.budget.wait()
	c.budget.giveUp()
	f := frame{value: tree.Str("x"), schema: tree.Obj()}
	if c.matches(f, "pattern", "^x$", "x"); c.senselessness != nil {
		t.Errorf("a pattern that takes time in proportion is given up: %s", c.senselessness.Message)
	}
	c.matches(f, "pattern", "^(?=x)x$", "x")
	if c.senselessness == nil || !strings.Contains(c.senselessness.Message, "takes too long") {
		t.Errorf("the pattern is not given up: %v", c.senselessness)
	}
}

// TestTranslate says which patterns RE2 can run for JavaScript.
func TestTranslate(t *testing.T) {
	cases := map[string]struct {
		reason string
		source string
		want   string
		ok     bool
	}{
		"Label":     {"Names are the usual thing.", `^[a-z]([-a-z0-9]*[a-z0-9])?$`, `^[a-z]([-a-z0-9]*[a-z0-9])?$`, true},
		"Dot":       {"More than one character ends a line.", `^.$`, `^[^\n\r\x{2028}\x{2029}]$`, true},
		"Space":     {"There is more white space than RE2 knows.", `a\sb`, `a[` + white + `]b`, true},
		"Bracket":   {"Within a class a bracket is nothing special.", `[[:]`, `[\[:]`, true},
		"Ahead":     {"RE2 cannot look around.", `(?=x)`, "", false},
		"Reference": {"It cannot look back.", `(a)\1`, "", false},
		"Nothing":   {"An empty class means something else.", `[]a]`, "", false},
		"Unicode":   {"A letter is written in another way.", `\u0041`, "", false},
		"Anchor":    {`\A is the beginning to RE2 and a letter to JavaScript.`, `\A`, "", false},
		"Open":      {"What has no end is not translated.", `[a`, "", false},
		"Backslash": {"Nor is what ends within an escape.", `a\`, "", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok := translate(tc.source)
			if ok != tc.ok || ok && got != tc.want {
				t.Errorf("%s\ngot %q %v, want %q %v", tc.reason, got, ok, tc.want, tc.ok)
			}
		})
	}
}
