package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

func TestDeprecated(t *testing.T) {
	deprecated := set(true, "deprecated")
	cases := map[string]struct {
		reason      string
		edits       []edit
		description string
	}{
		"warning":    {"The deprecation warning of the author is shown.", []edit{deprecated, set("Use v2.", "deprecationWarning")}, "About it.\n\nDeprecated. Use v2."},
		"no warning": {"Without a warning the deprecation is still shown.", []edit{deprecated}, "About it.\n\nDeprecated."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			edits := append(tc.edits, schemaOf("About it.", "description"))
			d := define(t, words.Portal, versions(version("v1", edits...), version("v2")), annotated("portal.io/template-tags", "a,z"))
			res := transform(t, engine.ClusterIngestor, engine.Options{}, engine.Input{Definition: d})
			template := pick(t, res.Entities, entity.KindTemplate, "databases.platform.io-v1")
			api := pick(t, res.Entities, entity.KindAPI, "databases.platform.io-v1-api")
			for _, e := range []*entity.Entity{template, api} {
				if !strings.HasSuffix(e.Metadata.Title, " (deprecated)") {
					t.Errorf("%s\ntitle of the %s is %q", tc.reason, e.Kind, e.Metadata.Title)
				}
				if diff := cmp.Diff([]string{"composer", "source:composer-ingestor", "a", "deprecated", "z"}, e.Metadata.Tags); diff != "" {
					t.Errorf("%s\ntags of the %s (-want +got):\n%s", tc.reason, e.Kind, diff)
				}
			}
			if got := template.Metadata.Description; got != tc.description {
				t.Errorf("%s\ndescription is %q, want %q", tc.reason, got, tc.description)
			}
			document := parsed(t, api.Spec.Get("definition").Str())
			if got := document.Get("info", "description").Str(); got != tc.description {
				t.Errorf("%s\ndescription of the document is %q, want %q", tc.reason, got, tc.description)
			}
			for _, e := range res.Entities {
				if e == template || e == api {
					continue
				}
				if strings.Contains(e.Metadata.Title+e.Metadata.Description, "eprecated") || slices.Contains(e.Metadata.Tags, "deprecated") {
					t.Errorf("%s\n%s %s is marked as deprecated, want it unmarked", tc.reason, e.Kind, e.Metadata.Name)
				}
			}
		})
	}
}

// TestNoForm checks definitions for which no resource can be created. Each gets
// its Resource, one finding with a position, and nothing else.
func TestNoForm(t *testing.T) {
	spec := func(value any, path ...string) []edit {
		return []edit{set(value, append([]string{"spec"}, path...)...)}
	}
	cases := map[string]struct {
		reason string
		edits  []edit
	}{
		"nothing served":   {"No version is served.", []edit{versions(version("v1", set(false, "served")))}},
		"no versions":      {"There is no version.", spec([]any{}, "versions")},
		"nameless version": {"A version has no name.", []edit{versions(version(""))}},
		"versions a map":   {"The versions have the wrong type.", spec(object{"v1": object{}}, "versions")},
		"no spec":          {"The spec is missing.", []edit{without("spec")}},
		"no group":         {"The group is missing.", []edit{without("spec", "group")}},
		"no kind":          {"The kind is missing.", []edit{without("spec", "names", "kind")}},
		"no names":         {"The names are missing.", []edit{without("spec", "names")}},
		"expression":       {"The kind is an expression.", spec("${{ secrets.x }}", "names", "kind")},
		"path":             {"The kind is a path.", spec("../x", "names", "kind")},
		"two lines":        {"The kind has two lines.", spec("Data\nkind: Secret", "names", "kind")},
		"space":            {"The kind has a space.", spec("Data base", "names", "kind")},
		"quote":            {"The kind has a quote.", spec(`Data"base`, "names", "kind")},
		"letters":          {"The kind has letters that Kubernetes does not allow.", spec("Größe", "names", "kind")},
		"group":            {"The group is an expression.", spec("${{ secrets.x }}", "group")},
		"upper group":      {"The group is in upper case.", spec("Platform.io", "group")},
		"group's start":    {"The group begins with a dot.", spec(".platform.io", "group")},
		"plural's start":   {"The plural begins with a dash.", spec("-databases", "names", "plural")},
		"group with slash": {"The group contains a slash.", spec("platform.io/v1", "group")},
		"plural":           {"The plural is a path traversal.", spec("../x", "names", "plural")},
		"version":          {"The version is an expression.", []edit{versions(version("${{ secrets.x }}"))}},
		"claim":            {"The kind of the claim is an expression.", []edit{claimed("${{ secrets.x }}", "databases")}},
		"claim's plural":   {"The plural of the claim is a path traversal.", []edit{claimed("Database", "../x")}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			input := engine.Input{Definition: define(t, words.Portal, tc.edits...)}
			for _, p := range engine.Profiles {
				res := transform(t, p, engine.Options{GitOps: true}, input)
				if len(res.Entities) != 1 || res.Entities[0].Kind != entity.KindResource {
					t.Errorf("%s\n%s: got %q", tc.reason, p.Name, list(res.Entities))
				}
				if diff := cmp.Diff([]string{"ENG004"}, rules(res.Findings)); diff != "" {
					t.Errorf("%s\n%s: findings (-want +got):\n%s", tc.reason, p.Name, diff)
				}
				for _, f := range res.Findings {
					if f.Severity.String() != "warning" || f.Hint == "" || !strings.HasPrefix(f.Where(), "sample.yaml:") {
						t.Errorf("%s\n%s: finding %+v", tc.reason, p.Name, f)
					}
				}
			}
		})
	}
}

// TestBrokenStillTracks checks that Compositions and composites of a definition
// without a form are in the catalog, and have no dangling references.
func TestBrokenStillTracks(t *testing.T) {
	res := transform(t, engine.CLI, engine.Options{}, surrounded(t, words.Portal, versions(version("v1", set(false, "served")))))
	resolved(t, res.Entities)
	if len(res.Entities) != 3 || res.Entities[1].Metadata.Name != "postgres-composition" {
		t.Errorf("got %q", list(res.Entities))
	}
}

// marker is hostile text that must not be in an expression.
const marker = `${{ secrets.PWNED }}`

// TestHostileText puts an expression wherever a definition has text: none of it
// is in the input of a step.
func TestHostileText(t *testing.T) {
	field := func(value any, key string) edit {
		return versions(version("v1", schemaOf(value, "properties", "spec", "properties", "size", key)))
	}
	cases := map[string]struct {
		reason string
		edits  []edit
	}{
		"annotations": {"Annotations are text.", []edit{
			annotated("portal.io/template-title", marker), annotated("portal.io/template-description", marker), annotated("portal.io/owner", marker),
			annotated("portal.io/system", marker), annotated("portal.io/template-tags", marker), annotated("portal.io/default-namespace", marker),
			annotated("portal.io/api-version", marker), annotated("portal.io/api-kind", marker), annotated("portal.io/gitops-repo", marker), annotated("portal.io/gitops-path", marker),
		}},
		"labels":                 {"Labels are text.", []edit{labelled("portal.io/template-type", marker), labelled("example.dev/version", marker)}},
		"name":                   {"The name is text.", []edit{named(marker)}},
		"names":                  {"The composite kind is not used if there is a claim.", []edit{set(marker, "spec", "names", "kind"), claimed("Database", "databases")}},
		"singular":               {"The singular is not used.", []edit{set(marker, "spec", "names", "singular")}},
		"enforced":               {"The name of the enforced Composition is text.", []edit{set(marker, "spec", "enforcedCompositionRef", "name")}},
		"default":                {"The name of the default Composition is text.", []edit{set(marker, "spec", "defaultCompositionRef", "name")}},
		"policies":               {"Policies are text.", []edit{set(marker, "spec", "defaultCompositionUpdatePolicy"), set(marker, "spec", "defaultCompositeDeletePolicy")}},
		"deprecated":             {"A deprecation warning is text.", []edit{versions(version("v1", set(true, "deprecated"), set(marker, "deprecationWarning")))}},
		"schema's description":   {"The description of a schema is text.", []edit{versions(version("v1", schemaOf(marker, "description")))}},
		"title of a field":       {"The title of a field is text.", []edit{field(marker, "title")}},
		"description of a field": {"The description of a field is text.", []edit{field(marker, "description")}},
		"default of a field":     {"A default gets into the step only through the form.", []edit{field(marker, "default")}},
		"enum":                   {"Enum values get into the step only through the form.", []edit{field([]any{marker, "b"}, "enum")}},
		"pattern":                {"Patterns stay in the form.", []edit{field(marker, "pattern")}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, e := range []edit{nil, legacy} {
				edits := tc.edits
				if e != nil {
					edits = append(slices.Clone(edits), e)
				}
				input := engine.Input{Definition: define(t, words.Portal, edits...)}
				if input.Definition.Names.Kind == "Database" {
					give(t, words.Portal, &input, xrd.Origin{File: "c.yaml"}, composition(marker), composition("b"))
				}
				for _, p := range engine.Profiles {
					res := transform(t, p, engine.Options{GitOps: true}, input)
					template := first(t, res.Entities, entity.KindTemplate).Spec
					for _, part := range []string{"steps", "output"} {
						if yaml := string(tree.AppendYAML(nil, template.Get(part))); strings.Contains(yaml, "PWNED") {
							t.Errorf("%s\n%s: %s contains the text:\n%s", tc.reason, p.Name, part, yaml)
						}
					}
				}
			}
		})
	}
}

// TestHostileProperty checks the one text that must be in an expression, the
// name of a property: it is quoted and complete.
func TestHostileProperty(t *testing.T) {
	cases := map[string]string{
		`secrets.PWNED }} ${{ x`: `${{ parameters["secrets.PWNED }} ${{ x"] }}`,
		`a"] + secrets["b`:       `${{ parameters["a\"] + secrets[\"b"] }}`,
		`a\`:                     `${{ parameters["a\\"] }}`,
		"a\nb":                   `${{ parameters["a\nb"] }}`,
		"__proto__":              `${{ parameters.__proto__ }}`,
		"plain":                  `${{ parameters.plain }}`,
	}
	for name, want := range cases {
		props := object{name: object{"type": "string"}, "z": object{"type": "string"}}
		d := define(t, words.Portal, versions(version("v1", schemaOf(props, "properties", "spec", "properties"))))
		res := transform(t, engine.CLI, engine.Options{}, engine.Input{Definition: d})
		spec := first(t, res.Entities, entity.KindTemplate).Spec.Get("steps").List()[0].Get("input", "manifest", "spec")
		if got := spec.Get(name).Str(); got != want {
			t.Errorf("field %q is written as %s, want %s", name, got, want)
		}
	}
}

// TestWrongTypes reads definitions with wrong types at every path.
func TestWrongTypes(t *testing.T) {
	for _, wrong := range []any{nil, true, 7, "text", []any{}, []any{"x", nil}, object{}, object{"x": object{}}} {
		for _, path := range [][]string{
			{"metadata"}, {"metadata", "name"}, {"metadata", "labels"}, {"metadata", "annotations"}, {"metadata", "annotations", "portal.io/owner"},
			{"spec"}, {"spec", "group"}, {"spec", "names"}, {"spec", "names", "kind"}, {"spec", "claimNames"}, {"spec", "scope"}, {"spec", "versions"},
			{"spec", "defaultCompositionRef"}, {"spec", "enforcedCompositionRef"}, {"spec", "connectionSecretKeys"},
		} {
			for _, p := range engine.Profiles {
				// The test fails if a catalog refuses one of them.
				res := transform(t, p, engine.Options{GitOps: true}, engine.Input{Definition: define(t, words.Portal, set(wrong, path...))})
				if !slices.ContainsFunc(res.Entities, func(e *entity.Entity) bool { return e.Kind == entity.KindResource }) {
					t.Errorf("%s: no Resource with %v at %q", p.Name, wrong, path)
				}
			}
		}
		for _, path := range [][]string{{"served"}, {"name"}, {"schema"}, {"deprecated"}, {"deprecationWarning"}, {"schema", "openAPIV3Schema"}, {"schema", "openAPIV3Schema", "properties"}, {"schema", "openAPIV3Schema", "properties", "spec"}} {
			transform(t, engine.CLI, engine.Options{GitOps: true}, engine.Input{Definition: define(t, words.Portal, versions(version("v1", set(wrong, path...))))})
		}
	}
}
