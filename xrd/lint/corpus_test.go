package lint_test

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/lint"
)

// corpus returns the folder of real definitions, or skips the test.
func corpus(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("INGESTOR_CORPUS")
	if dir == "" {
		t.Skip("set INGESTOR_CORPUS to a folder of real definitions")
	}
	return dir
}

// table reads a file of tab-separated values with a header.
func table(t *testing.T, path string) []map[string]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	head := strings.Split(lines[0], "\t")
	var rows []map[string]string
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, v := range strings.Split(line, "\t") {
			if i < len(head) {
				row[head[i]] = v
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func lintFile(t *testing.T, dir, file string) (*xrd.Set, []finding.Finding) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	var s xrd.Set
	if err := s.Read(bytes.NewReader(text), xrd.Origin{File: file}); err != nil {
		t.Fatal(err)
	}
	out := s.Findings
	for _, d := range s.Definitions {
		out = append(out, lint.Definition(d, lint.Options{})...)
	}
	for _, c := range s.Compositions {
		out = append(out, lint.Composition(c)...)
	}
	return &s, out
}

// count counts the files of each rule.
type count map[string]int

func (c count) add(fs []finding.Finding) {
	seen := map[string]bool{}
	for _, f := range fs {
		if !seen[f.Rule] {
			c[f.Rule]++
			seen[f.Rule] = true
		}
	}
}

func (c count) String() string {
	var b strings.Builder
	for _, rule := range slices.Sorted(maps.Keys(c)) {
		i := slices.IndexFunc(lint.Rules, func(r finding.Rule) bool { return r.ID == rule })
		if i < 0 {
			fmt.Fprintf(&b, "%s %4d\n", rule, c[rule])
			continue
		}
		fmt.Fprintf(&b, "%s %4d %-7s %s\n", rule, c[rule], lint.Rules[i].Severity, lint.Rules[i].Title)
	}
	return b.String()
}

// reported maps a known problem of a file in the corpus to rules, of which one
// must be found.
var reported = []struct {
	why   string
	rules []string
}{
	{"no-spec", []string{lint.RuleNoSpec}},
	{"no-group", []string{lint.RuleNoGroup}},
	{"no-names.kind", []string{lint.RuleNoKind}},
	{"no-names.plural", []string{lint.RuleNoPlural}},
	{"no-versions", []string{lint.RuleNoVersions}},
	{"no-schema", []string{lint.RuleNoSchema, lint.RuleSchemaMisplaced}},
	{"no-served-version", []string{lint.RuleVersionSilent, lint.RuleNoServed}},
	{"referenceable-versions=0", []string{lint.RuleVersionSilent, lint.RuleNoReferenceable}},
	{"referenceable-versions=", []string{lint.RuleManyReferenceable}},
	{"no-properties.spec", []string{lint.RuleNoSpecSchema}},
	{"root-type-not-object", []string{lint.RuleSectionType, lint.RuleSectionTypeWrong}},
	{"property-without-type", []string{lint.RuleNoType, lint.RuleSectionType}},
	{"array-without-items", []string{lint.RuleNoItems}},
	{"bad-type:", []string{lint.RuleUnknownType}},
	{"default-type-mismatch", []string{lint.RuleDefault}},
	{"enum-type-mismatch", []string{lint.RuleEnumType, lint.RuleYAMLBooleanString}},
	{"required-duplicates", []string{lint.RuleRequiredTwice}},
	{"required-not-in-properties", []string{lint.RuleRequiredAbsent}},
	{"required-without-properties", []string{lint.RuleRequiredAbsent, lint.RuleWrongParent}},
	{"required-not-list(null)", []string{lint.RuleKeywordNull}},
	{"properties-null", []string{lint.RuleKeywordNull}},
	{"properties-not-object", []string{lint.RuleKeywordType}},
	{"schema-node-not-object(null)", []string{lint.RuleNoSchema, lint.RuleNotSchema}},
	{"schema-node-not-object", []string{lint.RuleNotSchema}},
	{"unknown-keyword:", []string{lint.RuleMisspelt, lint.RuleUnknownKeyword}},
	{"unknown-spec-field:openAPIV3Schema", []string{lint.RuleSchemaMisplaced}},
	{"unknown-spec-field:", []string{lint.RuleUnknownField}},
	{"unknown-version-field:openAPIV3Schema", []string{lint.RuleSchemaMisplaced}},
	{"extra-root-property:required", []string{lint.RuleNotSchema}},
	{"extra-root-property:", []string{lint.RuleIgnoredProperty}},
	{"name!=plural.group", []string{lint.RuleNameMismatch, lint.RuleNoName}},
	{"plural-not-lowercase", []string{lint.RuleBadNames}},
	{"claimNames==names", []string{lint.RuleClaimSame, lint.RuleClaimIncomplete}},
	{"claimNames-no-plural", []string{lint.RuleClaimIncomplete}},
	{"odd-apiVersion:", []string{lint.RuleAPIVersion}},
	{"duplicate-key:", []string{xrd.RuleSyntax}},
}

// excused are the files whose problem in the corpus is overstated.
var excused = map[string]string{
	"xvshnpostgresqls.vshn.appcat.vshn.io-225d395d.yaml": "it requires compositionRef, which Crossplane declares itself",
}

var times = regexp.MustCompile(`x\d+$`)

func TestWeird(t *testing.T) {
	dir := corpus(t)
	rules := count{}
	for _, row := range table(t, filepath.Join(dir, "WEIRD.tsv")) {
		s, fs := lintFile(t, dir, row["file"])
		rules.add(fs)
		if len(s.Definitions) > 0 && len(fs) == 0 {
			t.Errorf("%s: no findings, but the file is %s", row["file"], row["why"])
		}
		unreadable := row["category"] == "unparseable" || row["category"] == "duplicate-keys"
		for _, why := range strings.Split(strings.TrimPrefix(row["why"], "[history] "), ";") {
			checkWhy(t, row["file"], times.ReplaceAllString(strings.TrimSpace(why), ""), unreadable, fs)
		}
	}
	t.Logf("files by rule:\n%s", rules)
}

// checkWhy checks that a rule for the reason was found.
func checkWhy(t *testing.T, file, why string, unreadable bool, fs []finding.Finding) {
	t.Helper()
	found := func(rule string) bool {
		return slices.ContainsFunc(fs, func(f finding.Finding) bool { return f.Rule == rule })
	}
	if unreadable || found(xrd.RuleSyntax) {
		// A scalar is valid YAML, but not an object.
		if !found(xrd.RuleSyntax) && !found(xrd.RuleNotObject) {
			t.Errorf("%s: accepted although %s", file, why)
		}
		return
	}
	if reason, ok := excused[filepath.Base(file)]; ok {
		t.Logf("%s: %s is skipped: %s", file, why, reason)
		return
	}
	for _, r := range reported {
		if !strings.HasPrefix(why, r.why) {
			continue
		}
		if !slices.ContainsFunc(r.rules, found) {
			t.Errorf("%s: none of %v was found, but the file is %s", file, r.rules, why)
		}
		return
	}
	t.Errorf("%s: no rule for %s", file, why)
}

func TestCorpus(t *testing.T) {
	dir := corpus(t)
	rules, worst := map[string]count{}, map[string]map[string]int{}
	for _, row := range table(t, filepath.Join(dir, "INDEX.tsv")) {
		group := row["kind"]
		if group == xrd.KindDefinition {
			group += " " + row["origin"]
		} else if group != xrd.KindComposition {
			continue
		}
		if rules[group] == nil {
			rules[group], worst[group] = count{}, map[string]int{}
		}
		_, fs := lintFile(t, dir, row["file"])
		rules[group].add(fs)
		level := "clean"
		if len(fs) > 0 {
			level = slices.MaxFunc(fs, func(a, b finding.Finding) int { return cmp.Compare(a.Severity, b.Severity) }).Severity.String()
		}
		worst[group][level]++
	}
	for _, group := range slices.Sorted(maps.Keys(rules)) {
		t.Logf("%s: %v\n%s", group, worst[group], rules[group])
	}
	// Published definitions work; a rule that fails many of them is wrong.
	shipped := worst[xrd.KindDefinition+" package"]
	total := 0
	for _, n := range shipped {
		total += n
	}
	if shipped["error"]*20 > total {
		t.Errorf("%d of %d published definitions have errors", shipped["error"], total)
	}
}
