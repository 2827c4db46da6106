package security_test

// policy returns the rules of the operator.
func policy(git string) []any {
	list := func(all ...any) []any { return all }
	granted := list("push:granted")
	return []any{
		// Only operators see the namespace hidden.
		sections{"who": list("group:default/platform"), "result": "allow"},
		sections{"who": list("user", "restricted"), "permissions": list("catalog.entity.read"), "namespaces": list("hidden"), "result": "deny"},
		sections{"who": list("group:default/team-b", "restricted"), "permissions": list("catalog.location.create"), "result": "deny"},
		sections{"who": list("user"), "permissions": list("catalog.provider.push"), "providers": list("granted", "fenced"), "result": "allow"},
		// These rules are for Templates that the operator did not write.
		sections{"who": list("user", "ci"), "permissions": list("scaffolder.action.execute"), "providers": list("push:granted", "registered", "inline"),
			"actions": list("fetch:*"), "result": "allow"},
		sections{"who": list("user", "restricted", "ci"), "permissions": list("scaffolder.action.execute"), "providers": granted,
			"actions": list("catalog:register", "cluster:*", "git:commit", "publish:*"), "result": "allow"},
		sections{"who": list("user"), "permissions": list("git.repository.write"), "providers": granted,
			"repositories": list(git + "/acme/granted"), "branches": list("main"), "result": "allow"},
		// Another provider may push to every branch except main.
		sections{"who": list("user"), "permissions": list("scaffolder.action.execute"), "providers": list("push:fenced"), "actions": list("git:commit"), "result": "allow"},
		sections{"who": list("user"), "permissions": list("git.repository.write"), "providers": list("push:fenced"), "branches": list("main"), "result": "deny"},
		sections{"who": list("user"), "permissions": list("git.repository.write"), "providers": list("push:fenced"), "repositories": list(git + "/acme/fenced"), "result": "allow"},
	}
}

// trusted has the Templates of the operator. They use the values of the form as
// carelessly as possible.
const trusted = `
apiVersion: scaffolder.backstage.io/v1beta3
kind: Template
metadata: { name: trusted-apply }
spec:
  type: x
  owner: group:default/platform
  parameters: { properties: { manifest: {}, cluster: { type: string }, namespace: { type: string }, update: { type: boolean } } }
  steps:
    - { id: apply, action: "kubernetes:apply", input: { cluster: "${{ parameters.cluster }}", namespace: "${{ parameters.namespace }}", update: "${{ parameters.update }}", manifest: "${{ parameters.manifest }}" } }
---
apiVersion: scaffolder.backstage.io/v1beta3
kind: Template
metadata: { name: trusted-late }
spec:
  type: x
  owner: group:default/platform
  parameters: { properties: { manifests: { type: array } } }
  steps:
    - { id: say, action: "debug:log", input: { message: hello } }
    - { id: apply, each: "${{ parameters.manifests }}", if: "${{ parameters.manifests }}", action: "kubernetes:apply", input: { manifest: "${{ each.value }}" } }
---
apiVersion: scaffolder.backstage.io/v1beta3
kind: Template
metadata: { name: trusted-take-over }
spec:
  type: x
  owner: group:default/platform
  parameters: { properties: { manifest: {} } }
  steps:
    - { id: apply, action: "kubernetes:apply", input: { takeOver: true, manifest: "${{ parameters.manifest }}" } }
---
apiVersion: scaffolder.backstage.io/v1beta3
kind: Template
metadata: { name: trusted-delete }
spec:
  type: x
  owner: group:default/platform
  parameters: { properties: { kind: { type: string }, namespace: { type: string }, name: { type: string } } }
  steps:
    - { id: delete, action: "cluster:delete", input: { apiVersion: v1, kind: "${{ parameters.kind }}", namespace: "${{ parameters.namespace }}", name: "${{ parameters.name }}" } }
---
apiVersion: scaffolder.backstage.io/v1beta3
kind: Template
metadata: { name: trusted-commit }
spec:
  type: x
  owner: group:default/platform
  parameters:
    properties:
      repository: { type: string, default: acme/named }
      branch: { type: string, default: teams }
      path: { type: string, default: a.txt }
      content: { type: string }
      author: { type: string }
  steps:
    - { id: write, action: "catalog:write", input: { filePath: "${{ parameters.path }}", entity: { content: "${{ parameters.content }}" } } }
    - id: commit
      action: "git:commit"
      input: { host: "GIT", repository: "${{ parameters.repository }}", branch: "${{ parameters.branch }}", gitAuthorName: "${{ parameters.author }}", gitAuthorEmail: root@example.org }
  output: { text: [ { content: "${{ steps.commit.output.commit }}" } ] }
---
apiVersion: scaffolder.backstage.io/v1beta3
kind: Template
metadata: { name: trusted-register }
spec:
  type: x
  owner: group:default/platform
  parameters: { properties: { url: { type: string } } }
  steps:
    - { id: register, action: "catalog:register", input: { catalogInfoUrl: "${{ parameters.url }}" } }
---
apiVersion: scaffolder.backstage.io/v1beta3
kind: Template
metadata: { name: trusted-fetch }
spec:
  type: x
  owner: group:default/platform
  parameters: { properties: { url: { type: string, default: "http://GIT/acme/named" } } }
  steps:
    - { id: fetch, action: "fetch:plain", input: { url: "${{ parameters.url }}" } }
    - { id: show, action: "debug:log", input: { listWorkspace: with-contents } }
---
apiVersion: scaffolder.backstage.io/v1beta3
kind: Template
metadata: { name: trusted-wait }
spec:
  type: x
  owner: group:default/platform
  parameters: { properties: { seconds: { type: integer } } }
  steps:
    - { id: wait, action: "debug:wait", input: { seconds: "${{ parameters.seconds }}" } }
---
apiVersion: scaffolder.backstage.io/v1beta3
kind: Template
metadata: { name: trusted-beside }
spec:
  type: x
  owner: group:default/platform
  steps:
    - { id: fetch, action: "fetch:plain", input: { url: ./skeleton } }
    - { id: show, action: "debug:log", input: { listWorkspace: with-contents } }
`
