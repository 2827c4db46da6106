// Package scaffolder is what the portal's scaffolder tells over HTTP: Templates
// and their forms, actions, and tasks with what happens in them, each caller
// those they may see.
//
// Who may read a task: by default services all, people those that they asked for
// themselves, guests none. A rule that grants scaffolder.task.read makes it all,
// and owners in a rule are those who asked. A task that somebody may not read does
// not exist, as far as they are told, so that ids tell nothing; whoever may read
// no task at all is told so. Reading a task is needed to cancel it
// (scaffolder.task.cancel) and to retry it (as for creating one).
//
// Who may create one: whoever may read the Template and has, for it, the
// permissions scaffolder.task.create, scaffolder.template.parameter.read and
// scaffolder.template.step.read, and scaffolder.action.execute for each step.
// What a step does in clusters and repositories takes permissions of its own.
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
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/catalog"
	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/identity/audit"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/internal/scaffolder/task"
	"example.dev/ingestor/internal/scaffolder/taskstore"
	"example.dev/ingestor/template/expression"
)

// Options are what a Scaffolder is made of. Tasks, Store, TaskStore, Policy, Catalog and Log
// are needed.
type Options struct {
	Tasks *task.Tasks
	Store *store.Store
	// TaskStore is the one of Tasks.
	TaskStore *taskstore.Store
	Policy    *permission.Policy
	Catalog   *catalog.Catalog
	// Env is the language of the Templates' expressions; nil means
	// expression.Default.
	Env *expression.Env
	// Origin returns where entities of a provider come from.
	Origin func(provider string) string
	// Fill returns what the form of a Template that updates is filled with: the
	// values of the live resource with the name, in the namespace of the cluster,
	// both of which may be empty, if the requester may read it. It returns nil if
	// the Template is not one that updates. Callers are told of an error that is a
	// *server.Fault, an *action.Error or an *action.Denied. Without it no form is
	// filled.
	Fill func(ctx context.Context, by task.Requester, template *tree.Node, cluster, namespace, name string) (*tree.Node, error)
	// Cluster returns the cluster that a step applies to, given the name in the
	// form, which may be empty. Nil means the named one.
	Cluster func(name string) string
	// EventStreams is how many requests of one caller wait for events of tasks at
	// once here; zero is no limit.
	EventStreams int
	// Autocomplete are the providers of what forms offer, by name.
	Autocomplete map[string]Complete
	Log          *slog.Logger
	// Audit records tasks and dry runs; nil records nothing.
	Audit *audit.Log
}

// The times of following a task.
const (
	// pingEvery is how often a silent stream says that it is there, so that
	// proxies keep it.
	pingEvery = 15 * time.Second
	// pollFor is how long a request for events waits for the first one.
	pollFor = 30 * time.Second
)

// Scaffolder answers for the scaffolder.
type Scaffolder struct {
	Options
	// actions and extensions are answers that never change.
	actions, extensions rest.Content
	// ping and poll are the constants, but in tests.
	ping, poll time.Duration
	followers  followers
}

// New returns the scaffolder that the options describe.
func New(opts Options) *Scaffolder {
	if opts.Env == nil {
		opts.Env = expression.Default()
	}
	return &Scaffolder{
		Options: opts,
		actions: content(listed(opts.Tasks.Actions())), extensions: content(extensionsOf(opts.Env)),
		ping: pingEvery, poll: pollFor, followers: followers{most: opts.EventStreams},
	}
}

// longest is how long a listing of all Templates may take a slow client.
const longest = 10 * time.Minute

// maxDryRun is the most that a request to try a Template out may have, in bytes:
// files of 10 MiB are 14 in base64.
const maxDryRun = 20 << 20

// maxTried is the most that the Template and the values in it may have.
const maxTried = 4 << 20

// Plugin returns the endpoints below /api/scaffolder.
func (s *Scaffolder) Plugin() rest.Plugin {
	const one = "/v2/tasks/{id}"
	return rest.Plugin{Names: []string{"scaffolder"}, Routes: []rest.Route{
		{Method: http.MethodGet, Path: "/v2/templates", Handle: s.Catalog.OfKind(entity.KindTemplate), Timeout: longest},
		{Method: http.MethodGet, Path: "/v2/templates/{namespace}/{kind}/{name}/parameter-schema", Handle: s.parameterSchema},
		{Method: http.MethodGet, Path: "/v2/actions", Handle: s.constant(&s.actions)},
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

// constant answers with what is the same for everybody who may use the portal.
func (s *Scaffolder) constant(c *rest.Content) rest.Handler {
	return func(w http.ResponseWriter, r *http.Request) error { return rest.Write(w, r, *c) }
}

func content(n *tree.Node) rest.Content {
	body := tree.AppendJSON(nil, n, "")
	return rest.Content{ETag: rest.ETagOf(body), Body: body}
}

// listed returns actions as clients are told of them, each under all its names,
// by name.
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

// raw returns a value as JSON; nothing is an empty object.
func raw(n *tree.Node) json.RawMessage {
	if n == nil {
		return json.RawMessage("{}")
	}
	return tree.AppendJSON(nil, n, "")
}
