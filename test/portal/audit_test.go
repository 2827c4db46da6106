package portal_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/identity/audit"
)

// TestAudit performs every action that the audit log records. It checks that
// each is recorded once with actor, target and result, and that nothing else is
// recorded.
func TestAudit(t *testing.T) {
	a := startAudited(t)
	const catalog = "/api/catalog"
	described := func(name string) string {
		return strings.Replace(component(name), `"name":"`+name+`"`, `"name":"`+name+`","description":"`+auditContent+`"`, 1)
	}
	theirs := strings.ReplaceAll(described("theirs"), "group:default/team", "group:default/others")
	put := func(provider, query, token, body string) call {
		return call{method: "PUT", path: catalog + "/providers/" + provider + "/entities" + query, token: token, body: body, header: ndjson}
	}
	first := a.served.put("first.yaml", described("located"))
	address := first + "?token=" + auditQueryToken
	location := func(method, path, target, token string) call {
		return call{method: method, path: catalog + "/locations" + path, token: token, body: fmt.Sprintf(`{"type":"url","target":%q}`, target)}
	}
	uid := func(name string) string {
		var entity struct{ Metadata struct{ UID string } }
		a.get(catalog+"/entities/by-name/component/default/"+name, &entity)
		return entity.Metadata.UID
	}
	task := func(template, values string) call {
		return call{method: "POST", path: scaffolding + "/tasks", token: a.user,
			body: `{"templateRef":"` + template + `","values":` + values + `,"secrets":{"token":"` + auditTaskSecret + `"}}`}
	}
	word := `{"word":"` + auditWord + `"}`
	var guest, at, done, failed, waiting string
	create := func(to *string, template, values string) {
		var made struct{ ID string }
		a.want(task(template, values), http.StatusCreated, &made)
		*to = made.ID
	}
	const (
		byGuest   = "guest user:development/guest"
		byService = "service tests"
		byUser    = "user USER"
		applied   = " success user USER apiVersion=v1 cluster=real kind=Secret name=key-*** namespace=shop "
		refused   = "cluster.apply failure user USER apiVersion=v1 cluster=real kind=ConfigMap name=one namespace=shop step=apply task=ID3 template=template:default/fails (invalid)"
		ended     = "scaffolder.task.ended failure user USER status=failed step=apply task=ID3 template=template:default/fails (step failed)"
	)
	steps := []struct {
		reason string
		do     func()
		want   []string
	}{
		{"a guest", func() { guest = a.guest() }, []string{"auth.sign-in success " + byGuest + " provider=guest"}},
		{"tokens that are wrong, one of them for nothing", func() {
			a.want(call{path: catalog + "/entities", token: auditBadToken}, http.StatusForbidden, nil)
			a.want(call{path: catalog + "/nothing", token: auditBadToken}, http.StatusForbidden, nil)
		}, []string{"auth.token denied anonymous  (token refused: Illegal token)", "auth.token denied anonymous  (token refused: Illegal token)"}},
		{"no token", func() { a.want(call{path: catalog + "/entities", token: noToken}, http.StatusUnauthorized, nil) }, nil},
		{"a sign-in that was not begun", func() {
			a.want(call{path: "/api/auth/oidc/handler/frame?state=x&code=" + auditCode, token: noToken}, http.StatusUnauthorized, nil)
		}, []string{"auth.sign-in failure anonymous  provider=oidc (Sign-in was not started in this browser, or has expired: sign in again)"}},
		{"a sign-in, and a token for the page", a.signIn, []string{"auth.sign-in success " + byUser + " provider=oidc"}},
		{"reading", func() {
			for _, token := range []string{guest, a.user, ""} {
				for _, path := range []string{catalog + "/entities", catalog + "/recent", "/api/search/query?term=" + auditContent, scaffolding + "/templates/usage"} {
					a.want(call{path: path, token: token}, http.StatusOK, nil)
				}
			}
		}, nil},
		{"settings of a user, which are no one else's business", func() {
			setting := "/api/user-settings/buckets/starredEntities/keys/entityRefs"
			a.want(call{method: "PUT", path: setting, token: a.user, body: `{"value":["` + auditContent + `"]}`}, http.StatusOK, nil)
			a.want(call{path: setting, token: a.user}, http.StatusOK, nil)
			a.want(call{method: "POST", path: "/api/user-settings/multiget", token: a.user, body: `{"items":[{"bucket":"starredEntities","key":"entityRefs"},{"bucket":"a","key":"b"}]}`}, http.StatusOK, nil)
			a.want(call{method: "DELETE", path: setting, token: a.user}, http.StatusNoContent, nil)
			a.want(call{path: setting, token: a.user}, http.StatusNotFound, nil)
			a.want(call{path: setting, token: guest}, http.StatusForbidden, nil)
		}, nil},
		{"a guest who may not", func() { a.want(location("POST", "", address, guest), http.StatusForbidden, nil) }, []string{
			"permission.refused denied " + byGuest + " permission=catalog.location.create (Missing permission catalog.location.create: guests may only read; sign in)",
		}},
		{"a guest who may not read tasks", func() {
			a.want(call{path: scaffolding + "/tasks", token: guest}, http.StatusForbidden, nil)
			a.want(call{path: scaffolding + "/templates/usage?mine=true", token: guest}, http.StatusForbidden, nil)
		}, []string{
			"permission.refused denied " + byGuest + " permission=scaffolder.task.read (Missing permission scaffolder.task.read: guests may only read; sign in)",
			"permission.refused denied " + byGuest + " permission=scaffolder.task.read (Missing permission scaffolder.task.read: guests may only read; sign in)",
		}},
		{"a push", func() {
			a.want(put("first", "", "", described("a")+"\n"+described("b")+"\n"+theirs), http.StatusOK, nil)
		}, []string{
			"catalog.push success " + byService + " provider=first added=3 refused=0 removed=0 unchanged=0 updated=0",
		}},
		{"differences", func() {
			a.want(call{method: "POST", path: catalog + "/providers/first/delta", body: `{"remove":"component:default/b"}`, header: ndjson}, http.StatusOK, nil)
		}, []string{"catalog.delta success " + byService + " provider=first added=0 refused=0 removed=1 unchanged=0 updated=0"}},
		{"a push of a user who may write only some of the entities", func() {
			a.want(put("mine", "", a.user, described("ours")+"\n"+strings.ReplaceAll(theirs, `"theirs"`, `"others"`)), http.StatusOK, nil)
		}, []string{
			"permission.refused denied " + byUser + " permission=catalog.entity.create provider=mine entities=1 (Missing permission for entities of a push)",
			"catalog.push success " + byUser + " provider=mine added=1 refused=1 removed=0 unchanged=0 updated=0",
		}},
		{"a strict push with a mistake", func() {
			a.want(put("first", "?strict=true", "", strings.Replace(described("a"), "owner", "auditor", 1)), http.StatusBadRequest, nil)
		}, []string{"catalog.push failure " + byService + " provider=first refused=1 (strict push with refused entities)"}},
		{"a push that cannot be read", func() { a.want(put("first", "", "", auditContent), http.StatusBadRequest, nil) }, []string{
			"catalog.push failure " + byService + " provider=first (InputError)",
		}},
		{"a location", func() {
			var made struct{ Location struct{ ID string } }
			a.want(location("POST", "", address, ""), http.StatusCreated, &made)
			at = made.Location.ID
		}, []string{"catalog.location.register success " + byService + " location=ID1 target=FILES/first.yaml type=url"}},
		{"that location tried out", func() { a.want(location("POST", "?dryRun=true", address, ""), http.StatusCreated, nil) }, nil},
		{"that location again", func() { a.want(location("POST", "", address, ""), http.StatusConflict, nil) }, []string{
			"catalog.location.register failure " + byService + " target=FILES/first.yaml type=url (ConflictError)",
		}},
		{"a refresh of its entity", func() {
			a.until("the location is read", func() bool { return a.exists("component/default/located") })
			a.want(call{method: "POST", path: catalog + "/refresh", body: `{"entityRef":"component:default/located"}`}, http.StatusOK, nil)
		}, []string{"catalog.entity.refresh success " + byService + " entity=component:default/located"}},
		{"a location that is changed", func() { a.want(location("PUT", "/"+at, first, ""), http.StatusOK, nil) }, []string{
			"catalog.location.update success " + byService + " location=ID1 target=FILES/first.yaml type=url",
		}},
		{"a user who may not", func() {
			a.want(call{method: "DELETE", path: catalog + "/locations/" + at, token: a.user}, http.StatusForbidden, nil)
		}, []string{
			"permission.refused denied " + byUser + " permission=catalog.location.delete (Missing permission catalog.location.delete: requires a rule, because you do not have catalog.entity.delete for all entities)",
		}},
		{"a location that goes, twice", func() {
			a.want(call{method: "DELETE", path: catalog + "/locations/" + at}, http.StatusNoContent, nil)
			a.want(call{method: "DELETE", path: catalog + "/locations/" + at}, http.StatusNotFound, nil)
		}, []string{
			"catalog.location.delete failure " + byService + " location=ID1 (NotFoundError)",
			"catalog.location.delete success " + byService + " location=ID1",
		}},
		{"an entity of others, and one of their own", func() {
			a.want(call{method: "DELETE", path: catalog + "/entities/by-uid/" + uid("theirs"), token: a.user}, http.StatusForbidden, nil)
			a.want(call{method: "DELETE", path: catalog + "/entities/by-uid/" + uid("ours"), token: a.user}, http.StatusNoContent, nil)
		}, []string{
			"catalog.entity.delete success " + byUser + " entity=component:default/ours provider=mine",
			"permission.refused denied " + byUser + " entity=component:default/theirs permission=catalog.entity.delete (Missing permission catalog.entity.delete for component:default/theirs: rule 2 of permission.rules denies it)",
		}},
		{"an entity that is not there", func() {
			a.want(call{method: "DELETE", path: catalog + "/entities/by-uid/none"}, http.StatusNoContent, nil)
		}, nil},
		{"a provider that goes, twice", func() {
			a.want(call{method: "DELETE", path: catalog + "/providers/first"}, http.StatusNoContent, nil)
			a.want(call{method: "DELETE", path: catalog + "/providers/first"}, http.StatusNotFound, nil)
		}, []string{
			"catalog.provider.delete failure " + byService + " provider=first removed=0 (NotFoundError)",
			"catalog.provider.delete success " + byService + " provider=first removed=2",
		}},
		{"scans", func() {
			a.want(call{method: "POST", path: "/api/composer-ingestor/runs"}, http.StatusAccepted, nil)
			a.want(call{method: "POST", path: "/api/composer-ingestor/runs", body: `{"source":"composerIngestor/sources/examples"}`}, http.StatusAccepted, nil)
			a.want(call{method: "POST", path: "/api/composer-ingestor/runs", token: guest}, http.StatusForbidden, nil)
		}, []string{
			"ingestion.scan success " + byService + " source=composerIngestor/sources/examples sources=1",
			"ingestion.scan success " + byService + " sources=1",
			"permission.refused denied " + byGuest + " permission=catalog.ingestion.manage (Missing permission catalog.ingestion.manage: guests may only read; sign in)",
		}},
		{"removals", func() {
			a.want(call{method: "POST", path: "/api/composer-ingestor/removals/confirm", body: `{"source":"composerIngestor/sources/examples","since":"2026-01-02T02:04:06Z"}`}, http.StatusConflict, nil)
		}, []string{
			"ingestion.removal.confirmed failure " + byService + " source=composerIngestor/sources/examples objects=0 (ConflictError)",
		}},
		{"dry runs", func() {
			dry := `{"template":` + template("tried", says) + `,"values":{"word":"` + auditWord + `"},"secrets":{"token":"` + auditTaskSecret + `"}}`
			a.want(call{method: "POST", path: scaffolding + "/dry-run", token: a.user, body: dry}, http.StatusOK, nil)
			a.want(call{method: "POST", path: scaffolding + "/dry-run", token: a.user, body: strings.Replace(dry, "debug:log", auditContent, 1)}, http.StatusBadRequest, nil)
		}, []string{
			"scaffolder.dry-run failure " + byUser + " template=template:default/tried (InputError)",
			"scaffolder.dry-run success " + byUser + " template=template:default/tried",
		}},
		{"a task that writes", func() { create(&done, "everything", word); a.ended(done, "completed") }, []string{
			"cluster.apply" + applied + "operation=create step=apply task=ID2 template=template:default/everything",
			"cluster.delete" + applied + "step=delete task=ID2 template=template:default/everything",
			"git.change-request success " + byUser + " branch=BRANCH operation=open repository=GIT/acme/live step=propose targetBranch=main task=ID2 template=template:default/everything url=http://GIT/acme/live/pull/1",
			"git.push success " + byUser + " branch=BRANCH commit=COMMIT repository=GIT/acme/live step=propose task=ID2 template=template:default/everything",
			"git.push success " + byUser + " branch=main commit=COMMIT repository=GIT/acme/live step=commit task=ID2 template=template:default/everything",
			"scaffolder.task.created success " + byUser + " task=ID2 template=template:default/everything",
			"scaffolder.task.ended success " + byUser + " status=completed task=ID2 template=template:default/everything",
		}},
		{"values that do not fit", func() {
			a.want(task("everything", `{"word":"`+strings.ToUpper(auditWord)+`"}`), http.StatusBadRequest, nil)
		}, []string{
			"scaffolder.task.created failure " + byUser + " template=template:default/everything (InputError)",
		}},
		{"a task that fails", func() { create(&failed, "fails", word); a.ended(failed, "failed") }, []string{
			refused, "scaffolder.task.created success " + byUser + " task=ID3 template=template:default/fails", ended,
		}},
		{"that task again", func() {
			a.want(call{method: "POST", path: scaffolding + "/tasks/" + failed + "/retry", token: a.user, body: `{"secrets":{"token":"` + auditTaskSecret + `"}}`}, http.StatusCreated, nil)
		}, []string{refused, ended, "scaffolder.task.retried success " + byUser + " task=ID3 template=template:default/fails"}},
		{"a task that is completed again", func() {
			a.want(call{method: "POST", path: scaffolding + "/tasks/" + done + "/retry", token: a.user}, http.StatusConflict, nil)
		}, []string{"scaffolder.task.retried failure " + byUser + " task=ID2 template=template:default/everything (ConflictError)"}},
		{"a task that is cancelled, twice", func() {
			create(&waiting, "waits", `{}`)
			a.ended(waiting, "processing")
			a.want(call{method: "POST", path: scaffolding + "/tasks/" + waiting + "/cancel"}, http.StatusOK, nil)
			a.ended(waiting, "cancelled")
			a.want(call{method: "POST", path: scaffolding + "/tasks/" + waiting + "/cancel"}, http.StatusOK, nil)
		}, []string{
			"scaffolder.task.cancelled success " + byService + " task=ID4 template=template:default/waits",
			"scaffolder.task.created success " + byUser + " task=ID4 template=template:default/waits",
			"scaffolder.task.ended failure " + byUser + " status=cancelled task=ID4 template=template:default/waits (task cancelled)",
		}},
		{"a logout", func() {
			a.browser.want(call{method: "POST", path: "/api/auth/oidc/logout", token: noToken, header: xhr}, http.StatusOK, nil)
		}, []string{"auth.logout success " + byUser + " provider=oidc"}},
	}

	origin, err := url.Parse(a.base)
	if err != nil {
		t.Fatal(err)
	}
	var cookies []string
	marks := []int{}
	for _, step := range steps {
		before := 0
		if len(marks) > 0 {
			before = marks[len(marks)-1]
		}
		step.do()
		for _, c := range a.browser.client.Jar.Cookies(origin.JoinPath("/api/auth")) {
			cookies = append(cookies, c.Value)
		}
		a.until("the audit log tells of "+step.reason, func() bool { return len(a.events()) >= before+len(step.want) })
		marks = append(marks, before+len(step.want))
	}
	all := a.events()
	show := &shower{ids: map[string]string{at: "ID1", done: "ID2", failed: "ID3", waiting: "ID4"}, replace: strings.NewReplacer(
		a.ref, "USER", a.git, "GIT", a.served.base, "FILES",
	)}
	from := 0
	for i, step := range steps {
		var got []string
		for _, e := range all[from:min(marks[i], len(all))] {
			got = append(got, show.show(e))
		}
		from = marks[i]
		slices.Sort(got)
		if diff := cmp.Diff(slices.Sorted(slices.Values(step.want)), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.reason, diff)
		}
	}
	if extra := len(all) - from; extra != 0 {
		t.Errorf("audit log has %d more lines than expected", extra)
	}
	seen := map[string]bool{}
	for _, e := range all {
		seen[e.Event] = true
		// A task runs without a request.
		if ofTask := isOfTask.MatchString(e.Event); ofTask == (e.RequestID != "") || ofTask == (e.Client == "127.0.0.1") || !isTime.MatchString(e.Time) {
			t.Errorf("event %s has time %q, request %q and client %q", e.Event, e.Time, e.RequestID, e.Client)
		}
	}
	for _, name := range audit.Names {
		if !seen[name] && name != audit.Suppressed {
			t.Errorf("test performs no action that records %s", name)
		}
	}
	a.hides(append(cookies, theToken, guest, a.user, a.cluster, a.issuer.ClientSecret,
		auditTaskSecret, auditGitToken, auditBadToken, auditQueryToken, auditCode, auditWord, strings.ToUpper(auditWord), auditContent)...)
	if info, err := os.Stat(a.file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("audit file has mode %v, want 0600: %v", info.Mode(), err)
	}
}

// hides checks that none of the texts is in the audit log, as plain text,
// base64 or URL-encoded.
func (a *audited) hides(texts ...string) {
	a.t.Helper()
	data, err := os.ReadFile(a.file)
	if err != nil {
		a.t.Fatal(err)
	}
	// Texts that JSON escapes are also searched for in unescaped form.
	log := string(data)
	for _, e := range a.events() {
		log += fmt.Sprintf("\n%+v", e)
	}
	for _, text := range texts {
		if len(text) < 8 {
			a.t.Errorf("%q is too short to search for", text)
		}
		for _, form := range encoded(text) {
			if strings.Contains(log, form) {
				a.t.Errorf("audit log contains %q, as %q", text, form)
			}
		}
	}
}

// TestEncoded checks that a text is found at any position inside base64 data.
func TestEncoded(t *testing.T) {
	for shift := range 6 {
		for _, e := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
			whole := e.EncodeToString([]byte(strings.Repeat("?", shift) + auditTaskSecret + strings.Repeat("~", shift)))
			if !slices.ContainsFunc(encoded(auditTaskSecret), func(form string) bool { return strings.Contains(whole, form) }) {
				t.Errorf("%q was not found in %q", auditTaskSecret, whole)
			}
		}
	}
}

// encoded returns a text in plain form, URL-encoded, and in base64 for every
// position at which it can begin in a longer text.
func encoded(text string) []string {
	out := []string{text, url.QueryEscape(text), url.PathEscape(text)}
	for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for shift := range 3 {
			// The characters at both ends depend on the neighbouring bytes.
			whole := e.EncodeToString(append(make([]byte, shift), text...))
			out = append(out, whole[[]int{0, 2, 3}[shift]:len(whole)-len(whole)%4])
		}
	}
	return out
}
