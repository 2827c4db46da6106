package judge

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.dev/ingestor/test/verdict/verdict"
)

// judged is a definition with both answers: ours and the cluster's.
type judged struct {
	about string
	// rules are the rules of the errors we report, and told what those say.
	rules, told []string
	real        verdict.Verdict
}

// judgeAll asks both about n definitions.
func judgeAll(t *testing.T, n int, definition func(i int) (about string, text []byte, object map[string]any)) []judged {
	t.Helper()
	j, err := verdict.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := make([]judged, n)
	each(n, func(i int) {
		about, text, object := definition(i)
		c := judged{about: about, real: j.Definition(t.Context(), object)}
		found, err := checked(text)
		if err != nil {
			t.Errorf("%s: %v", about, err)
		}
		for _, f := range found {
			// Each rule once.
			if !slices.Contains(c.rules, f.Rule) {
				c.rules = append(c.rules, f.Rule)
				c.told = append(c.told, fmt.Sprintf("%s %s: %s", f.Rule, f.Path, f.Message))
			}
		}
		all[i] = c
	})
	return all
}

// tally is how often both gave which answer.
type tally struct {
	refused, taken int
	// differences counts by the name of the difference.
	differences map[string]int
}

// compare reports every definition about which the two disagree, unless the
// difference is known.
func compare(t *testing.T, all []judged) tally {
	t.Helper()
	sum := tally{differences: map[string]int{}}
	for i := range all {
		c := &all[i]
		switch ours, theirs := len(c.rules) > 0, c.real.Stage != ""; {
		case ours && theirs:
			sum.refused++
			continue
		case !ours && !theirs:
			sum.taken++
			continue
		}
		names := explain(c)
		if len(names) == 0 {
			t.Errorf("%s\n cluster (%s): %.600s\n ours: %.600s", c.about, c.real.Stage, strings.Join(c.real.Reasons, "\n   "), strings.Join(c.told, "\n   "))
			continue
		}
		for _, name := range names {
			sum.differences[name]++
		}
	}
	t.Logf("%d definitions: %d refused by both, %d taken by both, differences: %v", len(all), sum.refused, sum.taken, sum.differences)
	return sum
}

// TestVerdict holds our errors against the cluster's answer, for every
// definition of the corpus, well-formed or not, and for 2,400 that have one thing
// changed. A definition has an error exactly when a cluster refuses it.
func TestVerdict(t *testing.T) {
	corpus := definitions(files(t, "xrds", "weird"))
	found := compare(t, judgeAll(t, len(corpus), func(i int) (string, []byte, map[string]any) {
		return corpus[i].path, corpus[i].text, clone(corpus[i].object)
	}))
	if found.taken < 550 || found.refused < 100 {
		t.Errorf("%d taken and %d refused: is it another corpus?", found.taken, found.refused)
	}

	const number = 2400
	bases := slices.DeleteFunc(definitions(files(t, "xrds")), func(f file) bool { return len(f.text) > 40_000 })
	made := make([]mutant, number)
	for i := range made {
		made[i] = mutate(i, bases)
	}
	changed := compare(t, judgeAll(t, number, func(i int) (string, []byte, map[string]any) {
		return made[i].about, made[i].text, made[i].object
	}))
	// What is changed must hit, and must not always.
	if changed.refused < number*2/5 || changed.taken < number/4 {
		t.Errorf("of %d changed definitions %d are refused and %d taken: the changes are too harmless or too coarse", number, changed.refused, changed.taken)
	}
	for name, d := range differences {
		if found.differences[name]+changed.differences[name] == 0 {
			t.Errorf("the difference %q (%s) is not there any more: remove it from the table", name, d.reason)
		}
	}
}
