package selector

import (
	"fmt"
	"strconv"
	"strings"
)

// Fix is a change to labels or annotations after which a term of a selector holds.
type Fix struct {
	// Key is in the contract's vocabulary.
	Key string
	// Value is the value that the key must have. If Remove is set, the key must be absent
	// instead.
	Value  string
	Remove bool
}

// FixFor returns the change that removes a reason which Refusal returned with the same
// word. It reports false if no term of s gives that reason.
func (s Selector) FixFor(what, reason string) (Fix, bool) {
	for _, t := range s.terms {
		if reason == t.missing(what) || strings.HasPrefix(reason, t.subject(what)) && strings.HasSuffix(reason, t.mismatch()) {
			return t.fix(), true
		}
	}
	return Fix{}, false
}

func (t term) fix() Fix {
	switch t.op {
	case opAbsent, opNotIn:
		return Fix{Key: t.key, Remove: true}
	case opExists:
		return Fix{Key: t.key, Value: "true"}
	case opIn:
		return Fix{Key: t.key, Value: t.values[0]}
	}
	// Parse accepts whole numbers only.
	bound, _ := strconv.ParseInt(t.values[0], 10, 64)
	if t.op == opAbove {
		return Fix{Key: t.key, Value: strconv.FormatInt(bound+1, 10)}
	}
	return Fix{Key: t.key, Value: strconv.FormatInt(bound-1, 10)}
}

// missing returns the reason why a set without the key is refused.
func (t term) missing(what string) string {
	return fmt.Sprintf("%s %q is missing, but selector %q requires it", what, t.key, t)
}

// subject and mismatch are the begin and the end of the reason why a set with another
// value is refused.
func (t term) subject(what string) string { return fmt.Sprintf("%s %q is ", what, t.key) }
func (t term) mismatch() string           { return fmt.Sprintf(", which selector %q does not match", t) }
