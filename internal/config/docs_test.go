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
	"example.dev/ingestor/internal/config/keys"
	"example.dev/ingestor/internal/config/rule"
)

const top = "../.."

// rows returns the cells of the matching lines of docs/configuration.md.
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

// inHandbook returns the path of a key in the spelling of the handbook: with the
// words of Crossplane and Kubernetes where the code has the neutral ones, and
// the reverse for alternative spellings.
func inHandbook(path string) string {
	parts := strings.SplitN(path, ".", 3)
	swap := func(i int, a, b string) {
		switch {
		case i >= len(parts):
		case parts[i] == a:
			parts[i] = b
		case parts[i] == b:
			parts[i] = a
		}
	}
	swap(0, "composerIngestor", "crossplaneIngestor")
	swap(0, "clusterIngestor", "kubernetesIngestor")
	swap(0, "orchestrator", "kubernetes")
	if parts[0] == "kubernetesIngestor" {
		swap(1, "composer", "crossplane")
	}
	return strings.Join(parts, ".")
}

// typeInHandbook returns the type of a key in the spelling of the handbook: an
// alternative spelling names its main key.
func typeInHandbook(k keys.Key) string {
	name, ok := strings.CutPrefix(k.Type, "as `")
	if !ok {
		return k.Type
	}
	name = strings.TrimSuffix(name, "`")
	if k.Path == "clusterIngestor.crossplane" {
		return "as `" + strings.TrimPrefix(inHandbook("clusterIngestor."+name), "kubernetesIngestor.") + "`"
	}
	return "as `" + inHandbook(name) + "`"
}

// Paths of the two lists of clusters, which are described once.
const (
	composerClusters     = "composerIngestor.clusters[]."
	orchestratorClusters = "orchestrator.clusterLocatorMethods[].clusters[]."
)

// listed returns the keys as the page lists them: supported keys with type and
// default, unsupported ones by their parent. Maps are listed by their keys.
func listed(all []keys.Key) (read, idle []string) {
	unused := map[string][]string{}
	for _, k := range all {
		path, kind := inHandbook(k.Path), typeInHandbook(k)
		switch i := strings.LastIndex(path, "."); {
		case strings.HasPrefix(k.Path, orchestratorClusters), k.Type == "map", k.Type == "list":
		case k.Type == keys.TypeIdle:
			unused[path[:i]] = append(unused[path[:i]], "`"+path[i+1:]+"`")
		case k.Default == "":
			read = append(read, "`"+path+"` | "+kind+" | none")
		default:
			read = append(read, "`"+path+"` | "+kind+" | `"+k.Default+"`")
		}
	}
	for in, names := range unused {
		idle = append(idle, "`"+in+"` | "+strings.Join(names, ", "))
	}
	return read, idle
}

// TestKeysDocumented compares the tables of keys with the code: each key is in
// both, with type, default and description.
func TestKeysDocumented(t *testing.T) {
	read, idle := listed(Keys())
	var gotRead, gotIdle []string
	for _, cells := range rows(t, regexp.MustCompile("^\\| `[\\w.<>\\[\\]]+` \\|")) {
		switch {
		case len(cells) == 2:
			gotIdle = append(gotIdle, strings.Join(cells, " | "))
		case len(cells) == 4 && cells[3] != "":
			gotRead = append(gotRead, strings.Join(cells[:3], " | "))
		case len(cells) != 3: // Environment variables have three cells.
			t.Errorf("cells are %q, want a key with type, default and description", cells)
		}
	}
	sorted := cmpopts.SortSlices(strings.Compare)
	if diff := cmp.Diff(read, gotRead, sorted); diff != "" {
		t.Errorf("keys in docs/configuration.md differ (-code +docs):\n%s", diff)
	}
	if diff := cmp.Diff(idle, gotIdle, sorted); diff != "" {
		t.Errorf("unsupported keys in docs/configuration.md differ (-code +docs):\n%s", diff)
	}
}

// TestClustersAlike checks that clusters have the same keys in both sections, as
// the page describes them once.
func TestClustersAlike(t *testing.T) {
	below := func(prefix string) (out []keys.Key) {
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
		t.Errorf("%d keys of clusters differ (-composerIngestor +orchestrator):\n%s", len(a), diff)
	}
}

// TestEnvironmentDocumented compares the table of variables with the code.
func TestEnvironmentDocumented(t *testing.T) {
	ours, upstream := environmentVariables[0], environmentVariables[1]
	want := [][]string{
		{"`" + upstream.url + "`", "`" + ours.url + "`"},
		{"`" + upstream.name + "`", "`" + ours.name + "`"},
		{"`" + upstream.token + "`", "`" + ours.token + "`"},
		{"`" + upstream.ca + "`", "`" + ours.ca + "`"},
	}
	var got [][]string
	for _, cells := range rows(t, regexp.MustCompile("^\\| `KUBERNETES_")) {
		got = append(got, cells[:2])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("variables in docs/configuration.md differ (-code +docs):\n%s", diff)
	}
}

// TestRulesDocumented compares the table of findings with the rules.
func TestRulesDocumented(t *testing.T) {
	var want [][]string
	for _, r := range rule.All {
		want = append(want, []string{r.ID, r.Severity.String(), r.Title, r.Why})
	}
	if diff := cmp.Diff(want, rows(t, regexp.MustCompile(`^\| CONF\d+ \|`))); diff != "" {
		t.Errorf("rules in docs/configuration.md differ (-code +docs):\n%s", diff)
	}
}

// TestPermissionsDocumented compares the list of permissions with the code.
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
		t.Errorf("docs/configuration.md lacks: %s", all)
	}
}

// TestExamples loads the configurations of the examples and of the page.
func TestExamples(t *testing.T) {
	path := filepath.Join(top, "examples", "config", "app-config.yaml")
	env := vars{"PRODUCTION_TOKEN": "t", "OIDC_CLIENT_SECRET": "s"}
	c, fs := Load([]string{path}, Options{Lookup: env.lookup})
	if len(fs) > 0 {
		t.Errorf("%s: findings are %q, want none", path, lines(fs))
	}
	if len(c.Clusters()) != 3 {
		t.Errorf("%s: configuration has %d clusters, want three", path, len(c.Clusters()))
	}
	_, fs = Load([]string{path}, Options{})
	for _, f := range fs {
		if f.Rule != rule.Variable {
			t.Errorf("%s: finding without the environment is %+v", path, f)
		}
	}
	if finding.Count(fs, finding.Error) != len(env) {
		t.Errorf("%s: want an error for each of %d variables, found %q", path, len(env), lines(fs))
	}

	if _, fs := Load([]string{filepath.Join(top, "app-config.yaml")}, Options{Sections: PortalSections}); len(fs) > 0 {
		t.Errorf("findings of app-config.yaml are %q, want none", lines(fs))
	}

	page, err := os.ReadFile(filepath.Join(top, "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) == 0 {
		t.Error("docs/configuration.md has no configuration")
	}
	for _, b := range blocks {
		files := disk{"a.yaml": b[1], "secrets/token": "t"}
		// Variables that the page names are set, except those of a cluster.
		env := vars{}
		for _, name := range regexp.MustCompile(`\$\{(\w+)\}`).FindAllStringSubmatch(b[1], -1) {
			env[name[1]] = "something-long-enough"
		}
		if _, fs := Load([]string{"a.yaml"}, Options{Lookup: env.lookup, ReadFile: files.read}); len(fs) > 0 {
			t.Errorf("docs/configuration.md has an invalid configuration: %q\n%s", lines(fs), b[1])
		}
	}
}
