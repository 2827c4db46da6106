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
		"Empty":          {"Nothing asked chooses everything.", "", "", true},
		"Blank":          {"White space asks nothing.", " \t\n", "", true},
		"Equal":          {"One sign.", "env=prod", "env=prod", true},
		"EqualOther":     {"Another value.", "env=dev", "env=dev", false},
		"EqualAbsent":    {"A key that is not there has no value.", "gone=x", "gone=x", false},
		"Double":         {"Two signs are one.", "env==prod", "env=prod", true},
		"Not":            {"The value is another.", "env!=dev", "env!=dev", true},
		"NotSame":        {"The value is the same.", "env!=prod", "env!=prod", false},
		"NotAbsent":      {"As in Kubernetes, no value is another value.", "gone!=x", "gone!=x", true},
		"In":             {"One of several.", "env in (prod,dev)", "env in (dev,prod)", true},
		"InOther":        {"None of several.", "env in (dev,test)", "env in (dev,test)", false},
		"InAbsent":       {"No value is none of several.", "gone in (a,b)", "gone in (a,b)", false},
		"InOne":          {"One of one is equal.", "env in (prod)", "env=prod", true},
		"InTwice":        {"Values count once.", "env in (prod, prod)", "env=prod", true},
		"InEmpty":        {"Between commas stands the empty value.", "empty in (,a)", "empty in (,a)", true},
		"InEmptyLast":    {"At the end too.", "empty in (a,)", "empty in (,a)", true},
		"InComma":        {"A comma alone is the empty value.", "empty in (,)", "empty=", true},
		"NotIn":          {"None of several.", "env notin (dev, test)", "env notin (dev,test)", true},
		"NotInSame":      {"One of several.", "env notin (prod,test)", "env notin (prod,test)", false},
		"NotInAbsent":    {"As in Kubernetes, no value is none of them.", "gone notin (a,b)", "gone notin (a,b)", true},
		"NotInOne":       {"None of one is unequal.", "env notin (prod)", "env!=prod", false},
		"Exists":         {"The key is there.", "env", "env", true},
		"ExistsEmpty":    {"An empty value is there too.", "empty", "empty", true},
		"ExistsAbsent":   {"The key is not there.", "gone", "gone", false},
		"Absent":         {"The key must not be there.", "!gone", "!gone", true},
		"AbsentPresent":  {"But it is.", "!env", "!env", false},
		"EmptyValue":     {"No value is the empty one.", "empty=", "empty=", true},
		"EmptyThen":      {"Also before a comma.", "empty=,env=prod", "empty=,env=prod", true},
		"NotEmpty":       {"And with the other sign.", "empty!=", "empty!=", false},
		"Above":          {"Numbers are compared.", "n>4", "n>4", true},
		"AboveNot":       {"A number is not above itself.", "n>5", "n>5", false},
		"Below":          {"Numbers are compared.", "n < 10", "n<10", true},
		"BelowText":      {"Text is no number.", "env<10", "env<10", false},
		"BelowAbsent":    {"Nor is nothing.", "gone<10", "gone<10", false},
		"And":            {"A comma means and.", "env=prod,tier=db", "env=prod,tier=db", true},
		"AndOne":         {"All must hold.", "env=prod,tier=web", "env=prod,tier=web", false},
		"Order":          {"The canonical form is in order and says nothing twice.", "tier, env=prod ,env==prod,!gone", "env=prod,!gone,tier", true},
		"Spaces":         {"White space may stand between words.", "  env\tin\n( prod , dev ) , ! gone ,tier = db ", "env in (dev,prod),!gone,tier=db", true},
		"NoSpaces":       {"And need not where a sign parts them.", "env in(prod,dev),tier notin(x)", "env in (dev,prod),tier!=x", true},
		"Upstream":       {"A key in upstream words means the contract's.", "backstage.io/owner=team", "portal.io/owner=team", true},
		"UpstreamExcept": {"With its exceptions.", "!backstage.io/kubernetes-id", "!portal.io/cluster-id", true},
		"KeyIn":          {"The words are keys where a key stands.", "in in (in),notin!=notin", "in=in,notin!=notin", false},
		"ValueIn":        {"And values where a value stands.", "env notin (in,notin)", "env notin (in,notin)", true},
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
		"Sign":        {"A key comes first.", "=x", `column 1: expected a key, found "="`},
		"Comma":       {"Also after a comma.", "a,", "column 3: expected a key, found the end"},
		"Commas":      {"And between two.", "a,,b", `column 3: expected a key, found ","`},
		"Leading":     {"Not before the first.", ",a", `column 1: expected a key, found ","`},
		"Bang":        {"And after an exclamation mark.", "a, !", "column 5: expected a key, found the end"},
		"Bangs":       {"One is enough.", "!!a", `column 2: expected a key, found "!"`},
		"BangValue":   {"A key that is absent has no value.", "!a=b", `column 3: expected a comma or the end, found "="`},
		"Word":        {"Other words are no operators.", "a is b", `column 3: expected =, ==, !=, in, notin, < or >, found "is"`},
		"Split":       {"A sign is not parted.", "a ! = b", `column 3: expected =, ==, !=, in, notin, < or >, found "!"`},
		"SplitEqual":  {"Nor this one.", "a = = b", `column 5: expected a value, found "="`},
		"Triple":      {"There is no third sign.", "a===b", `column 4: expected a value, found "="`},
		"TwoValues":   {"One value for one sign.", "a=b c", `column 5: expected a comma or the end, found "c"`},
		"Open":        {"Several stand in parentheses.", "a in b", `column 6: expected an opening parenthesis, found "b"`},
		"OpenEnd":     {"Which must be there.", "a in", "column 5: expected an opening parenthesis, found the end"},
		"Close":       {"And be closed.", "a in (b, c", "column 11: expected a comma or a closing parenthesis, found the end"},
		"CloseOther":  {"Before anything else.", "a in (b c)", `column 9: expected a comma or a closing parenthesis, found "c"`},
		"None":        {"And hold something.", "a in ()", `column 7: expected a value, found ")"`},
		"Sign2":       {"A sign is no value.", "a in (!b)", `column 7: expected a value, found "!"`},
		"After":       {"Nothing stands after them.", "a in (b) c", `column 10: expected a comma or the end, found "c"`},
		"Number":      {"Only numbers are compared.", "a > b", `column 5: "b" is not a whole number`},
		"Key":         {"Keys are names.", "a, b$c=d", `column 4: key "b$c" may hold only letters, digits, '-', '_' and '.'`},
		"KeyEdge":     {"That begin with a letter or digit.", "-a", `column 1: key "-a" must begin and end with a letter or digit`},
		"KeyLong":     {"Of at most 63 characters.", strings.Repeat("k", 64), `column 1: key "` + strings.Repeat("k", 64) + `" is 64 characters long, more than 63`},
		"KeyEmpty":    {"And at least one.", "a.io/=x", `column 1: key "a.io/" has an empty name`},
		"KeyPrefix":   {"A prefix is a domain.", "A.io/x", `column 1: key "A.io/x" has a prefix that is not a domain name in lower case`},
		"KeyDots":     {"Without gaps.", "a..io/x", `column 1: key "a..io/x" has a prefix that is not a domain name in lower case`},
		"KeyNoPrefix": {"If there is a slash.", "/x", `column 1: key "/x" needs a prefix of 1 to 253 characters before the slash`},
		"KeySlashes":  {"And only one.", "a/b/c", `column 1: key "a/b/c" has more than one slash`},
		"Value":       {"Values are names too.", "a=é", `column 3: value "é" may hold only letters, digits, '-', '_' and '.'`},
		"ValueEdge":   {"That end with a letter or digit.", "a=b.", `column 3: value "b." must begin and end with a letter or digit`},
		"ValueLong":   {"Of at most 63 characters.", "a in (b," + strings.Repeat("v", 64) + ")", `column 9: value "` + strings.Repeat("v", 64) + `" is 64 characters long, more than 63`},
		"Column":      {"Columns are counted in characters.", "é=x", `column 1: key "é" may hold only letters, digits, '-', '_' and '.'`},
		"Kelvin":      {"A letter that only looks like one is not.", "a=\u212A", "column 3: value \"\u212A\" may hold only letters, digits, '-', '_' and '.'"},
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
		"Trimmed":  {"White space around it does not count.", " url = https://x.io/?a=b , eq", "eq,url=https://x.io/?a=b", true},
		"Upstream": {"Keys are translated.", "backstage.io/template-title!=x", "portal.io/template-title!=x", true},
		"Set":      {"Several values in parentheses.", "url in (x y, https://x.io/?a=b)", "url in (https://x.io/?a=b,x y)", true},
		"NotSet":   {"Also negated.", "gone notin (x y, z)", "gone notin (x y,z)", true},
		"Comma":    {"A comma ends a value.", "list=a,eq", "eq,list=a", false},
		"Equals":   {"A value may begin with the sign.", "eq= =x", "eq===x", true},
		"Unequals": {"Whichever.", "eq!==x", "eq!==x", false},
		"Quotes":   {"Quotes have no meaning.", `url="https://x.io/?a=b"`, `url="https://x.io/?a=b"`, false},
		"Exists":   {"The other forms are as with labels.", "url,!gone", "!gone,url", true},
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
		"Both":    {"All terms must hold.", "env=prod", "tier=db", "env=prod,tier=db"},
		"Order":   {"In order, and nothing twice.", "tier=db,env", "env,!gone", "env,!gone,tier=db"},
		"Left":    {"Nothing asks nothing.", "env=prod", "", "env=prod"},
		"Right":   {"On either side.", "", "env=prod", "env=prod"},
		"Neither": {"Or on both.", "", "", ""},
		"Never":   {"What excludes itself chooses nothing.", "env=prod", "env=dev", "env=dev,env=prod"},
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
