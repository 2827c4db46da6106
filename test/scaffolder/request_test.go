package scaffolder_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/git/forge/contract"
	"example.dev/ingestor/internal/scaffolder/taskstore"
)

// delivery are the values of the page about delivery.
func delivery(s *stage, repository string) string {
	return "{delivery: change-request, gitHost: '" + s.name + "', gitRepository: " + repository + ", gitPath: live, gitBranch: main}"
}

// serverOf returns the server with change requests, or the one without.
func serverOf(t *testing.T, which func() (*stage, error)) *stage {
	t.Helper()
	s, err := which()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const (
	bucketValues = "{name: files, namespace: shop, owner: 'group:default/shop', region: eu-west-1, versioning: false, lifecycleDays: 0, tags: {team: shop}}"
	bucketText   = `apiVersion: storage.example.org/v1
kind: Bucket
metadata:
  name: files
  namespace: shop
  annotations:
    backstage.io/owner: group:default/shop
spec:
  lifecycleDays: 0
  region: eu-west-1
  tags:
    team: shop
  versioning: false
`
)

// request wants the n-th request of a repository to be open with a title, and
// returns it.
func (r *repository) request(n int, title string) *contract.Entry {
	r.t.Helper()
	if len(r.All) < n {
		r.t.Fatalf("there are %d requests, want %d", len(r.All), n)
	}
	e := r.All[n-1]
	if e.Title != title || e.Target != "main" || e.Closed {
		r.t.Errorf("the request is %+v", e)
	}
	return e
}

// TestChangeRequest proposes a resource, its update and its removal, and merges
// each.
func TestChangeRequest(t *testing.T) {
	_, c := enter(t)
	s := serverOf(t, forges)
	r := s.repository(t, "acme/requests")
	c.form("buckets.storage.example.org", "")
	values := over(t, parse(t, bucketValues), delivery(s, "acme/requests"))
	h := c.completes("buckets.storage.example.org", values)
	e := r.request(1, "Add Bucket files")
	file := strings.TrimSpace(strings.TrimPrefix(strings.Join(r.changed(e.Source), " "), "A"))
	if got := r.git("show", e.Source+":"+file); got != bucketText {
		t.Errorf("the file %s is (-want +got):\n%s", file, cmp.Diff(bucketText, got))
	}
	if !strings.Contains(h.log(), "opened "+s.url+"/acme/requests/pull/1") {
		t.Errorf("nobody is told where the request is:\n%s", h.log())
	}
	if skipped := "Skipping step apply"; !strings.Contains(h.log(), skipped) {
		t.Errorf("the step that applies is not skipped:\n%s", h.log())
	}
	r.merge(e)

	// The form of an update says what is new, and the file keeps the rest.
	less := over(t, parse(t, "{name: files, namespace: shop, versioning: true}"), delivery(s, "acme/requests"))
	c.completes("buckets.storage.example.org-update", less)
	e = r.request(2, "Update Bucket files")
	if got, want := r.git("show", e.Source+":"+file), strings.Replace(bucketText, "versioning: false", "versioning: true", 1); got != want {
		t.Errorf("after an update (-want +got):\n%s", cmp.Diff(want, got))
	}
	r.merge(e)

	gone := over(t, parse(t, "{name: files, namespace: shop, confirm: true}"), delivery(s, "acme/requests"))
	c.completes("buckets.storage.example.org-delete", gone)
	e = r.request(3, "Remove Bucket files")
	if diff := cmp.Diff([]string{"D", file}, r.changed(e.Source)); diff != "" {
		t.Errorf("the removal is not just of the file (-want +got):\n%s", diff)
	}
}

// TestChangeRequestAgain runs a task again whose request could not be opened,
// and another that has chosen the same branch: there is one request all along.
func TestChangeRequestAgain(t *testing.T) {
	_, c := enter(t)
	s := serverOf(t, forges)
	r := s.repository(t, "acme/again")
	r.Before = func(w http.ResponseWriter, req *http.Request) bool {
		if req.Method == http.MethodPost {
			http.Error(w, `{"message":"the archive is locked"}`, http.StatusForbidden)
		}
		return req.Method == http.MethodPost
	}
	c.push("again", `{apiVersion: scaffolder.backstage.io/v1beta3, kind: Template, metadata: {name: again}, spec: {type: x, owner: a,
  parameters: {properties: {size: {type: string}}},
  steps: [{id: propose, action: 'publish:github:pull-request', input: {repoUrl: '`+s.name+`?owner=acme&repo=again', branchName: again/one, targetBranchName: main, title: 'One of ${{ parameters.size }}',
    manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: shop}, data: {size: '${{ parameters.size }}'}}}}],
  output: {links: [{title: The request, url: '${{ steps.propose.output.remoteUrl }}'}]}}}`)
	h := c.fails("again", parse(t, "{size: small}"), "which is pushed", "the archive is locked")
	if len(r.All) != 0 || len(r.branches()) != 1 {
		t.Fatalf("%d requests, branches %v", len(r.All), r.branches())
	}
	r.Before = nil
	c.want(http.StatusCreated, http.MethodPost, api+"/tasks/"+h.id+"/retry", nil)
	until(t, "the task is completed", func() bool { return c.task(h.id).Get("status").Str() == taskstore.TaskCompleted })
	r.request(1, "One of small")

	h = c.completes("again", parse(t, "{size: large}"))
	e := r.request(1, "One of large")
	if len(r.All) != 1 || len(r.branches()) != 1 {
		t.Errorf("%d requests, branches %v", len(r.All), r.branches())
	}
	if text := r.git("show", e.Source+":"+r.changed(e.Source)[1]); !strings.Contains(text, "size: large") {
		t.Errorf("the request has %s", text)
	}
	if !strings.Contains(string(h.events[len(h.events)-1].Body.Output), s.url+"/acme/again/pull/1") {
		t.Errorf("the output has no link: %s", h.events[len(h.events)-1].Body.Output)
	}
}

// TestPlainGit pushes to servers that know no change requests: over HTTP, and to
// a folder.
func TestPlainGit(t *testing.T) {
	_, c := enter(t)
	s := serverOf(t, plain)
	c.form("networks.net.example.org", "")
	for name, host := range map[string]string{"http": s.name, "folder": folderHost} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := c.in(t)
			r := s.repository(t, "acme/"+name)
			values := over(t, parse(t, "{name: wide, owner: net, cidr: 10.0.0.0/8}"), delivery(s, "acme/"+name))
			h := c.completes("networks.net.example.org", over(t, values, "{gitHost: '"+host+"'}"))
			all := r.branches()
			if len(all) != 1 {
				t.Fatalf("the branches are %v:\n%s", all, h.log())
			}
			changed := r.changed(all[0])
			want := "apiVersion: net.example.org/v1beta1\nkind: Network\nmetadata:\n  name: wide\n  annotations:\n    backstage.io/owner: net\nspec:\n  cidr: 10.0.0.0/8\n"
			if got := r.git("show", all[0]+":"+changed[1]); got != want {
				t.Errorf("%s (-want +got):\n%s", changed[1], cmp.Diff(want, got))
			}
		})
	}
}

// TestGitBadDays proposes to repositories that do not take it.
func TestGitBadDays(t *testing.T) {
	_, c := enter(t)
	s := serverOf(t, forges)
	hook := "#!/bin/sh\necho 'main is protected here' >&2\nexit 1\n"
	cases := map[string]struct {
		reason string
		breaks func(name string, r *repository)
		values string
		want   []string
	}{
		"gone":    {"the repository is there no more", func(name string, _ *repository) { s.remove(name) }, "", []string{"there is no such repository"}},
		"refused": {"the server does not take the push", func(_ string, r *repository) { r.hook(hook) }, "", []string{"main is protected here"}},
		"locked": {"nobody may get in", func(_ string, r *repository) {
			r.guard = func(w http.ResponseWriter, _ *http.Request) bool {
				w.WriteHeader(http.StatusForbidden)
				return true
			}
		}, "", []string{"does not let these credentials write"}},
		"broken": {"the server is broken", func(_ string, r *repository) {
			r.guard = func(w http.ResponseWriter, _ *http.Request) bool {
				w.WriteHeader(http.StatusInternalServerError)
				return true
			}
		}, "", []string{"500"}},
		"branch":  {"the branch is not there", func(string, *repository) {}, "{gitBranch: none}", []string{"none"}},
		"outside": {"the path leads out of the repository", func(string, *repository) {}, "{gitPath: ../../etc}", []string{"../../etc"}},
		"unknown": {"a host that nobody configured", func(string, *repository) {}, "{gitHost: git.elsewhere.example}", []string{`"git.elsewhere.example" is not one that may be used`}},
	}
	c.form("buckets.storage.example.org", "")
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := c.in(t)
			r := s.repository(t, "acme/"+name)
			tc.breaks("acme/"+name, r)
			values := over(t, parse(t, bucketValues), delivery(s, "acme/"+name))
			if tc.values != "" {
				values = over(t, values, tc.values)
			}
			h := c.fails("buckets.storage.example.org", values, tc.want...)
			if len(r.All) != 0 || len(r.branches()) != 0 {
				t.Errorf("%s: %d requests, branches %v", tc.reason, len(r.All), r.branches())
			}
			if strings.Contains(h.raw, gitToken) {
				t.Errorf("%s: the token shows:\n%s", tc.reason, h.raw)
			}
		})
	}
}

// TestSecondTask proposes the same resource twice: the request that is open has
// what was said last. Once it is closed, there is a new one.
func TestSecondTask(t *testing.T) {
	_, c := enter(t)
	s := serverOf(t, forges)
	r := s.repository(t, "acme/twice")
	c.form("buckets.storage.example.org", "")
	values := over(t, parse(t, bucketValues), delivery(s, "acme/twice"))
	want := func(n int, versioning string) {
		t.Helper()
		e := r.request(n, "Add Bucket files")
		text := parse(t, r.git("show", e.Source+":"+r.changed(e.Source)[1]))
		same(t, e.Source, parse(t, versioning), text.Get("spec", "versioning"))
		if len(r.All) != n || len(r.branches()) != n {
			t.Errorf("there are %d requests, and the branches %v", len(r.All), r.branches())
		}
	}
	c.completes("buckets.storage.example.org", values)
	want(1, "false")
	c.completes("buckets.storage.example.org", over(t, values, "{versioning: true}"))
	want(1, "true")
	r.All[0].Closed = true
	c.completes("buckets.storage.example.org", values)
	want(2, "false")
}
