package scaffolder

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/internal/scaffolder/task"
)

// message returns the message of an error as it appears in a body.
func message(text string) string {
	return `"message":"` + strings.ReplaceAll(text, `"`, `\"`) + `"`
}

// tooMany is a query with too many values.
var tooMany = strings.Repeat("&status=x", mostFilters+1)

// TestAnswers checks the responses of requests that need no task.
func TestAnswers(t *testing.T) {
	w := newWorld(t, func(o *Options) {
		o.Fill = fill
		o.Autocomplete = map[string]Complete{"test": func(_ context.Context, resource string, given map[string]string) ([]Result, error) {
			switch resource {
			case "none":
				return nil, nil
			case "broken":
				return nil, &action.Error{Err: errors.New("cannot ask"), Hint: "wait"}
			}
			return []Result{{ID: resource, Title: given["of"]}, {ID: "x"}}, nil
		}}
	})
	const (
		post   = http.MethodPost
		schema = "/templates/default/template/"
	)
	const echoForm = `{"title":"Echo","presentation":{"buttonLabels":{"createButtonText":"Go"}},"description":"says something","ui:options":{"x":1},"origin":"config","steps":[`
	cases := map[string]struct {
		reason, method, path, body string
		status                     int
		// want is a part of the response.
		want string
	}{
		"Form": {"A form has all that a page shows.", "GET", schema + "echo/parameter-schema", "", 200,
			echoForm + `{"title":"Words","description":"what it says","schema":{"title":"Words","description":"what it says","required":["word"],`},
		"FormUntitled": {"A page without a title gets a default title.", "GET", schema + "echo/parameter-schema", "", 200,
			`{"title":"Please enter the following information","schema":{"properties":{"page":`},
		"FormDecorators": {"The decorators of a form are returned.", "GET", schema + "echo/parameter-schema", "", 200, `"formDecorators":[{"id":"trim"}]}`},
		"FormName":       {"A Template without a title is shown by its name.", "GET", "/templates/other/Template/WAIT/parameter-schema", "", 200, `{"title":"wait","origin":"config","steps":[]}`},
		"FormMissing":    {"An unknown Template is not found.", "GET", schema + "None/parameter-schema", "", 404, message("Template template:default/none not found")},
		"FormBad":        {"A name that no Template can have is not found.", "GET", schema + "%00/parameter-schema", "", 404, `"NotFoundError"`},
		"FormOther":      {"An entity that is not a Template has no form.", "GET", "/templates/default/component/service/parameter-schema", "", 400, message("Unsupported apiVersion field in schema entity, portal.io/v1alpha1")},
		"FormOld":        {"A Template of an unsupported version has no form.", "GET", schema + "old/parameter-schema", "", 400, message("Unsupported apiVersion field in schema entity, scaffolder.portal.io/v1beta2")},
		"Filled":         {"A form can be filled from a resource.", "GET", schema + "echo/parameter-schema?name=it&cluster=c&namespace=n", "", 200, `"values":{"word":"c/n/it","loud":true,"times":3,"page":{"size":"big"}}}`},
		"FilledDefaults": {"Values of a resource become defaults, also in conditional schemas.", "GET", schema + "echo/parameter-schema?name=it", "", 200,
			`"properties":{"word":{"type":"string","pattern":"^[a-z]+$","default":"//it"},"loud":{"type":"boolean","default":true}},` +
				`"dependencies":{"loud":{"oneOf":[{"properties":{"loud":{"enum":[false]}}},{"properties":{"loud":{"enum":[true]},"times":{"type":"integer","default":3}}}]}}`},
		"FilledObject":  {"An object becomes a default as a whole.", "GET", schema + "echo/parameter-schema?name=it", "", 200, `"size":{"type":"string"}},"default":{"size":"big"}}`},
		"FilledMissing": {"A missing resource is not found.", "GET", schema + "echo/parameter-schema?name=gone", "", 404, message("There is no resource gone")},
		"FilledBroken":  {"A cluster that does not respond is an error.", "GET", schema + "echo/parameter-schema?name=broken", "", 400, message("cannot reach it; look there")},
		"FilledNot":     {"A Template that updates nothing cannot be filled from a resource.", "GET", schema + "fail/parameter-schema?name=it", "", 400, "does not update anything"},
		"FilledText":    {"An invalid resource name is refused.", "GET", schema + "echo/parameter-schema?name=%00", "", 400, "Invalid name"},

		"Templates":      {"Only Templates are listed.", "GET", "/templates?fields=kind,metadata.name&filter=metadata.namespace=other", "", 200, `[{"kind":"Template","metadata":{"name":"wait"}}]`},
		"TemplatesOther": {"A filter cannot list other kinds.", "GET", "/templates?filter=kind=component", "", 200, `[]`},
		"TemplatesBad":   {"Invalid parameters are refused as in the catalog.", "GET", "/templates?limit=x", "", 400, message("request/query/limit must be integer")},
		"Actions": {"Actions have schemas of input and output, under each of their names.", "GET", "/actions", "", 200,
			`[{"id":"another:say","description":"says something","examples":[{"description":"say hello","example":"steps: []"}],"schema":{"input":{"type":"object","properties":{"text":{"type":"string"}}}}},{"id":"test:fail","schema":{}}`},
		"Extensions":    {"The extensions of the template language are listed.", "GET", "/templating-extensions", "", 200, `{"filters":{"parseEntityRef":{"description":"`},
		"ExtensionsAll": {"Globals are empty.", "GET", "/templating-extensions", "", 200, `"globals":{"functions":{},"values":{}}}`},

		"Complete":         {"A provider returns autocompletion.", post, "/autocomplete/test/things", `{"token":"x","context":{"of":"here"}}`, 200, `{"results":[{"id":"things","title":"here"},{"id":"x"}]}`},
		"CompleteNone":     {"A provider may return no results.", post, "/autocomplete/test/none", `{}`, 200, `{"results":[]}`},
		"CompleteBroken":   {"The error of a provider is returned.", post, "/autocomplete/test/broken", `{}`, 400, message("cannot ask; wait")},
		"CompleteUnknown":  {"An unknown provider is not found.", post, "/autocomplete/github/things", `{}`, 404, message("Unsupported provider: github")},
		"CompleteBad":      {"The context of autocompletion must be an object.", post, "/autocomplete/test/things", `{"context":[]}`, 400, message("request/body/context must be object, and not array")},
		"CompleteNotThere": {"An incomplete path is not found.", post, "/autocomplete/test", `{}`, 404, `"NotFoundError"`},

		"TasksNone":     {"Without tasks the list is empty.", "GET", "/tasks", "", 200, `{"tasks":[],"totalTasks":0}`},
		"TasksOrder":    {"A sort order has a direction.", "GET", "/tasks?order=up:status", "", 400, message(`Invalid order parameter "up:status", expected "<asc or desc>:<field name>"`)},
		"TasksOrderBy":  {"A sort order has a known field.", "GET", "/tasks?order=asc:secrets", "", 400, `Invalid order parameter \"asc:secrets\"`},
		"TasksLimit":    {"A limit is a number.", "GET", "/tasks?limit=ten", "", 400, message("request/query/limit must be integer")},
		"TasksOffset":   {"An offset is not negative.", "GET", "/tasks?offset=-1", "", 400, message("request/query/offset must be >= 0")},
		"TasksTemplate": {"A templateRef must be a reference.", "GET", "/tasks?templateRef=a:b:c", "", 400, "Invalid templateRef parameter"},
		"TasksText":     {"A createdBy must be valid text.", "GET", "/tasks?createdBy=%00", "", 400, "Invalid createdBy"},
		"TasksMany":     {"The number of filters is limited.", "GET", "/tasks?a=b" + tooMany, "", 400, "must NOT have more than 100 items"},
		"TaskMissing":   {"An unknown task is not found.", "GET", "/tasks/00000000-0000-0000-0000-000000000000", "", 404, message("No task with id '00000000-0000-0000-0000-000000000000' found")},
		"TaskBad":       {"An id that no task can have is not found.", "GET", "/tasks/%ff", "", 404, `"NotFoundError"`},
		"Events":        {"Events of an unknown task are not found.", "GET", "/tasks/x/events", "", 404, message("No task with id 'x' found")},
		"Stream":        {"The stream of an unknown task is not found.", "GET", "/tasks/x/eventstream", "", 404, message("No task with id 'x' found")},
		"Cancel":        {"An unknown task cannot be cancelled.", post, "/tasks/x/cancel", "", 404, message("No task with id 'x' found")},
		"Retry":         {"An unknown task cannot be retried.", post, "/tasks/x/retry", "", 404, message("No task with id 'x' found")},

		"CreateEmpty":     {"A new task needs a body.", post, "/tasks", "", 400, message("request/body is empty; it must be JSON")},
		"CreateNothing":   {"A new task needs a templateRef.", post, "/tasks", "{}", 400, message("request/body must have required property 'templateRef'")},
		"CreateNumber":    {"A templateRef must be a string.", post, "/tasks", `{"templateRef":1}`, 400, message("request/body/templateRef must be string, and not number")},
		"CreateBadRef":    {"A templateRef must have the format of a reference.", post, "/tasks", `{"templateRef":"a:b:c","values":{}}`, 400, "request/body/templateRef must have the form"},
		"CreateMissing":   {"The Template of a new task must exist.", post, "/tasks", `{"templateRef":"none","values":{}}`, 404, message("Template template:default/none not found")},
		"CreateComponent": {"The entity of a new task must be a Template.", post, "/tasks", `{"templateRef":"component:default/service","values":{}}`, 400, "Unsupported apiVersion field"},
		"CreateList":      {"Values must be an object.", post, "/tasks", `{"templateRef":"echo","values":[]}`, 400, message("request/body/values must be object")},
		"CreateInvalid": {"Values must match the form.", post, "/tasks", `{"templateRef":"echo","values":{"word":"A"}}`, 400,
			`{"errors":[{"path":["word"],"property":"instance.word","message":"does not match pattern \"^[a-z]+$\"","schema":{"type":"string","pattern":"^[a-z]+$"},"instance":"A","name":"pattern","argument":"^[a-z]+$","stack":"instance.word does not match pattern \"^[a-z]+$\""}`},
		"CreateNoValues":   {"Missing values are an empty object.", post, "/tasks", `{"templateRef":"echo"}`, 400, `"name":"required","argument":"word"`},
		"CreateSecret":     {"A secret must be a string.", post, "/tasks", `{"templateRef":"secret","secrets":{"token":47114711}}`, 400, "must be string, and not number"},
		"CreateNullSecret": {"and nothing else", post, "/tasks", `{"templateRef":"secret","secrets":{"token":null}}`, 400, message("request/body/secrets/token must be string")},
		"CreateShort":      {"Secrets are validated, and not repeated in the response.", post, "/tasks", `{"templateRef":"secret","secrets":{"token":"short"}}`, 400, `{"errors":[{"path":["token"],"property":"instance.token","message":"does not meet minimum length of 8","schema":{"type":"string","minLength":8},"name":"minLength","argument":8,"stack":"instance.token does not meet minimum length of 8"}]}`},
		"CreateNoSecret":   {"Required secrets must be given.", post, "/tasks", `{"templateRef":"secret"}`, 400, `"argument":"token"`},

		"Dry": {"A Template can be dry-run.", post, "/dry-run",
			`{"template":` + dryTemplate + `,"values":{"word":"hi"},"directoryContents":[{"path":"a/b","base64Content":"eA=="}]}`, 200,
			`"directoryContents":[{"path":"said.txt","executable":false,"base64Content":"PGhpPg=="}],"output":{},"steps":[{"action":"test:say","input":{"text":"${{ parameters.word }}"},"id":"step-1","name":"test:say"}],"changes":[]}`},
		"DryInvalid":   {"The values of a dry run must match the form.", post, "/dry-run", `{"template":` + dryTemplate + `,"values":{},"directoryContents":[]}`, 400, `{"errors":[{"path":[],"property":"instance","message":"requires property \"word\""`},
		"DryLarge":     {"The size of a dry run is limited.", post, "/dry-run", `{"template":` + dryTemplate + `,"values":{"word":"` + strings.Repeat("x", maxTried) + `"}}`, 400, message("request/body/template and request/body/values must NOT have more than 4194304 bytes together")},
		"DryCostly":    {"The cost of validating the form of a dry run is limited.", post, "/dry-run", `{"template":` + expensiveTemplate("parameters") + `,"values":{}}`, 400, message("cannot validate the form: page 1: schema is too complex; simplify oneOf, anyOf, $ref and patterns")},
		"DrySecrets":   {"The cost of validating the secrets of a dry run is limited.", post, "/dry-run", `{"template":` + expensiveTemplate("secrets") + `,"values":{}}`, 400, message("cannot validate the secrets: schema is too complex; simplify oneOf, anyOf, $ref and patterns")},
		"DryNothing":   {"A dry run needs a Template.", post, "/dry-run", `{"values":{}}`, 400, message("request/body must have required property 'template'")},
		"DryComponent": {"The entity of a dry run must be a Template.", post, "/dry-run", `{"template":{"apiVersion":"portal.io/v1alpha1","kind":"Component"},"values":{}}`, 400, message("Input template is not a template")},
		"DryBad":       {"The Template of a dry run must be a valid entity.", post, "/dry-run", `{"template":` + strings.Replace(dryTemplate, `"dry"`, `"not a name"`, 1) + `,"values":{}}`, 400, "Input template is not a template: "},
		"DryFile":      {"The files of a dry run must be base64.", post, "/dry-run", `{"template":` + dryTemplate + `,"values":{"word":"hi"},"directoryContents":[{"path":"a","base64Content":"?"}]}`, 400, message("request/body/directoryContents/0/base64Content is not base64")},
		"DryOutside":   {"The files of a dry run must not escape the workspace.", post, "/dry-run", `{"template":` + dryTemplate + `,"values":{"word":"hi"},"directoryContents":[{"path":"../a","base64Content":"eA=="}]}`, 400, `"InputError"`},

		"Method":  {"Another method is refused.", http.MethodDelete, "/tasks", "", 405, "Method DELETE is not allowed"},
		"Unknown": {"An unknown path is not found.", "GET", "/nothing", "", 404, message("Nothing found at /v2/nothing")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := w.do("ada", tc.method, tc.path, tc.body)
			if got.status != tc.status || !strings.Contains(got.body, tc.want) {
				t.Errorf("%s: response is %d %s, want %d with %s", tc.reason, got.status, got.body, tc.status, tc.want)
			}
			if strings.Contains(got.body, "4711") || strings.Contains(got.body, `"short"`) {
				t.Errorf("response contains a secret: %s", got.body)
			}
		})
	}
}

// dryTemplate is a Template that is in no catalog.
const dryTemplate = `{"apiVersion":"scaffolder.portal.io/v1beta3","kind":"Template","metadata":{"name":"dry"},"spec":{"type":"service","owner":"platform",` +
	`"parameters":{"required":["word"],"properties":{"word":{"type":"string"}}},"steps":[{"action":"test:say","input":{"text":"${{ parameters.word }}"}}]}}`

// expensiveTemplate returns a Template with a schema for its parameters or secrets in which
// each definition refers to the next one twice.
func expensiveTemplate(where string) string {
	definitions := []string{`"d60":{"type":"string"}`}
	for i := range 60 {
		definitions = append(definitions, fmt.Sprintf(`"d%d":{"oneOf":[{"$ref":"#/definitions/d%d"},{"$ref":"#/definitions/d%d"}]}`, i, i+1, i+1))
	}
	schema := `{"$ref":"#/definitions/d0","definitions":{` + strings.Join(definitions, ",") + `}}`
	if where == "secrets" {
		schema = `{"schema":` + schema + `}`
	}
	return `{"apiVersion":"scaffolder.portal.io/v1beta3","kind":"Template","metadata":{"name":"dry"},` +
		`"spec":{"type":"service","owner":"platform","` + where + `":` + schema + `,"steps":[{"action":"test:say","input":{"text":"x"}}]}}`
}

// fill fills the form of Template echo.
func fill(_ context.Context, _ task.Requester, template *tree.Node, cluster, namespace, name string) (*tree.Node, error) {
	switch {
	case template.Get("metadata", "name").Str() != "echo":
		return nil, nil
	case name == "gone":
		return nil, rest.NotFound("There is no resource %s", name)
	case name == "broken":
		return nil, &action.Error{Err: errors.New("cannot reach it"), Hint: "look there"}
	}
	return tree.Obj(
		tree.F("word", tree.Str(cluster+"/"+namespace+"/"+name)), tree.F("loud", tree.Boolean(true)), tree.F("times", tree.Number(3)),
		tree.F("page", tree.Obj(tree.F("size", tree.Str("big"))))), nil
}

// TestTask follows a task from its form to its end.
func TestTask(t *testing.T) {
	w := newWorld(t, nil)
	id := w.create("ada", "Template:default/echo", `{"word":"hello"}`)
	w.until(id, "completed")
	var got struct {
		ID, Status, CreatedAt, LastHeartbeatAt, CreatedBy string
		Spec                                              struct {
			Parameters, User, TemplateInfo map[string]any
			Secrets                        any
		}
	}
	w.want("ada", "GET", "/tasks/"+id, "", 200, &got)
	if got.ID != id || got.Status != "completed" || got.CreatedBy != "user:default/ada" || got.Spec.Parameters["word"] != "hello" || got.Spec.TemplateInfo["entityRef"] != "template:default/echo" {
		t.Errorf("task is %+v", got)
	}
	entity, _ := got.Spec.User["entity"].(map[string]any)
	if got.Spec.User["ref"] != "user:default/ada" || entity == nil || entity["kind"] != "User" {
		t.Errorf("user of the task is %v, want ada with her entity", got.Spec.User)
	}
	for _, at := range []string{got.CreatedAt, got.LastHeartbeatAt} {
		if len(at) != len("2026-11-15T00:15:47.000Z") || !strings.HasSuffix(at, "Z") {
			t.Errorf("time is %q, want UTC with milliseconds", at)
		}
	}
	var events []struct {
		ID                int64
		IsTaskRecoverable *bool
		TaskID, Type      string
		Body              struct {
			Message, StepID, Status string
			Output                  map[string]any
		}
	}
	w.want("ada", "GET", "/tasks/"+id+"/events", "", 200, &events)
	last := events[len(events)-1]
	if events[0].ID != 1 || events[0].TaskID != id || events[0].IsTaskRecoverable == nil || last.Type != "completion" {
		t.Errorf("events are %+v, want all from the first to the completion", events)
	}
	said := map[string]any{"text": []any{map[string]any{"title": "Said", "content": "hello by user:default/ada"}}}
	if diff := cmp.Diff(said, last.Body.Output); diff != "" {
		t.Errorf("output of the completion differs: %s", diff)
	}
	if r := w.do("ada", "POST", "/tasks/"+id+"/cancel", ""); r.body != `{"status":"cancelled"}` {
		t.Errorf("cancelling a finished task returned %s, want the same response", r.body)
	}
	w.until(id, "completed")
	if r := w.do("ada", "POST", "/tasks/"+id+"/retry", ""); r.status != 409 || !strings.Contains(r.body, `"ConflictError"`) {
		t.Errorf("retry of a completed task returned %d %s, want 409", r.status, r.body)
	}
}

// TestRetry retries a failed task. Later readers get only its last completion.
func TestRetry(t *testing.T) {
	w := newWorld(t, nil)
	id := w.create("ada", "fail", `{}`)
	w.until(id, "failed")
	if r := w.do("ada", "GET", "/tasks/"+id+"/eventstream", ""); !strings.Contains(r.body, "it is broken") || strings.Count(r.body, "event: completion") != 1 {
		t.Errorf("stream of a failed task is %s, want its error and one completion", r.body)
	}
	close(w.mended)
	if r := w.do("ada", "POST", "/tasks/"+id+"/retry", `{"secrets":{}}`); r.status != 201 || r.body != `{"id":"`+id+`"}` {
		t.Errorf("retry returned %d %s, want 201 with the same id", r.status, r.body)
	}
	for _, path := range []string{"/eventstream", "/events"} {
		w.until(id, "completed")
		r := w.do("ada", "GET", "/tasks/"+id+path, "")
		if strings.Count(r.body, `"type":"completion"`) != 1 || !strings.Contains(r.body, "status: completed") || strings.Contains(r.body, "status: failed") || !strings.Contains(r.body, `"type":"recovered"`) {
			t.Errorf("%s: response is %s, want one completion after a retry", path, r.body)
		}
	}
}

// TestTaskList lists tasks of several users.
func TestTaskList(t *testing.T) {
	w := newWorld(t, nil, admins)
	waits := w.create("bob", "other/wait", `{}`)
	fails := w.create("ada", "fail", `{}`)
	echoes := w.create("ada", "echo", `{"word":"x"}`)
	w.until(echoes, "completed")
	// It begins after the other has ended, so their heartbeats differ.
	machines := w.create("machine", "echo", `{"word":"y"}`)
	w.until(waits, "processing")
	w.until(fails, "failed")
	w.until(machines, "completed")
	cases := map[string]struct {
		reason, caller, query string
		want                  []string
		total                 int
	}{
		"All":       {"Services see all tasks.", "machine", "?order=asc:created_at", []string{waits, fails, echoes, machines}, 4},
		"Newest":    {"The newest task is first.", "machine", "", []string{machines, echoes, fails, waits}, 4},
		"Page":      {"A page is a part of the list.", "machine", "?order=asc:created_at&limit=1&offset=1", []string{fails}, 4},
		"Behind":    {"A page beyond the last task is empty.", "machine", "?offset=9", nil, 4},
		"NoLimit":   {"A limit of zero returns only the total.", "machine", "?limit=0", nil, 4},
		"Own":       {"Users see their own tasks.", "ada", "?order=asc:createdAt", []string{fails, echoes}, 2},
		"Others":    {"Users do not see tasks of others by a filter.", "ada", "?createdBy=user:default/bob", nil, 0},
		"OwnAsked":  {"Users may filter by their own name.", "ada", "?order=asc:created_at&createdBy=User:default/Ada&createdBy=user:default/bob", []string{fails, echoes}, 2},
		"Admin":     {"A rule can show all tasks.", "admin", "?createdBy=user:default/ada&order=asc:created_at", []string{fails, echoes}, 2},
		"Status":    {"Tasks can be filtered by status.", "machine", "?status=failed&status=processing&order=asc:created_at", []string{waits, fails}, 2},
		"Template":  {"Tasks can be filtered by Template.", "machine", "?templateRef=echo&order=asc:last_heartbeat_at", []string{echoes, machines}, 2},
		"Both":      {"Several filters are combined.", "machine", "?templateRef=echo&createdBy=user:default/ada", []string{echoes}, 1},
		"ByCreator": {"Tasks can be sorted by creator and then by time.", "admin", "?order=desc:created_by&order=desc:created_at", []string{waits, echoes, fails, machines}, 4},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got struct {
				Tasks []struct {
					ID   string
					Spec map[string]any
				}
				TotalTasks int
			}
			w.want(tc.caller, "GET", "/tasks"+tc.query, "", 200, &got)
			var ids []string
			for _, task := range got.Tasks {
				ids = append(ids, task.ID)
				if task.Spec["templateInfo"] == nil {
					t.Errorf("task in a list has the spec %v, want it with templateInfo", task.Spec)
				}
			}
			if diff := cmp.Diff(tc.want, ids); diff != "" || got.TotalTasks != tc.total {
				t.Errorf("%s: total is %d, tasks differ: %s", tc.reason, got.TotalTasks, diff)
			}
		})
	}
	var one struct{ CreatedBy *string }
	w.want("machine", "GET", "/tasks/"+machines, "", 200, &one)
	if one.CreatedBy != nil {
		t.Errorf("task of a service has the creator %s, want none", *one.CreatedBy)
	}
}

// TestSecrets searches for a secret in all responses.
func TestSecrets(t *testing.T) {
	const hidden = "hunter2-hunter2"
	w := newWorld(t, nil)
	var made struct{ ID string }
	w.want("ada", "POST", "/tasks", `{"templateRef":"secret","values":{},"secrets":{"token":"`+hidden+`"}}`, 201, &made)
	w.until(made.ID, "completed")
	for _, path := range []string{"", "/events", "/eventstream"} {
		if r := w.do("ada", "GET", "/tasks/"+made.ID+path, ""); r.status != 200 || strings.Contains(r.body, hidden) {
			t.Errorf("response of %q contains the secret: %s", path, r.body)
		}
	}
	if r := w.do("ada", "GET", "/tasks", ""); strings.Contains(r.body, hidden) {
		t.Errorf("list contains the secret: %s", r.body)
	}
}

// TestBase checks that only a Template that the catalog read from a local file
// has a file location.
func TestBase(t *testing.T) {
	w := newWorld(t, nil)
	const template = `
apiVersion: scaffolder.backstage.io/v1beta3
kind: Template
metadata: { name: %s, annotations: { backstage.io/managed-by-location: "file:/srv/t.yaml", backstage.io/source-location: "file:/etc/portal/x.yaml" } }
spec: { type: service, owner: platform, steps: [] }
`
	cases := map[string]struct {
		reason   string
		provider string
		want     string
	}{
		"pushed": {"A pushed Template cannot set its location.", "test", ""},
		"read":   {"The location of a Template that the catalog read is kept.", store.LocationProvider("one"), "file:///srv/t.yaml"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			docs, errs := parser.DecodeBytes(fmt.Appendf(nil, template, name))
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			if _, err := w.store.Sync(t.Context(), write.Change{Provider: tc.provider, Put: []write.Document{{Node: docs[0]}}}); err != nil {
				t.Fatal(err)
			}
			var got struct {
				Spec struct{ TemplateInfo struct{ BaseURL string } }
			}
			w.want("ada", "GET", "/tasks/"+w.create("ada", name, `{}`), "", http.StatusOK, &got)
			if diff := cmp.Diff(tc.want, got.Spec.TemplateInfo.BaseURL); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFormField checks that the field to begin with does not make another form: drafts of
// a form are compared by its ETag.
func TestFormField(t *testing.T) {
	w := newWorld(t, nil)
	w.put(`
apiVersion: scaffolder.backstage.io/v1beta3
kind: Template
metadata: { name: change }
spec:
  type: service
  owner: platform
  parameters: [ { properties: { size: { type: string } } } ]
  steps: [ { id: apply, action: "cluster:apply", input: { manifest: { spec: { size: "${{ parameters.size }}" } } } } ]
`)
	const path = "/templates/default/template/change/parameter-schema"
	plain := w.do("ada", "GET", path, "")
	field := w.do("ada", "GET", path+"?field=spec.size", "")
	if !strings.Contains(field.body, `"focus":["size"]`) || strings.Contains(plain.body, "focus") {
		t.Errorf("forms are %s and %s", plain.body, field.body)
	}
	if one, other := plain.header.Get("ETag"), field.header.Get("ETag"); one == "" || one != other {
		t.Errorf("ETags are %q and %q, want the same", one, other)
	}
}
