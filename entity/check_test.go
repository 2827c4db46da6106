package entity

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/words"
)

// spec parses a spec in YAML.
func spec(text string) *tree.Node {
	docs, errs := parser.DecodeBytes([]byte(text))
	if len(errs) > 0 || len(docs) != 1 {
		panic(fmt.Sprintf("cannot read spec: %v in %s", errs, text))
	}
	return docs[0]
}

var goodSpecs = map[string]string{
	KindTemplate:  "{type: infrastructure, owner: team, parameters: [{title: A, properties: {a: {type: string}}}], steps: [{id: a, name: A, action: 'cluster:apply', input: {manifest: {kind: A}}}]}",
	KindAPI:       "{type: openapi, lifecycle: production, owner: team, system: platform, definition: 'openapi: 3.0.0'}",
	KindResource:  "{type: composer-xrd, owner: 'group:ops/team', system: platform, dependsOn: ['resource:default/a', 'api:b'], implementsApi: ['api:default/a']}",
	KindComponent: "{type: service, lifecycle: production, owner: 'user:me', providesApis: [a], consumesApis: ['ops/b'], dependencyOf: ['component:c'], subcomponentOf: d}",
	KindSystem:    "{owner: team, domain: data}",
	KindDomain:    "{owner: team, subdomainOf: data}",
	KindLocation:  "{type: file, targets: [./a.yaml, ./b.yaml]}",
	KindGroup:     "{type: team, parent: all, children: [], members: [me], owner: 7}",
	KindUser:      "{memberOf: [team], profile: {}}",
}

// goodEntity returns a valid entity.
func goodEntity(kind string) *Entity {
	e := &Entity{
		APIVersion: words.EntityVersion,
		Kind:       kind,
		Metadata: Metadata{
			Name:        "databases.platform.io",
			Namespace:   "default",
			Title:       "Databases",
			Description: "Makes a database.",
			Labels:      map[string]string{words.LabelVersion: "1.2.3", "empty": ""},
			Annotations: map[string]string{
				words.AnnotationManagedBy:       "url:https://example.com/a",
				words.AnnotationManagedByOrigin: "file:./a.yaml",
				words.AnnotationXRDName:         "databases.platform.io",
			},
			Tags:  []string{words.TagComposer, words.TagSource},
			Links: []Link{{URL: "https://example.com", Title: "Docs", Icon: "docs"}},
		},
		Spec: spec(goodSpecs[kind]),
	}
	if kind == KindTemplate {
		e.APIVersion = words.TemplateVersion
	}
	return e
}

func TestCheckAcceptsGoodEntities(t *testing.T) {
	for kind := range goodSpecs {
		for _, v := range []words.Vocabulary{words.Portal, words.Upstream} {
			e := goodEntity(kind)
			Speak(e, v)
			if got := Check(e); len(got) != 0 {
				t.Errorf("findings of a valid %s in vocabulary %s: %v", kind, v, got)
			}
		}
	}
	e := &Entity{APIVersion: "v1", Kind: "Custom", Metadata: goodEntity(KindAPI).Metadata}
	e.Metadata.Namespace = ""
	if got := Check(e); len(got) != 0 {
		t.Errorf("findings of a kind without rules, without spec and namespace: %v", got)
	}
}

func TestCheckMetadata(t *testing.T) {
	long := strings.Repeat("a", 64)
	cases := map[string]struct {
		reason string
		change func(e *Entity)
		want   []string
	}{
		"apiVersion missing":    {"The apiVersion is required.", func(e *Entity) { e.APIVersion = "" }, []string{"ENT001 apiVersion"}},
		"apiVersion group":      {"The group must be a domain.", func(e *Entity) { e.APIVersion = "Portal.io/v1" }, []string{"ENT001 apiVersion"}},
		"apiVersion version":    {"The version must not contain dots.", func(e *Entity) { e.APIVersion = "portal.io/v1.2" }, []string{"ENT001 apiVersion"}},
		"kind missing":          {"The apiVersion is required.", func(e *Entity) { e.Kind = "" }, []string{"ENT002 kind"}},
		"kind digit":            {"The kind must begin with a letter.", func(e *Entity) { e.Kind = "1a" }, []string{"ENT002 kind"}},
		"name missing":          {"The apiVersion is required.", func(e *Entity) { e.Metadata.Name = "" }, []string{"ENT003 metadata.name"}},
		"name too long":         {"The length of the name is limited.", func(e *Entity) { e.Metadata.Name = long }, []string{"ENT003 metadata.name"}},
		"namespace upper case":  {"The namespace must be in lower case.", func(e *Entity) { e.Metadata.Namespace = "A" }, []string{"ENT004 metadata.namespace"}},
		"label key":             {"A label key has at most one slash.", func(e *Entity) { e.Metadata.Labels = map[string]string{"a/b/c": ""} }, []string{`ENT005 metadata.labels["a/b/c"]`}},
		"label value":           {"A label value must have the form of a name.", func(e *Entity) { e.Metadata.Labels = map[string]string{"a": "b c"} }, []string{`ENT006 metadata.labels["a"]`}},
		"label key and value":   {"Both the key and the value are reported.", func(e *Entity) { e.Metadata.Labels = map[string]string{"a b": "b c"} }, []string{`ENT005 metadata.labels["a b"]`, `ENT006 metadata.labels["a b"]`}},
		"annotation keys":       {"Several findings are sorted by key.", func(e *Entity) { e.Metadata.Annotations["-b"], e.Metadata.Annotations["-a"] = "", "" }, []string{`ENT007 metadata.annotations["-a"]`, `ENT007 metadata.annotations["-b"]`}},
		"tags":                  {"Each invalid tag is reported.", func(e *Entity) { e.Metadata.Tags = []string{"a.b", "c", "D"} }, []string{"ENT008 metadata.tags[0]", "ENT008 metadata.tags[2]"}},
		"tag empty":             {"An empty tag is invalid.", func(e *Entity) { e.Metadata.Tags = []string{""} }, []string{"ENT008 metadata.tags[0]"}},
		"link":                  {"The URL of a link must be absolute.", func(e *Entity) { e.Metadata.Links = []Link{{URL: "/docs"}} }, []string{"ENT009 metadata.links[0].url"}},
		"link script":           {"Browsers execute links with this scheme.", func(e *Entity) { e.Metadata.Links = []Link{{URL: "javascript:alert(1)"}} }, []string{"ENT009 metadata.links[0].url"}},
		"link script cased":     {"Schemes are case-insensitive.", func(e *Entity) { e.Metadata.Links = []Link{{URL: "https://a"}, {URL: "JavaScript:alert(1)"}} }, []string{"ENT009 metadata.links[1].url"}},
		"link script spaced":    {"Browsers ignore control characters and spaces before a scheme.", func(e *Entity) { e.Metadata.Links = []Link{{URL: "\x01 javascript:alert(1)"}} }, []string{"ENT009 metadata.links[0].url"}},
		"link script broken":    {"Browsers ignore line breaks inside a scheme.", func(e *Entity) { e.Metadata.Links = []Link{{URL: "java\nscript:alert(1)"}} }, []string{"ENT009 metadata.links[0].url"}},
		"link data":             {"Browsers show a data URL as a page.", func(e *Entity) { e.Metadata.Links = []Link{{URL: "data:text/html,x"}} }, []string{"ENT009 metadata.links[0].url"}},
		"link vbscript":         {"VBScript links are refused.", func(e *Entity) { e.Metadata.Links = []Link{{URL: "vbscript:x"}} }, []string{"ENT009 metadata.links[0].url"}},
		"link mail":             {"Links to mail addresses are accepted.", func(e *Entity) { e.Metadata.Links = []Link{{URL: "mailto:a@example.com"}} }, nil},
		"view":                  {"Portals show this annotation as a link.", func(e *Entity) { e.Metadata.Annotations["portal.io/view-url"] = "javascript:alert(1)" }, []string{`ENT023 metadata.annotations["portal.io/view-url"]`}},
		"edit upstream":         {"The upstream annotation is checked too.", func(e *Entity) { e.Metadata.Annotations["backstage.io/edit-url"] = " data:text/html,x" }, []string{`ENT023 metadata.annotations["backstage.io/edit-url"]`}},
		"source":                {"Portals show the target of a location as a link.", func(e *Entity) { e.Metadata.Annotations["backstage.io/source-location"] = "url:javascript:alert(1)" }, []string{`ENT023 metadata.annotations["backstage.io/source-location"]`}},
		"source folder":         {"Other location types are not shown as links.", func(e *Entity) { e.Metadata.Annotations["backstage.io/source-location"] = "dir:data:x" }, nil},
		"any annotation":        {"A plugin may show any annotation as a link.", func(e *Entity) { e.Metadata.Annotations["example.org/board"] = "\tJAVASCRIPT\n:x" }, []string{`ENT023 metadata.annotations["example.org/board"]`}},
		"text of an annotation": {"Text that begins with a word and a colon is accepted.", func(e *Entity) { e.Metadata.Annotations["example.org/note"] = "data: none" }, nil},
		"view of the web":       {"A web URL is accepted.", func(e *Entity) { e.Metadata.Annotations["portal.io/view-url"] = "https://example.com" }, nil},
		"no locations":          {"Both location annotations are required.", func(e *Entity) { e.Metadata.Annotations = nil }, []string{"ENT019 metadata.annotations", "ENT019 metadata.annotations"}},
		"no origin":             {"Each of the location annotations is required.", func(e *Entity) { delete(e.Metadata.Annotations, words.AnnotationManagedByOrigin) }, []string{"ENT019 metadata.annotations"}},
		"location without type": {"A location needs a type.", func(e *Entity) { e.Metadata.Annotations[words.AnnotationManagedBy] = "https://a" }, []string{`ENT020 metadata.annotations["portal.io/managed-by-location"]`}},
		"upstream location": {"The finding contains the key as written.", func(e *Entity) {
			Speak(e, words.Upstream)
			e.Metadata.Annotations["backstage.io/managed-by-location"] = "a"
		}, []string{`ENT020 metadata.annotations["backstage.io/managed-by-location"]`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := goodEntity(KindAPI)
			tc.change(e)
			compareFindings(t, tc.reason, tc.want, Check(e), e.Key())
		})
	}
}

func TestCheckSpec(t *testing.T) {
	cases := map[string]struct {
		reason string
		kind   string
		spec   string
		want   []string
	}{
		"no map":                 {"The spec must be a map.", "Group", "[a]", []string{"ENT010 spec"}},
		"api":                    {"All four fields are required.", KindAPI, "{}", []string{"ENT011 spec.type", "ENT011 spec.lifecycle", "ENT011 spec.owner", "ENT011 spec.definition"}},
		"api definition":         {"The definition must be a string.", KindAPI, "{type: a, lifecycle: b, owner: c, definition: {openapi: a}}", []string{"ENT011 spec.definition"}},
		"resource":               {"Both fields are required.", KindResource, "{type: ''}", []string{"ENT011 spec.type", "ENT011 spec.owner"}},
		"component":              {"All three fields are required.", KindComponent, "{type: 1, owner: []}", []string{"ENT011 spec.type", "ENT011 spec.lifecycle", "ENT011 spec.owner"}},
		"system":                 {"The owner is required.", KindSystem, "{}", []string{"ENT011 spec.owner"}},
		"domain":                 {"The owner is required.", KindDomain, "{owner: null}", []string{"ENT011 spec.owner"}},
		"template":               {"The type and the steps are required.", KindTemplate, "{}", []string{"ENT011 spec.type", "ENT013 spec.steps"}},
		"template owner":         {"An owner is optional, but must not be empty.", KindTemplate, "{type: a, owner: '', steps: [{action: a}]}", []string{"ENT012 spec.owner"}},
		"template lifecycle":     {"A lifecycle is optional, but must be a string.", KindTemplate, "{type: a, lifecycle: 1, steps: [{action: a}]}", []string{"ENT012 spec.lifecycle"}},
		"template steps empty":   {"At least one step is required.", KindTemplate, "{type: a, steps: []}", []string{"ENT013 spec.steps"}},
		"template steps map":     {"The steps must be a list.", KindTemplate, "{type: a, steps: {a: {action: b}}}", []string{"ENT013 spec.steps"}},
		"template step text":     {"A step must be a map.", KindTemplate, "{type: a, steps: [a, {action: b}]}", []string{"ENT013 spec.steps[0]"}},
		"template step action":   {"A step needs an action.", KindTemplate, "{type: a, steps: [{action: b}, {id: c}]}", []string{"ENT014 spec.steps[1].action"}},
		"template step types":    {"The fields of a step must have the correct types.", KindTemplate, "{type: a, steps: [{id: 1, name: [], action: b, input: c}]}", []string{"ENT012 spec.steps[0].id", "ENT012 spec.steps[0].name", "ENT012 spec.steps[0].input"}},
		"template parameters":    {"The parameters must be schemas.", KindTemplate, "{type: a, parameters: text, steps: [{action: b}]}", []string{"ENT015 spec.parameters"}},
		"template pages":         {"Each page must be a schema.", KindTemplate, "{type: a, parameters: [{}, a], steps: [{action: b}]}", []string{"ENT015 spec.parameters[1]"}},
		"template output script": {"Portals show the output as links.", KindTemplate, "{type: a, steps: [{action: b}], output: {links: [{url: '${{ steps.b.output.url }}'}, {url: /catalog}, {url: 'javascript:${{ parameters.x }}'}]}}", []string{"ENT024 spec.output.links[2].url"}},
		"template one page":      {"A map is accepted as a single page.", KindTemplate, "{type: a, parameters: {properties: {}}, steps: [{action: b}]}", nil},
		"location":               {"A Location needs a target.", KindLocation, "{type: file}", []string{"ENT016 spec"}},
		"location nothing":       {"An empty list of targets is refused.", KindLocation, "{targets: []}", []string{"ENT016 spec"}},
		"location target":        {"A single target is accepted.", KindLocation, "{type: url, target: 'https://a'}", nil},
		"location target type":   {"The target must be a string.", KindLocation, "{type: 1, target: 2}", []string{"ENT012 spec.type", "ENT012 spec.target"}},
		"location targets type":  {"The targets must be a list.", KindLocation, "{targets: a}", []string{"ENT012 spec.targets", "ENT016 spec"}},
		"location targets item":  {"Each target must be a string.", KindLocation, "{targets: [a, 2, '']}", []string{"ENT012 spec.targets[1]", "ENT012 spec.targets[2]"}},
		"owner":                  {"The owner must be a reference.", KindSystem, "{owner: 'a:b:c'}", []string{"ENT017 spec.owner"}},
		"owner title":            {"A title is not a valid reference to a group.", KindSystem, "{owner: Team A}", []string{"ENT018 spec.owner"}},
		"owner namespace case":   {"References are case-insensitive.", KindSystem, "{owner: 'Group:Ops/A'}", nil},
		"domain ref":             {"The domain must be a reference.", KindSystem, "{owner: a, domain: 'a/'}", []string{"ENT017 spec.domain"}},
		"system type":            {"The system must be a string.", KindAPI, "{type: a, lifecycle: b, owner: c, definition: d, system: [e]}", []string{"ENT012 spec.system"}},
		"subdomain":              {"The parent domain must be a reference.", KindDomain, "{owner: a, subdomainOf: ':'}", []string{"ENT017 spec.subdomainOf"}},
		"depends on no kind":     {"The references of dependsOn need a kind.", KindResource, "{type: a, owner: b, dependsOn: ['resource:c', d], dependencyOf: [e]}", []string{"ENT017 spec.dependsOn[1]", "ENT017 spec.dependencyOf[0]"}},
		"depends on text":        {"dependsOn must be a list.", KindResource, "{type: a, owner: b, dependsOn: 'resource:c'}", []string{"ENT012 spec.dependsOn"}},
		"depends on item":        {"Each item of dependsOn must be a string.", KindResource, "{type: a, owner: b, dependsOn: [1]}", []string{"ENT012 spec.dependsOn[0]"}},
		"apis":                   {"The kind API is implied.", KindComponent, "{type: a, lifecycle: b, owner: c, providesApis: [d, ''], consumesApis: [e/f/g]}", []string{"ENT012 spec.providesApis[1]", "ENT017 spec.consumesApis[0]"}},
		"implements":             {"The kind API is implied.", KindResource, "{type: a, owner: b, implementsApi: [c, 'd e']}", []string{"ENT018 spec.implementsApi[1]"}},
		"subcomponent":           {"The parent component must be a reference.", KindComponent, "{type: a, lifecycle: b, owner: c, subcomponentOf: {}}", []string{"ENT012 spec.subcomponentOf"}},
		"fields without rules":   {"Fields without rules are not checked.", KindResource, "{type: a, owner: b, presence: 1, parameters: 2, steps: 3, target: 4}", nil},
		"kinds without rules":    {"Kinds without rules are not checked.", "Custom", "{owner: [1], dependsOn: 2}", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := goodEntity(KindAPI)
			e.Kind, e.Spec = tc.kind, spec(tc.spec)
			compareFindings(t, tc.reason, tc.want, Check(e), e.Key())
		})
	}
	for kind := range required {
		e := goodEntity(kind)
		e.Spec = nil
		compareFindings(t, "a kind with rules needs a spec", []string{"ENT010 spec"}, Check(e), e.Key())
	}
}

// compareFindings compares rules and paths, and checks that every finding is
// complete.
func compareFindings(t *testing.T, reason string, want []string, got []finding.Finding, object string) {
	t.Helper()
	var short []string
	for _, f := range got {
		short = append(short, f.Rule+" "+f.Path)
		if f.Object != object || f.Message == "" || f.Hint == "" || f.Severity != severityOf(f.Rule) {
			t.Errorf("%s\nfinding is incomplete: %+v", reason, f)
		}
	}
	if diff := cmp.Diff(want, short); diff != "" {
		t.Errorf("%s\n-want +got:\n%s", reason, diff)
	}
}

func TestCheckAll(t *testing.T) {
	a, b, c := goodEntity(KindAPI), goodEntity(KindAPI), goodEntity(KindResource)
	b.Metadata.Name, b.Metadata.Namespace = "Databases.Platform.io", ""
	b.Metadata.Tags = []string{"A"}
	compareFindings(t, "case and the default namespace do not tell entities apart, kinds do",
		[]string{"ENT008 metadata.tags[0]", "ENT021 metadata.name"}, CheckAll([]*Entity{a, b, c}), a.Key())
	if got := CheckAll(nil); got != nil {
		t.Errorf("findings without entities: %v", got)
	}
}

func TestRules(t *testing.T) {
	for i, r := range Rules {
		if want := fmt.Sprintf("ENT%03d", i+1); r.ID != want {
			t.Errorf("rules are not in the order of their ids: got %s, want %s", r.ID, want)
		}
		if r.Title == "" || strings.Contains(r.Title, "\n") {
			t.Errorf("title of rule %s is not one line", r.ID)
		}
	}
	if got := severityOf("ENT999"); got != finding.Error {
		t.Errorf("severity of an unknown rule is %s, want error", got)
	}
}

// TestDropUnsafeURLs checks that an entity with an unsafe link is kept without
// the link.
func TestDropUnsafeURLs(t *testing.T) {
	e := goodEntity(KindAPI)
	e.Metadata.Links = append(e.Metadata.Links, Link{URL: "javascript:alert(1)", Title: "Run"}, Link{URL: "mailto:a@example.com"})
	e.Metadata.Annotations["backstage.io/view-url"] = "data:text/html,x"
	compareFindings(t, "each is named", []string{"ENT025 metadata.links[1].url", `ENT025 metadata.annotations["backstage.io/view-url"]`}, DropUnsafeURLs(e), e.Key())
	if got := Check(e); len(got) != 0 {
		t.Errorf("findings after unsafe URLs were dropped: %v", got)
	}
	if want := []Link{goodEntity(KindAPI).Metadata.Links[0], {URL: "mailto:a@example.com"}}; !cmp.Equal(want, e.Metadata.Links) {
		t.Errorf("links are %v, want the safe ones", e.Metadata.Links)
	}
	if got := DropUnsafeURLs(e); got != nil {
		t.Errorf("second call dropped %v, want nothing", got)
	}
}

func TestScheme(t *testing.T) {
	cases := map[string]string{
		"https://a": "https", "HTTP://a": "http", "/a:b": "", "a/b:c": "", "?a:b": "", "#a:b": "", "": "", ":a": "", "a": "", "1a:b": "",
		"javascript:x": "javascript", "\x00\x1f javascript:x": "javascript", "java\tscr\r\nipt:x": "javascript", "JaVaScRiPt\n:x": "javascript",
		"vbscript:x": "vbscript", " data:x": "data", "git+ssh://h": "git+ssh", "//host/a:b": "", "\u00a0javascript:x": "",
	}
	for in, want := range cases {
		if got := Scheme(in); got != want {
			t.Errorf("Scheme(%q): got %q, want %q", in, got, want)
		}
	}
}
