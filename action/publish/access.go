package publish

import (
	"cmp"
	"context"
	"net/url"
	"path"
	"slices"
	"strings"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/sink/git"
)

// web reports whether a URL uses HTTP or HTTPS, where a token applies.
func web(base *url.URL) bool { return base.Scheme == "https" || base.Scheme == "http" }

// name returns the repository name for permission checks: host/owner/name.
func (in *input) name() string {
	return strings.ToLower(in.host + "/" + strings.TrimSuffix(in.repository, ".git"))
}

// proposed returns the branch that a change request pushes, or the prefix of its
// name if the name is generated later.
func (p publisher) proposed(in *input) string { return cmp.Or(in.source, p.Prefix+"/") }

// authorize returns an error unless the caller may push to a branch of the
// repository with the portal's credentials. It also sets in.mayEdit, which checks
// CI definitions before they are pushed. If the step brings its own credentials,
// the server authorizes the push.
func (p publisher) authorize(ctx context.Context, c *action.Call, in *input, at place, branch string) error {
	in.mayEdit = func(map[string]bool) error { return nil }
	if at.own {
		return nil
	}
	t := action.Target{Name: "branch " + cmp.Or(branch, "(default)") + " of " + in.name(), Repository: in.name(), Branch: branch}
	if err := c.Require(ctx, action.RepositoryWrite, t); err != nil {
		return err
	}
	in.mayEdit = func(names map[string]bool) error {
		for name := range names {
			if !isPipeline(name) {
				continue
			}
			t.Name = name + " of " + in.name()
			if err := c.Require(ctx, action.PipelineWrite, t); err != nil {
				return err
			}
		}
		return nil
	}
	return nil
}

// checkCommit returns the *action.Denied for a step that commit would refuse.
func (p publisher) checkCommit(ctx context.Context, c *action.Call) error {
	in, at, err := p.locate(ctx, c.Input)
	if err != nil {
		return err
	}
	return p.authorize(ctx, c, in, at, in.target)
}

// checkPropose returns the *action.Denied for a step that propose would refuse.
func (p publisher) checkPropose(ctx context.Context, c *action.Call) error {
	in, at, err := p.locate(ctx, c.Input)
	if err != nil {
		return err
	}
	return p.authorize(ctx, c, in, at, p.proposed(in))
}

// locate reads the repository and branch of a step.
func (p publisher) locate(ctx context.Context, n *tree.Node) (*input, place, error) {
	in := names(n)
	if err := in.locate(textOf(n, "repository", "repoUrl")); err != nil {
		return nil, place{}, err
	}
	at, err := p.place(ctx, in, false)
	return in, at, err
}

// Target returns the repository, as host/owner/name, and the branch that a step
// with an input pushes to; the branch is empty if the step names none. ok is false
// if the input names no repository.
func Target(n *tree.Node) (repository, branch string, ok bool) {
	in := names(n)
	if in.locate(textOf(n, "repository", "repoUrl")) != nil {
		return "", "", false
	}
	return in.name(), cmp.Or(in.source, in.target), true
}

// author returns the author of a commit: the calling user, or the portal.
func (p publisher) author(c *action.Call) (name, email string) {
	name, email = cmp.Or(p.Author, git.DefaultAuthor), cmp.Or(p.Email, git.DefaultEmail)
	if c.Caller.Service || c.Caller.Guest || c.Caller.Ref == "" {
		return name, email
	}
	clean := func(s string) string {
		return oneLine(strings.Map(func(r rune) rune {
			if strings.ContainsRune("<>\x00", r) {
				return -1
			}
			return r
		}, s))
	}
	return cmp.Or(clean(c.Caller.Name), clean(c.Caller.Ref)), cmp.Or(clean(c.Caller.Email), email)
}

// CI servers run these files with the secrets of the repository. The last two
// files control who reviews a change, and which submodules are part of it.
var (
	pipelineFolders = []string{
		".github/workflows", ".github/actions", ".gitea/workflows", ".forgejo/workflows", ".gitlab/ci", ".circleci", ".buildkite",
		".tekton", ".woodpecker", ".drone", ".azure-pipelines", ".teamcity", ".semaphore", ".harness",
	}
	pipelineFiles = []string{
		".gitlab-ci.yml", ".gitlab-ci.yaml", "jenkinsfile", "azure-pipelines.yml", "azure-pipelines.yaml", "bitbucket-pipelines.yml",
		".drone.yml", ".travis.yml", ".woodpecker.yml", ".woodpecker.yaml", "appveyor.yml", ".appveyor.yml", ".cirrus.yml",
		"cloudbuild.yaml", "cloudbuild.yml", "buildspec.yml", "codeowners", ".gitmodules",
	}
)

// isPipeline reports whether a file of a repository is a CI definition.
func isPipeline(name string) bool {
	name = strings.ToLower(strings.Trim(path.Clean("/"+name), "/"))
	if slices.Contains(pipelineFiles, path.Base(name)) || strings.HasSuffix(name, ".gitlab-ci.yml") {
		return true
	}
	return slices.ContainsFunc(pipelineFolders, func(folder string) bool { return strings.HasPrefix(name, folder+"/") })
}
