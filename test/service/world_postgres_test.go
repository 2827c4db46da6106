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

// databaseOn is the section backend.database for a new database of a server, and a
// function that asks it.
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

// TestPostgres is about what the service has in PostgreSQL, and what it does
// when it is away.
func TestPostgres(t *testing.T) {
	t.Parallel()
	pg := postgres.Start(t)
	c := apiserver.Start(t, apiserver.Options{XRCRDs: true, Apply: []string{
		definition("alphas", "one"), definition("betas", "one"), definition("omegas", "one"), composition("alpha", "alphas"), composite("mine", "alphas"),
	}})
	t.Run("an unchanged scan writes nothing", func(t *testing.T) { unchangedWritesNothing(t, pg, c) })
	t.Run("it is away", func(t *testing.T) { postgresAway(t, pg, c) })
}

// noteWrites makes PostgreSQL note every row that is written to a table, but
// for those that say when a source was tried and what came of it.
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
	s.fares("healthy", map[string]string{"prod": "connected"})
	before := s.rests()
	if len(before) != 11 {
		t.Fatalf("there are %d entities: %v", len(before), before)
	}
	// What was just written is looked over for findings a moment later, which
	// is no write of the scans that follow.
	s.until("all is looked over for findings", func() error {
		if left := ask("SELECT count(*) FROM unchecked"); left != "0" {
			return fmt.Errorf("%s definitions are not yet", left)
		}
		return nil
	})
	ask(noteWrites)
	wroteNothing(t, "unchanged", s.scan(prod), 0)
	wroteNothing(t, "unchanged again", s.scan(prod), 0)
	if got := ask("SELECT what, count(*) FROM noted GROUP BY 1 ORDER BY 1"); got != "" {
		t.Errorf("an unchanged scan has written rows:\n%s", got)
	}
	s.unmoved(before, slices.Sorted(maps.Keys(before))...)

	// What one replica has seen, another need not see.
	other := start(t, setup{database: database, sections: composer(sections{
		"watch": false, "changeDetection": sections{"storage": "database"},
	}, cluster("prod", c))})
	own := s.scan(prod).Replica
	s.until("another replica scans", func() error {
		r := other.scan(prod)
		wroteNothing(t, "of another replica", r, 0)
		if r.Replica == own {
			return errors.New("it was the same")
		}
		return nil
	})
	other.stop()

	// What is noted when something does change shows that it would have been.
	c.Apply(t, definition("betas", "two"))
	if r := s.scan(prod); r.Changed != 1 || r.Updated == 0 {
		t.Errorf("the run %+v is not one that sees a change", r)
	}
	for _, table := range []string{"UPDATE entities", "UPDATE objects", "INSERT dirty", "DELETE dirty"} {
		if !strings.Contains(ask("SELECT DISTINCT what FROM noted"), table) {
			t.Errorf("a change was not noted: no %s", table)
		}
	}
	s.unmoved(before, entities("alphas")...)
}

// postgresAway kills the server for a while in which things change in the
// cluster.
func postgresAway(t *testing.T, pg *postgres.Server, c *apiserver.Server) {
	database, _ := databaseOn(t, pg)
	s := start(t, setup{database: database, sections: composer(nil, cluster("prod", c))})
	s.until("all entities", func() error {
		if refs, err := s.refs(""); err != nil || len(refs) != 11 {
			return fmt.Errorf("there are %v, %w", refs, err)
		}
		return nil
	})
	s.fares("healthy", map[string]string{"prod": "connected"})
	before := s.rests()

	pg.Kill()
	for _, path := range []string{"/api/catalog/entities", "/api/composer-ingestor/health", "/api/composer-ingestor/runs"} {
		s.until(path+" says that the database is away", func() error {
			status, err := s.get(path, nil)
			if status != http.StatusServiceUnavailable {
				return fmt.Errorf("it says %d, %w", status, err)
			}
			return nil
		})
	}
	c.Apply(t, definition("gammas", "one"), definition("betas", "three"))
	c.Delete(t, composition("alpha", "alphas"))
	// The watch notices all that, and can do nothing about it for a while.
	s.until("it is noticed", func() error {
		if s.warnings("what changed cannot be read") == 0 {
			return errors.New("nothing is said")
		}
		return nil
	})
	time.Sleep(5 * time.Second)
	pg.Restart(t)
	back := time.Now()

	s.answers()
	s.until("what changed meanwhile arrives", func() error {
		refs, err := s.refs("")
		if err != nil {
			return err
		}
		b := s.entity(template("betas"))
		if len(refs) != 13 || slices.Contains(refs, "resource:default/alpha-composition") || b == nil || !strings.Contains(string(b.Spec), "three") {
			return fmt.Errorf("there are %v", refs)
		}
		return nil
	})
	t.Logf("what changed meanwhile is there %v after PostgreSQL", time.Since(back).Round(time.Millisecond))
	s.fares("healthy", map[string]string{"prod": "connected"})
	s.unmoved(before, entities("omegas")...)
	if n := s.warnings("what changed cannot be read"); n > 2 {
		t.Errorf("it is said %d times that nothing can be read", n)
	}
	// Live again.
	c.Delete(t, definition("gammas", "one"))
	s.until("a deletion arrives", func() error {
		if s.entity(template("gammas")) != nil {
			return errors.New("it is still there")
		}
		return nil
	})
}
