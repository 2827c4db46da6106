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
		"valid":       {"A valid name is kept.", "databases.platform.io", "databases.platform.io", false},
		"63":          {"A name of the maximum length is kept.", long[:63], long[:63], false},
		"replaced":    {"A run of invalid characters becomes one dash.", "my  db!", "my-db-ba180137", true},
		"trimmed":     {"Separators at the ends are removed.", "-_.a.", "a-72b1ecaa", true},
		"too long":    {"The hash is at the end.", long, long[:54] + "-6bd5e503", true},
		"cut at mark": {"The separator before the hash is removed.", long[:53] + "._" + long, long[:53] + "-714bb52b", true},
		"empty":       {"An empty name gets a default.", "", "unnamed-e3b0c442", true},
		"only marks":  {"A name without valid characters gets a default.", "--", "unnamed-d8156bae", true},
		"not ascii":   {"Non-ASCII letters are not allowed.", "größe", "gr-e-d353a267", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, changed := Name(tc.in)
			if got != tc.want || changed != tc.changed {
				t.Errorf("%s\ngot %q %v, want %q %v", tc.reason, got, changed, tc.want, tc.changed)
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
		"fits":         {"A valid name with a suffix is kept.", "databases", "-api", "databases-api", false},
		"just fits":    {"A name of the maximum length is kept.", long[:59], "-api", long[:59] + "-api", false},
		"too long":     {"The suffix is kept in full.", long[:60], "-api", long[:50] + "-11ee3912-api", true},
		"bad base":     {"The hash is before the suffix.", "my db", "-composition", "my-db-7db90c8c-composition", true},
		"empty base":   {"A suffix alone is not a name.", "", "-xrd", "unnamed-e3b0c442-xrd", true},
		"bad suffix":   {"An invalid suffix becomes part of the base.", "a", "-b!", "a-b-b7a24240", true},
		"long suffix":  {"A suffix that is too long becomes part of the base.", "a", long, "a" + long[:53] + "-eefa4cfb", true},
		"empty suffix": {"Without a suffix the result equals that of Name.", "a b", "", "a-b-c8687a08", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, changed := NameWithSuffix(tc.base, tc.suffix)
			if got != tc.want || changed != tc.changed {
				t.Errorf("%s\ngot %q %v, want %q %v", tc.reason, got, changed, tc.want, tc.changed)
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
		"valid":      {"A valid namespace is kept.", "team--a", "team--a", false},
		"empty":      {"An empty namespace means the default and is not a change.", "", "default", false},
		"upper case": {"A change of case needs no hash.", "Team-A", "team-a", true},
		"dots":       {"Dots are not allowed.", "team.a", "team-a-dc627329", true},
		"too long":   {"The hash is at the end.", long, long[:54] + "-6bd5e503", true},
		"only marks": {"A name without valid characters gets a default.", "..", "unnamed-5ec1f7e7", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, changed := Namespace(tc.in)
			if got != tc.want || changed != tc.changed {
				t.Errorf("%s\ngot %q %v, want %q %v", tc.reason, got, changed, tc.want, tc.changed)
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
		"valid":       {"A valid tag is kept.", "source:composer-ingestor", "source:composer-ingestor", true},
		"signs":       {"Plus and number signs are allowed.", "C++ C#", "c++-c#", true},
		"upper case":  {"Tags are in lower case.", "AWS", "aws", true},
		"dots":        {"Dots become dashes.", "platform.io", "platform-io", true},
		"dashes":      {"A run of dashes becomes one dash.", "a--_-b", "a-b", true},
		"ends":        {"Dashes at the ends are removed.", " a ", "a", true},
		"too long":    {"A tag that is too long is truncated.", long + "aaa", long + "a", true},
		"cut at dash": {"A dash at the end of a truncated tag is removed.", long + "-b", long, true},
		"nothing":     {"A tag without valid characters is dropped.", " .é ", "", false},
		"empty":       {"An empty tag is dropped.", "", "", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok := Tag(tc.in)
			if got != tc.want || ok != tc.ok {
				t.Errorf("%s\ngot %q %v, want %q %v", tc.reason, got, ok, tc.want, tc.ok)
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
		"":      {"An empty value is valid.", "", false},
		"1.2.3": {"A valid value is kept.", "1.2.3", false},
		"1.2+3": {"An invalid value is corrected, not dropped.", "1.2-3-db5ecfb5", true},
	}
	for in, tc := range cases {
		if got, changed := LabelValue(in); got != tc.want || changed != tc.changed {
			t.Errorf("%s\ngot %q %v, want %q %v", tc.reason, got, changed, tc.want, tc.changed)
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
