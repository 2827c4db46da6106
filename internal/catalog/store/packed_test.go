package store

import (
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.dev/ingestor/internal/db"
)

func TestPack(t *testing.T) {
	show := strings.NewReplacer(packedRecord, "|", packedUnit, ":", packedEnd, ";")
	cases := map[string]struct {
		reason string
		fields []stored
		want   string
	}{
		"None":     {"An entity may have no fields.", nil, ""},
		"Order":    {"Keys and values are sorted.", []stored{{2, "b", "B"}, {1, "x", ""}}, "|1:x;|2:b;B"},
		"Several":  {"The last of several values is repeated as the greatest.", []stored{{1, "b", ""}, {1, "c", "C"}, {1, "a", ""}}, "|1:a;|1:b;|1:c;C|+1:c;"},
		"Twice":    {"The first of two spellings counts.", []stored{{1, "a", "A"}, {1, "a", ""}}, "|1:a;A"},
		"NoValue":  {"A missing value differs from an empty one.", []stored{{1, noValue, ""}, {2, "", ""}}, "|-1:;|2:;"},
		"OneOfTwo": {"A missing value is not the greatest.", []stored{{1, noValue, ""}, {1, "a", ""}}, "|1:a;|-1:;"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			packed, _ := pack(tc.fields)
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
		fields := rapid.SliceOf(rapid.Custom(func(t *rapid.T) stored {
			f := stored{kid: rapid.Int64Range(1, 30).Draw(t, "kid")}
			if rapid.IntRange(0, 4).Draw(t, "valued") == 0 {
				f.value = noValue
				return f
			}
			f.value, f.original = text.Draw(t, "value"), text.Draw(t, "original")
			return f
		})).Draw(t, "fields")
		packed, want := pack(slices.Clone(fields))
		got := unpack(packed)
		if diff := gocmp.Diff(append([]stored{}, want...), got, gocmp.AllowUnexported(stored{})); diff != "" {
			t.Fatalf("-want +got:\n%s", diff)
		}
		for kid := range int64(31) {
			var values []string
			for _, f := range want {
				if f.kid != kid || f.value == noValue {
					continue
				}
				if f.original != "" {
					values = append(values, f.original)
				} else {
					values = append(values, f.value)
				}
			}
			if diff := gocmp.Diff(values, slices.Collect(valuesOf(packed, kid))); diff != "" {
				t.Fatalf("values of %d: -want +got:\n%s", kid, diff)
			}
		}
	})
}
