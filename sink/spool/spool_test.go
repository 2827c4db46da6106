package spool

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/entity"
)

// component returns a small entity as JSON.
func component(name string) string {
	return `{"apiVersion":"portal.io/v1alpha1","kind":"Component","metadata":{"name":"` + name +
		`"},"spec":{"type":"service","lifecycle":"production","owner":"team"}}`
}

// document returns a small entity as YAML.
func document(name string) string {
	return "---\napiVersion: portal.io/v1alpha1\nkind: Component\nmetadata:\n  name: " + name +
		"\nspec:\n  type: service\n  lifecycle: production\n  owner: team\n"
}

func newSpool(t *testing.T, opts Options) *Spool {
	t.Helper()
	s, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// found returns the findings, one per line.
func found(s *Spool) []string {
	var out []string
	for _, f := range s.Findings() {
		out = append(out, f.Where()+" "+f.Severity.String()+" "+f.Rule+" "+f.Message)
	}
	return out
}

func lines(t *testing.T, s *Spool) string {
	t.Helper()
	r, err := s.Reader()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestRead(t *testing.T) {
	cases := map[string]struct {
		reason  string
		opts    Options
		in      string
		lines   string
		found   []string
		failure string
		failed  bool
	}{
		"Documents": {
			reason: "Each YAML document becomes one line, in order.", in: document("b") + document("a"),
			lines: component("b") + "\n" + component("a") + "\n",
		},
		"Lines": {reason: "JSON objects are unchanged.", in: component("a") + "\n" + component("b"), lines: component("a") + "\n" + component("b") + "\n"},
		"List":  {reason: "A list is split into its items.", in: "[" + component("a") + ",\n" + component("b") + "]", lines: component("a") + "\n" + component("b") + "\n"},
		"Empty": {reason: "An empty input has no entities.", in: "---\n# empty\n---\n"},
		"Upstream": {
			reason: "Both vocabularies are accepted unchanged.", in: strings.Replace(component("a"), "portal.io", "backstage.io", 1),
			lines: strings.Replace(component("a"), "portal.io", "backstage.io", 1) + "\n",
		},
		"Torn": {
			reason: "A line that is cut off is reported with its position.", in: component("a") + "\n" + component("b")[:40],
			lines: component("a") + "\n",
			found: []string{`in:2:41 error ENT022 cannot read the document: unexpected end of input`},
		},
		"Invalid": {
			reason: "An entity that the catalog would refuse is reported.", in: component("a b"), lines: component("a b") + "\n",
			found: []string{`in:1:67 error ENT003 name "a b" is not allowed`},
		},
		"NoEntity": {
			reason: "A string is not an entity.", in: "hello", lines: "\"hello\"\n",
			found: []string{"in:1:1 error ENT022 cannot read entity: must be a map, found string"},
		},
		"Definition": {
			reason: "A definition is not an entity.", in: `{"apiVersion":"apiextensions.crossplane.io/v1","kind":"CompositeResourceDefinition","metadata":{"name":"a"},"spec":{}}`,
			lines: `{"apiVersion":"apiextensions.crossplane.io/v1","kind":"CompositeResourceDefinition","metadata":{"name":"a"},"spec":{}}` + "\n",
			found: []string{"in:1:1 error ENT022 cannot read entity: found a CompositeResourceDefinition"},
		},
		"Twice": {
			reason: "A duplicate reference is reported, regardless of case.", in: component("a") + "\n" + component("b") + "\n" + component("A"),
			lines: component("a") + "\n" + component("b") + "\n" + component("A") + "\n",
			found: []string{"in:3:1 error ENT021 duplicate component:default/a, first at in:1:1"},
		},
		"Failed": {
			reason: "A failure record is not an entity, and is returned as an error.", in: component("a") + "\n" + `{"error":{"message":"1 of 2 files"}}`,
			lines: component("a") + "\n", failure: "1 of 2 files", failed: true,
		},
		"Removal": {
			reason: "A removal is accepted if Changes is set.", opts: Options{Changes: true}, in: `{"remove":"Component:shop"}`,
			lines: `{"remove":"component:default/shop"}` + "\n",
		},
		"RemovalOfNothing": {
			reason: "A removal needs a valid reference.", opts: Options{Changes: true}, in: `{"remove":"shop"}`,
			found: []string{`in:1:1 error ENT017 cannot read entity reference "shop": kind is missing`},
		},
		"RemovalFromState": {
			reason: "A removal is refused if Changes is not set.", in: `{"remove":"component:shop"}`,
			lines: `{"remove":"component:shop"}` + "\n",
			found: []string{"in:1:2 error ENT022 cannot read entity: remove is not a field of an entity"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newSpool(t, tc.opts)
			if err := s.Read(strings.NewReader(tc.in), "in"); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.lines, lines(t, s)); diff != "" {
				t.Errorf("%s\nlines (-want +got):\n%s", tc.reason, diff)
			}
			got := found(s)
			if len(got) != len(tc.found) {
				t.Fatalf("%s\nfound %q, want %q", tc.reason, got, tc.found)
			}
			for i, want := range tc.found {
				if !strings.HasPrefix(got[i], want) {
					t.Errorf("%s\nfound %q, want %q", tc.reason, got[i], want)
				}
			}
			if why, ok := s.Failure(); why != tc.failure || ok != tc.failed {
				t.Errorf("%s\nfailure %q %v, want %q %v", tc.reason, why, ok, tc.failure, tc.failed)
			}
		})
	}
}

// TestPlaces checks the position of each line.
func TestPlaces(t *testing.T) {
	s := newSpool(t, Options{})
	if err := s.Read(strings.NewReader(document("a")+document("b")), "a.yaml"); err != nil {
		t.Fatal(err)
	}
	if err := s.Read(strings.NewReader("\n"+component("c")), "c.json"); err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(entity.Ref{Kind: "component", Name: "d"}); err != nil {
		t.Fatal(err)
	}
	got := []string{s.Where(0), s.Where(1), s.Where(2), s.Where(3), s.Where(4), s.Where(5)}
	if diff := cmp.Diff([]string{"", "a.yaml:2:1", "a.yaml:11:1", "c.json:2:1", "", ""}, got); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
	var names []string
	for n, err := range s.All() {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, n.Get("metadata", "name").Str())
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, names); diff != "" || s.Len() != 4 {
		t.Errorf("%d lines; references without removals (-want +got):\n%s", s.Len(), diff)
	}
}

// TestManyFindings checks that memory does not grow with the number of
// findings.
func TestManyFindings(t *testing.T) {
	s := newSpool(t, Options{})
	if err := s.Read(strings.NewReader(strings.Repeat("nonsense\n---\n", MaxFindings+5)), "in"); err != nil {
		t.Fatal(err)
	}
	if len(s.Findings()) != MaxFindings || s.Unkept(finding.Error) != 5 || s.Unkept(finding.Warning) != 0 {
		t.Errorf("%d findings are kept, %d are dropped", len(s.Findings()), s.Unkept(finding.Error))
	}
}

// TestReaderFails checks that an error of the reader is returned.
func TestReaderFails(t *testing.T) {
	s := newSpool(t, Options{})
	broken := errors.New("the pipe broke")
	err := s.Read(io.MultiReader(strings.NewReader(component("a")+"\n"), iotest.ErrReader(broken)), "in")
	if !errors.Is(err, broken) {
		t.Errorf("got %v, want the error of the reader", err)
	}
}

// TestManyTwice checks that duplicates among many entities are found, and
// reported once however often they are requested.
func TestManyTwice(t *testing.T) {
	const many = block + 1000
	s := newSpool(t, Options{})
	var b strings.Builder
	for i := range many {
		fmt.Fprintf(&b, "%s\n", component(fmt.Sprintf("c%d", i%(many-3))))
	}
	if err := s.Read(strings.NewReader(b.String()), "in"); err != nil {
		t.Fatal(err)
	}
	want := []string{
		fmt.Sprintf("in:%d:1 error ENT021 duplicate component:default/c0, first at in:1:1", many-2),
		fmt.Sprintf("in:%d:1 error ENT021 duplicate component:default/c1, first at in:2:1", many-1),
		fmt.Sprintf("in:%d:1 error ENT021 duplicate component:default/c2, first at in:3:1", many),
	}
	for range 2 {
		if diff := cmp.Diff(want, found(s)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	}
	if err := s.Read(strings.NewReader(component("c7")), "more"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(append(want, "more:1:1 error ENT021 duplicate component:default/c7, first at in:8:1"), found(s)); diff != "" {
		t.Errorf("later entities are compared with all (-want +got):\n%s", diff)
	}
}
