package ingestion

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/ingestion/batch"
	"example.dev/ingestor/internal/ingestion/marks"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/variant"
	"example.dev/ingestor/internal/jobs"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/git"
	"example.dev/ingestor/test/database"
)

// load reads a configuration.
func load(t testing.TB, text string) *config.Config {
	t.Helper()
	path := filepath.Join(t.TempDir(), "app-config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, findings := config.Load([]string{path}, config.Options{})
	if finding.Count(findings, finding.Error) > 0 {
		t.Fatalf("configuration of the test is invalid: %v", findings)
	}
	return c
}

// opened returns an Ingestion with its own stores.
func opened(t *testing.T, c *config.Config) *Ingestion {
	t.Helper()
	dir := t.TempDir()
	d := database.Open(t, database.SQLite(t))
	log := slog.New(slog.DiscardHandler)
	queue, err := jobs.Open(t.Context(), jobs.Options{Client: db.SQLite, Path: filepath.Join(dir, "jobs.db"), Log: log, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := queue.Close(); err != nil {
			t.Error(err)
		}
	})
	return New(Options{Config: c, Mirror: mirror.New(d), Queue: queue, Policy: permission.New(c.Permission), Now: time.Now, Log: log})
}

// everything is a configuration in which no value is the default.
const everything = `
composerIngestor:
  schedule: {frequency: 7m, timeout: 8m}
  watch: false
  clusters: [{name: one, url: "https://one.example.org", authProvider: token, token: t}]
  sources: [{name: files, type: file, path: .}]
  xrdFilters: {groups: [g.example.org], namespaces: [red]}
  processing: {batchSize: 21, parallelism: 22, retryAttempts: 23, retryDelay: 24}
  caching: {ttl: 25, maxSize: 26}
  changeDetection: {enabled: false, method: hash, storage: database}
  massRemoval: {percent: 61, minimum: 8, wait: 9s}
  logging: {level: warn, includeStackTraces: true, logRequests: true}
  compositions: {enabled: false}
clusterIngestor:
  watch: false
  compositions: {enabled: false}
  composites: {enabled: false}
  components: {taskRunner: {frequency: 31}}
  composer: {xrds: {taskRunner: {frequency: 32}}}
orchestrator:
  serviceLocatorMethod: {type: multiTenant}
  clusterLocatorMethods: [{type: config, clusters: [{name: two, url: "https://two.example.org", authProvider: token, token: t}]}]
`

// settings are the comparable settings of a variant.
type settings struct {
	Watch, Definitions, Workloads, Stacks, Requests, Detection bool
	Method                                                     string
	Marks                                                      string
	Every, WorkloadsEvery, Timeout                             time.Duration
	Clusters, Folders, Namespaces, Groups                      []string
	Info, Warn                                                 bool
	NoCompositions, NoComposites                               bool
}

func settingsOf(p variant.Options) settings {
	out := settings{
		Watch: p.Watch, Definitions: p.Definitions, Workloads: p.Workloads, Stacks: p.Stacks, Requests: p.Requests != nil,
		Detection: p.Detection.Enabled, Method: p.Detection.Method,
		Every: p.Every, WorkloadsEvery: p.WorkloadsEvery, Timeout: p.Timeout, Namespaces: p.Namespaces, Groups: p.Filter.Groups,
		NoCompositions: p.NoCompositions, NoComposites: p.NoComposites,
		Info: p.Log.Enabled(context.Background(), slog.LevelInfo), Warn: p.Log.Enabled(context.Background(), slog.LevelWarn),
	}
	switch fmt.Sprintf("%T", p.Detection.Marks) {
	case fmt.Sprintf("%T", marks.NewMemory()):
		out.Marks = config.StorageMemory
	case fmt.Sprintf("%T", marks.NewDatabase(nil)):
		out.Marks = config.StorageDatabase
	}
	for _, c := range p.Clusters {
		out.Clusters = append(out.Clusters, c.Name)
	}
	for _, f := range p.Folders {
		name := f.Name
		if f.Watch != nil {
			name += " watched"
		}
		out.Folders = append(out.Folders, name)
	}
	return out
}

// TestParts checks that the service gets the settings of the configuration.
func TestParts(t *testing.T) {
	t.Parallel()
	in := opened(t, load(t, everything))
	want := batch.Processing{BatchSize: 21, Parallelism: 22, RetryAttempts: 23, RetryDelay: 24 * time.Millisecond}
	if diff := cmp.Diff(want, in.ingest.Processing); diff != "" {
		t.Errorf("processing settings differ: %s", diff)
	}
	if c := in.ingest.Caching; !c.Enabled || c.TTL != 25*time.Second || c.MaxSize != 26 || c.Shared != nil {
		t.Errorf("caching settings are %+v", c)
	}
	variants := in.ingest.Variants
	for i := range variants {
		if diff := cmp.Diff(variant.MassRemoval{Percent: 61, Minimum: 8, Wait: 9 * time.Second}, variants[i].MassRemoval); diff != "" {
			t.Errorf("mass removal settings of %s differ: %s", variants[i].Name, diff)
		}
	}
	if diff := cmp.Diff(settings{
		Definitions: true, Stacks: true, Requests: true, Method: variant.ByHash, Marks: config.StorageDatabase,
		Every: 7 * time.Minute, Timeout: 8 * time.Minute,
		Clusters: []string{"one"}, Folders: []string{"files"}, Namespaces: []string{"red"}, Groups: []string{"g.example.org"}, Warn: true, NoCompositions: true,
	}, settingsOf(variants[0])); diff != "" {
		t.Errorf("settings of variant A differ: %s", diff)
	}
	b := settingsOf(variants[1])
	// The log settings are those of the portal.
	b.Info, b.Warn = false, false
	if diff := cmp.Diff(settings{
		Definitions: true, Workloads: true, Method: variant.ByHash, Marks: config.StorageDatabase,
		Every: 32 * time.Second, WorkloadsEvery: 31 * time.Second, Timeout: 8 * time.Minute, Clusters: []string{"two"},
		NoCompositions: true, NoComposites: true,
	}, b); diff != "" {
		t.Errorf("settings of variant B differ: %s", diff)
	}
	usual := opened(t, load(t, "composerIngestor: {sources: [{name: files, type: file, path: .}]}")).ingest.Variants[0]
	if diff := cmp.Diff(settings{
		Watch: true, Definitions: true, Detection: true, Method: variant.ByVersion, Marks: config.StorageDatabase,
		Every: 5 * time.Minute, Timeout: 2 * time.Minute, Folders: []string{"files watched"}, Info: true, Warn: true,
	}, settingsOf(usual)); diff != "" {
		t.Errorf("default settings of variant A differ: %s", diff)
	}
}

// TestRepository checks that a repository is read as configured.
func TestRepository(t *testing.T) {
	t.Parallel()
	got := repository(config.Source{
		Branch: "release", Path: "defs", Username: "robot", Token: source.Secret("secret"), TokenFile: "token",
		SSHKeyFile: "key", KnownHostsFile: "hosts", CAFile: "ca",
	})
	if got.Auth.Token.Reveal() != "secret" {
		t.Error("token is missing in the authentication")
	}
	got.Auth.Token = ""
	want := git.Options{Ref: "release", Path: "defs", Auth: git.Auth{
		Username: "robot", TokenFile: "token", SSHKeyFile: "key", KnownHostsFile: "hosts", CAFile: "ca",
	}}
	if got.Skipped != nil || got.Ref != want.Ref || got.Path != want.Path {
		t.Errorf("source reads %q of %q", got.Path, got.Ref)
	}
	if diff := cmp.Diff(want.Auth, got.Auth); diff != "" {
		t.Errorf("authentication differs: %s", diff)
	}
}
