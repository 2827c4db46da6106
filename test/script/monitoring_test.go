package script

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestMonitoring checks that the alert rules and the dashboard use metrics and labels that
// the handbook describes. test/portal checks that the handbook describes what is served.
func TestMonitoring(t *testing.T) {
	t.Chdir(top)
	labels := map[string][]string{}
	rows := regexp.MustCompile("(?m)^\\| `(\\w+)` \\|([^|]*)\\|")
	for _, row := range rows.FindAllStringSubmatch(readText(t, "docs/metrics.md"), -1) {
		labels[row[1]] = regexp.MustCompile(`\w+`).FindAllString(row[2], -1)
	}
	var rules struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	if err := yaml.Unmarshal([]byte(readText(t, "deploy/monitoring/alerts.yaml")), &rules); err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
	}
	if err := json.Unmarshal([]byte(readText(t, "deploy/monitoring/dashboard.json")), &dashboard); err != nil {
		t.Fatal(err)
	}
	exprs := map[string]string{}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			exprs["alert "+r.Alert] = r.Expr
		}
	}
	for _, p := range dashboard.Panels {
		for i, target := range p.Targets {
			exprs["panel "+p.Title+string(rune('A'+i))] = target.Expr
		}
	}
	if len(exprs) < 20 {
		t.Fatalf("found %d expressions", len(exprs))
	}
	name := regexp.MustCompile(`\b(?:composer_ingestor|jobs|catalog|scaffolder|http|portal)_\w+`)
	used := regexp.MustCompile(`by \(([^)]*)\)|\{([^}]*)\}`)
	for where, expr := range exprs {
		metrics := name.FindAllString(expr, -1)
		if len(metrics) == 0 {
			t.Errorf("%s has no metric: %s", where, expr)
			continue
		}
		known := []string{"le"}
		for _, m := range metrics {
			l, ok := labels[strings.TrimSuffix(m, "_bucket")]
			if !ok {
				t.Errorf("%s uses %s, which docs/metrics.md does not describe", where, m)
			}
			known = append(known, l...)
		}
		for _, m := range used.FindAllStringSubmatch(expr, -1) {
			for part := range strings.SplitSeq(m[1]+m[2], ",") {
				label := regexp.MustCompile(`^\s*(\w+)`).FindStringSubmatch(part)[1]
				if !slices.Contains(known, label) {
					t.Errorf("%s uses label %s, which %v do not have", where, label, metrics)
				}
			}
		}
	}
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
