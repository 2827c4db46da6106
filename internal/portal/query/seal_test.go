package catalog

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.dev/ingestor/internal/store"
)

// sealing returns a catalog that can sign, and nothing else.
func sealing() *Catalog {
	c := &Catalog{}
	key := []byte("0123456789abcdef0123456789abcdef")
	c.key.Store(&key)
	return c
}

func TestSeal(t *testing.T) {
	c := sealing()
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOf(rapid.Ptr(rapid.String(), true)).Draw(t, "values")
		want := cursor{
			selection: selection{
				Filter: rapid.SliceOfN(rapid.String(), 1, 3).Draw(t, "filter"),
				Text:   store.Text{Term: rapid.String().Draw(t, "term")},
			},
			At:    &store.Position{Values: values, Ref: rapid.String().Draw(t, "ref")},
			Back:  rapid.Bool().Draw(t, "back"),
			Total: rapid.IntRange(-1, 1000).Draw(t, "total"),
		}
		text, err := c.seal(t.Context(), "query", want)
		if err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(text, "+/-_=%") {
			t.Fatalf("%q is not the same in every alphabet", text)
		}
		var got cursor
		if err := c.unseal(t.Context(), "query", text, &got); err != nil {
			t.Fatalf("unseal(%q): %v", text, err)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(cursor{})); diff != "" {
			t.Fatalf("a cursor comes back changed: -want +got:\n%s", diff)
		}
		i := rapid.IntRange(0, len(text)-1).Draw(t, "at")
		changed := text[:i] + string(rapid.SampledFrom([]byte("ABCDEFGHabcdefgh0189")).Draw(t, "letter")) + text[i+1:]
		if changed != text && sameBytes(changed, text) {
			return
		}
		if err := c.unseal(t.Context(), "query", changed, &got); changed != text && !errors.Is(err, errSeal) {
			t.Fatalf("a changed cursor is accepted: %v", err)
		}
	})
}

// sameBytes reports whether two texts differ only in the bits that base64 does
// not use.
func sameBytes(a, b string) bool {
	x, errX := base64.RawURLEncoding.DecodeString(a)
	y, errY := base64.RawURLEncoding.DecodeString(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

func TestUnseal(t *testing.T) {
	c := sealing()
	text, err := c.seal(t.Context(), "query", cursor{Total: 7})
	if err != nil {
		t.Fatal(err)
	}
	foreign := &Catalog{}
	key := []byte("another key")
	foreign.key.Store(&key)
	stranger, err := foreign.seal(t.Context(), "query", cursor{Total: 7})
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason, text, purpose string
	}{
		"Empty":     {reason: "Nothing is no cursor.", text: ""},
		"Garbage":   {reason: "Nor is anything else.", text: "garbage"},
		"NoBase64":  {reason: "Nor what is not base64.", text: "%%%"},
		"Truncated": {reason: "Nor a part of one.", text: text[:len(text)-4]},
		"Longer":    {reason: "Nor more than one.", text: text + "AAAA"},
		"Foreign":   {reason: "Nor one of somebody else.", text: stranger},
		"Purpose":   {reason: "Nor one for something else.", text: text, purpose: "after"},
		"Theirs":    {reason: "Nor the original's.", text: base64.StdEncoding.EncodeToString([]byte(`{"limit":2,"offset":2}`))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			purpose := tc.purpose
			if purpose == "" {
				purpose = "query"
			}
			var got cursor
			if err := c.unseal(t.Context(), purpose, tc.text, &got); !errors.Is(err, errSeal) {
				t.Errorf("%s\nunseal(%q): got %v, want %v", tc.reason, tc.text, err, errSeal)
			}
		})
	}
}

// TestSealIsRead holds cursors to what the portal's clients look for in them.
func TestSealIsRead(t *testing.T) {
	c := sealing()
	for _, query := range []string{"", `{"kind":"a?~>é"}`} {
		text, err := c.seal(t.Context(), "query", cursor{selection: selection{Query: json.RawMessage(query)}})
		if err != nil {
			t.Fatal(err)
		}
		plain, err := base64.RawStdEncoding.DecodeString(text)
		if err != nil {
			t.Fatalf("cursor %q: %v", text, err)
		}
		var seen map[string]any
		if err := json.Unmarshal(plain, &seen); err != nil {
			t.Fatalf("cursor %q: %v", plain, err)
		}
		if _, ok := seen["query"]; ok != (query != "") {
			t.Errorf("cursor of query %q: %s", query, plain)
		}
	}
}

// FuzzUnseal reads anything without a panic, and accepts nothing.
func FuzzUnseal(f *testing.F) {
	c := sealing()
	text, err := c.seal(f.Context(), "other", cursor{})
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{"", "xx", text, base64.RawURLEncoding.EncodeToString([]byte(sealBegin))} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var got cursor
		if err := c.unseal(t.Context(), "query", s, &got); !errors.Is(err, errSeal) {
			t.Errorf("unseal(%q): got %v", s, err)
		}
	})
}
