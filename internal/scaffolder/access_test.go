package scaffolder

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/identity/permission"
)

// TestAccess sends every request as every caller. The task is owned by ada.
func TestAccess(t *testing.T) {
	noSteps := config.PermissionRule{Who: []string{"user:default/bob"}, Permissions: []string{permission.TemplateStepRead}}
	w := newWorld(t, func(o *Options) { o.Fill = fill }, admins, noSteps)
	id := w.create("ada", "fail", `{}`)
	w.until(id, "failed")
	everybody := []string{"", "guest", "bob", "admin", "machine", "ada"}
	cases := map[string]struct {
		reason, method, path, body string
		// want are the statuses in the order of everybody.
		want []int
	}{
		"Templates":  {"Every signed-in caller lists Templates.", "GET", "/templates", "", []int{401, 200, 200, 200, 200, 200}},
		"Form":       {"Every signed-in caller reads forms.", "GET", "/templates/default/template/echo/parameter-schema", "", []int{401, 200, 200, 200, 200, 200}},
		"Filled":     {"Only callers who may run Templates get forms filled from resources.", "GET", "/templates/default/template/echo/parameter-schema?name=x", "", []int{401, 403, 200, 200, 200, 200}},
		"Actions":    {"Every signed-in caller lists actions.", "GET", "/actions", "", []int{401, 200, 200, 200, 200, 200}},
		"Extensions": {"Every signed-in caller reads the template language.", "GET", "/templating-extensions", "", []int{401, 200, 200, 200, 200, 200}},
		"Complete":   {"Only callers who may run Templates get autocompletion.", "POST", "/autocomplete/x/y", "{}", []int{401, 403, 404, 404, 404, 404}},
		"List":       {"Guests list no tasks.", "GET", "/tasks", "", []int{401, 403, 200, 200, 200, 200}},
		"Get":        {"A task is visible to its creator; to other users it does not exist.", "GET", "/tasks/" + id, "", []int{401, 403, 404, 200, 200, 200}},
		"Unknown":    {"A missing task gets the same response as a hidden one.", "GET", "/tasks/none", "", []int{401, 403, 404, 404, 404, 404}},
		"Events":     {"Events of a hidden task do not exist.", "GET", "/tasks/" + id + "/events", "", []int{401, 403, 404, 200, 200, 200}},
		"Stream":     {"The event stream of a hidden task does not exist.", "GET", "/tasks/" + id + "/eventstream", "", []int{401, 403, 404, 200, 200, 200}},
		"Cancel":     {"A hidden task cannot be cancelled.", "POST", "/tasks/" + id + "/cancel", "", []int{401, 403, 404, 200, 200, 200}},
		"Create":     {"A caller needs every permission that the task needs.", "POST", "/tasks", `{"templateRef":"echo","values":{"word":"x"}}`, []int{401, 403, 403, 201, 201, 201}},
		"CreateNone": {"A guest gets 403 whether or not the Template exists.", "POST", "/tasks", `{"templateRef":"none","values":{}}`, []int{401, 403, 404, 404, 404, 404}},
		"Dry":        {"A dry run needs the same permissions as a task.", "POST", "/dry-run", `{"template":` + dryTemplate + `,"values":{"word":"x"}}`, []int{401, 403, 403, 200, 200, 200}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []int
			for _, caller := range everybody {
				r := w.do(caller, tc.method, tc.path, tc.body)
				got = append(got, r.status)
				if kind := map[int]string{401: "AuthenticationError", 403: "NotAllowedError", 404: "NotFoundError"}[r.status]; !strings.Contains(r.body, kind) {
					t.Errorf("%s: status %d has the body %s", caller, r.status, r.body)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: statuses of %v differ: %s", tc.reason, everybody, diff)
			}
		})
	}
	for caller, want := range map[string]int{"": 401, "guest": 403, "bob": 404, "admin": 403, "ada": 201} {
		if r := w.do(caller, "POST", "/tasks/"+id+"/retry", ""); r.status != want {
			t.Errorf("retry by %q returned %d %s, want %d", caller, r.status, r.body, want)
		}
	}
}

// TestRules checks rules about Templates and about the owners of tasks.
func TestRules(t *testing.T) {
	may := func(permissions []string, rule config.PermissionRule) config.PermissionRule {
		rule.Permissions, rule.Allow = permissions, true
		return rule
	}
	create, read, stop := []string{permission.TaskCreate}, []string{permission.TaskRead}, []string{permission.TaskCancel}
	deny := func(permissions []string) config.PermissionRule {
		return config.PermissionRule{Permissions: permissions}
	}
	const (
		wait = `{"templateRef":"template:other/wait","values":{}}`
		echo = `{"templateRef":"echo","values":{"word":"x"}}`
	)
	cases := map[string]struct {
		reason             string
		rules              []config.PermissionRule
		caller, path, body string
		want               int
		message            string
	}{
		"OwnTemplate":   {"The owner of a Template may run it.", []config.PermissionRule{may(create, config.PermissionRule{Owners: []string{config.Own}}), deny(create)}, "ada", "/tasks", wait, 201, ""},
		"OtherTemplate": {"A caller who does not own the Template may not run it.", []config.PermissionRule{may(create, config.PermissionRule{Owners: []string{config.Own}}), deny(create)}, "ada", "/tasks", echo, 403, "for template:default/echo"},
		"Namespace":     {"A rule can select Templates by namespace.", []config.PermissionRule{may(create, config.PermissionRule{Namespaces: []string{"other"}}), deny(create)}, "bob", "/tasks", echo, 403, permission.TaskCreate},
		"NoActions":     {"A rule can deny actions.", []config.PermissionRule{deny([]string{permission.ActionExecute})}, "machine", "/tasks", echo, 403, permission.ActionExecute},
		"NoForm":        {"A caller who may not read the form may not create a task.", []config.PermissionRule{deny([]string{permission.TemplateParameterRead})}, "ada", "/tasks", echo, 403, permission.TemplateParameterRead},
		"Hidden":        {"A Template that the caller may not read does not exist.", []config.PermissionRule{{Permissions: []string{permission.EntityRead}, Namespaces: []string{"other"}}}, "ada", "/tasks", wait, 404, "not found"},
		"Guest":         {"A rule can allow guests.", []config.PermissionRule{may([]string{"scaffolder.*"}, config.PermissionRule{Who: []string{"guest"}})}, "guest", "/tasks", echo, 201, ""},
		"Cancel":        {"A caller who may read all tasks may not cancel them.", []config.PermissionRule{may(read, config.PermissionRule{})}, "bob", "/tasks/{id}/cancel", "", 403, permission.TaskCancel},
		"CancelRule":    {"A rule can allow a caller to cancel all tasks.", []config.PermissionRule{may(append(read, stop...), config.PermissionRule{})}, "bob", "/tasks/{id}/cancel", "", 200, ""},
		"Deputy":        {"A rule can select tasks by owner.", []config.PermissionRule{may(read, config.PermissionRule{Who: []string{"user:default/bob"}, Owners: []string{"user:default/ada"}}), deny(read)}, "bob", "/tasks/{id}/retry", "", 403, "only the caller who created it can"},
		"NoTasks":       {"A caller who may read no task gets 403.", []config.PermissionRule{deny(read)}, "ada", "/tasks/{id}/cancel", "", 403, "rule 1 of permission.rules denies it"},
		"NotHers":       {"A rule can hide the tasks of an owner.", []config.PermissionRule{{Permissions: read, Owners: []string{"user:default/ada"}}}, "machine", "/tasks/{id}/cancel", "", 404, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil, tc.rules...)
			path := tc.path
			if before, behind, ok := strings.Cut(path, "{id}"); ok {
				path = before + w.create("ada", "echo", `{"word":"x"}`) + behind
			}
			if r := w.do(tc.caller, http.MethodPost, path, tc.body); r.status != tc.want || !strings.Contains(r.body, tc.message) {
				t.Errorf("%s: response is %d %s, want %d with %q", tc.reason, r.status, r.body, tc.want, tc.message)
			}
		})
	}
}

// TestRulesOfLists checks which tasks rules leave in lists.
func TestRulesOfLists(t *testing.T) {
	w := newWorld(t, nil,
		config.PermissionRule{Who: []string{"machine"}, Permissions: []string{permission.TaskRead}, Owners: []string{"user:default/ada"}},
		config.PermissionRule{Who: []string{"user:default/bob"}, Permissions: []string{permission.TaskRead}, Owners: []string{"user:default/ada"}, Allow: true},
		config.PermissionRule{Who: []string{"user:default/eve"}, Permissions: []string{permission.TaskRead}},
	)
	for _, caller := range []string{"ada", "bob", "machine"} {
		w.create(caller, "echo", `{"word":"x"}`)
	}
	for caller, want := range map[string]string{"ada": "user:default/ada", "bob": "user:default/ada user:default/bob", "machine": " user:default/bob"} {
		var got struct {
			Tasks      []struct{ CreatedBy string }
			TotalTasks int
		}
		w.want(caller, "GET", "/tasks?order=asc:created_by", "", 200, &got)
		var by []string
		for _, task := range got.Tasks {
			by = append(by, task.CreatedBy)
		}
		if strings.Join(by, " ") != want || got.TotalTasks != len(by) {
			t.Errorf("%s sees the tasks of %q, want %q", caller, by, want)
		}
	}
	if r := w.do("admin", "GET", "/tasks", ""); r.status != 403 {
		t.Errorf("list of a caller who may read no task returned %d %s, want 403", r.status, r.body)
	}
}

// TestResource reads tasks as resources of permissions.
func TestResource(t *testing.T) {
	w := newWorld(t, nil)
	for caller, owners := range map[string][]string{"ada": {"user:default/ada"}, "machine": nil} {
		id := w.create(caller, "echo", `{"word":"x"}`)
		got, err := w.scaffer.Resource(t.Context(), id)
		if diff := cmp.Diff(&permission.Resource{Ref: id, Owners: owners}, got); diff != "" || err != nil {
			t.Errorf("task is not owned by its creator: %v %s", err, diff)
		}
	}
	for _, id := range []string{"none", "\x00"} {
		if got, err := w.scaffer.Resource(t.Context(), id); got != nil || err != nil {
			t.Errorf("resource of the unknown task %q is %v, %v; want nil", id, got, err)
		}
	}
}
