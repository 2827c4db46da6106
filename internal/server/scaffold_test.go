package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/config"
)

// TestSecretKey checks that a key is created once beside the database, readable
// by its owner only.
func TestSecretKey(t *testing.T) {
	db := filepath.Join(t.TempDir(), "portal.sqlite")
	c := &config.Config{Backend: config.Backend{Database: config.Database{Client: config.ClientSQLite, Path: db}}}
	first, err := secretKey(c)
	if err != nil || len(first) < 40 {
		t.Fatalf("key has %d bytes: %v", len(first), err)
	}
	at := strings.TrimSuffix(db, ".sqlite") + "-tasks.key"
	if info, err := os.Stat(at); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("key file is %v: %v", info, err)
	}
	if again, err := secretKey(c); err != nil || string(again) != string(first) {
		t.Errorf("second call returned another key: %v", err)
	}
	if err := os.Truncate(at, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := secretKey(c); err == nil || !strings.Contains(err.Error(), at+": file is empty: remove it to generate a new key") {
		t.Errorf("empty key file returned %v", err)
	}
	c.Scaffolder.SecretKey = "one of the configuration"
	if got, err := secretKey(c); err != nil || string(got) != "one of the configuration" {
		t.Errorf("configured key is %s: %v", got, err)
	}
	c.Scaffolder.SecretKey, c.Backend.Database.Client = "", config.ClientPostgres
	if got, err := secretKey(c); err != nil || got != nil {
		t.Errorf("key with PostgreSQL is %s: %v", got, err)
	}
	c.Backend.Database = config.Database{Client: config.ClientSQLite, Path: filepath.Join(db, "portal.sqlite")}
	if _, err := secretKey(c); err == nil || !strings.HasPrefix(err.Error(), "cannot create the task secret key ") {
		t.Errorf("key that cannot be created returned %v", err)
	}
}

// TestFolders checks the folders from which local Templates may fetch files.
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
