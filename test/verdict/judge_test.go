package judge

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.dev/ingestor/test/verdict/verdict"
	"example.dev/ingestor/xrd/lint"
)

// judged is a definition with both results: ours and the cluster's.
type judged struct {
	about string
	// rules are the rules of the errors we report, told their messages.
	rules, told []string
	// expressions are all errors about validation rules, as place and message.
	expressions []string
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
			if f.Rule == lint.RuleCEL {
				c.expressions = append(c.expressions, inSchema(f.Path)+": "+f.Message)
			}
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
	// expressions is how many definitions are refused because of validation rules only, for
	// the same reasons.
	expressions int
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
			sum.expressions += compareExpressions(t, c)
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
	t.Logf("%d definitions: %d refused by both, %d of them because of validation rules, %d accepted by both, differences: %v", len(all), sum.refused, sum.expressions, sum.taken, sum.differences)
	return sum
}

// lintSentences are the API server's sentences about validations that package lint checks
// itself, in its own words.
var lintSentences = []string{
	"rule is not specified", "must be non-empty if specified", "must not contain line breaks",
	"message must be specified if rule contains line breaks", "messageExpression must be non-empty if specified",
}

// compareExpressions compares our reasons with the cluster's, and returns 1 if the cluster
// refuses a definition only because of rules that it compiles, otherwise 0.
func compareExpressions(t *testing.T, c *judged) int {
	t.Helper()
	var ours, theirs, totals []string
	for _, e := range c.real.Errors {
		total := strings.Contains(e.Detail, "estimated rule cost total")
		if !total && !strings.Contains(e.Field, "x-kubernetes-validations") || e.Type == field.ErrorTypeNotSupported || slices.Contains(lintSentences, e.Detail) {
			return 0
		}
		said := inSchema(e.Field) + ": " + oneLine(e.Detail)
		if total {
			totals = append(totals, said)
		} else {
			theirs = append(theirs, said)
		}
	}
	if len(theirs) == 0 {
		// We say this only if it is the only reason.
		theirs = totals
	}
	if len(theirs) == 0 {
		return 0
	}
	ours = slices.Clone(c.expressions)
	for _, all := range []*[]string{&ours, &theirs} {
		slices.Sort(*all)
		*all = slices.Compact(*all)
	}
	if diff := cmp.Diff(theirs, ours); diff != "" {
		t.Errorf("%s: other reasons than the cluster's, -cluster +ours:\n%s", c.about, diff)
	}
	return 1
}

// inSchema returns a path from the schema of a version on, in one spelling. Which version
// it is does not matter: an API server reports schemas that are the same once.
func inSchema(path string) string {
	_, after, _ := strings.Cut(path, "openAPIV3Schema")
	return strings.NewReplacer("[", ".", "]", "").Replace(after)
}

// versionSchema is where the API server has the schema of a version.
var versionSchema = regexp.MustCompile(`within spec\.(validation|versions\[\d+\]\.schema)\.`)

// oneLine returns a reason without the lines that show the position in the expression.
func oneLine(detail string) string {
	lines := strings.Split(strings.TrimSpace(detail), "\n")
	lines = slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, " | ") })
	return versionSchema.ReplaceAllString(strings.Join(lines, "; "), "within ")
}

// TestVerdict compares our errors with the cluster's result for every
// definition of the corpus, well-formed or not, and for 2,400 mutants. A
// definition must have an error exactly if a cluster refuses it.
func TestVerdict(t *testing.T) {
	corpus := definitions(files(t, "xrds", "weird"))
	found := compare(t, judgeAll(t, len(corpus), func(i int) (string, []byte, map[string]any) {
		return corpus[i].path, corpus[i].text, clone(corpus[i].object)
	}))
	if found.taken < 610 || found.refused < 135 {
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
	if changed.refused < 1400 || changed.taken < 850 || changed.expressions < 200 {
		t.Errorf("of %d mutants %d were refused, %d of them because of validation rules, and %d accepted: the mutations are too harmless or too coarse", number, changed.refused, changed.expressions, changed.taken)
	}
	for name, d := range differences {
		if found.differences[name]+changed.differences[name] == 0 {
			t.Errorf("difference %q (%s) does not occur any more: remove it from the table", name, d.reason)
		}
	}
}
