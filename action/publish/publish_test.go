package publish

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/git/forge/contract"
)

const request = "publish:change-request"

// propose is the input of the step of a generated Template.
const propose = `
host: HOST
repository: acme/live
path: clusters/live
branch: main
title: Add Database orders
manifest:
  apiVersion: platform.example.org/v1
  kind: Database
  metadata: {name: orders, namespace: shop}
  spec: {size: 3, note: "yes"}
`

const manifest = `apiVersion: platform.example.org/v1
kind: Database
metadata:
  name: orders
  namespace: shop
spec:
  size: 3
  note: "yes"
`

const (
	file   = "clusters/live/database/shop/orders.yaml"
	branch = "portal/database-orders-"
)

// texts returns the outputs of a step as texts.
func (r run) texts() map[string]string {
	all := map[string]string{}
	for name, v := range r.outputs {
		all[name] = string(tree.AppendJSON(nil, v, ""))
		if v.IsString() {
			all[name] = v.Text
		}
	}
	return all
}

// TestPropose proposes a resource at each kind of forge, twice.
func TestPropose(t *testing.T) {
	for _, kind := range []string{contract.GitHub, contract.GitLab, contract.Gitea} {
		t.Run(kind, func(t *testing.T) {
			s := set(t, kind, nil)
			got := s.run(request, s.call(propose))
			if got.err != nil {
				t.Fatalf("%v\n%s\n%s", got.err, hint(got.err), got.log)
			}
			out := got.texts()
			made := out["branch"]
			if !strings.HasPrefix(made, branch) || len(made) != len(branch)+10 {
				t.Errorf("branch is %q", made)
			}
			where := map[string]string{contract.GitLab: "/-/merge_requests/1"}[kind]
			if where == "" {
				where = "/pull/1"
			}
			at := s.URL + "/acme/live" + where
			want := map[string]string{
				"url": at, "remoteUrl": at, "mergeRequestUrl": at, "pullRequestNumber": "1", "branch": made, "targetBranchName": "main", "projectPath": "acme/live",
				"commit": strings.TrimSpace(s.git("rev-parse", made)), "path": file, "paths": `["` + file + `"]`, "changed": "true",
			}
			if diff := cmp.Diff(want, out); diff != "" {
				t.Errorf("outputs (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(map[string]string{"README.md": "hello\n", file: manifest}, s.files(made)); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			if msg := s.git("log", "-1", "--format=%an <%ae>, %cn <%ce>%n%B", made); msg != "Alice <alice@example.com>, ingestor <ingestor@localhost>\nAdd Database orders\n\nRequested-by: user:default/alice\n\n" {
				t.Errorf("commit message is %q", msg)
			}
			entry := contract.Entry{Number: 1, Source: made, Target: "main", Title: "Add Database orders", Body: "Proposed by user:default/alice (task task-1)."}
			if diff := cmp.Diff(&entry, s.All[0]); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
			again := s.run(request, s.call(strings.Replace(propose, "title: Add", "title: Please add", 1)))
			if diff := cmp.Diff(out, again.texts()); diff != "" || again.err != nil {
				t.Errorf("again (-want +got):\n%s%v", diff, again.err)
			}
			if len(s.All) != 1 || s.All[0].Title != "Please add Database orders" || !strings.Contains(again.log, "updated "+at) {
				t.Errorf("%d requests, %+v\n%s", len(s.All), s.All[0], again.log)
			}
			other := s.call(strings.Replace(propose, "size: 3", "size: 4", 1))
			other.Key = "task-2/propose"
			if got := s.run(request, other); got.err != nil || got.texts()["branch"] != made || len(s.All) != 1 {
				t.Errorf("another task for the same resource: %v, %v", got.texts(), got.err)
			}
			s.All[0].Closed = true
			other = s.call(propose)
			other.Key = "task-3/propose"
			if got := s.run(request, other); got.err != nil || got.texts()["branch"] == made || len(s.All) != 2 {
				t.Errorf("task after the change request was closed: %v, %v", got.texts(), got.err)
			}
			other = s.call(strings.Replace(propose, "name: orders", "name: bills", 1))
			if got := s.run(request, other); got.err != nil || got.texts()["branch"] == made || len(s.All) != 3 {
				t.Errorf("task for another resource: %v, %v", got.texts(), got.err)
			}
		})
	}
}

// TestUpstream proposes files with the upstream names of the inputs.
func TestUpstream(t *testing.T) {
	s := set(t, contract.GitHub, map[string]string{"svc/old.txt": "old", "svc/run.sh": "echo"})
	s.write("out/a.txt", "a")
	s.write("out/d/b.txt", "b")
	s.write("out/.git/config", "secret")
	s.write("else.txt", "else")
	s.host.Auth.Token = ""
	c := s.call(`
repoUrl: HOST?repo=live&owner=acme
branchName: add-svc
targetBranchName: main
title: Add svc
description: A new service.
gitCommitMessage: "feat: svc"
gitAuthorName: Bot
gitAuthorEmail: bot@example.com
sourcePath: ./out
targetPath: svc
filesToDelete: [old.txt, missing.txt]
labels: [new, svc]
draft: true
reviewers: [bob]
`)
	c.Input.Set("token", tree.Str(token))
	got := s.run(request, c)
	if got.err != nil {
		t.Fatalf("%v\n%s", got.err, hint(got.err))
	}
	want := map[string]string{"README.md": "hello\n", "svc/a.txt": "a", "svc/d/b.txt": "b", "svc/run.sh": "echo"}
	if diff := cmp.Diff(want, s.files("add-svc")); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	entry := contract.Entry{Number: 1, Source: "add-svc", Target: "main", Title: "Add svc", Body: "A new service.", Draft: true, Labels: []string{"new", "svc"}}
	if diff := cmp.Diff(&entry, s.All[0]); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	if msg := s.git("log", "-1", "--format=%an <%ae> %s", "add-svc"); msg != "Alice <alice@example.com> feat: svc\n" || !strings.Contains(got.log, "ignored unsupported input reviewers") {
		t.Errorf("commit message is %q, the log\n%s", msg, got.log)
	}
}

// TestQuiet checks steps that open no change request.
func TestQuiet(t *testing.T) {
	cases := map[string]struct {
		reason string
		files  map[string]string
		input  string
		dry    bool
		log    string
		want   string
	}{
		"There":    {"An unchanged file opens no change request.", map[string]string{file: manifest}, propose, false, "nothing to propose: main is up to date", "false"},
		"Reworded": {"A file with equal content in another format opens no change request.", map[string]string{file: "# mine\n" + strings.Replace(manifest, `"yes"`, "'yes'", 1)}, propose, false, "nothing to propose", "false"},
		"Gone":     {"Removing a missing file opens no change request.", nil, propose + "remove: true\n", false, "nothing to propose", "false"},
		"DryRun":   {"A dry run opens no change request.", nil, propose, true, "add " + file + "\ndry run", "true"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := set(t, contract.GitHub, tc.files)
			c := s.call(tc.input)
			c.DryRun = tc.dry
			got := s.run(request, c)
			if got.err != nil || !strings.Contains(got.log, tc.log) || got.texts()["changed"] != tc.want || got.outputs["url"] != nil {
				t.Errorf("%s\n%v, %v\n%s", tc.reason, got.err, got.texts(), got.log)
			}
			if b := s.branches(); len(b) != 1 || len(s.All) != 0 {
				t.Errorf("%s\nbranches %v, %d requests", tc.reason, b, len(s.All))
			}
		})
	}
}

// TestMerge checks that a manifest is merged into the existing file of the
// resource.
func TestMerge(t *testing.T) {
	input := strings.Replace(propose, "manifest:", "merge: true\nmanifest:", 1)
	if input == propose {
		t.Fatal("input has no manifest to insert merge before")
	}
	there := "apiVersion: platform.example.org/v1\nkind: Database\nmetadata:\n  name: orders\n  namespace: shop\n  labels: {a: b}\nspec: {kept: 1}\n"
	s := set(t, contract.GitHub, map[string]string{file: there})
	got := s.run(request, s.call(input))
	if got.err != nil {
		t.Fatalf("%v\n%s", got.err, hint(got.err))
	}
	docs, _ := parser.DecodeBytes([]byte(s.files(got.texts()["branch"])[file]))
	whole, _ := parser.DecodeBytes([]byte(manifest))
	if n := docs[0]; n.Get("spec", "kept").Scalar() != "1" || n.Get("metadata", "labels", "a").Str() != "b" || !tree.Overlay(n, whole[0]).Equal(n) {
		t.Errorf("merged file is %v", n.Any())
	}
	s = set(t, contract.GitHub, nil)
	got = s.run(request, s.call(input))
	if want := "cannot merge: file \"" + file[len("clusters/live/"):] + "\" of Database orders does not exist"; got.err == nil || !strings.Contains(got.err.Error(), want) {
		t.Errorf("merge into a missing file: want %s, got %v", want, got.err)
	}
}

// TestTaken runs a step again after its change request was merged.
func TestTaken(t *testing.T) {
	s := set(t, contract.GitLab, nil)
	first := s.run(request, s.call(propose))
	if first.err != nil {
		t.Fatal(first.err)
	}
	s.seed("main", map[string]string{file: manifest})
	s.All[0].Closed = true
	got := s.run(request, s.call(propose))
	if got.err != nil || !strings.Contains(got.log, "nothing to propose") || len(s.All) != 1 {
		t.Errorf("%v, %d requests\n%s", got.err, len(s.All), got.log)
	}
}

// TestPlain pushes to a server without change requests, and checks the log.
func TestPlain(t *testing.T) {
	s := set(t, "", nil)
	for _, how := range []string{"asked", "told", "file"} {
		c := s.call(strings.Replace(propose, "acme/live", "acme/live.git", 1))
		c.Key = how
		switch how {
		case "told":
			s.host.Kind = "git"
		case "file":
			s.host = Host{URL: "file://" + filepath.ToSlash(filepath.Dir(filepath.Dir(s.dir)))}
		}
		got := s.run(request, c)
		out := got.texts()
		if got.err != nil || out["url"] != "" || out["commit"] == "" || !strings.Contains(got.log, "does not support change requests") {
			t.Errorf("%s: %v, %v\n%s", how, got.err, out, got.log)
			continue
		}
		if s.files(out["branch"])[file] != manifest {
			t.Errorf("%s: branch does not exist", how)
		}
	}
}

// TestKustomization checks that the resource is added to and removed from the
// kustomization.
func TestKustomization(t *testing.T) {
	s := set(t, contract.Gitea, map[string]string{"clusters/live/kustomization.yml": "# ours\nresources:\n  # first\n  - a.yaml\n  - z.yaml # last\n"})
	got := s.run(request, s.call(propose+"kustomization: true\n"))
	out := got.texts()
	listed := "# ours\nresources:\n  # first\n  - a.yaml\n  - database/shop/orders.yaml\n  - z.yaml # last\n"
	if got.err != nil || s.files(out["branch"])["clusters/live/kustomization.yml"] != listed {
		t.Fatalf("%v\n%v", got.err, s.files(out["branch"]))
	}
	if out["paths"] != `["`+file+`","clusters/live/kustomization.yml"]` {
		t.Errorf("paths %s", out["paths"])
	}
	s.git("update-ref", "refs/heads/main", out["branch"])
	c := s.call(propose + "kustomization: true\nremove: true\n")
	c.Key = "remove"
	got = s.run(request, c)
	if got.err != nil {
		t.Fatal(got.err)
	}
	want := map[string]string{"README.md": "hello\n", "clusters/live/kustomization.yml": "# ours\nresources:\n  # first\n  - a.yaml\n  - z.yaml # last\n"}
	if diff := cmp.Diff(want, s.files(got.texts()["branch"])); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestCommit commits to a branch without a change request.
func TestCommit(t *testing.T) {
	s := set(t, "", nil)
	s.write("a.txt", "a")
	input := "{repository: 'http://HOST/acme/live.git', path: /docs/, sourcePath: ., message: Docs}"
	first := s.run(ActionCommit, s.call(input))
	if first.err != nil || s.files("main")["docs/a.txt"] != "a" {
		t.Fatalf("%v\n%v", first.err, s.files("main"))
	}
	tip := strings.TrimSpace(s.git("rev-parse", "main"))
	want := map[string]string{"changed": "true", "branch": "main", "commit": tip, "paths": `["docs/a.txt"]`, "projectPath": "acme/live"}
	if diff := cmp.Diff(want, first.texts()); diff != "" {
		t.Errorf("outputs (-want +got):\n%s", diff)
	}
	again := s.run(ActionCommit, s.call(input))
	want["changed"] = "false"
	if diff := cmp.Diff(want, again.texts()); diff != "" || again.err != nil || strings.TrimSpace(s.git("rev-parse", "main")) != tip {
		t.Errorf("again: %v (-want +got):\n%s", again.err, diff)
	}
	got := s.run(ActionCommit, s.call("{repository: 'http://HOST/acme/live.git', branch: new, base: main, sourcePath: a.txt, message: One}"))
	if diff := cmp.Diff(map[string]string{"README.md": "hello\n", "docs/a.txt": "a", "a.txt": "a"}, s.files("new")); diff != "" || got.err != nil {
		t.Errorf("new branch: %v (-want +got):\n%s", got.err, diff)
	}
}

// TestBadDays checks failing steps, their errors and what they leave behind.
func TestBadDays(t *testing.T) {
	says := func(status int) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, req *http.Request) bool {
			_, _ = io.Copy(io.Discard, req.Body)
			http.Error(w, req.Header.Get("Authorization"), status)
			return true
		}
	}
	// told passes the requests for the repository on to the server.
	told := func(answer func(http.ResponseWriter, *http.Request) bool) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, req *http.Request) bool {
			return req.Method != http.MethodGet && answer(w, req)
		}
	}
	cases := map[string]struct {
		reason string
		input  string
		set    func(s *stage)
		err    string
		hint   string
		// pushed reports whether the branch exists after the error.
		pushed bool
	}{
		"Repository": {"A missing repository is reported.", strings.Replace(propose, "acme/live", "acme/nope", 1), nil, "repository not found", "check the spelling", false},
		"Token":      {"A wrong token is reported.", propose, func(s *stage) { s.host.Auth.Token = "wr0ng-" + token }, "rejected the token", "has not expired", false},
		"Target":     {"A missing target branch is reported.", strings.Replace(propose, "branch: main", "branch: nope", 1), nil, `no branch or tag "nope"`, "available: main", false},
		"Protected": {"A protected branch is reported.", propose, func(s *stage) {
			at := filepath.Join(s.dir, "hooks", "update")
			if err := os.WriteFile(at, []byte("#!/bin/sh\necho 'the branch is protected' >&2; exit 1\n"), 0o755); err != nil {
				s.t.Fatal(err)
			}
		}, "refused to update branch", "protected", false},
		"Refused": {"A push without permission is reported.", propose, func(s *stage) {
			s.guard = func(w http.ResponseWriter, req *http.Request) bool {
				return strings.HasSuffix(req.URL.Path, "git-receive-pack") && says(http.StatusForbidden)(w, req)
			}
		}, "permission denied for these credentials", "use credentials", false},
		"Down":   {"A forge that is down is reported before anything is pushed.", propose, func(s *stage) { s.Before = says(http.StatusBadGateway) }, "responded with 502", "try again later", false},
		"Broken": {"A forge that fails after the push is reported.", propose, func(s *stage) { s.host.Kind = "gitea"; s.Before = told(says(http.StatusInternalServerError)) }, "cannot propose pushed branch", "run the step again to continue", true},
		"Scope":  {"A token without permission for change requests is reported.", propose, func(s *stage) { s.host.Kind = "gitea"; s.Before = told(says(http.StatusForbidden)) }, "token lacks permission", "set a token that may", true},
		"Other": {"A file that holds another object is not overwritten.", propose, func(s *stage) {
			s.seed("main", map[string]string{file: strings.Replace(manifest, "platform.", "other.", 1)})
		}, "contains something other than Database orders", "choose another path", false},
		"List": {"A kustomization that cannot be edited is reported.", propose + "kustomization: true\n", func(s *stage) {
			s.seed("main", map[string]string{"clusters/live/kustomization.yaml": "resources: [a.yaml]\n"})
		}, "cannot list", "one entry per line", false},
		"Host":     {"A host that is not allowed is refused.", strings.Replace(propose, "HOST", "git.example.com", 1), nil, `host "git.example.com" is not allowed`, "configuration", false},
		"NoHost":   {"A missing host is reported.", strings.Replace(propose, "host: HOST", "", 1), nil, "host of repository", "write owner/name", false},
		"BadHost":  {"A host with a path is refused.", strings.Replace(propose, "HOST", "HOST/x", 1), nil, "is not a host name", "without scheme", false},
		"Dots":     {"A repository with a path traversal is refused.", strings.Replace(propose, "acme/live", "acme/../../etc", 1), nil, "is not a valid repository name", "write owner/name", false},
		"Up":       {"A path out of the repository is refused.", strings.Replace(propose, "clusters/live", "../x", 1), nil, "is not a valid path", "without ..", false},
		"Password": {"A password in the URL is refused and not shown.", "{repoUrl: 'https://u:" + token + "@HOST/acme/live', manifest: {}}", nil, "invalid repository URL", "without a password", false},
		"Itself":   {"A change request from a branch to itself is refused.", propose + "branchName: main\n", nil, `cannot propose branch "main" for itself`, "remove branchName", false},
		"Nothing":  {"An input without anything to publish is refused.", "{host: HOST, repository: acme/live}", nil, "nothing to publish: no manifest and no files in the workspace", "set manifest", false},
		"Source":   {"A source path out of the workspace is refused.", "{host: HOST, repository: acme/live, sourcePath: ../x}", nil, "is outside the workspace", "without ..", false},
		"Link": {"A link out of the workspace is refused.", "{host: HOST, repository: acme/live}", func(s *stage) {
			if err := os.Symlink(s.dir, filepath.Join(s.space, "way")); err != nil {
				s.t.Fatal(err)
			}
		}, `cannot read "way" of the workspace`, "no link", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := set(t, contract.Gitea, nil)
			if tc.set != nil {
				tc.set(s)
			}
			got := s.run(request, s.call(tc.input))
			if got.err == nil || !strings.Contains(got.err.Error(), tc.err) || !strings.Contains(hint(got.err), tc.hint) {
				t.Errorf("%s\n%v, %q\nwant %q, %q", tc.reason, got.err, hint(got.err), tc.err, tc.hint)
			}
			if strings.Contains(fmt.Sprint(got.err), s.space) {
				t.Errorf("%s\npath of the workspace is in the error: %v", tc.reason, got.err)
			}
			if b := s.branches(); (len(b) == 2) != tc.pushed || len(s.All) != 0 {
				t.Errorf("%s\nbranches %v, %d requests", tc.reason, b, len(s.All))
			}
			if !tc.pushed {
				return
			}
			// The next run continues from there.
			s.Before = nil
			got = s.run(request, s.call(tc.input))
			if b := s.branches(); got.err != nil || len(b) != 2 || len(s.All) != 1 || got.texts()["commit"] == "" {
				t.Errorf("%s\nagain: %v, branches %v, %d requests", tc.reason, got.err, b, len(s.All))
			}
		})
	}
}

// TestPlan checks the plans in the text of a change request.
func TestPlan(t *testing.T) {
	const proposed = "Proposed by user:default/alice (task task-1)."
	two := strings.Replace(propose, "manifest:\n  apiVersion", "manifest:\n- apiVersion", 1) +
		"- {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}}\n"
	cases := map[string]struct {
		reason, input string
		text          string
		err           error
		want          string
		log           string
	}{
		"Plan":     {"The plan is below the text.", propose, "**Plan: 1 to create**\n", nil, proposed + "\n\n### Database shop/orders\n\n**Plan: 1 to create**\n", ""},
		"Several":  {"Each resource has its plan.", two, "p\n", nil, proposed + "\n\n### Database shop/orders\n\np\n\n\n### ConfigMap shop/a\n\np\n", ""},
		"None":     {"A resource that is no composite has none.", propose, "", nil, proposed, ""},
		"Failed":   {"A failure is in the log, and does not prevent the request.", propose, "", errors.New("cluster is away"), proposed + "\n\n### Database shop/orders\n\nNo plan: the log of the task says why.\n", "no plan of Database shop/orders: cluster is away"},
		"Long":     {"The text of a request is limited.", propose, strings.Repeat("x", 62_000), nil, proposed + "\n\n### Database shop/orders\n\nThe plan is too long for this text; see composer-ingestor plan.\n", ""},
		"LongText": {"The text itself counts.", propose + "description: " + strings.Repeat("y", 30_000) + "\n", strings.Repeat("x", 40_000), nil, strings.Repeat("y", 30_000) + "\n\n### Database shop/orders\n\nThe plan is too long for this text; see composer-ingestor plan.\n", ""},
		"Remove":   {"A removal has no plan.", propose + "remove: true\n", "p", nil, proposed, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := set(t, contract.GitHub, map[string]string{"clusters/live/database/shop/other.yaml": "a: b\n"})
			if name == "Remove" {
				s = set(t, contract.GitHub, map[string]string{file: manifest})
			}
			var asked []Proposal
			s.plan = func(_ context.Context, _ *action.Call, p Proposal) (string, error) {
				asked = append(asked, p)
				return tc.text, tc.err
			}
			got := s.run(request, s.call(tc.input+"cluster: west\n"))
			if got.err != nil || len(s.All) != 1 {
				t.Fatalf("%v, %d requests\n%s", got.err, len(s.All), got.log)
			}
			if diff := cmp.Diff(tc.want, s.All[0].Body); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
			if !strings.Contains(got.log, tc.log) {
				t.Errorf("%s: log is\n%s", tc.reason, got.log)
			}
			if name != "Remove" && (len(asked) == 0 || asked[0].Cluster != "west" || asked[0].Manifest.Get("kind").Str() != "Database" || asked[0].Merge) {
				t.Errorf("plan was made of %+v", asked)
			}
		})
	}
}
