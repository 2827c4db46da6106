package judge

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.dev/ingestor/test/verdict/verdict"
)

// judged is a definition with both results: ours and the cluster's.
type judged struct {
	about string
	// rules are the rules of the errors we report, told their messages.
	rules, told []string
	real        verdict.Verdict
}

// judgeAll gets both results for n definitions.
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
			// Each rule is listed once.
			if !slices.Contains(c.rules, f.Rule) {
				c.rules = append(c.rules, f.Rule)
				c.told = append(c.told, fmt.Sprintf("%s %s: %s", f.Rule, f.Path, f.Message))
			}
		}
		all[i] = c
	})
	return all
}

// tally counts the results.
type tally struct {
	refused, taken int
	// differences counts by the name of the difference.
	differences map[string]int
}

// compare reports every definition with different results, unless the
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
	t.Logf("%d definitions: %d refused by both, %d accepted by both, differences: %v", len(all), sum.refused, sum.taken, sum.differences)
	return sum
}

// TestVerdict compares our errors with the cluster's result for every
// definition of the corpus, well-formed or not, and for 2,400 mutants. A
// definition must have an error exactly if a cluster refuses it.
func TestVerdict(t *testing.T) {
	corpus := definitions(files(t, "xrds", "weird"))
	found := compare(t, judgeAll(t, len(corpus), func(i int) (string, []byte, map[string]any) {
		return corpus[i].path, corpus[i].text, clone(corpus[i].object)
	}))
	if found.taken < 550 || found.refused < 100 {
		t.Errorf("%d definitions were accepted and %d refused; is this another corpus?", found.taken, found.refused)
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
	// The mutations must have an effect, and must not always be fatal.
	if changed.refused < number*2/5 || changed.taken < number/4 {
		t.Errorf("of %d mutants %d were refused and %d accepted: the mutations are too harmless or too coarse", number, changed.refused, changed.taken)
	}
	for name, d := range differences {
		if found.differences[name]+changed.differences[name] == 0 {
			t.Errorf("difference %q (%s) does not occur any more: remove it from the table", name, d.reason)
		}
	}
}
