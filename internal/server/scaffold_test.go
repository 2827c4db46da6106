package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/config"
)

// TestSecretKey makes a key beside the database once, which nobody else reads.
func TestSecretKey(t *testing.T) {
	db := filepath.Join(t.TempDir(), "portal.sqlite")
	c := &config.Config{Backend: config.Backend{Database: config.Database{Client: config.ClientSQLite, Path: db}}}
	first, err := secretKey(c)
	if err != nil || len(first) < 40 {
		t.Fatalf("the key has %d bytes: %v", len(first), err)
	}
	at := strings.TrimSuffix(db, ".sqlite") + "-tasks.key"
	if info, err := os.Stat(at); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("it is %v: %v", info, err)
	}
	if again, err := secretKey(c); err != nil || string(again) != string(first) {
		t.Errorf("the next time it is another: %v", err)
	}
	if err := os.Truncate(at, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := secretKey(c); err == nil || !strings.Contains(err.Error(), at+": it is empty: remove it, and a new one is made") {
		t.Errorf("an empty one is %v", err)
	}
	c.Scaffolder.SecretKey = "one of the configuration"
	if got, err := secretKey(c); err != nil || string(got) != "one of the configuration" {
		t.Errorf("the one that is configured is %s: %v", got, err)
	}
	c.Scaffolder.SecretKey, c.Backend.Database.Client = "", config.ClientPostgres
	if got, err := secretKey(c); err != nil || got != nil {
		t.Errorf("what replicas share is %s: %v", got, err)
	}
	c.Backend.Database = config.Database{Client: config.ClientSQLite, Path: filepath.Join(db, "portal.sqlite")}
	if _, err := secretKey(c); err == nil || !strings.HasPrefix(err.Error(), "cannot make a key for secrets of tasks in ") {
		t.Errorf("where nothing can be made it is %v", err)
	}
}

// TestFolders are those beside whose Templates there may be files.
func TestFolders(t *testing.T) {
	got := folders(config.Catalog{Locations: []config.CatalogLocation{
		{Type: config.LocationFile, Target: "/srv/all.yaml"},
		{Type: config.LocationFile, Target: "/opt/templates/*/v[12]/template.yaml"},
		{Type: config.LocationURL, Target: "https://host/t.yaml"},
	}})
	if diff := cmp.Diff([]string{"/srv", "/opt/templates"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
