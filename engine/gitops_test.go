package engine_test

import (
	"strings"
	"testing"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/engine/form"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/words"
)

// TestDeliveryFindings checks that a change request which would fail at run
// time is reported when the template is built.
func TestDeliveryFindings(t *testing.T) {
	cases := map[string]struct {
		reason     string
		repo, path string
		// rule and want are the expected finding; host, name and at are the values in
		// the form.
		rule, want     string
		host, name, at string
	}{
		"Right":      {"Valid settings have no finding.", "https://github.com/acme/live", "a/b", "", "", "github.com", "acme/live", "a/b"},
		"None":       {"Without a repository the form asks for it.", "", "a", engine.RuleNoRepository, "no repository is set for change requests", "", "", "a"},
		"Port":       {"A host can have a port.", "https://git.example.com:8443/a/b/c.git", "", "", "", "git.example.com:8443", "a/b/c", ""},
		"Plain":      {"A plain server may have no owners.", "https://git.example.com/live.git", "", "", "", "git.example.com", "live", ""},
		"Hostless":   {"Without a host the form asks for it.", "acme/live", "", engine.RuleDelivery, "has no host, so the form asks for it", "", "acme/live", ""},
		"Owner":      {"An owner is not a repository.", "acme", "", engine.RuleDelivery, "lacks the host and the owner or name of the repository and is ignored", "", "", ""},
		"Half":       {"An owner on a host is not a repository.", "https://github.com/acme", "", engine.RuleDelivery, "lacks the owner or the name of the repository", "", "", ""},
		"Host":       {"A host is not a repository.", "https://github.com", "", engine.RuleDelivery, "has no repository", "", "", ""},
		"Repo URL":   {"The scaffolder's repoUrl format is refused.", "github.com?owner=acme&repo=live", "", engine.RuleDelivery, "has no valid host and repository", "", "", ""},
		"Odd":        {"A name with a space is refused.", "https://github.com/acme/li ve", "", engine.RuleDelivery, "is not a repository URL", "", "", ""},
		"Dots":       {"A path traversal is refused.", "https://github.com/../live", "", engine.RuleDelivery, "is not a repository URL", "", "", ""},
		"Expression": {"Expressions are refused.", "https://github.com/acme/${{ secrets.x }}", "", engine.RuleDelivery, "is not a repository URL", "", "", ""},
		"Up":         {"A path traversal is not a path.", "https://github.com/acme/live", "../x", engine.RuleDelivery, "is not a path in a repository and is ignored", "github.com", "acme/live", ""},
		"Git":        {"A path into .git is refused.", "https://github.com/acme/live", "a/.git", engine.RuleDelivery, "is not a path in a repository", "github.com", "acme/live", ""},
		"Backslash":  {"Backslashes are refused.", "https://github.com/acme/live", `a\b`, engine.RuleDelivery, "is not a path in a repository", "github.com", "acme/live", ""},
		"Twice":      {"Double slashes are refused.", "https://github.com/acme/live", "a//b", engine.RuleDelivery, "is not a path in a repository", "github.com", "acme/live", ""},
		"Password":   {"A password is not shown.", "https://me:hunter2@github.com/acme", "", engine.RuleDelivery, "lacks the owner or the name", "", "", ""},
	}
	for name, tc := range cases {
		for _, v := range vocabularies {
			t.Run(name+"/"+v.String(), func(t *testing.T) {
				d := define(t, v, annotated("portal.io/gitops-repo", tc.repo), annotated("portal.io/gitops-path", tc.path))
				if rest := transform(t, engine.CLI, engine.Options{}, engine.Input{Definition: d}); len(rest.Findings) > 0 {
					t.Errorf("%s\nfindings without change requests: %v", tc.reason, rest.Findings)
				}
				res := transform(t, engine.CLI, engine.Options{GitOps: true}, engine.Input{Definition: d})
				oneFinding(t, tc.reason, res.Findings, tc.rule, tc.want)
				e := first(t, res.Entities, entity.KindTemplate)
				git := page(e, 3, "dependencies", form.ParamDelivery, "oneOf").List()[1].Get("properties")
				for param, want := range map[string]string{form.ParamGitHost: tc.host, form.ParamGitRepository: tc.name, form.ParamGitPath: tc.at} {
					if got := git.Get(param, "default").Str(); got != want {
						t.Errorf("%s\nvalue of %s is %q, want %q", tc.reason, param, got, want)
					}
				}
				if text := string(entity.YAMLDocuments(res.Entities)); strings.Contains(text, "hunter2") {
					t.Errorf("%s\npassword is in the entities", tc.reason)
				}
			})
		}
	}
}

// oneFinding checks that there is exactly one finding about delivery, or none.
func oneFinding(t *testing.T, reason string, fs []finding.Finding, rule, want string) {
	t.Helper()
	var got []finding.Finding
	for _, f := range fs {
		if f.Rule == engine.RuleDelivery || f.Rule == engine.RuleNoRepository {
			got = append(got, f)
		}
		if strings.Contains(f.Message+f.Hint, "hunter2") {
			t.Errorf("%s\npassword is in the finding: %v", reason, f)
		}
	}
	switch {
	case rule == "" && len(got) == 0:
	case len(got) != 1 || got[0].Rule != rule || !strings.Contains(got[0].Message, want) || got[0].Hint == "":
		t.Errorf("%s\nwant %s %q, got %v", reason, rule, want, got)
	}
}

// TestTemplateDelivery checks the same findings for what templates write into
// steps.
func TestTemplateDelivery(t *testing.T) {
	git := func(pairs ...string) map[string]any {
		m := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return map[string]any{"gitops": m}
	}
	cases := map[string]struct {
		reason        string
		wizard, steps string
		repo, path    string
		values        map[string]any
		rule, want    string
		// input is the input of the step; err is the error if nothing is made.
		input, err string
	}{
		"Right":      {"Valid settings have no finding.", "", "pull-request", "https://git.example.com/a/b", "c", git("branch", "next"), "", "", "git.example.com a/b c next", ""},
		"Owner":      {"An owner is not a repository.", "", "pull-request", "acme", "c", nil, "", "", "", "does not know the repository"},
		"Instead":    {"An invalid repository is replaced by that of the platform.", "", "pull-request", "acme", "c", git("repository", "https://git.example.com/a/b"), engine.RuleDelivery, "is ignored", "git.example.com a/b c main", ""},
		"Value":      {"An invalid repository of the platform is an error.", "", "merge-request", "", "c", git("repository", "acme"), "", "", "", "does not know the repository"},
		"Path":       {"An invalid path is replaced by that of the platform.", "", "merge-request", "https://git.example.com/a/b", "../c", git("path", "d"), engine.RuleDelivery, "is not a path", "git.example.com a/b d main", ""},
		"Branch":     {"An invalid branch is reported.", "", "pull-request", "https://git.example.com/a/b", "c", git("branch", "a..b"), engine.RuleDelivery, "value gitops.branch of the templates is not a branch name and is ignored", "git.example.com a/b c main", ""},
		"Expression": {"The platform may use an expression.", "", "pull-request", "https://git.example.com/a/b", "", git("path", "clusters/${{ parameters.namespace }}"), "", "", "git.example.com a/b clusters/${{ parameters.namespace }} main", ""},
		"Asked":      {"The wizard asks for the repository.", "gitops", "", "", "", nil, engine.RuleNoRepository, "no repository is set for change requests", "${{ parameters.gitHost }} ${{ parameters.gitRepository }} ${{ parameters.gitPath }} ${{ parameters.gitBranch }}", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := define(t, words.Portal, annotated(words.AnnotationWizard, tc.wizard), annotated(words.AnnotationSteps, tc.steps),
				annotated(words.AnnotationGitOpsRepo, tc.repo), annotated(words.AnnotationGitOpsPath, tc.path))
			tr := engine.New(engine.Concept, engine.Options{}, engine.Hooks{}).Templated(open(t), engine.TemplateOptions{Values: tc.values})
			res, err := tr.Transform(engine.Input{Definition: d})
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("%s\nerror %v, want %q", tc.reason, err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s\n%v", tc.reason, err)
			}
			oneFinding(t, tc.reason, res.Findings, tc.rule, tc.want)
			all := res.Entities[0].Spec.Get("steps").List()
			in := all[len(all)-1].Get("input")
			if got := strings.Join([]string{in.Get("host").Str(), in.Get("repository").Str(), in.Get("path").Str(), in.Get("branch").Str()}, " "); got != tc.input {
				t.Errorf("%s\ninput of the step is %q, want %q", tc.reason, got, tc.input)
			}
		})
	}
}
