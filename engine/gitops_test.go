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

// TestDeliveryFindings says at once what would fail when somebody runs a change
// request.
func TestDeliveryFindings(t *testing.T) {
	cases := map[string]struct {
		reason     string
		repo, path string
		// rule and want are the finding; host, name and at what the form proposes.
		rule, want     string
		host, name, at string
	}{
		"Right":      {"nothing to say", "https://github.com/acme/live", "a/b", "", "", "github.com", "acme/live", "a/b"},
		"None":       {"the form asks", "", "a", engine.RuleNoRepository, "nothing names the repository", "", "", "a"},
		"Port":       {"a host may have a port", "https://git.example.com:8443/a/b/c.git", "", "", "", "git.example.com:8443", "a/b/c", ""},
		"Plain":      {"a plain server may have no owners", "https://git.example.com/live.git", "", "", "", "git.example.com", "live", ""},
		"Hostless":   {"the rest is proposed", "acme/live", "", engine.RuleDelivery, "names no host, so the form asks for it", "", "acme/live", ""},
		"Owner":      {"an owner is no repository", "acme", "", engine.RuleDelivery, "names no host, and not both the owner and the name of a repository and is passed over", "", "", ""},
		"Half":       {"nor on a host", "https://github.com/acme", "", engine.RuleDelivery, "does not name both the owner and the name", "", "", ""},
		"Host":       {"a host is none either", "https://github.com", "", engine.RuleDelivery, "names no repository", "", "", ""},
		"Repo URL":   {"it is written in another way elsewhere", "github.com?owner=acme&repo=live", "", engine.RuleDelivery, "names no host and no repository", "", "", ""},
		"Odd":        {"names have no spaces", "https://github.com/acme/li ve", "", engine.RuleDelivery, "is not the address of a repository", "", "", ""},
		"Dots":       {"nor lead they elsewhere", "https://github.com/../live", "", engine.RuleDelivery, "is not the address of a repository", "", "", ""},
		"Expression": {"nothing is evaluated", "https://github.com/acme/${{ secrets.x }}", "", engine.RuleDelivery, "is not the address of a repository", "", "", ""},
		"Up":         {"a path leads down", "https://github.com/acme/live", "../x", engine.RuleDelivery, "is no path in a repository and is passed over", "github.com", "acme/live", ""},
		"Git":        {"and not into what is Git's", "https://github.com/acme/live", "a/.git", engine.RuleDelivery, "is no path in a repository", "github.com", "acme/live", ""},
		"Backslash":  {"with slashes", "https://github.com/acme/live", `a\b`, engine.RuleDelivery, "is no path in a repository", "github.com", "acme/live", ""},
		"Twice":      {"one at a time", "https://github.com/acme/live", "a//b", engine.RuleDelivery, "is no path in a repository", "github.com", "acme/live", ""},
		"Password":   {"it is not told", "https://me:hunter2@github.com/acme", "", engine.RuleDelivery, "does not name both", "", "", ""},
	}
	for name, tc := range cases {
		for _, v := range vocabularies {
			t.Run(name+"/"+v.String(), func(t *testing.T) {
				d := define(t, v, annotated("portal.io/gitops-repo", tc.repo), annotated("portal.io/gitops-path", tc.path))
				if rest := transform(t, engine.CLI, engine.Options{}, engine.Input{Definition: d}); len(rest.Findings) > 0 {
					t.Errorf("%s: without change requests there is nothing to say: %v", tc.reason, rest.Findings)
				}
				res := transform(t, engine.CLI, engine.Options{GitOps: true}, engine.Input{Definition: d})
				oneFinding(t, tc.reason, res.Findings, tc.rule, tc.want)
				e := first(t, res.Entities, entity.KindTemplate)
				git := page(e, 3, "dependencies", form.ParamDelivery, "oneOf").List()[1].Get("properties")
				for param, want := range map[string]string{form.ParamGitHost: tc.host, form.ParamGitRepository: tc.name, form.ParamGitPath: tc.at} {
					if got := git.Get(param, "default").Str(); got != want {
						t.Errorf("%s: %s is proposed as %q, want %q", tc.reason, param, got, want)
					}
				}
				if text := string(entity.YAMLDocuments(res.Entities)); strings.Contains(text, "hunter2") {
					t.Errorf("%s: the password is in the entities", tc.reason)
				}
			})
		}
	}
}

// oneFinding wants the one finding about delivery, or none.
func oneFinding(t *testing.T, reason string, fs []finding.Finding, rule, want string) {
	t.Helper()
	var got []finding.Finding
	for _, f := range fs {
		if f.Rule == engine.RuleDelivery || f.Rule == engine.RuleNoRepository {
			got = append(got, f)
		}
		if strings.Contains(f.Message+f.Hint, "hunter2") {
			t.Errorf("%s: a password is told: %v", reason, f)
		}
	}
	switch {
	case rule == "" && len(got) == 0:
	case len(got) != 1 || got[0].Rule != rule || !strings.Contains(got[0].Message, want) || got[0].Hint == "":
		t.Errorf("%s: want %s %q, got %v", reason, rule, want, got)
	}
}

// TestTemplateDelivery says it for what templates write into steps too.
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
		// input is what the step is given; err why nothing is made.
		input, err string
	}{
		"Right":      {"nothing to say", "", "pull-request", "https://git.example.com/a/b", "c", git("branch", "next"), "", "", "git.example.com a/b c next", ""},
		"Owner":      {"an owner is no repository", "", "pull-request", "acme", "c", nil, "", "", "", "does not know the repository"},
		"Instead":    {"what the platform says is used instead", "", "pull-request", "acme", "c", git("repository", "https://git.example.com/a/b"), engine.RuleDelivery, "is passed over", "git.example.com a/b c main", ""},
		"Value":      {"so it is with values", "", "merge-request", "", "c", git("repository", "acme"), "", "", "", "does not know the repository"},
		"Path":       {"a path is one", "", "merge-request", "https://git.example.com/a/b", "../c", git("path", "d"), engine.RuleDelivery, "is no path", "git.example.com a/b d main", ""},
		"Branch":     {"a branch is one", "", "pull-request", "https://git.example.com/a/b", "c", git("branch", "a..b"), engine.RuleDelivery, "the value gitops.branch of the templates is no name of a branch and is passed over", "git.example.com a/b c main", ""},
		"Expression": {"the platform may mean an expression", "", "pull-request", "https://git.example.com/a/b", "", git("path", "clusters/${{ parameters.namespace }}"), "", "", "git.example.com a/b clusters/${{ parameters.namespace }} main", ""},
		"Asked":      {"the wizard asks", "gitops", "", "", "", nil, engine.RuleNoRepository, "nothing names the repository", "${{ parameters.gitHost }} ${{ parameters.gitRepository }} ${{ parameters.gitPath }} ${{ parameters.gitBranch }}", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := define(t, words.Portal, annotated(words.AnnotationWizard, tc.wizard), annotated(words.AnnotationSteps, tc.steps),
				annotated(words.AnnotationGitOpsRepo, tc.repo), annotated(words.AnnotationGitOpsPath, tc.path))
			tr := engine.New(engine.Concept, engine.Options{}, engine.Hooks{}).Templated(open(t), engine.TemplateOptions{Values: tc.values})
			res, err := tr.Transform(engine.Input{Definition: d})
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("%s: error %v, want %q", tc.reason, err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			oneFinding(t, tc.reason, res.Findings, tc.rule, tc.want)
			all := res.Entities[0].Spec.Get("steps").List()
			in := all[len(all)-1].Get("input")
			if got := strings.Join([]string{in.Get("host").Str(), in.Get("repository").Str(), in.Get("path").Str(), in.Get("branch").Str()}, " "); got != tc.input {
				t.Errorf("%s: the step is given %q, want %q", tc.reason, got, tc.input)
			}
		})
	}
}
