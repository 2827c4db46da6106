package service_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/postgres"
)

// databaseOn creates a database, and returns its section backend.database and a
// function that queries it.
func databaseOn(t *testing.T, pg *postgres.Server) (database sections, ask func(query string) string) {
	t.Helper()
	at := pg.Database(t)
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	return sections{"client": "pg", "connection": at}, func(query string) string {
		t.Helper()
		out, err := pg.Command(t.Context(), "psql", "-d", strings.TrimPrefix(u.Path, "/"), "-AtqX", "-v", "ON_ERROR_STOP=1", "-c", query)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(out)
	}
}

// TestPostgres checks what the service writes to PostgreSQL, and how it handles
// an outage of PostgreSQL.
func TestPostgres(t *testing.T) {
	t.Parallel()
	pg := postgres.Start(t)
	c := apiserver.Start(t, apiserver.Options{XRCRDs: true, Apply: []string{
		definition("alphas", "one"), definition("betas", "one"), definition("omegas", "one"), composition("alpha", "alphas"), composite("mine", "alphas"),
	}})
	t.Run("an unchanged scan writes nothing", func(t *testing.T) { unchangedWritesNothing(t, pg, c) })
	t.Run("it is away", func(t *testing.T) { postgresAway(t, pg, c) })
}

// noteWrites makes PostgreSQL record every row that is written to a table,
// except for rows that record attempts to read a source.
const noteWrites = `
CREATE TABLE noted (what text);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO noted VALUES (TG_OP || ' ' || TG_TABLE_NAME); RETURN NULL; END $$;
DO $$ DECLARE t text; BEGIN
  FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = current_schema()
      AND tablename NOT IN ('noted', 'sources', 'runs', 'stamp', 'fences') AND tablename NOT LIKE 'river%' LOOP
    EXECUTE format('CREATE TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION note()', t);
  END LOOP;
END $$`

func unchangedWritesNothing(t *testing.T, pg *postgres.Server, c *apiserver.Server) {
	database, ask := databaseOn(t, pg)
	s := start(t, setup{database: database, sections: composer(sections{
		"watch": false, "changeDetection": sections{"storage": "database"},
	}, cluster("prod", c))})
	s.ran(prod, time.Time{})
	s.wantHealth("healthy", map[string]string{"prod": "connected"})
	before := s.waitUntilStable()
	if len(before) != 11 {
		t.Fatalf("catalog has %d entities, want 11: %v", len(before), before)
	}
	// New entities are checked for findings a little later; those writes are
	// not caused by the following scans.
	s.until("check of all definitions for findings", func() error {
		if left := ask("SELECT count(*) FROM unchecked"); left != "0" {
			return fmt.Errorf("%s definitions are not checked", left)
		}
		return nil
	})
	ask(noteWrites)
	wroteNothing(t, "unchanged", s.scan(prod), 0)
	wroteNothing(t, "unchanged again", s.scan(prod), 0)
	if got := ask("SELECT what, count(*) FROM noted GROUP BY 1 ORDER BY 1"); got != "" {
		t.Errorf("unchanged scan wrote rows:\n%s", got)
	}
	s.checkUnchanged(before, slices.Sorted(maps.Keys(before))...)

	// A scan by another replica uses the same state.
	other := start(t, setup{database: database, sections: composer(sections{
		"watch": false, "changeDetection": sections{"storage": "database"},
	}, cluster("prod", c))})
	own := s.scan(prod).Replica
	s.until("a scan by another replica", func() error {
		r := other.scan(prod)
		wroteNothing(t, "scan by another replica", r, 0)
		if r.Replica == own {
			return errors.New("scan was made by the same replica")
		}
		return nil
	})
	other.stop()

	// A real change must be recorded, or the check above proves nothing.
	c.Apply(t, definition("betas", "two"))
	if r := s.scan(prod); r.Changed != 1 || r.Updated == 0 {
		t.Errorf("run is %+v, want a detected change", r)
	}
	for _, table := range []string{"UPDATE entities", "UPDATE objects", "INSERT dirty", "DELETE dirty"} {
		if !strings.Contains(ask("SELECT DISTINCT what FROM noted"), table) {
			t.Errorf("change was not recorded: no %s", table)
		}
	}
	s.checkUnchanged(before, entities("alphas")...)
}

// postgresAway kills PostgreSQL, changes objects in the cluster, and restarts
// it.
func postgresAway(t *testing.T, pg *postgres.Server, c *apiserver.Server) {
	database, _ := databaseOn(t, pg)
	s := start(t, setup{database: database, sections: composer(nil, cluster("prod", c))})
	s.until("all entities", func() error {
		if refs, err := s.refs(""); err != nil || len(refs) != 11 {
			return fmt.Errorf("entities are %v, %w", refs, err)
		}
		return nil
	})
	s.wantHealth("healthy", map[string]string{"prod": "connected"})
	before := s.waitUntilStable()

	pg.Kill()
	for _, path := range []string{"/api/catalog/entities", "/api/composer-ingestor/health", "/api/composer-ingestor/runs"} {
		s.until(path+" reports the outage", func() error {
			status, err := s.get(path, nil)
			if status != http.StatusServiceUnavailable {
				return fmt.Errorf("status is %d, want 503: %w", status, err)
			}
			return nil
		})
	}
	c.Apply(t, definition("gammas", "one"), definition("betas", "three"))
	c.Delete(t, composition("alpha", "alphas"))
	// The watch notices all that, and can do nothing about it for a while.
	s.until("it is noticed", func() error {
		if s.warnings("read of changed objects failed") == 0 {
			return errors.New("nothing is said")
		}
		return nil
	})
	time.Sleep(5 * time.Second)
	pg.Restart(t)
	back := time.Now()

	s.answers()
	s.until("changes made during the outage", func() error {
		refs, err := s.refs("")
		if err != nil {
			return err
		}
		b := s.entity(template("betas"))
		if len(refs) != 13 || slices.Contains(refs, "resource:default/alpha-composition") || b == nil || !strings.Contains(string(b.Spec), "three") {
			return fmt.Errorf("entities are %v", refs)
		}
		return nil
	})
	t.Logf("changes made during the outage arrived %v after PostgreSQL was restarted", time.Since(back).Round(time.Millisecond))
	s.wantHealth("healthy", map[string]string{"prod": "connected"})
	s.checkUnchanged(before, entities("omegas")...)
	if n := s.warnings("read of changed objects failed"); n > 2 {
		t.Errorf("it is said %d times that nothing can be read", n)
	}
	// Watches work again.
	c.Delete(t, definition("gammas", "one"))
	s.until("a deletion arrives", func() error {
		if s.entity(template("gammas")) != nil {
			return errors.New("deleted definition is still in the catalog")
		}
		return nil
	})
}
