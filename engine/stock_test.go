package engine_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/engine/form"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/words"
)

// TestStockTemplates checks the Templates for a Backstage with only its own actions: one
// for each definition, which writes the manifest and opens a change request.
func TestStockTemplates(t *testing.T) {
	cases := map[string]struct {
		reason   string
		provider form.GitProvider
		repo     string
		// want are the actions, the repository that the form proposes, the inputs for the two
		// branches, and the output with the link.
		want []string
	}{
		"GitHub":          {"A pull request.", form.GitHub, "https://github.com/acme/live", []string{"catalog:write publish:github:pull-request", "github.com?owner=acme&repo=live", "branchName targetBranchName", "remoteUrl"}},
		"GitLab":          {"A merge request; groups can be nested.", form.GitLab, "https://gitlab.com/acme/infra/live", []string{"catalog:write publish:gitlab:merge-request", "gitlab.com?owner=acme%2Finfra&repo=live", "branchName targetBranchName", "mergeRequestUrl"}},
		"BitbucketServer": {"A repository is in a project.", form.BitbucketServer, "https://git.example.org/ACME/live.git", []string{"catalog:write publish:bitbucketServer:pull-request", "git.example.org?project=ACME&repo=live", "sourceBranch targetBranch", "pullRequestUrl"}},
		"BitbucketCloud":  {"A repository is in a workspace; the form asks for the project.", form.BitbucketCloud, "https://bitbucket.org/acme/live", []string{"catalog:write publish:bitbucketCloud:pull-request", "bitbucket.org?workspace=acme&repo=live", "sourceBranch targetBranch", "pullRequestUrl"}},
		"Asked":           {"Without a repository the form asks for it.", form.GitHub, "", []string{"catalog:write publish:github:pull-request", "", "branchName targetBranchName", "remoteUrl"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := define(t, words.Upstream, annotated("portal.io/gitops-repo", tc.repo), annotated("portal.io/gitops-path", "teams/data"))
			opts := engine.Options{Stock: tc.provider, GitOps: true, DayTwo: true, Clusters: []string{"a", "b"}, NoCompositionDetails: true}
			res := transform(t, engine.CLI, opts, engine.Input{Definition: d})
			templates := 0
			for _, e := range res.Entities {
				if e.Kind == entity.KindTemplate {
					templates++
				}
			}
			if templates != 1 {
				t.Errorf("%s\n%d Templates, want 1", tc.reason, templates)
			}
			e := first(t, res.Entities, entity.KindTemplate)
			steps := e.Spec.Get("steps").List()
			var actions, branches []string
			for _, s := range steps {
				actions = append(actions, s.Get("action").Str())
			}
			for _, f := range steps[1].Get("input").Fields {
				if strings.HasSuffix(strings.ToLower(f.Key), "branch") || strings.HasSuffix(f.Key, "branchName") || strings.HasSuffix(f.Key, "BranchName") {
					branches = append(branches, f.Key)
				}
			}
			repository := page(e, 2, "properties", form.ParamGitRepository)
			link := e.Spec.Get("output", "links").List()[0].Get("url").Str()
			got := []string{
				strings.Join(actions, " "), repository.Get("default").Str(), strings.Join(branches, " "),
				strings.TrimSuffix(strings.TrimPrefix(link, "${{ steps.propose.output."), " }}"),
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
			if got, want := steps[0].Get("input", "filePath").Str(), "${{ parameters.gitPath }}/database/${{ parameters.namespace }}/${{ parameters.name }}.yaml"; got != want {
				t.Errorf("%s\nthe file is %q, want %q", tc.reason, got, want)
			}
			if got := page(e, 2, "properties", form.ParamGitPath, "default").Str(); got != "teams/data" {
				t.Errorf("%s\nthe path is %q", tc.reason, got)
			}
			if text := string(entity.YAMLDocuments([]*entity.Entity{e})); strings.Contains(text, "YamlText") || strings.Contains(text, form.ParamCluster) {
				t.Errorf("%s\nthe Template has a field of the portal:\n%s", tc.reason, text)
			}
		})
	}
}
