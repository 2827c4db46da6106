package form

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// patterns are patterns of authors and their translation for a browser. An
// empty want means that there is none.
var patterns = map[string]struct{ reason, in, want string }{
	"plain":              {"what both read alike is unchanged", `^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`, `^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`},
	"escapes":            {"so are common escapes", `^\d+\.\w*\s?[\-]$`, `^\d+\.\w*\s?[\-]$`},
	"slash":              {"a slash may be escaped", `^\/a\/b/c$`, `^\/a\/b/c$`},
	"counted":            {"counts", `^a{1,3}b{2}c{4,}$`, `^a{1,3}b{2}c{4,}$`},
	"lazy":               {"lazy quantifiers", `^a+?b*?c??$`, `^a+?b*?c??$`},
	"case at the start":  {"(?i) at the beginning", `(?i)^abc$`, `^[Aa][Bb][Cc]$`},
	"case in the middle": {"(?i) in the middle", `^a(?i)b$`, `^a[Bb]$`},
	"case in a group":    {"(?i:…)", `^(?i:ab)c$`, `^[Aa][Bb]c$`},
	"case of a class":    {"(?i) before a class", `(?i)^[k-l]$`, `^[KLkl` + "\u212a" + `]$`},
	"case of a sharp s":  {"letters with more than two cases", `(?i)s`, `[Ss` + "\u017f" + `]`},
	"dot matches all":    {"(?s) makes the dot match line breaks", `(?s)^a.b$`, `^a[\s\S]b$`},
	"ungreedy":           {"(?U) turns greed around", `(?U)^a+b+?$`, `^a+?b+$`},
	"lines":              {"(?m) has no equal without lookbehind", `(?m)^a$`, ``},
	"text anchors":       {`\A and \z`, `\Aab\z`, `^ab$`},
	"other end":          {`\Z is not RE2`, `\Aab\Z`, ``},
	"posix":              {"POSIX classes", `^[[:alpha:]_][[:^digit:]]$`, `^[A-Z_a-z][^0-9]$`},
	"named":              {"named groups lose their names", `^(?P<year>\d{4})-(?<month>\d\d)$`, `^([0-9]{4})-([0-9][0-9])$`},
	"lookahead":          {"lookahead is not RE2: no cluster takes it", `^(?!-)[a-z]+$`, ``},
	"lookbehind":         {"nor lookbehind", `(?<=a)b`, ``},
	"backreference":      {"nor references back", `^(a)\1$`, ``},
	"possessive":         {"nor possessive quantifiers", `^a++b$`, ``},
	"atomic":             {"nor atomic groups", `^(?>a+)b$`, ``},
	"broken":             {"A pattern that is not valid is dropped.", `^[a-`, ``},
	"too many":           {"more repetitions than RE2 takes", `^a{1001}$`, ``},
	"unicode class":      {"Unicode classes as ranges", `^\p{Greek}+\pZ$`, `?`},
	"not unicode class":  {"and their opposite", `^\P{L}$`, `?`},
	"surrogates":         {"what is no character matches nothing", `^\p{Cs}$`, `^[^\s\S]$`},
	"a surrogate":        {"nor can one be written", `^\x{D800}$`, ``},
	"all but surrogates": {"their opposite matches anything", `^\P{Cs}$`, `^[\s\S]$`},
	"over surrogates":    {"a range that ends among them ends before", `^[\x{D700}-\x{DABC}]$`, "^[\ud700-\ud7ff]$"},
	"hex":                {"characters by number", `^\x41\x{1F600}\x{7f}$`, `^A😀\x7f$`},
	"octal":              {"characters by octal number", `^\101\0$`, `^A\x00$`},
	"quoted":             {`\Q…\E`, `^\Qa.b*c\E$`, `^a\.b\*c$`},
	"bell":               {"control characters", `^\a\f\v\t$`, `^\x07\x0c\x0b\t$`},
	"needless escapes":   {"escapes a browser does not know", `^\_\-\:\"\'\#\@\ \=$`, `^_-:"'#@ =$`},
	"literal brace":      {"a brace that counts nothing", `^{a}{,5}$`, `^\{a\}\{,5\}$`},
	"literal bracket":    {"a bracket that closes nothing", `^a]$`, `^a\]$`},
	"bracket in class":   {"a bracket inside a class", `^[[a]$`, `^[\[a]$`},
	"bracket first":      {"a bracket first in its class", `^[]a]$`, `^[\]a]$`},
	"bracket after not":  {"and after its caret", `^[^]a]$`, `^[^\]a]$`},
	"dash after class":   {"a dash after a class inside a class", `^[\w-.]+$`, `^[\-\.0-9A-Z_a-z]+$`},
	"dash before class":  {"and before one", `^[.-\d]+$`, ``},
	"dash last":          {"a dash at the end is fine", `^[\w.-]+$`, `^[\w.-]+$`},
	"repeated anchor":    {"anchors a browser does not repeat", `^*a$+`, `(?:^)*a(?:$)+`},
	"repeated boundary":  {"nor boundaries", `\b?a`, `(?:\b)?a`},
	"empty parts":        {"empty alternatives and groups", `^(|a||b)()$`, `^(|a||b)()$`},
	"alternatives":       {"alternatives keep their group", `^(?i:a|bc)d|e$`, `^(?:[Aa]|[Bb][Cc])d|e$`},
	"nothing":            {"the empty pattern", ``, ``},
	"matches nothing":    {"a class without characters", `[^\x00-\x{10FFFF}]`, `[^\s\S]`},
	"email":              {"an address", `^[^@]+@[^@]+\.[^@]+$`, `^[^@]+@[^@]+\.[^@]+$`},
	"cidr":               {"a network", `^(?:\d{1,3}\.){3}\d{1,3}/\d{1,2}$`, `^(?:\d{1,3}\.){3}\d{1,3}/\d{1,2}$`},
	"newline":            {"a line break as such", "^a\nb$", "^a\nb$"},
}

func TestPattern(t *testing.T) {
	for name, tc := range patterns {
		t.Run(name, func(t *testing.T) {
			got, ok := browserPattern(tc.in)
			if tc.want == "?" {
				if !ok {
					t.Errorf("%s: pattern has no translation", tc.reason)
				}
				return
			}
			if ok != (tc.want != "" || tc.in == "") {
				t.Errorf("%s: pattern has a translation: %v", tc.reason, ok)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestPatternInForm(t *testing.T) {
	runForms(t, map[string]formCase{
		"translated": {
			reason: "a pattern that browsers cannot run is translated where it can be, at every level",
			spec: `
				type: object
				properties:
				  a: {type: string, pattern: '^a(?i)b$'}
				  b: {type: array, items: {type: string, pattern: '^[[:lower:]]$'}}
				  c: {x-kubernetes-int-or-string: true, pattern: '\Aab\z'}
			`,
			page: `
				properties:
				  a: {title: A, type: string, pattern: "^a[Bb]$"}
				  b: {title: B, type: array, items: {type: string, pattern: "^[a-z]$"}}
				  c: {title: C, anyOf: [{type: integer, title: Number}, {type: string, title: Text, pattern: ^ab$}]}
			`,
			values:  `{a: aB, b: [x], c: ab}`,
			refused: []string{`{a: AB}`, `{b: [X]}`, `{c: abc}`},
		},
		"described": {
			reason: "else it is moved to the description, with a finding",
			spec: `
				type: object
				properties:
				  a: {type: string, pattern: '^(?!x)<y>$'}
				  b: {type: string, pattern: '(?m)^x$', description: Some lines. One of them x.}
				  c: {type: array, items: {type: string, pattern: '^a++$'}}
			`,
			page: `
				properties:
				  a: {title: A, description: "Must match ^(?!x)<y>$", type: string}
				  b: {title: B, description: "Some lines.\nMust match (?m)^x$", type: string, ui:options: {details: One of them x.}}
				  c: {title: C, type: array, items: {description: "Must match ^a++$", type: string}}
			`,
			values: `{a: <y>, b: x, c: [a]}`,
			rules:  []string{RulePattern, RulePattern, RulePattern},
		},
	})
}
