package scaffolder

import (
	"net/http"
	"strings"
	"testing"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/identity/permission"
)

// TestRunAction checks who may run a single action, what of its input is evaluated, and
// who follows the task.
func TestRunAction(t *testing.T) {
	const say = `{"templateRef":"echo","input":{"text":"${{ user.ref }} 7*6"}}`
	trust := func(o *Options) { o.TrustTemplates = func(name string) bool { return name == "company" } }
	byRule := config.PermissionRule{Permissions: []string{permission.ActionExecute}, Providers: []string{"backstage:other"}, Allow: true}
	named := config.PermissionRule{Permissions: []string{permission.ActionExecute}, Templates: []string{"template:default/echo"}, Allow: true}
	cases := map[string]struct {
		reason       string
		caller, path string
		body         string
		status       int
		want         string
		rules        []config.PermissionRule
	}{
		"Trusted":   {"A user of a Backstage whose Templates are trusted runs an action.", "ada via company", "test:say", say, 201, `"id"`, nil},
		"Alias":     {"Every name of the action works.", "ada via company", "another:say", say, 201, `"id"`, nil},
		"Untrusted": {"The Templates of another Backstage may do nothing by default.", "ada via other", "test:say", say, 403, "the Template comes from backstage:other, which is not trusted", nil},
		"Rule":      {"A rule about the Backstage allows it.", "ada via other", "test:say", say, 201, `"id"`, []config.PermissionRule{byRule}},
		"Named":     {"A rule about a Template is not about one of that name in a Backstage.", "ada via other", "test:say", say, 403, "which is not trusted", []config.PermissionRule{named}},
		"User":      {"A user cannot name a Template and run anything as if it were a step of it.", "ada", "test:say", say, 403, "only a Backstage in auth.backstage runs single actions", []config.PermissionRule{named}},
		"Machine":   {"Nor can a service.", "machine", "test:say", say, 403, "only a Backstage in auth.backstage runs single actions", nil},
		"UserDry":   {"A dry run of a user has a Template.", "ada", "test:say", strings.Replace(say, "{", `{"dryRun":true,`, 1), 403, "only a Backstage in auth.backstage runs single actions", nil},
		"Service":   {"A Backstage does not run actions for itself.", "company", "test:say", say, 403, "a Backstage may only read, unless it calls for a user", nil},
		"Guest":     {"Nor do guests.", "guest", "test:say", say, 403, "guests may only read", nil},
		"Dry":       {"A dry run says what would be done.", "ada via company", "test:say", strings.Replace(say, "{", `{"dryRun":true,`, 1), 200, `"output":{"run":{"said":"${{ user.ref }} 7*6"}}`, nil},
		"Unknown":   {"There is no such action.", "ada via company", "test:none", say, 404, "No action test:none found", nil},
		"NoInput":   {"The input is an object.", "ada via company", "test:say", `{"templateRef":"echo","input":"x"}`, 400, "request/body/input must be object", nil},
		"BadInput":  {"The input must be there.", "ada via company", "test:say", `{"templateRef":"echo"}`, 400, "cannot parse request/body/input", nil},
		"NoRef":     {"The Template is named.", "ada via company", "test:say", `{"input":{}}`, 400, "request/body/templateRef must have the form", nil},
		"Elsewhere": {"It need not be in the catalog.", "ada via company", "test:say", `{"templateRef":"template:default/theirs","input":{"text":"x"}}`, 201, `"id"`, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, trust, tc.rules...)
			got := w.do(tc.caller, http.MethodPost, "/actions/"+tc.path+"/run", tc.body)
			if got.status != tc.status || !strings.Contains(got.body, tc.want) {
				t.Fatalf("%s: got %d %s, want %d with %q", tc.reason, got.status, got.body, tc.status, tc.want)
			}
		})
	}

	w := newWorld(t, trust, byRule)
	id := between(w.do("ada via company", http.MethodPost, "/actions/test:say/run", say).body, `"id":"`, `"`)
	w.until(id, "completed")
	for caller, want := range map[string]int{"company": 200, "ada via company": 200, "ada": 200, "other": 404, "bob": 404, "guest": 403} {
		got := w.do(caller, http.MethodGet, "/tasks/"+id+"/events", "")
		if got.status != want {
			t.Errorf("events for %s: got %d %s, want %d", caller, got.status, got.body, want)
		}
		if want == 200 && !strings.Contains(got.body, `"run":{"said":"${{ user.ref }} 7*6"}`) {
			t.Errorf("the input was evaluated again, or the output is missing: %s", got.body)
		}
	}
	id = between(w.do("ada via company", http.MethodPost, "/actions/test:wait/run", `{"templateRef":"echo","input":{}}`).body, `"id":"`, `"`)
	if got := w.do("other", http.MethodPost, "/tasks/"+id+"/cancel", ""); got.status != http.StatusNotFound {
		t.Errorf("another Backstage cancels: %d %s", got.status, got.body)
	}
	if got := w.do("company", http.MethodPost, "/tasks/"+id+"/cancel", ""); got.status != http.StatusOK {
		t.Errorf("the Backstage cannot cancel: %d %s", got.status, got.body)
	}
	w.until(id, "cancelled")
}

func between(text, before, after string) string {
	_, rest, _ := strings.Cut(text, before)
	out, _, _ := strings.Cut(rest, after)
	return out
}
