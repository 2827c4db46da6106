package portal_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// ofOthers matches metrics of libraries.
var ofOthers = regexp.MustCompile(`^(go|process|promhttp)_`)

// TestMetricsAreDescribed checks that the handbook lists exactly the metrics
// that the portal exposes.
func TestMetricsAreDescribed(t *testing.T) {
	sections := ingesting(t)
	dir := t.TempDir()
	sections["catalog"] = map[string]any{"providers": map[string]any{"xrdTemplates": map[string]any{"sourceDirectory": dir}}}
	sections["audit"] = map[string]any{"to": "file", "file": filepath.Join(t.TempDir(), "audit.jsonl")}
	w := start(t, setup{sections: sections})
	var described []string
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "metrics.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z]+_[a-z_]+)` \\|").FindAllStringSubmatch(string(text), -1) {
		described = append(described, m[1])
	}
	w.push("templates", template("letters", says))
	w.ended(w.createTask("", "letters"), "completed")
	w.push("first", component("a"))
	served := map[string]bool{}
	missing := func() []string {
		return slices.DeleteFunc(slices.Clone(described), func(name string) bool { return served[name] || unmeasured[name] })
	}
	for deadline := time.Now().Add(patience); len(missing()) > 0 && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		// This request runs a job, so that jobs are counted.
		w.want(call{method: "POST", path: "/api/composer-ingestor/runs"}, http.StatusAccepted, nil)
		// These requests are more than the audit log records.
		for range 20 {
			w.want(call{path: "/api/catalog/entities", token: "wrong-token"}, http.StatusForbidden, nil)
		}
		for _, m := range regexp.MustCompile(`(?m)^# TYPE (\w+) `).FindAllStringSubmatch(string(w.send(call{path: "/metrics"}).body), -1) {
			served[m[1]] = true
		}
	}
	if r := w.send(call{path: "/metrics"}); !strings.Contains(string(r.body), `catalog_entities{source="ingestion"} 4`) {
		t.Error("ingested entities are counted under another source")
	}
	if unknown := missing(); len(unknown) > 0 {
		t.Errorf("handbook describes %v, which the portal does not expose", unknown)
	}
	for name := range served {
		if !slices.Contains(described, name) && !ofOthers.MatchString(name) {
			t.Errorf("docs/metrics.md does not describe %s", name)
		}
	}
}

// unmeasured are metrics that have no value as long as no cluster is watched.
var unmeasured = map[string]bool{"composer_ingestor_watch_events_total": true}
