package service_test

import (
	"strings"
	"syscall"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/server/doctor"
	"example.dev/ingestor/test/postgres"
)

// TestRollback backs up a database of an earlier version with this program,
// upgrades it, writes to it, and goes back to the backup, as the handbook says.
// The backup must be of the earlier version, so that the earlier program opens
// it, and must have everything from before the upgrade.
func TestRollback(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		rollBack(t, read(t, "web", "sqlite"), earlierSetup(t, "web", true, restoreSQLite(t, "web")), backUpSQLite)
	})
	t.Run("pg", func(t *testing.T) {
		t.Parallel()
		pg := postgres.Start(t)
		rollBack(t, read(t, "web", "pg"), earlierSetup(t, "web", true, restorePostgres(t, pg, "web")), func(t *testing.T, s setup) func() setup { return backUpPostgres(t, pg, s) })
	})
}

func rollBack(t *testing.T, before recorded, s setup, backUp func(*testing.T, setup) func() setup) {
	// versionOf returns what doctor reports about the version of the database.
	versionOf := func() doctor.Result {
		t.Helper()
		_, found := examined(t, s.write(t, "127.0.0.1:1"), "database")
		return found[0]
	}
	old := versionOf()
	if old.Status != doctor.Warning {
		t.Fatalf("doctor reports %+v about the old database, want a warning", old)
	}
	restore := backUp(t, s)
	p := launch(t, s).ready()
	if said := p.push([]byte(`{"apiVersion":"backstage.io/v1alpha1","kind":"Component","metadata":{"name":"later"},"spec":{"type":"service","lifecycle":"x","owner":"team-a"}}`)); !strings.Contains(said, `"added":1`) {
		t.Fatal(said)
	}
	if err := p.Stop(patience, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if now := versionOf(); now.Status != doctor.OK {
		t.Errorf("doctor reports %+v about the upgraded database, want that it is current", now)
	}

	s = restore()
	if now := versionOf(); now != old {
		t.Errorf("doctor reports %+v about the restored database, want %+v as before the upgrade", now, old)
	}
	again := launch(t, s).ready()
	if diff := gocmp.Diff(before.Entities, again.uids()); diff != "" {
		t.Errorf("entities of the restored database (-before +after):\n%s", diff)
	}
	if got := len(again.tasks()); got != len(before.Tasks) {
		t.Errorf("restored database has %d tasks, want %d", got, len(before.Tasks))
	}
}
