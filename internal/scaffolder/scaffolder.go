// Package scaffolder implements the HTTP API of the scaffolder: Templates and their
// forms, actions, and tasks with their events, each filtered by the permissions of
// the caller.
//
// Reading tasks: by default services may read all tasks, users those that they
// created, guests none. A rule that grants scaffolder.task.read grants it for all
// tasks; owners in a rule are creators. A task that a caller may not read is reported
// as not found, so that ids reveal nothing; a caller who may read no task at all gets
// an error that says so. Cancelling a task (scaffolder.task.cancel) and retrying it
// (permissions as for creating one) require that the caller may read it.
//
// Creating tasks: a caller must be able to read the Template and have, for it, the
// permissions scaffolder.task.create, scaffolder.template.parameter.read and
// scaffolder.template.step.read, and scaffolder.action.execute for each step. What a
// step does in clusters and repositories requires further permissions.
//
// It is one package because it is one HTTP API, with one file per resource, all of which
// check access in the same way.
package scaffolder

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/identity/audit"
	"example.dev/ingestor/internal/identity/auth"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/internal/scaffolder/task"
	"example.dev/ingestor/internal/scaffolder/taskstore"
	"example.dev/ingestor/template/expression"
)

// Options configure a Scaffolder. Tasks, TaskStore, Policy, Catalog, Templates and Log
// are required.
type Options struct {
	Tasks *task.Tasks
	// TaskStore is the store of Tasks.
	TaskStore *taskstore.Store
	Policy    *permission.Policy
	Catalog   Catalog
	// Templates answers GET /v2/templates with the Templates that the caller may read.
	Templates rest.Handler
	// Env is the environment of the Templates' expressions; nil means
	// expression.Default.
	Env *expression.Env
	// Fill returns the values for the form of a Template that updates: those of the live
	// resource with the name, in the namespace of the cluster, both of which may be
	// empty, if the requester may read it. It returns nil if the Template does not
	// update. An error that is a *rest.Fault, an *action.Error or an *action.Denied is
	// reported to the caller. If Fill is nil, no form is filled.
	Fill func(ctx context.Context, by task.Requester, template *tree.Node, cluster, namespace, name string) (*tree.Node, error)
	// TrustTemplates reports whether the operator trusts the Templates of a Backstage, which
	// has the name in the configuration. Nil trusts none.
	TrustTemplates func(backstage string) bool
	// Cluster returns the cluster that a step applies to, given the name in the form,
	// which may be empty. Nil means the named cluster.
	Cluster func(name string) string
	// EventStreams is how many requests of one caller may wait for events of tasks at
	// once in this process; zero is no limit.
	EventStreams int
	// Autocomplete are the providers of form suggestions, by name.
	Autocomplete map[string]Complete
	Log          *slog.Logger
	// Audit records tasks and dry runs; nil records nothing.
	Audit *audit.Log
}

// Intervals for following a task.
const (
	// pingEvery is how often an idle stream sends a ping, so that proxies keep the
	// connection open.
	pingEvery = 15 * time.Second
	// pollFor is how long a request for events waits for the first one.
	pollFor = 30 * time.Second
)

// Scaffolder implements the HTTP API of the scaffolder.
type Scaffolder struct {
	Options
	// actions and extensions are constant responses.
	actions, extensions rest.Content
	// ping and poll are pingEvery and pollFor, except in tests.
	ping, poll time.Duration
	followers  auth.Quota
}

// New returns the scaffolder that the options describe.
func New(opts Options) *Scaffolder {
	if opts.Env == nil {
		opts.Env = expression.Default()
	}
	return &Scaffolder{
		Options: opts,
		actions: content(listed(opts.Tasks.Actions())), extensions: content(extensionsOf(opts.Env)),
		ping: pingEvery, poll: pollFor, followers: auth.Quota{Most: opts.EventStreams},
	}
}

// longest is the timeout of a listing of all Templates to a slow client.
const longest = 10 * time.Minute

// maxDryRun is the size limit of a dry-run request, in bytes: 10 MiB of files are 14
// MiB in base64.
const maxDryRun = 20 << 20

// maxTried is the size limit of the Template and the values in such a request.
const maxTried = 4 << 20

// Plugin returns the endpoints below /api/scaffolder.
func (s *Scaffolder) Plugin() rest.Plugin {
	const one = "/v2/tasks/{id}"
	return rest.Plugin{Names: []string{"scaffolder"}, Routes: []rest.Route{
		{Method: http.MethodGet, Path: "/v2/templates", Handle: s.Templates, Timeout: longest},
		{Method: http.MethodGet, Path: "/v2/templates/{namespace}/{kind}/{name}/parameter-schema", Handle: s.parameterSchema},
		{Method: http.MethodGet, Path: "/v2/templates/usage", Handle: s.templateUsage},
		{Method: http.MethodGet, Path: "/v2/actions", Handle: s.constant(&s.actions)},
		{Method: http.MethodPost, Path: "/v2/actions/{id}/run", Handle: s.runAction, MaxBody: maxTried},
		{Method: http.MethodGet, Path: "/v2/tasks", Handle: s.listTasks},
		{Method: http.MethodPost, Path: "/v2/tasks", Handle: s.createTask},
		{Method: http.MethodGet, Path: one, Handle: s.getTask},
		{Method: http.MethodPost, Path: one + "/cancel", Handle: s.cancelTask},
		{Method: http.MethodPost, Path: one + "/retry", Handle: s.retryTask},
		{Method: http.MethodGet, Path: one + "/events", Handle: s.events},
		{Method: http.MethodGet, Path: one + "/eventstream", Handle: s.eventStream, Timeout: -1},
		{Method: http.MethodPost, Path: "/v2/dry-run", Handle: s.dryRun, MaxBody: maxDryRun},
		{Method: http.MethodPost, Path: "/v2/autocomplete/{provider}/{resource}", Handle: s.autocomplete},
		{Method: http.MethodGet, Path: "/v2/templating-extensions", Handle: s.constant(&s.extensions)},
	}}
}

// constant answers with a response that is the same for every caller who may use the
// portal.
func (s *Scaffolder) constant(c *rest.Content) rest.Handler {
	return func(w http.ResponseWriter, r *http.Request) error { return rest.Write(w, r, *c) }
}

func content(n *tree.Node) rest.Content {
	body := tree.AppendJSON(nil, n, "")
	return rest.Content{ETag: rest.ETagOf(body), Body: body}
}

// listed returns actions as clients see them, each under all its names, sorted by
// name.
func listed(actions []action.Action) *tree.Node {
	list := tree.Arr()
	for _, a := range actions {
		var examples *tree.Node
		if len(a.Examples) > 0 {
			examples = tree.Arr()
			for _, e := range a.Examples {
				examples.Items = append(examples.Items, tree.Obj(
					tree.F("description", tree.Str(e.Description)), tree.F("example", tree.Str(e.Example))))
			}
		}
		schema := tree.Obj(tree.F("input", a.Input), tree.F("output", a.Output))
		for _, id := range append([]string{a.ID}, a.Aliases...) {
			list.Items = append(list.Items, tree.Obj(
				tree.F("id", tree.Str(id)), tree.F("description", tree.OptStr(a.Description)),
				tree.F("examples", examples), tree.F("schema", schema)))
		}
	}
	slices.SortStableFunc(list.Items, func(a, b *tree.Node) int { return strings.Compare(a.Get("id").Str(), b.Get("id").Str()) })
	return list
}

// raw returns a value as JSON, an empty object for nil.
func raw(n *tree.Node) json.RawMessage {
	if n == nil {
		return json.RawMessage("{}")
	}
	return tree.AppendJSON(nil, n, "")
}
