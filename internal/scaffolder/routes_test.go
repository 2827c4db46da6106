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
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/internal/scaffolder/task"
)

// message is that of an error as it stands in a body.
func message(text string) string {
	return `"message":"` + strings.ReplaceAll(text, `"`, `\"`) + `"`
}

// tooMany is a query with too many values.
var tooMany = strings.Repeat("&status=x", mostFilters+1)

// TestAnswers holds what is answered without a task against what is promised.
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
		// want is what is in the answer.
		want string
	}{
		"Form": {"a form has all that a page shows", "GET", schema + "echo/parameter-schema", "", 200,
			echoForm + `{"title":"Words","description":"what it says","schema":{"title":"Words","description":"what it says","required":["word"],`},
		"FormUntitled": {"a page without a title gets one", "GET", schema + "echo/parameter-schema", "", 200,
			`{"title":"Please enter the following information","schema":{"properties":{"page":`},
		"FormDecorators": {"what decorates a form is told", "GET", schema + "echo/parameter-schema", "", 200, `"formDecorators":[{"id":"trim"}]}`},
		"FormName":       {"without a title the name is one", "GET", "/templates/other/Template/WAIT/parameter-schema", "", 200, `{"title":"wait","origin":"config","steps":[]}`},
		"FormMissing":    {"an unknown Template", "GET", schema + "None/parameter-schema", "", 404, message("Template template:default/none not found")},
		"FormBad":        {"a name that no Template can have", "GET", schema + "%00/parameter-schema", "", 404, `"NotFoundError"`},
		"FormOther":      {"what is no Template has no form", "GET", "/templates/default/component/service/parameter-schema", "", 400, message("Unsupported apiVersion field in schema entity, portal.io/v1alpha1")},
		"FormOld":        {"nor has one of another time", "GET", schema + "old/parameter-schema", "", 400, message("Unsupported apiVersion field in schema entity, scaffolder.portal.io/v1beta2")},
		"Filled":         {"a form is filled from a resource", "GET", schema + "echo/parameter-schema?name=it&cluster=c&namespace=n", "", 200, `"values":{"word":"c/n/it","loud":true,"times":3,"page":{"size":"big"}}}`},
		"FilledDefaults": {"and its values are defaults, under conditions too", "GET", schema + "echo/parameter-schema?name=it", "", 200,
			`"properties":{"word":{"type":"string","pattern":"^[a-z]+$","default":"//it"},"loud":{"type":"boolean","default":true}},` +
				`"dependencies":{"loud":{"oneOf":[{"properties":{"loud":{"enum":[false]}}},{"properties":{"loud":{"enum":[true]},"times":{"type":"integer","default":3}}}]}}`},
		"FilledObject":  {"an object is a default as a whole", "GET", schema + "echo/parameter-schema?name=it", "", 200, `"size":{"type":"string"}},"default":{"size":"big"}}`},
		"FilledMissing": {"a resource that is not there", "GET", schema + "echo/parameter-schema?name=gone", "", 404, message("There is no resource gone")},
		"FilledBroken":  {"a cluster that does not answer", "GET", schema + "echo/parameter-schema?name=broken", "", 400, message("cannot reach it; look there")},
		"FilledNot":     {"a Template that updates nothing", "GET", schema + "fail/parameter-schema?name=it", "", 400, "does not update anything"},
		"FilledText":    {"a name that nothing can have", "GET", schema + "echo/parameter-schema?name=%00", "", 400, "Invalid name"},

		"Templates":      {"Templates are listed, and nothing else", "GET", "/templates?fields=kind,metadata.name&filter=metadata.namespace=other", "", 200, `[{"kind":"Template","metadata":{"name":"wait"}}]`},
		"TemplatesOther": {"whatever is asked for", "GET", "/templates?filter=kind=component", "", 200, `[]`},
		"TemplatesBad":   {"bad parameters are refused as by the catalog", "GET", "/templates?limit=x", "", 400, message("request/query/limit must be integer")},
		"Actions": {"actions say what they take and give, under each name", "GET", "/actions", "", 200,
			`[{"id":"another:say","description":"says something","examples":[{"description":"say hello","example":"steps: []"}],"schema":{"input":{"type":"object","properties":{"text":{"type":"string"}}}}},{"id":"test:fail","schema":{}}`},
		"Extensions":    {"the language says what it has besides", "GET", "/templating-extensions", "", 200, `{"filters":{"parseEntityRef":{"description":"`},
		"ExtensionsAll": {"and what not", "GET", "/templating-extensions", "", 200, `"globals":{"functions":{},"values":{}}}`},

		"Complete":         {"a provider offers", post, "/autocomplete/test/things", `{"token":"x","context":{"of":"here"}}`, 200, `{"results":[{"id":"things","title":"here"},{"id":"x"}]}`},
		"CompleteNone":     {"or has nothing", post, "/autocomplete/test/none", `{}`, 200, `{"results":[]}`},
		"CompleteBroken":   {"or fails", post, "/autocomplete/test/broken", `{}`, 400, message("cannot ask; wait")},
		"CompleteUnknown":  {"or is not there", post, "/autocomplete/github/things", `{}`, 404, message("Unsupported provider: github")},
		"CompleteBad":      {"what it is asked must be an object", post, "/autocomplete/test/things", `{"context":[]}`, 400, message("request/body/context must be object, and not array")},
		"CompleteNotThere": {"an address that is none", post, "/autocomplete/test", `{}`, 404, `"NotFoundError"`},

		"TasksNone":     {"no tasks are none", "GET", "/tasks", "", 200, `{"tasks":[],"totalTasks":0}`},
		"TasksOrder":    {"an order has a direction", "GET", "/tasks?order=up:status", "", 400, message(`Invalid order parameter "up:status", expected "<asc or desc>:<field name>"`)},
		"TasksOrderBy":  {"and a field that there is", "GET", "/tasks?order=asc:secrets", "", 400, `Invalid order parameter \"asc:secrets\"`},
		"TasksLimit":    {"a limit is a number", "GET", "/tasks?limit=ten", "", 400, message("request/query/limit must be integer")},
		"TasksOffset":   {"an offset is not negative", "GET", "/tasks?offset=-1", "", 400, message("request/query/offset must be >= 0")},
		"TasksTemplate": {"a reference is one", "GET", "/tasks?templateRef=a:b:c", "", 400, "Invalid templateRef parameter"},
		"TasksText":     {"text is text", "GET", "/tasks?createdBy=%00", "", 400, "Invalid createdBy"},
		"TasksMany":     {"filters are bounded", "GET", "/tasks?a=b" + tooMany, "", 400, "must NOT have more than 100 items"},
		"TaskMissing":   {"an unknown task", "GET", "/tasks/00000000-0000-0000-0000-000000000000", "", 404, message("No task with id '00000000-0000-0000-0000-000000000000' found")},
		"TaskBad":       {"an id that no task can have", "GET", "/tasks/%ff", "", 404, `"NotFoundError"`},
		"Events":        {"events of an unknown task", "GET", "/tasks/x/events", "", 404, message("No task with id 'x' found")},
		"Stream":        {"a stream of one", "GET", "/tasks/x/eventstream", "", 404, message("No task with id 'x' found")},
		"Cancel":        {"the end of one", post, "/tasks/x/cancel", "", 404, message("No task with id 'x' found")},
		"Retry":         {"another try of one", post, "/tasks/x/retry", "", 404, message("No task with id 'x' found")},

		"CreateEmpty":     {"a task needs a body", post, "/tasks", "", 400, message("request/body is required and must be JSON, and it is empty")},
		"CreateNothing":   {"and a Template", post, "/tasks", "{}", 400, message("request/body must have required property 'templateRef'")},
		"CreateNumber":    {"that is named", post, "/tasks", `{"templateRef":1}`, 400, message("request/body/templateRef must be string, and not number")},
		"CreateBadRef":    {"in the form of references", post, "/tasks", `{"templateRef":"a:b:c","values":{}}`, 400, "request/body/templateRef must be on the form"},
		"CreateMissing":   {"and there", post, "/tasks", `{"templateRef":"none","values":{}}`, 404, message("Template template:default/none not found")},
		"CreateComponent": {"and a Template", post, "/tasks", `{"templateRef":"component:default/service","values":{}}`, 400, "Unsupported apiVersion field"},
		"CreateList":      {"values are an object", post, "/tasks", `{"templateRef":"echo","values":[]}`, 400, message("request/body/values must be object")},
		"CreateInvalid": {"values must fit", post, "/tasks", `{"templateRef":"echo","values":{"word":"A"}}`, 400,
			`{"errors":[{"path":["word"],"property":"instance.word","message":"does not match pattern \"^[a-z]+$\"","schema":{"type":"string","pattern":"^[a-z]+$"},"instance":"A","name":"pattern","argument":"^[a-z]+$","stack":"instance.word does not match pattern \"^[a-z]+$\""}`},
		"CreateNoValues":   {"no values are an empty object", post, "/tasks", `{"templateRef":"echo"}`, 400, `"name":"required","argument":"word"`},
		"CreateSecret":     {"secrets are texts", post, "/tasks", `{"templateRef":"secret","secrets":{"token":47114711}}`, 400, "must be string, and not number"},
		"CreateNullSecret": {"and nothing else", post, "/tasks", `{"templateRef":"secret","secrets":{"token":null}}`, 400, message("request/body/secrets/token must be string")},
		"CreateShort":      {"they are checked, and not repeated", post, "/tasks", `{"templateRef":"secret","secrets":{"token":"short"}}`, 400, `{"errors":[{"path":["token"],"property":"instance.token","message":"does not meet minimum length of 8","schema":{"type":"string","minLength":8},"name":"minLength","argument":8,"stack":"instance.token does not meet minimum length of 8"}]}`},
		"CreateNoSecret":   {"they must be there", post, "/tasks", `{"templateRef":"secret"}`, 400, `"argument":"token"`},

		"Dry": {"a Template is tried out", post, "/dry-run",
			`{"template":` + dryTemplate + `,"values":{"word":"hi"},"directoryContents":[{"path":"a/b","base64Content":"eA=="}]}`, 200,
			`"directoryContents":[{"path":"said.txt","executable":false,"base64Content":"PGhpPg=="}],"output":{},"steps":[{"action":"test:say","input":{"text":"${{ parameters.word }}"},"id":"step-1","name":"test:say"}],"changes":[]}`},
		"DryInvalid":   {"with values that fit", post, "/dry-run", `{"template":` + dryTemplate + `,"values":{},"directoryContents":[]}`, 400, `{"errors":[{"path":[],"property":"instance","message":"requires property \"word\""`},
		"DryLarge":     {"and is not too large", post, "/dry-run", `{"template":` + dryTemplate + `,"values":{"word":"` + strings.Repeat("x", maxTried) + `"}}`, 400, message("request/body/template and request/body/values must NOT have more than 4194304 bytes together")},
		"DryCostly":    {"and does not take for ever to check", post, "/dry-run", `{"template":` + costly("parameters") + `,"values":{}}`, 400, message("cannot validate the form: page 1: the schema takes too many steps; simplify oneOf, anyOf, $ref and patterns")},
		"DrySecrets":   {"nor do its secrets", post, "/dry-run", `{"template":` + costly("secrets") + `,"values":{}}`, 400, message("cannot validate the secrets: the schema takes too many steps; simplify oneOf, anyOf, $ref and patterns")},
		"DryNothing":   {"if there is one", post, "/dry-run", `{"values":{}}`, 400, message("request/body must have required property 'template'")},
		"DryComponent": {"and it is one", post, "/dry-run", `{"template":{"apiVersion":"portal.io/v1alpha1","kind":"Component"},"values":{}}`, 400, message("Input template is not a template")},
		"DryBad":       {"that a catalog would take", post, "/dry-run", `{"template":` + strings.Replace(dryTemplate, `"dry"`, `"not a name"`, 1) + `,"values":{}}`, 400, "Input template is not a template: "},
		"DryFile":      {"with files that can be read", post, "/dry-run", `{"template":` + dryTemplate + `,"values":{"word":"hi"},"directoryContents":[{"path":"a","base64Content":"?"}]}`, 400, message("request/body/directoryContents/0/base64Content is not base64")},
		"DryOutside":   {"and lie in the workspace", post, "/dry-run", `{"template":` + dryTemplate + `,"values":{"word":"hi"},"directoryContents":[{"path":"../a","base64Content":"eA=="}]}`, 400, `"InputError"`},

		"Method":  {"another method is refused", http.MethodDelete, "/tasks", "", 405, "Cannot DELETE this"},
		"Unknown": {"there is nothing else", "GET", "/nothing", "", 404, message("There is nothing at /v2/nothing")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := w.do("ada", tc.method, tc.path, tc.body)
			if got.status != tc.status || !strings.Contains(got.body, tc.want) {
				t.Errorf("%s: got %d %s, want %d with %s", tc.reason, got.status, got.body, tc.status, tc.want)
			}
			if strings.Contains(got.body, "4711") || strings.Contains(got.body, `"short"`) {
				t.Errorf("the answer has a secret: %s", got.body)
			}
		})
	}
}

// dryTemplate is a Template that is in no catalog.
const dryTemplate = `{"apiVersion":"scaffolder.portal.io/v1beta3","kind":"Template","metadata":{"name":"dry"},"spec":{"type":"service","owner":"platform",` +
	`"parameters":{"required":["word"],"properties":{"word":{"type":"string"}}},"steps":[{"action":"test:say","input":{"text":"${{ parameters.word }}"}}]}}`

// costly is a Template with a schema of which each definition asks for the next
// one twice: that of its parameters, or of its secrets.
func costly(where string) string {
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
		t.Errorf("a task says what it is, got %+v", got)
	}
	entity, _ := got.Spec.User["entity"].(map[string]any)
	if got.Spec.User["ref"] != "user:default/ada" || entity == nil || entity["kind"] != "User" {
		t.Errorf("a task knows who asked, got %v", got.Spec.User)
	}
	for _, at := range []string{got.CreatedAt, got.LastHeartbeatAt} {
		if len(at) != len("2026-11-15T00:15:47.000Z") || !strings.HasSuffix(at, "Z") {
			t.Errorf("times are in UTC with milliseconds, not %q", at)
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
		t.Errorf("events are told from the first to the end, got %+v", events)
	}
	said := map[string]any{"text": []any{map[string]any{"title": "Said", "content": "hello by user:default/ada"}}}
	if diff := cmp.Diff(said, last.Body.Output); diff != "" {
		t.Errorf("the end has the output: %s", diff)
	}
	if r := w.do("ada", "POST", "/tasks/"+id+"/cancel", ""); r.body != `{"status":"cancelled"}` {
		t.Errorf("what is over is cancelled with the same answer, got %s", r.body)
	}
	w.until(id, "completed")
	if r := w.do("ada", "POST", "/tasks/"+id+"/retry", ""); r.status != 409 || !strings.Contains(r.body, `"ConflictError"`) {
		t.Errorf("what went well is not tried again, got %d %s", r.status, r.body)
	}
}

// TestRetry fails a task, and lets it go on. Whoever reads it later is told of its
// last end alone.
func TestRetry(t *testing.T) {
	w := newWorld(t, nil)
	id := w.create("ada", "fail", `{}`)
	w.until(id, "failed")
	if r := w.do("ada", "GET", "/tasks/"+id+"/eventstream", ""); !strings.Contains(r.body, "it is broken") || strings.Count(r.body, "event: completion") != 1 {
		t.Errorf("a task that failed says why, and ends: %s", r.body)
	}
	close(w.mended)
	if r := w.do("ada", "POST", "/tasks/"+id+"/retry", `{"secrets":{}}`); r.status != 201 || r.body != `{"id":"`+id+`"}` {
		t.Errorf("it is tried again under its id, got %d %s", r.status, r.body)
	}
	for _, path := range []string{"/eventstream", "/events"} {
		w.until(id, "completed")
		r := w.do("ada", "GET", "/tasks/"+id+path, "")
		if strings.Count(r.body, `"type":"completion"`) != 1 || !strings.Contains(r.body, "status: completed") || strings.Contains(r.body, "status: failed") || !strings.Contains(r.body, `"type":"recovered"`) {
			t.Errorf("%s: a task that was tried again has one end, got %s", path, r.body)
		}
	}
}

// TestTaskList lists tasks of several people.
func TestTaskList(t *testing.T) {
	w := newWorld(t, nil, admins)
	waits := w.create("bob", "other/wait", `{}`)
	fails := w.create("ada", "fail", `{}`)
	echoes := w.create("ada", "echo", `{"word":"x"}`)
	w.until(echoes, "completed")
	// It begins when the other has ended, so that it is told by its heartbeat, too.
	machines := w.create("machine", "echo", `{"word":"y"}`)
	w.until(waits, "processing")
	w.until(fails, "failed")
	w.until(machines, "completed")
	cases := map[string]struct {
		reason, caller, query string
		want                  []string
		total                 int
	}{
		"All":       {"services see all tasks", "machine", "?order=asc:created_at", []string{waits, fails, echoes, machines}, 4},
		"Newest":    {"the newest is first", "machine", "", []string{machines, echoes, fails, waits}, 4},
		"Page":      {"a page is a part", "machine", "?order=asc:created_at&limit=1&offset=1", []string{fails}, 4},
		"Behind":    {"behind the last there is nothing", "machine", "?offset=9", nil, 4},
		"NoLimit":   {"a limit of nothing counts", "machine", "?limit=0", nil, 4},
		"Own":       {"people see theirs", "ada", "?order=asc:createdAt", []string{fails, echoes}, 2},
		"Others":    {"and not others', whatever they ask for", "ada", "?createdBy=user:default/bob", nil, 0},
		"OwnAsked":  {"asking for one's own is fine", "ada", "?order=asc:created_at&createdBy=User:default/Ada&createdBy=user:default/bob", []string{fails, echoes}, 2},
		"Admin":     {"a rule shows all", "admin", "?createdBy=user:default/ada&order=asc:created_at", []string{fails, echoes}, 2},
		"Status":    {"by what became of them", "machine", "?status=failed&status=processing&order=asc:created_at", []string{waits, fails}, 2},
		"Template":  {"by what they were made of", "machine", "?templateRef=echo&order=asc:last_heartbeat_at", []string{echoes, machines}, 2},
		"Both":      {"filters narrow one another", "machine", "?templateRef=echo&createdBy=user:default/ada", []string{echoes}, 1},
		"ByCreator": {"ordered by who asked, and then newest first", "admin", "?order=desc:created_by&order=desc:created_at", []string{waits, echoes, fails, machines}, 4},
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
					t.Errorf("a task in a list has its spec, got %v", task.Spec)
				}
			}
			if diff := cmp.Diff(tc.want, ids); diff != "" || got.TotalTasks != tc.total {
				t.Errorf("%s: total %d: %s", tc.reason, got.TotalTasks, diff)
			}
		})
	}
	var one struct{ CreatedBy *string }
	w.want("machine", "GET", "/tasks/"+machines, "", 200, &one)
	if one.CreatedBy != nil {
		t.Errorf("a service is no user, got %s", *one.CreatedBy)
	}
}

// TestSecrets looks for a secret everywhere a client can.
func TestSecrets(t *testing.T) {
	const hidden = "hunter2-hunter2"
	w := newWorld(t, nil)
	var made struct{ ID string }
	w.want("ada", "POST", "/tasks", `{"templateRef":"secret","values":{},"secrets":{"token":"`+hidden+`"}}`, 201, &made)
	w.until(made.ID, "completed")
	for _, path := range []string{"", "/events", "/eventstream"} {
		if r := w.do("ada", "GET", "/tasks/"+made.ID+path, ""); r.status != 200 || strings.Contains(r.body, hidden) {
			t.Errorf("%q: the answer has the secret: %s", path, r.body)
		}
	}
	if r := w.do("ada", "GET", "/tasks", ""); strings.Contains(r.body, hidden) {
		t.Errorf("the list has the secret: %s", r.body)
	}
}

// TestBase does not let a Template say that it lies on this machine, but one that
// the catalog has read there.
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
		"pushed": {"whoever pushes one writes what they please", "test", ""},
		"read":   {"the catalog has read it there", store.LocationProvider("one"), "file:///srv/t.yaml"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			docs, errs := tree.DecodeBytes(fmt.Appendf(nil, template, name))
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			if _, err := w.store.Sync(t.Context(), store.Change{Provider: tc.provider, Put: []store.Document{{Node: docs[0]}}}); err != nil {
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
