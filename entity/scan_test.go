package entity

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// anyText draws strings that are often nearly valid, sometimes around the
// length limits, and sometimes arbitrary, including invalid UTF-8.
func anyText() *rapid.Generator[string] {
	near := rapid.RuneFrom([]rune("abyzAZ059-_.:+#/ é\n"))
	return rapid.OneOf(
		rapid.StringOfN(near, 0, 12, -1),
		rapid.StringOfN(rapid.RuneFrom([]rune("aZ0-.")), 55, 70, -1),
		rapid.StringOfN(rapid.RuneFrom([]rune("a0-./")), 240, 330, -1),
		rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a", strings.Repeat("a", 62), strings.Repeat("b", 63), "-", ".", "/", "v1"}), 1, 9),
			func(parts []string) string { return strings.Join(parts, "") }),
		rapid.StringMatching(`[a-z0-9:+#]{1,5}(-[a-z0-9:+#]{1,5}){0,3}`),
		rapid.StringMatching(`([a-z0-9-]{1,5}\.){0,3}[a-z0-9]{1,5}/[a-zA-Z0-9._-]{1,5}`),
		rapid.String(),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
	)
}

const labelPattern = `[a-z0-9]+(?:\-+[a-z0-9]+)*`

// oracles are the rules as regular expressions; the scanners must agree.
var oracles = map[string]struct {
	reason string
	scan   func(string) bool
	rule   func(string) bool
}{
	"name": {
		reason: "a name is an object name of at most 63",
		scan:   isName,
		rule:   bounded(`^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$`, maxName),
	},
	"namespace": {
		reason: "a namespace is a DNS label of at most 63",
		scan:   isNamespace,
		rule:   bounded(`^`+labelPattern+`$`, maxName),
	},
	"tag": {
		reason: "a tag has single dashes only",
		scan:   isTag,
		rule:   bounded(`^[a-z0-9:+#]+(\-[a-z0-9:+#]+)*$`, maxName),
	},
	"kind": {
		reason: "a kind begins with a letter",
		scan:   isKind,
		rule:   bounded(`^[a-zA-Z][a-z0-9A-Z]*$`, maxName),
	},
	"subdomain": {
		reason: "each label and the whole are bounded",
		scan:   isSubdomain,
		rule:   subdomainRule,
	},
	"apiVersion": {
		reason: "the group is optional, a second slash is not allowed",
		scan:   isAPIVersion,
		rule:   prefixed(bounded(`^[a-z0-9A-Z]+$`, maxName)),
	},
	"key": {
		reason: "the domain is optional, a second slash is not allowed",
		scan:   isKey,
		rule:   prefixed(bounded(`^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$`, maxName)),
	},
}

func bounded(pattern string, longest int) func(string) bool {
	re := regexp.MustCompile(pattern)
	return func(s string) bool { return len(s) <= longest && re.MatchString(s) }
}

var labelRule = bounded(`^`+labelPattern+`$`, maxName)

func subdomainRule(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if !labelRule(label) {
			return false
		}
	}
	return len(s) <= maxSubdomain
}

func prefixed(suffix func(string) bool) func(string) bool {
	return func(s string) bool {
		parts := strings.Split(s, "/")
		switch len(parts) {
		case 1:
			return suffix(s)
		case 2:
			return subdomainRule(parts[0]) && suffix(parts[1])
		}
		return false
	}
}

func TestScannersAgreeWithTheRules(t *testing.T) {
	for name, tc := range oracles {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			s := anyText().Draw(t, "s")
			if got, want := tc.scan(s), tc.rule(s); got != want {
				t.Fatalf("%s: scanner returns %v for %q, the rule %v", tc.reason, got, s, want)
			}
		}))
	}
}

func FuzzScanners(f *testing.F) {
	for _, s := range []string{"", "a", "a-b", "a--b", "-a", "A.b_c", "example.dev/a", "a/b/c", "v1", "c++", "c#", strings.Repeat("a", 64)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for name, tc := range oracles {
			if got, want := tc.scan(s), tc.rule(s); got != want {
				t.Errorf("%s: scanner returns %v for %q, the rule %v", name, got, s, want)
			}
		}
	})
}

func TestIsURL(t *testing.T) {
	cases := map[string]struct {
		reason string
		want   bool
	}{
		"https://example.com/a?b#c": {"a web address is absolute", true},
		"HTTP://example.com":        {"schemes ignore case", true},
		"mailto:a@example.com":      {"other schemes need no host", true},
		"git+ssh://h/p":             {"a scheme may hold a plus", true},
		"https://":                  {"a web address needs a host", false},
		"https:///path":             {"a web address needs a host before its path", false},
		"https:example.com":         {"a web address needs slashes", false},
		"/docs":                     {"a path is relative", false},
		"docs/a:b":                  {"what is before the colon is no scheme", false},
		"1a:b":                      {"a scheme begins with a letter", false},
		"https://a b":               {"white space is not allowed", false},
		"mailto:":                   {"something must follow the scheme", false},
		"":                          {"empty is no address", false},
	}
	for in, tc := range cases {
		if got := isURL(in); got != tc.want {
			t.Errorf("isURL(%q): %s: got %v", in, tc.reason, got)
		}
	}
}

func TestIsLocation(t *testing.T) {
	cases := map[string]struct {
		reason string
		want   bool
	}{
		"url:https://example.com/a": {"a type and a target", true},
		"file:./a.yaml":             {"a file is a target", true},
		"https://example.com/a":     {"an address without a type is a common mistake", false},
		"url:":                      {"the target is missing", false},
		":a":                        {"the type is missing", false},
		"url: ":                     {"white space is no target", false},
		"url":                       {"there is no colon", false},
	}
	for in, tc := range cases {
		if got := isLocation(in); got != tc.want {
			t.Errorf("isLocation(%q): %s: got %v", in, tc.reason, got)
		}
	}
}
