package engine

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/composed"
)

const (
	// mostConditions is the maximum number of conditions of a composite.
	mostConditions = 12
	// longestCondition is the maximum length of a condition's type and reason.
	longestCondition = 48
)

// conditionAnnotations writes the conditions of a composite as annotations, so that they
// can be seen and searched for: composer.io/condition-ready: "True". A status other than
// True includes its reason. Messages and times are left out, because they change without
// a change of state.
func conditionAnnotations(a map[string]string, c *xrd.Composite) { writeConditions(a, c.Conditions) }

// writeConditions writes conditions as annotations.
func writeConditions(a map[string]string, conditions []xrd.Condition) {
	all := slices.Clone(conditions)
	// Ready and Synced matter most, so they are always within the limit.
	slices.SortStableFunc(all, func(x, y xrd.Condition) int {
		return cmp.Compare(conditionRank(x.Type), conditionRank(y.Type))
	})
	shown := 0
	for _, x := range all {
		name := conditionName(x.Type)
		if name == "" || x.Status != "True" && x.Status != "False" && x.Status != "Unknown" {
			continue
		}
		key := words.AnnotationConditionPrefix + name
		if _, taken := a[key]; taken {
			continue
		}
		if shown++; shown > mostConditions {
			return
		}
		a[key] = x.Status
		if x.Status != "True" && isWord(x.Reason, false, "") && len(x.Reason) <= longestCondition {
			a[key] += " (" + x.Reason + ")"
		}
	}
}

// readiness returns the fields of a spec that say whether a composite is ready, and since
// when.
func readiness(c *xrd.Composite) []tree.Field {
	is, deciding := composed.ReadinessOf(c.Node)
	if is == composed.None {
		// A composite has a readiness, but nothing has said which: it is new, or described in
		// a file.
		is = composed.Unknown
	}
	out := []tree.Field{tree.F("readiness", tree.Str(string(is)))}
	if deciding != nil && !deciding.Since.IsZero() {
		out = append(out, tree.F("readinessSince", tree.Str(deciding.Since.UTC().Format(time.RFC3339))))
	}
	return out
}

func conditionRank(typ string) int {
	if typ == "Ready" || typ == "Synced" {
		return 0
	}
	return 1
}

// conditionName converts a condition's type into the end of an annotation key, such as
// LastAsyncOperation into last-async-operation. It returns "" for an invalid type.
func conditionName(typ string) string {
	last := len(typ) - 1
	if len(typ) > longestCondition || !isWord(typ, false, "-_./") || !isWord(typ[last:], false, "") {
		return ""
	}
	var b strings.Builder
	for i := range len(typ) {
		c := typ[i]
		switch {
		case c >= 'A' && c <= 'Z':
			// A capital begins a word, except within an acronym.
			if i > 0 && (isLower(typ[i-1]) || isUpper(typ[i-1]) && i < last && isLower(typ[i+1])) {
				b.WriteByte('-')
			}
			b.WriteByte(c + 'a' - 'A')
		case c == '/':
			b.WriteByte('-')
		default:
			b.WriteByte(c)
		}
	}
	if b.Len() > 63-len("condition-") {
		return ""
	}
	return b.String()
}

func isLower(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }
func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
