package scaffolder

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/catalog"
	"example.dev/ingestor/internal/catalog/provider/location"
	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/identity/auth"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/jobs"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/internal/rest/httpd"
	"example.dev/ingestor/internal/scaffolder/task"
	"example.dev/ingestor/internal/scaffolder/taskstore"
	"example.dev/ingestor/test/database"
)

// patience is how long a test waits for an event.
const patience = time.Minute

// Entities of the tests. Template wait ends when it is released, and fail fails
// until it is fixed.
const entities = `
apiVersion: portal.io/v1alpha1
kind: User
metadata: { name: ada, title: Ada }
spec: { memberOf: [] }
---
apiVersion: portal.io/v1alpha1
kind: Component
metadata: { name: service }
spec: { type: service, lifecycle: production, owner: platform }
---
apiVersion: scaffolder.portal.io/v1beta3
kind: Template
metadata: { name: echo, title: Echo, description: says something, "ui:options": { x: 1 } }
spec:
  type: service
  owner: platform
  presentation: { buttonLabels: { createButtonText: Go } }
  formDecorators: [ { id: trim } ]
  parameters:
    - title: Words
      description: what it says
      required: [word]
      properties:
        word: { type: string, pattern: "^[a-z]+$" }
        loud: { type: boolean, default: true }
      dependencies:
        loud:
          oneOf:
            - properties: { loud: { enum: [false] } }
            - properties: { loud: { enum: [true] }, times: { type: integer } }
    - properties: { page: { type: object, properties: { size: { type: string } } } }
  steps:
    - { id: say, name: Say, action: "test:say", input: { text: "${{ parameters.word }} by ${{ user.ref }}" } }
  output: { text: [ { title: Said, content: "${{ steps.say.output.said }}" } ] }
---
apiVersion: scaffolder.backstage.io/v1beta3
kind: Template
metadata: { name: wait, namespace: other }
spec:
  type: service
  owner: user:default/ada
  steps: [ { id: wait, action: "test:wait" } ]
---
apiVersion: scaffolder.portal.io/v1beta3
kind: Template
metadata: { name: fail }
spec:
  type: service
  owner: platform
  steps: [ { id: fail, action: "test:fail" } ]
---
apiVersion: scaffolder.portal.io/v1beta3
kind: Template
metadata: { name: flood }
spec:
  type: service
  owner: platform
  steps: [ { id: flood, action: "test:flood" } ]
---
apiVersion: scaffolder.portal.io/v1beta3
kind: Template
metadata: { name: secret }
spec:
  type: service
  owner: platform
  secrets: { schema: { type: object, required: [token], properties: { token: { type: string, minLength: 8 } } } }
  steps: [ { id: say, action: "test:say", input: { text: "it is ${{ secrets.token }}" } } ]
---
apiVersion: scaffolder.portal.io/v1beta2
kind: Template
metadata: { name: old }
spec: { type: service, owner: platform, steps: [] }
`

// Callers of the tests by token.
var callers = map[string]auth.Caller{
	"guest":   {Kind: auth.Guest, Subject: "user:development/guest", Ownership: []string{"user:development/guest"}},
	"ada":     {Kind: auth.User, Subject: "user:default/ada", Ownership: []string{"user:default/ada", "group:default/shop"}},
	"bob":     {Kind: auth.User, Subject: "user:default/bob", Ownership: []string{"user:default/bob"}},
	"admin":   {Kind: auth.User, Subject: "user:default/eve", Ownership: []string{"user:default/eve", "group:default/admins"}},
	"machine": {Kind: auth.Service, Subject: "machine"},

	"company":         {Kind: auth.Service, Subject: "backstage:company", Via: "company"},
	"other":           {Kind: auth.Service, Subject: "backstage:other", Via: "other"},
	"ada via company": {Kind: auth.User, Subject: "user:default/ada", Ownership: []string{"user:default/ada"}, Via: "company"},
	"ada via other":   {Kind: auth.User, Subject: "user:default/ada", Ownership: []string{"user:default/ada"}, Via: "other"},
}

// admins may read and cancel everything.
var admins = config.PermissionRule{Who: []string{"group:default/admins"}, Permissions: []string{"scaffolder.task.*"}, Allow: true}

// world is a portal with only a scaffolder.
type world struct {
	t       *testing.T
	base    string
	store   *store.Store
	tasks   *taskstore.Store
	scaffer *Scaffolder
	// released lets test:wait end, and mended lets test:fail succeed.
	released, mended chan struct{}
	// lines is the number of lines that test:flood logs.
	lines int
}

func newWorld(t *testing.T, change func(*Options), rules ...config.PermissionRule) *world {
	t.Helper()
	return newWorldOf(t, task.Limits{}, change, rules...)
}

// newWorldOf returns a world whose callers have limits.
func newWorldOf(t *testing.T, limits task.Limits, change func(*Options), rules ...config.PermissionRule) *world {
	t.Helper()
	dir, log := t.TempDir(), slog.New(slog.DiscardHandler)
	d := database.Open(t, database.SQLite(t))
	st, taskStore := store.New(d, store.Options{}), taskstore.New(d)
	queue, err := jobs.Open(t.Context(), jobs.Options{Client: db.SQLite, Path: filepath.Join(dir, "jobs.db"), Log: log, Now: time.Now, Registry: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	rules = append(rules, config.PermissionRule{Permissions: []string{permission.ActionExecute}, Providers: []string{"inline"}, Allow: true})
	policy := permission.New(config.Permission{Enabled: true, Rules: rules})
	w := &world{t: t, store: st, tasks: taskStore, released: make(chan struct{}), mended: make(chan struct{}), lines: 20_000}
	tasks, err := task.New(task.Options{
		Store: taskStore, Queue: queue, Actions: w.actions(), Key: []byte("a key for the tests of this package"),
		Dir: filepath.Join(dir, "tasks"), Now: time.Now, Log: log, Authorize: Authorizer(policy, "portal"), Limits: limits,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.put(entities)
	found := catalog.New(st, policy)
	opts := Options{
		Tasks: tasks, TaskStore: taskStore, Policy: policy, Catalog: testCatalog{found, st}, Templates: found.OfKind("Template"), Log: log,
	}
	if change != nil {
		change(&opts)
	}
	w.scaffer = New(opts)
	srv := httpd.New(httpd.Options{
		Plugins: []rest.Plugin{w.scaffer.Plugin()}, Log: log, Now: time.Now, Registry: prometheus.NewRegistry(),
		Authenticate: func(r *http.Request) (context.Context, error) {
			c, ok := callers[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
			if !ok {
				return nil, rest.Unauthenticated("Missing credentials")
			}
			return auth.With(r.Context(), c), nil
		},
	})
	hs := httptest.NewServer(srv.Handler())
	w.base = hs.URL + "/api/scaffolder/v2"
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { tasks.Run(ctx) })
	running.Go(func() {
		if err := queue.Run(ctx); err != nil && ctx.Err() == nil {
			t.Errorf("queue ended with %v", err)
		}
	})
	t.Cleanup(func() {
		stop()
		running.Wait()
		hs.CloseClientConnections()
		hs.Close()
		if err := errors.Join(tasks.Close(), queue.Close(), st.Close()); err != nil {
			t.Error(err)
		}
	})
	return w
}

// testCatalog is a catalog whose entities all come from the configuration.
type testCatalog struct {
	catalog *catalog.Catalog
	store   *store.Store
}

func (c testCatalog) Find(ctx context.Context, ref string) (*Entity, error) {
	return configured(c.catalog.Find(ctx, ref))
}

func (c testCatalog) Get(ctx context.Context, ref string) (*Entity, error) {
	return configured(c.store.Get(ctx, ref))
}

func configured(e *store.Entity, err error) (*Entity, error) {
	if err != nil {
		return nil, err
	}
	return &Entity{Ref: e.Ref, JSON: e.JSON, Origin: permission.OriginConfig, Read: store.IsLocationProvider(e.Provider)}, nil
}

func (testCatalog) Refusal(n *tree.Node) string {
	location.Claim(n, "url:dry-run")
	if problems := location.ProblemsOf(n); len(problems) > 0 {
		return problems[0].Text()
	}
	return ""
}

// actions returns the actions of the Templates.
func (w *world) actions() []action.Action {
	text := tree.Obj(tree.F("type", tree.Str("object")), tree.F("properties", tree.Obj(tree.F("text", tree.Obj(tree.F("type", tree.Str("string")))))))
	return []action.Action{
		{
			ID: "test:say", Aliases: []string{"another:say"}, Description: "says something", Input: text, DryRun: true,
			Examples: []action.Example{{Description: "say hello", Example: "steps: []"}},
			Run: func(_ context.Context, c *action.Call) error {
				c.Logf("%s", c.Input.Get("text").Str())
				c.Output("said", c.Input.Get("text"))
				return c.Workspace.Write("said.txt", []byte("<"+c.Input.Get("text").Str()+">"))
			},
		},
		{ID: "test:wait", Run: func(ctx context.Context, c *action.Call) error {
			c.Logf("waiting")
			select {
			case <-w.released:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}},
		{ID: "test:hold", DryRun: true, Run: func(ctx context.Context, _ *action.Call) error {
			select {
			case <-w.released:
			case <-ctx.Done():
			}
			return nil
		}},
		{ID: "test:fail", Run: func(_ context.Context, _ *action.Call) error {
			select {
			case <-w.mended:
				return nil
			default:
				return &action.Error{Err: errors.New("it is broken"), Hint: "mend it"}
			}
		}},
		{ID: "test:flood", Run: func(_ context.Context, c *action.Call) error {
			for i := range w.lines {
				c.Logf("%d %s", i, strings.Repeat("x", 1000))
			}
			return nil
		}},
	}
}

func (w *world) put(yaml string) {
	w.t.Helper()
	docs, errs := parser.DecodeBytes([]byte(yaml))
	if len(errs) > 0 {
		w.t.Fatal(errs[0])
	}
	change := write.Change{Provider: "test"}
	for _, n := range docs {
		change.Put = append(change.Put, write.Document{Node: n})
	}
	if _, err := w.store.Sync(w.t.Context(), change); err != nil {
		w.t.Fatal(err)
	}
}

// reply is a response.
type reply struct {
	status int
	header http.Header
	body   string
}

// request creates a request of a caller; "" is a request without credentials.
func (w *world) request(ctx context.Context, caller, method, path, body string) *http.Request {
	w.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, w.base+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	if caller != "" {
		r.Header.Set("Authorization", "Bearer "+caller)
	}
	return r
}

// do sends a request and reads the response.
func (w *world) do(caller, method, path, body string) reply {
	w.t.Helper()
	res, err := http.DefaultClient.Do(w.request(w.t.Context(), caller, method, path, body))
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatalf("%s %s returned the error %v", method, path, err)
	}
	return reply{res.StatusCode, res.Header, string(data)}
}

// want sends a request, checks the status, and decodes the response into v
// unless it is nil.
func (w *world) want(caller, method, path, body string, status int, v any) {
	w.t.Helper()
	r := w.do(caller, method, path, body)
	if r.status != status {
		w.t.Fatalf("%s %s as %q returned %d %s, want %d", method, path, caller, r.status, r.body, status)
	}
	if v == nil {
		return
	}
	if err := json.NewDecoder(bytes.NewReader([]byte(r.body))).Decode(v); err != nil {
		w.t.Fatalf("response %s cannot be decoded: %v", r.body, err)
	}
}

// create creates a task and returns its id.
func (w *world) create(caller, template, values string) string {
	w.t.Helper()
	var made struct{ ID string }
	w.want(caller, "POST", "/tasks", `{"templateRef":`+strconv.Quote(template)+`,"values":`+values+`}`, http.StatusCreated, &made)
	return made.ID
}

// until waits until a task has a status.
func (w *world) until(id, status string) {
	w.t.Helper()
	got := ""
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		var t struct{ Status string }
		w.want("machine", "GET", "/tasks/"+id, "", http.StatusOK, &t)
		if got = t.Status; got == status {
			return
		}
	}
	w.t.Fatalf("task is %s after %v, want %s", got, patience, status)
}
