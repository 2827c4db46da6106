package store

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/catalog/store/write"
)

// TestDangling checks references to an owner and a system that are not defined,
// until they are.
func TestDangling(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		entity := func(kind, name, spec string) write.Document {
			return write.Document{JSON: fmt.Appendf(nil, `{"apiVersion":"backstage.io/v1alpha1","kind":%q,"metadata":{"name":%q},"spec":{%s}}`, kind, name, spec)}
		}
		put := func(provider string, documents ...write.Document) {
			t.Helper()
			if _, err := s.SyncAll(t.Context(), []write.Change{{Provider: provider, Full: true, Put: documents}}); err != nil {
				t.Fatal(err)
			}
		}
		const spec = `"type":"x","lifecycle":"y","owner":"team","system":"shop","definition":"z"`
		put("definition:a", entity("API", "a", spec), entity("Resource", "b", spec))
		put("location:b", entity("Component", "c", `"type":"x","lifecycle":"y","owner":"missing"`))
		check := func(reason string, want ...Dangling) {
			t.Helper()
			got, err := s.Dangling(t.Context(), "definition:", 10)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s: references differ: %s (%v)", reason, diff, err)
			}
		}
		team := Dangling{Ref: "group:default/team", Type: "ownedBy", Sources: 2, First: "api:default/a"}
		shop := Dangling{Ref: "system:default/shop", Type: "partOf", Sources: 2, First: "api:default/a"}
		check("undefined references are reported, except those of other providers", team, shop)
		put("location:c", entity("Group", "team", `"type":"team","children":[]`))
		check("a Group that is added later resolves its reference", shop)
		put("location:d", entity("System", "shop", `"owner":"team"`))
		check("a System does too")
		put("location:c")
		check("a removed Group is missing again", team)
	})
}
