package portal_test

import (
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestReplay sends the requests of the transcripts in order to a portal with
// the same entities, and checks that the responses are equal except for the
// listed differences.
func TestReplay(t *testing.T) {
	all := readTranscripts(t)
	onBoth(t, func(t *testing.T, database map[string]any) { replayAll(t, all, database) })
}

func replayAll(t *testing.T, all []*transcript, database map[string]any) {
	t.Helper()
	served := serveFiles(t, oracleFiles(t))
	w := start(t, setup{allow: []string{served.host}, database: database, sections: map[string]any{
		"kubernetes": map[string]any{
			"serviceLocatorMethod": map[string]any{"type": "multiTenant"},
			"clusterLocatorMethods": []any{map[string]any{"type": "config", "clusters": []any{
				map[string]any{"name": "fake", "url": "https://127.0.0.1:1", "serviceAccountToken": clusterToken},
			}}},
		},
		"permission": map[string]any{"rules": []any{
			map[string]any{"who": []string{"guest"}, "permissions": []string{"scaffolder.*"}, "result": "allow"},
		}},
	}})
	r := &replay{world: w, files: served, byName: map[string]*transcript{}, ours: map[string]string{}}
	for _, tr := range all {
		r.byName[tr.name] = tr
	}
	r.pushProviderEntities()
	// Backstage had registered a location and not yet read it. The portal reads
	// it at once, so the query is sent before the registration.
	const early, before = "27-location-by-entity", "15-locations-post-url"
	var agreed, differ int
	used := map[string]bool{}
	for _, tr := range r.order(all, early, before) {
		d, known := differences[tr.name]
		used[tr.name] = true
		if d.unsent {
			differ++
			continue
		}
		problems := r.play(tr)
		if !known {
			if len(problems) == 0 {
				agreed++
			}
			for _, p := range problems {
				t.Errorf("%s: %s", tr.name, p)
			}
			continue
		}
		differ++
		if len(problems) == 0 {
			t.Errorf("%s: responses are equal, so the listed difference is obsolete: %s", tr.name, d.reason)
		}
		for _, p := range r.unexpected(tr, d) {
			t.Errorf("%s: %s", tr.name, p)
		}
	}
	for name := range differences {
		if !used[name] {
			t.Errorf("%s: difference has no transcript", name)
		}
	}
	t.Logf("%d transcripts: %d responses are equal and %d differ on purpose", len(all), agreed, differ)
}

// replay is the state during the replay.
type replay struct {
	*world
	files  *files
	byName map[string]*transcript
	// ours maps recorded values to the values used here.
	ours map[string]string
	last reply
}

// order moves one transcript before another.
func (r *replay) order(all []*transcript, early, before string) []*transcript {
	all = slices.Clone(all)
	all = slices.DeleteFunc(all, func(tr *transcript) bool { return tr.name == early })
	at := slices.IndexFunc(all, func(tr *transcript) bool { return tr.name == before })
	if at < 0 || r.byName[early] == nil {
		r.t.Fatalf("transcripts %s and %s do not exist", early, before)
	}
	return slices.Insert(all, at, r.byName[early])
}

// peerAPI is an API entity as peers pushes it.
const peerAPI = `{"apiVersion":"backstage.io/v1alpha1","kind":"API","metadata":{"name":%q,"annotations":{` +
	`"backstage.io/managed-by-location":"cluster origin: fake","backstage.io/managed-by-origin-location":"cluster origin: fake"}},` +
	`"spec":{"type":"openapi","lifecycle":"production","owner":"platform-team","system":"kubernetes-auto-ingested","definition":"{}"}}`

// pushProviderEntities pushes the entities that a provider had added to Backstage: the APIs
// that one transcript lists, and for each a Template like the one in another
// transcript.
func (r *replay) pushProviderEntities() {
	r.t.Helper()
	var apis []struct {
		Kind     string
		Metadata struct{ Name string }
	}
	if err := json.Unmarshal(r.byName["36-entities-filter-relation"].got, &apis); err != nil {
		r.t.Fatal(err)
	}
	template := r.byName["51-by-name-peer-template"].got
	name := regexp.MustCompile(`^(\w+)-(\w+)\.(.+)--(\w+)$`)
	var lines []string
	for _, api := range apis {
		if !name.MatchString(api.Metadata.Name) {
			continue
		}
		lines = append(lines, fmt.Sprintf(peerAPI, api.Metadata.Name))
		var doc map[string]any
		if err := json.Unmarshal(template, &doc); err != nil {
			r.t.Fatal(err)
		}
		delete(doc, "relations")
		metadata := doc["metadata"].(map[string]any)
		delete(metadata, "uid")
		delete(metadata, "etag")
		metadata["name"] = name.ReplaceAllString(api.Metadata.Name, "${1}s.$2.$3-$4")
		line, err := json.Marshal(doc)
		if err != nil {
			r.t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	got := r.push("peer", lines...)
	if got.Added != 40 || len(got.Refused) > 0 {
		r.t.Fatalf("push returned %+v, want twenty APIs and twenty Templates added", got)
	}
}

// play sends the request of a transcript and returns how the response differs.
func (r *replay) play(tr *transcript) []string {
	r.t.Helper()
	r.prepare(tr)
	x := call{method: tr.method, path: r.replaceRecorded(tr.path), body: r.replaceRecorded(tr.body), token: noToken, header: tr.header.Clone()}
	if a := tr.header.Get("Authorization"); a != "" {
		x.header.Set("Authorization", r.replaceRecorded(r.authorization(tr, a)))
	}
	if request := described[tr.name]; request != nil {
		x = request(r)
	}
	r.last = r.send(x)
	r.last.body = asJSON(r.t, r.last.header, r.last.body)
	r.recordIDs(tr)
	return r.compare(tr)
}

// theTask is the id of the task in the transcripts.
const theTask = "5e968cda-eb64-480c-9f1a-8d2d805eab1d"

// unreadable is the id of a location in the transcripts that cannot be read.
const unreadable = "aad9b86d-fd75-4376-a2f3-374719b060ff"

// prepare waits for or creates what a request depends on.
func (r *replay) prepare(tr *transcript) {
	r.t.Helper()
	switch tr.name {
	case "24-locations-get":
		r.problem(r.ours[unreadable])
	case "29-entities-filter-template":
		r.until("the locations are read", func() bool {
			return r.exists("template/default/demo-template") && r.exists("component/default/demo-service") &&
				r.exists("location/default/"+generated("https://nohost.invalid/x.yaml"))
		})
		var demo struct{ Metadata struct{ UID string } }
		r.get("/api/catalog/entities/by-name/component/default/demo-service", &demo)
		r.ours["9651c928-ef1b-4618-878a-d6f33cf55bb4"] = demo.Metadata.UID
	case "42-entities-after":
		// The previous page has the link to the next one.
		link := r.last.header.Get("Link")
		after := regexp.MustCompile(`after=([^&>]+)`).FindStringSubmatch(link)
		if after == nil {
			r.t.Fatalf("link %q has no next page", link)
		}
		r.ours[queryOf(tr.path).Get("after")] = unescape(r.t, after[1])
	case "56-by-query-cursor":
		var page struct{ PageInfo struct{ NextCursor string } }
		r.get("/api/catalog/entities/by-query?limit=2&fields=kind&orderField=metadata.name,asc", &page)
		r.ours[queryOf(tr.path).Get("cursor")] = page.PageInfo.NextCursor
	case "86-scaffolder-tasks":
		r.until("the task is over", func() bool {
			var task struct{ Status string }
			r.get("/api/scaffolder/v2/tasks/"+r.ours[theTask], &task)
			return task.Status == "completed"
		})
	}
}

// recordIDs records the ids that differ here.
func (r *replay) recordIDs(tr *transcript) {
	var was, is struct {
		ID       string
		Location struct{ ID string }
	}
	if tr.status != http.StatusCreated || json.Unmarshal(tr.got, &was) != nil || json.Unmarshal(r.last.body, &is) != nil {
		return
	}
	if !strings.HasPrefix(was.Location.ID, "url:") && is.Location.ID != "" {
		r.ours[was.Location.ID] = is.Location.ID
	}
	if was.ID == theTask {
		r.ours[was.ID] = is.ID
	}
}

// described has the requests that a transcript describes in prose.
var described = map[string]func(*replay) call{
	"110-expired-valid-signature": func(r *replay) call {
		// Start another replica, whose tokens are short-lived.
		other := start(r.t, setup{base: r.base, database: r.database, lifetime: time.Second})
		token := other.guest()
		r.until("the token has expired", func() bool {
			return r.send(call{path: "/api/catalog/entities?limit=1", token: token}).status != http.StatusOK
		})
		return call{path: "/api/catalog/entities?limit=1", token: token}
	},
}

// asGuest has transcripts that only hold for users, in addition to those of the
// scaffolder: Backstage was recorded with the token of a guest who was allowed
// everything.
var asGuest = map[string]bool{"96-permission-authorize-items": true}

// authorization returns the Authorization header for a transcript.
func (r *replay) authorization(tr *transcript, recorded string) string {
	r.t.Helper()
	switch {
	case strings.Contains(recorded, "<TOKEN>") && (asGuest[tr.name] || strings.HasPrefix(tr.path, "/api/scaffolder/")):
		return "Bearer " + r.guest()
	case strings.Contains(recorded, "<TOKEN>"):
		return "Bearer " + theToken
	case strings.Contains(recorded, "<JWT>"):
		// The token is forged or tampered with: its signature does not match.
		token := r.guest()
		at := strings.LastIndexByte(token, '.') + 1
		return "Bearer " + token[:at] + strings.Repeat("A", len(token)-at)
	default:
		return recorded
	}
}

// replaceRecorded replaces recorded values in a text by the values used here.
func (r *replay) replaceRecorded(text string) string {
	for was, is := range r.ours {
		text = strings.ReplaceAll(text, was, is)
		text = strings.ReplaceAll(text, url.QueryEscape(was), url.QueryEscape(is))
	}
	return strings.ReplaceAll(text, recordedFiles, r.files.base)
}

// recorded replaces values used here in a text by the recorded ones.
func (r *replay) recorded(text string) string {
	for was, is := range r.ours {
		text = strings.ReplaceAll(text, is, was)
		text = strings.ReplaceAll(text, url.QueryEscape(is), url.QueryEscape(was))
	}
	for _, name := range []string{"catalog-info.yaml", "template.yaml"} {
		text = strings.ReplaceAll(text, generated(r.files.base+"/"+name), generated(recordedFiles+"/"+name))
	}
	return strings.NewReplacer(r.files.base, recordedFiles, r.base, recorded).Replace(text)
}

// generated returns the name of the Location entity of a URL.
func generated(target string) string {
	sum := sha1.Sum([]byte("url:" + target))
	return "generated-" + hex.EncodeToString(sum[:])
}

// compare returns how the last response differs from that of a transcript.
func (r *replay) compare(tr *transcript) []string {
	r.t.Helper()
	var all []string
	if r.last.status != tr.status {
		all = append(all, fmt.Sprintf("status %d, want %d: %s", r.last.status, tr.status, brief(r.last.body)))
	}
	was := anonymous(tr, decode(r.t, tr.got))
	is := anonymous(tr, decode(r.t, []byte(r.recorded(string(r.last.body)))))
	if diff := cmp.Diff(shape(was), shape(is)); diff != "" {
		all = append(all, "shapes differ (-original +ours):\n"+diff)
	} else if diff := cmp.Diff(was, is); diff != "" {
		all = append(all, "values differ (-original +ours):\n"+diff)
	}
	if diff := cmp.Diff(r.headers(tr.answer), r.headers(r.last.header)); diff != "" {
		all = append(all, "headers differ (-original +ours):\n"+diff)
	}
	return all
}

// headers returns the headers that clients and browsers use, without values
// that always differ.
func (r *replay) headers(h http.Header) map[string]string {
	out := map[string]string{}
	for _, key := range []string{
		"Content-Type", "Link", "X-Content-Type-Options", "X-Frame-Options",
		"Access-Control-Allow-Origin", "Access-Control-Allow-Credentials", "Access-Control-Allow-Methods",
	} {
		if value := h.Get(key); value != "" {
			out[key] = value
		}
	}
	if kind, _, err := mime.ParseMediaType(out["Content-Type"]); err == nil {
		out["Content-Type"] = kind
	}
	if link, ok := out["Link"]; ok {
		// The escaping of the URL does not matter.
		out["Link"] = unescape(r.t, regexp.MustCompile(`after=[^&>]+`).ReplaceAllString(link, "after=…"))
	}
	return out
}

// unordered has transcripts of lists that Backstage returns unordered, or
// ordered by random ids.
var unordered = map[string]bool{
	"14-locations-post-dryrun": true, "17-locations-post-dryrun-exists": true,
	"24-locations-get": true, "28-location-by-query": true, "36-entities-filter-relation": true,
}

// random are keys whose values always differ.
var random = map[string]bool{
	"uid": true, "etag": true, "token": true, "kid": true, "x": true, "y": true, "nextCursor": true, "prevCursor": true, "expiresInSeconds": true,
	"createdAt": true, "lastHeartbeatAt": true,
}

// anonymous returns a value without the parts that always differ.
func anonymous(tr *transcript, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := maps.Clone(v)
		for key := range out {
			if out[key] = anonymous(tr, out[key]); random[key] {
				out[key] = "…"
			}
		}
		return out
	case []any:
		out := slices.Clone(v)
		for i := range out {
			out[i] = anonymous(tr, out[i])
		}
		if unordered[tr.name] {
			slices.SortFunc(out, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
		return out
	default:
		return v
	}
}

func queryOf(path string) url.Values {
	_, query, _ := strings.Cut(path, "?")
	values, _ := url.ParseQuery(query)
	return values
}

func unescape(t *testing.T, s string) string {
	t.Helper()
	out, err := url.QueryUnescape(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
