package composer

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/engine/folder"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/lint"
	"example.dev/ingestor/xrd/structural"
)

// TestChecks checks that every rule about errors of definitions fails exactly
// one check, and that all rules of checks exist.
func TestChecks(t *testing.T) {
	// These rules are about a document or a Composition.
	elsewhere := []string{
		xrd.RuleSyntax, xrd.RuleRecord, xrd.RuleIncomplete,
		lint.RuleCompositionName, lint.RuleCompositionType, lint.RuleCompositionEmpty, lint.RuleCompositionMode, lint.RuleModeMix,
		lint.RuleNativeMode, lint.RuleStepName, lint.RuleStepFunction,
	}
	// These are about templates, which this command does not have.
	for _, r := range slices.Concat(folder.Rules, structural.Rules) {
		elsewhere = append(elsewhere, r.ID)
	}
	known := map[string]bool{}
	for _, r := range output.Rules() {
		known[r.ID] = true
		n := 0
		for _, c := range checks {
			for _, id := range c.rules {
				if id == r.ID {
					n++
				}
			}
		}
		switch {
		case n > 1:
			t.Errorf("rule %s fails %d checks, want 1", r.ID, n)
		case slices.Contains(elsewhere, r.ID) && n > 0:
			t.Errorf("rule %s is not about definitions, but fails a check", r.ID)
		case r.Severity == finding.Error && n == 0 && !slices.Contains(elsewhere, r.ID):
			t.Errorf("rule %s, %q, fails no check: add it to one", r.ID, r.Title)
		}
	}
	for _, c := range checks {
		for _, id := range c.rules {
			if !known[id] {
				t.Errorf("check %q has the unknown rule %s", c.title, id)
			}
		}
	}
}

// TestChecksTitles pins the titles, as scripts of users depend on them.
func TestChecksTitles(t *testing.T) {
	var got []string
	for _, c := range checks {
		got = append(got, c.title)
	}
	want := []string{"XRD structure valid", "schema present", "required labels found", "compatible with template generation"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("checks (-want +got):\n%s", diff)
	}
}

// TestNoSchema checks that no schema is found if there is no version that could
// have one.
func TestNoSchema(t *testing.T) {
	for reason, spec := range map[string]string{
		"no spec":              "",
		"no versions":          "spec: {group: example.org, names: {kind: A, plural: as}}\n",
		"an empty list":        "spec: {group: example.org, names: {kind: A, plural: as}, versions: []}\n",
		"versions are a map":   "spec: {group: example.org, names: {kind: A, plural: as}, versions: {}}\n",
		"a version is nothing": "spec: {group: example.org, names: {kind: A, plural: as}, versions: [null]}\n",
		"a schema is a number": "spec: {group: example.org, names: {kind: A, plural: as}, versions: [{name: v1, served: true, referenceable: true, schema: 3}]}\n",
	} {
		path := filepath.Join(t.TempDir(), "a.yaml")
		text := "apiVersion: apiextensions.crossplane.io/v2\nkind: CompositeResourceDefinition\nmetadata: {name: as.example.org, labels: {openportal.dev/ingest: 'true'}}\n" + spec
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, notes, code := run(t, "validate", path)
		if code != app.ExitInvalid || !strings.Contains(out, "failed: schema present [") {
			t.Errorf("%s: exit code %d\n%s\n%s", reason, code, out, notes)
		}
	}
}

func TestValidateClusters(t *testing.T) {
	bad := definition("bees.example.org")
	delete(bad["spec"].(object)["versions"].([]object)[0], "schema")
	a := newStandIn(t, definition("apps.example.org"), bad, unlabelled("cats.example.org"))
	config := configure(t, "", a)
	cases := map[string]struct {
		reason string
		args   []string
		code   int
		want   []string
		not    []string
	}{
		"All":   {"All definitions that the service selects are checked.", nil, app.ExitInvalid, []string{"apps.example.org\n  ok: ", "bees.example.org\n", "  failed: schema present [XRD048]\n", "a/xrd/bees.example.org: spec.versions[0].schema: error: "}, []string{"cats.example.org\n"}},
		"Named": {"A named definition is checked, whatever it lacks.", []string{"--xrd", "cats.example.org"}, app.ExitInvalid, []string{"cats.example.org\n", "  failed: required labels found [XRD029]\n", "error: label openportal.dev/ingest is"}, []string{"apps.example.org"}},
		"Fine":  {"A valid definition has no findings.", []string{"--xrd", "apps.example.org"}, app.ExitOK, []string{"  ok:     compatible with template generation\n"}, []string{"failed", "error"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, notes, code := run(t, append([]string{"validate", "--config", config, "--cluster", "a"}, tc.args...)...)
			if code != tc.code {
				t.Errorf("%s: exit code %d, want %d\n%s\n%s", tc.reason, code, tc.code, out, notes)
			}
			for _, want := range tc.want {
				if !strings.Contains(out, want) {
					t.Errorf("%s: %q is missing in\n%s", tc.reason, want, out)
				}
			}
			for _, not := range tc.not {
				if strings.Contains(out, not) {
					t.Errorf("%s: unwanted %q in\n%s", tc.reason, not, out)
				}
			}
		})
	}
}

// TestValidateStrangers checks that Compositions of other definitions are
// ignored.
func TestValidateStrangers(t *testing.T) {
	a := newStandIn(t, definition("apps.example.org"), definition("bees.example.org", "team=red"))
	a.compositions = []object{composition("small", "App")}
	config := configure(t, "xrdFilters:\n  labelSelector: team=red\n", a)
	for reason, args := range map[string][]string{
		"chosen by name":   {"--xrd", "bees.example.org"},
		"chosen by filter": {},
	} {
		out, notes, code := run(t, append([]string{"validate", "--config", config, "--cluster", "a", "--output-format", "json"}, args...)...)
		if code != app.ExitOK || strings.Contains(out, "small") {
			t.Errorf("%s: exit code %d\n%s\n%s", reason, code, out, notes)
		}
	}
}

// composition returns a Composition for a kind of example.org.
func composition(name, kind string) object {
	return object{
		"apiVersion": group + "/v1", "kind": "Composition", "metadata": object{"name": name},
		"spec": object{
			"compositeTypeRef": object{"apiVersion": "example.org/v1", "kind": kind}, "mode": "Pipeline",
			"pipeline": []object{{"step": "a", "functionRef": object{"name": "f"}}},
		},
	}
}

// TestValidateTerminal checks that a terminal gets symbols and colours, and
// other outputs get words.
func TestValidateTerminal(t *testing.T) {
	a := newStandIn(t, unlabelled("cats.example.org"))
	args := []string{"validate", "--config", configure(t, "", a), "--cluster", "a", "--xrd", "cats.example.org"}
	out, _, _ := runIn(t, &app.Env{Args: args, StdoutTerminal: true})
	if !strings.Contains(out, "\x1b[32m✓\x1b[39m schema present\n") || !strings.Contains(out, "\x1b[31m✗\x1b[39m required labels found") {
		t.Errorf("output on a terminal is\n%q", out)
	}
	out, _, _ = runIn(t, &app.Env{Args: append(args, "--no-color"), StdoutTerminal: true})
	if !strings.Contains(out, "  ✓ schema present\n") || strings.Contains(out, "\x1b[") {
		t.Errorf("output without colour is\n%q", out)
	}
}

func TestTransformClusters(t *testing.T) {
	bad := unlabelled("bees.example.com")
	bad["spec"].(object)["versions"].([]object)[0]["served"] = false
	bad["spec"].(object)["versions"].([]object)[1]["served"] = false
	a := newStandIn(t, definition("apps.example.org"), bad, unlabelled("cats.example.net"))
	a.compositions = []object{composition("small", "App")}
	config := configure(t, "xrdFilters:\n  groups: [example.org, example.com]\n", a)
	out := t.TempDir()
	_, notes, code := run(t, "transform", "--config", config, "--cluster", "a", "--output", out)
	want := []string{"api-apps.yaml", "resource-apps.yaml", "resource-bees.yaml", "template-apps.yaml"}
	if diff := cmp.Diff(want, files(t, out)); diff != "" || code != app.ExitInvalid {
		t.Errorf("exit code is %d, files (-want +got):\n%s\n%s", code, diff, notes)
	}
	text, err := os.ReadFile(filepath.Join(out, "resource-apps.yaml"))
	if err != nil || strings.Count(string(text), "\nkind: Resource\n") != 2 {
		t.Errorf("Resources of a definition are not in one file: %v\n%s", err, text)
	}
	stdout, notes, code := run(t, "transform", "--config", config, "--cluster", "a", "--xrd", "cats.example.net", "--stdout", "--format", "json", "--owner", "me")
	if code != app.ExitOK || strings.Count(stdout, "\n") != 3 || strings.Count(stdout, `"owner":"me"`) != 3 {
		t.Errorf("named definition: exit code is %d\n%s\n%s", code, stdout, notes)
	}
}
