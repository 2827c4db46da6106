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
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd"
)

// TestNotAList has a server whose lists are none: nothing is taken for an
// empty one, or nobody would know that the rest is missing.
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
					say(w, body)
				}
				return isList(r)
			}}
			set, err := connect(t, "broken", s.start(t), failing).Read(t.Context(), cluster.ReadOptions{})
			all := failures(err)
			if len(all) != 1 {
				t.Fatalf("%s is taken for a list: %v, %v", body, contents(set), err)
			}
			judge(t, all[0], badDay{reason: body, want: cluster.Server, says: []string{"list compositeresourcedefinitions." + ours, "not a list", "check its url"}})
			if diff := cmp.Diff([]string{"broken/composition/how"}, contents(set)); diff != "" {
				t.Errorf("read of the rest (-want +got):\n%s", diff)
			}
			if n := len(s.seen("/compositeresourcedefinitions")); n != 1 {
				t.Errorf("%s is asked for %d times", body, n)
			}
		})
	}
	t.Run("NoItems", func(t *testing.T) {
		t.Parallel()
		s := &standIn{trouble: func(_ int, w http.ResponseWriter, r *http.Request) bool {
			if isList(r) {
				say(w, `{"kind":"AnyList","apiVersion":"v1","metadata":{},"items":null}`)
			}
			return isList(r)
		}}
		if _, err := connect(t, "here", s.start(t), failing).Read(t.Context(), cluster.ReadOptions{}); err != nil {
			t.Errorf("a list without items is a list: %v", err)
		}
	})
}

// TestForbiddenPart has a permission missing: the rest is read, and the rule
// that is missing is told so that it can be added as it is.
func TestForbiddenPart(t *testing.T) {
	t.Parallel()
	const here = "here"
	cases := map[string]struct {
		reason string
		path   string
		want   cluster.Rule
		// lost are parts of what is not read.
		lost []string
	}{
		"Definitions": {
			reason: "without definitions there are no composites", path: "/compositeresourcedefinitions",
			want: cluster.Rule{Groups: []string{ours}, Resources: []string{"compositeresourcedefinitions"}, Verbs: []string{"list"}},
			lost: []string{"/xrd/", "/xas/", "/xbs/"},
		},
		"Compositions": {
			reason: "Compositions alone are missing", path: "/compositions",
			want: cluster.Rule{Groups: []string{ours}, Resources: []string{"compositions"}, Verbs: []string{"list"}},
			lost: []string{"/composition/"},
		},
		"Composites": {
			reason: "the composites of one kind are missing", path: "/xbs",
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
			said.keeps(t, err)
			docs, bad := tree.DecodeBytes([]byte(e.Missing.YAML()))
			if len(docs) != 1 || len(bad) > 0 {
				t.Fatalf("%s\nthe rule is not YAML: %v\n%s", tc.reason, bad, e.Missing.YAML())
			}
			again := fmt.Sprintf(`[{"apiGroups":[%q],"resources":[%q],"verbs":["list"]}]`, tc.want.Groups[0], tc.want.Resources[0])
			if diff := cmp.Diff(again, string(tree.AppendJSON(nil, docs[0], ""))); diff != "" {
				t.Errorf("%s\nthe rule as YAML (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestOneGroup has a server that serves one of the two groups, or both.
func TestOneGroup(t *testing.T) {
	t.Parallel()
	for name, groups := range map[string][]string{"Ours": {ours}, "Other": {other}, "Both": {other, ours}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set, err := connect(t, "here", (&standIn{groups: groups}).start(t), patient).Read(t.Context(), cluster.ReadOptions{})
			if err != nil || len(set.Definitions) != 2*len(groups) || len(set.Compositions) != len(groups) {
				t.Errorf("%d definitions and %d Compositions of %d groups, %v", len(set.Definitions), len(set.Compositions), len(groups), err)
			}
		})
	}
}

// TestOverlap asks for definitions by a label that has two spellings: one that
// carries both is one definition.
func TestOverlap(t *testing.T) {
	t.Parallel()
	labels, err := xrd.ParseSelector("example.dev/ingest=true")
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
		t.Errorf("the server was asked %d times, want once for each spelling", n)
	}
}

// TestSpoilt has objects that cannot be read among a thousand that can.
func TestSpoilt(t *testing.T) {
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
		"Deep":       {"nesting is bounded", named("deep", `"spec":`+strings.Repeat(`{"a":`, 500)+"1"+strings.Repeat("}", 500)), "deep", "nested more than"},
		"VeryDeep":   {"nesting without end costs neither the name nor the memory", named("deep", `"spec":`+strings.Repeat("[", 2<<20)+strings.Repeat("]", 2<<20)), "deep", "nested more than"},
		"Large":      {"size is bounded", named("large", `"spec":"`+strings.Repeat("x", 17<<20)+`"`), "large", "larger than"},
		"NameLast":   {"a name may come late", `{"spec":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `,"metadata":{"labels":{"name":"no"},"name":"late"}}`, "late", "nested more than"},
		"DeepNoName": {"a name may be missing", strings.Repeat("[", 200) + strings.Repeat("]", 200), "", "nested more than"},
		"Number":     {"a number is no object", "42", "", "not an object"},
		"Text":       {"a text is no object", `"` + ours + `"`, "", "not an object"},
		"Null":       {"nothing is no object", "null", "", "not an object"},
		"List":       {"a list is no object, whatever is in it", "[" + definitionItem(ours, "inner", "") + "]", "", "not an object"},
		"NoName":     {"an object has a name", `{"apiVersion":"` + ours + `/v1","kind":"CompositeResourceDefinition"}`, "", "no name"},
		"NotJSON":    {"what is between the brackets may be nonsense", `{"metadata":{"name":"odd"},"spec":{nonsense}}`, "odd", "not complete JSON"},
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
