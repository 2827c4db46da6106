package query

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.dev/ingestor/internal/catalog/store"
)

var testKey = []byte("0123456789abcdef0123456789abcdef")

// place is a value to seal.
type place struct {
	Filter []string        `json:"filter,omitempty"`
	At     *store.Position `json:"at"`
	Back   bool            `json:"back,omitempty"`
	Total  int             `json:"total"`
}

func TestSeal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOf(rapid.Ptr(rapid.String(), true)).Draw(t, "values")
		want := place{
			Filter: rapid.SliceOfN(rapid.String(), 1, 3).Draw(t, "filter"),
			At:     &store.Position{Values: values, Ref: rapid.String().Draw(t, "ref")},
			Back:   rapid.Bool().Draw(t, "back"),
			Total:  rapid.IntRange(-1, 1000).Draw(t, "total"),
		}
		text, err := Seal(testKey, "query", want)
		if err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(text, "+/-_=%") {
			t.Fatalf("%q is encoded differently in some base64 alphabets", text)
		}
		if !Sealed(text) {
			t.Fatalf("%q is not recognized as sealed", text)
		}
		var got place
		if err := Unseal(testKey, "query", text, &got); err != nil {
			t.Fatalf("Unseal(%q) returned %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("cursor differs after a round trip: -want +got:\n%s", diff)
		}
		i := rapid.IntRange(0, len(text)-1).Draw(t, "at")
		changed := text[:i] + string(rapid.SampledFrom([]byte("ABCDEFGHabcdefgh0189")).Draw(t, "letter")) + text[i+1:]
		if changed != text && sameBytes(changed, text) {
			return
		}
		if err := Unseal(testKey, "query", changed, &got); changed != text && !errors.Is(err, ErrSeal) {
			t.Fatalf("changed cursor was accepted: %v", err)
		}
	})
}

// sameBytes reports whether two texts differ only in bits that base64 does not
// use.
func sameBytes(a, b string) bool {
	x, errX := base64.RawURLEncoding.DecodeString(a)
	y, errY := base64.RawURLEncoding.DecodeString(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

func TestUnseal(t *testing.T) {
	text, err := Seal(testKey, "query", place{Total: 7})
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := Seal([]byte("another key"), "query", place{Total: 7})
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason, text, purpose string
		// sealed reports whether it is recognized as sealed.
		sealed bool
	}{
		"Empty":     {reason: "An empty text is refused.", text: ""},
		"Garbage":   {reason: "A random text is refused.", text: "garbage"},
		"NoBase64":  {reason: "A text that is not base64 is refused.", text: "%%%"},
		"Truncated": {reason: "A truncated cursor is refused.", text: text[:len(text)-4], sealed: true},
		"Longer":    {reason: "A cursor with appended data is refused.", text: text + "AAAA", sealed: true},
		"Foreign":   {reason: "A cursor sealed with another key is refused.", text: stranger, sealed: true},
		"Purpose":   {reason: "A cursor for another purpose is refused.", text: text, purpose: "after", sealed: true},
		"Theirs":    {reason: "A cursor of Backstage is refused.", text: base64.StdEncoding.EncodeToString([]byte(`{"limit":2,"offset":2}`))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			purpose := tc.purpose
			if purpose == "" {
				purpose = "query"
			}
			var got place
			if err := Unseal(testKey, purpose, tc.text, &got); !errors.Is(err, ErrSeal) {
				t.Errorf("%s\nUnseal(%q) returned %v, want %v", tc.reason, tc.text, err, ErrSeal)
			}
			if got := Sealed(tc.text); got != tc.sealed {
				t.Errorf("%s\nSealed(%q) = %t", tc.reason, tc.text, got)
			}
		})
	}
}

// FuzzUnseal unseals any text without a panic, and accepts none.
func FuzzUnseal(f *testing.F) {
	text, err := Seal(testKey, "other", place{})
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{"", "xx", text, base64.RawURLEncoding.EncodeToString([]byte(sealBegin))} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var got place
		if err := Unseal(testKey, "query", s, &got); !errors.Is(err, ErrSeal) {
			t.Errorf("Unseal(%q) returned %v, want ErrSeal", s, err)
		}
	})
}
