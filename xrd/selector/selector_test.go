package selector

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
		"Equal":          {"One sign compares for equality.", "env=prod", "env=prod", true},
		"EqualOther":     {"A different value does not match.", "env=dev", "env=dev", false},
		"EqualAbsent":    {"A missing key does not equal a value.", "gone=x", "gone=x", false},
		"Double":         {"Two signs mean the same as one.", "env==prod", "env=prod", true},
		"Not":            {"An inequality matches a different value.", "env!=dev", "env!=dev", true},
		"NotSame":        {"An inequality does not match the same value.", "env!=prod", "env!=prod", false},
		"NotAbsent":      {"As in Kubernetes, an inequality matches a missing key.", "gone!=x", "gone!=x", true},
		"In":             {"A value may be one of a set.", "env in (prod,dev)", "env in (dev,prod)", true},
		"InOther":        {"A value outside of the set does not match.", "env in (dev,test)", "env in (dev,test)", false},
		"InAbsent":       {"A missing key is not in a set.", "gone in (a,b)", "gone in (a,b)", false},
		"InOne":          {"A set of one value is an equality.", "env in (prod)", "env=prod", true},
		"InTwice":        {"Duplicate values are removed.", "env in (prod, prod)", "env=prod", true},
		"InEmpty":        {"An empty element of a set is the empty value.", "empty in (,a)", "empty in (,a)", true},
		"InEmptyLast":    {"An empty last element is the empty value too.", "empty in (a,)", "empty in (,a)", true},
		"InComma":        {"A comma alone is the empty value.", "empty in (,)", "empty=", true},
		"NotIn":          {"A value outside of the excluded set matches.", "env notin (dev, test)", "env notin (dev,test)", true},
		"NotInSame":      {"A value of the excluded set does not match.", "env notin (prod,test)", "env notin (prod,test)", false},
		"NotInAbsent":    {"As in Kubernetes, notin matches a missing key.", "gone notin (a,b)", "gone notin (a,b)", true},
		"NotInOne":       {"An excluded set of one value is an inequality.", "env notin (prod)", "env!=prod", false},
		"Exists":         {"A key alone matches if it is present.", "env", "env", true},
		"ExistsEmpty":    {"A key with an empty value is present.", "empty", "empty", true},
		"ExistsAbsent":   {"A key alone does not match if it is missing.", "gone", "gone", false},
		"Absent":         {"An exclamation mark matches a missing key.", "!gone", "!gone", true},
		"AbsentPresent":  {"An exclamation mark does not match a present key.", "!env", "!env", false},
		"EmptyValue":     {"A missing value is the empty value.", "empty=", "empty=", true},
		"EmptyThen":      {"A missing value before a comma is the empty value.", "empty=,env=prod", "empty=,env=prod", true},
		"NotEmpty":       {"A missing value after != is the empty value.", "empty!=", "empty!=", false},
		"Above":          {"Numbers are compared.", "n>4", "n>4", true},
		"AboveNot":       {"A number is not above itself.", "n>5", "n>5", false},
		"Below":          {"Numbers are compared.", "n < 10", "n<10", true},
		"BelowText":      {"A text does not match a numeric comparison.", "env<10", "env<10", false},
		"BelowAbsent":    {"A missing key does not match a numeric comparison.", "gone<10", "gone<10", false},
		"And":            {"Terms separated by commas are combined with and.", "env=prod,tier=db", "env=prod,tier=db", true},
		"AndOne":         {"All terms must hold.", "env=prod,tier=web", "env=prod,tier=web", false},
		"Order":          {"The canonical form is sorted and without duplicates.", "tier, env=prod ,env==prod,!gone", "env=prod,!gone,tier", true},
		"Spaces":         {"White space may separate words.", "  env\tin\n( prod , dev ) , ! gone ,tier = db ", "env in (dev,prod),!gone,tier=db", true},
		"NoSpaces":       {"White space is optional where a sign separates words.", "env in(prod,dev),tier notin(x)", "env in (dev,prod),tier!=x", true},
		"Upstream":       {"A key in the upstream vocabulary is translated into the contract's.", "backstage.io/owner=team", "portal.io/owner=team", true},
		"UpstreamExcept": {"Keys that are translated as exceptions are translated too.", "!backstage.io/kubernetes-id", "!portal.io/cluster-id", true},
		"KeyIn":          {"The operators in and notin are keys at the position of a key.", "in in (in),notin!=notin", "in=in,notin!=notin", false},
		"ValueIn":        {"The operators in and notin are values at the position of a value.", "env notin (in,notin)", "env notin (in,notin)", true},
		"Prefix":         {"Keys may have a prefix.", "!app.kubernetes.io/Name_x.y-z", "!app.kubernetes.io/Name_x.y-z", true},
		"Longest":        {"A value may have 63 characters.", "env!=" + strings.Repeat("x", 63), "env!=" + strings.Repeat("x", 63), true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, err := Parse(tc.in)
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
			again, err := Parse(s.String())
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
		"Comma":       {"A key follows a comma.", "a,", "column 3: expected a key, found the end"},
		"Commas":      {"A key separates two commas.", "a,,b", `column 3: expected a key, found ","`},
		"Leading":     {"A selector does not begin with a comma.", ",a", `column 1: expected a key, found ","`},
		"Bang":        {"A key follows an exclamation mark.", "a, !", "column 5: expected a key, found the end"},
		"Bangs":       {"An exclamation mark is not repeated.", "!!a", `column 2: expected a key, found "!"`},
		"BangValue":   {"An absent key has no value.", "!a=b", `column 3: expected a comma or the end, found "="`},
		"Word":        {"Other words are not operators.", "a is b", `column 3: expected =, ==, !=, in, notin, < or >, found "is"`},
		"Split":       {"The sign != is not split.", "a ! = b", `column 3: expected =, ==, !=, in, notin, < or >, found "!"`},
		"SplitEqual":  {"The sign == is not split.", "a = = b", `column 5: expected a value, found "="`},
		"Triple":      {"The sign === does not exist.", "a===b", `column 4: expected a value, found "="`},
		"TwoValues":   {"A sign has one value.", "a=b c", `column 5: expected a comma or the end, found "c"`},
		"Open":        {"A set is in parentheses.", "a in b", `column 6: expected an opening parenthesis, found "b"`},
		"OpenEnd":     {"The opening parenthesis is required.", "a in", "column 5: expected an opening parenthesis, found the end"},
		"Close":       {"The closing parenthesis is required.", "a in (b, c", "column 11: expected a comma or a closing parenthesis, found the end"},
		"CloseOther":  {"Values of a set are separated by commas.", "a in (b c)", `column 9: expected a comma or a closing parenthesis, found "c"`},
		"None":        {"A set is not empty.", "a in ()", `column 7: expected a value, found ")"`},
		"Sign2":       {"A sign is not a value.", "a in (!b)", `column 7: expected a value, found "!"`},
		"After":       {"A comma follows a set.", "a in (b) c", `column 10: expected a comma or the end, found "c"`},
		"Number":      {"Only numbers are compared.", "a > b", `column 5: "b" is not a whole number`},
		"Key":         {"A key is a name.", "a, b$c=d", `column 4: key "b$c" may hold only letters, digits, '-', '_' and '.'`},
		"KeyEdge":     {"A key begins with a letter or digit.", "-a", `column 1: key "-a" must begin and end with a letter or digit`},
		"KeyLong":     {"A key has at most 63 characters.", strings.Repeat("k", 64), `column 1: key "` + strings.Repeat("k", 64) + `" is 64 characters long, more than 63`},
		"KeyEmpty":    {"A key has a name after its prefix.", "a.io/=x", `column 1: key "a.io/" has an empty name`},
		"KeyPrefix":   {"The prefix of a key is a domain name.", "A.io/x", `column 1: key "A.io/x" has a prefix that is not a domain name in lower case`},
		"KeyDots":     {"The prefix of a key has no empty label.", "a..io/x", `column 1: key "a..io/x" has a prefix that is not a domain name in lower case`},
		"KeyNoPrefix": {"A key with a slash has a prefix.", "/x", `column 1: key "/x" needs a prefix of 1 to 253 characters before the slash`},
		"KeySlashes":  {"A key has at most one slash.", "a/b/c", `column 1: key "a/b/c" has more than one slash`},
		"Value":       {"A value consists of the characters of a name.", "a=é", `column 3: value "é" may hold only letters, digits, '-', '_' and '.'`},
		"ValueEdge":   {"A value ends with a letter or digit.", "a=b.", `column 3: value "b." must begin and end with a letter or digit`},
		"ValueLong":   {"A value has at most 63 characters.", "a in (b," + strings.Repeat("v", 64) + ")", `column 9: value "` + strings.Repeat("v", 64) + `" is 64 characters long, more than 63`},
		"Column":      {"Columns are counted in characters.", "é=x", `column 1: key "é" may hold only letters, digits, '-', '_' and '.'`},
		"Kelvin":      {"A character that resembles a letter is not a letter.", "a=\u212A", "column 3: value \"\u212A\" may hold only letters, digits, '-', '_' and '.'"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(tc.in)
			if err == nil {
				t.Fatalf("%s\nParse(%q) returned no error", tc.reason, tc.in)
			}
			_, got, _ := strings.Cut(err.Error(), "\": ")
			if !strings.HasPrefix(err.Error(), "cannot read selector \"") || got != tc.want {
				t.Errorf("%s\nParse(%q) returned\n%v, want\n%s", tc.reason, tc.in, err, tc.want)
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
		"Trimmed":  {"White space around a value is ignored.", " url = https://x.io/?a=b , eq", "eq,url=https://x.io/?a=b", true},
		"Upstream": {"Keys are translated.", "backstage.io/template-title!=x", "portal.io/template-title!=x", true},
		"Set":      {"A set of values is in parentheses.", "url in (x y, https://x.io/?a=b)", "url in (https://x.io/?a=b,x y)", true},
		"NotSet":   {"A set of values may be negated.", "gone notin (x y, z)", "gone notin (x y,z)", true},
		"Comma":    {"A comma ends a value.", "list=a,eq", "eq,list=a", false},
		"Equals":   {"A value may begin with an equals sign.", "eq= =x", "eq===x", true},
		"Unequals": {"A value after != may begin with an equals sign.", "eq!==x", "eq!==x", false},
		"Quotes":   {"Quotes have no meaning.", `url="https://x.io/?a=b"`, `url="https://x.io/?a=b"`, false},
		"Exists":   {"The other forms are as with labels.", "url,!gone", "!gone,url", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, err := ParseAnnotations(tc.in)
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
		if _, err := ParseAnnotations(in); err == nil {
			t.Errorf("ParseAnnotations(%q) returned no error", in)
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
		for how, parse := range map[string]func(string) (Selector, error){"labels": Parse, "annotations": ParseAnnotations} {
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
		"Both":    {"All terms must hold.", "env=prod", "tier=db", "env=prod,tier=db"},
		"Order":   {"The terms are sorted and without duplicates.", "tier=db,env", "env,!gone", "env,!gone,tier=db"},
		"Left":    {"An empty right selector adds no terms.", "env=prod", "", "env=prod"},
		"Right":   {"An empty left selector adds no terms.", "", "env=prod", "env=prod"},
		"Neither": {"Two empty selectors select everything.", "", "", ""},
		"Never":   {"Contradicting terms are kept and select nothing.", "env=prod", "env=dev", "env=dev,env=prod"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a, errA := Parse(tc.a)
			b, errB := Parse(tc.b)
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
