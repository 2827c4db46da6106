package scaffolder

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/scaffolder/taskstore"
)

// used returns the Templates and counts of a response.
func (w *world) used(caller, params string) (all []string) {
	w.t.Helper()
	var out struct{ Items []usage }
	w.want(caller, "GET", "/templates/usage"+params, "", http.StatusOK, &out)
	for _, u := range out.Items {
		if at, err := time.Parse(time.RFC3339, u.LastUsedAt); err != nil || time.Since(at).Abs() > patience {
			w.t.Errorf("%s was last used at %s", u.TemplateRef, u.LastUsedAt)
		}
		all = append(all, fmt.Sprint(u.TemplateRef, " ", u.Count))
	}
	return all
}

func TestTemplateUsage(t *testing.T) {
	// Bob may not read Templates in the namespace other.
	w := newWorld(t, nil, config.PermissionRule{Who: []string{"user:default/bob"}, Permissions: []string{"catalog.entity.read"}, Namespaces: []string{"other"}})
	if got := w.used("guest", ""); got != nil {
		t.Errorf("no Template was used, but usage is %q", got)
	}
	const word = `{"word":"hello"}`
	close(w.released)
	for range 3 {
		w.create("ada", "template:other/wait", `{}`)
	}
	w.create("bob", "echo", word)
	w.create("machine", "echo", word)
	w.create("ada", "fail", `{}`)
	w.want("ada", "POST", "/dry-run", `{"template":{"apiVersion":"scaffolder.portal.io/v1beta3","kind":"Template","metadata":{"name":"fail"},"spec":{"type":"x","steps":[{"id":"a","action":"test:say","input":{"text":"x"}}]}},"values":{},"directoryContents":[]}`, http.StatusOK, nil)
	for id, task := range map[string]taskstore.Task{
		"gone":  {Template: "template:default/removed", CreatedBy: "user:default/ada", Created: time.Now()},
		"early": {Template: "template:default/fail", CreatedBy: "user:default/ada", Created: time.Now().Add(-usagePeriod - time.Minute)},
	} {
		task.ID, task.Spec = id, []byte("{}")
		if err := w.tasks.AddTask(t.Context(), &task); err != nil {
			t.Fatal(err)
		}
	}
	wait, echo, fail := "template:other/wait ", "template:default/echo ", "template:default/fail "
	cases := map[string]struct {
		reason, caller, params string
		want                   []string
	}{
		"All":         {"The most used Template is first; a dry run, an early task and a removed Template do not count.", "ada", "", []string{wait + "3", echo + "2", fail + "1"}},
		"Guest":       {"A guest sees what is used.", "guest", "?mine=false", []string{wait + "3", echo + "2", fail + "1"}},
		"Unreadable":  {"Templates that the caller may not read are left out.", "bob", "", []string{echo + "2", fail + "1"}},
		"Limit":       {"The limit counts Templates that the caller may read.", "bob", "?limit=1", []string{echo + "2"}},
		"None":        {"The limit may be zero.", "ada", "?limit=0", nil},
		"Mine":        {"A user's own tasks.", "ada", "?mine=true", []string{wait + "3", fail + "1"}},
		"MineOfBob":   {"Another user's own tasks.", "bob", "?mine=true", []string{echo + "1"}},
		"MineService": {"A service's own tasks.", "machine", "?mine=true", []string{echo + "1"}},
		"MineNone":    {"A user without tasks.", "admin", "?mine=true", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w.t = t
			if diff := cmp.Diff(tc.want, w.used(tc.caller, tc.params)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	w.t = t
	if r := w.do("guest", "GET", "/templates/usage?mine=true", ""); r.status != http.StatusForbidden || !strings.Contains(r.body, "scaffolder.task.read") {
		t.Errorf("tasks of a guest are answered with %d %s", r.status, r.body)
	}
	for _, params := range []string{"?limit=101", "?limit=-1", "?limit=x", "?mine=maybe", "?mine=true&mine=true", "?mine=%00", "?limit=99999999999999999999"} {
		if r := w.do("ada", "GET", "/templates/usage"+params, ""); r.status != http.StatusBadRequest {
			t.Errorf("%s is answered with %d %s", params, r.status, r.body)
		}
	}
}
