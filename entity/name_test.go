package entity

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestName(t *testing.T) {
	long := strings.Repeat("a", 70)
	cases := map[string]struct {
		reason  string
		in      string
		want    string
		changed bool
	}{
		"valid":       {"a valid name is kept", "databases.platform.io", "databases.platform.io", false},
		"63":          {"the bound itself is allowed", long[:63], long[:63], false},
		"replaced":    {"what is not allowed becomes one dash", "my  db!", "my-db-ba180137", true},
		"trimmed":     {"separators at the ends go", "-_.a.", "a-72b1ecaa", true},
		"too long":    {"the hash stands at the end", long, long[:54] + "-6bd5e503", true},
		"cut at mark": {"no separator is left before the hash", long[:53] + "._" + long, long[:53] + "-714bb52b", true},
		"empty":       {"nothing has a name too", "", "unnamed-e3b0c442", true},
		"only marks":  {"nothing left has a name too", "--", "unnamed-d8156bae", true},
		"not ascii":   {"other letters are not allowed", "größe", "gr-e-d353a267", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, changed := Name(tc.in)
			if got != tc.want || changed != tc.changed {
				t.Errorf("%s: got %q %v, want %q %v", tc.reason, got, changed, tc.want, tc.changed)
			}
		})
	}
}

func TestNameWithSuffix(t *testing.T) {
	long := strings.Repeat("a", 70)
	cases := map[string]struct {
		reason       string
		base, suffix string
		want         string
		changed      bool
	}{
		"fits":         {"a valid whole is kept", "databases", "-api", "databases-api", false},
		"just fits":    {"the bound itself is allowed", long[:59], "-api", long[:59] + "-api", false},
		"too long":     {"the suffix stays whole", long[:60], "-api", long[:50] + "-11ee3912-api", true},
		"bad base":     {"the hash stands before the suffix", "my db", "-composition", "my-db-7db90c8c-composition", true},
		"empty base":   {"a suffix alone is no name", "", "-xrd", "unnamed-e3b0c442-xrd", true},
		"bad suffix":   {"a suffix no name can end with is part of the base", "a", "-b!", "a-b-b7a24240", true},
		"long suffix":  {"a suffix too long to keep is part of the base", "a", long, "a" + long[:53] + "-eefa4cfb", true},
		"empty suffix": {"without a suffix it is Name", "a b", "", "a-b-c8687a08", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, changed := NameWithSuffix(tc.base, tc.suffix)
			if got != tc.want || changed != tc.changed {
				t.Errorf("%s: got %q %v, want %q %v", tc.reason, got, changed, tc.want, tc.changed)
			}
		})
	}
}

func TestNamespace(t *testing.T) {
	long := strings.Repeat("a", 70)
	cases := map[string]struct {
		reason  string
		in      string
		want    string
		changed bool
	}{
		"valid":      {"a valid namespace is kept", "team--a", "team--a", false},
		"empty":      {"empty means the default, which is no change", "", "default", false},
		"upper case": {"case alone needs no hash", "Team-A", "team-a", true},
		"dots":       {"dots are not allowed", "team.a", "team-a-dc627329", true},
		"too long":   {"the hash stands at the end", long, long[:54] + "-6bd5e503", true},
		"only marks": {"nothing left has a name too", "..", "unnamed-5ec1f7e7", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, changed := Namespace(tc.in)
			if got != tc.want || changed != tc.changed {
				t.Errorf("%s: got %q %v, want %q %v", tc.reason, got, changed, tc.want, tc.changed)
			}
		})
	}
}

func TestTag(t *testing.T) {
	long := strings.Repeat("a", 62)
	cases := map[string]struct {
		reason string
		in     string
		want   string
		ok     bool
	}{
		"valid":       {"a valid tag is kept", "source:composer-ingestor", "source:composer-ingestor", true},
		"signs":       {"plus and number signs are allowed", "C++ C#", "c++-c#", true},
		"upper case":  {"tags are lower case", "AWS", "aws", true},
		"dots":        {"dots become dashes", "platform.io", "platform-io", true},
		"dashes":      {"dashes are single", "a--_-b", "a-b", true},
		"ends":        {"dashes at the ends go", " a ", "a", true},
		"too long":    {"it is cut", long + "aaa", long + "a", true},
		"cut at dash": {"no dash is left at the end", long + "-b", long, true},
		"nothing":     {"nothing is left", " .é ", "", false},
		"empty":       {"nothing was there", "", "", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok := Tag(tc.in)
			if got != tc.want || ok != tc.ok {
				t.Errorf("%s: got %q %v, want %q %v", tc.reason, got, ok, tc.want, tc.ok)
			}
		})
	}
}

func TestTags(t *testing.T) {
	got := Tags([]string{"composer", "source:x", "Composer"}, []string{"z", "A.b", "composer", "", "a-b", "c"})
	want := []string{"composer", "source:x", "a-b", "c", "z"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want the first tags in order, the others sorted, and no duplicates: -want +got:\n%s", diff)
	}
	if got := Tags(nil, []string{"--"}); got != nil {
		t.Errorf("tags are %q, want none", got)
	}
}

func TestLabelValue(t *testing.T) {
	cases := map[string]struct {
		reason  string
		want    string
		changed bool
	}{
		"":      {"an empty value is valid", "", false},
		"1.2.3": {"a valid value is kept", "1.2.3", false},
		"1.2+3": {"a value is repaired, not dropped", "1.2-3-db5ecfb5", true},
	}
	for in, tc := range cases {
		if got, changed := LabelValue(in); got != tc.want || changed != tc.changed {
			t.Errorf("%s: got %q %v, want %q %v", tc.reason, got, changed, tc.want, tc.changed)
		}
	}
}

// TestRepairIsAccepted checks that Check accepts every repaired name, and that
// repairing it again changes nothing.
func TestRepairIsAccepted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyText().Draw(t, "s")
		suffix := rapid.SampledFrom([]string{"", "-api", "-xrd", "-composition", "-v1alpha1", "-v1!"}).Draw(t, "suffix")
		name, changed := NameWithSuffix(s, suffix)
		if changed == (name == s+suffix) {
			t.Fatalf("%q became %q, changed %v", s+suffix, name, changed)
		}
		if allIn(suffix, nameByte) && !strings.HasSuffix(name, suffix) {
			t.Fatalf("%q lost its suffix %q: %q", s, suffix, name)
		}
		if again, _ := NameWithSuffix(s, suffix); again != name {
			t.Fatalf("%q became %q, then %q", s, name, again)
		}
		if again, changed := Name(name); again != name || changed {
			t.Fatalf("%q was repaired again: %q", name, again)
		}
		e := goodEntity(KindTemplate)
		e.Metadata.Name = name
		e.Metadata.Namespace, _ = Namespace(s)
		value, _ := LabelValue(s)
		e.Metadata.Labels = map[string]string{"example.dev/a": value}
		e.Metadata.Tags = Tags([]string{s}, []string{suffix})
		if got := Check(e); len(got) != 0 {
			t.Fatalf("%q was not repaired: %v", s, got)
		}
	})
}

func TestDifferentNamesStayDifferent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := anyText().Draw(t, "a")
		// Similar names are the most likely to clash.
		b := rapid.OneOf(
			anyText(),
			rapid.Just(a+"-"),
			rapid.Just("-"+a),
			rapid.Just(a+"a"),
			rapid.Just(strings.ReplaceAll(a, " ", "-")),
			rapid.Just(strings.ReplaceAll(a, "é", "_")),
			rapid.Just(strings.ToUpper(a)),
		).Draw(t, "b")
		if a == b {
			return
		}
		suffix := rapid.SampledFrom([]string{"", "-api", "-xrd"}).Draw(t, "suffix")
		nameA, _ := NameWithSuffix(a, suffix)
		nameB, _ := NameWithSuffix(b, suffix)
		if nameA == nameB {
			t.Fatalf("%q and %q both became %q", a, b, nameA)
		}
		if lowerASCII(a) == lowerASCII(b) || a == "" || b == "" {
			return
		}
		spaceA, _ := Namespace(a)
		spaceB, _ := Namespace(b)
		if spaceA == spaceB {
			t.Fatalf("%q and %q both became namespace %q", a, b, spaceA)
		}
	})
}

func FuzzName(f *testing.F) {
	for _, s := range []string{"", "a", "databases.platform.io", "my db", "-a-", "größe", "\xff\xfe", strings.Repeat("a.", 40)} {
		f.Add(s, "-api")
	}
	f.Fuzz(func(t *testing.T, s, suffix string) {
		for _, n := range []func() (string, bool){
			func() (string, bool) { return Name(s) },
			func() (string, bool) { return NameWithSuffix(s, suffix) },
		} {
			name, _ := n()
			if !isName(name) {
				t.Errorf("%q, %q became %q, which is not a valid name", s, suffix, name)
			}
			if again, _ := n(); again != name {
				t.Errorf("%q, %q became %q, then %q", s, suffix, name, again)
			}
		}
		if n, _ := Namespace(s); !isNamespace(n) {
			t.Errorf("%q became %q, which is not a valid namespace", s, n)
		}
		if tag, ok := Tag(s); ok != isTag(tag) {
			t.Errorf("%q became %q, %v", s, tag, ok)
		}
	})
}
