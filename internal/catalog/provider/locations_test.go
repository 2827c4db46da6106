package provider

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/provider/location"
	"example.dev/ingestor/internal/catalog/store"
)

// errorOf returns the error of a response as status, name and message.
func errorOf(t *testing.T, res response) string {
	t.Helper()
	var body struct {
		Error struct{ Name, Message string }
	}
	if err := json.Unmarshal([]byte(res.body), &body); err != nil {
		t.Fatalf("response is %d %s: %v", res.status, res.body, err)
	}
	return fmt.Sprintf("%d %s: %s", res.status, body.Error.Name, body.Error.Message)
}

func TestLocationErrors(t *testing.T) {
	s := newSite(t)
	s.set("/a.yaml", component("a", "x"))
	s.set("/bad.yaml", strings.Replace(component("a", "x"), "name: a", `name: "bad name!"`, 1))
	opts := readingOf(s.URL, t.TempDir())
	opts.Config.LocationTypes = []string{"url"}
	f := newHarness(t, "", opts)
	f.register("url", s.URL+"/a.yaml")
	named := func(target string) string { return fmt.Sprintf(`{"type":"url","target":%q}`, target) }
	const unknown = "00000000-0000-0000-0000-000000000000"
	cases := map[string]struct {
		reason             string
		method, path, body string
		guest              bool
		want               string
	}{
		"Type":       {"Only allowed types can be registered.", "POST", "/locations", `{"type":"file","target":"/srv/a.yaml"}`, false, `400 InputError: Registered locations must be of an allowed type ["url"]`},
		"Twice":      {"A target can be registered once.", "POST", "/locations", named(s.URL + "/a.yaml"), false, "409 ConflictError: Location url:" + s.URL + "/a.yaml already exists"},
		"Missing":    {"A dry run reports a missing target.", "POST", "/locations?dryRun=true", named(s.URL + "/none.yaml"), false, "400 InputError: NotFoundError: Unable to read url, no matching files found for " + s.URL + "/none.yaml"},
		"Bad":        {"A dry run reports invalid entities.", "POST", "/locations?dryRun=true", named(s.URL + "/bad.yaml"), false, "400 InputError: InputError: Policy check failed for component:default/bad name!; caused by Error: \"metadata.name\" is not valid;"},
		"Private":    {"A dry run does not read private addresses.", "POST", "/locations?dryRun=true", named("http://169.254.169.254/latest/meta-data"), false, "400 InputError: NotAllowedError: Unable to read url, reading from 'http://169.254.169.254/latest/meta-data' is not allowed"},
		"Empty":      {"A missing target is named.", "POST", "/locations", `{}`, false, "400 InputError: request/body must have required property 'target'"},
		"NoType":     {"A missing type is named after the target.", "POST", "/locations", `{"target":"x"}`, false, "400 InputError: request/body must have required property 'type'"},
		"JSON":       {"Malformed JSON is refused.", "POST", "/locations", `{`, false, "400 InputError: "},
		"WrongType":  {"A target of the wrong type is refused.", "POST", "/locations", `{"type":"url","target":7}`, false, "400 InputError: request/body/target must be string"},
		"NoAddress":  {"A target must be a URL.", "POST", "/locations", named("x"), false, "400 InputError: InputError: Unable to read url"},
		"DryRun":     {"An invalid dryRun does not register.", "POST", "/locations?dryRun=maybe", named(s.URL + "/c.yaml"), false, "400 InputError: request/query/dryRun must be boolean"},
		"OnConflict": {"An unknown onConflict is refused.", "POST", "/locations?onConflict=fight", named(s.URL + "/c.yaml"), false, "400 InputError: request/query/onConflict must be equal"},
		"Guest":      {"Guests cannot register locations.", "POST", "/locations", named(s.URL + "/c.yaml"), true, "403 NotAllowedError: Missing permission catalog.location.create"},
		"GuestDry":   {"Guests cannot dry-run locations.", "POST", "/locations?dryRun=true", named(s.URL + "/c.yaml"), true, "403 NotAllowedError: Missing permission catalog.location.create"},
		"NoID":       {"An unknown location is not found.", "GET", "/locations/" + unknown, "", false, "404 NotFoundError: Found no location with ID " + unknown},
		"OddID":      {"An invalid id is not found.", "GET", "/locations/%00%ff", "", false, "404 NotFoundError: Found no location with ID"},
		"Delete":     {"An unknown location cannot be removed.", "DELETE", "/locations/" + unknown, "", false, "404 NotFoundError: Found no location with ID " + unknown},
		"GuestDel":   {"Guests cannot remove locations.", "DELETE", "/locations/" + unknown, "", true, "403 NotAllowedError: Missing permission catalog.location.delete"},
		"Put":        {"An unknown location cannot be changed.", "PUT", "/locations/" + unknown, named(s.URL + "/c.yaml"), false, "404 NotFoundError: Found no location with ID " + unknown},
		"NoEntity":   {"The location of an unknown entity is not found.", "GET", "/locations/by-entity/component/default/none", "", false, "404 NotFoundError: found no entity for ref component:default/none"},
		"Cursor":     {"A cursor without a signature is refused.", "POST", "/locations/by-query", `{"cursor":"eyJhIjoxfQ"}`, false, "400 InputError: Malformed cursor"},
		"Limit":      {"A negative limit is refused.", "POST", "/locations/by-query", `{"limit":-1}`, false, "400 InputError: request/body/limit must be >= 0"},
		"Predicate":  {"A query that is not an object is refused.", "POST", "/locations/by-query", `{"query":[1]}`, false, "400 InputError: Query must be an object"},
		"Refresh":    {"An unknown entity cannot be refreshed.", "POST", "/refresh", `{"entityRef":"component:default/none"}`, false, "404 NotFoundError: Entity component:default/none not found"},
		"NoRef":      {"A refresh needs an entity reference.", "POST", "/refresh", `{}`, false, "400 InputError: request/body must have required property 'entityRef'"},
		"OddRef":     {"A malformed entity reference is refused.", "POST", "/refresh", `{"entityRef":"a/b/c"}`, false, "400 InputError: Malformed entity reference 'a/b/c'"},
		"GuestRe":    {"Guests cannot refresh entities.", "POST", "/refresh", `{"entityRef":"component:default/none"}`, true, "403 NotAllowedError: Missing permission catalog.entity.refresh"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			who := "platform"
			if tc.guest {
				who = "guest"
			}
			got := errorOf(t, f.do(tc.method, tc.path, tc.body, "Authorization", who))
			if !strings.HasPrefix(got, tc.want) {
				t.Errorf("%s\ngot  %s\nwant %s", tc.reason, got, tc.want)
			}
		})
	}
	if n := s.times("/c.yaml"); n != 0 {
		t.Errorf("page that may not be registered was fetched %d times", n)
	}
}

func TestDryRun(t *testing.T) {
	s := newSite(t)
	s.set("/a.yaml", component("a", "x"))
	f := newHarness(t, "", readingOf(s.URL, t.TempDir()))
	target := s.URL + "/a.yaml"
	type answer struct {
		Exists   bool
		Location locationView
		Entities []struct {
			Kind     string
			Metadata struct {
				Name, Namespace string
				Annotations     map[string]string
			}
		}
	}
	try := func() answer {
		t.Helper()
		res := f.do(http.MethodPost, "/locations?dryRun=true", fmt.Sprintf(`{"type":"url","target":%q}`, target))
		var a answer
		if err := json.Unmarshal([]byte(res.body), &a); err != nil || res.status != http.StatusCreated {
			t.Fatalf("dry run returned %d %s", res.status, res.body)
		}
		return a
	}
	got := try()
	want := locationView{ID: "url:" + target, Type: "url", Target: target, EntityRef: location.Ref("url", target)}
	if diff := cmp.Diff(want, got.Location); diff != "" || got.Exists {
		t.Errorf("dry run reports that the location exists: %v, location (-want +got):\n%s", got.Exists, diff)
	}
	if len(got.Entities) != 2 || got.Entities[0].Kind != "Location" || got.Entities[1].Metadata.Namespace != "default" ||
		got.Entities[1].Metadata.Annotations["backstage.io/managed-by-location"] != "url:"+target {
		t.Errorf("entities are %+v", got.Entities)
	}
	if body := f.get("/locations").body; body != "[]" {
		t.Errorf("dry run registered %s", body)
	}
	f.register("url", target)
	if !try().Exists {
		t.Error("dry run of a registered location reports that it does not exist")
	}
}

func TestLocationQuery(t *testing.T) {
	s := newSite(t)
	f := newHarness(t, "", Options{})
	for i := range 5 {
		f.register("url", fmt.Sprintf("%s/%d.yaml", s.URL, i))
	}
	type answer struct {
		Items      []locationView
		TotalItems int
		PageInfo   struct{ NextCursor string }
	}
	ask := func(body string) answer {
		t.Helper()
		return decode[answer](t, f.do(http.MethodPost, "/locations/by-query", body))
	}
	var got, want []string
	for _, l := range ask(`{}`).Items {
		want = append(want, l.ID)
	}
	a := ask(`{"limit":2}`)
	for n := 0; ; n++ {
		if a.TotalItems != 5 || n > 3 {
			t.Fatalf("page %d is %+v", n, a)
		}
		for _, l := range a.Items {
			got = append(got, l.ID)
		}
		if a.PageInfo.NextCursor == "" {
			break
		}
		a = ask(fmt.Sprintf(`{"cursor":%q}`, a.PageInfo.NextCursor))
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) != 5 {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	one := ask(fmt.Sprintf(`{"query":{"$all":[{"type":"url"},{"target":{"$in":["%s/3.YAML"]}}]}}`, s.URL))
	if one.TotalItems != 1 || one.Items[0].Target != s.URL+"/3.yaml" {
		t.Errorf("query by target returned %+v", one)
	}
	if n := ask(`{"query":{"$not":{"target":{"$hasPrefix":"http"}}}}`).TotalItems; n != 0 {
		t.Errorf("%d locations do not begin with http, want none", n)
	}
	if n := len(ask(`{"limit":0}`).Items); n != 0 {
		t.Errorf("limit 0 returned %d locations, want none", n)
	}
}

func TestLocationChanges(t *testing.T) {
	s := newSite(t)
	s.set("/a.yaml", component("a", "x"))
	s.set("/b.yaml", component("b", "x"))
	f := newHarness(t, "", readingOf(s.URL, t.TempDir()))
	id := f.register("url", s.URL+"/a.yaml")
	f.untilRefs("the entity", "component:default/a")
	if got := decode[locationView](t, f.get("/locations/by-entity/Component/default/A")); got.ID != id {
		t.Errorf("location of the entity is %+v, want %s", got, id)
	}
	res := f.do(http.MethodPost, "/locations?onConflict=refresh", fmt.Sprintf(`{"type":"url","target":"%s/a.yaml"}`, s.URL))
	if res.status != http.StatusCreated || !strings.Contains(res.body, id) {
		t.Errorf("registering again with onConflict=refresh returned %d %s", res.status, res.body)
	}
	res = f.do(http.MethodPut, "/locations/"+id, fmt.Sprintf(`{"type":"url","target":"%s/b.yaml"}`, s.URL))
	if res.status != http.StatusOK {
		t.Fatalf("PUT returned %d %s", res.status, res.body)
	}
	f.untilRefs("the entity of the new target", "component:default/b")
	other := f.register("url", s.URL+"/a.yaml")
	res = f.do(http.MethodPut, "/locations/"+id, fmt.Sprintf(`{"type":"url","target":"%s/a.yaml"}`, s.URL))
	if res.status != http.StatusConflict {
		t.Errorf("PUT of a registered target returned %d %s, want 409", res.status, res.body)
	}
	f.untilRefs("both", "component:default/a", "component:default/b")
	for _, id := range []string{id, other} {
		if res := f.do(http.MethodDelete, "/locations/"+id, ""); res.status != http.StatusNoContent || res.body != "" {
			t.Errorf("DELETE returned %d %s, want 204", res.status, res.body)
		}
	}
	if got := f.refs(); len(got) != 0 {
		t.Errorf("entities of the removed location are %v, want none", got)
	}
}

func TestValidate(t *testing.T) {
	f := newHarness(t, "", Options{})
	const at = `,"location":"url:https://e.org/a.yaml"}`
	cases := map[string]struct {
		reason, body string
		status       int
		want         string
	}{
		"Good":     {"A valid entity has an empty response.", `{"entity":{"apiVersion":"backstage.io/v1alpha1","kind":"Component","metadata":{"name":"ok"},"spec":{"type":"service","lifecycle":"x","owner":"me"}}` + at, 200, ""},
		"Name":     {"An invalid entity has an error with its cause.", `{"entity":{"apiVersion":"backstage.io/v1alpha1","kind":"Component","metadata":{"name":"bad name!"},"spec":{"type":"s","lifecycle":"x","owner":"me"}}` + at, 400, `{"errors":[{"name":"InputError","message":"Policy check failed for component:default/bad name!; caused by Error: \"metadata.name\" is not valid;`},
		"Template": {"The rules of the kind are checked.", `{"entity":{"apiVersion":"scaffolder.backstage.io/v1beta3","kind":"Template","metadata":{"name":"t"},"spec":{"type":"x"}}` + at, 400, `"cause":{"name":"Error","message":"\"spec.steps\"`},
		"NoPlace":  {"A location is required.", `{"entity":{"kind":"X"}}`, 400, "request/body must have required property 'location'"},
		"NoEntity": {"An entity is required.", `{"location":"url:x"}`, 400, "request/body must have required property 'entity'"},
		"File":     {"Only url locations are supported.", `{"entity":{},"location":"file:/x"}`, 400, "only 'url:<target>' is supported"},
		"Odd":      {"An entity must be an object.", `{"entity":[1]` + at, 400, "request/body/entity must be object"},
		"Null":     {"Null is not an entity.", `{"entity":null` + at, 400, "request/body"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			res := f.do(http.MethodPost, "/validate-entity", tc.body, "Authorization", "guest")
			if res.status != tc.status || !strings.Contains(res.body, tc.want) || (tc.want == "") != (res.body == "") {
				t.Errorf("%s\nresponse is %d %s\nwant %d %s", tc.reason, res.status, res.body, tc.status, tc.want)
			}
		})
	}
}

func TestAnalyze(t *testing.T) {
	f := newHarness(t, "", Options{})
	res := f.do(http.MethodPost, "/analyze-location", `{"location":{"type":"url","target":"http://127.0.0.1:18001/_files/catalog-info.yaml"}}`)
	var got, want any
	wantText := `{"existingEntityFiles":[],"generateEntities":[{"entity":{"apiVersion":"backstage.io/v1alpha1","kind":"Component","metadata":{"name":"catalog-info.yaml"},"spec":{"type":"other","lifecycle":"unknown"}},"fields":[]}]}`
	if err := json.Unmarshal([]byte(wantText), &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(res.body), &got); err != nil || res.status != http.StatusOK {
		t.Fatalf("response is %d %s", res.status, res.body)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("response (-want +got):\n%s", diff)
	}
	for body, want := range map[string]string{
		`{}`:              "must have required property 'location'",
		`{"location":{}}`: "request/body/location must have required property 'target'",
		`{"location":{"type":"file","target":"/x"}}`:                "must be url",
		`{"location":{"type":"url","target":"https://a:b@e.org/"}}`: "user name or password",
	} {
		if got := errorOf(t, f.do(http.MethodPost, "/analyze-location", body)); !strings.Contains(got, want) {
			t.Errorf("%s returned %s, want %s", body, got, want)
		}
	}
}

// TestLargeLocation reads a page with more entities than are held as values, then one that
// has lost, changed and added some.
func TestLargeLocation(t *testing.T) {
	s := newSite(t)
	page := func(from, to int, owner func(i int) string) (text string, want []string) {
		var b strings.Builder
		// The catalog sorts entities, and reads them in another order.
		for i := to - 1; i >= from; i-- {
			b.WriteString(component(fmt.Sprintf("c%05d", i), owner(i)))
		}
		for i := from; i < to; i++ {
			want = append(want, fmt.Sprintf("component:default/c%05d", i))
		}
		return b.String(), want
	}
	text, want := page(0, 2500, func(int) string { return "a" })
	s.set("/many.yaml", text)
	f := newHarness(t, "", readingOf(s.URL, t.TempDir()))
	f.register("url", s.URL+"/many.yaml")
	f.untilRefs("all entities", want...)
	text, want = page(100, 2600, func(i int) string { return "ab"[i%2 : i%2+1] })
	s.set("/many.yaml", text)
	f.untilRefs("the entities of the changed page", want...)
	owners := map[string]int{}
	err := f.store.Each(t.Context(), store.Query{Filter: filter.In("kind", "component"), Limit: store.NoLimit}, func(e *store.Entity) error {
		var doc struct{ Spec struct{ Owner string } }
		err := json.Unmarshal(e.JSON, &doc)
		owners[doc.Spec.Owner]++
		return err
	})
	if diff := cmp.Diff(map[string]int{"a": 1250, "b": 1250}, owners); diff != "" || err != nil {
		t.Errorf("owners are (%v):\n%s", err, diff)
	}
}
