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
	"example.dev/ingestor/test/cost"
)

// TestTeamsOnly lets a team change its own entities, as in docs/sign-in.md, and
// tries to bypass that.
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
	f.untilRefs("entities of the other team", "component:default/pushed", "component:default/theirs")
	body := fmt.Sprintf(`{"type":"url","target":%q}`, site.URL+"/b.yaml")
	cases := map[string]struct{ reason, method, path, body, want string }{
		"Register": {
			"A location can add entities of others.", "POST", "/locations", body,
			"catalog.location.create: requires a rule, because you do not have catalog.entity.create for all entities",
		},
		"Change": {
			"A changed location can remove entities of others.", "PUT", "/locations/" + id, body,
			"catalog.location.create: requires a rule, because you do not have catalog.entity.create for all entities",
		},
		"Unregister": {
			"A removed location removes entities of others.", "DELETE", "/locations/" + id, "",
			"catalog.location.delete: requires a rule, because you do not have catalog.entity.delete for all entities",
		},
		"Provider": {
			"A removed provider removes entities of others.", "DELETE", "/providers/ci", "",
			"catalog.ingestion.manage: requires a rule, because you do not have catalog.entity.delete for all entities",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			res := f.do(tc.method, tc.path, tc.body, "Authorization", "team-a")
			if got, want := errorOf(t, res), "403 NotAllowedError: Missing permission "+tc.want; got != want {
				t.Errorf("%s: response is %s, want %s", tc.reason, got, want)
			}
		})
	}
	if diff := cmp.Diff([]string{"component:default/pushed", "component:default/theirs"}, f.refs()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestChangeRemoves checks that a caller who changes the target of a location
// needs permission to remove the entities of the old one.
func TestChangeRemoves(t *testing.T) {
	site := newSite(t)
	site.set("/a.yaml", component("a", "x"))
	f := newHarness(t, "", readingOf(site.URL, t.TempDir()), config.PermissionRule{Permissions: []string{permission.LocationDelete}})
	path := "/locations/" + f.register("url", site.URL+"/a.yaml")
	for target, want := range map[string]int{"/a.yaml": http.StatusOK, "/b.yaml": http.StatusForbidden} {
		if res := f.do(http.MethodPut, path, fmt.Sprintf(`{"type":"url","target":%q}`, site.URL+target)); res.status != want {
			t.Errorf("PUT of %s returned %d %s", target, res.status, res.body)
		}
	}
}

// TestPushRemoves checks that a push removes no entity that its caller may not
// remove.
func TestPushRemoves(t *testing.T) {
	f := newHarness(t, "", Options{}, config.PermissionRule{Who: []string{"user:default/x"}, Permissions: []string{permission.EntityDelete}})
	if got, res := f.push("PUT", all, line("a", "x")+line("b", "x")); got.Added != 2 {
		t.Fatal(res.body)
	}
	got, _ := f.push("POST", delta, `{"remove":"component:default/a"}`, "Authorization", "x")
	want := report{Refused: []refusal{{0, 1, "component:default/a", "missing permission catalog.entity.delete for component:default/a"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("report of a delta (-want +got):\n%s", diff)
	}
	_, res := f.push("PUT", all, line("b", "x"), "Authorization", "x")
	if got, want := errorOf(t, res), "403 NotAllowedError: Missing permission catalog.entity.delete for component:default/a, which this push would remove"; got != want {
		t.Errorf("full push returned %s, want %s", got, want)
	}
	if got, _ := f.push("PUT", all, line("a", "y")+line("b", "x")+line("c", "x"), "Authorization", "x"); got.Added != 1 || got.Updated != 1 {
		t.Errorf("push without removals returned %+v", got)
	}
}

// bomb returns a short entity that expands to a long one through its aliases.
func bomb(name string) string {
	return "---\napiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: { name: " + name + " }\nspec:\n" +
		"  type: service\n  lifecycle: production\n  owner: x\n" +
		"  a: &a [" + strings.Repeat("1, ", 50) + "]\n  b: &b [" + strings.Repeat("*a, ", 60) + "]\n  c: [" + strings.Repeat("*b, ", 50) + "]\n"
}

// TestPushNothing pushes bodies with many empty or nearly empty documents.
func TestPushNothing(t *testing.T) {
	f := newHarness(t, "", Options{MaxPush: defaultMaxPush})
	const (
		unpacked  = 8 << 20
		documents = "input has more than 300000 documents, including empty ones; push it in several deltas"
		lines     = "more than 1000000 empty lines; remove them"
		comments  = "input has more than 1000000 empty lines and comments; push it in several deltas"
		entities  = "more entities than a compressed body of its size may have; push it uncompressed"
	)
	long := "---\nkind: Component\nspec:\n" + strings.Repeat("  - [b, c]\n", 500)
	cases := map[string]struct {
		reason, media, text string
		plain               bool
		want                string
	}{
		"Markers":       {"The number of empty documents is limited.", mediaYAML, "---\n", false, documents},
		"MarkersPlain":  {"The number of empty documents is limited in a body that compresses well.", mediaYAML, "---\n", true, documents},
		"Ends":          {"The number of document ends is limited.", mediaYAML, "...\n", false, documents},
		"Nulls":         {"The number of null documents is limited.", mediaYAML, "--- ~\n", true, documents},
		"Comments":      {"The compression ratio of comments is limited.", mediaYAML, "#\n", false, "it decompresses to more than 100 times its size; push it uncompressed"},
		"CommentsPlain": {"The number of comment lines is limited.", mediaYAML, "#\n", true, comments},
		"Lines":         {"The number of empty lines is limited.", mediaNDJSON, "\n", false, lines},
		"LinesPlain":    {"The number of blank lines is limited.", mediaNDJSON, " \n", true, lines},
		"Entities":      {"The number of entities is limited by the compressed size.", mediaYAML, "---\nkind: Component\n", false, entities},
		"EntitiesLines": {"The number of lines is limited by the compressed size.", mediaNDJSON, "{\"kind\":\"Component\"}\n", false, entities},
		"Long":          {"The compression ratio of long entities is limited.", mediaYAML, long, false, "it decompresses to more than 100 times its size; push it uncompressed"},
		"LongLines":     {"The compression ratio of long lines is limited.", mediaNDJSON, `{"kind":"` + strings.Repeat("x", 10_000) + "\"}\n", false, "it decompresses to more than 250 times its size; push it uncompressed"},
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
			t.Logf("%d bytes took %v", len(body), took)
			if got, want := errorOf(t, res), "413 PayloadTooLargeError: cannot read the body: "+tc.want; got != want {
				t.Errorf("%s: response is %s, want %s", tc.reason, got, want)
			}
		})
	}
}

// TestPushSimilar pushes entities that differ only in their names, which
// compress well.
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
		got, err := held(func(h pushHandler) error { return readPush(r, defaultMaxPush, false, h) })
		t.Logf("%d entities with %d bytes each, a compression ratio of %d", entities, len(body)/entities, lines.Len()/len(body))
		if err != nil || len(got) != entities {
			t.Errorf("%d bytes gave %d entities, %v; want %d", len(body), len(got), err, entities)
		}
	}
}

// TestAliases reads short texts that expand to millions of values.
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
		t.Errorf("push returned %s", got)
	}
	id := f.register("url", site.URL+"/a.yaml")
	f.until("the location's problem", func() bool { return strings.Contains(f.location(id).Error, "aliases add more than") })
}
