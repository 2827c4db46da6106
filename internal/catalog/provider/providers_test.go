package provider

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/internal/spool"
)

// line returns a Component as a line of a push.
func line(name, owner string) string {
	return fmt.Sprintf(`{"apiVersion":"portal.io/v1alpha1","kind":"Component","metadata":{"name":%q},"spec":{"type":"service","lifecycle":"x","owner":%q}}`+"\n", name, owner)
}

// push sends a push and returns the report.
func (f *harness) push(method, path, body string, more ...string) (report, response) {
	f.t.Helper()
	res := f.do(method, "/providers/"+path, body, append([]string{"Content-Type", mediaNDJSON}, more...)...)
	var got report
	if err := json.Unmarshal([]byte(res.body), &got); err != nil {
		f.t.Fatalf("response is %d %s: %v", res.status, res.body, err)
	}
	return got, res
}

const (
	all   = "ci/entities"
	delta = "ci/delta"
)

// TestPushOfUnsafeLinks checks that entities with links that a browser would
// execute are refused.
func TestPushOfUnsafeLinks(t *testing.T) {
	f := newHarness(t, "", Options{})
	body := strings.Replace(line("a", "x"), `"name":"a"`, `"name":"a","links":[{"url":"https://a"},{"url":"java\tscript:alert(1)"}]`, 1) +
		strings.Replace(line("b", "x"), `"name":"b"`, `"name":"b","links":[{"url":"DATA:text/html,x"}]`, 1) +
		strings.Replace(line("c", "x"), `"name":"c"`, `"name":"c","annotations":{"backstage.io/view-url":"vbscript:x"}`, 1) +
		strings.Replace(line("d", "x"), `"name":"d"`, `"name":"d","links":[{"url":"mailto:d@example.com"}]`, 1)
	got, _ := f.push("PUT", all, body)
	if got.Added != 1 || len(got.Refused) != 3 {
		t.Fatalf("report is %+v, want 1 added and 3 refused", got)
	}
	for i, field := range []string{`"metadata.links[1].url" is not valid`, `"metadata.links[0].url" is not valid`, `"metadata.annotations[\"backstage.io/view-url\"]" is not valid`} {
		if r := got.Refused[i]; !strings.Contains(r.Reason, field) {
			t.Errorf("reason does not name the field %s: %s", field, r.Reason)
		}
	}
}

func TestPush(t *testing.T) {
	f := newHarness(t, "", Options{})
	steps := []struct {
		reason             string
		method, path, body string
		media              string
		want               report
		refs               []string
	}{
		{
			"New entities are added.", "PUT", all, line("a", "x") + "\n" + line("b", "x"), mediaNDJSON,
			report{Added: 2, Refused: []refusal{}}, []string{"component:default/a", "component:default/b"},
		},
		{
			"The same push again changes nothing.", "PUT", all, line("b", "x") + line("a", "x"), mediaNDJSON,
			report{Unchanged: 2, Refused: []refusal{}}, []string{"component:default/a", "component:default/b"},
		},
		{
			"A push can be YAML, and removes missing entities.", "PUT", all, component("a", "x") + component("c", "x"), mediaYAML,
			report{Added: 1, Updated: 1, Removed: 1, Refused: []refusal{}}, []string{"component:default/a", "component:default/c"},
		},
		{
			"A delta adds and removes entities.", "POST", delta, line("d", "x") + `{"remove":"Component:default/C"}` + "\n" + `{"remove":"component:none"}`, mediaNDJSON,
			report{Added: 1, Removed: 1, Refused: []refusal{}}, []string{"component:default/a", "component:default/d"},
		},
		{
			"A delta can be YAML.", "POST", delta, "remove: component:default/d\n" + component("e", "x"), mediaYAML + "; charset=utf-8",
			report{Added: 1, Removed: 1, Refused: []refusal{}}, []string{"component:default/a", "component:default/e"},
		},
		{
			"An empty delta changes nothing.", "POST", delta, "", mediaNDJSON,
			report{Refused: []refusal{}}, []string{"component:default/a", "component:default/e"},
		},
		{
			"Entities of another provider are refused.", "PUT", "other/entities", line("a", "y") + line("f", "y"), mediaNDJSON,
			report{Added: 1, Refused: []refusal{{0, 1, "component:default/a", "conflict: component:default/a belongs to provider ci"}}},
			[]string{"component:default/a", "component:default/e", "component:default/f"},
		},
		{
			"An invalid version keeps the old one; the others are written.", "PUT", all, strings.Replace(line("a", "x"), `"name":"a"`, `"name":"a","tags":["Not a tag"]`, 1) + line("g", "x") + line("G", "x"), mediaNDJSON,
			report{Added: 1, Removed: 1, Refused: []refusal{
				{0, 1, "component:default/a", "Policy"}, {2, 3, "component:default/g", "duplicate in the push"},
			}},
			[]string{"component:default/a", "component:default/f", "component:default/g"},
		},
		{
			"An invalid entity without a usable name keeps all entities.", "PUT", all, line("a b", "x") + line("h", "x"), mediaNDJSON,
			report{Added: 1, Kept: 2, Refused: []refusal{{0, 1, "", "Policy"}}},
			[]string{"component:default/a", "component:default/f", "component:default/g", "component:default/h"},
		},
		{
			"Without valid entities nothing changes.", "PUT", all, strings.Replace(line("z", "x"), `"service"`, `7`, 1), mediaNDJSON,
			report{Kept: 3, Refused: []refusal{{0, 1, "component:default/z", "Policy"}}},
			[]string{"component:default/a", "component:default/f", "component:default/g", "component:default/h"},
		},
		{
			"An empty push is possible with allowEmpty.", "PUT", all + "?allowEmpty=true", "\n", mediaNDJSON,
			report{Removed: 3, Refused: []refusal{}}, []string{"component:default/f"},
		},
	}
	for _, step := range steps {
		got, res := f.push(step.method, step.path, step.body, "Content-Type", step.media)
		for i := range got.Refused {
			if strings.HasPrefix(got.Refused[i].Reason, "InputError: Policy check failed") {
				got.Refused[i].Reason = "Policy"
			}
		}
		if diff := cmp.Diff(step.want, got); diff != "" || res.status != http.StatusOK {
			t.Errorf("%s: status is %d, report (-want +got):\n%s", step.reason, res.status, diff)
		}
		if diff := cmp.Diff(step.refs, f.refs()); diff != "" {
			t.Fatalf("%s: entities (-want +got):\n%s", step.reason, diff)
		}
	}
	if got := f.get("/providers").body; got != `{"items":[{"name":"other","entities":1}]}` {
		t.Errorf("providers are %s", got)
	}
	if res := f.do(http.MethodDelete, "/providers/other", ""); res.status != http.StatusNoContent || len(f.refs()) != 0 {
		t.Errorf("DELETE of a provider returned %d %s, leaving %v", res.status, res.body, f.refs())
	}
	if res := f.do(http.MethodDelete, "/providers/other", ""); res.status != http.StatusNotFound {
		t.Errorf("second DELETE of a provider returned %d %s, want 404", res.status, res.body)
	}
	if gathered(t, f, "catalog_sync_total") == 0 {
		t.Error("pushes are not counted")
	}
}

// zipped compresses a text.
func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPushRefused(t *testing.T) {
	f := newHarness(t, "", Options{MaxPush: 10_000})
	if _, res := f.push("PUT", all, line("a", "x")+line("b", "x")); res.status != http.StatusOK {
		t.Fatal(res.body)
	}
	if _, res := f.push("PUT", "other/entities", line("o", "x")); res.status != http.StatusOK {
		t.Fatal(res.body)
	}
	zipped := func(text string) string { return zipped(t, text) }
	cases := map[string]struct {
		reason             string
		method, path, body string
		header             []string
		want               string
	}{
		"Empty":     {"An empty body does not empty the catalog.", "PUT", all, "", nil, "400 InputError: The body has no entities, which would remove all"},
		"Cut":       {"A truncated body changes nothing.", "PUT", all, line("c", "x") + `{"apiVersion":"por`, nil, "400 InputError: The body cannot be read, and nothing was changed: line 2:"},
		"Line":      {"An invalid line changes nothing.", "POST", delta, line("c", "x") + "nonsense\n", nil, "400 InputError: The body cannot be read, and nothing was changed: line 2:"},
		"List":      {"An entity must be an object.", "POST", delta, "[1]", nil, "400 InputError: The body cannot be read, and nothing was changed: line 1: an entity must be an object"},
		"YAML":      {"Invalid YAML changes nothing.", "PUT", all, component("c", "x") + "---\nkind: [\n", []string{"Content-Type", mediaYAML}, "400 InputError: The body cannot be read, and nothing was changed: line"},
		"Remove":    {"A full push cannot contain removals.", "PUT", all, `{"remove":"component:default/a"}`, nil, "400 InputError: The body cannot be read, and nothing was changed: line 1: remove is not allowed in a full push"},
		"RemoveOdd": {"A removal needs an entity reference.", "POST", delta, `{"remove":7}`, nil, "400 InputError: The body cannot be read, and nothing was changed: line 1: remove must be an entity reference"},
		"JSON":      {"Another content type is refused.", "PUT", all, "[]", []string{"Content-Type", "application/json"}, "415 UnsupportedMediaTypeError: The body must be application/x-ndjson or application/yaml"},
		"NoType":    {"A missing content type is refused.", "PUT", all, "[]", []string{"Content-Type", ""}, "415 UnsupportedMediaTypeError:"},
		"Brotli":    {"Another compression is refused.", "PUT", all, "x", []string{"Content-Encoding", "br"}, "415 UnsupportedMediaTypeError: The body may be compressed with gzip"},
		"NotZipped": {"A body that is not gzip is refused.", "PUT", all, line("c", "x"), []string{"Content-Encoding", "gzip"}, "400 InputError: The body is incomplete or does not match its headers"},
		"CutZip":    {"Truncated gzip is refused.", "PUT", all, zipped(line("c", "x"))[:60], []string{"Content-Encoding", "gzip"}, "400 InputError: The body is incomplete or does not match its headers"},
		"Bomb":      {"The decompressed size is limited.", "PUT", all, zipped(strings.Repeat("\n", 20_000)), []string{"Content-Encoding", "gzip"}, "413 PayloadTooLargeError: The body has more than 10000 bytes"},
		"Large":     {"The size of the body is limited.", "PUT", all, strings.Repeat("\n", 20_000), nil, "413 PayloadTooLargeError: The body has more than 10000 bytes"},
		"Name":      {"A provider needs a valid name.", "PUT", "No%20name/entities", line("c", "x"), nil, "400 InputError: Invalid provider name 'No name'"},
		"Location":  {"Reserved provider names are refused.", "PUT", "location.x/entities", line("c", "x"), nil, "400 InputError: Invalid provider name 'location.x', the prefix 'location' is reserved"},
		"Guest":     {"Guests cannot push.", "PUT", all, line("c", "x"), []string{"Authorization", "guest"}, "403 NotAllowedError: Missing permission catalog.entity.create"},
		"Strict":    {"A strict parameter must be a boolean.", "PUT", all + "?strict=maybe", line("c", "x"), nil, "400 InputError: request/query/strict must be boolean"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, res := f.push(tc.method, tc.path, tc.body, tc.header...)
			if got := errorOf(t, res); !strings.HasPrefix(got, tc.want) {
				t.Errorf("%s\ngot  %s\nwant %s", tc.reason, got, tc.want)
			}
			if diff := cmp.Diff([]string{"component:default/a", "component:default/b", "component:default/o"}, f.refs()); diff != "" {
				t.Errorf("%s: entities (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	got, res := f.push("PUT", all+"?strict=true", line("c", "x")+line("o", "x")+line("!", "x"))
	if res.status != http.StatusBadRequest || len(got.Refused) != 2 || got.Added != 0 || !strings.Contains(got.Refused[0].Reason, "belongs to provider other") {
		t.Errorf("strict push returned %d %+v, want nothing added and two refused", res.status, got)
	}
	if diff := cmp.Diff([]string{"component:default/a", "component:default/b", "component:default/o"}, f.refs()); diff != "" {
		t.Errorf("entities after a strict push (-want +got):\n%s", diff)
	}
	if got, res := f.push("PUT", all+"?strict=true", zipped(line("c", "x")), "Content-Encoding", "gzip"); res.status != http.StatusOK || got.Added != 1 || got.Removed != 2 {
		t.Errorf("valid strict push returned %d %+v", res.status, got)
	}
}

func TestPushCutOff(t *testing.T) {
	f := newHarness(t, "", Options{})
	if _, res := f.push("PUT", all, line("a", "x")); res.status != http.StatusOK {
		t.Fatal(res.body)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/api/catalog/providers/"+all, io.MultiReader(strings.NewReader(component("b", "x")), broken{}))
	r.Header.Set("Content-Type", mediaYAML)
	rec := httptest.NewRecorder()
	f.handler.ServeHTTP(rec, r)
	if rec.Code != http.StatusBadRequest || len(f.refs()) != 1 || f.refs()[0] != "component:default/a" {
		t.Errorf("truncated body returned %d %s, entities are %v", rec.Code, rec.Body, f.refs())
	}
}

// broken is an interrupted connection.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestPushPermission(t *testing.T) {
	f := newHarness(t, "",
		Options{},
		config.PermissionRule{Who: []string{"user:default/root"}, Allow: true},
		config.PermissionRule{Permissions: []string{"catalog.entity.create"}, Owners: []string{"own"}, Allow: true},
		config.PermissionRule{Permissions: []string{"catalog.entity.create"}, Allow: false},
	)
	as := func(who string) []string { return []string{"Authorization", who} }
	if got, _ := f.push("PUT", all, line("a", "team-a")+line("b", "team-b"), as("root")...); got.Added != 2 {
		t.Fatalf("push by root returned %+v", got)
	}
	got, _ := f.push("POST", delta, line("a2", "team-a")+line("b2", "team-b")+`{"remove":"component:default/b"}`+"\n"+line("b", "team-a"), as("team-a")...)
	want := report{Added: 1, Refused: []refusal{
		{1, 2, "component:default/b2", "missing permission catalog.entity.create for component:default/b2"},
		{2, 3, "component:default/b", "missing permission catalog.entity.create for component:default/b"},
		{3, 4, "component:default/b", "missing permission catalog.entity.create for component:default/b"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("report of a push with entities of another team (-want +got):\n%s", diff)
	}
	_, res := f.push("PUT", all, line("a", "team-a"), as("team-a")...)
	if got, want := errorOf(t, res), "403 NotAllowedError: Missing permission catalog.entity.create for component:default/b, which this push would remove"; got != want {
		t.Errorf("full push without the entities of others returned %s, want %s", got, want)
	}
	if got, _ := f.push("PUT", "mine/entities", line("m", "team-a"), as("team-a")...); got.Added != 1 {
		t.Errorf("push to a new provider by its team returned %+v", got)
	}
	if diff := cmp.Diff([]string{"component:default/a", "component:default/a2", "component:default/b", "component:default/m"}, f.refs()); diff != "" {
		t.Errorf("entities (-want +got):\n%s", diff)
	}
}

func TestPushAnnotations(t *testing.T) {
	f := newHarness(t, "", Options{})
	said := strings.Replace(line("b", "x"), `"name":"b"`, `"name":"b","annotations":{"portal.io/managed-by-location":"url:http://x","portal.io/managed-by-origin-location":"url:http://y"}`, 1)
	if got, res := f.push("PUT", all, line("a", "x")+said); got.Added != 2 {
		t.Fatal(res.body)
	}
	for ref, want := range map[string]string{"component:default/a": "provider:ci", "component:default/b": "url:http://x"} {
		e, err := f.store.Get(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		n, err := wire.Decoder{}.Decode(e.JSON)
		if err != nil {
			t.Fatal(err)
		}
		if got := n.Get("metadata", "annotations", "portal.io/managed-by-location").Str(); got != want {
			t.Errorf("%s is managed by %q, want %q", ref, got, want)
		}
	}
	// Pushed entities cannot be read again, which is no error.
	if res := f.do(http.MethodPost, "/refresh", `{"entityRef":"component:default/a"}`); res.status != http.StatusOK {
		t.Errorf("refresh returned %d %s, want 200", res.status, res.body)
	}
}

// held returns the entries of a push that are held.
func held(read func(pushHandler) error) ([]entry, error) {
	j := &pushChecker{spool: spool.New(defaultMaxPush)}
	if err := read(pushHandler{maxHeld, j.hold}); err != nil {
		return nil, err
	}
	return j.entries, nil
}

func FuzzPush(f *testing.F) {
	f.Add([]byte(line("a", "x")+line("b", "x")), false, false)
	f.Add([]byte(`{"remove":"component:a"}`+"\n\n{"), false, true)
	f.Add([]byte(component("a", "x")+"---\nremove: x\n"), true, true)
	f.Add([]byte("{}\n[]\nnull\n\"x\"\n"), false, true)
	f.Fuzz(func(t *testing.T, body []byte, yaml, delta bool) {
		media := mediaNDJSON
		if yaml {
			media = mediaYAML
		}
		entries, err := held(func(h pushHandler) error {
			return decodePush(&bounded{in: bytes.NewReader(body), left: 1 << 16, most: 1 << 16}, media, delta, h)
		})
		if err != nil {
			var fault *rest.Fault
			var large *http.MaxBytesError
			if !errors.As(err, &fault) && !errors.As(err, &large) {
				t.Fatalf("error %v is not a client error", err)
			}
			if entries != nil {
				t.Fatalf("entries were returned with the error %v", err)
			}
			return
		}
		for i, e := range entries {
			switch {
			case e.line < 1 || i > 0 && e.line < entries[i-1].line:
				t.Fatalf("entry %d is on line %d", i, e.line)
			case (e.ref == "") == (e.remove == ""):
				t.Fatalf("entry %d is neither an entity nor a removal, or both", i)
			case e.remove != "" && !delta:
				t.Fatalf("entry %d is a removal in a full push", i)
			}
			text, err := e.json.Load()
			if err != nil || len(text) == 0 {
				continue
			}
			if n, err := (wire.Decoder{}).Decode(text); err != nil || !n.IsMap() || entity.RefOf(n).String() != e.ref {
				t.Fatalf("entry %d is not an object, or its reference is not %q: %s (%v)", i, e.ref, text, err)
			}
		}
	})
}
