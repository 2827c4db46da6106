package provider

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/spool"
	"example.dev/ingestor/test/cost"
)

// TestTeamsOnly lets a team change what it owns, as docs/portal.md has it, and
// tries the ways around that.
func TestTeamsOnly(t *testing.T) {
	site := newSite(t)
	site.set("/a.yaml", component("theirs", "team-b"))
	site.set("/b.yaml", component("more", "team-b"))
	f := newHarness(t, "", readingOf(site.URL, t.TempDir()),
		config.PermissionRule{Who: []string{"user:default/platform"}, Allow: true},
		config.PermissionRule{Permissions: []string{permission.EntityCreate, permission.EntityDelete}, Owners: []string{"own"}, Allow: true},
		config.PermissionRule{Permissions: []string{permission.EntityCreate, permission.EntityDelete}},
	)
	id := f.register("url", site.URL+"/a.yaml")
	if got, res := f.push("PUT", all, line("pushed", "team-b")); got.Added != 1 {
		t.Fatal(res.body)
	}
	f.untilRefs("all of the other team", "component:default/pushed", "component:default/theirs")
	body := fmt.Sprintf(`{"type":"url","target":%q}`, site.URL+"/b.yaml")
	cases := map[string]struct{ reason, method, path, body, want string }{
		"Register": {
			"a location brings what others own", "POST", "/locations", body,
			"catalog.location.create: who does not have catalog.entity.create for all entities needs a rule for it",
		},
		"Change": {
			"what the location had would go", "PUT", "/locations/" + id, body,
			"catalog.location.create: who does not have catalog.entity.create for all entities needs a rule for it",
		},
		"Unregister": {
			"and so it would", "DELETE", "/locations/" + id, "",
			"catalog.location.delete: who does not have catalog.entity.delete for all entities needs a rule for it",
		},
		"Provider": {
			"what a provider has is not theirs either", "DELETE", "/providers/ci", "",
			"catalog.ingestion.manage: who does not have catalog.entity.delete for all entities needs a rule for it",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			res := f.do(tc.method, tc.path, tc.body, "Authorization", "team-a")
			if got, want := errorOf(t, res), "403 NotAllowedError: Missing permission "+tc.want; got != want {
				t.Errorf("%s: got %s, want %s", tc.reason, got, want)
			}
		})
	}
	if diff := cmp.Diff([]string{"component:default/pushed", "component:default/theirs"}, f.refs()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestChangeRemoves wants who gives a location another address to have the
// permission to remove what was read from the old one.
func TestChangeRemoves(t *testing.T) {
	site := newSite(t)
	site.set("/a.yaml", component("a", "x"))
	f := newHarness(t, "", readingOf(site.URL, t.TempDir()), config.PermissionRule{Permissions: []string{permission.LocationDelete}})
	path := "/locations/" + f.register("url", site.URL+"/a.yaml")
	for target, want := range map[string]int{"/a.yaml": http.StatusOK, "/b.yaml": http.StatusForbidden} {
		if res := f.do(http.MethodPut, path, fmt.Sprintf(`{"type":"url","target":%q}`, site.URL+target)); res.status != want {
			t.Errorf("%s: got %d %s", target, res.status, res.body)
		}
	}
}

// TestPushRemoves wants a push to remove nothing that its caller may not
// remove.
func TestPushRemoves(t *testing.T) {
	f := newHarness(t, "", Options{}, config.PermissionRule{Who: []string{"user:default/x"}, Permissions: []string{permission.EntityDelete}})
	if got, res := f.push("PUT", all, line("a", "x")+line("b", "x")); got.Added != 2 {
		t.Fatal(res.body)
	}
	got, _ := f.push("POST", delta, `{"remove":"component:default/a"}`, "Authorization", "x")
	want := report{Refused: []refusal{{0, 1, "component:default/a", "missing permission catalog.entity.delete for component:default/a"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a delta (-want +got):\n%s", diff)
	}
	_, res := f.push("PUT", all, line("b", "x"), "Authorization", "x")
	if got, want := errorOf(t, res), "403 NotAllowedError: Missing permission catalog.entity.delete for component:default/a, which this push would remove"; got != want {
		t.Errorf("a full push: got %s, want %s", got, want)
	}
	if got, _ := f.push("PUT", all, line("a", "y")+line("b", "x")+line("c", "x"), "Authorization", "x"); got.Added != 1 || got.Updated != 1 {
		t.Errorf("a push that removes nothing: %+v", got)
	}
}

// bomb returns a short entity that is a long one when its aliases are written
// out.
func bomb(name string) string {
	return "---\napiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: { name: " + name + " }\nspec:\n" +
		"  type: service\n  lifecycle: production\n  owner: x\n" +
		"  a: &a [" + strings.Repeat("1, ", 50) + "]\n  b: &b [" + strings.Repeat("*a, ", 60) + "]\n  c: [" + strings.Repeat("*b, ", 50) + "]\n"
}

// TestPushNothing pushes bodies that hold nothing, or next to nothing, many
// times.
func TestPushNothing(t *testing.T) {
	f := newHarness(t, "", Options{MaxPush: defaultMaxPush})
	const (
		unpacked  = 8 << 20
		documents = "there are more than 300000 documents, empty ones included; push it in several deltas"
		lines     = "it has more than 1000000 empty lines; remove them"
		comments  = "there are more than 1000000 empty lines and comments; push it in several deltas"
		entities  = "it has more entities than a compressed body of its size; push it uncompressed"
	)
	long := "---\nkind: Component\nspec:\n" + strings.Repeat("  - [b, c]\n", 500)
	cases := map[string]struct {
		reason, media, text string
		plain               bool
		want                string
	}{
		"Markers":       {"documents may be empty", mediaYAML, "---\n", false, documents},
		"MarkersPlain":  {"compressed or not", mediaYAML, "---\n", true, documents},
		"Ends":          {"they may end and not begin", mediaYAML, "...\n", false, documents},
		"Nulls":         {"or be null", mediaYAML, "--- ~\n", true, documents},
		"Comments":      {"or hold comments", mediaYAML, "#\n", false, "it unpacks to more than 100 times its size; push it uncompressed"},
		"CommentsPlain": {"however many", mediaYAML, "#\n", true, comments},
		"Lines":         {"lines may be empty", mediaNDJSON, "\n", false, lines},
		"LinesPlain":    {"and hold blanks", mediaNDJSON, " \n", true, lines},
		"Entities":      {"entities may be the same ones", mediaYAML, "---\nkind: Component\n", false, entities},
		"EntitiesLines": {"on a line each", mediaNDJSON, "{\"kind\":\"Component\"}\n", false, entities},
		"Long":          {"and be long", mediaYAML, long, false, "it unpacks to more than 100 times its size; push it uncompressed"},
		"LongLines":     {"whatever they hold", mediaNDJSON, `{"kind":"` + strings.Repeat("x", 10_000) + "\"}\n", false, "it unpacks to more than 250 times its size; push it uncompressed"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			body := strings.Repeat(tc.text, unpacked/len(tc.text))
			headers := []string{"Content-Type", tc.media}
			if !tc.plain {
				body = zipped(t, body)
				headers = append(headers, "Content-Encoding", "gzip")
			}
			var res response
			took := cost.Within(t, cost.Cost{CPU: 5 * time.Second, Memory: 256 << 20}, func() {
				res = f.do(http.MethodPut, "/providers/ci/entities", body, headers...)
			})
			t.Logf("%d bytes take %v", len(body), took)
			if got, want := errorOf(t, res), "413 PayloadTooLargeError: cannot read the body: "+tc.want; got != want {
				t.Errorf("%s: got %s, want %s", tc.reason, got, want)
			}
		})
	}
}

// TestPushSimilar pushes entities that differ in their names, which compress
// well.
func TestPushSimilar(t *testing.T) {
	for _, words := range []int{0, 1, 10, 100, 1000} {
		var lines, about strings.Builder
		for i := range words {
			fmt.Fprintf(&about, "word %d of it ", i*i*i)
		}
		entities := 20_000_000 / (300 + about.Len())
		for i := range entities {
			lines.WriteString(strings.Replace(line(fmt.Sprintf("c-%06d", i), "x"), `"spec":`, `"about":"`+about.String()+`","spec":`, 1))
		}
		body := zipped(t, lines.String())
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/", strings.NewReader(body))
		r.Header.Set("Content-Type", mediaNDJSON)
		r.Header.Set("Content-Encoding", "gzip")
		got, err := readPush(r, defaultMaxPush, false, spool.New(defaultMaxPush), nil)
		t.Logf("%d entities, %d bytes each, unpacked %d times as many", entities, len(body)/entities, lines.Len()/len(body))
		if err != nil || len(got) != entities {
			t.Errorf("%d bytes: got %d entities, %v, want %d", len(body), len(got), err, entities)
		}
	}
}

// TestAliases brings little text that has millions of values.
func TestAliases(t *testing.T) {
	var body string
	for i := range 20 {
		body += bomb(fmt.Sprintf("c%d", i))
	}
	site := newSite(t)
	site.set("/a.yaml", body)
	f := newHarness(t, "", readingOf(site.URL, t.TempDir()))
	res := f.do(http.MethodPut, "/providers/ci/entities", body, "Content-Type", mediaYAML)
	if got := errorOf(t, res); !strings.Contains(got, "400 InputError: The body cannot be read, and nothing was changed: line") || !strings.Contains(got, "aliases add more than") {
		t.Errorf("a push: got %s", got)
	}
	id := f.register("url", site.URL+"/a.yaml")
	f.until("the location's problem", func() bool { return strings.Contains(f.location(id).Error, "aliases add more than") })
}
