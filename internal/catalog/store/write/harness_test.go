package write

import (
	"fmt"
	"strings"
	"testing"

	"example.dev/ingestor/document/parser"

	"example.dev/ingestor/internal/catalog/store/index"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/test/database"
)

func TestMain(m *testing.M) { database.Main(m) }

// onBoth runs a test on SQLite and on PostgreSQL. open opens the database of the test,
// which is empty at first.
func onBoth(t *testing.T, test func(t *testing.T, open func() *Writer)) {
	t.Helper()
	database.OnBoth(t, func(t *testing.T, openDB func() *db.DB) {
		test(t, func() *Writer { return New(openDB(), &index.Keys{}, 0) })
	})
}

// component returns a Component with a name and spec fields in JSON.
func component(tb testing.TB, name string, spec ...string) Document {
	tb.Helper()
	nodes, errs := parser.DecodeBytes(fmt.Appendf(nil, `{"apiVersion":"backstage.io/v1alpha1","kind":"Component",
		"metadata":{"name":%q},"spec":{%s}}`, name, strings.Join(spec, ",")))
	if len(errs) > 0 {
		tb.Fatal(errs[0])
	}
	return Document{Node: nodes[0]}
}

func push(tb testing.TB, s *Writer, c Change) Result {
	tb.Helper()
	r, err := s.Sync(tb.Context(), c)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}
