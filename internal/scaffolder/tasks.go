package scaffolder

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/identity/audit"
	"example.dev/ingestor/internal/identity/auth"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/internal/scaffolder/task"
	"example.dev/ingestor/internal/scaffolder/taskstore"
)

// mostTasks is the maximum number of tasks per listing, also if no limit is given.
const mostTasks = 500

// mostFilters is the maximum number of values of a filter of tasks.
const mostFilters = 100

// orders maps the names that clients use for the fields that tasks are ordered by:
// columns of Backstage's scaffolder, and keys of the response.
var orders = map[string]string{
	"created_at": "created", "createdAt": "created", "status": "status", "created_by": "createdBy", "createdBy": "createdBy",
	"last_heartbeat_at": "beat", "lastHeartbeatAt": "beat", "templateRef": "template",
}

// asTime formats a time for clients.
func asTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// shown is a task as clients see it. It contains neither secrets nor state.
type shown struct {
	ID              string          `json:"id"`
	Spec            json.RawMessage `json:"spec"`
	Status          string          `json:"status"`
	CreatedAt       string          `json:"createdAt"`
	LastHeartbeatAt string          `json:"lastHeartbeatAt,omitempty"`
	CreatedBy       string          `json:"createdBy,omitempty"`
	// Origin is the origin of the Template.
	Origin string `json:"origin,omitempty"`
}

func show(t *taskstore.Task) shown {
	out := shown{ID: t.ID, Spec: t.Spec, Status: t.Status, CreatedAt: asTime(t.Created), CreatedBy: t.CreatedBy}
	if by, err := task.RequesterOf(t); err == nil {
		out.Origin = by.Origin
	}
	if !t.Beat.IsZero() {
		out.LastHeartbeatAt = asTime(t.Beat)
	}
	return out
}

// listTasks answers GET /v2/tasks.
func (s *Scaffolder) listTasks(w http.ResponseWriter, r *http.Request) error {
	owners, err := s.readers(r.Context())
	if err != nil {
		return err
	}
	q, err := parseTasks(r)
	if err != nil {
		return err
	}
	some := narrow(&q, owners)
	return rest.WriteStream(w, r, rest.Streamed{Write: func(to io.Writer) error {
		return s.writeTasks(r.Context(), bufio.NewWriterSize(to, 64<<10), q, some)
	}})
}

// writeTasks writes the tasks that match q, unless some is false. A whole page may be
// many times larger than memory.
func (s *Scaffolder) writeTasks(ctx context.Context, to *bufio.Writer, q taskstore.TaskQuery, some bool) error {
	// The writer keeps its first error, and Flush returns it.
	_, _ = to.WriteString(`{"tasks":[`)
	total, between := 0, ""
	var one bytes.Buffer
	enc := json.NewEncoder(&one)
	enc.SetEscapeHTML(false)
	if some {
		var err error
		total, err = s.TaskStore.EachTask(ctx, q, func(t *taskstore.Task) error {
			one.Reset()
			if err := enc.Encode(show(t)); err != nil {
				return err
			}
			_, _ = to.WriteString(between)
			between = ","
			// Encode ends with a newline.
			_, err := to.Write(bytes.TrimSuffix(one.Bytes(), []byte("\n")))
			return err
		})
		if err != nil {
			return err
		}
	}
	_, _ = fmt.Fprintf(to, `],"totalTasks":%d}`, total)
	return to.Flush()
}

// narrow restricts a query to tasks that may be read, and reports whether there can
// be any.
func narrow(q *taskstore.TaskQuery, owners permission.Owners) bool {
	if len(q.CreatedBy) > 0 {
		q.CreatedBy = slices.DeleteFunc(q.CreatedBy, func(ref string) bool { return !owners.Has(ref) })
		return len(q.CreatedBy) > 0
	}
	if owners.Others {
		q.NotCreatedBy = owners.Refs
		return true
	}
	q.CreatedBy = owners.Refs
	return len(q.CreatedBy) > 0
}

// parseTasks parses the query parameters of a listing of tasks.
func parseTasks(r *http.Request) (q taskstore.TaskQuery, err error) {
	params, err := rest.Params(r.URL.RawQuery)
	if err != nil {
		return q, err
	}
	for name, values := range params {
		if len(values) > mostFilters {
			return q, rest.Input("request/query/%s must NOT have more than %d items", rest.Short(name), mostFilters)
		}
	}
	for name, to := range map[string]*[]string{"createdBy": &q.CreatedBy, "status": &q.Status, "templateRef": &q.Template} {
		for _, v := range params[name] {
			if err := rest.CheckText(name, v); err != nil {
				return q, err
			}
			*to = append(*to, strings.ToLower(v))
		}
	}
	for i, ref := range q.Template {
		parsed, err := entity.ParseRef(ref, entity.KindTemplate, "")
		if err != nil {
			return q, rest.Input("Invalid templateRef parameter \"%s\", expected \"[<kind>:][<namespace>/]<name>\"", rest.Short(ref))
		}
		q.Template[i] = parsed.String()
	}
	for _, o := range params["order"] {
		direction, field, _ := strings.Cut(o, ":")
		if field == "" || direction != "asc" && direction != "desc" {
			return q, rest.Input("Invalid order parameter \"%s\", expected \"<asc or desc>:<field name>\"", rest.Short(o))
		}
		column, ok := orders[field]
		if !ok {
			return q, rest.Input("Invalid order parameter \"%s\", expected field created_at, last_heartbeat_at, created_by, status or templateRef", rest.Short(o))
		}
		q.Order = append(q.Order, taskstore.TaskOrder{Field: column, Desc: direction == "desc"})
	}
	if q.Limit, err = rest.Count(params, "limit", mostTasks); err != nil {
		return q, err
	}
	q.Limit = min(q.Limit, mostTasks)
	q.Offset, err = rest.Count(params, "offset", 0)
	return q, err
}

// getTask answers GET /v2/tasks/{id}.
func (s *Scaffolder) getTask(w http.ResponseWriter, r *http.Request) error {
	t, err := s.task(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, show(t))
}

// made is the response with the id of a task.
type made struct {
	ID string `json:"id"`
}

// createTask answers POST /v2/tasks.
func (s *Scaffolder) createTask(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	var body struct {
		TemplateRef *string `json:"templateRef"`
		filled
	}
	if err := rest.ReadJSON(r, &body); err != nil {
		return err
	}
	if body.TemplateRef == nil {
		return rest.Input("request/body must have required property 'templateRef'")
	}
	ref, err := entity.ParseRef(*body.TemplateRef, entity.KindTemplate, "")
	if err != nil {
		return rest.Input("request/body/templateRef must have the form [<kind>:][<namespace>/]<name>")
	}
	t, err := s.template(ctx, ref)
	if err != nil {
		// A caller who may not create tasks at all gets that error, whether or not the
		// Template exists.
		return errors.Join(s.Policy.Require(ctx, permission.TaskCreate, nil), err)
	}
	if err := s.mayRun(ctx, permission.TaskCreate, t.resource); err != nil {
		return err
	}
	order, problems, err := s.order(ctx, t.Node, body.filled)
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		return invalid(w, r, problems)
	}
	if err := s.unlocked(t.Node, order.Values); err != nil {
		s.record(ctx, audit.TaskCreated, "", t.resource.Ref, err)
		return err
	}
	order.Read, order.By = t.read, s.by(ctx, t)
	made, err := s.createdTask(ctx, order, t.resource.Ref)
	if err != nil {
		return failed(w, r, err)
	}
	return rest.WriteJSON(w, r, http.StatusCreated, made)
}

// createdTask creates a task for a Template.
func (s *Scaffolder) createdTask(ctx context.Context, order task.Order, template string) (made, error) {
	id, err := s.Tasks.Create(ctx, order)
	s.record(ctx, audit.TaskCreated, id, template, err)
	if err == nil {
		s.Log.InfoContext(ctx, "task created", "task", id, "template", template, "by", auth.From(ctx).Subject)
	}
	return made{id}, err
}

// cancelTask answers POST /v2/tasks/{id}/cancel, with the same response if the task
// is already over.
func (s *Scaffolder) cancelTask(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	t, err := s.task(ctx, r.PathValue("id"))
	if err != nil {
		return err
	}
	if err := s.Policy.Require(ctx, permission.TaskCancel, resourceOf(t)); err != nil {
		return err
	}
	_, err = s.Tasks.Cancel(ctx, t.ID)
	s.recordCancel(ctx, t, err)
	if err != nil {
		return err
	}
	s.Log.InfoContext(ctx, "task cancelled", "task", t.ID, "by", auth.From(ctx).Subject)
	return rest.WriteJSON(w, r, http.StatusOK, struct {
		Status string `json:"status"`
	}{taskstore.TaskCancelled})
}

// retryTask answers POST /v2/tasks/{id}/retry.
func (s *Scaffolder) retryTask(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	t, err := s.task(ctx, r.PathValue("id"))
	if err != nil {
		return err
	}
	template, err := s.templateOf(ctx, t)
	if err != nil {
		return err
	}
	if err := s.mayRun(ctx, permission.TaskCreate, template); err != nil {
		return err
	}
	var body filled
	if r.ContentLength != 0 {
		if err := rest.ReadJSON(r, &body); err != nil {
			return err
		}
	}
	secrets, err := body.secrets()
	if err != nil {
		return err
	}
	now := task.Requester{Caller: auth.From(ctx), Template: template.Ref, Owners: template.Owners, Origin: template.Origin}
	ok, err := s.Tasks.Retry(ctx, t.ID, now, secrets)
	if err == nil && !ok {
		err = rest.Conflict("cannot retry task %s: only failed and cancelled tasks can be retried", t.ID)
	}
	s.record(ctx, audit.TaskRetried, t.ID, t.Template, err)
	if err != nil {
		return failed(w, r, err)
	}
	s.Log.InfoContext(ctx, "task retried", "task", t.ID, "by", auth.From(ctx).Subject)
	return rest.WriteJSON(w, r, http.StatusCreated, made{t.ID})
}

// userEntity returns the entity of the requesting user, nil if there is none that the
// user may read.
func (s *Scaffolder) userEntity(ctx context.Context, ref string) (*tree.Node, error) {
	if ref == "" {
		return nil, nil
	}
	e, err := s.Catalog.Find(ctx, ref)
	if errors.Is(err, db.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return wire.Decoder{}.Decode(e.JSON)
}

// over reports whether a task has ended; only a retry changes it then.
func over(t *taskstore.Task) bool {
	return t.Status != taskstore.TaskOpen && t.Status != taskstore.TaskProcessing
}
