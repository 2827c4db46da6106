package engine

import (
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine/form"
)

// changeRequest is how an action of Backstage opens a change request at a Git provider.
type changeRequest struct {
	action string
	// source and target are the inputs for the new branch and the branch that the change
	// is proposed for; link is the output with the address of the change request.
	source, target, link string
}

// changeRequests are the actions of Backstage.
var changeRequests = map[form.GitProvider]changeRequest{
	form.GitHub:          {"publish:github:pull-request", "branchName", "targetBranchName", "remoteUrl"},
	form.GitLab:          {"publish:gitlab:merge-request", "branchName", "targetBranchName", "mergeRequestUrl"},
	form.BitbucketServer: {"publish:bitbucketServer:pull-request", "sourceBranch", "targetBranch", "pullRequestUrl"},
	form.BitbucketCloud:  {"publish:bitbucketCloud:pull-request", "sourceBranch", "targetBranch", "pullRequestUrl"},
}

// stockSteps returns steps that a Backstage has by itself: one that writes the manifest
// to the file that a change request of the portal would have, and one that opens a change
// request with it.
func (t *transformation) stockSteps(f *form.Form) *tree.Node {
	kind := strings.ToLower(t.target.Kind)
	id, file := kind+"-${{ parameters.name }}", kind+"/${{ parameters.name }}.yaml"
	if t.target.Namespaced {
		id, file = kind+"-${{ parameters.namespace }}-${{ parameters.name }}", kind+"/${{ parameters.namespace }}/${{ parameters.name }}.yaml"
	}
	to := changeRequests[t.opts.Stock]
	title := "Add " + t.target.Kind + " ${{ parameters.name }}"
	return tree.Arr(
		tree.Obj(
			tree.F("id", tree.Str("write")),
			tree.F("name", tree.Str("Write "+t.target.Kind)),
			tree.F("action", tree.Str("catalog:write")),
			tree.F("input", tree.Obj(
				tree.F("filePath", tree.Str("${{ parameters."+form.ParamGitPath+" }}/"+file)),
				tree.F("entity", f.Manifest),
			)),
		),
		tree.Obj(
			tree.F("id", tree.Str("propose")),
			tree.F("name", tree.Str("Propose "+t.target.Kind)),
			tree.F("action", tree.Str(to.action)),
			tree.F("input", tree.Obj(
				tree.F("repoUrl", tree.Str("${{ parameters."+form.ParamGitRepository+" }}")),
				tree.F(to.source, tree.Str("add-"+id)),
				tree.F(to.target, tree.Str("${{ parameters."+form.ParamGitBranch+" }}")),
				tree.F("title", tree.Str(title)),
				tree.F("description", tree.Str(title)),
			)),
		),
	)
}

// stockOutput returns the output of a Template with stockSteps.
func (t *transformation) stockOutput() *tree.Node {
	return tree.Obj(tree.F("links", tree.Arr(tree.Obj(
		tree.F("title", tree.Str("Change request")),
		tree.F("url", tree.Str("${{ steps.propose.output."+changeRequests[t.opts.Stock].link+" }}")),
	))))
}
