package publish

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/git/forge/contract"
)

// TestAudit checks that each push and each change request is recorded with its
// outcome, and that dry runs and runs without changes are not.
func TestAudit(t *testing.T) {
	s := set(t, contract.Gitea, nil)
	s.host.Kind = contract.Gitea
	commit := strings.Replace(propose, "title: Add Database orders", "message: Add", 1)
	no := func(w http.ResponseWriter, status int) bool {
		http.Error(w, "no, and it was said: size 3", status)
		return true
	}
	steps := []struct {
		reason, action, input string
		dry                   bool
		before                func()
		want                  []string
	}{
		{"A dry run writes no record.", request, propose, true, nil, nil},
		{"A new branch and a change request are recorded.", request, propose, false, nil, []string{
			"git.push map[branch:BRANCH commit:COMMIT repository:HOST/acme/live] <nil>",
			"git.change-request map[branch:BRANCH operation:open repository:HOST/acme/live targetBranch:main url:http://HOST/acme/live/pull/1] <nil>",
		}},
		{"An updated change request is recorded.", request, propose, false, nil, []string{
			"git.change-request map[branch:BRANCH operation:update repository:HOST/acme/live targetBranch:main url:http://HOST/acme/live/pull/1] <nil>",
		}},
		{"a commit", ActionCommit, commit, false, nil, []string{"git.push map[branch:main commit:COMMIT repository:HOST/acme/live] <nil>"}},
		{"A run without changes writes no record.", ActionCommit, commit, false, nil, nil},
		{"A push that the server refuses is recorded.", ActionCommit, strings.Replace(commit, "size: 3", "size: 4", 1), false, func() {
			s.guard = func(w http.ResponseWriter, req *http.Request) bool {
				return strings.HasSuffix(req.URL.Path, "git-receive-pack") && no(w, http.StatusForbidden)
			}
		}, []string{"git.push map[branch:main commit: repository:HOST/acme/live] error"}},
		{"A change request that the forge refuses is recorded.", request, strings.Replace(propose, "orders", "other", 2), false, func() {
			s.guard = nil
			s.Before = func(w http.ResponseWriter, req *http.Request) bool {
				return req.Method == http.MethodPost && no(w, http.StatusForbidden)
			}
		}, []string{
			"git.push map[branch:BRANCH commit:COMMIT repository:HOST/acme/live] <nil>",
			"git.change-request map[branch:BRANCH operation: repository:HOST/acme/live targetBranch:main url:] token lacks permission",
		}},
	}
	hide := func(text string) string {
		text = regexp.MustCompile(`portal/database-\w+-[0-9a-f]{10}`).ReplaceAllString(text, "BRANCH")
		text = regexp.MustCompile(`commit:[0-9a-f]{40}`).ReplaceAllString(text, "commit:COMMIT")
		return strings.ReplaceAll(text, s.name, "HOST")
	}
	for _, step := range steps {
		if step.before != nil {
			step.before()
		}
		c := s.call(step.input)
		c.DryRun = step.dry
		var got []string
		c.Audit = func(event string, target map[string]string, err error) {
			got = append(got, hide(fmt.Sprint(event, " ", target, " ", err)))
		}
		r := s.run(step.action, c)
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%v\n%s", step.reason, diff, r.err, r.log)
		}
	}
}
