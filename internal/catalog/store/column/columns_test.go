package column

import (
	"fmt"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/catalog/store/changelog"
	"example.dev/ingestor/internal/catalog/store/index"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/test/database"
)

func TestMain(m *testing.M) { database.Main(m) }

// kid is the number of the only key of the test.
const kid = 1

// write replaces all entities by those given, with their value of the key.
func write(tb testing.TB, d *db.DB, values map[string]string) {
	tb.Helper()
	err := d.Transact(tb.Context(), db.NewWriters(), "revision", func(tx *db.Tx) error {
		changed := []string{"api:default/removed"}
		for _, table := range []string{"entities", "search", "fields"} {
			if _, err := tx.ExecContext(tb.Context(), "DELETE FROM "+table); err != nil {
				return err
			}
		}
		for ref, value := range values {
			packed, _ := index.Pack([]index.Field{{Kid: kid, Value: value}})
			for text, args := range map[string][]any{
				"INSERT INTO entities (ref, uid, provider, parent, hash, etag) VALUES ($1, $1, '', '', '', '')": {ref},
				"INSERT INTO search (kid, value, ref) VALUES ($1, $2, $3)":                                      {kid, value, ref},
				"INSERT INTO fields (ref, packed) VALUES ($1, $2)":                                              {ref, packed},
			} {
				if _, err := tx.ExecContext(tb.Context(), text, args...); err != nil {
					return err
				}
			}
			changed = append(changed, ref)
		}
		return changelog.Append(tb.Context(), tx, changed)
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// TestFollow checks that the cost of a change is proportional to its size, and that
// changes missing in the log of changes are detected.
func TestFollow(t *testing.T) {
	database.OnBoth(t, func(t *testing.T, open func() *db.DB) {
		d, replica := open(), open()
		k := New(d, 100)
		exec := func(text string) {
			t.Helper()
			if _, err := d.Write.ExecContext(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
		var values map[string]string
		set := func(by *db.DB, value string) {
			t.Helper()
			values = map[string]string{"api:default/a": value, "api:default/b": "fixed"}
			write(t, by, values)
		}
		set(d, "first")
		for _, step := range []struct {
			reason string
			reads  bool
			do     func()
		}{
			{"Missing columns are read.", true, func() {}},
			{"A change is applied.", false, func() { set(d, "two") }},
			{"A change of another replica is applied.", false, func() { set(replica, "three") }},
			{"Several changes are applied together.", false, func() { set(d, "four"); set(replica, "five"); set(d, "six") }},
			{"An entity that is added is applied.", false, func() {
				values = map[string]string{"api:default/a": "x", "api:default/b": "x", "api:default/c": "x"}
				write(t, d, values)
			}},
			{"A change that is not logged is detected.", true, func() { set(d, "seven"); exec("DELETE FROM changes") }},
			{"A change that is not logged before a logged one is detected.", true, func() {
				set(d, "eight")
				exec("DELETE FROM changes")
				set(d, "eight")
			}},
			{"More changed entities than are logged are read again.", true, func() {
				set(d, "nine")
				err := d.Transact(t.Context(), db.NewWriters(), "revision", func(tx *db.Tx) error {
					var changed []string
					for i := range 5000 {
						changed = append(changed, fmt.Sprint("api:default/x", i))
					}
					return changelog.Append(t.Context(), tx, changed)
				})
				if err != nil {
					t.Fatal(err)
				}
			}},
			{"More revisions than are logged are read again.", true, func() {
				for i := range 70 {
					set(d, fmt.Sprint("t", i))
				}
			}},
			{"A restored database is detected.", true, func() {
				set(d, "ten")
				exec("UPDATE revision SET n = n - 3")
				exec("DELETE FROM changes")
			}},
		} {
			before := k.reads.Load()
			step.do()
			revision, err := changelog.Revision(t.Context(), d.Query)
			if err != nil {
				t.Fatal(err)
			}
			want, got := map[string]int{}, map[string]int{}
			for value := range maps.Values(values) {
				want[value]++
			}
			ok, err := k.With(t.Context(), revision, []int64{kid}, func(v View) {
				v.Count(v.All(), kid, func(value string, n int) { got[value] = n })
			})
			if err != nil || !ok {
				t.Fatalf("%s: columns are not loaded (%v)", step.reason, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", step.reason, diff)
			}
			if read := k.reads.Load() > before; read != step.reads {
				t.Errorf("%s: all columns were read: %v", step.reason, read)
			}
		}
		var logged int
		if err := d.Read.QueryRowContext(t.Context(), "SELECT count(*) FROM changes").Scan(&logged); err != nil || logged > 200 {
			t.Errorf("%d rows are logged (%v)", logged, err)
		}
	})
}
