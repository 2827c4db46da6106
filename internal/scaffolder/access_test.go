package scaffolder

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/identity/permission"
)

// TestAccess asks everything as everybody. The task is ada's.
func TestAccess(t *testing.T) {
	noSteps := config.PermissionRule{Who: []string{"user:default/bob"}, Permissions: []string{permission.TemplateStepRead}}
	w := newWorld(t, func(o *Options) { o.Fill = fill }, admins, noSteps)
	id := w.create("ada", "fail", `{}`)
	w.until(id, "failed")
	everybody := []string{"", "guest", "bob", "admin", "machine", "ada"}
	cases := map[string]struct {
		reason, method, path, body string
		// want are the statuses, in the order of everybody.
		want []int
	}{
		"Templates":  {"everybody looks at Templates", "GET", "/templates", "", []int{401, 200, 200, 200, 200, 200}},
		"Form":       {"and at forms", "GET", "/templates/default/template/echo/parameter-schema", "", []int{401, 200, 200, 200, 200, 200}},
		"Filled":     {"resources are shown to those who may run Templates", "GET", "/templates/default/template/echo/parameter-schema?name=x", "", []int{401, 403, 200, 200, 200, 200}},
		"Actions":    {"and at actions", "GET", "/actions", "", []int{401, 200, 200, 200, 200, 200}},
		"Extensions": {"and at the language", "GET", "/templating-extensions", "", []int{401, 200, 200, 200, 200, 200}},
		"Complete":   {"what forms offer is for those who fill them", "POST", "/autocomplete/x/y", "{}", []int{401, 403, 404, 404, 404, 404}},
		"List":       {"guests list no tasks", "GET", "/tasks", "", []int{401, 403, 200, 200, 200, 200}},
		"Get":        {"a task is its creator's; to others it does not exist", "GET", "/tasks/" + id, "", []int{401, 403, 404, 200, 200, 200}},
		"Unknown":    {"one that there is not looks the same", "GET", "/tasks/none", "", []int{401, 403, 404, 404, 404, 404}},
		"Events":     {"so with its events", "GET", "/tasks/" + id + "/events", "", []int{401, 403, 404, 200, 200, 200}},
		"Stream":     {"and the stream of them", "GET", "/tasks/" + id + "/eventstream", "", []int{401, 403, 404, 200, 200, 200}},
		"Cancel":     {"and its end", "POST", "/tasks/" + id + "/cancel", "", []int{401, 403, 404, 200, 200, 200}},
		"Create":     {"a task is created by who may do all that it does", "POST", "/tasks", `{"templateRef":"echo","values":{"word":"x"}}`, []int{401, 403, 403, 201, 201, 201}},
		"CreateNone": {"a guest may not, whatever there is", "POST", "/tasks", `{"templateRef":"none","values":{}}`, []int{401, 403, 404, 404, 404, 404}},
		"Dry":        {"so with trying one out", "POST", "/dry-run", `{"template":` + dryTemplate + `,"values":{"word":"x"}}`, []int{401, 403, 403, 200, 200, 200}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []int
			for _, caller := range everybody {
				r := w.do(caller, tc.method, tc.path, tc.body)
				got = append(got, r.status)
				if kind := map[int]string{401: "AuthenticationError", 403: "NotAllowedError", 404: "NotFoundError"}[r.status]; !strings.Contains(r.body, kind) {
					t.Errorf("%s: %d is answered with %s", caller, r.status, r.body)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: %v %s", tc.reason, everybody, diff)
			}
		})
	}
	for caller, want := range map[string]int{"": 401, "guest": 403, "bob": 404, "admin": 403, "ada": 201} {
		if r := w.do(caller, "POST", "/tasks/"+id+"/retry", ""); r.status != want {
			t.Errorf("a retry by %q: got %d %s, want %d", caller, r.status, r.body, want)
		}
	}
}

// TestRules tries rules about Templates and about whose tasks somebody sees.
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
		"OwnTemplate":   {"the owner of a Template runs it", []config.PermissionRule{may(create, config.PermissionRule{Owners: []string{config.Own}}), deny(create)}, "ada", "/tasks", wait, 201, ""},
		"OtherTemplate": {"and no other", []config.PermissionRule{may(create, config.PermissionRule{Owners: []string{config.Own}}), deny(create)}, "ada", "/tasks", echo, 403, "for template:default/echo"},
		"Namespace":     {"Templates of a namespace", []config.PermissionRule{may(create, config.PermissionRule{Namespaces: []string{"other"}}), deny(create)}, "bob", "/tasks", echo, 403, permission.TaskCreate},
		"NoActions":     {"actions can be denied", []config.PermissionRule{deny([]string{permission.ActionExecute})}, "machine", "/tasks", echo, 403, permission.ActionExecute},
		"NoForm":        {"who may not see the form does not fill it", []config.PermissionRule{deny([]string{permission.TemplateParameterRead})}, "ada", "/tasks", echo, 403, permission.TemplateParameterRead},
		"Hidden":        {"a Template that is not seen is not there", []config.PermissionRule{{Permissions: []string{permission.EntityRead}, Namespaces: []string{"other"}}}, "ada", "/tasks", wait, 404, "not found"},
		"Guest":         {"a rule lets guests in", []config.PermissionRule{may([]string{"scaffolder.*"}, config.PermissionRule{Who: []string{"guest"}})}, "guest", "/tasks", echo, 201, ""},
		"Cancel":        {"who may see all tasks does not end them", []config.PermissionRule{may(read, config.PermissionRule{})}, "bob", "/tasks/{id}/cancel", "", 403, permission.TaskCancel},
		"CancelRule":    {"but by a rule", []config.PermissionRule{may(append(read, stop...), config.PermissionRule{})}, "bob", "/tasks/{id}/cancel", "", 200, ""},
		"Deputy":        {"a rule may name whose tasks", []config.PermissionRule{may(read, config.PermissionRule{Who: []string{"user:default/bob"}, Owners: []string{"user:default/ada"}}), deny(read)}, "bob", "/tasks/{id}/retry", "", 403, "only the caller who created it can"},
		"NoTasks":       {"who may read no task is told so", []config.PermissionRule{deny(read)}, "ada", "/tasks/{id}/cancel", "", 403, "rule 1 of permission.rules denies it"},
		"NotHers":       {"a rule may take away whose tasks", []config.PermissionRule{{Permissions: read, Owners: []string{"user:default/ada"}}}, "machine", "/tasks/{id}/cancel", "", 404, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil, tc.rules...)
			path := tc.path
			if before, behind, ok := strings.Cut(path, "{id}"); ok {
				path = before + w.create("ada", "echo", `{"word":"x"}`) + behind
			}
			if r := w.do(tc.caller, http.MethodPost, path, tc.body); r.status != tc.want || !strings.Contains(r.body, tc.message) {
				t.Errorf("%s: got %d %s, want %d with %q", tc.reason, r.status, r.body, tc.want, tc.message)
			}
		})
	}
}

// TestRulesOfLists lists what rules leave.
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
			t.Errorf("%s sees the tasks of %q, and should those of %q", caller, by, want)
		}
	}
	if r := w.do("admin", "GET", "/tasks", ""); r.status != 403 {
		t.Errorf("who may read no task is told so, not %d %s", r.status, r.body)
	}
}

// TestResource asks for tasks as permissions see them.
func TestResource(t *testing.T) {
	w := newWorld(t, nil)
	for caller, owners := range map[string][]string{"ada": {"user:default/ada"}, "machine": nil} {
		id := w.create(caller, "echo", `{"word":"x"}`)
		got, err := w.scaffer.Resource(t.Context(), id)
		if diff := cmp.Diff(&permission.Resource{Ref: id, Owners: owners}, got); diff != "" || err != nil {
			t.Errorf("a task is owned by whoever asked: %v %s", err, diff)
		}
	}
	for _, id := range []string{"none", "\x00"} {
		if got, err := w.scaffer.Resource(t.Context(), id); got != nil || err != nil {
			t.Errorf("%q is no task, got %v, %v", id, got, err)
		}
	}
}
