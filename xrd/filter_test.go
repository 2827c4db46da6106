package xrd

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/xrd/selector"
)

// read reads everything in text, which must be valid.
func read(t *testing.T, text string, origin Origin) *Set {
	t.Helper()
	var s Set
	if err := s.Read(strings.NewReader(text), origin); err != nil {
		t.Fatal(err)
	}
	if len(s.Findings) > 0 {
		t.Fatalf("%q has findings %v", text, s.Findings)
	}
	return &s
}

// define reads the only definition in text.
func define(t *testing.T, text string, origin Origin) *Definition {
	t.Helper()
	s := read(t, text, origin)
	if len(s.Definitions) != 1 {
		t.Fatalf("%q has %d definitions, want 1", text, len(s.Definitions))
	}
	return s.Definitions[0]
}

func labels(t *testing.T, s string) selector.Selector {
	t.Helper()
	out, err := selector.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

const database = `
apiVersion: apiextensions.crossplane.io/v1
kind: CompositeResourceDefinition
metadata:
  name: xdatabases.platform.io
  labels: {env: prod, openportal.dev/ingest: "true"}
  annotations: {backstage.io/owner: the db team}
spec:
  group: platform.io
  names: {kind: XDatabase, plural: xdatabases}
  claimNames: {kind: Database, plural: databases}
  versions:
    - {name: v1, served: true, referenceable: true, schema: {openAPIV3Schema: {type: object}}}
`

func TestFilterAdmit(t *testing.T) {
	cases := map[string]struct {
		reason string
		filter Filter
		want   string // why it is refused, empty if it is not
	}{
		"Nothing":        {"A filter that asks nothing chooses everything.", Filter{}, ""},
		"Labels":         {"Labels are in the contract's words.", Filter{Labels: labels(t, "env=prod,example.dev/ingest=true")}, ""},
		"LabelsUpstream": {"A selector may be in upstream words.", Filter{Labels: labels(t, "openportal.dev/ingest=true")}, ""},
		"LabelsOther":    {"The value is named.", Filter{Labels: labels(t, "env in (dev,test)")}, `label "env" is "prod", which selector "env in (dev,test)" does not match`},
		"LabelsAbsent":   {"A missing label is named.", Filter{Labels: labels(t, "env,tier=db")}, `label "tier" is missing, but selector "tier=db" requires it`},
		"LabelsPresent":  {"A label that must be absent is named.", Filter{Labels: labels(t, "!env")}, `label "env" is "prod", which selector "!env" does not match`},
		"Annotations":    {"Annotations are free text.", Filter{Annotations: annotations(t, "portal.io/owner=the db team")}, ""},
		"AnnotationsNot": {"The value is named.", Filter{Annotations: annotations(t, "portal.io/owner=x")}, `annotation "portal.io/owner" is "the db team", which selector "portal.io/owner=x" does not match`},
		"Groups":         {"One of the groups.", Filter{Groups: []string{"a.io", "platform.io"}}, ""},
		"GroupsNot":      {"None of the groups.", Filter{Groups: []string{"a.io", "b.io"}}, `group "platform.io" is none of ["a.io" "b.io"]`},
		"Exclude":        {"A name is left out.", Filter{Exclude: []string{"xdatabases.platform.io"}}, `name "xdatabases.platform.io" is excluded`},
		"ExcludeOther":   {"A part of a name is another name.", Filter{Exclude: []string{"xdatabases"}}, ""},
		"Kind":           {"A definition is of its own kind.", Filter{Kinds: []string{"CompositeResourceDefinition"}}, ""},
		"KindCase":       {"In any case.", Filter{Kinds: []string{"compositeresourcedefinition"}}, ""},
		"KindShort":      {"People say XRD.", Filter{Kinds: []string{"Composition", "xrd"}}, ""},
		"KindComposite":  {"The kind of its composites.", Filter{Kinds: []string{"xdatabase"}}, ""},
		"KindClaim":      {"The kind of its claims.", Filter{Kinds: []string{"Database"}}, ""},
		"KindNot":        {"Another kind.", Filter{Kinds: []string{"Composition"}}, `kind "XDatabase" is not "Composition"`},
		"KindEmpty":      {"No kind is no kind.", Filter{Kinds: []string{""}}, `kind "XDatabase" is not ""`},
		"APIVersion":     {"The contract's spelling.", Filter{APIVersions: []string{"apiextensions.composer.io/v1"}}, ""},
		"APIUpstream":    {"The upstream spelling.", Filter{APIVersions: []string{"apiextensions.crossplane.io/v1"}}, ""},
		"APIBare":        {"Only the version.", Filter{APIVersions: []string{"v2", "v1"}}, ""},
		"APINot":         {"Another version, named as it was written.", Filter{APIVersions: []string{"v2"}}, `apiVersion "apiextensions.crossplane.io/v1" is not "v2"`},
		"APIOther":       {"Another group.", Filter{APIVersions: []string{"platform.io/v1"}}, `apiVersion "apiextensions.crossplane.io/v1" is not "platform.io/v1"`},
		"Name":           {"A pattern matches anywhere.", Filter{Name: regexp.MustCompile("data.*io$")}, ""},
		"NameNot":        {"Or nowhere.", Filter{Name: regexp.MustCompile("^data")}, `name "xdatabases.platform.io" does not match "^data"`},
		"All":            {"Everything asked must hold.", Filter{Name: regexp.MustCompile("^x"), Groups: []string{"platform.io"}, Kinds: []string{"XRD"}, APIVersions: []string{"v1"}, Labels: labels(t, "env=dev")}, `label "env" is "prod", which selector "env=dev" does not match`},
	}
	d := define(t, database, Origin{})
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ok, why := tc.filter.Admit(d)
			if diff := cmp.Diff(tc.want, why); diff != "" {
				t.Errorf("%s\nwhy: -want, +got:\n%s", tc.reason, diff)
			}
			if ok != (tc.want == "") {
				t.Errorf("%s\nAdmit is %t", tc.reason, ok)
			}
		})
	}
}

func annotations(t *testing.T, s string) selector.Selector {
	t.Helper()
	out, err := selector.ParseAnnotations(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestFilterAdmitObject(t *testing.T) {
	composition := &Object{APIVersion: "apiextensions.composer.io/v1", Kind: "Composition", Name: "c"}
	composite := &Object{APIVersion: "platform.io/v1alpha1", Kind: "XDatabase", Name: "x"}
	cases := map[string]struct {
		reason                 string
		filter                 Filter
		composition, composite bool
	}{
		"Nothing":   {"A filter that asks nothing chooses everything.", Filter{}, true, true},
		"Others":    {"Only kinds and versions speak of other objects.", Filter{Name: regexp.MustCompile("^no$"), Groups: []string{"no"}, Exclude: []string{"c", "x"}, Labels: labels(t, "no")}, true, true},
		"Kind":      {"In any case.", Filter{Kinds: []string{"composition"}}, true, false},
		"KindOther": {"Their own kind.", Filter{Kinds: []string{"XRD", "XDatabase"}}, false, true},
		"Version":   {"With the group, in either vocabulary.", Filter{APIVersions: []string{"apiextensions.crossplane.io/v1"}}, true, false},
		"Bare":      {"Only the version.", Filter{APIVersions: []string{"v1alpha1"}}, false, true},
		"Both":      {"Both must hold.", Filter{APIVersions: []string{"v1"}, Kinds: []string{"XDatabase"}}, false, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.filter.AdmitObject(composition); got != tc.composition {
				t.Errorf("%s\nComposition: %t, want %t", tc.reason, got, tc.composition)
			}
			if got := tc.filter.AdmitObject(composite); got != tc.composite {
				t.Errorf("%s\ncomposite: %t, want %t", tc.reason, got, tc.composite)
			}
		})
	}
}
