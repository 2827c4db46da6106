package form

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/test/sample"
)

// browserCase is a question about one pattern to the engine of a browser.
type browserCase struct {
	original string
	Pattern  string   `json:"pattern"`
	Samples  []string `json:"samples"`
}

// browserAnswer is the answer: why the pattern cannot be parsed, or for each
// sample whether it matches.
type browserAnswer struct {
	Error   string `json:"error"`
	Matches []bool `json:"matches"`
}

const browserScript = `
	const cases = JSON.parse(require('fs').readFileSync(0, 'utf8'));
	process.stdout.write(JSON.stringify(cases.map(c => {
		try { const re = new RegExp(c.pattern, 'u'); return {matches: c.samples.map(s => re.test(s))}; }
		catch (e) { return {error: e.message}; }
	})));`

// TestPatternInBrowser runs every pattern, the difficult ones and those of all
// forms of the corpus, in the regular expression engine of browsers, and
// compares the matches of the form's pattern with those of the definition's
// pattern in the engine of the cluster.
func TestPatternInBrowser(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed, which runs patterns as a browser does")
	}
	originals := map[string]bool{}
	for _, tc := range patterns {
		originals[tc.in] = true
	}
	emitted := map[string]bool{}
	if dir := os.Getenv("INGESTOR_CORPUS"); dir != "" {
		for _, d := range readSet(t, dir, "xrds/*/*").Definitions {
			for _, v := range d.Served {
				collectPatterns(v.Schema, originals)
				collectPatterns(Compile(d, v, Options{GitOps: true}).Pages, emitted)
			}
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	var cases []browserCase
	translated := 0
	for _, in := range sortedKeys(originals) {
		out, ok := browserPattern(in)
		if !ok {
			continue
		}
		c := browserCase{original: in, Pattern: out, Samples: samples(t, in, random)}
		if out == in {
			// The engines differ about the dot and white space.
			c.Samples = slices.DeleteFunc(c.Samples, exotic)
		} else {
			translated++
		}
		cases = append(cases, c)
	}
	for _, out := range sortedKeys(emitted) {
		cases = append(cases, browserCase{original: out, Pattern: out, Samples: []string{}})
	}
	input, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, "-e", browserScript)
	cmd.Stdin = bytes.NewReader(input)
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("cannot run node: %v", err)
	}
	var answers []browserAnswer
	if err := json.Unmarshal(output, &answers); err != nil || len(answers) != len(cases) {
		t.Fatalf("cannot parse the output of node: %v", err)
	}
	tried := 0
	for i, c := range cases {
		if answers[i].Error != "" {
			t.Errorf("pattern %q, in the form %q: %s", c.original, c.Pattern, answers[i].Error)
			continue
		}
		re := regexp.MustCompile(c.original)
		for j, s := range c.Samples {
			tried++
			if want := re.MatchString(s); answers[i].Matches[j] != want {
				t.Errorf("pattern %q, in the form %q: cluster returns %v for %q, browser does not", c.original, c.Pattern, want, s)
			}
		}
	}
	t.Logf("%d patterns, %d of them translated, %d from forms of the corpus, %d samples", len(cases), translated, len(emitted), tried)
}

func sortedKeys(m map[string]bool) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// collectPatterns adds every pattern below n to the set.
func collectPatterns(n *tree.Node, into map[string]bool) {
	if n == nil {
		return
	}
	for _, f := range n.Fields {
		if f.Key == "pattern" && f.Value.IsString() {
			into[f.Value.Text] = true
		}
		collectPatterns(f.Value, into)
	}
	for _, it := range n.Items {
		collectPatterns(it, into)
	}
}

// exotic reports whether a text has characters that the engines treat
// differently.
func exotic(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return r != '\n' && r != '\t' && (r < ' ' || unicode.IsSpace(r) && r != ' ' || r == 0xFEFF || r == 0x180E || r >= 0x2000 && r <= 0x206F || r == 0x3000)
	})
}

// samples returns texts that match a pattern, and others that almost match.
func samples(t testing.TB, pattern string, random *rand.Rand) []string {
	t.Helper()
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{"", "a", "A", "0", "-", "\n", " ", "a\n", "\na", "é", "ſ", "K", "😀", "a\r", "\u2028", "\v", "\u00a0"}
	for range 12 {
		var b strings.Builder
		sample.Text(&b, re, random)
		s := b.String()
		if len(s) > 2000 {
			continue
		}
		out = append(out, s, s+"\n", s+"x", "x"+s, strings.ToUpper(s), strings.ToLower(s))
		if _, size := utf8.DecodeRuneInString(s); size > 0 {
			out = append(out, s[size:], s+s[:size])
		}
	}
	return slices.DeleteFunc(out, func(s string) bool { return !utf8.ValidString(s) })
}
