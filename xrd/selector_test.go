package xrd

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSelector(t *testing.T) {
	prod := map[string]string{"env": "prod", "tier": "db", "portal.io/owner": "team", "n": "5", "empty": ""}
	cases := map[string]struct {
		reason string
		in     string
		want   string
		match  bool
	}{
		"Empty":          {"An empty selector selects everything.", "", "", true},
		"Blank":          {"White space is an empty selector.", " \t\n", "", true},
		"Equal":          {"An equal value matches.", "env=prod", "env=prod", true},
		"EqualOther":     {"Another value does not match.", "env=dev", "env=dev", false},
		"EqualAbsent":    {"A missing key does not match a value.", "gone=x", "gone=x", false},
		"Double":         {"== is the same as =.", "env==prod", "env=prod", true},
		"Not":            {"!= matches another value.", "env!=dev", "env!=dev", true},
		"NotSame":        {"!= does not match the same value.", "env!=prod", "env!=prod", false},
		"NotAbsent":      {"!= matches a missing key, as in Kubernetes.", "gone!=x", "gone!=x", true},
		"In":             {"in matches one of several values.", "env in (prod,dev)", "env in (dev,prod)", true},
		"InOther":        {"in does not match other values.", "env in (dev,test)", "env in (dev,test)", false},
		"InAbsent":       {"in does not match a missing key.", "gone in (a,b)", "gone in (a,b)", false},
		"InOne":          {"in with one value becomes =.", "env in (prod)", "env=prod", true},
		"InTwice":        {"Duplicate values are removed.", "env in (prod, prod)", "env=prod", true},
		"InEmpty":        {"An empty item is the empty value.", "empty in (,a)", "empty in (,a)", true},
		"InEmptyLast":    {"An empty item at the end is the empty value.", "empty in (a,)", "empty in (,a)", true},
		"InComma":        {"A comma alone is the empty value.", "empty in (,)", "empty=", true},
		"NotIn":          {"in does not match other values.", "env notin (dev, test)", "env notin (dev,test)", true},
		"NotInSame":      {"in matches one of several values.", "env notin (prod,test)", "env notin (prod,test)", false},
		"NotInAbsent":    {"notin matches a missing key, as in Kubernetes.", "gone notin (a,b)", "gone notin (a,b)", true},
		"NotInOne":       {"notin with one value becomes !=.", "env notin (prod)", "env!=prod", false},
		"Exists":         {"A key matches if it exists.", "env", "env", true},
		"ExistsEmpty":    {"A key with an empty value exists.", "empty", "empty", true},
		"ExistsAbsent":   {"A missing key does not match.", "gone", "gone", false},
		"Absent":         {"! matches a missing key.", "!gone", "!gone", true},
		"AbsentPresent":  {"! does not match an existing key.", "!env", "!env", false},
		"EmptyValue":     {"A missing value is the empty value.", "empty=", "empty=", true},
		"EmptyThen":      {"A missing value before a comma is the empty value.", "empty=,env=prod", "empty=,env=prod", true},
		"NotEmpty":       {"!= accepts the empty value.", "empty!=", "empty!=", false},
		"Above":          {"Numbers are compared.", "n>4", "n>4", true},
		"AboveNot":       {"A number is not greater than itself.", "n>5", "n>5", false},
		"Below":          {"Numbers are compared.", "n < 10", "n<10", true},
		"BelowText":      {"Text is not compared with a number.", "env<10", "env<10", false},
		"BelowAbsent":    {"A missing key is not compared with a number.", "gone<10", "gone<10", false},
		"And":            {"Terms are combined with AND.", "env=prod,tier=db", "env=prod,tier=db", true},
		"AndOne":         {"All terms must match.", "env=prod,tier=web", "env=prod,tier=web", false},
		"Order":          {"The canonical form is sorted and has no duplicates.", "tier, env=prod ,env==prod,!gone", "env=prod,!gone,tier", true},
		"Spaces":         {"White space is allowed between tokens.", "  env\tin\n( prod , dev ) , ! gone ,tier = db ", "env in (dev,prod),!gone,tier=db", true},
		"NoSpaces":       {"White space is not needed before a parenthesis.", "env in(prod,dev),tier notin(x)", "env in (dev,prod),tier!=x", true},
		"Upstream":       {"A key in the upstream vocabulary is translated.", "backstage.io/owner=team", "portal.io/owner=team", true},
		"UpstreamExcept": {"Exceptions of the vocabulary are translated.", "!backstage.io/kubernetes-id", "!portal.io/cluster-id", true},
		"KeyIn":          {"in and notin may be keys.", "in in (in),notin!=notin", "in=in,notin!=notin", false},
		"ValueIn":        {"in and notin may be values.", "env notin (in,notin)", "env notin (in,notin)", true},
		"Prefix":         {"Keys may have a prefix.", "!app.kubernetes.io/Name_x.y-z", "!app.kubernetes.io/Name_x.y-z", true},
		"Longest":        {"A value may have 63 characters.", "env!=" + strings.Repeat("x", 63), "env!=" + strings.Repeat("x", 63), true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, err := ParseSelector(tc.in)
			if err != nil {
				t.Fatalf("%s\n%v", tc.reason, err)
			}
			if got := s.String(); got != tc.want {
				t.Errorf("%s\nString is %q, want %q", tc.reason, got, tc.want)
			}
			if got := s.Matches(prod); got != tc.match {
				t.Errorf("%s\nMatches is %t, want %t", tc.reason, got, tc.match)
			}
			if got := s.Empty(); got != (tc.want == "") {
				t.Errorf("%s\nEmpty is %t", tc.reason, got)
			}
			again, err := ParseSelector(s.String())
			if err != nil {
				t.Fatalf("%s\ncannot parse the canonical form: %v", tc.reason, err)
			}
			if diff := cmp.Diff(s, again, cmp.AllowUnexported(Selector{}, term{})); diff != "" {
				t.Errorf("%s\ncanonical form after a round trip: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestSelectorErrors(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     string
		want   string
	}{
		"Sign":        {"A term begins with a key.", "=x", `column 1: expected a key, found "="`},
		"Comma":       {"A key must follow a comma.", "a,", "column 3: expected a key, found the end"},
		"Commas":      {"A key must be between two commas.", "a,,b", `column 3: expected a key, found ","`},
		"Leading":     {"A leading comma is refused.", ",a", `column 1: expected a key, found ","`},
		"Bang":        {"A key must follow an exclamation mark.", "a, !", "column 5: expected a key, found the end"},
		"Bangs":       {"A second exclamation mark is refused.", "!!a", `column 2: expected a key, found "!"`},
		"BangValue":   {"A term with an exclamation mark has no value.", "!a=b", `column 3: expected a comma or the end, found "="`},
		"Word":        {"An unknown operator is refused.", "a is b", `column 3: expected =, ==, !=, in, notin, < or >, found "is"`},
		"Split":       {"!= must not contain white space.", "a ! = b", `column 3: expected =, ==, !=, in, notin, < or >, found "!"`},
		"SplitEqual":  {"== must not contain white space.", "a = = b", `column 5: expected a value, found "="`},
		"Triple":      {"=== is not an operator.", "a===b", `column 4: expected a value, found "="`},
		"TwoValues":   {"= has one value.", "a=b c", `column 5: expected a comma or the end, found "c"`},
		"Open":        {"in needs an opening parenthesis.", "a in b", `column 6: expected an opening parenthesis, found "b"`},
		"OpenEnd":     {"in must not be the end of the selector.", "a in", "column 5: expected an opening parenthesis, found the end"},
		"Close":       {"in needs a closing parenthesis.", "a in (b, c", "column 11: expected a comma or a closing parenthesis, found the end"},
		"CloseOther":  {"Values must be separated by commas.", "a in (b c)", `column 9: expected a comma or a closing parenthesis, found "c"`},
		"None":        {"The parentheses must not be empty.", "a in ()", `column 7: expected a value, found ")"`},
		"Sign2":       {"An operator is not a value.", "a in (!b)", `column 7: expected a value, found "!"`},
		"After":       {"A comma or the end must follow the parentheses.", "a in (b) c", `column 10: expected a comma or the end, found "c"`},
		"Number":      {"Only numbers can be compared.", "a > b", `column 5: "b" is not a whole number`},
		"Key":         {"A key has only valid characters.", "a, b$c=d", `column 4: key "b$c" may hold only letters, digits, '-', '_' and '.'`},
		"KeyEdge":     {"A key begins with a letter or digit.", "-a", `column 1: key "-a" must begin and end with a letter or digit`},
		"KeyLong":     {"A key has at most 63 characters.", strings.Repeat("k", 64), `column 1: key "` + strings.Repeat("k", 64) + `" is 64 characters long, more than 63`},
		"KeyEmpty":    {"A key has at least one character after its prefix.", "a.io/=x", `column 1: key "a.io/" has an empty name`},
		"KeyPrefix":   {"A prefix must be a domain in lower case.", "A.io/x", `column 1: key "A.io/x" has a prefix that is not a domain name in lower case`},
		"KeyDots":     {"The domain of a prefix must not have empty labels.", "a..io/x", `column 1: key "a..io/x" has a prefix that is not a domain name in lower case`},
		"KeyNoPrefix": {"A slash needs a prefix.", "/x", `column 1: key "/x" needs a prefix of 1 to 253 characters before the slash`},
		"KeySlashes":  {"A key has at most one slash.", "a/b/c", `column 1: key "a/b/c" has more than one slash`},
		"Value":       {"A value has only valid characters.", "a=é", `column 3: value "é" may hold only letters, digits, '-', '_' and '.'`},
		"ValueEdge":   {"A value ends with a letter or digit.", "a=b.", `column 3: value "b." must begin and end with a letter or digit`},
		"ValueLong":   {"A key has at most 63 characters.", "a in (b," + strings.Repeat("v", 64) + ")", `column 9: value "` + strings.Repeat("v", 64) + `" is 64 characters long, more than 63`},
		"Column":      {"Columns are counted in characters.", "é=x", `column 1: key "é" may hold only letters, digits, '-', '_' and '.'`},
		"Kelvin":      {"A non-ASCII letter that folds to ASCII is refused.", "a=\u212A", "column 3: value \"\u212A\" may hold only letters, digits, '-', '_' and '.'"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := ParseSelector(tc.in)
			if err == nil {
				t.Fatalf("%s\nParseSelector(%q) returned no error", tc.reason, tc.in)
			}
			_, got, _ := strings.Cut(err.Error(), "\": ")
			if !strings.HasPrefix(err.Error(), "cannot read selector \"") || got != tc.want {
				t.Errorf("%s\nParseSelector(%q) returned\n%v, want\n%s", tc.reason, tc.in, err, tc.want)
			}
		})
	}
}

func TestAnnotationSelector(t *testing.T) {
	set := map[string]string{"portal.io/template-title": "A (small) database!", "url": "https://x.io/?a=b", "eq": "=x", "list": "a,b"}
	cases := map[string]struct {
		reason string
		in     string
		want   string
		match  bool
	}{
		"Text":     {"A value is free text.", "portal.io/template-title=A (small) database!", "portal.io/template-title=A (small) database!", true},
		"Trimmed":  {"White space around a value is removed.", " url = https://x.io/?a=b , eq", "eq,url=https://x.io/?a=b", true},
		"Upstream": {"Keys are translated.", "backstage.io/template-title!=x", "portal.io/template-title!=x", true},
		"Set":      {"in accepts several values in parentheses.", "url in (x y, https://x.io/?a=b)", "url in (https://x.io/?a=b,x y)", true},
		"NotSet":   {"notin accepts several values in parentheses.", "gone notin (x y, z)", "gone notin (x y,z)", true},
		"Comma":    {"A comma ends a value.", "list=a,eq", "eq,list=a", false},
		"Equals":   {"A value may begin with an equals sign.", "eq= =x", "eq===x", true},
		"Unequals": {"A value after != may begin with an equals sign.", "eq!==x", "eq!==x", false},
		"Quotes":   {"Quotes have no meaning.", `url="https://x.io/?a=b"`, `url="https://x.io/?a=b"`, false},
		"Exists":   {"Existence is checked as for labels.", "url,!gone", "!gone,url", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, err := ParseAnnotationSelector(tc.in)
			if err != nil {
				t.Fatalf("%s\n%v", tc.reason, err)
			}
			if got := s.String(); got != tc.want {
				t.Errorf("%s\nString is %q, want %q", tc.reason, got, tc.want)
			}
			if got := s.Matches(set); got != tc.match {
				t.Errorf("%s\nMatches is %t, want %t", tc.reason, got, tc.match)
			}
		})
	}
	for _, in := range []string{"a b=c", "a in (b", "a in ()", "=x", "a>b", "$=x"} {
		if _, err := ParseAnnotationSelector(in); err == nil {
			t.Errorf("ParseAnnotationSelector(%q) returned no error", in)
		}
	}
}

func FuzzSelector(f *testing.F) {
	for _, s := range []string{
		"", "a", "!a", "a=b", "a==b", "a!=b", "a in (b,c)", "a notin (b)", "a>1,b<2", "a=,b in (,)", " a = b , ! c ",
		"backstage.io/owner=x", "a===b", "a= =b", "a in (=,b )", "a!=)", "a in ((,b)", "é=1", "a=\xff", "a in (b", "a,,",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		for how, parse := range map[string]func(string) (Selector, error){"labels": ParseSelector, "annotations": ParseAnnotationSelector} {
			s, err := parse(in)
			if err != nil {
				if !strings.HasPrefix(err.Error(), "cannot read selector ") || !strings.Contains(err.Error(), "column ") {
					t.Errorf("%s: error %q has no position", how, err)
				}
				continue
			}
			s.Matches(nil)
			s.Matches(map[string]string{"a": "b"})
			again, err := parse(s.String())
			if err != nil {
				t.Fatalf("%s: %q becomes %q, which cannot be parsed: %v", how, in, s, err)
			}
			if diff := cmp.Diff(s, again, cmp.AllowUnexported(Selector{}, term{})); diff != "" {
				t.Errorf("%s: %q becomes %q, which has another meaning: -want, +got:\n%s", how, in, s, diff)
			}
		}
	})
}

func TestSelectorAnd(t *testing.T) {
	cases := map[string]struct {
		reason     string
		a, b, want string
	}{
		"Both":    {"The terms of both selectors are combined.", "env=prod", "tier=db", "env=prod,tier=db"},
		"Order":   {"The combined terms are sorted and have no duplicates.", "tier=db,env", "env,!gone", "env,!gone,tier=db"},
		"Left":    {"An empty second selector adds nothing.", "env=prod", "", "env=prod"},
		"Right":   {"An empty first selector adds nothing.", "", "env=prod", "env=prod"},
		"Neither": {"Two empty selectors are empty.", "", "", ""},
		"Never":   {"Contradicting terms are kept.", "env=prod", "env=dev", "env=dev,env=prod"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a, errA := ParseSelector(tc.a)
			b, errB := ParseSelector(tc.b)
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			before := a.String()
			if got := a.And(b).String(); got != tc.want || a.String() != before {
				t.Errorf("%s\n%q and %q is %q, want %q", tc.reason, tc.a, tc.b, got, tc.want)
			}
		})
	}
}
