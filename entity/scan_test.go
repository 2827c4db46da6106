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
		reason: "A name is an object name of at most 63 characters.",
		scan:   isName,
		rule:   bounded(`^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$`, maxName),
	},
	"namespace": {
		reason: "A namespace is a DNS label of at most 63 characters.",
		scan:   isNamespace,
		rule:   bounded(`^`+labelPattern+`$`, maxName),
	},
	"tag": {
		reason: "A tag has only single dashes.",
		scan:   isTag,
		rule:   bounded(`^[a-z0-9:+#]+(\-[a-z0-9:+#]+)*$`, maxName),
	},
	"kind": {
		reason: "A kind begins with a letter.",
		scan:   isKind,
		rule:   bounded(`^[a-zA-Z][a-z0-9A-Z]*$`, maxName),
	},
	"subdomain": {
		reason: "The lengths of each label and of the whole are limited.",
		scan:   isSubdomain,
		rule:   subdomainRule,
	},
	"apiVersion": {
		reason: "The group is optional, and a second slash is not allowed.",
		scan:   isAPIVersion,
		rule:   prefixed(bounded(`^[a-z0-9A-Z]+$`, maxName)),
	},
	"key": {
		reason: "The domain is optional, and a second slash is not allowed.",
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
				t.Fatalf("%s\nscanner returns %v for %q, the rule %v", tc.reason, got, s, want)
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
		"https://example.com/a?b#c": {"A web URL is absolute.", true},
		"HTTP://example.com":        {"Schemes are case-insensitive.", true},
		"mailto:a@example.com":      {"Other schemes need no host.", true},
		"git+ssh://h/p":             {"A scheme may contain a plus sign.", true},
		"https://":                  {"A web URL needs a host.", false},
		"https:///path":             {"A web URL needs a host before its path.", false},
		"https:example.com":         {"A web URL needs slashes.", false},
		"/docs":                     {"A path is relative.", false},
		"docs/a:b":                  {"The text before the colon is not a scheme.", false},
		"1a:b":                      {"A scheme begins with a letter.", false},
		"https://a b":               {"White space is not allowed.", false},
		"mailto:":                   {"The part after the scheme is required.", false},
		"":                          {"An empty string is not a URL.", false},
	}
	for in, tc := range cases {
		if got := isURL(in); got != tc.want {
			t.Errorf("%s\nisURL(%q): got %v", tc.reason, in, got)
		}
	}
}

func TestIsLocation(t *testing.T) {
	cases := map[string]struct {
		reason string
		want   bool
	}{
		"url:https://example.com/a": {"A location has a type and a target.", true},
		"file:./a.yaml":             {"A file is a target.", true},
		"https://example.com/a":     {"A URL without a type is not a location.", false},
		"url:":                      {"The target is missing.", false},
		":a":                        {"The type is missing.", false},
		"url: ":                     {"White space is not a target.", false},
		"url":                       {"The colon is missing.", false},
	}
	for in, tc := range cases {
		if got := isLocation(in); got != tc.want {
			t.Errorf("%s\nisLocation(%q): got %v", tc.reason, in, got)
		}
	}
}
