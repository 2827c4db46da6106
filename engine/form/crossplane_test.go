package form

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd"
)

// crossplaneParams returns the parameters of the Crossplane page, those of the
// closed section after a colon.
func crossplaneParams(f *Form) string {
	i := pageTitled(f, "Crossplane")
	if i < 0 {
		return "none"
	}
	var shown, closed []string
	for _, p := range f.Pages.Items[i].Get("properties").Fields {
		if p.Value.Get("ui:options", "advanced").IsTrue() {
			closed = append(closed, p.Key)
			continue
		}
		shown = append(shown, p.Key)
	}
	return strings.Join(shown, " ") + " : " + strings.Join(closed, " ")
}

// TestCrossplanePage checks that the fields of the page depend on what the
// definition supports, not on the number of Compositions.
func TestCrossplanePage(t *testing.T) {
	const (
		keys     = `{apiVersion: apiextensions.crossplane.io/v1, spec: {names: {kind: XWidget, plural: xwidgets}, claimNames: {kind: Widget, plural: widgets}, connectionSecretKeys: [user, password]}}`
		enforced = `{apiVersion: apiextensions.crossplane.io/v1, spec: {names: {kind: XWidget, plural: xwidgets}, claimNames: {kind: Widget, plural: widgets}, enforcedCompositionRef: {name: the-one}}}`
		revision = "compositionUpdatePolicy compositionRevision compositionRevisionSelector"
	)
	cases := map[string]struct{ reason, kind, want string }{
		"modern":        {"v2 composites choose a Composition, its revision and the update policy.", modern, "composition compositionSelector : " + revision},
		"legacy":        {"v1 composites have a connection secret, which needs a namespace.", legacy, "composition compositionSelector : " + revision + " connectionSecret connectionSecretNamespace"},
		"claim":         {"Claims have a connection secret and the delete policy.", legacyClaim, "composition compositionSelector : " + revision + " connectionSecret compositeDeletePolicy"},
		"legacy in v2":  {"LegacyCluster works like v1.", modernLegacy, "composition compositionSelector : " + revision + " connectionSecret compositeDeletePolicy"},
		"secret keys":   {"The connection secret is not an advanced field if the definition names its keys.", keys, "composition compositionSelector connectionSecret : " + revision + " compositeDeletePolicy"},
		"enforced":      {"An enforced Composition is shown and removes no other field.", enforced, " : " + revision + " connectionSecret compositeDeletePolicy"},
		"with defaults": {"Defaults do not change the fields.", legacyDefaults, "composition compositionSelector : " + revision + " connectionSecret compositeDeletePolicy"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, known := range [][]string{nil, {"small"}, {"large", "small"}} {
				f := compileSpec(t, tc.kind, sized, Options{CompositionDetails: true, Compositions: known})
				if diff := cmp.Diff(tc.want, crossplaneParams(f.Form)); diff != "" {
					t.Errorf("%s\nwith %d Compositions: -want +got:\n%s", tc.reason, len(known), diff)
				}
			}
			if got := crossplaneParams(compileSpec(t, tc.kind, sized, Options{Compositions: []string{"a", "b"}}).Form); got != "none" {
				t.Errorf("page without includeCompositionDetails: %s", got)
			}
		})
	}
	f := compileSpec(t, keys, sized, Options{CompositionDetails: true})
	if got := f.Pages.Items[2].Get("properties", paramSecret, "description").Str(); !strings.Contains(got, "user, password") {
		t.Errorf("description of the connection secret does not have the keys: %s", got)
	}
	f = compileSpec(t, enforced, sized, Options{CompositionDetails: true})
	if got := f.Pages.Items[2].Get("description").Str(); got != "Made by the Composition the-one." {
		t.Errorf("description with an enforced Composition: %s", got)
	}
}

func TestCrossplaneAnswers(t *testing.T) {
	two := []string{"large", "small"}
	cases := map[string]struct {
		reason       string
		kind         string
		known        []string
		values, want string
		refused      []string
	}{
		"unknown":   {"Without known Compositions any name is accepted.", modern, nil, `{composition: any.name}`, `{crossplane: {compositionRef: {name: any.name}}}`, []string{`{composition: Not a name}`}},
		"one":       {"A single Composition needs no choice.", modern, two[:1], `{size: 1}`, `{size: 1}`, []string{`{composition: other}`}},
		"must":      {"With two Compositions and no default the choice is required.", modern, two, `{composition: small}`, `{crossplane: {compositionRef: {name: small}}}`, []string{`{}`, `{compositionSelector: {}}`, `{composition: other}`}},
		"must, v1":  {"The choice is required for claims too.", legacyClaim, two, `{composition: small}`, `{compositionRef: {name: small}}`, []string{`{}`}},
		"by labels": {"Labels are accepted as a choice.", legacyClaim, two, `{compositionSelector: {provider: aws}}`, `{compositionSelector: {matchLabels: {provider: aws}}}`, nil},
		"both":      {"A name and labels are accepted together.", legacyClaim, two, `{composition: large, compositionSelector: {provider: aws}}`, `{compositionRef: {name: large}, compositionSelector: {matchLabels: {provider: aws}}}`, nil},
		"default":   {"A default makes the choice optional.", legacyDefaults, two, `{}`, `{}`, nil},
		"proposed":  {"Labels override a preset name.", legacyDefaults, two, `{composition: small, compositionSelector: {a: b}}`, `{compositionSelector: {matchLabels: {a: b}}}`, nil},
		"modern": {"All fields go to spec.crossplane.", modernCluster, two,
			`{size: 1, composition: large, compositionSelector: {a: b}, compositionUpdatePolicy: Manual, compositionRevision: r-1, compositionRevisionSelector: {channel: dev}}`,
			`{size: 1, crossplane: {compositionRef: {name: large}, compositionSelector: {matchLabels: {a: b}}, compositionUpdatePolicy: Manual,
			  compositionRevisionRef: {name: r-1}, compositionRevisionSelector: {matchLabels: {channel: dev}}}}`,
			[]string{`{composition: small, compositionUpdatePolicy: Never}`},
		},
		"policy alone": {"A single field is enough.", modern, nil, `{compositionUpdatePolicy: Automatic}`, `{crossplane: {compositionUpdatePolicy: Automatic}}`, nil},
		"claim": {"All fields go to spec.", legacyClaim, two,
			`{size: 1, composition: small, compositionUpdatePolicy: Automatic, connectionSecret: conn, compositeDeletePolicy: Foreground, compositionRevision: r-1}`,
			`{size: 1, compositionRef: {name: small}, compositionUpdatePolicy: Automatic, compositionRevisionRef: {name: r-1}, writeConnectionSecretToRef: {name: conn}, compositeDeletePolicy: Foreground}`,
			[]string{`{composition: small, connectionSecret: Bad_Name}`, `{composition: small, connectionSecret: ""}`, `{composition: small, compositeDeletePolicy: Never}`},
		},
		"composite": {"A connection secret has a namespace.", legacy, nil, `{connectionSecret: conn, connectionSecretNamespace: vault}`, `{writeConnectionSecretToRef: {name: conn, namespace: vault}}`, nil},
		"namespace": {"A preset namespace alone creates no reference.", legacy, nil, `{connectionSecretNamespace: team-a, size: 1}`, `{size: 1}`, nil},
		"nothing":   {"Without input there are no empty references.", legacyClaim, nil, `{}`, `{}`, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := compileSpec(t, tc.kind, sized, Options{CompositionDetails: true, Compositions: tc.known, Namespace: "team-a"})
			checkFilled(t, tc.reason, f, tc.values, flat(tc.want))
			for _, refused := range tc.refused {
				if err := f.validate(withMetadata(yaml(t, refused))); err == nil {
					t.Errorf("%s\npages accept %s", tc.reason, refused)
				}
			}
		})
	}
}

// TestCrossplaneDefaults compares the defaults of the form with those of the
// definition.
func TestCrossplaneDefaults(t *testing.T) {
	proposed := func(known ...string) string {
		f := compileSpec(t, legacyDefaults, sized, Options{CompositionDetails: true, Compositions: known})
		props := f.Pages.Items[pageTitled(f.Form, "Crossplane")].Get("properties")
		var out []string
		for _, p := range props.Fields {
			if d := p.Value.Get("default").Str(); d != "" {
				out = append(out, p.Key+"="+d)
			}
		}
		return strings.Join(out, " ")
	}
	const policies = "compositionUpdatePolicy=Manual compositeDeletePolicy=Foreground"
	if diff := cmp.Diff("composition=small "+policies, proposed("large", "small")); diff != "" {
		t.Errorf("defaults with known Compositions: -want +got:\n%s", diff)
	}
	if diff := cmp.Diff("composition=small "+policies, proposed()); diff != "" {
		t.Errorf("defaults without known Compositions: -want +got:\n%s", diff)
	}
	if diff := cmp.Diff(policies, proposed("a", "b")); diff != "" {
		t.Errorf("defaults if the default Composition is not among the choices: -want +got:\n%s", diff)
	}
}

// TestCrossplaneInSpec checks that a form whose spec is one object has the same
// fields in it.
func TestCrossplaneInSpec(t *testing.T) {
	const open = `{type: object, x-kubernetes-preserve-unknown-fields: true}`
	cases := map[string]struct {
		reason       string
		kind         string
		known        []string
		values, want string
		refused      []string
	}{
		"claim":     {"The YAML field uses the names of the manifest.", legacyClaim, nil, `{spec: {a: 1, compositionSelector: {matchLabels: {a: b}}, writeConnectionSecretToRef: {name: conn}}}`, `{a: 1, compositionSelector: {matchLabels: {a: b}}, writeConnectionSecretToRef: {name: conn}}`, []string{`{spec: {writeConnectionSecretToRef: {name: Bad_Name}}}`, `{spec: {compositeDeletePolicy: Never}}`}},
		"modern":    {"The YAML field contains spec.crossplane.", modern, nil, `{spec: {crossplane: {compositionRef: {name: a}}}}`, `{crossplane: {compositionRef: {name: a}}}`, nil},
		"untouched": {"An untouched form can be submitted.", modern, nil, `{spec: {}}`, `{}`, []string{`{}`}},
		"must":      {"The choice is required in the YAML field too.", modern, []string{"a", "b"}, `{spec: {crossplane: {compositionRef: {name: b}}}}`, `{crossplane: {compositionRef: {name: b}}}`, []string{`{spec: {}}`, `{spec: {crossplane: {}}}`, `{spec: {crossplane: {compositionRef: {name: c}}}}`}},
		"must, v1":  {"The choice is required at the top of spec too.", legacyClaim, []string{"a", "b"}, `{spec: {compositionSelector: {matchLabels: {a: b}}}}`, `{compositionSelector: {matchLabels: {a: b}}}`, []string{`{spec: {}}`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := compileSpec(t, tc.kind, open, Options{CompositionDetails: true, Compositions: tc.known})
			if got := crossplaneParams(f.Form); got != "none" {
				t.Errorf("%s\nform has a separate page: %s", tc.reason, got)
			}
			checkFilled(t, tc.reason, f, tc.values, tc.want)
			for _, refused := range tc.refused {
				if err := f.validate(withMetadata(yaml(t, refused))); err == nil {
					t.Errorf("%s\npages accept %s", tc.reason, refused)
				}
			}
		})
	}
}

func pageTitled(f *Form, title string) int {
	return slices.IndexFunc(f.Pages.Items, func(p *tree.Node) bool { return p.Get("title").Str() == title })
}

func TestEnforcedComposition(t *testing.T) {
	const enforced = `{apiVersion: apiextensions.crossplane.io/v2, spec: {names: {kind: Widget, plural: widgets}, enforcedCompositionRef: {name: the-one}}}`
	cases := map[string]struct{ reason, spec, page, want string }{
		"with fields": {
			"An enforced Composition is shown and not asked for.",
			`{type: object, description: A widget., properties: {size: {type: integer}}}`,
			`{description: "A widget.\nMade by the Composition the-one.", properties: {size: {title: Size, type: integer}}}`, `{size: 1}`,
		},
		"without fields": {
			"An enforced Composition is shown even if the form has no other text.",
			`{type: object, properties: {crossplane: {type: object}}}`,
			`{description: Made by the Composition the-one., properties: {}}`, `{}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := compileSpec(t, enforced, tc.spec, Options{Compositions: []string{"other", "the-one"}})
			if diff := cmp.Diff(text(yaml(t, tc.page)), kindPage(f.Form)); diff != "" {
				t.Errorf("%s\npage: -want +got:\n%s", tc.reason, diff)
			}
			checkFilled(t, tc.reason, f, tc.want, tc.want)
		})
	}
}

func TestDelivery(t *testing.T) {
	const git = `gitHost: github.com, gitRepository: platform/resources, gitPath: clusters/a, gitBranch: main`
	cases := map[string]struct {
		reason  string
		values  string
		refused bool
	}{
		"apply":               {"Direct apply does not ask for a repository.", `{delivery: apply}`, false},
		"change":              {"A change request has a host, a repository, a path and a branch.", `{delivery: change-request, ` + git + `}`, false},
		"change of mind":      {"Repository fields are ignored if they are not used.", `{delivery: apply, gitHost: github.com}`, false},
		"no repository":       {"A change request needs all four fields.", `{delivery: change-request}`, true},
		"half a repository":   {"A change request needs each of the four fields.", `{delivery: change-request, gitHost: github.com, gitRepository: a/b, gitPath: c}`, true},
		"an empty repository": {"An empty value counts as missing.", `{delivery: change-request, gitHost: "", gitRepository: "", gitPath: "", gitBranch: ""}`, true},
		"undecided":           {"The delivery is required.", `{}`, true},
		"other":               {"Another delivery is refused.", `{delivery: email}`, true},
	}
	f := compileSpec(t, modern, sized, Options{GitOps: true})
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			values := withMetadata(yaml(t, tc.values))
			err := f.validate(values)
			if (err != nil) != tc.refused {
				t.Errorf("%s\ngot %v", tc.reason, err)
			}
			if diff := cmp.Diff("{}\n", text(rendered(t, f.Form, values).Get("spec"))); diff != "" {
				t.Errorf("%s\nmanifest must not depend on the delivery: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
	if pageTitled(compileSpec(t, modern, sized, Options{}).Form, "Delivery") >= 0 {
		t.Error("form has a delivery page without addGitOpsActions")
	}
}

func TestDeliveryDefaults(t *testing.T) {
	cases := map[string]struct {
		reason                                 string
		repository, path                       string
		delivery, host, wantRepository, folder string
	}{
		"nothing":    {"Without a repository the default is to apply.", "", "", "apply", "", "", ""},
		"https":      {"A URL is accepted.", "https://github.com/platform/resources", "clusters/a", "change-request", "github.com", "platform/resources", "clusters/a"},
		"git":        {"A URL that ends in .git is accepted.", "https://git.example.org/a/b/c.git", "/x/", "change-request", "git.example.org", "a/b/c", "x"},
		"ssh":        {"The short form of SSH is accepted.", "git@github.com:platform/resources.git", "", "change-request", "github.com", "platform/resources", ""},
		"ssh url":    {"The long form of SSH is accepted.", "ssh://git@github.com/platform/resources", "", "change-request", "github.com", "platform/resources", ""},
		"host":       {"A URL without a scheme is accepted.", "gitlab.com/a/b", "", "change-request", "gitlab.com", "a/b", ""},
		"port":       {"The port is part of the host.", "https://git.example.org:8443/a/b/", "", "change-request", "git.example.org:8443", "a/b", ""},
		"short host": {"A host may have no dot.", "http://gitea/a/b@c", "", "change-request", "gitea", "a/b@c", ""},
		"no host":    {"Owner and name without a host are accepted.", "platform/resources", "", "change-request", "", "platform/resources", ""},
		"credential": {"A credential is never shown.", "https://user:secret@github.com/a/b", "", "change-request", "github.com", "a/b", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := compileSpec(t, modern, sized, Options{GitOps: true, Repository: tc.repository, Path: tc.path})
			page := f.Pages.Items[pageTitled(f.Form, "Delivery")]
			change := page.Get("dependencies", ParamDelivery, "oneOf").Items[1].Get("properties")
			got := []string{
				page.Get("properties", ParamDelivery, "default").Str(), change.Get(ParamGitHost, "default").Str(),
				change.Get(ParamGitRepository, "default").Str(), change.Get(ParamGitPath, "default").Str(), change.Get(ParamGitBranch, "default").Str(),
			}
			if diff := cmp.Diff([]string{tc.delivery, tc.host, tc.wantRepository, tc.folder, "main"}, got); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestMatching(t *testing.T) {
	d, _ := define(t, legacyClaim, nil)
	composition := func(name, apiVersion, kind string) *xrd.Composition {
		return xrd.NewComposition(tree.Obj(
			tree.F("metadata", tree.Obj(tree.F("name", tree.Str(name)))),
			tree.F("spec", tree.Obj(tree.F("compositeTypeRef", tree.Obj(tree.F("apiVersion", tree.Str(apiVersion)), tree.F("kind", tree.Str(kind)))))),
		), xrd.Origin{})
	}
	got := Matching(d, []*xrd.Composition{
		composition("z", "example.org/v1", "XWidget"), composition("a", "example.org/v2", "XWidget"), composition("a", "example.org/v1", "XWidget"),
		composition("claim", "example.org/v1", "Widget"), composition("other", "example.com/v1", "XWidget"), composition("", "example.org/v1", "XWidget"),
	})
	if diff := cmp.Diff([]string{"a", "z"}, got); diff != "" {
		t.Errorf("want the Compositions of the composite's group and kind, each once, in order: -want +got:\n%s", diff)
	}
}
