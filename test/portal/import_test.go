package portal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/provide"
	"example.dev/ingestor/internal/cli/provide/migration"
)

// backstageToken is the token of the Backstage of these tests.
const backstageToken = "a-token-of-the-backstage-0815"

// backstage is a Backstage that answers as the real one does; test/backstage has that.
type backstage struct {
	*httptest.Server
	// entities are in JSON; files are served at their paths.
	entities []string
	files    map[string]string
	// locations are the paths of files that are registered.
	locations []string
	tasks     []string
	// instead, if not nil, answers a request and reports that it did.
	instead func(w http.ResponseWriter, r *http.Request) bool
}

func newBackstage(t *testing.T) *backstage {
	b := &backstage{files: map[string]string{}}
	b.Server = httptest.NewServer(http.HandlerFunc(b.answer))
	t.Cleanup(b.Close)
	return b
}

func (b *backstage) answer(w http.ResponseWriter, r *http.Request) {
	if text, ok := b.files[r.URL.Path]; ok {
		fmt.Fprint(w, text)
		return
	}
	if r.Header.Get("Authorization") != "Bearer "+backstageToken {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error":{"name":"AuthenticationError","message":"Illegal token %s"}}`, r.Header.Get("Authorization"))
		return
	}
	if b.instead != nil && b.instead(w, r) {
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	switch {
	case r.URL.Path == "/api/catalog/entities/by-query":
		from, _ := strconv.Atoi(r.FormValue("cursor"))
		limit, _ := strconv.Atoi(r.FormValue("limit"))
		to, next := min(from+limit, len(b.entities)), ""
		if to < len(b.entities) {
			next = fmt.Sprintf(`"nextCursor":"%d"`, to)
		}
		fmt.Fprintf(w, `{"items":[%s],"totalItems":%d,"pageInfo":{%s}}`, strings.Join(b.entities[from:to], ","), len(b.entities), next)
	case r.URL.Path == "/api/catalog/locations":
		var all []string
		for _, path := range b.locations {
			all = append(all, fmt.Sprintf(`{"data":{"id":"1","type":"url","target":"%s%s"}}`, b.URL, path))
		}
		fmt.Fprintf(w, "[%s]", strings.Join(all, ","))
	case r.URL.Path == "/api/scaffolder/v2/tasks":
		fmt.Fprintf(w, `{"tasks":[%s],"totalTasks":%d}`, strings.Join(b.tasks, ","), len(b.tasks))
	case strings.HasSuffix(r.URL.Path, "/events"):
		fmt.Fprint(w, `[{"body":{"message":"made"}},{"body":{"output":{"links":[{"title":"Open","url":"https://git.example.org/pr/1?token=hidden-in-a-query"},`+
			`{"title":"Manifest","url":"data:application/yaml;base64,aGlkZGVu"},{"entityRef":"resource:default/made"}]}}}]`)
	default:
		http.NotFound(w, r)
	}
}

// has adds an entity as Backstage returns it.
func (b *backstage) has(kind, name, origin, more string) {
	if more == "" {
		more = `"spec":{"type":"x","lifecycle":"production","owner":"team"}`
	}
	b.entities = append(b.entities, fmt.Sprintf(`{"apiVersion":"backstage.io/v1alpha1","kind":%q,"metadata":{"namespace":"default","uid":"a-uid","etag":"an-etag",`+
		`"annotations":{"backstage.io/managed-by-location":%[3]q,"backstage.io/managed-by-origin-location":%[3]q,"backstage.io/view-url":"https://example.org/%[2]s"},"name":%[2]q},`+
		`"relations":[{"type":"ownedBy","targetRef":"group:default/team"}],"status":{"items":[]},%[4]s}`, kind, name, origin, more))
}

// provide runs a command with this Backstage.
func (b *backstage) provide(t *testing.T, base string, args ...string) provided {
	t.Helper()
	var out, notes bytes.Buffer
	env := &app.Env{
		Args: append(args, "--from", b.URL, "--api-url", base), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &notes, Now: time.Now,
		Getenv: func(name string) string {
			return map[string]string{"PORTAL_TOKEN": theToken, "BACKSTAGE_TOKEN": backstageToken}[name]
		},
	}
	code := app.Run(t.Context(), provide.Name, env, provide.Run)
	for _, secret := range []string{theToken, backstageToken} {
		if strings.Contains(out.String()+notes.String(), secret) {
			t.Errorf("output of %q contains a token:\n%s%s", args, out.String(), notes.String())
		}
	}
	return provided{code, out.String(), notes.String()}
}

// imported runs import and decodes its report.
func (b *backstage) imported(t *testing.T, base string, code int, args ...string) migration.ImportReport {
	t.Helper()
	got := b.provide(t, base, append([]string{"import", "--output-format", "json"}, args...)...)
	var r migration.ImportReport
	if err := json.Unmarshal([]byte(got.out), &r); err != nil || got.code != code {
		t.Fatalf("import returned %+v (%v), want exit code %d", got, err, code)
	}
	return r
}

// open returns a portal that may read the files of a Backstage.
func (b *backstage) open(t *testing.T) *world {
	return start(t, setup{allow: []string{strings.TrimPrefix(b.URL, "http://")}, sections: map[string]any{
		"auth": map[string]any{"providers": map[string]any{"guest": map[string]any{}}, "membership": map[string]any{"providers": []string{"backstage-import"}}},
		"catalog": map[string]any{
			"locationTypes": []string{"url"}, "processingInterval": "1s",
			"rules": []any{map[string]any{"allow": []string{"Component", "API", "Resource", "System", "Group", "User", "Template", "Location"}}},
		},
	}})
}

// entity returns an entity as JSON; empty if there is none.
func (c caller) entity(at string) string {
	c.t.Helper()
	if !c.exists(at) {
		return ""
	}
	var text json.RawMessage
	c.get("/api/catalog/entities/by-name/"+at, &text)
	return string(text)
}

const templateSteps = `"spec":{"type":"x","owner":"team","parameters":[],"steps":[{"id":"a","action":%q}]}`

// filled returns a Backstage with an entity for each rule of docs/move-from-backstage.md.
func filled(t *testing.T) *backstage {
	b := newBackstage(t)
	file, gone := "url:"+b.URL+"/catalog-info.yaml", "url:"+b.URL+"/gone.yaml"
	b.files["/catalog-info.yaml"] = component("in-file") + "\n---\n" +
		`{"apiVersion":"scaffolder.backstage.io/v1beta3","kind":"Template","metadata":{"name":"old"},` + fmt.Sprintf(templateSteps, "our:action") + "}\n"
	b.locations = []string{"/catalog-info.yaml", "/gone.yaml"}
	b.has("Component", "in-file", file, "")
	b.has("Template", "old", file, fmt.Sprintf(templateSteps, "our:action"))
	b.has("Component", "of-processor", file, "")
	b.has("Component", "in-gone", gone, "")
	b.has("Location", "generated-gone", gone, `"spec":{"type":"url","target":"x"}`)
	b.has("User", "ada", "ldap://ldap.example.org/uid=ada", `"spec":{"profile":{"email":"ada@example.org"},"memberOf":["team"]}`)
	b.has("Group", "team", "url:https://github.com/orgs/team", `"spec":{"type":"team","children":[]}`)
	b.has("Template", "runs", "file:/app/templates.yaml", fmt.Sprintf(templateSteps, "kubernetes:apply"))
	b.has("Template", "lacks", "file:/app/templates.yaml", fmt.Sprintf(templateSteps, "our:action"))
	b.has("Resource", "of-cluster", "cluster origin: prod", "")
	b.has("Resource", "of-portal", "url:http://portal/api", "")
	b.has("Component", "orphan", file, "")
	last := len(b.entities)
	b.entities[last-2] = strings.Replace(b.entities[last-2], `"annotations":{`, `"annotations":{"openportal.dev/portal":"p",`, 1)
	b.entities[last-1] = strings.Replace(b.entities[last-1], `"annotations":{`, `"annotations":{"backstage.io/orphan":"true",`, 1)
	b.tasks = []string{`{"id":"t1","spec":{"parameters":{"password":"hidden-in-parameters"},"templateInfo":{"entityRef":"template:default/old"},"user":{"ref":"user:default/ada"}},` +
		`"secrets":{"key":"hidden-in-secrets"},"status":"completed","createdAt":"2026-11-15T00:15:47.000Z","createdBy":"user:default/ada"}`}
	return b
}

// TestImport imports twice: each rule is followed, and the second time changes nothing.
func TestImport(t *testing.T) {
	b := filled(t)
	w := b.open(t)
	tasks := filepath.Join(t.TempDir(), "tasks.ndjson")

	dry := b.imported(t, w.base, 0, "--dry-run")
	if !dry.DryRun || dry.Registered != 1 || dry.Push != nil || w.total() != 0 {
		t.Errorf("dry run returned %+v, and the catalog has %d entities", dry, w.total())
	}
	r := b.imported(t, w.base, 0, "--tasks", tasks)
	wantLeft := []migration.Note{
		{Ref: "location:default/generated-gone", Reason: "a Location the portal cannot read"},
		{Ref: "template:default/lacks", Reason: `uses action "our:action", which the portal does not have`},
		{Ref: "resource:default/of-cluster", Reason: "made by kubernetes-ingestor; the portal reads the cluster itself"},
		{Ref: "resource:default/of-portal", Reason: "comes from portal p"},
		{Ref: "component:default/orphan", Reason: "orphan: its location no longer contains it"},
	}
	if diff := cmp.Diff(wantLeft, r.LeftOut); diff != "" {
		t.Errorf("left out: -want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]migration.Note{{Ref: "template:default/old", Reason: `uses action "our:action", which the portal does not have`}}, r.Warnings); diff != "" {
		t.Errorf("warnings: -want +got:\n%s", diff)
	}
	if diff := cmp.Diff(&migration.Changes{Added: 5}, r.Push); diff != "" || r.Registered != 1 || r.Entities != 12 || *r.Tasks != 1 {
		t.Errorf("the import returned %+v; push: -want +got:\n%s", r, diff)
	}
	for _, at := range []string{"component/default/in-file", "template/default/old", "component/default/of-processor", "component/default/in-gone", "user/default/ada", "group/default/team", "template/default/runs"} {
		w.until(at+" arrives", func() bool { return w.exists(at) })
	}
	pushed := w.entity("user/default/ada")
	for _, bad := range []string{"a-uid", "an-etag", "ldap://"} {
		if strings.Contains(pushed, bad) {
			t.Errorf("the entity has %s of Backstage:\n%s", bad, pushed)
		}
	}
	if !strings.Contains(pushed, `"backstage.io/view-url":"https://example.org/ada"`) {
		t.Errorf("the entity lost an annotation:\n%s", pushed)
	}
	history, err := os.ReadFile(tasks)
	want := `{"id":"t1","template":"template:default/old","user":"user:default/ada","status":"completed","createdAt":"2026-11-15T00:15:47.000Z",` +
		`"links":[{"title":"Open","url":"https://git.example.org/pr/1"},{"entityRef":"resource:default/made"}]}` + "\n"
	if diff := cmp.Diff(want, string(history)); diff != "" || err != nil {
		t.Errorf("tasks (%v): -want +got:\n%s", err, diff)
	}

	again := b.imported(t, w.base, 0)
	if diff := cmp.Diff(&migration.Changes{Unchanged: 5}, again.Push); diff != "" || again.Registered != 0 {
		t.Errorf("the second import registered %d locations and changed: -want +got:\n%s", again.Registered, diff)
	}
	if got := b.provide(t, w.base, "import"); !strings.Contains(got.out, "locations: 0 registered, 1 already registered, 1 cannot be read\n") ||
		!strings.Contains(got.out, "entities of backstage-import: added 0, updated 0, removed 0, unchanged 5, refused 0\n") {
		t.Errorf("the report is\n%s", got.out)
	}

	// The file that was missing appears: its entities move to the location.
	b.files["/gone.yaml"] = component("in-gone")
	moved := b.imported(t, w.base, 0)
	if diff := cmp.Diff(&migration.Changes{Unchanged: 4, Removed: 1}, moved.Push); diff != "" || moved.Registered != 1 {
		t.Errorf("the third import registered %d locations; push: -want +got:\n%s", moved.Registered, diff)
	}
	w.until("the entity comes with the location", func() bool {
		return strings.Contains(w.entity("component/default/in-gone"), "/gone.yaml")
	})
}

// TestImportRefused imports entities that the portal refuses: the others arrive.
func TestImportRefused(t *testing.T) {
	b := newBackstage(t)
	w := b.open(t)
	w.push("other", component("taken"))
	b.has("Component", "taken", "ldap:x", "")
	b.has("Component", "free", "ldap:x", "")
	b.has("Component", "not a name", "ldap:x", "")
	dry := b.imported(t, w.base, app.ExitInvalid, "--dry-run")
	if len(dry.Refused) != 1 || dry.Refused[0].Ref != "component:default/not a name" {
		t.Errorf("the dry run refuses %+v", dry.Refused)
	}
	r := b.imported(t, w.base, app.ExitInvalid)
	if len(r.Refused) != 2 || r.Push.Added != 1 || !w.exists("component/default/free") {
		t.Errorf("the import returned %+v", r)
	}
	if k := r.Kinds[0]; k.Pushed != 1 || k.Refused != 2 || k.Origin != "ldap" {
		t.Errorf("the row is %+v", k)
	}
	if !strings.Contains(fmt.Sprint(r.Refused), "other") {
		t.Errorf("no refusal names the provider that owns the entity: %+v", r.Refused)
	}
}

// TestImportBadDays checks that nothing is imported from a Backstage that cannot be read.
func TestImportBadDays(t *testing.T) {
	page := func(text string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "by-query") {
				return false
			}
			fmt.Fprintf(w, text, r.FormValue("cursor"))
			return true
		}
	}
	fails := func(status int, location string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Location", location)
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"error":{"name":"Error","message":"not with %s"}}`, r.Header.Get("Authorization"))
			return true
		}
	}
	const one = `{"apiVersion":"backstage.io/v1alpha1","kind":"Component","metadata":{"name":"a"},"spec":{"type":"x","lifecycle":"x","owner":"x"}}`
	deep := strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200)
	w := start(t, setup{})
	w.push("backstage-import", component("before"))
	for name, tc := range map[string]struct {
		reason  string
		instead func(http.ResponseWriter, *http.Request) bool
		code    int
		want    []string
	}{
		"Half":     {"A list with fewer entities than announced is not complete.", page(`{"items":[` + one + `],"totalItems":9,"pageInfo":{}}%.0s`), 1, []string{"the list is not complete: 1 of 9 entities", "nothing was imported"}},
		"Torn":     {"A response that ends too early is not JSON.", page(`{"items":[` + one + `,%.0s`), 1, []string{"response is not JSON", "backend.baseUrl"}},
		"Loop":     {"A cursor that leads to itself never ends.", page(`{"items":[` + one + `],"totalItems":9,"pageInfo":{"nextCursor":"%.0sx"}}`), 1, []string{"the list does not end"}},
		"NoItems":  {"Empty pages with new cursors never end.", page(`{"items":[],"totalItems":9,"pageInfo":{"nextCursor":"%sx"}}`), 1, []string{"the list does not end"}},
		"Bomb":     {"A deeply nested entity is refused.", page(`{"items":[` + deep + `],"totalItems":1,"pageInfo":{}}%.0s`), 1, []string{"nested more than 100 levels deep"}},
		"List":     {"A list is not an entity.", page(`{"items":[[` + one + "," + one + `]],"totalItems":1,"pageInfo":{}}%.0s`), 1, []string{"not an entity"}},
		"Other":    {"JSON of another service is not a catalog.", page(`{"status":"ok"}%.0s`), 1, []string{"response is not that of a catalog"}},
		"Login":    {"A sign-in page is not JSON.", page(`<html>Sign in</html>%.0s`), 1, []string{"response is not JSON", "without a sign-in proxy"}},
		"Redirect": {"A redirect to a sign-in page is not followed, because it would get the token.", fails(302, "https://login.example.org/?next=1"), 1, []string{"redirects to another one, to https://login.example.org", "without a sign-in proxy"}},
		"Denied":   {"A token without permission gets the names of the permissions.", fails(403, ""), 1, []string{"403 Forbidden", "catalog.entity.read"}},
		"Signed":   {"A wrong token gets a hint to the flag.", fails(401, ""), 1, []string{"401 Unauthorized", "--from-token-file or BACKSTAGE_TOKEN"}},
		"Empty":    {"An empty catalog removes nothing.", page(`{"items":[],"totalItems":0,"pageInfo":{}}%.0s`), 3, []string{"Backstage has no entities"}},
		"Number":   {"A number is not an entity.", page(`{"items":[7],"totalItems":1,"pageInfo":{}}%.0s`), 1, []string{"not an entity"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBackstage(t)
			b.instead = tc.instead
			got := b.provide(t, w.base, "import", "--timeout", "20s")
			for _, want := range tc.want {
				if !strings.Contains(got.err, want) {
					t.Errorf("%s\nwant %q in\n%s", tc.reason, want, got.err)
				}
			}
			if got.code != tc.code || !w.exists("component/default/before") || w.total() != 1 {
				t.Errorf("%s\nexit code %d, want %d; %d entities remain\n%s%s", tc.reason, got.code, tc.code, w.total(), got.out, got.err)
			}
		})
	}
	t.Run("Away", func(t *testing.T) {
		b := newBackstage(t)
		b.Close()
		if got := b.provide(t, w.base, "import"); got.code != 1 || !strings.Contains(got.err, "cannot read the locations of Backstage at "+b.URL) {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("Shrinks", func(t *testing.T) {
		b := newBackstage(t)
		b.has("Resource", "of-cluster", "cluster origin: prod", "")
		if got := b.provide(t, w.base, "import"); got.code != 1 || !strings.Contains(got.err, "pass --allow-removals") || w.total() != 1 {
			t.Errorf("got %+v", got)
		}
	})
}

// TestImportMany imports 10,000 entities, and again.
func TestImportMany(t *testing.T) {
	const many = 10_000
	b := newBackstage(t)
	for i := range many {
		b.has("Resource", fmt.Sprintf("r%05d", i), "ldap:x", `"spec":{"type":"x","owner":"team","text":"`+strings.Repeat("what it is for ", 60)+`"}`)
	}
	w := b.open(t)
	for _, want := range []migration.Changes{{Added: many}, {Unchanged: many}} {
		began := time.Now()
		r := b.imported(t, w.base, 0)
		if diff := cmp.Diff(&want, r.Push); diff != "" {
			t.Errorf("push: -want +got:\n%s", diff)
		}
		t.Logf("%d entities in %v", many, time.Since(began).Round(time.Millisecond))
	}
}

// TestImportTasksFile checks that an earlier file of tasks stays if the new one cannot be
// completed, and that nothing but a file is replaced.
func TestImportTasksFile(t *testing.T) {
	b := filled(t)
	w := b.open(t)
	dir := t.TempDir()
	tasks, link := filepath.Join(dir, "tasks.ndjson"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(tasks, []byte("earlier\n"), 0o600), os.Symlink(tasks, link)); err != nil {
		t.Fatal(err)
	}
	b.tasks = append(b.tasks, "not JSON")
	for file, want := range map[string]string{tasks: "response is not JSON", link: "it is not a regular file"} {
		got := b.provide(t, w.base, "import", "--tasks", file)
		if got.code != 1 || !strings.Contains(got.err, "nothing was imported") || !strings.Contains(got.err, want) {
			t.Errorf("%s: import returned %+v, want %s", file, got, want)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("the folder has %v (%v), want the two files", left, err)
	}
	if data, err := os.ReadFile(tasks); err != nil || string(data) != "earlier\n" {
		t.Errorf("the file of tasks has %q (%v)", data, err)
	}
	if w.total() != 0 {
		t.Errorf("the catalog has %d entities", w.total())
	}
}
