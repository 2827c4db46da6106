package catalog

import (
	"encoding/base64"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.dev/ingestor/internal/catalog/store"
)

// sealing returns a catalog that can only sign.
func sealing() *Catalog {
	c := &Catalog{}
	key := []byte("0123456789abcdef0123456789abcdef")
	c.key.Store(&key)
	return c
}

// TestCursor checks that cursors are read as they were written.
func TestCursor(t *testing.T) {
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
		text, err := c.Seal(t.Context(), "query", want)
		if err != nil {
			t.Fatal(err)
		}
		var got cursor
		if err := c.Unseal(t.Context(), "query", text, &got); err != nil {
			t.Fatalf("Unseal(%q) returned %v", text, err)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(cursor{})); diff != "" {
			t.Fatalf("cursor differs after a round trip: -want +got:\n%s", diff)
		}
	})
}

// TestCursorIsRead checks the fields of cursors that Backstage clients read.
func TestCursorIsRead(t *testing.T) {
	c := sealing()
	for _, query := range []string{"", `{"kind":"a?~>é"}`} {
		text, err := c.Seal(t.Context(), "query", cursor{selection: selection{Query: json.RawMessage(query)}})
		if err != nil {
			t.Fatal(err)
		}
		plain, err := base64.RawStdEncoding.DecodeString(text)
		if err != nil {
			t.Fatalf("cursor %q cannot be decoded: %v", text, err)
		}
		var seen map[string]any
		if err := json.Unmarshal(plain, &seen); err != nil {
			t.Fatalf("cursor %q is not JSON: %v", plain, err)
		}
		if _, ok := seen["query"]; ok != (query != "") {
			t.Errorf("cursor of query %q is %s", query, plain)
		}
	}
}
