package security_test

import (
	"context"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// secrets are what app-config.yaml holds.
func (w *world) secrets() []string {
	return []string{ciToken, directoryToken, restrictedToken, gitToken, w.issuer.ClientSecret}
}

// hides fails a test that was told one of some words.
func hides(t *testing.T, told string, words ...string) {
	t.Helper()
	for _, s := range words {
		if i := strings.Index(told, s); i >= 0 {
			t.Errorf("the caller is told %q: %s", s, told[max(0, i-200):min(len(told), i+200)])
		}
	}
}

// reading are steps that copy a folder into the workspace and show it.
const reading = `{id: fetch, action: "fetch:plain", input: {url: "./"}}, {id: show, action: "debug:log", input: {listWorkspace: with-contents}}`

// TestFilesOfTheMachine has Templates claim that they were read from beside the
// portal's configuration. The rules let them fetch; nothing of the machine is
// read.
func TestFilesOfTheMachine(t *testing.T) {
	w := enter(t)
	dir := w.portal.dir
	cases := map[string]struct {
		reason, annotations string
	}{
		"url file":         {"a file URL behind url:", `backstage.io/source-location: "url:file://DIR/x.yaml"`},
		"url FILE":         {"a scheme in capitals", `backstage.io/source-location: "url:FILE:DIR/x.yaml"`},
		"url FILE slashes": {"a scheme in capitals, with slashes", `backstage.io/source-location: "url:FILE://DIR/x.yaml"`},
		"one slash":        {"a file URL without a host", `backstage.io/source-location: "url:file:DIR/x.yaml"`},
		"localhost":        {"a file URL with a host", `backstage.io/source-location: "url:file://localhostDIR/x.yaml"`},
		"space":            {"a space before the scheme", `backstage.io/source-location: "url: file://DIR/x.yaml"`},
		"no scheme":        {"a path behind url:", `backstage.io/source-location: "url:DIR/x.yaml"`},
		"no host":          {"a web address without a host", `backstage.io/source-location: "url:http:DIR/x.yaml"`},
		"empty host":       {"a web address with an empty host", `backstage.io/source-location: "url:https://DIR/x.yaml"`},
		"file":             {"a file location", `backstage.io/source-location: "file:DIR/x.yaml"`},
		"managed":          {"managed by a file", `backstage.io/managed-by-location: "file:DIR/x.yaml"`},
		"managed url":      {"managed by a file URL", `backstage.io/managed-by-location: "url:file://DIR/x.yaml"`},
		"origin":           {"both locations", `backstage.io/managed-by-location: "file:DIR/x.yaml", backstage.io/managed-by-origin-location: "file:DIR/x.yaml"`},
		"other spelling":   {"the other spelling of the key", `portal.io/managed-by-location: "file:DIR/x.yaml", portal.io/source-location: "file:DIR/x.yaml"`},
		"two spellings":    {"both spellings", `backstage.io/managed-by-location: "url:https://example.org/x.yaml", portal.io/managed-by-location: "file:DIR/x.yaml"`},
		"trusted file":     {"the file that the operator's Templates are in", `backstage.io/managed-by-location: "file:DIR/trusted.yaml"`},
		"relative":         {"a path with dots", `backstage.io/source-location: "url:file://DIR/skeleton/../x.yaml"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, a := w.as(t, bob), w.as(t, ada)
			annotations := strings.ReplaceAll(tc.annotations, "DIR", dir)
			check := func(how string, r result) {
				t.Helper()
				if r.status == "completed" {
					t.Errorf("%s, %s: the task completed: %s", tc.reason, how, r.told)
				}
				hides(t, r.told, w.secrets()...)
			}
			pushed := unique("files")
			b.pushed("granted", template(pushed, annotations, reading))
			check("pushed by a user", b.run(pushed, "{}"))
			byService := unique("files")
			w.as(t, ci).pushed("granted", template(byService, annotations, reading))
			check("pushed by a service", b.run(byService, "{}"))
			registered := unique("files")
			a.want(http.StatusCreated, http.MethodPost, "/api/catalog/locations",
				`{"type":"url","target":"`+w.pages.put(template(registered, annotations, reading))+`"}`)
			check("registered", a.run(registered, "{}"))
			// In a dry run the files beside the Template are those of the request.
			dry := a.do(http.MethodPost, api+"/dry-run", `{"template":`+asJSON(t, template(unique("files"), annotations, reading))+`,"values":{},"directoryContents":[]}`)
			hides(t, dry.body, w.secrets()...)
		})
	}
	t.Run("control", func(t *testing.T) {
		t.Parallel()
		if r := w.as(t, bob).completes("trusted-beside", "{}"); !strings.Contains(r.told, "beside the Template") {
			t.Errorf("a Template of the operator reads what is beside it: %s", r.told)
		}
	})
}

// TestLocationsOfTheMachine asks the catalog itself to read files of the machine.
func TestLocationsOfTheMachine(t *testing.T) {
	w := enter(t)
	config := filepath.Join(w.portal.dir, "app-config.yaml")
	location := func(target string) string {
		return `{apiVersion: backstage.io/v1alpha1, kind: Location, metadata: {name: ` + unique("location") + `, annotations: {backstage.io/source-location: "url:file://` + config + `"}}, spec: {` + target + `}}`
	}
	cases := map[string]struct {
		reason string
		ask    func(t *testing.T, c client) answer
	}{
		"file":     {"a file location", register("file", config)},
		"url file": {"a file URL", register("url", "file://"+config)},
		"url FILE": {"a file URL in capitals", register("url", "FILE:"+config)},
		"dry run":  {"without registering it", func(_ *testing.T, c client) answer { return locate(c, "?dryRun=true", "file", config) }},
		"analyze": {"an analysis", func(_ *testing.T, c client) answer {
			return c.do(http.MethodPost, "/api/catalog/analyze-location", `{"location":{"type":"file","target":"`+config+`"}}`)
		}},
		"Location of a file": {"a Location that leads to a file", func(t *testing.T, c client) answer {
			t.Helper()
			return locate(c, "", "url", w.pages.put(location(`type: file, target: "`+config+`"`)))
		}},
		"Location of a file URL": {"a Location that leads to a file URL", func(t *testing.T, c client) answer {
			t.Helper()
			return locate(c, "", "url", w.pages.put(location(`type: url, target: "file://`+config+`"`)))
		}},
		"Location without a type": {"a Location that has the type of its source", func(t *testing.T, c client) answer {
			t.Helper()
			return locate(c, "", "url", w.pages.put(location(`targets: ["`+config+`", "file://`+config+`", "./../../../..`+config+`"]`)))
		}},
		"pushed Location": {"a Location that is pushed", func(t *testing.T, c client) answer {
			t.Helper()
			return c.push("granted", location(`type: file, target: "`+config+`"`))
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := w.as(t, ada)
			hides(t, tc.ask(t, c).body, w.secrets()...)
			for _, path := range []string{"/api/catalog/entities", "/api/catalog/locations"} {
				hides(t, c.want(http.StatusOK, http.MethodGet, path, "").body, w.secrets()...)
			}
		})
	}
}

// register returns a request that registers a location.
func register(kind, target string) func(*testing.T, client) answer {
	return func(_ *testing.T, c client) answer { return locate(c, "", kind, target) }
}

func locate(c client, query, kind, target string) answer {
	c.t.Helper()
	return c.do(http.MethodPost, "/api/catalog/locations"+query, `{"type":"`+kind+`","target":"`+target+`"}`)
}

// hiddenPlan is in an entity that only the operators see.
const hiddenPlan = "the-hidden-plan"

// TestHiddenEntity reads an entity that a rule hides, over HTTP and inside a
// task.
func TestHiddenEntity(t *testing.T) {
	w := enter(t)
	name := unique("plan")
	w.as(t, olivia).pushed(unique("inventory"), `{apiVersion: backstage.io/v1alpha1, kind: Component, metadata: {name: `+name+`, namespace: hidden, description: `+hiddenPlan+`}, spec: {type: x, lifecycle: x, owner: "group:default/platform"}}`)
	cases := map[string]struct{ reason, input string }{
		"ref":      {"by its reference", `entityRef: "component:hidden/NAME"`},
		"capitals": {"in capitals", `entityRef: "COMPONENT:HIDDEN/NAME"`},
		"defaults": {"with the kind and namespace beside it", `entityRef: "NAME", defaultKind: Component, defaultNamespace: hidden`},
		"several":  {"in a list", `entityRefs: ["component:hidden/NAME"]`},
		"optional": {"if it is there", `entityRef: "component:hidden/NAME", optional: true`},
	}
	for caseName, tc := range cases {
		t.Run(caseName, func(t *testing.T) {
			t.Parallel()
			step := `{id: fetch, action: "catalog:fetch", input: {` + strings.ReplaceAll(tc.input, "NAME", name) + `}}, {id: log, action: "debug:log", input: {message: "${{ steps.fetch.output | dump }}"}}`
			made := unique("fetch")
			w.as(t, ada).pushed(unique("some"), template(made, "", step))
			for _, who := range []string{ada, bob, restricted} {
				c := w.as(t, who)
				c.want(http.StatusNotFound, http.MethodGet, "/api/catalog/entities/by-name/component/hidden/"+name, "")
				hides(t, c.run(made, "{}").told, hiddenPlan)
				hides(t, c.do(http.MethodPost, api+"/dry-run", `{"template":`+asJSON(t, template(unique("fetch"), "", step))+`,"values":{}}`).body, hiddenPlan)
			}
			if r := w.as(t, olivia).completes(made, "{}"); !strings.Contains(r.told, hiddenPlan) {
				t.Errorf("%s: the operator reads it: %s", tc.reason, r.told)
			}
		})
	}
}

// TestRegisterInsideTask registers a location without the permission for it, over
// HTTP and inside a task.
func TestRegisterInsideTask(t *testing.T) {
	w := enter(t)
	page := w.pages.put(`{apiVersion: backstage.io/v1alpha1, kind: Component, metadata: {name: ` + unique("registered") + `}, spec: {type: x, lifecycle: x, owner: "group:default/team-a"}}`)
	inTask := unique("register")
	w.as(t, ada).pushed("granted", template(inTask, "", `{id: register, action: "catalog:register", input: {catalogInfoUrl: "`+page+`"}}`))
	for _, who := range []string{bob, restricted} {
		c := w.as(t, who)
		if a := locate(c, "", "url", page); a.status != http.StatusForbidden {
			t.Errorf("%s registers over HTTP: %d %s", who, a.status, a.body)
		}
		c.stopped("trusted-register", `{"url":"`+page+`"}`, "catalog.location.create")
		c.stopped(inTask, "{}", "catalog.location.create")
		hides(t, c.want(http.StatusOK, http.MethodGet, "/api/catalog/locations", "").body, page)
	}
	w.as(t, ada).completes(inTask, "{}")
	if a := w.as(t, ada).want(http.StatusOK, http.MethodGet, "/api/catalog/locations", ""); !strings.Contains(a.body, page) {
		t.Errorf("a user who may register does so inside a task: %s", a.body)
	}
}

// TestIdentity pushes User and Group entities that put a person into a group.
func TestIdentity(t *testing.T) {
	w := enter(t)
	user := func(kind, name, groups string) string {
		return `{apiVersion: backstage.io/v1alpha1, kind: ` + kind + `, metadata: {name: ` + name + `}, spec: {memberOf: [` + groups + `], type: team, children: [], members: [` + bob + `]}}`
	}
	cases := map[string]struct {
		reason, who, provider, entity string
		taken                         bool
	}{
		"user":           {"a user makes themselves an operator", bob, "mine", user("User", bob, "platform"), false},
		"lower case":     {"a kind in lower case", bob, "mine", user("user", bob, "platform"), false},
		"capitals":       {"a kind in capitals", bob, "mine", user("USER", bob, "platform"), false},
		"group":          {"a group with members", bob, "mine", user("Group", "platform", ""), false},
		"listed":         {"a user and a provider that is listed", bob, "directory", user("User", bob, "platform"), false},
		"service":        {"a service and a provider that is not listed", ci, "mine", user("User", bob, "platform"), false},
		"service group":  {"a group of it", ci, "mine", user("Group", "platform", ""), false},
		"near":           {"a name like that of the provider that is listed", ci, "directory.", user("User", bob, "platform"), false},
		"other spelling": {"the other spelling of the apiVersion", bob, "mine", strings.Replace(user("User", bob, "platform"), "backstage.io/v1alpha1", "portal.io/v1alpha1", 1), false},
		"directory":      {"a service and a provider that is listed", directory, "directory", user("User", "carol", "team-a"), true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := w.as(t, tc.who).push(tc.provider, tc.entity)
			if taken := a.status == http.StatusOK && strings.Contains(a.body, `"refused":[]`); taken != tc.taken {
				t.Errorf("%s: %d %s", tc.reason, a.status, a.body)
			}
			if !tc.taken && a.status == http.StatusOK && !strings.Contains(a.body, "catalog.identity.write") {
				t.Errorf("%s: the answer does not name the permission: %s", tc.reason, a.body)
			}
			w.sameGroups(t)
		})
	}
	t.Run("registered", func(t *testing.T) {
		t.Parallel()
		locate(w.as(t, ada), "", "url", w.pages.put(user("User", bob, "platform")))
		time.Sleep(time.Second)
		w.sameGroups(t)
	})
}

// sameGroups signs bob in again, who is still in one group.
func (w *world) sameGroups(t *testing.T) {
	t.Helper()
	b, err := newBrowser()
	if err != nil {
		t.Fatal(err)
	}
	s, err := w.signIn(context.WithoutCancel(t.Context()), b, bob)
	if err != nil {
		t.Fatal(err)
	}
	if owns := s.BackstageIdentity.Identity.OwnershipEntityRefs; slices.Contains(owns, "group:default/platform") {
		t.Errorf("bob is an operator now: %v", owns)
	}
}

// TestIdentityRemoved removes the User entity that a listed provider brought: a
// person who leaves a group so escapes the rules that deny that group something.
func TestIdentityRemoved(t *testing.T) {
	w := enter(t)
	name := unique("dave")
	w.as(t, directory).pushed("directory", `{apiVersion: backstage.io/v1alpha1, kind: User, metadata: {name: `+name+`}, spec: {memberOf: [contractors]}}`)
	const byName = "/api/catalog/entities/by-name/user/default/"
	uid := w.as(t, bob).want(http.StatusOK, http.MethodGet, byName+name, "").node(t).Get("metadata", "uid").Str()
	cases := map[string]struct {
		reason string
		ask    func(c client)
	}{
		"delete":   {"by its id", func(c client) { c.do(http.MethodDelete, "/api/catalog/entities/by-uid/"+uid, "") }},
		"remove":   {"in a delta", func(c client) { c.push("directory", "{remove: \"user:default/"+name+"\"}") }},
		"provider": {"with its provider", func(c client) { c.do(http.MethodDelete, "/api/catalog/providers/directory", "") }},
		"replace": {"by a push of everything else", func(c client) {
			c.send(http.MethodPut, "/api/catalog/providers/directory/entities", "application/yaml",
				`{apiVersion: backstage.io/v1alpha1, kind: Component, metadata: {name: `+unique("x")+`}, spec: {type: x, lifecycle: x, owner: team-b}}`)
		}},
		"empty": {"by a push of nothing", func(c client) {
			c.send(http.MethodPut, "/api/catalog/providers/directory/entities?allowEmpty=true", "application/yaml", "")
		}},
	}
	for caseName, tc := range cases {
		t.Run(caseName, func(t *testing.T) {
			c := w.as(t, bob)
			tc.ask(c)
			if a := c.do(http.MethodGet, byName+name, ""); a.status != http.StatusOK {
				t.Errorf("%s: the entity is gone: %d", tc.reason, a.status)
				w.as(t, directory).pushed("directory", `{apiVersion: backstage.io/v1alpha1, kind: User, metadata: {name: `+name+`}, spec: {memberOf: [contractors]}}`)
				uid = c.want(http.StatusOK, http.MethodGet, byName+name, "").node(t).Get("metadata", "uid").Str()
			}
		})
	}
}
