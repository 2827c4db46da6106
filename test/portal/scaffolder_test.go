package portal_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/test/issuer"
)

const scaffolding = "/api/scaffolder/v2"

// The steps of Templates: the first ends at once, the second takes long.
const (
	says  = `{"id":"say","name":"Say","action":"debug:log","input":{"message":"${{ parameters.word }} by ${{ user.ref }}"}}`
	waits = `{"id":"wait","action":"debug:wait","input":{"minutes":9}}`
)

// template returns a Template with one step.
func template(name, step string) string {
	return `{"apiVersion":"scaffolder.backstage.io/v1beta3","kind":"Template","metadata":{"name":"` + name + `"},"spec":{"type":"service","owner":"group:default/team",` +
		`"parameters":{"title":"Words","required":["word"],"properties":{"word":{"type":"string","pattern":"^[a-z]+$"}}},"steps":[` + step + `],` +
		`"output":{"text":[{"title":"Said","content":"${{ parameters.word }}"}]}}}`
}

// createTask runs a Template and returns the task's id.
func (c caller) createTask(token, name string) string {
	c.t.Helper()
	var made struct{ ID string }
	c.want(call{method: "POST", path: scaffolding + "/tasks", token: token, body: `{"templateRef":"` + name + `","values":{"word":"hello"}}`}, http.StatusCreated, &made)
	return made.ID
}

// ended waits until a task has a status.
func (c caller) ended(id, status string) {
	c.t.Helper()
	c.until("the task is "+status, func() bool {
		var task struct{ Status string }
		c.get(scaffolding+"/tasks/"+id, &task)
		return task.Status == status
	})
}

// scaffolderOperations returns calls of the scaffolder operations.
func scaffolderOperations(w *world) []operation {
	w.t.Helper()
	w.push("templates", template("letters", says))
	id := w.createTask("", "letters")
	w.ended(id, "completed")
	task := scaffolding + "/tasks/" + id
	return []operation{
		{"listTemplates", call{path: scaffolding + "/templates?filter=metadata.name=letters"}, 200, `^\[{.*"kind":"Template"`},
		{"getTemplateForm", call{path: scaffolding + "/templates/default/Template/Letters/parameter-schema"}, 200, `^{"title":"letters","origin":"push:templates","steps":\[{"title":"Words","schema":{`},
		{"getTemplateUsage", call{path: scaffolding + "/templates/usage?limit=1"}, 200, `^{"items":\[{"templateRef":"template:default/letters","count":\d+,"lastUsedAt":"[^"]+Z"}\]}$`},
		{"listActions", call{path: scaffolding + "/actions"}, 200, `{"id":"debug:log","description":`},
		{"listTasks", call{path: scaffolding + "/tasks?status=completed&status=failed&order=asc:created_at&limit=1"}, 200, `^{"tasks":\[{"id":"` + id},
		{"createTask", call{method: "POST", path: scaffolding + "/tasks", body: `{"templateRef":"letters","values":{"word":"again"}}`}, 201, `^{"id":"[0-9a-f-]+"}$`},
		{"getTask", call{path: task}, 200, `"status":"completed"`},
		{"listTaskEvents", call{path: task + "/events?after=1"}, 200, `^\[{"id":2,.*"type":"completion"`},
		{"streamTaskEvents", call{path: task + "/eventstream"}, 200, `(?s)^event: log\ndata: {"id":1,.*event: completion\n`},
		{"cancelTask", call{method: "POST", path: task + "/cancel"}, 200, `^{"status":"cancelled"}$`},
		{"retryTask", call{method: "POST", path: task + "/retry", body: `{}`}, 409, `only failed and cancelled tasks can be retried`},
		{"runAction", call{method: "POST", path: scaffolding + "/actions/debug:log/run", body: `{"templateRef":"letters","input":{"message":"hello"}}`}, 403, `only a Backstage in auth.backstage runs single actions`},
		{"dryRun", call{method: "POST", path: scaffolding + "/dry-run", body: `{"template":` + template("dry", says) + `,"values":{"word":"dry"},"directoryContents":[]}`}, 200, `"output":{"text":\[{"title":"Said","content":"dry"}\]}`},
		{"autocomplete", call{method: "POST", path: scaffolding + "/autocomplete/forge/repositories", body: `{"token":"x","context":{}}`}, 404, `Unsupported provider: forge`},
		{"listTemplatingExtensions", call{path: scaffolding + "/templating-extensions"}, 200, `"parseRepoUrl":{"description":`},
	}
}

// signedIn starts a portal with an issuer and signs a user in, like a browser.
func signedIn(t *testing.T, groups []string, rules ...any) (w *world, token string) {
	t.Helper()
	l := listen(t)
	i := issuer.Start(t, issuer.Options{Groups: groups, Redirect: "http://" + l.Addr().String() + "/api/auth/oidc/handler/frame"})
	w = start(t, setup{listener: l, sections: map[string]any{
		"auth": map[string]any{"providers": map[string]any{"guest": map[string]any{"dangerouslyAllowOutsideDevelopment": true}, "oidc": map[string]any{
			"issuer": i.URL, "clientId": i.ClientID, "clientSecret": i.ClientSecret, "caFile": i.CAFile, "userClaim": "sub",
		}}},
		"permission": map[string]any{"rules": rules},
	}})
	browser := w.caller
	client := *w.client
	browser.client = &client
	var err error
	if browser.client.Jar, err = cookiejar.New(nil); err != nil {
		t.Fatal(err)
	}
	xhr := http.Header{"X-Requested-With": {"XMLHttpRequest"}}
	away := browser.want(call{path: "/api/auth/oidc/start", token: noToken, header: xhr}, http.StatusFound, nil).header.Get("Location")
	browser.want(call{path: strings.TrimPrefix(i.Agree(t, away), w.base), token: noToken, header: xhr}, http.StatusFound, nil)
	var session struct{ BackstageIdentity struct{ Token string } }
	browser.want(call{method: "POST", path: "/api/auth/oidc/refresh", token: noToken, header: xhr}, http.StatusOK, &session)
	return w, session.BackstageIdentity.Token
}

// TestTasksOfPeople runs Templates as a guest, a signed-in user and a service,
// and checks which tasks each may see and cancel.
func TestTasksOfPeople(t *testing.T) {
	w, user := signedIn(t, []string{"team"})
	w.push("templates", template("words", says), template("wait", waits))
	mine, machines := w.createTask(user, "words"), w.createTask("", "wait")
	w.ended(mine, "completed")
	w.ended(machines, "processing")
	w.fails(call{method: "POST", path: scaffolding + "/tasks", token: w.guest(), body: `{"templateRef":"words","values":{"word":"x"}}`}, "guests may only read", http.StatusForbidden)
	w.fails(call{path: scaffolding + "/tasks", token: w.guest()}, "scaffolder.task.read", http.StatusForbidden)
	w.fails(call{path: scaffolding + "/tasks", token: noToken}, "Missing credentials", http.StatusUnauthorized)
	w.fails(call{path: scaffolding + "/tasks/" + machines, token: user}, "No task with id", http.StatusNotFound)
	w.fails(call{method: "POST", path: scaffolding + "/tasks/" + machines + "/cancel", token: user}, "No task with id", http.StatusNotFound)
	total := func(token string) int {
		var page struct{ TotalTasks int }
		w.want(call{path: scaffolding + "/tasks", token: token}, http.StatusOK, &page)
		return page.TotalTasks
	}
	if got := [2]int{total(user), total("")}; got != [2]int{1, 2} {
		t.Errorf("user and service see %v tasks, want 1 and 2", got)
	}
	var task struct {
		CreatedBy string
		Spec      struct{ User struct{ Ref string } }
	}
	w.want(call{path: scaffolding + "/tasks/" + mine, token: user}, http.StatusOK, &task)
	if task.CreatedBy == "" || task.CreatedBy != task.Spec.User.Ref {
		t.Errorf("creator of the task is not set or differs from its user: %+v", task)
	}
	// A page that offers to cancel a task asks for the permission.
	question := `{"items":[{"id":"1","permission":{"type":"resource","name":"scaffolder.task.cancel","attributes":{},"resourceType":"scaffolder-task"},"resourceRef":["` + mine + `","` + machines + `","none"]}]}`
	var answer struct{ Items []struct{ Result []string } }
	w.want(call{method: "POST", path: "/api/permission/authorize", token: user, body: question}, http.StatusOK, &answer)
	if diff := cmp.Diff([]string{"ALLOW", "DENY", "DENY"}, answer.Items[0].Result); diff != "" {
		t.Errorf("permissions to cancel tasks differ: %s", diff)
	}
	w.want(call{method: "POST", path: scaffolding + "/tasks/" + machines + "/cancel"}, http.StatusOK, nil)
	w.ended(machines, "cancelled")
}

// TestAdministrators checks that a group can be allowed to see and cancel all
// tasks.
func TestAdministrators(t *testing.T) {
	w, user := signedIn(t, []string{"admins"}, map[string]any{
		"who": []string{"group:default/admins"}, "permissions": []string{"scaffolder.task.*"}, "result": "allow",
	})
	w.push("templates", template("wait", waits))
	id := w.createTask("", "wait")
	w.ended(id, "processing")
	w.want(call{path: scaffolding + "/tasks/" + id, token: user}, http.StatusOK, nil)
	w.want(call{method: "POST", path: scaffolding + "/tasks/" + id + "/cancel", token: user}, http.StatusOK, nil)
	w.ended(id, "cancelled")
	w.want(call{method: "POST", path: scaffolding + "/tasks/" + id + "/retry", token: user}, http.StatusForbidden, nil)
	// The creator may retry it.
	w.want(call{method: "POST", path: scaffolding + "/tasks/" + id + "/retry"}, http.StatusCreated, nil)
	w.ended(id, "processing")
}

// TestBadTasks checks the errors for invalid tasks and dry runs.
func TestBadTasks(t *testing.T) {
	w := start(t, setup{})
	w.push("templates", template("words", says))
	post := func(path, body string) call { return call{method: "POST", path: scaffolding + path, body: body} }
	large := `{"templateRef":"words","values":{"word":"` + strings.Repeat("x", 10<<20) + `"}}`
	cases := map[string]struct {
		reason string
		call   call
		status int
		says   string
	}{
		"half a task":     {"Malformed JSON is rejected.", post("/tasks", `{"templateRef":`), 400, "InputError"},
		"10 MB of values": {"A body over the size limit is rejected.", post("/tasks", large), 413, "PayloadTooLargeError"},
		"deep values":     {"JSON with a hundred thousand nested objects is rejected.", post("/tasks", `{"templateRef":"words","values":`+strings.Repeat(`{"a":`, 100_000)+`1`+strings.Repeat("}", 100_001)), 400, "InputError"},
		"deeper values":   {"Values with the maximum nesting of JSON are rejected without a crash.", post("/tasks", `{"templateRef":"words","values":{"word":`+strings.Repeat(`[`, 9000)+strings.Repeat("]", 9000)+`}}`), 400, ""},
		"wrong values":    {"Values that do not match the schema are rejected.", post("/tasks", `{"templateRef":"words","values":{"word":7}}`), 400, `"property":"instance.word"`},
		"no values":       {"Missing required values are rejected.", post("/tasks", `{"templateRef":"words","values":{}}`), 400, `requires property`},
		"no template":     {"An unknown Template is not found.", post("/tasks", `{"templateRef":"template:default/none","values":{}}`), 404, "Template template:default/none not found"},
		"long name":       {"A name of ten thousand characters is not found.", post("/tasks", `{"templateRef":"`+strings.Repeat("x", 10_000)+`","values":{}}`), 404, "NotFoundError"},
		"nul":             {"A name with a NUL byte is not found.", post("/tasks", `{"templateRef":"a\u0000b","values":{}}`), 404, "NotFoundError"},
		"nul in values":   {"Values with a NUL byte are rejected.", post("/tasks", `{"templateRef":"words","values":{"word":"a\u0000"}}`), 400, "pattern"},
		"numbers":         {"Secrets that are not strings are rejected.", post("/tasks", `{"templateRef":"words","values":{"word":"a"},"secrets":{"a":1}}`), 400, "must be string"},
		"bad id":          {"An invalid task id is not found.", call{path: scaffolding + "/tasks/%00%27--/events"}, 404, "NotFoundError"},
		"bad after":       {"An invalid position in the events is not found.", call{path: scaffolding + "/tasks/x/eventstream?after=-1"}, 404, "NotFoundError"},
		"dry nothing":     {"A dry run without a Template is rejected.", post("/dry-run", `{}`), 400, "template"},
		"dry component":   {"A dry run of another kind is rejected.", post("/dry-run", `{"template":`+component("x")+`,"values":{}}`), 400, "is not a template"},
		"dry escape":      {"A file outside of the workspace is rejected.", post("/dry-run", `{"template":`+template("x", says)+`,"values":{"word":"a"},"directoryContents":[{"path":"../../x","base64Content":""}]}`), 400, "InputError"},
		"dry action":      {"An unknown action is rejected.", post("/dry-run", strings.Replace(`{"template":`+template("x", says)+`,"values":{"word":"a"}}`, "debug:log", "no:such", 1)), 400, "no:such"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := w.in(t)
			w.fails(tc.call, tc.says, tc.status)
		})
	}
	var page struct{ TotalTasks int }
	w.get(scaffolding+"/tasks", &page)
	if page.TotalTasks != 0 {
		t.Errorf("invalid requests created %d tasks", page.TotalTasks)
	}
}

// TestStopStreams stops a portal while a client follows a task. It checks that
// the stream is aborted immediately, so that the client reconnects.
func TestStopStreams(t *testing.T) {
	var res *http.Response
	began := time.Time{}
	t.Run("running", func(t *testing.T) {
		w := start(t, setup{})
		w.push("templates", template("wait", waits))
		id := w.createTask("", "wait")
		w.ended(id, "processing")
		req, err := http.NewRequestWithContext(context.Background(), "GET", w.base+scaffolding+"/tasks/"+id+"/eventstream", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+theToken)
		if res, err = http.DefaultClient.Do(req); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(res.Body)
		for lines.Scan() && !strings.HasPrefix(lines.Text(), "data: ") {
		}
		began = time.Now()
	})
	defer func() { _ = res.Body.Close() }()
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("portal waited %v for a client that follows a task", took)
	}
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "completion") {
			t.Errorf("stream reports a completed task after the portal stopped: %s", lines.Text())
		}
	}
	if lines.Err() == nil {
		t.Error("stream ended as if the task had completed")
	}
}

// TestTaskValuesSurvive checks that values are returned as they were sent:
// large numbers, other scripts, order.
func TestTaskValuesSurvive(t *testing.T) {
	w := start(t, setup{})
	w.push("templates", strings.Replace(template("any", says), `"required":["word"],`, "", 1))
	const values = `{"z":9007199254740993,"a":[1.50,null,true,"<&>"],"名":{"é":"\u2028🚀"},"":""}`
	var made struct{ ID string }
	w.want(call{method: "POST", path: scaffolding + "/tasks", body: `{"templateRef":"any","values":` + values + `}`}, http.StatusCreated, &made)
	r := w.want(call{path: scaffolding + "/tasks/" + url.PathEscape(made.ID)}, http.StatusOK, nil)
	var task struct {
		Spec struct{ Parameters json.RawMessage }
	}
	if err := json.Unmarshal(r.body, &task); err != nil {
		t.Fatal(err)
	}
	if got := string(task.Spec.Parameters); !strings.HasPrefix(got, `{"z":9007199254740993,"a":[1.5,null,true,"<&>"],"名":{"é":"`) {
		t.Errorf("values are %s", got)
	}
}
