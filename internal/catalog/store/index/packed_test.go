package index

import (
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.dev/ingestor/internal/db"
)

func TestPack(t *testing.T) {
	show := strings.NewReplacer(packedRecord, "|", packedUnit, ":", ValueEnd, ";")
	cases := map[string]struct {
		reason string
		fields []Field
		want   string
	}{
		"None":     {"An entity may have no fields.", nil, ""},
		"Order":    {"Keys and values are sorted.", []Field{{2, "b", "B"}, {1, "x", ""}}, "|1:x;|2:b;B"},
		"Several":  {"The last of several values is repeated as the greatest.", []Field{{1, "b", ""}, {1, "c", "C"}, {1, "a", ""}}, "|1:a;|1:b;|1:c;C|+1:c;"},
		"Twice":    {"The first of two spellings counts.", []Field{{1, "a", "A"}, {1, "a", ""}}, "|1:a;A"},
		"NoValue":  {"A missing value differs from an empty one.", []Field{{1, NoValue, ""}, {2, "", ""}}, "|-1:;|2:;"},
		"OneOfTwo": {"A missing value is not the greatest.", []Field{{1, NoValue, ""}, {1, "a", ""}}, "|1:a;|-1:;"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			packed, _ := Pack(tc.fields)
			if diff := gocmp.Diff(tc.want, show.Replace(packed)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestUnpack checks that every set of fields is unpacked unchanged, and that the
// values of every key are found.
func TestUnpack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Map(rapid.StringN(0, 6, -1), db.Storable)
		fields := rapid.SliceOf(rapid.Custom(func(t *rapid.T) Field {
			f := Field{Kid: rapid.Int64Range(1, 30).Draw(t, "kid")}
			if rapid.IntRange(0, 4).Draw(t, "valued") == 0 {
				f.Value = NoValue
				return f
			}
			f.Value, f.Original = text.Draw(t, "value"), text.Draw(t, "original")
			return f
		})).Draw(t, "fields")
		packed, want := Pack(slices.Clone(fields))
		got := Unpack(packed)
		if diff := gocmp.Diff(append([]Field{}, want...), got, gocmp.AllowUnexported(Field{})); diff != "" {
			t.Fatalf("-want +got:\n%s", diff)
		}
		for kid := range int64(31) {
			var values []string
			for _, f := range want {
				if f.Kid != kid || f.Value == NoValue {
					continue
				}
				if f.Original != "" {
					values = append(values, f.Original)
				} else {
					values = append(values, f.Value)
				}
			}
			if diff := gocmp.Diff(values, originals(packed, kid)); diff != "" {
				t.Fatalf("values of %d: -want +got:\n%s", kid, diff)
			}
		}
	})
}

func originals(packed string, kid int64) (all []string) {
	for _, original := range Values(packed, kid) {
		all = append(all, original)
	}
	return all
}
