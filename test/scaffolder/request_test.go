package scaffolder_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/git/forge/contract"
	"example.dev/ingestor/internal/scaffolder/taskstore"
)

// delivery returns the values of the delivery page.
func delivery(s *stage, repository string) string {
	return "{delivery: change-request, gitHost: '" + s.name + "', gitRepository: " + repository + ", gitPath: live, gitBranch: main}"
}

// serverOf returns the Git server with change requests, or the one without.
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

// request checks that the n-th change request of a repository is open with a
// title, and returns it.
func (r *repository) request(n int, title string) *contract.Entry {
	r.t.Helper()
	if len(r.All) < n {
		r.t.Fatalf("repository has %d change requests, want %d", len(r.All), n)
	}
	e := r.All[n-1]
	if e.Title != title || e.Target != "main" || e.Closed {
		r.t.Errorf("change request is %+v, want it open for main with the title", e)
	}
	return e
}

// TestChangeRequest checks change requests that add, update and remove a
// resource, and merges each.
func TestChangeRequest(t *testing.T) {
	_, c := enter(t)
	s := serverOf(t, forges)
	r := s.repository(t, "acme/requests")
	c.form("buckets.storage.example.org", "")
	values := override(t, parse(t, bucketValues), delivery(s, "acme/requests"))
	h := c.completes("buckets.storage.example.org", values)
	e := r.request(1, "Add Bucket files")
	file := strings.TrimSpace(strings.TrimPrefix(strings.Join(r.changed(e.Source), " "), "A"))
	if got := r.git("show", e.Source+":"+file); got != bucketText {
		t.Errorf("file %s differs (-want +got):\n%s", file, cmp.Diff(bucketText, got))
	}
	if !strings.Contains(h.log(), "opened "+s.url+"/acme/requests/pull/1") {
		t.Errorf("log does not have the URL of the change request:\n%s", h.log())
	}
	if skipped := "Skipping step apply"; !strings.Contains(h.log(), skipped) {
		t.Errorf("apply step was not skipped:\n%s", h.log())
	}
	r.merge(e)

	// The form of an update has only new values; the file keeps the others.
	less := override(t, parse(t, "{name: files, namespace: shop, versioning: true}"), delivery(s, "acme/requests"))
	c.completes("buckets.storage.example.org-update", less)
	e = r.request(2, "Update Bucket files")
	if got, want := r.git("show", e.Source+":"+file), strings.Replace(bucketText, "versioning: false", "versioning: true", 1); got != want {
		t.Errorf("file after the update differs (-want +got):\n%s", cmp.Diff(want, got))
	}
	r.merge(e)

	gone := override(t, parse(t, "{name: files, namespace: shop, confirm: true}"), delivery(s, "acme/requests"))
	c.completes("buckets.storage.example.org-delete", gone)
	e = r.request(3, "Remove Bucket files")
	if diff := cmp.Diff([]string{"D", file}, r.changed(e.Source)); diff != "" {
		t.Errorf("removal changed more than the file (-want +got):\n%s", diff)
	}
}

// TestChangeRequestAgain retries a task whose change request could not be
// opened, and runs another one with the same branch. It checks that there is
// only one change request.
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
	h := c.fails("again", parse(t, "{size: small}"), "cannot propose pushed branch", "the archive is locked")
	if len(r.All) != 0 || len(r.branches()) != 1 {
		t.Fatalf("repository has %d change requests and the branches %v, want none and one branch", len(r.All), r.branches())
	}
	r.Before = nil
	c.want(http.StatusCreated, http.MethodPost, api+"/tasks/"+h.id+"/retry", nil)
	until(t, "the task is completed", func() bool { return c.task(h.id).Get("status").Str() == taskstore.TaskCompleted })
	r.request(1, "One of small")

	h = c.completes("again", parse(t, "{size: large}"))
	e := r.request(1, "One of large")
	if len(r.All) != 1 || len(r.branches()) != 1 {
		t.Errorf("repository has %d change requests and the branches %v, want one of each", len(r.All), r.branches())
	}
	if text := r.git("show", e.Source+":"+r.changed(e.Source)[1]); !strings.Contains(text, "size: large") {
		t.Errorf("file of the change request is %s, want size large", text)
	}
	if !strings.Contains(string(h.events[len(h.events)-1].Body.Output), s.url+"/acme/again/pull/1") {
		t.Errorf("output has no link to the change request: %s", h.events[len(h.events)-1].Body.Output)
	}
}

// TestPlainGit checks pushes to Git servers without change requests: over HTTP,
// and to a folder.
func TestPlainGit(t *testing.T) {
	_, c := enter(t)
	s := serverOf(t, plain)
	c.form("networks.net.example.org", "")
	for name, host := range map[string]string{"http": s.name, "folder": folderHost} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := c.in(t)
			r := s.repository(t, "acme/"+name)
			values := override(t, parse(t, "{name: wide, owner: net, cidr: 10.0.0.0/8}"), delivery(s, "acme/"+name))
			h := c.completes("networks.net.example.org", override(t, values, "{gitHost: '"+host+"'}"))
			all := r.branches()
			if len(all) != 1 {
				t.Fatalf("branches are %v, want one:\n%s", all, h.log())
			}
			changed := r.changed(all[0])
			want := "apiVersion: net.example.org/v1beta1\nkind: Network\nmetadata:\n  name: wide\n  annotations:\n    backstage.io/owner: net\nspec:\n  cidr: 10.0.0.0/8\n"
			if got := r.git("show", all[0]+":"+changed[1]); got != want {
				t.Errorf("file %s differs (-want +got):\n%s", changed[1], cmp.Diff(want, got))
			}
		})
	}
}

// TestGitBadDays checks the errors of repositories that reject or cannot
// receive a change.
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
		"gone":    {"the repository is there no more", func(name string, _ *repository) { s.remove(name) }, "", []string{"repository not found"}},
		"refused": {"the server does not take the push", func(_ string, r *repository) { r.hook(hook) }, "", []string{"main is protected here"}},
		"locked": {"A repository without read permission is an error.", func(_ string, r *repository) {
			r.guard = func(w http.ResponseWriter, _ *http.Request) bool {
				w.WriteHeader(http.StatusForbidden)
				return true
			}
		}, "", []string{"permission denied for these credentials"}},
		"broken": {"A server error is reported.", func(_ string, r *repository) {
			r.guard = func(w http.ResponseWriter, _ *http.Request) bool {
				w.WriteHeader(http.StatusInternalServerError)
				return true
			}
		}, "", []string{"500"}},
		"branch":  {"A missing branch is an error.", func(string, *repository) {}, "{gitBranch: none}", []string{"none"}},
		"outside": {"A path outside of the repository is rejected.", func(string, *repository) {}, "{gitPath: ../../etc}", []string{"../../etc"}},
		"unknown": {"A host that is not configured is rejected.", func(string, *repository) {}, "{gitHost: git.elsewhere.example}", []string{`host "git.elsewhere.example" is not allowed`}},
	}
	c.form("buckets.storage.example.org", "")
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := c.in(t)
			r := s.repository(t, "acme/"+name)
			tc.breaks("acme/"+name, r)
			values := override(t, parse(t, bucketValues), delivery(s, "acme/"+name))
			if tc.values != "" {
				values = override(t, values, tc.values)
			}
			h := c.fails("buckets.storage.example.org", values, tc.want...)
			if len(r.All) != 0 || len(r.branches()) != 0 {
				t.Errorf("%s: repository has %d change requests and the branches %v, want none", tc.reason, len(r.All), r.branches())
			}
			if strings.Contains(h.raw, gitToken) {
				t.Errorf("%s: events contain the token:\n%s", tc.reason, h.raw)
			}
		})
	}
}

// TestSecondTask proposes the same resource twice. It checks that the open
// change request has the latest values, and that a new one is opened after it
// was closed.
func TestSecondTask(t *testing.T) {
	_, c := enter(t)
	s := serverOf(t, forges)
	r := s.repository(t, "acme/twice")
	c.form("buckets.storage.example.org", "")
	values := override(t, parse(t, bucketValues), delivery(s, "acme/twice"))
	want := func(n int, versioning string) {
		t.Helper()
		e := r.request(n, "Add Bucket files")
		text := parse(t, r.git("show", e.Source+":"+r.changed(e.Source)[1]))
		same(t, e.Source, parse(t, versioning), text.Get("spec", "versioning"))
		if len(r.All) != n || len(r.branches()) != n {
			t.Errorf("repository has %d change requests and the branches %v", len(r.All), r.branches())
		}
	}
	c.completes("buckets.storage.example.org", values)
	want(1, "false")
	c.completes("buckets.storage.example.org", override(t, values, "{versioning: true}"))
	want(1, "true")
	r.All[0].Closed = true
	c.completes("buckets.storage.example.org", values)
	want(2, "false")
}
