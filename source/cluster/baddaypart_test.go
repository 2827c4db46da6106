package cluster_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/selector"
)

// TestNotAList checks a server whose lists are malformed: they are not taken as
// empty lists, which would hide that objects are missing.
func TestNotAList(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"Object": `{"kind":"Status","status":"Success"}`, "Empty": `{}`, "Array": `[]`, "Null": `null`, "Text": `"hello"`,
		"ItemsText": `{"kind":"AnyList","items":"hello"}`, "ItemsMap": `{"kind":"AnyList","items":{}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &standIn{trouble: func(_ int, w http.ResponseWriter, r *http.Request) bool {
				if isList(r) {
					respond(w, body)
				}
				return isList(r)
			}}
			set, err := connect(t, "broken", s.start(t), failing).Read(t.Context(), cluster.ReadOptions{})
			all := failures(err)
			if len(all) != 1 {
				t.Fatalf("%s was accepted as a list: %v, %v", body, contents(set), err)
			}
			checkError(t, all[0], badDay{reason: body, want: cluster.Server, says: []string{"list compositeresourcedefinitions." + ours, "not a list", "check the url of the cluster"}})
			if diff := cmp.Diff([]string{"broken/composition/how"}, contents(set)); diff != "" {
				t.Errorf("other objects (-want +got):\n%s", diff)
			}
			if n := len(s.seen("/compositeresourcedefinitions")); n != 1 {
				t.Errorf("%s was requested %d times", body, n)
			}
		})
	}
	t.Run("NoItems", func(t *testing.T) {
		t.Parallel()
		s := &standIn{trouble: func(_ int, w http.ResponseWriter, r *http.Request) bool {
			if isList(r) {
				respond(w, `{"kind":"AnyList","apiVersion":"v1","metadata":{},"items":null}`)
			}
			return isList(r)
		}}
		if _, err := connect(t, "here", s.start(t), failing).Read(t.Context(), cluster.ReadOptions{}); err != nil {
			t.Errorf("list without items was refused: %v", err)
		}
	})
}

// TestForbiddenPart checks a missing permission: everything else is read, and
// the error contains the missing rule ready to be added.
func TestForbiddenPart(t *testing.T) {
	t.Parallel()
	const here = "here"
	cases := map[string]struct {
		reason string
		path   string
		want   cluster.Rule
		// lost are substrings of the objects that are not read.
		lost []string
	}{
		"Definitions": {
			reason: "Without definitions there are no composites.", path: "/compositeresourcedefinitions",
			want: cluster.Rule{Groups: []string{ours}, Resources: []string{"compositeresourcedefinitions"}, Verbs: []string{"list"}},
			lost: []string{"/xrd/", "/xas/", "/xbs/"},
		},
		"Compositions": {
			reason: "Only Compositions are missing.", path: "/compositions",
			want: cluster.Rule{Groups: []string{ours}, Resources: []string{"compositions"}, Verbs: []string{"list"}},
			lost: []string{"/composition/"},
		},
		"Composites": {
			reason: "The composites of one kind are missing.", path: "/xbs",
			want: cluster.Rule{Groups: []string{plain}, Resources: []string{"xbs"}, Verbs: []string{"list"}},
			lost: []string{"/xbs/"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &standIn{trouble: func(_ int, w http.ResponseWriter, r *http.Request) bool {
				not := strings.HasSuffix(r.URL.Path, tc.path)
				if not {
					refuse(w, http.StatusForbidden, "you cannot list this")
				}
				return not
			}}
			said := &journal{}
			opts := patient
			opts.Log = said.logger()
			set, err := connect(t, here, s.start(t), opts).Read(t.Context(), everything)
			wanted := slices.DeleteFunc(whole(here), func(s string) bool {
				return slices.ContainsFunc(tc.lost, func(part string) bool { return strings.Contains(s, part) })
			})
			if diff := cmp.Diff(wanted, contents(set)); diff != "" {
				t.Errorf("%s\nread (-want +got):\n%s", tc.reason, diff)
			}
			all := failures(err)
			if len(all) != 1 {
				t.Fatalf("%s\ngot %d errors, want one: %v", tc.reason, len(all), err)
			}
			e := all[0]
			if e.Cluster != here || e.Reason != cluster.Forbidden || !strings.Contains(e.Hint, tc.want.YAML()) || !strings.Contains(e.Error(), tc.want.Resources[0]) {
				t.Errorf("%s\ngot %+v", tc.reason, e)
			}
			if diff := cmp.Diff(tc.want, e.Missing); diff != "" {
				t.Errorf("%s\nmissing (-want +got):\n%s", tc.reason, diff)
			}
			said.checkNoCredential(t, err)
			docs, bad := parser.DecodeBytes([]byte(e.Missing.YAML()))
			if len(docs) != 1 || len(bad) > 0 {
				t.Fatalf("%s\nrule is not YAML: %v\n%s", tc.reason, bad, e.Missing.YAML())
			}
			again := fmt.Sprintf(`[{"apiGroups":[%q],"resources":[%q],"verbs":["list"]}]`, tc.want.Groups[0], tc.want.Resources[0])
			if diff := cmp.Diff(again, string(tree.AppendJSON(nil, docs[0], ""))); diff != "" {
				t.Errorf("%s\nrule as YAML (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestOneGroup checks servers that serve one of the two groups, or both.
func TestOneGroup(t *testing.T) {
	t.Parallel()
	for name, groups := range map[string][]string{"Ours": {ours}, "Other": {other}, "Both": {other, ours}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set, err := connect(t, "here", (&standIn{groups: groups}).start(t), patient).Read(t.Context(), cluster.ReadOptions{})
			if err != nil || len(set.Definitions) != 2*len(groups) || len(set.Compositions) != len(groups) {
				t.Errorf("read %d definitions and %d Compositions of %d groups, %v", len(set.Definitions), len(set.Compositions), len(groups), err)
			}
		})
	}
}

// TestOverlap selects definitions by a label with two spellings: a definition
// that has both is read once.
func TestOverlap(t *testing.T) {
	t.Parallel()
	labels, err := selector.Parse("example.dev/ingest=true")
	if err != nil {
		t.Fatal(err)
	}
	s := &standIn{definitions: []string{
		definitionItem(ours, "a", `"example.dev/ingest":"true"`), definitionItem(ours, "b", `"openportal.dev/ingest":"true"`),
		definitionItem(ours, "c", `"example.dev/ingest":"true","openportal.dev/ingest":"true"`), definitionItem(ours, "d", ""),
	}}
	set, err := connect(t, "here", s.start(t), patient).Read(t.Context(), cluster.ReadOptions{Labels: labels, NoCompositions: true})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"here/xrd/xas." + plain, "here/xrd/xbs." + plain, "here/xrd/xcs." + plain}
	if diff := cmp.Diff(want, contents(set)); diff != "" || set.Documents != 3 {
		t.Errorf("%d documents, read (-want +got):\n%s", set.Documents, diff)
	}
	if n := len(s.seen("/compositeresourcedefinitions")); n < 2 {
		t.Errorf("server was asked %d times, want once for each spelling", n)
	}
}

// TestUnreadable checks objects that cannot be parsed among a thousand valid ones.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	named := func(name, more string) string {
		return `{"apiVersion":"` + ours + `/v1","kind":"CompositeResourceDefinition","metadata":{"name":"` + name + `"},` + more + `}`
	}
	cases := map[string]struct {
		reason string
		item   string
		object string
		says   string
	}{
		"Deep":       {"The nesting depth is limited.", named("deep", `"spec":`+strings.Repeat(`{"a":`, 500)+"1"+strings.Repeat("}", 500)), "deep", "nested more than"},
		"VeryDeep":   {"Very deep nesting does not exhaust the memory, and the name is still found.", named("deep", `"spec":`+strings.Repeat("[", 2<<20)+strings.Repeat("]", 2<<20)), "deep", "nested more than"},
		"Large":      {"The size is limited.", named("large", `"spec":"`+strings.Repeat("x", 17<<20)+`"`), "large", "larger than"},
		"NameLast":   {"A name at the end is found.", `{"spec":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `,"metadata":{"labels":{"name":"no"},"name":"late"}}`, "late", "nested more than"},
		"DeepNoName": {"A missing name is reported.", strings.Repeat("[", 200) + strings.Repeat("]", 200), "", "nested more than"},
		"Number":     {"A number is not an object.", "42", "", "not an object"},
		"Text":       {"A string is not an object.", `"` + ours + `"`, "", "not an object"},
		"Null":       {"Null is not an object.", "null", "", "not an object"},
		"List":       {"A list is not an object, whatever it contains.", "[" + definitionItem(ours, "inner", "") + "]", "", "not an object"},
		"NoName":     {"An object without a name is reported.", `{"apiVersion":"` + ours + `/v1","kind":"CompositeResourceDefinition"}`, "", "metadata.name is missing"},
		"NotJSON":    {"An item that is not JSON is reported.", `{"metadata":{"name":"odd"},"spec":{nonsense}}`, "odd", "incomplete JSON"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			items := slices.Insert(many(1000), 500, tc.item, tc.item)
			set, err := connect(t, "here", (&standIn{definitions: items}).start(t), cluster.Options{Timeout: time.Minute}).Read(t.Context(), cluster.ReadOptions{NoCompositions: true})
			if err != nil {
				t.Fatalf("%s\n%v", tc.reason, err)
			}
			if len(set.Definitions) != 1000 || set.Documents != 1002 {
				t.Errorf("%s\n%d definitions of %d documents, want 1000 of 1002", tc.reason, len(set.Definitions), set.Documents)
			}
			if len(set.Findings) != 2 {
				t.Fatalf("%s\n%d findings, want two", tc.reason, len(set.Findings))
			}
			f := set.Findings[0]
			if tc.object == "" {
				tc.object = "an object without a readable name"
			}
			if f.Rule != xrd.RuleSyntax || f.Severity != finding.Error || f.Object != tc.object || !strings.Contains(f.Message, tc.says) || f.Hint == "" || f.Where() != "here/xrd/"+tc.object {
				t.Errorf("%s\ngot %+v at %s, want one of %q that says %q", tc.reason, f, f.Where(), tc.object, tc.says)
			}
		})
	}
}
