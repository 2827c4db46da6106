package publish

import (
	"example.dev/ingestor/action"
	"example.dev/ingestor/document/tree"
)

// property returns a field of an object schema.
func property(name, kind, title, description string) tree.Field {
	return tree.F(name, tree.Obj(
		tree.F("type", tree.Str(kind)), tree.F("title", tree.Str(title)), tree.F("description", tree.Str(description))))
}

// texts returns a field that is a list of strings.
func texts(name, title, description string) tree.Field {
	f := property(name, "array", title, description)
	f.Value.Set("items", tree.Obj(tree.F("type", tree.Str("string"))))
	return f
}

// object returns the schema of an object with these fields.
func object(fields ...tree.Field) *tree.Node {
	return tree.Obj(tree.F("type", tree.Str("object")), tree.F("properties", tree.Obj(fields...)))
}

// common returns the inputs of both actions.
func common() []tree.Field {
	manifest := tree.F("manifest", tree.Obj(
		tree.F("type", tree.Strs([]string{"object", "array", "string"})), tree.F("title", tree.Str("Manifest")),
		tree.F("description", tree.Str("A resource, several, or YAML text; each goes to kind/namespace/name.yaml below the path"))))
	return []tree.Field{
		property("host", "string", "Host", "Host of the repository, such as github.com"),
		property("repository", "string", "Repository", "Owner and name, or the URL of the repository"),
		property("repoUrl", "string", "Repository location", "The repository as github.com?owner=owner&repo=name, or its URL"),
		property("path", "string", "Path", "Folder in the repository; nothing outside it is changed"),
		property("targetPath", "string", "Path", "The same as path"),
		manifest,
		property("sourcePath", "string", "Source path", "Folder of the workspace whose files are published; without it and a manifest, all of them"),
		texts("filesToDelete", "Files to delete", "Files below the path that are removed"),
		property("remove", "boolean", "Remove", "Removes the files of the manifest instead"),
		property("merge", "boolean", "Merge", "Keeps fields of the existing file that the manifest does not set; the file must exist"),
		property("kustomization", "boolean", "Kustomization", "Lists the manifest among the resources of the kustomization in the path"),
		property("commitMessage", "string", "Commit message", "Message of the commit; the default is the title"),
		property("gitCommitMessage", "string", "Commit message", "The same as commitMessage"),
		property("gitAuthorName", "string", "Author", "Name of the commit's author"),
		property("gitAuthorEmail", "string", "Author's address", "E-mail address of the commit's author"),
		property("token", "string", "Token", "Token to use; the default is that of the user, then that of the host"),
	}
}

func requestInput() *tree.Node {
	return object(append(common(),
		property("branch", "string", "Branch", "Branch the change is proposed for; the default is the default branch of the repository"),
		property("targetBranchName", "string", "Branch", "The same as branch"),
		property("branchName", "string", "Proposed branch", "Branch with the change; the default is a generated name"),
		property("title", "string", "Title", "Title of the change request"),
		property("description", "string", "Description", "Description of the change request"),
		property("cluster", "string", "Cluster", "Cluster that the plan in the text is made for; the default is the default cluster of the portal"),
		property("draft", "boolean", "Draft", "Opens the change request as a draft"),
		tree.F("labels", tree.Obj(
			tree.F("type", tree.Strs([]string{"array", "string"})), tree.F("title", tree.Str("Labels")),
			tree.F("description", tree.Str("Labels of the change request, as a list or separated by commas")))),
	)...)
}

func commitInput() *tree.Node {
	return object(append(common(),
		property("branch", "string", "Branch", "Branch to write to; the default is the default branch of the repository"),
		property("base", "string", "Base", "Base of the branch if it does not exist"),
		property("message", "string", "Message", "The same as commitMessage"),
	)...)
}

// given returns the outputs of both actions.
func given() []tree.Field {
	return []tree.Field{
		property("changed", "boolean", "Changed", "Whether anything changed"),
		property("branch", "string", "Branch", "Branch with the change"),
		property("targetBranchName", "string", "Target branch", "Branch the change is for"),
		property("commit", "string", "Commit", "Latest commit of the branch"),
		property("path", "string", "Path", "File of the manifest in the repository"),
		texts("paths", "Paths", "All files of the change"),
		property("projectPath", "string", "Repository", "Owner and name of the repository"),
	}
}

func requestOutput() *tree.Node {
	return object(append(given(),
		property("url", "string", "URL", "The change request; missing if nothing changed or the host does not support change requests"),
		property("remoteUrl", "string", "URL", "The same as url"),
		property("mergeRequestUrl", "string", "URL", "The same as url"),
		property("pullRequestNumber", "number", "Number", "Number of the change request"),
	)...)
}

func commitOutput() *tree.Node { return object(given()...) }

var requestExamples = []action.Example{
	{Description: "Propose a resource", Example: `steps:
  - id: propose
    name: Propose the database
    action: publish:change-request
    input:
      host: github.com
      repository: platform/resources
      path: clusters/live
      branch: main
      title: Add Database ${{ parameters.name }}
      kustomization: true
      manifest:
        apiVersion: platform.example.org/v1
        kind: Database
        metadata:
          name: ${{ parameters.name }}
          namespace: ${{ parameters.namespace }}
        spec:
          size: ${{ parameters.size }}
`},
	{Description: "Propose files of the workspace, as a draft", Example: `steps:
  - id: propose
    name: Propose the service
    action: publish:change-request
    input:
      repoUrl: gitlab.com?owner=platform&repo=services
      branchName: add-${{ parameters.name }}
      title: Add ${{ parameters.name }}
      description: A new service.
      sourcePath: service
      targetPath: services/${{ parameters.name }}
      draft: true
`},
}

var commitExamples = []action.Example{{Description: "Commit files of the workspace", Example: `steps:
  - id: commit
    name: Commit the documentation
    action: git:commit
    input:
      host: git.example.com
      repository: platform/docs
      branch: main
      path: generated
      sourcePath: docs
      message: Update the documentation
`}}
