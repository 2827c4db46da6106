package catalog

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/internal/config"
)

func TestFeed(t *testing.T) {
	w := newWorld(t)
	got := w.get("/feed.yaml?filter=kind=component&filter=kind=location")
	want := `---
apiVersion: backstage.io/v1alpha1
kind: Component
metadata:
  name: Demo-Service
  title: Demo Service
  description: answers
  labels:
    tier: backend
  tags:
    - go
    - demo
  annotations:
    example.org/kept: "yes"
  namespace: default
spec:
  type: service
  lifecycle: production
  owner: platform
  system: shop
  providesApis:
    - demo-api
---
apiVersion: backstage.io/v1alpha1
kind: Component
metadata:
  name: site
  namespace: web
  title: Shop
spec:
  type: website
  lifecycle: production
  owner: group:default/other
`
	if diff := cmp.Diff(want, got.body); diff != "" {
		t.Errorf("feed: -want +got:\n%s", diff)
	}
	if ct := got.header.Get("Content-Type"); ct != "application/yaml; charset=utf-8" {
		t.Errorf("Content-Type is %q", ct)
	}
	if none := w.get("/feed.yaml?filter=kind=nosuch"); none.status != http.StatusOK || none.body != "" {
		t.Errorf("empty feed is %d %q", none.status, none.body)
	}
}

func TestFeedWords(t *testing.T) {
	cases := map[string]struct {
		reason string
		path   string
		status int
		// want are the apiVersions in the feed.
		want string
	}{
		"Default":  {"The feed has one vocabulary, that of Backstage.", "/feed.ndjson?filter=kind=component", 200, "backstage.io/v1alpha1 backstage.io/v1alpha1"},
		"Upstream": {"A reader can ask for it.", "/feed.ndjson?filter=kind=component&words=upstream", 200, "backstage.io/v1alpha1 backstage.io/v1alpha1"},
		"Portal":   {"A reader can ask for the neutral vocabulary.", "/feed.ndjson?filter=kind=component&words=portal", 200, "portal.io/v1alpha1 portal.io/v1alpha1"},
		"Template": {"Templates have a group of their own.", "/feed.ndjson?filter=kind=template", 200, "scaffolder.backstage.io/v1beta3"},
		"Auto":     {"The entities of a feed cannot have a vocabulary each.", "/feed.yaml?words=auto", 400, `request/query/words is "auto", but must be upstream or portal`},
		"Unknown":  {"Other vocabularies do not exist.", "/feed.yaml?words=german", 400, `request/query/words is "german", but must be upstream or portal`},
		"Twice":    {"There is one vocabulary.", "/feed.yaml?words=portal&words=upstream", 400, ""},
	}
	w := newWorld(t)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := w.get(tc.path)
			if got.status != tc.status {
				t.Fatalf("%s: %s returned %d %s", tc.reason, tc.path, got.status, got.body)
			}
			if tc.status != http.StatusOK {
				var body struct{ Error struct{ Message string } }
				if err := json.Unmarshal([]byte(got.body), &body); err != nil || !strings.Contains(body.Error.Message, tc.want) {
					t.Errorf("%s: message is %q, want %q", tc.reason, body.Error.Message, tc.want)
				}
				return
			}
			var versions []string
			for _, r := range readFeed(t, got.body).entities {
				versions = append(versions, r.APIVersion)
			}
			if diff := cmp.Diff(tc.want, strings.Join(versions, " ")); diff != "" {
				t.Errorf("%s: apiVersions (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// feedRecord is a line of a feed.
type feedRecord struct {
	Feed *struct {
		Version               int
		Mode, Words, Position string
	}
	End        *feedEnd
	Remove     string
	APIVersion string `json:"apiVersion"`
	Kind       string
	Metadata   struct{ Name, Title string }
}

// feedText is a feed as a reader sees it.
type feedText struct {
	mode, position string
	entities       []feedRecord
	removed        []string
	end            feedEnd
}

// changed describes a feed in one line: its mode, entities and removals.
func (f feedText) changed() string {
	out := f.mode + ":"
	for _, e := range f.entities {
		out += " " + e.Metadata.Name + e.Metadata.Title
	}
	for _, ref := range f.removed {
		out += " -" + ref
	}
	return out
}

func readFeed(tb testing.TB, body string) feedText {
	tb.Helper()
	var f feedText
	lines := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	for i, line := range lines {
		var r feedRecord
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			tb.Fatalf("line %d is %q: %v", i+1, line, err)
		}
		switch {
		case (r.Feed != nil) != (i == 0) || (r.End != nil) != (i == len(lines)-1):
			tb.Fatalf("line %d of %d is %q", i+1, len(lines), line)
		case r.Feed != nil:
			f.mode, f.position = r.Feed.Mode, r.Feed.Position
		case r.End != nil:
			f.end = *r.End
		case r.Remove != "":
			f.removed = append(f.removed, r.Remove)
		default:
			f.entities = append(f.entities, r)
		}
	}
	if f.end.Entities != len(f.entities) || f.end.Removed != len(f.removed) {
		tb.Errorf("the last record counts %d entities and %d removed ones, there are %d and %d", f.end.Entities, f.end.Removed, len(f.entities), len(f.removed))
	}
	return f
}

// TestFeedDelta follows a feed through changes.
func TestFeedDelta(t *testing.T) {
	w := newEmptyWorld(t)
	component := func(name, title, owner string) string {
		return fmt.Sprintf("apiVersion: portal.io/v1alpha1\nkind: Component\nmetadata: { name: %s, title: '%s' }\nspec: { type: service, lifecycle: production, owner: %s }\n---\n", name, title, owner)
	}
	at := ""
	follow := func(selected, want string) {
		t.Helper()
		got := w.get("/feed.ndjson?" + selected + "&since=" + url.QueryEscape(at))
		f := readFeed(t, got.body)
		if diff := cmp.Diff(want, f.changed()); diff != "" {
			t.Errorf("feed (-want +got):\n%s", diff)
		}
		if got.header.Get("Feed-Position") != f.position || got.header.Get("Feed-Mode") != f.mode {
			t.Errorf("headers are %q and %q, the record says %q and %q", got.header.Get("Feed-Position"), got.header.Get("Feed-Mode"), f.position, f.mode)
		}
		at = f.position
	}
	mine := "filter=" + url.QueryEscape("spec.owner=me")
	w.put(component("a", "1", "me") + component("b", "1", "me") + component("other", "1", "you"))
	follow(mine, "full: a1 b1")
	follow(mine, "delta:")
	w.put(component("a", "2", "me"))
	follow(mine, "delta: a2")
	w.put(component("b", "1", "you") + component("other", "1", "me"))
	follow(mine, "delta: other1 -component:default/b")
	if _, err := w.store.Sync(t.Context(), write.Change{Provider: "test", Remove: []string{"component:default/a"}}); err != nil {
		t.Fatal(err)
	}
	follow(mine, "delta: -component:default/a")

	t.Run("YAML", func(t *testing.T) {
		before := at
		w.put(component("a", "3", "me") + component("other", "1", "you"))
		got := w.get("/feed.yaml?" + mine + "&since=" + url.QueryEscape(before))
		if !strings.Contains(got.body, "title: \"3\"") || !strings.HasSuffix(got.body, "---\nremove: component:default/other\n") || got.header.Get("Etag") != "" {
			t.Errorf("delta with ETag %q:\n%s", got.header.Get("Etag"), got.body)
		}
	})
	at = strings.Repeat("x", 40)
	follow(mine, "full: a3")
	follow("filter=kind=component&words=portal", "full: a3 b1 other1") // The position belongs to another selection.
	for i := range 70 {
		w.put(component("a", fmt.Sprint(i), "me"))
	}
	follow("filter=kind=component&words=portal", "full: a69 b1 other1") // The log does not reach that far back.
}

// TestFeedRestricted checks that a caller who may not read everything learns no names of
// removed entities.
func TestFeedRestricted(t *testing.T) {
	w := newWorld(t, config.PermissionRule{Permissions: []string{"catalog.entity.read"}, Owners: []string{config.Own}, Allow: true}, config.PermissionRule{Permissions: []string{"catalog.entity.read"}})
	first := readFeed(t, w.do(http.MethodGet, "/feed.ndjson", "", "Authorization", "platform").body)
	if _, err := w.store.Sync(t.Context(), write.Change{Provider: "test", Remove: []string{"component:web/site"}}); err != nil {
		t.Fatal(err)
	}
	got := w.do(http.MethodGet, "/feed.ndjson?since="+url.QueryEscape(first.position), "", "Authorization", "platform")
	if f := readFeed(t, got.body); f.mode != "full" || strings.Contains(got.body, "site") || len(f.entities) == 0 {
		t.Errorf("feed is %s", got.body)
	}
}

// TestFeedOmits checks that the feed leaves out what Backstage refuses, and says so.
func TestFeedOmits(t *testing.T) {
	w := newEmptyWorld(t)
	w.put(`
apiVersion: backstage.io/v1alpha1
kind: System
metadata: { name: fine }
spec: { owner: me }
---
apiVersion: backstage.io/v1gamma
kind: System
metadata: { name: version }
spec: { owner: me }
---
apiVersion: backstage.io/v1alpha1
kind: System
metadata: { name: ownerless }
spec: {}
---
apiVersion: backstage.io/v1alpha1
kind: Starship
metadata: { name: unknown }
spec: {}
`)
	f := readFeed(t, w.get("/feed.ndjson").body)
	if diff := cmp.Diff("full: fine", f.changed()); diff != "" {
		t.Errorf("feed (-want +got):\n%s", diff)
	}
	want := []feedOmitted{
		{"system:default/ownerless", "spec.owner is missing, and kind System requires it"},
		{"system:default/version", "other portals do not know apiVersion backstage.io/v1gamma of kind System"},
	}
	if diff := cmp.Diff(want, f.end.Omitted); diff != "" || f.end.OmittedCount != 2 {
		t.Errorf("%d omitted (-want +got):\n%s", f.end.OmittedCount, diff)
	}

	// An entity that becomes invalid leaves the reader, as it would with a full feed.
	w.put("apiVersion: backstage.io/v1alpha1\nkind: System\nmetadata: { name: fine }\nspec: {}\n")
	got := readFeed(t, w.get("/feed.ndjson?since="+url.QueryEscape(f.position)).body)
	if diff := cmp.Diff("delta: -system:default/fine", got.changed()); diff != "" {
		t.Errorf("delta (-want +got):\n%s", diff)
	}
}

// TestFeedForms checks that the forms of the ingestor's Templates are such that the pages
// of Backstage can submit them, and that other Templates stay as they are.
func TestFeedForms(t *testing.T) {
	const template = `
apiVersion: scaffolder.backstage.io/v1beta3
kind: Template
metadata: { name: %s, annotations: { %s: a } }
spec:
  type: service
  owner: me
  parameters:
    - properties: { o: { type: object, required: [a], properties: { a: { type: string }, l: { type: array, items: { type: string } } } } }
  steps: [{ id: apply, action: "kubernetes:apply", input: { manifest: { spec: { o: "${{ parameters.o }}" } } } }]
---`
	w := newEmptyWorld(t)
	w.put(fmt.Sprintf(template, "made", "scaffolder.backstage.io/template-origin") + fmt.Sprintf(template, "written", "example.org/x"))
	const required, pruned = `"required":["a"]`, ` if (parameters.o.a is defined or parameters.o.l | length) else undefined`
	for path, want := range map[string]map[string]bool{"words=upstream": {"made": true, "written": false}, "words=portal": {"made": false, "written": false}} {
		seen := 0
		for line := range strings.Lines(w.get("/feed.ndjson?" + path).body) {
			for name, changed := range want {
				if !strings.Contains(line, `"name":"`+name+`"`) {
					continue
				}
				seen++
				if strings.Contains(line, required) == changed || strings.Contains(line, pruned) != changed {
					t.Errorf("%s: Template %s is changed: want %t\n%s", path, name, changed, line)
				}
			}
		}
		if seen != len(want) {
			t.Errorf("%s: %d Templates, want %d", path, seen, len(want))
		}
	}
}
