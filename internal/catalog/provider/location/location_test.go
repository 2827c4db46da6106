package location

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/words"
)

var everything = []config.CatalogRule{{Allow: []string{"Component", "Location", "System", "Group"}}}

// component returns the text of a Component.
func component(name string) string {
	return "apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata:\n  name: " + name +
		"\nspec:\n  type: service\n  lifecycle: production\n  owner: team\n---\n"
}

// leading returns the text of a Location with targets.
func leading(name string, targets ...string) string {
	return "apiVersion: backstage.io/v1alpha1\nkind: Location\nmetadata:\n  name: " + name +
		"\nspec:\n  targets: ['" + strings.Join(targets, "', '") + "']\n---\n"
}

// writeFiles creates files below a new folder. "a -> b" is a link.
func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		at, to, isLink := strings.Cut(name, " -> ")
		at = filepath.Join(dir, at)
		err := os.MkdirAll(filepath.Dir(at), 0o755)
		if err == nil && isLink {
			err = os.Symlink(to, at)
		} else if err == nil {
			err = os.WriteFile(at, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestLongMessages checks that messages with long names are shortened.
func TestLongMessages(t *testing.T) {
	long := strings.Repeat("a!", 100_000)
	text := component("'"+long+"'") +
		strings.Replace(component("a"), "name: a", "name: a\n  labels: { '"+long+"': x }", 1) +
		strings.Replace(component("b"), "name: b", "name: b\n  tags: ['"+long+"']", 1) +
		"'" + long + "': 1\n'" + long + "': 2\n"
	dir := writeFiles(t, map[string]string{"a.yaml": text})
	r := New(Options{Config: config.Reading{Roots: []string{dir}}, Rules: everything})
	res, err := r.Read(t.Context(), Target{Type: TypeFile, Target: filepath.Join(dir, "a.yaml")})
	if err != nil || len(res.Problems) < 4 {
		t.Fatalf("problems are %v, error %v", res, err)
	}
	for _, p := range res.Problems {
		if n := len(p.Error()); n > 4*maxMessage {
			t.Errorf("message has %d characters: %s", n, p.Error()[:300])
		}
	}
}

// names returns the references of the entities, except the location's own, with
// their parents unless these are the location's own.
func names(res *Result) []string {
	var out []string
	if res == nil {
		return nil
	}
	for _, d := range res.Documents[1:] {
		s := d.Ref
		if d.Parent != res.Documents[0].Ref {
			s += " of " + d.Parent
		}
		out = append(out, s)
	}
	return out
}

// texts returns the problems, without dir and the base URL.
func texts(ps []Problem, cut string) []string {
	var out []string
	for i := range ps {
		out = append(out, strings.ReplaceAll(ps[i].Error(), cut, ""))
	}
	return out
}

func TestSize(t *testing.T) {
	dir := writeFiles(t, map[string]string{"a.yaml": component("a"), "b.yaml": component("b") + strings.Repeat("# more\n", 100)})
	r := New(Options{Config: config.Reading{Roots: []string{dir}, MaxSize: 300}, Rules: everything})
	res, err := r.Read(t.Context(), Target{Type: TypeFile, Target: dir + "/*.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"component:default/a"}, names(res)); diff != "" {
		t.Errorf("entities (-want +got):\n%s", diff)
	}
	want := []string{"Error: Unable to read file, /b.yaml: more than 300 bytes"}
	if diff := cmp.Diff(want, texts(res.Problems, dir)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestBounds(t *testing.T) {
	files := map[string]string{}
	for i := range maxDepth + 3 {
		files[fmt.Sprintf("%d.yaml", i)] = leading(fmt.Sprintf("l%d", i), fmt.Sprintf("%d.yaml", i+1))
	}
	dir := writeFiles(t, files)
	r := New(Options{Config: config.Reading{Roots: []string{dir}}, Rules: everything})
	res, err := r.Read(t.Context(), Target{Type: TypeFile, Target: dir + "/0.yaml"})
	if err != nil || len(res.Problems) != 1 || !strings.Contains(res.Problems[0].Message, "more than 10 deep") {
		t.Errorf("problems are %v, error %v; want one about depth", texts(res.Problems, dir), err)
	}
	var wide strings.Builder
	for i := range maxAddresses + 200 {
		wide.WriteString(leading(fmt.Sprintf("w%d", i), fmt.Sprintf("none%d.yaml", i)))
	}
	if err := os.WriteFile(dir+"/wide.yaml", []byte(wide.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	res, err = r.Read(t.Context(), Target{Type: TypeFile, Target: dir + "/wide.yaml"})
	if err != nil || len(res.Problems) != maxProblems+1 {
		t.Fatalf("%d problems, error %v; want %d", len(res.Problems), err, maxProblems+1)
	}
	if last, want := res.Problems[maxProblems].Message, "1100 more problems are not listed"; last != want {
		t.Errorf("last problem is %q, want %q", last, want)
	}
}

// TestDocuments reads files with more documents than allowed. All files of a
// location share the limit.
func TestDocuments(t *testing.T) {
	half := strings.Repeat("---\n", maxDocuments/2) + "--- ~\n"
	dir := writeFiles(t, map[string]string{
		"1.yaml": component("a") + half, "2.yaml": half, "3.yaml": component("b"), "bad.yaml": strings.Repeat("a: b: c\n---\n", maxUnreadable+10) + component("c"),
		"comments.yaml": strings.Repeat("#\n", 1_000_001),
	})
	cases := map[string]struct {
		reason, target, want string
		found                []string
	}{
		"Empty":    {"Empty documents count.", "/[123].yaml", "YAML error: input has more than 100000 documents, including empty ones; split the input into several parts", []string{"component:default/a"}},
		"Bad":      {"The number of listed problems is limited.", "/bad.yaml", "901 more problems are not listed", nil},
		"Comments": {"The number of comment lines is limited.", "/comments.yaml", "YAML error: input has more than 1000000 empty lines and comments; remove them", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := New(Options{Config: config.Reading{Roots: []string{dir}}, Rules: everything})
			res, err := r.Read(t.Context(), Target{Type: TypeFile, Target: dir + tc.target})
			if err != nil {
				t.Fatal(err)
			}
			if got := res.Problems[len(res.Problems)-1].Message; got != tc.want || res.Complete {
				t.Errorf("%s: last problem is %q, complete is %v, want %q", tc.reason, got, res.Complete, tc.want)
			}
			if diff := cmp.Diff(tc.found, names(res)); diff != "" {
				t.Errorf("%s: entities (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestAnnotations(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"all.yaml": leading("l", "up.yaml"),
		"up.yaml": "apiVersion: backstage.io/v1alpha1\nkind: System\nmetadata:\n  name: up\n  annotations:\n" +
			"    portal.io/managed-by-location: url:http://elsewhere\n    own: mine\nspec: {owner: x}\n" +
			"---\napiVersion: portal.io/v1alpha1\nkind: System\nmetadata: {name: down}\nspec: {owner: x}\n",
	})
	r := New(Options{Config: config.Reading{Roots: []string{dir}}, Rules: everything})
	res, err := r.Read(t.Context(), Target{Type: TypeFile, Target: dir + "/all.yaml"})
	if err != nil || len(res.Documents) != 4 {
		t.Fatalf("documents are %v, problems %v, error %v", names(res), texts(res.Problems, dir), err)
	}
	at, origin := "file:"+dir+"/up.yaml", "file:"+dir+"/all.yaml"
	want := map[string]string{"backstage.io/managed-by-location": at, "backstage.io/managed-by-origin-location": origin, "own": "mine"}
	if diff := cmp.Diff(want, res.Documents[2].Node.Get("metadata", "annotations").StringMap()); diff != "" {
		t.Errorf("upstream annotations (-want +got):\n%s", diff)
	}
	want = map[string]string{words.AnnotationManagedBy: at, words.AnnotationManagedByOrigin: origin}
	if diff := cmp.Diff(want, res.Documents[3].Node.Get("metadata", "annotations").StringMap()); diff != "" {
		t.Errorf("annotations in the portal vocabulary (-want +got):\n%s", diff)
	}
}

// TestUnsafeLinks checks that entities with links that a browser would execute
// are refused, with the name of the field.
func TestUnsafeLinks(t *testing.T) {
	dir := writeFiles(t, map[string]string{"a.yaml": "apiVersion: portal.io/v1alpha1\nkind: System\nmetadata:\n  name: a\n  links:\n  - url: 'JavaScript:alert(1)'\nspec: {owner: x}\n" +
		"---\napiVersion: portal.io/v1alpha1\nkind: System\nmetadata: {name: b, links: [{url: 'https://example.com'}]}\nspec: {owner: x}\n"})
	res, err := New(Options{Config: config.Reading{Roots: []string{dir}}, Rules: everything}).Read(t.Context(), Target{Type: TypeFile, Target: dir + "/a.yaml"})
	if err != nil || !slices.Equal(names(res), []string{"system:default/b"}) || len(res.Problems) != 1 {
		t.Fatalf("documents are %v, problems %v, error %v", names(res), texts(res.Problems, dir), err)
	}
	got := res.Problems[0].Error()
	if !strings.Contains(got, `"metadata.links[0].url" is not valid; link "JavaScript:alert(1)" has URL scheme javascript`) || !strings.Contains(got, "a.yaml:6:") {
		t.Errorf("problem is %s", got)
	}
}

func TestOwn(t *testing.T) {
	const target = "http://127.0.0.1:18001/_files/catalog-info.yaml"
	if got, want := Ref(TypeURL, target), "location:default/generated-b312f27a1738dd213361e19292f368a3352f980f"; got != want {
		t.Errorf("reference is %s, want %s", got, want)
	}
	n := own(Target{Type: TypeURL, Target: target})
	if ps := ProblemsOf(n); len(ps) > 0 {
		t.Errorf("entity of the location is refused: %v", texts(ps, ""))
	}
	want := map[string]string{
		"backstage.io/managed-by-location": "url:" + target, "backstage.io/managed-by-origin-location": "url:" + target,
		"backstage.io/view-url": target,
	}
	if diff := cmp.Diff(want, n.Get("metadata", "annotations").StringMap()); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
}

func TestUnchanged(t *testing.T) {
	asked, sent := 0, 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		w.Header().Set("ETag", `"one"`)
		if r.Header.Get("If-None-Match") == `"one"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		sent++
		fmt.Fprint(w, component("u"))
	}))
	defer s.Close()
	dir := writeFiles(t, map[string]string{"all.yaml": leading("l", "sub/*.yaml") + "apiVersion: portal.io/v1alpha1\nkind: Location\n" +
		"metadata: {name: far}\nspec: {type: url, target: '" + s.URL + "/x.yaml'}\n", "sub/a.yaml": component("a")})
	r := New(Options{Config: reading(s.URL, dir), Rules: everything})
	target := Target{Type: TypeFile, Target: dir + "/all.yaml"}
	read := func(reason string, unchanged bool, want int) {
		t.Helper()
		res, err := r.Read(t.Context(), target)
		if err != nil || res.Unchanged != unchanged || res.Memo == nil {
			t.Fatalf("%s: unchanged is %v, problems %v, error %v", reason, res.Unchanged, texts(res.Problems, dir), err)
		}
		if len(res.Documents) != want {
			t.Errorf("%s: documents are %v, want %d", reason, names(res), want)
		}
		target.Since = res.Memo
	}
	read("first", false, 5)
	read("again", true, 0)
	if asked != 2 || sent != 1 {
		t.Errorf("server got %d requests and sent %d pages, want 2 and 1", asked, sent)
	}
	if err := os.WriteFile(dir+"/sub/b.yaml", []byte(component("b")), 0o600); err != nil {
		t.Fatal(err)
	}
	read("another matching file", false, 6)
	if err := os.WriteFile(dir+"/sub/b.yaml", []byte(component("c")), 0o600); err != nil {
		t.Fatal(err)
	}
	read("other content", false, 6)
	read("again", true, 0)
	if err := os.Remove(dir + "/sub/a.yaml"); err != nil {
		t.Fatal(err)
	}
	read("a removed file", false, 5)
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	res, err := New(Options{}).Read(ctx, Target{Type: TypeFile, Target: "/x"})
	if res != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("result is %v, error %v; want that of the context", res, err)
	}
}

func TestCheck(t *testing.T) {
	cases := map[string]struct{ reason, typ, target, want string }{
		"URL":      {"A URL is valid.", TypeURL, "https://example.org/a.yaml", ""},
		"Path":     {"An absolute path is valid.", TypeFile, "/srv/a.yaml", ""},
		"Relative": {"A relative path is refused.", TypeFile, "./a.yaml", "is not absolute"},
		"Windows":  {"A Windows path is refused.", TypeFile, `C:\a.yaml`, "is not absolute"},
		"FileURL":  {"A file URL is not a path.", TypeFile, "file:///srv/a.yaml", "is not absolute"},
		"NUL":      {"A path with NUL is refused.", TypeFile, "/srv/\x00", "contains NUL"},
		"Word":     {"A word is not a URL.", TypeURL, "x", "begins with http:// or https://"},
		"Scheme":   {"Other schemes are refused.", TypeURL, "file:///etc/passwd", "begins with http:// or https://"},
		"NoHost":   {"A URL needs a host.", TypeURL, "http:///a.yaml", "begins with http:// or https://"},
		"Opaque":   {"A URL needs slashes before the host.", TypeURL, "http:example.org/a", "begins with http:// or https://"},
		"Password": {"Credentials in a URL are refused, and not shown.", TypeURL, "https://ada:hunter2@example.org/", "remove them"},
		"Long":     {"The length of a URL is limited.", TypeURL, "https://example.org/" + strings.Repeat("a", maxURL), "more than 4096"},
		"Type":     {"Only the types file and url exist.", "ftp", "x", `type "ftp"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := Check(tc.typ, tc.target)
			if (err == nil) != (tc.want == "") {
				t.Fatalf("%s: error is %v, want %q", tc.reason, err, tc.want)
			}
			if err != nil && (!strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "hunter2")) {
				t.Errorf("%s: error is %q, want it to contain %q", tc.reason, err, tc.want)
			}
		})
	}
}

// reading returns settings that allow the hosts of URLs, and a folder.
func reading(address, root string) config.Reading {
	return config.Reading{
		Allow:   []config.AllowedHost{{Host: strings.TrimPrefix(strings.TrimPrefix(address, "http://"), "https://")}},
		Roots:   []string{root},
		Timeout: 10 * time.Second,
	}
}
