package catalog

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/config"
)

func TestRecent(t *testing.T) {
	hide := config.PermissionRule{Who: []string{"group:default/others"}, Permissions: []string{"catalog.entity.read"}, Namespaces: []string{"hidden"}}
	w := newEmptyWorld(t, hide)
	now := time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)
	w.store.DB.Now = func() time.Time { return now }
	w.put(entities)
	now = now.Add(time.Hour)
	w.put(`
apiVersion: v1
kind: Resource
metadata: { name: secret-db, namespace: hidden }
spec: { type: x, owner: y }
---
apiVersion: portal.io/v1alpha1
kind: System
metadata: { name: shop, title: The shop, description: sells, tags: [retail] }
spec: { owner: platform, readiness: not ready }
`)
	now = now.Add(time.Minute)
	const (
		hidden = `{"entityRef":"resource:hidden/secret-db","kind":"Resource","type":"x","title":"secret-db","change":"created","at":"2026-01-02T04:04:05.678Z"}`
		shop   = `{"entityRef":"system:default/shop","kind":"System","type":"other","tags":["retail"],"title":"The shop","description":"sells","change":"changed","at":"2026-01-02T04:04:05.678Z","readiness":"not ready"}`
		api    = `{"entityRef":"api:default/demo-api","kind":"API","type":"openapi","title":"demo-api","change":"created","at":"2026-01-02T03:04:05.678Z"}`
	)
	cases := map[string]struct {
		reason, who, params string
		want                string
	}{
		"Latest":  {"The latest changes are first.", "platform", "limit=3", hidden + "," + shop + "," + api},
		"Visible": {"A caller sees what they may read.", "others", "limit=2", shop + "," + api},
		"Guest":   {"A guest too.", "guest", "limit=1", hidden},
		"Since":   {"Earlier changes are left out.", "platform", "since=2026-01-02T04:00:00Z", hidden + "," + shop},
		"Zone":    {"A time may have a zone.", "platform", "since=" + url.QueryEscape("2026-01-02T05:00:00+01:00"), hidden + "," + shop},
		"Future":  {"A time may be in the future.", "platform", "since=9999-12-31T23:59:59Z", ""},
		"Query":   {"A query selects.", "platform", "limit=1&query=" + url.QueryEscape(`{"$not":{"kind":"Resource"}}`), shop},
		"Unseen":  {"A query finds nothing that the caller may not read.", "others", "query=" + url.QueryEscape(`{"kind":"Resource","metadata.namespace":"hidden"}`), ""},
		"None":    {"A limit may be zero.", "platform", "limit=0", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w.t = t
			if diff := cmp.Diff(`{"items":[`+tc.want+`]}`, w.get("/recent?"+tc.params, "Authorization", tc.who).body); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	w.t = t
	all := w.get("/recent?since=0001-01-01T00:00:00Z&limit=100")
	if n := strings.Count(all.body, "entityRef"); all.status != 200 || n != 7 || strings.Contains(all.body, "location:") {
		t.Errorf("%d changes, want 7 without the Location: %s", n, all.body)
	}
	if r := w.get("/recent?since=0001-01-01T00:00:00Z&limit=100", "If-None-Match", all.header.Get("Etag")); r.status != 304 {
		t.Errorf("unchanged list is %d", r.status)
	}
	now = now.Add(24 * time.Hour)
	if r := w.get("/recent"); r.body != `{"items":[]}` {
		t.Errorf("changes of the last day are %s", r.body)
	}
	for name, params := range map[string]string{
		"a limit that is too high": "limit=101", "a negative limit": "limit=-1", "two limits": "limit=1&limit=2", "no time": "since=yesterday", "an empty time": "since=",
		"a time with a NUL": "since=2026-01-02T04:00:00Z%00", "no query": "query=x", "an unknown operator": "query=" + url.QueryEscape(`{"kind":{"$like":"x"}}`), "two queries": "query={}&query={}",
		"two times": "since=2026-01-02T04:00:00Z&since=2026-01-02T04:00:00Z", "a long time": "since=" + strings.Repeat("2", 5000),
	} {
		if r := w.get("/recent?" + params); r.status != 400 || len(r.body) > 6000 || !strings.Contains(r.body, "InputError") {
			t.Errorf("%s is answered with %d: %.200s", name, r.status, r.body)
		}
	}
}
