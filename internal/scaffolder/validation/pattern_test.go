package validation

import (
	"strings"
	"testing"

	"example.dev/ingestor/document/tree"
)

// TestPatience checks a form whose patterns have used up their total time,
// though no pattern its own.
func TestPatience(t *testing.T) {
	c := &checker{budget: NewBudget()}
	c.budget.wait()
	c.budget.giveUp()
	f := frame{value: tree.Str("x"), schema: tree.Obj()}
	if c.matches(f, "pattern", "^x$", "x"); c.senselessness != nil {
		t.Errorf("pattern of linear time was stopped: %s", c.senselessness.Message)
	}
	c.matches(f, "pattern", "^(?=x)x$", "x")
	if c.senselessness == nil || !strings.Contains(c.senselessness.Message, "takes too long") {
		t.Errorf("pattern was not stopped: %v", c.senselessness)
	}
}

// TestTranslate checks which JavaScript patterns RE2 can run.
func TestTranslate(t *testing.T) {
	cases := map[string]struct {
		reason string
		source string
		want   string
		ok     bool
	}{
		"Label":     {"A pattern of names is unchanged.", `^[a-z]([-a-z0-9]*[a-z0-9])?$`, `^[a-z]([-a-z0-9]*[a-z0-9])?$`, true},
		"Dot":       {"Several characters end a line in JavaScript.", `^.$`, `^[^\n\r\x{2028}\x{2029}]$`, true},
		"Space":     {"JavaScript has more white space than RE2.", `a\sb`, `a[` + white + `]b`, true},
		"Bracket":   {"A bracket within a class is literal.", `[[:]`, `[\[:]`, true},
		"Ahead":     {"RE2 has no lookaround.", `(?=x)`, "", false},
		"Reference": {"RE2 has no backreferences.", `(a)\1`, "", false},
		"Nothing":   {"An empty class has another meaning.", `[]a]`, "", false},
		"Unicode":   {"A Unicode escape is not translated.", `\u0041`, "", false},
		"Anchor":    {`\\A is the beginning of the text in RE2 and a letter in JavaScript.`, `\A`, "", false},
		"Open":      {"An unclosed class is not translated.", `[a`, "", false},
		"Backslash": {"An unfinished escape is not translated.", `a\`, "", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok := translate(tc.source)
			if ok != tc.ok || ok && got != tc.want {
				t.Errorf("%s\npattern is %q %v, want %q %v", tc.reason, got, ok, tc.want, tc.ok)
			}
		})
	}
}
