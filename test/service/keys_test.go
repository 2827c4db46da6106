package service_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.dev/ingestor/internal/config"
)

// keyed is a row of the key tables: a service whose configuration sets some
// keys, and a check that would fail if they were ignored.
type keyed struct {
	reason string
	// keys are the keys that the row tests.
	keys []string
	// files are written to a folder that is a source of variant A, by name.
	files map[string]string
	// composer has settings of variant A, root has further sections: a nil
	// section is left out, and redis stands for the address of a server. The
	// sections that with returns, which is called with the folder, are added to
	// both.
	composer, root sections
	with           func(t *testing.T, dir string) (composer, root sections)
	check          func(t *testing.T, s *service, dir string)
}

// tables has all rows, by the test that runs them.
var tables = map[string]map[string]keyed{
	"TestSourceKeys":    sourceKeys,
	"TestFilterKeys":    filterKeys,
	"TestTemplateKeys":  templateKeys,
	"TestRunningKeys":   runningKeys,
	"TestCacheKeys":     cacheKeys,
	"TestGeneratedKeys": generatedKeys,
	"TestClusterKeys":   clusterKeys,
	"TestPageKeys":      pageKeys,
}

// keySections are the sections whose keys must be in a table.
var keySections = []string{
	"words", "composerIngestor", "crossplaneIngestor", "clusterIngestor", "kubernetesIngestor", "orchestrator", "kubernetes",
	"backend.cache", "backend.telemetry", "catalog.providers.xrdTemplates", "app.logo",
}

// connection has the keys for connecting to a cluster, with the tests of what
// each does. TestConnectionKeys checks that the keys reach the client.
var connection = map[string]string{
	"url":                     "source/cluster/access TestAddressGood",
	"authProvider":            "source/cluster/access TestMethod",
	"serviceAccountToken":     "source/cluster/access TestFixedToken",
	"serviceAccountTokenFile": "source/cluster/access TestTokenFileReplaced",
	"token":                   "source/cluster/access TestFixedToken",
	"tokenFile":               "source/cluster/access TestTokenFileReplaced",
	"oidc.issuer":             "source/cluster TestOIDC",
	"oidc.issuerUrl":          "source/cluster TestOIDC",
	"oidc.clientId":           "source/cluster/access TestIssuerClientCredentials",
	"oidc.clientSecret":       "source/cluster/access TestIssuerClientCredentials",
	"oidc.clientSecretFile":   "source/cluster/access TestIssuerClientCredentials",
	"oidc.refreshToken":       "source/cluster/access TestIssuerRefreshToken",
	"oidc.refreshTokenFile":   "source/cluster/access TestIssuerRefreshToken",
	"oidc.scopes":             "source/cluster/access TestIssuerClientCredentials",
	"oidc.audience":           "source/cluster/access TestIssuerAudience",
	"oidc.caFile":             "source/cluster TestOIDC",
	"oidc.caData":             "source/cluster TestOIDC",
	"skipTLSVerify":           "source/cluster/access TestAuthority",
	"caFile":                  "source/cluster/access TestAuthority",
	"caData":                  "source/cluster/access TestAuthority",
	"context":                 "source/cluster/access TestContexts",
	"impersonate":             "test/security TestClusterDecides",
	"impersonateUserPrefix":   "test/security TestClusterDecides",
	"impersonateGroupPrefix":  "test/security TestClusterDecides",
}

// elsewhere has keys whose effect is tested in other packages, together with
// the tests that the service passes them on.
var elsewhere = map[string][]string{
	"composerIngestor.sources[].token":              {"source/git TestHTTPAuth", "internal/ingestion TestRepository"},
	"composerIngestor.sources[].sshKeyFile":         {"source/git TestSSH", "internal/ingestion TestRepository"},
	"composerIngestor.sources[].knownHostsFile":     {"source/git TestSSH", "internal/ingestion TestRepository"},
	"composerIngestor.processing.batchSize":         {"internal/ingestion/ingest TestBatches", "internal/ingestion TestParts"},
	"composerIngestor.processing.parallelism":       {"internal/ingestion/ingest TestBatches", "internal/ingestion TestParts"},
	"composerIngestor.logging.includeStackTraces":   {"internal/ingestion/ingest TestPanicked", "internal/ingestion TestParts"},
	"composerIngestor.changeDetection.enabled":      {"test/service TestDetection", "internal/ingestion/listing TestDiff", "internal/ingestion TestParts"},
	"composerIngestor.changeDetection.method":       {"test/service TestDetection", "internal/ingestion/listing TestDiff", "internal/ingestion TestParts"},
	"composerIngestor.changeDetection.storage":      {"test/service TestDetection", "internal/ingestion/marks TestMarks", "internal/ingestion TestParts"},
	"composerIngestor.massRemoval.percent":          {"internal/ingestion/ingest TestMassRemoval", "internal/ingestion TestParts"},
	"composerIngestor.massRemoval.minimum":          {"internal/ingestion/ingest TestMassRemoval", "internal/ingestion TestParts"},
	"composerIngestor.massRemoval.wait":             {"internal/ingestion/ingest TestMassRemoval", "internal/ingestion TestParts"},
	"clusterIngestor.compositions.enabled":          {"internal/ingestion/ingest TestNeverGranted", "internal/ingestion TestParts"},
	"clusterIngestor.composites.enabled":            {"internal/ingestion/kube TestNoKinds", "internal/ingestion TestParts"},
	"backend.telemetry.endpoint":                    {"test/service TestTelemetry"},
	"backend.telemetry.headers.<name>":              {"test/service TestTelemetry"},
	"backend.telemetry.serviceName":                 {"test/service TestTelemetry"},
	"backend.telemetry.interval":                    {"test/service TestTelemetry"},
	"backend.telemetry.traces":                      {"test/service TestTelemetryParts", "internal/telemetry TestSwitches"},
	"backend.telemetry.metrics":                     {"test/service TestTelemetryParts", "internal/telemetry TestSwitches"},
	"backend.telemetry.sampleRatio":                 {"test/service TestTelemetryParts", "internal/telemetry TestParent"},
	"orchestrator.serviceLocatorMethod.type":        {"internal/config TestOrchestratorMistakes"},
	"orchestrator.clusterLocatorMethods[].type":     {"internal/config TestOrchestratorMistakes"},
	"orchestrator.clusterLocatorMethods[].clusters": {"internal/config TestOrchestratorMistakes"},
}

// TestEveryKey checks that every key has a test that would fail if the key were
// ignored.
func TestEveryKey(t *testing.T) {
	held := map[string]string{}
	for test, rows := range tables {
		for name, row := range rows {
			for _, key := range row.keys {
				held[key] = test + "/" + name
			}
		}
	}
	for key, tests := range elsewhere {
		held[key] = strings.Join(tests, ", ")
		for _, test := range tests {
			needTest(t, key, test)
		}
	}
	for key, test := range connection {
		needTest(t, key, test)
		for _, list := range []string{"composerIngestor.clusters[].", "orchestrator.clusterLocatorMethods[].clusters[]."} {
			held[list+key] = cmp.Or(held[list+key], test)
		}
	}
	there := map[string]bool{}
	for _, key := range config.Keys() {
		there[key.Path] = true
		wanted := slices.ContainsFunc(keySections, func(s string) bool {
			return key.Path == s || strings.HasPrefix(key.Path, s+".")
		})
		// A map has no effect of its own, and ignored keys have none.
		if !wanted || key.Type == "map" || strings.HasPrefix(key.Type, "any; not used") {
			continue
		}
		if held[key.Path] == "" {
			t.Errorf("no test covers %s: add a row to one of the tables", key.Path)
		}
	}
	for key, test := range held {
		if !there[key] {
			t.Errorf("%s covers %s, which is not a key", test, key)
		}
	}
}

// needTest fails unless the test exists, which is written as folder and name.
func needTest(t *testing.T, key, test string) {
	t.Helper()
	folder, name, _ := strings.Cut(test, " ")
	files, err := filepath.Glob(filepath.Join("..", "..", folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), "\nfunc "+name+"(t *testing.T) {") {
			return
		}
	}
	t.Errorf("%s is listed as tested by %s, which does not exist", key, test)
}

// keep runs a table with one service per row.
func keep(t *testing.T, rows map[string]keyed) {
	t.Parallel()
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Log(row.reason)
			s, dir := row.start(t)
			row.check(t, s, dir)
		})
	}
}

// start starts the service of a row, and returns the folder with its files.
func (k *keyed) start(t *testing.T) (*service, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range k.files {
		put(t, filepath.Join(dir, name), text)
	}
	mine := sections{
		"watch": false, "schedule": sections{"frequency": "1h", "timeout": "30s"},
		"sources": []any{sections{"name": "files", "type": "file", "path": dir}},
	}
	root := sections{}
	maps.Copy(mine, k.composer)
	maps.Copy(root, k.root)
	if k.with != nil {
		composer, more := k.with(t, dir)
		maps.Copy(mine, composer)
		maps.Copy(root, more)
	}
	if mine["sources"] == nil {
		delete(mine, "sources")
	}
	all := sections{"composerIngestor": mine}
	maps.Copy(all, root)
	with := setup{sections: all}
	with.redis, _ = all["redis"].(string)
	delete(all, "redis")
	maps.DeleteFunc(all, func(_ string, v any) bool { return v == nil })
	return start(t, with), dir
}

// put writes a file atomically and creates its folder.
func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	half := filepath.Join(t.TempDir(), "half")
	if err := os.WriteFile(half, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(half, path); err != nil {
		t.Fatal(err)
	}
}

// spec returns the spec of an entity as text, empty if there is no such entity.
func (s *service) spec(ref string) string {
	s.t.Helper()
	f := s.entity(ref)
	if f == nil {
		return ""
	}
	return string(f.Spec)
}

// document returns a whole entity.
func (s *service) document(ref string) map[string]any {
	s.t.Helper()
	kind, rest, _ := strings.Cut(ref, ":")
	var out map[string]any
	if _, err := s.get("/api/catalog/entities/by-name/"+kind+"/"+rest, &out); err != nil {
		s.t.Fatal(err)
	}
	return out
}

// metric returns the value of a metric, which is named with its labels as they
// are exposed.
func (s *service) metric(name string) float64 {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.base+"/metrics", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if text, ok := strings.CutPrefix(line, name+" "); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil {
				s.t.Fatal(err)
			}
			return v
		}
	}
	s.t.Fatalf("metric %s does not exist", name)
	return 0
}

// cached returns how often a cache lookup had a result.
func (s *service) cached(cache, result string) int {
	s.t.Helper()
	return int(s.metric(fmt.Sprintf("composer_ingestor_cache_requests_total{cache=%q,result=%q}", cache, result)))
}

// logged returns the log lines that have a message.
func (s *service) logged(message string) (out []map[string]any) {
	s.t.Helper()
	for line := range strings.Lines(s.log.String()) {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			s.t.Fatal(err)
		}
		if entry["msg"] == message {
			out = append(out, entry)
		}
	}
	return out
}
