package chaos_test

import (
	"strconv"
	"strings"
	"testing"
)

// keepHistory makes the database record every written version of an entity, as
// readers may miss a version that exists only briefly.
const keepHistory = `CREATE TABLE history (n BIGSERIAL PRIMARY KEY, ref TEXT, version TEXT);
CREATE FUNCTION record_version() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	INSERT INTO history (ref, version) VALUES (NEW.ref, substring(convert_from(NEW.body, 'UTF8') FROM 'chaos-v([0-9]+)'));
	RETURN NEW;
END $$;
CREATE TRIGGER record_version AFTER INSERT OR UPDATE ON documents FOR EACH ROW EXECUTE FUNCTION record_version();`

// recordVersions starts recording versions.
func (c *run) recordVersions() {
	if _, err := c.database.Command(c.t.Context(), "psql", "--no-psqlrc", "--set=ON_ERROR_STOP=1", "--dbname="+c.databaseURL, "--command="+keepHistory); err != nil {
		c.t.Fatal(err)
	}
}

// checkVersions checks that no entity was reverted to an earlier version.
func (c *run) checkVersions(t *testing.T) {
	t.Helper()
	out, err := c.database.Command(t.Context(), "psql", "--no-psqlrc", "--dbname="+c.databaseURL, "--tuples-only", "--no-align", "--field-separator= ",
		"--command=SELECT ref, version FROM history WHERE version IS NOT NULL ORDER BY n")
	if err != nil {
		t.Fatal(err)
	}
	last, n := map[string]int{}, 0
	for line := range strings.Lines(out) {
		ref, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		version, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("cannot parse %q: %v", line, err)
		}
		if version < last[ref] {
			c.violated("%s was reverted from version %d to %d in the database", ref, last[ref], version)
		}
		last[ref] = version
		n++
	}
	t.Logf("%d versions of %d entities were written", n, len(last))
	if n < 100 {
		t.Error("too few versions were recorded for the check to be meaningful")
	}
}
