package security_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/wire"

	"github.com/prometheus/client_golang/prometheus"

	"example.dev/ingestor/action"
	catalogactions "example.dev/ingestor/action/catalog"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/catalog"
	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/identity/auth"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/jobs"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/internal/rest/httpd"
	"example.dev/ingestor/internal/scaffolder"
	"example.dev/ingestor/internal/scaffolder/task"
	"example.dev/ingestor/internal/scaffolder/taskstore"
	"example.dev/ingestor/test/database"
)

// ruleSets is the number of random policies.
const ruleSets = 200

// Names for random rules, callers and entities. There are few of each, so that
// rules match often.
var (
	someGroups     = []string{"group:default/team-a", "group:default/team-b", "group:default/platform"}
	someNamespaces = []string{"default", "hidden"}
	someKinds      = []string{"Component", "Template"}
	someOwners     = append([]string{config.Own, "user:default/ada"}, someGroups...)
	someWho        = append([]string{"user", "service", "User:Default/Ada", "ci"}, someGroups...)
	readRules      = []string{permission.EntityRead, "catalog.entity.*", "catalog.*"}
	templateRules  = []string{permission.TaskCreate, permission.TemplateParameterRead, "scaffolder.template.*"}
	someCallers    = []auth.Caller{
		{Kind: auth.User, Subject: "user:default/ada", Ownership: []string{"user:default/ada", "group:default/team-a"}},
		{Kind: auth.User, Subject: "user:default/bob", Ownership: []string{"user:default/bob", "group:default/team-b", "group:default/platform"}},
		{Kind: auth.User, Subject: "user:default/eve", Ownership: []string{"user:default/eve"}},
		{Kind: auth.Service, Subject: "ci"},
		{Kind: auth.Service, Subject: "other"},
	}
)

// pick returns some items of a list, often none.
func pick(r *rand.Rand, from []string, often float64) []string {
	if r.Float64() > often {
		return nil
	}
	var out []string
	for _, i := range r.Perm(len(from))[:1+r.IntN(min(2, len(from)))] {
		out = append(out, from[i])
	}
	return out
}

// randomRule returns a random rule.
func randomRule(r *rand.Rand) config.PermissionRule {
	rule := config.PermissionRule{
		Who: pick(r, someWho, 0.6), Permissions: pick(r, readRules, 1), Allow: r.IntN(2) == 0,
		Kinds: pick(r, someKinds, 0.3), Namespaces: pick(r, someNamespaces, 0.4), Owners: pick(r, someOwners, 0.5),
	}
	if r.IntN(3) == 0 {
		rule.Permissions = pick(r, templateRules, 1)
		rule.Templates = pick(r, []string{"template:default/*", "*/t-1", "*hidden*"}, 0.4)
	}
	return rule
}

// ruled is the portal under one set of rules.
type ruled struct {
	catalog   *catalog.Catalog
	handler   http.Handler
	authorize task.Authorize
}

// Entity implements the catalog of actions.
func (r *ruled) Entity(ctx context.Context, ref string) (*tree.Node, error) {
	e, err := r.catalog.Find(ctx, ref)
	if errors.Is(err, db.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return wire.Decoder{}.Decode(e.JSON)
}

// Register implements the catalog of actions.
func (*ruled) Register(context.Context, string, bool) ([]string, error) {
	return nil, errors.New("registering is not supported")
}

// configured is the catalog of a scaffolder that only creates tasks; its entities come
// from the configuration.
type configured struct {
	scaffolder.Catalog
	catalog *catalog.Catalog
}

// Find implements scaffolder.Catalog.
func (c configured) Find(ctx context.Context, ref string) (*scaffolder.Entity, error) {
	e, err := c.catalog.Find(ctx, ref)
	if err != nil {
		return nil, err
	}
	return &scaffolder.Entity{Ref: e.Ref, JSON: e.JSON, Origin: permission.OriginConfig}, nil
}

// changing is a portal whose rules are replaced: all sets of rules share one
// database and one queue.
type changing struct {
	store *store.Store
	tasks *task.Tasks
	now   atomic.Pointer[ruled]
}

// Entity implements the catalog of actions under the current rules.
func (c *changing) Entity(ctx context.Context, ref string) (*tree.Node, error) {
	return c.now.Load().Entity(ctx, ref)
}

// Register implements the catalog of actions.
func (c *changing) Register(ctx context.Context, target string, dry bool) ([]string, error) {
	return c.now.Load().Register(ctx, target, dry)
}

func newChanging(t *testing.T) *changing {
	t.Helper()
	dir, log := t.TempDir(), slog.New(slog.DiscardHandler)
	d := database.Open(t, database.SQLite(t))
	st := store.New(d, store.Options{})
	queue, err := jobs.Open(t.Context(), jobs.Options{Client: db.SQLite, Path: filepath.Join(dir, "jobs.db"), Log: log, Now: time.Now, Registry: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	c := &changing{store: st}
	c.tasks, err = task.New(task.Options{
		Store: taskstore.New(d), Queue: queue, Actions: catalogactions.Actions(catalogactions.Options{Catalog: c}), Key: []byte("a key for the tests of this package"),
		Dir: filepath.Join(dir, "tasks"), Now: time.Now, Log: log,
		Authorize: func(ctx context.Context, by task.Requester, id, name string, target action.Target) error {
			return c.now.Load().authorize(ctx, by, id, name, target)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { c.tasks.Run(ctx) })
	running.Go(func() { _ = queue.Run(ctx) })
	t.Cleanup(func() {
		stop()
		running.Wait()
		if err := errors.Join(c.tasks.Close(), queue.Close(), st.Close()); err != nil {
			t.Error(err)
		}
	})
	return c
}

// under replaces the rules.
func (c *changing) under(rules []config.PermissionRule) *ruled {
	policy := permission.New(config.Permission{Enabled: true, Rules: rules})
	r := &ruled{catalog: catalog.New(c.store, policy), authorize: scaffolder.Authorizer(policy, "portal")}
	log := slog.New(slog.DiscardHandler)
	s := scaffolder.New(scaffolder.Options{
		Tasks: c.tasks, TaskStore: taskstore.New(c.store.DB), Policy: policy, Catalog: configured{catalog: r.catalog}, Log: log,
		Templates: r.catalog.OfKind(entity.KindTemplate),
	})
	r.handler = httpd.New(httpd.Options{
		Plugins: []rest.Plugin{s.Plugin(), policy.Plugin(r.catalog.Resource, s.Resource), {Names: []string{"catalog"}, Routes: r.catalog.Routes()}},
		Log:     log, Now: time.Now, Registry: prometheus.NewRegistry(),
		Authenticate: func(r *http.Request) (context.Context, error) {
			i := slices.IndexFunc(someCallers, func(c auth.Caller) bool { return c.Subject == r.Header.Get("Authorization") })
			return auth.With(r.Context(), someCallers[i]), nil
		},
	}).Handler()
	c.now.Store(r)
	return r
}

// ask sends a request as a caller.
func (r *ruled) ask(t *testing.T, by auth.Caller, method, path, body string) answer {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), method, "http://localhost"+path, strings.NewReader(body))
	req.Header.Set("Authorization", by.Subject)
	req.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	r.handler.ServeHTTP(w, req)
	data, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{w.Code, string(data)}
}

// mayDo asks the portal for the permissions of a caller on entities.
func (r *ruled) mayDo(t *testing.T, by auth.Caller, name string, refs []string) []bool {
	t.Helper()
	var list []string
	for _, ref := range refs {
		list = append(list, quote(t, ref))
	}
	body := `{"items":[{"id":"1","permission":{"type":"resource","name":"` + name + `","attributes":{},"resourceType":"catalog-entity"},"resourceRef":[` + strings.Join(list, ",") + `]}]}`
	a := r.ask(t, by, http.MethodPost, "/api/permission/authorize", body)
	if a.status != http.StatusOK {
		t.Fatalf("authorize: %d %s", a.status, a.body)
	}
	var out []bool
	for _, n := range a.node(t).Get("items").List()[0].Get("result").List() {
		out = append(out, n.Str() == "ALLOW")
	}
	return out
}

// inTask reports which entities a step of a caller's task can read. The task is
// stored with its caller and loaded by the worker that runs it.
func (c *changing) inTask(t *testing.T, by auth.Caller, refs []string) []bool {
	t.Helper()
	list := make([]*tree.Node, len(refs))
	for i, ref := range refs {
		list[i] = tree.Str(ref)
	}
	order := task.Order{
		Template: fetching, Values: tree.Obj(tree.F("refs", tree.Arr(list...))),
		By: task.Requester{Caller: by, Template: "template:default/fetching", Origin: permission.OriginInline},
	}
	id, err := c.tasks.Create(auth.With(t.Context(), by), order)
	if err != nil {
		t.Fatalf("cannot create a task: %v", err)
	}
	c.await(t, id)
	events, err := taskstore.New(c.store.DB).TaskEvents(t.Context(), id, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	last, err := wire.Decoder{}.Decode(events[len(events)-1].Body)
	if err != nil {
		t.Fatal(err)
	}
	var out []bool
	for _, n := range last.Get("output", "entities").List() {
		out = append(out, !n.IsNull())
	}
	if len(out) != len(refs) {
		t.Fatalf("task read %d of %d entities: %s", len(out), len(refs), events[len(events)-1].Body)
	}
	return out
}

// await waits for the end of a task.
func (c *changing) await(t *testing.T, id string) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		found, err := taskstore.New(c.store.DB).TaskBrief(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if found.Status != taskstore.TaskOpen && found.Status != taskstore.TaskProcessing {
			return
		}
	}
	t.Fatalf("task %s does not end", id)
}

// fetching is a Template that reads entities.
var fetching = func() *tree.Node {
	docs, _ := parser.DecodeBytes([]byte(`{apiVersion: scaffolder.backstage.io/v1beta3, kind: Template, metadata: {name: fetching}, spec: {type: x, owner: x,
  steps: [{id: fetch, action: "catalog:fetch", input: {entityRefs: "${{ parameters.refs }}", optional: true}}],
  output: {entities: "${{ steps.fetch.output.entities }}"}}}`))
	return docs[0]
}()

// put adds an entity of each kind, in each namespace, of each owner to the
// catalog, and returns their references.
func (c *changing) put(t *testing.T) (refs []string) {
	t.Helper()
	change := write.Change{Provider: "test"}
	for _, kind := range someKinds {
		for _, namespace := range someNamespaces {
			for i, owner := range append([]string{"user:default/ada"}, someGroups...) {
				name := fmt.Sprintf("%s-%d", strings.ToLower(kind[:1]), i)
				text := fmt.Sprintf(`{apiVersion: backstage.io/v1alpha1, kind: %s, metadata: {name: %s, namespace: %s}, spec: {type: x, lifecycle: x, owner: "%s",
  steps: [{id: a, action: "catalog:write", input: {entity: {}}}]}}`, kind, name, namespace, owner)
				if kind == "Template" {
					text = strings.Replace(text, "backstage.io/v1alpha1", "scaffolder.backstage.io/v1beta3", 1)
				}
				docs, errs := parser.DecodeBytes([]byte(text))
				if len(errs) > 0 {
					t.Fatal(errs[0])
				}
				change.Put = append(change.Put, write.Document{Node: docs[0]})
				refs = append(refs, strings.ToLower(kind)+":"+namespace+"/"+name)
			}
		}
	}
	if _, err := c.store.Sync(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	return refs
}

// TestSameDecision draws random rules and callers. It checks that the decision
// is the same for an entity by name, in a list, as a permission request, and in
// a task, and that a task is created exactly if the permission request allows
// it.
func TestSameDecision(t *testing.T) {
	const seed = 14
	r := rand.New(rand.NewPCG(seed, seed)) //nolint:gosec // the same rules each time
	c := newChanging(t)
	refs := c.put(t)
	count := map[string]int{}
	for n := range ruleSets {
		rules := make([]config.PermissionRule, 1+r.IntN(4))
		for i := range rules {
			rules[i] = randomRule(r)
		}
		by := someCallers[r.IntN(len(someCallers))]
		now := c.under(rules)
		told, inside := now.mayDo(t, by, permission.EntityRead, refs), c.inTask(t, by, refs)
		listed := now.ask(t, by, http.MethodGet, "/api/catalog/entities?fields=kind,metadata.name,metadata.namespace", "").body
		for i, ref := range refs {
			kind, rest, _ := strings.Cut(ref, ":")
			namespace, name, _ := strings.Cut(rest, "/")
			status := now.ask(t, by, http.MethodGet, "/api/catalog/entities/by-name/"+kind+"/"+namespace+"/"+name, "").status
			got := map[string]bool{
				"by name": status == http.StatusOK, "permission": told[i], "task": inside[i],
				"listing": listsEntity(t, listed, kind, namespace, name),
			}
			for _, how := range []string{"permission", "task", "listing"} {
				if got[how] != got["by name"] {
					t.Errorf("rule set %d, %s, %s: decisions differ: %v\n%+v", n, by.Subject, ref, got, rules)
				}
			}
			count[fmt.Sprint("read ", got["by name"])]++
		}
		ref := refs[r.IntN(len(refs)/2)+len(refs)/2]
		may := true
		for _, name := range []string{permission.EntityRead, permission.TaskCreate, permission.TemplateParameterRead, permission.TemplateStepRead} {
			may = may && now.mayDo(t, by, name, []string{ref})[0]
		}
		a := now.ask(t, by, http.MethodPost, "/api/scaffolder/v2/tasks", `{"templateRef":"`+ref+`","values":{}}`)
		if created := a.status == http.StatusCreated; created != may {
			t.Errorf("rule set %d, %s, %s: permission is %v, and task creation %v: %s\n%+v", n, by.Subject, ref, may, created, a.body, rules)
		} else if created {
			c.await(t, a.node(t).Get("id").Str())
		}
		count[fmt.Sprint("create ", may)]++
	}
	t.Logf("decisions: %v", count)
	for _, what := range []string{"read", "create"} {
		yes, no := count[what+" true"], count[what+" false"]
		if few := (yes + no) / 5; yes < few || no < few {
			t.Errorf("%s: %d allowed and %d denied; the random rules cover too little", what, yes, no)
		}
	}
}

// listsEntity reports whether a list contains an entity.
func listsEntity(t *testing.T, listing, kind, namespace, name string) bool {
	t.Helper()
	all := answer{body: listing}.node(t)
	return slices.ContainsFunc(all.List(), func(n *tree.Node) bool {
		return strings.EqualFold(n.Get("kind").Str(), kind) && n.Get("metadata", "namespace").Str() == namespace && n.Get("metadata", "name").Str() == name
	})
}
