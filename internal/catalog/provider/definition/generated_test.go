package definition

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/internal/config"
)

func TestForms(t *testing.T) {
	w := newWorld(t)
	w.put("all.yaml", component("a", "x")+component("b", "x"))
	w.put("one.json", `{"apiVersion":"portal.io/v1alpha1","kind":"Component","metadata":{"name":"c"},"spec":{"type":"service","lifecycle":"x","owner":"me"}}`)
	w.put("list.json", `[{"apiVersion":"backstage.io/v1alpha1","kind":"Component","metadata":{"name":"d","namespace":"red"},"spec":{"type":"service","lifecycle":"x","owner":"me"}},
		{"apiVersion":"backstage.io/v1alpha1","kind":"Component","metadata":{"name":"e"},"spec":{"type":"service","lifecycle":"x","owner":"me"}}]`)
	w.put("Component/deep/f.yml", component("f", "x"))
	w.put("read.me", "not an entity")
	w.put(".hidden.yaml", component("hidden", "x"))
	w.refresh()
	w.want("YAML, JSON and lists are read at any depth", 0, "a", "b", "c", "e", "f", "red/d")
	if s := w.Status(); s.Files != 4 || s.Entities != 6 || !s.Succeeded.Equal(w.time()) || !s.Enabled || s.Directory != w.dir {
		t.Errorf("status is %+v", s)
	}
	for name, want := range map[string]float64{
		"catalog_generated_refresh_total done": 1, "catalog_generated_files": 4, "catalog_generated_entities": 6, "catalog_generated_problems": 0,
		"catalog_generated_last_success_timestamp_seconds": float64(w.time().Unix()),
	} {
		if got := w.counted(name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

func TestAnnotations(t *testing.T) {
	w := newWorld(t)
	w.put("sub/a.yaml", component("a", "x"))
	w.put("c.json", `{"apiVersion":"portal.io/v1alpha1","kind":"Component","metadata":{"name":"c","annotations":{"portal.io/managed-by-location":"file:old"}},"spec":{"type":"service","lifecycle":"x","owner":"me"}}`)
	w.refresh()
	cases := map[string]struct {
		reason string
		want   map[string]string
	}{
		"a": {"An entity has the locations of its file and its folder.", map[string]string{
			"backstage.io/managed-by-location": "file:" + w.dir + "/sub/a.yaml", "backstage.io/managed-by-origin-location": "file:" + w.dir}},
		"c": {"Annotations use the vocabulary of the entity, and replace those of the generator.", map[string]string{
			"portal.io/managed-by-location": "file:" + w.dir + "/c.json", "portal.io/managed-by-origin-location": "file:" + w.dir}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e, err := w.catalog.Get(t.Context(), "component:default/"+name)
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Metadata struct{ Annotations map[string]string }
			}
			if err := json.Unmarshal(e.JSON, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got.Metadata.Annotations); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestProblems(t *testing.T) {
	cases := map[string]struct {
		reason string
		file   string
		want   string
	}{
		"Syntax":   {"Invalid YAML is a problem.", "a: [", "InputError: YAML error: "},
		"Place":    {"A YAML problem has its position.", component("good", "x") + "---\na: [", "bad.yaml:"},
		"Rules":    {"An invalid entity is a problem.", strings.Replace(component("good", "x"), "name: good", "name: bad name!", 1), `InputError: Policy check failed for component:default/bad name!; caused by Error: "metadata.name" is not valid; `},
		"Line":     {"The problem of an invalid entity has its position.", strings.Replace(component("good", "x"), "name: good", "name: bad name!", 1), "bad.yaml:5:9)"},
		"Foreign":  {"A definition is not an entity.", "apiVersion: apiextensions.crossplane.io/v2\nkind: CompositeResourceDefinition\nmetadata: {name: xs.example.org}\nspec: {group: example.org}\n", "NotAllowedError: compositeresourcedefinition:default/xs.example.org is not an entity; generate entities from it with ingestor-cli"},
		"Scalar":   {"A scalar is not an entity.", "hello", "InputError: an entity must be a map, found string"},
		"Item":     {"A scalar in a list is not an entity.", `[1, "a"]`, "InputError: an entity must be a map, found integer"},
		"Group":    {"Users and groups are refused.", "apiVersion: backstage.io/v1alpha1\nkind: Group\nmetadata: {name: admins}\nspec: {type: team, children: []}\n", "NotAllowedError: group:default/admins is of a kind that is never generated"},
		"Conflict": {"Two different entities with one name are a conflict.", component("kept", "y"), "ConflictError: conflict: component:default/kept is already defined at "},
		"Aliases":  {"Recursive aliases are refused.", aliases(), "InputError: "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.put("bad.yaml", component("old", "x"))
			w.put("a.yaml", component("kept", "x"))
			w.refresh()
			w.put("bad.yaml", tc.file)
			w.refresh()
			if s := w.Status(); !strings.Contains(s.Error, tc.want) || !strings.Contains(s.Error, "bad.yaml") || s.Problems == 0 {
				t.Errorf("%s: status is %+v\nwant %q", tc.reason, s, tc.want)
			}
			if got := w.lifecycle("kept"); got != "x" {
				t.Errorf("%s: lifecycle of another entity is %q", tc.reason, got)
			}
		})
	}
}

// aliases returns a short text that expands to a very long one.
func aliases() string {
	var b strings.Builder
	b.WriteString("x0: &x0 [" + strings.Repeat("a,", 50) + "a]\n")
	for i := range 3 {
		fmt.Fprintf(&b, "x%d: &x%d [%s*x%d]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*x%d,", i), 30), i)
	}
	return b.String()
}

func TestLastKnownGood(t *testing.T) {
	w := newWorld(t)
	w.put("a.yaml", component("a", "x"))
	w.put("b.yaml", component("b1", "x")+component("b2", "x"))
	w.put("c.yaml", component("c", "x"))
	w.refresh()
	w.want("all", 0, "a", "b1", "b2", "c")

	w.put("b.yaml", "a: [")
	w.put("c.yaml", "")
	w.put("a.yaml", component("a", "y"))
	w.put("d.yaml", component("d", "x"))
	w.refresh()
	w.want("while a file cannot be read, nothing is removed", 1, "a", "b1", "b2", "c", "d")
	if got := w.lifecycle("a"); got != "y" {
		t.Errorf("lifecycle of a readable entity is %q, want the update", got)
	}
	w.restart(w.config)
	w.refresh()
	w.want("after a restart nothing is removed either", 1, "a", "b1", "b2", "c", "d")

	w.put("b.yaml", component("b1", "x")+strings.Replace(component("b2", "z"), "type: service", "type: {}", 1))
	w.refresh()
	w.want("an invalid entity keeps its old version, and a missing one is removed", 1, "a", "b1", "b2", "d")
	if got := w.lifecycle("b2"); got != "x" {
		t.Errorf("invalid version was written: lifecycle %q", got)
	}

	w.put("b.yaml", component("b1", "x")+strings.Replace(component("b2", "z"), "name: b2", "name: ' '", 1))
	w.put("d.yaml", "")
	w.refresh()
	w.want("an entity without a name may be any, so nothing is removed", 1, "a", "b1", "b2", "d")

	w.put("b.yaml", component("b1", "x"))
	w.refresh()
	w.want("mended", 0, "a", "b1")
}

func TestNothingTaken(t *testing.T) {
	w := newWorld(t)
	w.put("a.yaml", component("a", "x")+component("b", "x"))
	w.refresh()
	w.put("a.yaml", strings.Replace(component("a", "x"), "type: service", "type: {}", 1))
	w.refresh()
	w.want("without any valid entity nothing is removed", 1, "a", "b")
}

func TestDirectoryGone(t *testing.T) {
	w := newWorld(t)
	w.put("a.yaml", component("a", "x"))
	w.refresh()
	was := w.time()
	w.pass(frequency)
	if err := os.Rename(w.dir, w.dir+"-away"); err != nil {
		t.Fatal(err)
	}
	_, err := w.Refresh(t.Context())
	if want := fmt.Sprintf("cannot read %q: no such file or directory", w.dir); err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
	if diff := cmp.Diff([]string{"a"}, w.refs()); diff != "" {
		t.Errorf("entities (-want +got):\n%s", diff)
	}
	if s := w.Status(); s.Error != err.Error() || !s.Succeeded.Equal(was) || !s.Tried.Equal(w.time()) || s.Entities != 1 {
		t.Errorf("status is %+v", s)
	}
	if n := w.counted("catalog_generated_refresh_total failed"); n != 1 {
		t.Errorf("%v failures were counted, want 1", n)
	}
	if err := os.WriteFile(w.dir, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Refresh(t.Context()); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("refresh of a file returned %v, want that it is not a directory", err)
	}
	if err := os.Remove(w.dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(w.dir+"-away", w.dir); err != nil {
		t.Fatal(err)
	}
	w.refresh()
	w.want("the folder is back", 0, "a")
}

func TestEmptied(t *testing.T) {
	w := newWorld(t)
	w.refresh()
	w.want("a folder that is empty from the start is no problem", 0)
	w.put("a.yaml", component("a", "x"))
	w.refresh()
	w.put("a.yaml", "")
	w.refresh()
	w.want("a folder that has just become empty is not trusted", 1, "a")
	w.pass(frequency / 4)
	w.refresh()
	w.want("nor a moment later", 1, "a")
	w.put("a.yaml", component("a", "y"))
	w.refresh()
	w.want("the generator has finished", 0, "a")
	w.put("a.yaml", "")
	w.pass(frequency)
	w.refresh()
	w.want("the wait starts again", 1, "a")
	w.pass(frequency)
	w.refresh()
	w.want("a folder that stays empty is trusted", 0)
}

func TestConflict(t *testing.T) {
	w := newWorld(t)
	w.put("a.yaml", component("a", "x")+component("b", "x"))
	var doc = write.Document{JSON: []byte(`{"apiVersion":"backstage.io/v1alpha1","kind":"Component","metadata":{"name":"b","namespace":"default"},"spec":{"type":"s","lifecycle":"theirs","owner":"o"}}`)}
	if _, err := w.catalog.Sync(t.Context(), write.Change{Provider: "ci", Put: []write.Document{doc}}); err != nil {
		t.Fatal(err)
	}
	w.refresh()
	w.want("the first provider of an entity owns it", 1, "a")
	if s := w.Status(); s.Error != "ConflictError: conflict: component:default/b belongs to provider ci" {
		t.Errorf("status is %+v", s)
	}
	if _, err := w.catalog.Sync(t.Context(), write.Change{Provider: "ci", Full: true}); err != nil {
		t.Fatal(err)
	}
	w.refresh()
	w.want("the conflict is resolved, although no file changed", 0, "a", "b")
}

func TestCopies(t *testing.T) {
	w := newWorld(t)
	w.put("one.yaml", component("a", "x"))
	w.put("two.yaml", component("a", "x"))
	w.refresh()
	w.want("an identical duplicate is no problem", 0, "a")
}

func TestUnchanged(t *testing.T) {
	w := newWorld(t)
	w.put("a.yaml", component("a", "x")+component("b", "x"))
	w.refresh()
	w.pass(frequency)
	w.refresh()
	if n := w.counted("catalog_generated_refresh_total unchanged"); n != 1 || !w.Status().Succeeded.Equal(w.time()) {
		t.Errorf("refresh was unchanged %v times, status is %+v", n, w.Status())
	}
	e, err := w.catalog.Get(t.Context(), "component:default/a")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.catalog.DeleteByUID(t.Context(), e.UID); err != nil {
		t.Fatal(err)
	}
	w.refresh()
	w.want("a deleted entity is restored", 0, "a", "b")
}

// TestOnlyChanged checks that unchanged files keep their entities without being
// read.
func TestOnlyChanged(t *testing.T) {
	w := newWorld(t)
	w.put("a.yaml", component("a", "x")+component("b", "x"))
	w.put("c.yaml", component("c", "x"))
	w.put("d.yaml", component("d", "x"))
	w.refresh()
	w.put("c.yaml", component("c", "y")+component("e", "x"))
	w.refresh()
	w.want("one changed", 0, "a", "b", "c", "d", "e")
	if got := w.lifecycle("c"); got != "y" {
		t.Errorf("lifecycle of the changed entity is %q, want y", got)
	}
	w.put("c.yaml", component("c", "y"))
	w.put("d.yaml", "")
	w.refresh()
	w.want("an entity and a file are removed", 0, "a", "b", "c")
	w.put("a.yaml", component("a", "x"))
	w.put("aa.yaml", component("b", "moved"))
	w.refresh()
	w.want("an entity moved to a new file", 0, "a", "b", "c")
	w.put("b.yaml", component("a", "other")+component("c", "other"))
	w.refresh()
	w.want("for two entities with one name the unchanged file is read again", 2, "a", "b", "c")
	if a, c := w.lifecycle("a"), w.lifecycle("c"); a != "x" || c != "other" {
		t.Errorf("lifecycle of a is %q and of c %q, want those of the first file", a, c)
	}
	w.put("b.yaml", "a: [")
	w.refresh()
	w.put("c.yaml", component("c", "z"))
	w.refresh()
	w.want("a broken file keeps its entities", 1, "a", "b", "c")
	if got := w.lifecycle("c"); got != "z" {
		t.Errorf("lifecycle beside a broken file is %q, want the update", got)
	}
	w.put("b.yaml", "")
	w.refresh()
	w.want("a removed broken file takes its problem with it", 0, "a", "b", "c")
}

func TestSwitchedOff(t *testing.T) {
	w := newWorld(t)
	w.put("a.yaml", component("a", "x"))
	w.refresh()
	w.restart(config.XRDTemplates{Directory: w.dir, Watch: true})
	w.Watch(t.Context())
	w.refresh()
	w.want("a disabled provider has no entities", 0)
	if w.Status().Enabled {
		t.Error("disabled provider reports that it is enabled")
	}
}

func TestToldOnce(t *testing.T) {
	w := newWorld(t)
	w.put("a.yaml", component("a", "x"))
	w.put("b.yaml", "a: [")
	w.refresh()
	if text := w.logged(); strings.Count(text, "level=WARN") != 1 || !strings.Contains(text, "b.yaml:1:1") {
		t.Errorf("log is\n%s", text)
	}
	w.put("c.yaml", component("c", "x"))
	w.refresh()
	if text := w.logged(); strings.Contains(text, "level=WARN") || !strings.Contains(text, "added=1") {
		t.Errorf("repeated problem was logged again, or the change was not:\n%s", text)
	}
	w.put("b.yaml", component("b", "x"))
	w.refresh()
	if text := w.logged(); !strings.Contains(text, "problems of generated entities resolved") {
		t.Errorf("log is\n%s", text)
	}
}

func TestManyProblems(t *testing.T) {
	w := newWorld(t)
	w.put("a.yaml", strings.Repeat("---\nhello\n", 250))
	w.refresh()
	s := w.Status()
	if s.Problems != 250 || strings.Count(s.Error, "\n") != 10 || !strings.HasSuffix(s.Error, "\nand 240 more") {
		t.Errorf("status is %+v", s)
	}
}
