package config

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.dev/ingestor/document/finding"
)

const top = "../.."

// rows returns the cells of the lines of docs/configuration.md that match.
func rows(t *testing.T, first *regexp.Regexp) [][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(top, "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	for line := range strings.SplitSeq(string(text), "\n") {
		if !first.MatchString(line) {
			continue
		}
		var cells []string
		for cell := range strings.SplitSeq(strings.Trim(line, "|"), " | ") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		out = append(out, cells)
	}
	return out
}

// The two places of clusters, which are described once.
const (
	composerClusters     = "composerIngestor.clusters[]."
	orchestratorClusters = "orchestrator.clusterLocatorMethods[].clusters[]."
)

// listed returns the keys in the way the page lists them: those that are read,
// with type and default, and those that are not, by the map they are in. Maps
// are there by what is in them.
func listed(keys []Key) (read, idle []string) {
	unused := map[string][]string{}
	for _, k := range keys {
		switch i := strings.LastIndex(k.Path, "."); {
		case strings.HasPrefix(k.Path, orchestratorClusters), k.Type == "map", k.Type == "list":
		case k.Type == typeIdle:
			unused[k.Path[:i]] = append(unused[k.Path[:i]], "`"+k.Path[i+1:]+"`")
		case k.Default == "":
			read = append(read, "`"+k.Path+"` | "+k.Type+" | none")
		default:
			read = append(read, "`"+k.Path+"` | "+k.Type+" | `"+k.Default+"`")
		}
	}
	for in, names := range unused {
		idle = append(idle, "`"+in+"` | "+strings.Join(names, ", "))
	}
	return read, idle
}

// TestKeysDocumented holds the tables of keys against the code: each key in
// both, with its type and default, and with a meaning.
func TestKeysDocumented(t *testing.T) {
	read, idle := listed(Keys())
	var gotRead, gotIdle []string
	for _, cells := range rows(t, regexp.MustCompile("^\\| `[\\w.<>\\[\\]]+` \\|")) {
		switch {
		case len(cells) == 2:
			gotIdle = append(gotIdle, strings.Join(cells, " | "))
		case len(cells) == 4 && cells[3] != "":
			gotRead = append(gotRead, strings.Join(cells[:3], " | "))
		case len(cells) != 3: // Variables of the environment have three.
			t.Errorf("want a key with type, default and meaning, found %q", cells)
		}
	}
	sorted := cmpopts.SortSlices(strings.Compare)
	if diff := cmp.Diff(read, gotRead, sorted); diff != "" {
		t.Errorf("docs/configuration.md does not list the keys as they are (-code +docs):\n%s", diff)
	}
	if diff := cmp.Diff(idle, gotIdle, sorted); diff != "" {
		t.Errorf("docs/configuration.md does not list the keys that are not used as they are (-code +docs):\n%s", diff)
	}
}

// TestClustersAlike wants clusters to have the same keys in both sections, for
// the page describes them once.
func TestClustersAlike(t *testing.T) {
	below := func(prefix string) (out []Key) {
		for _, k := range Keys() {
			if rest, ok := strings.CutPrefix(k.Path, prefix); ok {
				k.Path = rest
				out = append(out, k)
			}
		}
		return out
	}
	a, b := below(composerClusters), below(orchestratorClusters)
	if diff := cmp.Diff(a, b); diff != "" || len(a) == 0 {
		t.Errorf("%d keys (-composerIngestor +orchestrator):\n%s", len(a), diff)
	}
}

// TestEnvironmentDocumented holds the table of variables against the code.
func TestEnvironmentDocumented(t *testing.T) {
	ours, upstream := environmentVariables[0], environmentVariables[1]
	want := [][]string{
		{"`" + ours.url + "`", "`" + upstream.url + "`"},
		{"`" + ours.name + "`", "`" + upstream.name + "`"},
		{"`" + ours.token + "`", "`" + upstream.token + "`"},
		{"`" + ours.ca + "`", "`" + upstream.ca + "`"},
	}
	var got [][]string
	for _, cells := range rows(t, regexp.MustCompile("^\\| `ORCHESTRATOR_")) {
		got = append(got, cells[:2])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/configuration.md does not list the variables as they are (-code +docs):\n%s", diff)
	}
}

// TestRulesDocumented holds the table of mistakes against the rules.
func TestRulesDocumented(t *testing.T) {
	var want [][]string
	for _, r := range Rules {
		want = append(want, []string{r.ID, r.Severity.String(), r.Title, r.Why})
	}
	for _, r := range ProductionRules {
		want = append(want, []string{r.ID, r.Severity.String(), r.Title, r.Why})
	}
	if diff := cmp.Diff(want, rows(t, regexp.MustCompile(`^\| (CONF|PROD)\d+ \|`))); diff != "" {
		t.Errorf("docs/configuration.md does not list the rules as they are (-code +docs):\n%s", diff)
	}
}

// TestPermissionsDocumented holds the list of permissions against the code.
func TestPermissionsDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(top, "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, name := range Permissions {
		want = append(want, "`"+name+"`")
	}
	text := strings.Join(strings.Fields(string(page)), " ")
	if all := strings.Join(want, ", ") + "."; !strings.Contains(text, all) {
		t.Errorf("docs/configuration.md does not say: %s", all)
	}
}

// TestExamples reads the configurations of the examples and of the page.
func TestExamples(t *testing.T) {
	path := filepath.Join(top, "examples", "config", "app-config.yaml")
	env := vars{"PRODUCTION_TOKEN": "t", "OIDC_CLIENT_SECRET": "s"}
	c, fs := Load([]string{path}, Options{Lookup: env.lookup})
	if len(fs) > 0 {
		t.Errorf("%s: found %q", path, lines(fs))
	}
	if len(c.Clusters()) != 3 {
		t.Errorf("%s: want three clusters, found %d", path, len(c.Clusters()))
	}
	_, fs = Load([]string{path}, Options{})
	for _, f := range fs {
		if f.Rule != RuleVariable {
			t.Errorf("%s: without the environment found %+v", path, f)
		}
	}
	if finding.Count(fs, finding.Error) != len(env) {
		t.Errorf("%s: want a mistake for each of %d variables, found %q", path, len(env), lines(fs))
	}

	if _, fs := Load([]string{filepath.Join(top, "app-config.yaml")}, Options{Sections: PortalSections}); len(fs) > 0 {
		t.Errorf("app-config.yaml: found %q", lines(fs))
	}

	page, err := os.ReadFile(filepath.Join(top, "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) == 0 {
		t.Error("docs/configuration.md shows no configuration")
	}
	for _, b := range blocks {
		files := disk{"a.yaml": b[1], "secrets/token": "t"}
		// What a page names is set, and no cluster of the environment.
		env := vars{}
		for _, name := range regexp.MustCompile(`\$\{(\w+)\}`).FindAllStringSubmatch(b[1], -1) {
			env[name[1]] = "something-long-enough"
		}
		if _, fs := Load([]string{"a.yaml"}, Options{Lookup: env.lookup, ReadFile: files.read}); len(fs) > 0 {
			t.Errorf("docs/configuration.md shows a configuration with mistakes: %q\n%s", lines(fs), b[1])
		}
	}
}
