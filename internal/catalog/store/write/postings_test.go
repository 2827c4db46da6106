package write

import (
	"fmt"
	"testing"

	"example.dev/ingestor/internal/catalog/store/index"
	"example.dev/ingestor/test/database"
)

// TestDeletePostings checks that PostgreSQL gets few statements to delete the postings of
// values that no entity has any more.
func TestDeletePostings(t *testing.T) {
	s := New(database.Open(t, database.Postgres(t)), &index.Keys{}, 0)
	_, err := s.db.Write.ExecContext(t.Context(), `CREATE SEQUENCE deletions;
		CREATE FUNCTION count_deletion() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM nextval('deletions'); RETURN NULL; END $$;
		CREATE TRIGGER counted AFTER DELETE ON postings FOR EACH STATEMENT EXECUTE FUNCTION count_deletion()`)
	if err != nil {
		t.Fatal(err)
	}
	number := func(query string) (n int) {
		t.Helper()
		if err := s.db.Read.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	c := Change{Provider: "p", Full: true}
	for i := range 200 {
		c.Put = append(c.Put, component(t, fmt.Sprint("c", i), fmt.Sprintf(`"owner":"o%d","system":"s%[1]d"`, i)))
	}
	push(t, s, c)
	rows := number("SELECT count(*) FROM postings")
	push(t, s, Change{Provider: "p", Full: true})
	if left := number("SELECT count(*) FROM postings"); left != 0 {
		t.Errorf("%d postings are left of a catalog without entities", left)
	}
	if statements := number("SELECT nextval('deletions') - 1"); rows < 1000 || statements*10 > rows {
		t.Errorf("%d rows were deleted by %d statements, want at most a tenth", rows, statements)
	}
}
