package form

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// patterns are patterns of authors and their translation for a browser. An
// empty want means that there is none.
var patterns = map[string]struct{ reason, in, want string }{
	"plain":              {"A pattern with the same meaning in both engines is unchanged.", `^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`, `^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`},
	"escapes":            {"Common escapes are unchanged.", `^\d+\.\w*\s?[\-]$`, `^\d+\.\w*\s?[\-]$`},
	"slash":              {"An escaped slash is unchanged.", `^\/a\/b/c$`, `^\/a\/b/c$`},
	"counted":            {"Counted repetitions are unchanged.", `^a{1,3}b{2}c{4,}$`, `^a{1,3}b{2}c{4,}$`},
	"lazy":               {"Lazy quantifiers are unchanged.", `^a+?b*?c??$`, `^a+?b*?c??$`},
	"case at the start":  {"(?i) at the beginning is expanded.", `(?i)^abc$`, `^[Aa][Bb][Cc]$`},
	"case in the middle": {"(?i) in the middle is expanded.", `^a(?i)b$`, `^a[Bb]$`},
	"case in a group":    {"(?i:…) is expanded.", `^(?i:ab)c$`, `^[Aa][Bb]c$`},
	"case of a class":    {"(?i) before a class is expanded.", `(?i)^[k-l]$`, `^[KLkl` + "\u212a" + `]$`},
	"case of a sharp s":  {"Letters with more than two case variants are expanded.", `(?i)s`, `[Ss` + "\u017f" + `]`},
	"dot matches all":    {"(?s) makes the dot match line breaks.", `(?s)^a.b$`, `^a[\s\S]b$`},
	"ungreedy":           {"(?U) swaps greedy and lazy quantifiers.", `(?U)^a+b+?$`, `^a+?b+$`},
	"lines":              {"(?m) cannot be translated without lookbehind.", `(?m)^a$`, ``},
	"text anchors":       {`\A and \z are translated.`, `\Aab\z`, `^ab$`},
	"other end":          {`\Z is not RE2.`, `\Aab\Z`, ``},
	"posix":              {"POSIX classes are expanded.", `^[[:alpha:]_][[:^digit:]]$`, `^[A-Z_a-z][^0-9]$`},
	"named":              {"Named groups lose their names.", `^(?P<year>\d{4})-(?<month>\d\d)$`, `^([0-9]{4})-([0-9][0-9])$`},
	"lookahead":          {"Lookahead is not RE2, so clusters refuse it.", `^(?!-)[a-z]+$`, ``},
	"lookbehind":         {"Lookbehind is not RE2.", `(?<=a)b`, ``},
	"backreference":      {"Backreferences are not RE2.", `^(a)\1$`, ``},
	"possessive":         {"Possessive quantifiers are not RE2.", `^a++b$`, ``},
	"atomic":             {"Atomic groups are not RE2.", `^(?>a+)b$`, ``},
	"broken":             {"A pattern that is not valid is dropped.", `^[a-`, ``},
	"too many":           {"RE2 limits the number of repetitions.", `^a{1001}$`, ``},
	"unicode class":      {"Unicode classes are expanded to ranges.", `^\p{Greek}+\pZ$`, `?`},
	"not unicode class":  {"Negated Unicode classes are expanded to ranges.", `^\P{L}$`, `?`},
	"surrogates":         {"Surrogates match nothing.", `^\p{Cs}$`, `^[^\s\S]$`},
	"a surrogate":        {"A surrogate cannot be written.", `^\x{D800}$`, ``},
	"all but surrogates": {"Everything except surrogates matches any character.", `^\P{Cs}$`, `^[\s\S]$`},
	"over surrogates":    {"A range that ends within the surrogates is cut.", `^[\x{D700}-\x{DABC}]$`, "^[\ud700-\ud7ff]$"},
	"hex":                {"Characters in hexadecimal are translated.", `^\x41\x{1F600}\x{7f}$`, `^A😀\x7f$`},
	"octal":              {"Characters in octal are translated.", `^\101\0$`, `^A\x00$`},
	"quoted":             {`\Q…\E is translated.`, `^\Qa.b*c\E$`, `^a\.b\*c$`},
	"bell":               {"Control characters are translated.", `^\a\f\v\t$`, `^\x07\x0c\x0b\t$`},
	"needless escapes":   {"Escapes that a browser does not know are removed.", `^\_\-\:\"\'\#\@\ \=$`, `^_-:"'#@ =$`},
	"literal brace":      {"A literal brace is escaped.", `^{a}{,5}$`, `^\{a\}\{,5\}$`},
	"literal bracket":    {"A literal bracket is escaped.", `^a]$`, `^a\]$`},
	"bracket in class":   {"A bracket inside a class is escaped.", `^[[a]$`, `^[\[a]$`},
	"bracket first":      {"A bracket at the start of a class is escaped.", `^[]a]$`, `^[\]a]$`},
	"bracket after not":  {"A bracket after the caret of a class is escaped.", `^[^]a]$`, `^[^\]a]$`},
	"dash after class":   {"A dash after a class inside a class is escaped.", `^[\w-.]+$`, `^[\-\.0-9A-Z_a-z]+$`},
	"dash before class":  {"A dash before a class inside a class is refused.", `^[.-\d]+$`, ``},
	"dash last":          {"A dash at the end of a class is unchanged.", `^[\w.-]+$`, `^[\w.-]+$`},
	"repeated anchor":    {"Repeated anchors are put into a group.", `^*a$+`, `(?:^)*a(?:$)+`},
	"repeated boundary":  {"Repeated word boundaries are put into a group.", `\b?a`, `(?:\b)?a`},
	"empty parts":        {"Empty alternatives and groups are unchanged.", `^(|a||b)()$`, `^(|a||b)()$`},
	"alternatives":       {"Alternatives keep their group.", `^(?i:a|bc)d|e$`, `^(?:[Aa]|[Bb][Cc])d|e$`},
	"nothing":            {"An empty pattern stays empty.", ``, ``},
	"matches nothing":    {"A class without characters matches nothing.", `[^\x00-\x{10FFFF}]`, `[^\s\S]`},
	"email":              {"A pattern for email addresses is unchanged.", `^[^@]+@[^@]+\.[^@]+$`, `^[^@]+@[^@]+\.[^@]+$`},
	"cidr":               {"A pattern for networks is unchanged.", `^(?:\d{1,3}\.){3}\d{1,3}/\d{1,2}$`, `^(?:\d{1,3}\.){3}\d{1,3}/\d{1,2}$`},
	"newline":            {"A literal line break is unchanged.", "^a\nb$", "^a\nb$"},
}

func TestPattern(t *testing.T) {
	for name, tc := range patterns {
		t.Run(name, func(t *testing.T) {
			got, ok := browserPattern(tc.in)
			if tc.want == "?" {
				if !ok {
					t.Errorf("%s\npattern has no translation", tc.reason)
				}
				return
			}
			if ok != (tc.want != "" || tc.in == "") {
				t.Errorf("%s\npattern has a translation: %v", tc.reason, ok)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestPatternInForm(t *testing.T) {
	runForms(t, map[string]formCase{
		"translated": {
			reason: "A pattern that browsers cannot run is translated if possible, at every level.",
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
			reason: "A pattern that cannot be translated is moved to the description, with a finding.",
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
