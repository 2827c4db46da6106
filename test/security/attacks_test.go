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

// secrets returns the secrets in app-config.yaml.
func (w *world) secrets() []string {
	return []string{ciToken, directoryToken, restrictedToken, gitToken, w.issuer.ClientSecret}
}

// checkAbsent checks that a response contains none of the given words.
func checkAbsent(t *testing.T, told string, words ...string) {
	t.Helper()
	for _, s := range words {
		if i := strings.Index(told, s); i >= 0 {
			t.Errorf("response contains %q: %s", s, told[max(0, i-200):min(len(told), i+200)])
		}
	}
}

// reading has steps that copy a folder to the workspace and list it.
const reading = `{id: fetch, action: "fetch:plain", input: {url: "./"}}, {id: show, action: "debug:log", input: {listWorkspace: with-contents}}`

// TestFilesOfTheMachine checks that Templates that claim an origin next to the
// portal's configuration cannot read local files, although the rules allow them
// to fetch.
func TestFilesOfTheMachine(t *testing.T) {
	w := enter(t)
	dir := w.portal.dir
	cases := map[string]struct {
		reason, annotations string
	}{
		"url file":         {"A file URL after url: is not read.", `backstage.io/source-location: "url:file://DIR/x.yaml"`},
		"url FILE":         {"A scheme in capitals is not read.", `backstage.io/source-location: "url:FILE:DIR/x.yaml"`},
		"url FILE slashes": {"A scheme in capitals with slashes is not read.", `backstage.io/source-location: "url:FILE://DIR/x.yaml"`},
		"one slash":        {"A file URL without a host is not read.", `backstage.io/source-location: "url:file:DIR/x.yaml"`},
		"localhost":        {"A file URL with a host is not read.", `backstage.io/source-location: "url:file://localhostDIR/x.yaml"`},
		"space":            {"A file URL after a space is not read.", `backstage.io/source-location: "url: file://DIR/x.yaml"`},
		"no scheme":        {"A path after url: is not read.", `backstage.io/source-location: "url:DIR/x.yaml"`},
		"no host":          {"An HTTP URL without a host is not read.", `backstage.io/source-location: "url:http:DIR/x.yaml"`},
		"empty host":       {"An HTTPS URL with an empty host is not read.", `backstage.io/source-location: "url:https://DIR/x.yaml"`},
		"file":             {"A file location is not read.", `backstage.io/source-location: "file:DIR/x.yaml"`},
		"managed":          {"A managed-by location that is a file is not read.", `backstage.io/managed-by-location: "file:DIR/x.yaml"`},
		"managed url":      {"A managed-by location that is a file URL is not read.", `backstage.io/managed-by-location: "url:file://DIR/x.yaml"`},
		"origin":           {"A forged origin location does not help.", `backstage.io/managed-by-location: "file:DIR/x.yaml", backstage.io/managed-by-origin-location: "file:DIR/x.yaml"`},
		"other spelling":   {"The annotations of the other vocabulary are checked.", `portal.io/managed-by-location: "file:DIR/x.yaml", portal.io/source-location: "file:DIR/x.yaml"`},
		"two spellings":    {"The annotations of both vocabularies are checked.", `backstage.io/managed-by-location: "url:https://example.org/x.yaml", portal.io/managed-by-location: "file:DIR/x.yaml"`},
		"trusted file":     {"The file of the operator's Templates cannot be claimed as the origin.", `backstage.io/managed-by-location: "file:DIR/trusted.yaml"`},
		"relative":         {"A path traversal from a readable folder is refused.", `backstage.io/source-location: "url:file://DIR/skeleton/../x.yaml"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, a := w.as(t, bob), w.as(t, ada)
			annotations := strings.ReplaceAll(tc.annotations, "DIR", dir)
			check := func(how string, r result) {
				t.Helper()
				if r.status == "completed" {
					t.Errorf("%s, %s: task completed, want it refused or failed: %s", tc.reason, how, r.told)
				}
				checkAbsent(t, r.told, w.secrets()...)
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
			// In a dry run the files next to the Template are those of the
			// request.
			dry := a.do(http.MethodPost, api+"/dry-run", `{"template":`+asJSON(t, template(unique("files"), annotations, reading))+`,"values":{},"directoryContents":[]}`)
			checkAbsent(t, dry.body, w.secrets()...)
		})
	}
	t.Run("control", func(t *testing.T) {
		t.Parallel()
		if r := w.as(t, bob).completes("trusted-beside", "{}"); !strings.Contains(r.told, "beside the Template") {
			t.Errorf("Template of the operator did not read the file next to it: %s", r.told)
		}
	})
}

// TestLocationsOfTheMachine checks that the catalog does not read local files
// through locations.
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
		"file":     {"A file location is refused.", register("file", config)},
		"url file": {"A file URL is refused.", register("url", "file://"+config)},
		"url FILE": {"A file URL in capitals is refused.", register("url", "FILE:"+config)},
		"dry run":  {"A dry run is refused too.", func(_ *testing.T, c client) answer { return locate(c, "?dryRun=true", "file", config) }},
		"analyze": {"An analysis is refused too.", func(_ *testing.T, c client) answer {
			return c.do(http.MethodPost, "/api/catalog/analyze-location", `{"location":{"type":"file","target":"`+config+`"}}`)
		}},
		"Location of a file": {"A Location entity with a file as its target is not followed.", func(t *testing.T, c client) answer {
			t.Helper()
			return locate(c, "", "url", w.pages.put(location(`type: file, target: "`+config+`"`)))
		}},
		"Location of a file URL": {"A Location entity with a file URL as its target is not followed.", func(t *testing.T, c client) answer {
			t.Helper()
			return locate(c, "", "url", w.pages.put(location(`type: url, target: "file://`+config+`"`)))
		}},
		"Location without a type": {"A Location entity without a type has the type of its source.", func(t *testing.T, c client) answer {
			t.Helper()
			return locate(c, "", "url", w.pages.put(location(`targets: ["`+config+`", "file://`+config+`", "./../../../..`+config+`"]`)))
		}},
		"pushed Location": {"A pushed Location entity is not followed.", func(t *testing.T, c client) answer {
			t.Helper()
			return c.push("granted", location(`type: file, target: "`+config+`"`))
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := w.as(t, ada)
			checkAbsent(t, tc.ask(t, c).body, w.secrets()...)
			for _, path := range []string{"/api/catalog/entities", "/api/catalog/locations"} {
				checkAbsent(t, c.want(http.StatusOK, http.MethodGet, path, "").body, w.secrets()...)
			}
		})
	}
}

// register returns a function that registers a location.
func register(kind, target string) func(*testing.T, client) answer {
	return func(_ *testing.T, c client) answer { return locate(c, "", kind, target) }
}

func locate(c client, query, kind, target string) answer {
	c.t.Helper()
	return c.do(http.MethodPost, "/api/catalog/locations"+query, `{"type":"`+kind+`","target":"`+target+`"}`)
}

// hiddenPlan is in an entity that only operators see.
const hiddenPlan = "the-hidden-plan"

// TestHiddenEntity checks that an entity hidden by a rule cannot be read, over
// HTTP or in a task.
func TestHiddenEntity(t *testing.T) {
	w := enter(t)
	name := unique("plan")
	w.as(t, olivia).pushed(unique("inventory"), `{apiVersion: backstage.io/v1alpha1, kind: Component, metadata: {name: `+name+`, namespace: hidden, description: `+hiddenPlan+`}, spec: {type: x, lifecycle: x, owner: "group:default/platform"}}`)
	cases := map[string]struct{ reason, input string }{
		"ref":      {"The entity is hidden under its reference.", `entityRef: "component:hidden/NAME"`},
		"capitals": {"The case of a reference does not matter.", `entityRef: "COMPONENT:HIDDEN/NAME"`},
		"defaults": {"The entity is hidden if kind and namespace are separate inputs.", `entityRef: "NAME", defaultKind: Component, defaultNamespace: hidden`},
		"several":  {"The entity is hidden in a list of references.", `entityRefs: ["component:hidden/NAME"]`},
		"optional": {"The entity is hidden if it is optional.", `entityRef: "component:hidden/NAME", optional: true`},
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
				checkAbsent(t, c.run(made, "{}").told, hiddenPlan)
				checkAbsent(t, c.do(http.MethodPost, api+"/dry-run", `{"template":`+asJSON(t, template(unique("fetch"), "", step))+`,"values":{}}`).body, hiddenPlan)
			}
			if r := w.as(t, olivia).completes(made, "{}"); !strings.Contains(r.told, hiddenPlan) {
				t.Errorf("%s: operator cannot read the entity: %s", tc.reason, r.told)
			}
		})
	}
}

// TestRegisterInsideTask checks that a location cannot be registered without
// permission, over HTTP or in a task.
func TestRegisterInsideTask(t *testing.T) {
	w := enter(t)
	page := w.pages.put(`{apiVersion: backstage.io/v1alpha1, kind: Component, metadata: {name: ` + unique("registered") + `}, spec: {type: x, lifecycle: x, owner: "group:default/team-a"}}`)
	inTask := unique("register")
	w.as(t, ada).pushed("granted", template(inTask, "", `{id: register, action: "catalog:register", input: {catalogInfoUrl: "`+page+`"}}`))
	for _, who := range []string{bob, restricted} {
		c := w.as(t, who)
		if a := locate(c, "", "url", page); a.status != http.StatusForbidden {
			t.Errorf("registration by %s over HTTP returned %d, want 403: %s", who, a.status, a.body)
		}
		c.stopped("trusted-register", `{"url":"`+page+`"}`, "catalog.location.create")
		c.stopped(inTask, "{}", "catalog.location.create")
		checkAbsent(t, c.want(http.StatusOK, http.MethodGet, "/api/catalog/locations", "").body, page)
	}
	w.as(t, ada).completes(inTask, "{}")
	if a := w.as(t, ada).want(http.StatusOK, http.MethodGet, "/api/catalog/locations", ""); !strings.Contains(a.body, page) {
		t.Errorf("location registered in a task by a permitted user is missing: %s", a.body)
	}
}

// TestIdentity checks who may push User and Group entities, which put a user
// into a group.
func TestIdentity(t *testing.T) {
	w := enter(t)
	user := func(kind, name, groups string) string {
		return `{apiVersion: backstage.io/v1alpha1, kind: ` + kind + `, metadata: {name: ` + name + `}, spec: {memberOf: [` + groups + `], type: team, children: [], members: [` + bob + `]}}`
	}
	cases := map[string]struct {
		reason, who, provider, entity string
		taken                         bool
	}{
		"user":           {"A user cannot make themselves an operator.", bob, "mine", user("User", bob, "platform"), false},
		"lower case":     {"A kind in lower case is checked.", bob, "mine", user("user", bob, "platform"), false},
		"capitals":       {"A kind in capitals is checked.", bob, "mine", user("USER", bob, "platform"), false},
		"group":          {"A user cannot push a group with members.", bob, "mine", user("Group", "platform", ""), false},
		"listed":         {"A user cannot push to a provider listed for identities.", bob, "directory", user("User", bob, "platform"), false},
		"service":        {"A service cannot push users to a provider that is not listed.", ci, "mine", user("User", bob, "platform"), false},
		"service group":  {"A service cannot push groups to a provider that is not listed.", ci, "mine", user("Group", "platform", ""), false},
		"near":           {"A provider name similar to a listed one is not listed.", ci, "directory.", user("User", bob, "platform"), false},
		"other spelling": {"An apiVersion in the other vocabulary is checked.", bob, "mine", strings.Replace(user("User", bob, "platform"), "backstage.io/v1alpha1", "portal.io/v1alpha1", 1), false},
		"directory":      {"A listed service can push users to a listed provider.", directory, "directory", user("User", "carol", "team-a"), true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := w.as(t, tc.who).push(tc.provider, tc.entity)
			if taken := a.status == http.StatusOK && strings.Contains(a.body, `"refused":[]`); taken != tc.taken {
				t.Errorf("%s: push returned %d %s", tc.reason, a.status, a.body)
			}
			if !tc.taken && a.status == http.StatusOK && !strings.Contains(a.body, "catalog.identity.write") {
				t.Errorf("%s: response does not name the permission: %s", tc.reason, a.body)
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

// sameGroups signs bob in again and checks that he is not an operator.
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

// TestIdentityRemoved checks that users cannot remove a User entity of a listed
// provider. Leaving a group would also lift the rules that deny something to
// that group.
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
		"delete":   {"A user cannot delete the entity by its uid.", func(c client) { c.do(http.MethodDelete, "/api/catalog/entities/by-uid/"+uid, "") }},
		"remove":   {"A user cannot remove the entity in a delta.", func(c client) { c.push("directory", "{remove: \"user:default/"+name+"\"}") }},
		"provider": {"A user cannot delete the provider of the entity.", func(c client) { c.do(http.MethodDelete, "/api/catalog/providers/directory", "") }},
		"replace": {"A user cannot remove the entity by a full push without it.", func(c client) {
			c.send(http.MethodPut, "/api/catalog/providers/directory/entities", "application/yaml",
				`{apiVersion: backstage.io/v1alpha1, kind: Component, metadata: {name: `+unique("x")+`}, spec: {type: x, lifecycle: x, owner: team-b}}`)
		}},
		"empty": {"A user cannot remove the entity by an empty push.", func(c client) {
			c.send(http.MethodPut, "/api/catalog/providers/directory/entities?allowEmpty=true", "application/yaml", "")
		}},
	}
	for caseName, tc := range cases {
		t.Run(caseName, func(t *testing.T) {
			c := w.as(t, bob)
			tc.ask(c)
			if a := c.do(http.MethodGet, byName+name, ""); a.status != http.StatusOK {
				t.Errorf("%s: entity was removed: %d", tc.reason, a.status)
				w.as(t, directory).pushed("directory", `{apiVersion: backstage.io/v1alpha1, kind: User, metadata: {name: `+name+`}, spec: {memberOf: [contractors]}}`)
				uid = c.want(http.StatusOK, http.MethodGet, byName+name, "").node(t).Get("metadata", "uid").Str()
			}
		})
	}
}
