package permission

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/identity/auth"
	"example.dev/ingestor/internal/rest"
)

// Resolve returns the resource with a reference; db.ErrNotFound, or nil, if there is
// none. It must not check whether the caller may see it.
type Resolve func(ctx context.Context, ref string) (*Resource, error)

// maxQuestions is the maximum number of decisions per request.
const maxQuestions = 1000

// Decisions.
const (
	allowed = "ALLOW"
	denied  = "DENY"
)

// Plugin returns the endpoints below /api/permission. entity finds entities by their
// references, and task finds tasks by their ids; nil if there are no tasks.
func (p *Policy) Plugin(entity, task Resolve) rest.Plugin {
	return rest.Plugin{
		Names: []string{"permission"},
		Routes: []rest.Route{
			{Method: http.MethodPost, Path: "/authorize", Handle: authorize{p, entity, task}.handle},
			{Method: http.MethodGet, Path: "/health", Handle: health, Public: true},
		},
	}
}

func health(w http.ResponseWriter, r *http.Request) error {
	return rest.WriteJSON(w, r, http.StatusOK, struct {
		Status string `json:"status"`
	}{"ok"})
}

// authorize answers what a caller may do.
type authorize struct {
	policy       *Policy
	entity, task Resolve
}

// question is an item of the request.
type question struct {
	ID         *string `json:"id"`
	Permission *struct {
		Type         string           `json:"type"`
		Name         string           `json:"name"`
		Attributes   *json.RawMessage `json:"attributes"`
		ResourceType string           `json:"resourceType"`
	} `json:"permission"`
	ResourceRef json.RawMessage `json:"resourceRef"`

	// refs are the references in ResourceRef; many says that it is a list.
	refs []string
	many bool
}

// decision is an item of the response. Result is a list if the question has a list of
// references.
type decision struct {
	ID     *string `json:"id,omitempty"`
	Result any     `json:"result"`
}

func (a authorize) handle(w http.ResponseWriter, r *http.Request) error {
	questions, isList, err := readQuestions(r)
	if err != nil {
		return err
	}
	caller := auth.From(r.Context())
	if err := check(questions, isList, caller); err != nil {
		return err
	}
	decisions := make([]decision, len(questions))
	seen := map[string]*Resource{}
	for i := range questions {
		decisions[i].ID = questions[i].ID
		if decisions[i].Result, err = a.result(r.Context(), caller, &questions[i], seen); err != nil {
			return err
		}
	}
	if isList {
		return rest.WriteJSON(w, r, http.StatusOK, decisions)
	}
	return rest.WriteJSON(w, r, http.StatusOK, struct {
		Items []decision `json:"items"`
	}{decisions})
}

// readQuestions reads either shape of the body: a list, or an object with the list as
// its items.
func readQuestions(r *http.Request) (questions []question, isList bool, err error) {
	data, err := rest.ReadBody(r)
	if err != nil {
		return nil, false, err
	}
	data = bytes.TrimSpace(data)
	if len(data) > 0 && data[0] == '[' {
		err := rest.DecodeJSON(data, &questions)
		return questions, true, err
	}
	var body struct {
		Items *[]question `json:"items"`
	}
	if err := rest.DecodeJSON(data, &body); err != nil {
		return nil, false, err
	}
	if body.Items == nil {
		return nil, false, rest.Input("request/body must have required property 'items'")
	}
	return *body.Items, false, nil
}

// check validates the questions. The list is the less strict shape: its permissions
// may have any type and no resource.
func check(questions []question, isList bool, c auth.Caller) error {
	total := 0
	for i := range questions {
		q := &questions[i]
		at := "request/body/"
		if !isList {
			at += "items/"
		}
		at += strconv.Itoa(i)
		if err := q.check(at, isList, c); err != nil {
			return err
		}
		total += max(len(q.refs), 1)
	}
	if total > maxQuestions {
		return rest.Input("request/body must not ask for more than %d decisions, got %d", maxQuestions, total)
	}
	return nil
}

func (q *question) check(at string, isList bool, c auth.Caller) error {
	if q.Permission == nil {
		return rest.Input("%s must have required property 'permission'", at)
	}
	if q.Permission.Name == "" {
		return rest.Input("%s/permission must have required property 'name'", at)
	}
	if err := q.readRefs(at); err != nil {
		return err
	}
	if isList {
		return nil
	}
	if a := q.Permission.Attributes; a == nil || len(*a) == 0 || (*a)[0] != '{' {
		return rest.Input("%s/permission must have required property 'attributes', an object", at)
	}
	switch q.Permission.Type {
	case "basic":
		return nil
	case "resource":
	default:
		return rest.Input("%s/permission/type must be 'basic' or 'resource'", at)
	}
	if q.Permission.ResourceType == "" {
		return rest.Input("%s/permission must have required property 'resourceType'", at)
	}
	if len(q.refs) == 0 && c.Kind != auth.Service {
		return rest.Input("Resource permissions require a resourceRef to be set. Direct user requests without a resourceRef are not allowed.")
	}
	return nil
}

// readRefs reads resourceRef, which is a reference or a list of them.
func (q *question) readRefs(at string) error {
	raw := q.ResourceRef
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if q.many = raw[0] == '['; !q.many {
		q.refs = []string{""}
		if err := json.Unmarshal(raw, &q.refs[0]); err != nil {
			return rest.Input("%s/resourceRef must be string or array", at)
		}
		return nil
	}
	if err := json.Unmarshal(raw, &q.refs); err != nil {
		return rest.Input("%s/resourceRef must contain only strings", at)
	}
	if len(q.refs) == 0 {
		return rest.Input("%s/resourceRef must not be empty", at)
	}
	return nil
}

// result decides a question: for each of its references, or in general.
func (a authorize) result(ctx context.Context, c auth.Caller, q *question, seen map[string]*Resource) (any, error) {
	name := q.Permission.Name
	if len(q.refs) == 0 || q.Permission.Type == "basic" {
		return word(a.policy.Decide(c, name, nil)), nil
	}
	results := make([]string, len(q.refs))
	for i, ref := range q.refs {
		r, err := a.resource(ctx, q, ref, seen)
		if err != nil {
			return nil, err
		}
		// An entity that the caller may not read is treated as not existing, for every
		// permission.
		results[i] = word(r != nil && (!ofEntity(q) || a.policy.Decide(c, EntityRead, r)) && a.policy.Decide(c, name, r))
	}
	if q.many {
		return results, nil
	}
	return results[0], nil
}

// resource returns the resource with a reference, nil if there is none.
func (a authorize) resource(ctx context.Context, q *question, ref string, seen map[string]*Resource) (*Resource, error) {
	resolve := a.entity
	if !ofEntity(q) {
		if resolve = a.task; resolve == nil || !ofTask(q) {
			// Actions have no kind, namespace or owner.
			return &Resource{Ref: ref, Action: ref}, nil
		}
	}
	if r, ok := seen[ref]; ok {
		return r, nil
	}
	r, err := resolve(ctx, ref)
	if err != nil {
		if !errors.Is(err, db.ErrNotFound) {
			return nil, err
		}
		r = nil
	}
	seen[ref] = r
	return r, nil
}

// ofEntity reports whether the reference of a question is that of an entity.
func ofEntity(q *question) bool {
	switch q.Permission.ResourceType {
	case "scaffolder-action", "scaffolder-task":
		return false
	case "":
		return !strings.HasPrefix(q.Permission.Name, "scaffolder.action.") && !strings.HasPrefix(q.Permission.Name, "scaffolder.task.")
	}
	return true
}

// ofTask reports whether a question that is not about an entity is about a task.
func ofTask(q *question) bool {
	return q.Permission.ResourceType == "scaffolder-task" || strings.HasPrefix(q.Permission.Name, "scaffolder.task.")
}

func word(allow bool) string {
	if allow {
		return allowed
	}
	return denied
}
