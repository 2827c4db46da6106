package form

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/tree"
	"example.dev/ingestor/xrd"
)

func TestComposition(t *testing.T) {
	const (
		choice = `{title: Composition, description: How the Widget is made, type: string, enum: [large, small]`
		policy = `{title: Update policy, description: Whether new revisions of the Composition are taken up by themselves, type: string, enum: [Automatic, Manual]`
		secret = `{title: Connection secret, description: Name of the Secret to which connection details are written, type: string, maxLength: 253,
			pattern: "^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$"}`
		remove = `{title: Delete policy, description: Whether deleting waits until the resources behind it are gone, type: string, enum: [Background, Foreground]`
	)
	two := Options{Compositions: []string{"large", "small"}, Namespace: "team-a"}
	cases := map[string]struct {
		reason string
		kind   string
		opts   Options
		// page is the page about the Composition; empty means that there is none.
		page         string
		values, want string
		refused      []string
	}{
		"none": {
			reason: "only when there is something to choose: no Composition is known",
			kind:   modern,
			values: `{size: 1}`,
			want:   `{size: 1}`,
		},
		"one": {
			reason: "only when there is something to choose: one is no choice",
			kind:   modern,
			opts:   Options{Compositions: []string{"small"}},
			values: `{size: 1}`,
			want:   `{size: 1}`,
		},
		"modern": {
			reason:  "composition and update policy; the choice goes to spec.crossplane.compositionRef",
			kind:    modern,
			opts:    two,
			page:    choice + `}, compositionUpdatePolicy: ` + policy + `}`,
			values:  `{size: 1, composition: large, compositionUpdatePolicy: Manual}`,
			want:    `{size: 1, crossplane: {compositionRef: {name: large}, compositionUpdatePolicy: Manual}}`,
			refused: []string{`{composition: other}`, `{compositionUpdatePolicy: Never}`},
		},
		"modern, left empty": {
			reason: "nothing chosen: nothing said, not an empty object",
			kind:   modern,
			opts:   two,
			page:   choice + `}, compositionUpdatePolicy: ` + policy + `}`,
			values: `{size: 1}`,
			want:   `{size: 1}`,
		},
		"modern, policy alone": {
			reason: "one of the two is enough",
			kind:   modernCluster,
			opts:   two,
			page:   choice + `}, compositionUpdatePolicy: ` + policy + `}`,
			values: `{compositionUpdatePolicy: Automatic}`,
			want:   `{crossplane: {compositionUpdatePolicy: Automatic}}`,
		},
		"claim": {
			reason: "v1 claim: the connection secret and the delete policy too; the choice goes to spec.compositionRef",
			kind:   legacyClaim,
			opts:   two,
			page:   choice + `}, compositionUpdatePolicy: ` + policy + `}, connectionSecret: ` + secret + `, compositeDeletePolicy: ` + remove + `}`,
			values: `{size: 1, composition: small, compositionUpdatePolicy: Automatic, connectionSecret: conn, compositeDeletePolicy: Foreground}`,
			want: `{size: 1, compositionRef: {name: small}, compositionUpdatePolicy: Automatic, writeConnectionSecretToRef: {name: conn},
				compositeDeletePolicy: Foreground}`,
			refused: []string{`{connectionSecret: Bad_Name}`, `{connectionSecret: ""}`, `{compositeDeletePolicy: Never}`},
		},
		"claim, left empty": {
			reason: "nothing chosen: no empty references, which would be refused",
			kind:   legacyClaim,
			opts:   two,
			page:   choice + `}, compositionUpdatePolicy: ` + policy + `}, connectionSecret: ` + secret + `, compositeDeletePolicy: ` + remove + `}`,
			values: `{}`,
			want:   `{}`,
		},
		"defaults": {
			reason: "the definition's default Composition and default policies are form defaults",
			kind:   legacyDefaults,
			opts:   two,
			page: choice + `, default: small}, compositionUpdatePolicy: ` + policy + `, default: Manual}, connectionSecret: ` + secret +
				`, compositeDeletePolicy: ` + remove + `, default: Foreground}`,
			values: `{composition: small}`,
			want:   `{compositionRef: {name: small}}`,
		},
		"default not there": {
			reason: "a default that is not among the choices is none",
			kind:   legacyDefaults,
			opts:   Options{Compositions: []string{"a", "b"}},
			page: `{title: Composition, description: How the Widget is made, type: string, enum: [a, b]}, compositionUpdatePolicy: ` + policy +
				`, default: Manual}, connectionSecret: ` + secret + `, compositeDeletePolicy: ` + remove + `, default: Foreground}`,
			values: `{composition: a}`,
			want:   `{compositionRef: {name: a}}`,
		},
		"composite": {
			reason: "v1 composite: a connection secret needs a namespace, and there is no delete policy",
			kind:   legacy,
			opts:   two,
			page: `{title: Composition, description: How the XWidget is made, type: string, enum: [large, small]}, compositionUpdatePolicy: ` + policy +
				`}, connectionSecret: ` + secret +
				`, connectionSecretNamespace: {title: Connection secret namespace, description: Namespace of that Secret, type: string, default: team-a}`,
			values: `{connectionSecret: conn, connectionSecretNamespace: vault}`,
			want:   `{writeConnectionSecretToRef: {name: conn, namespace: vault}}`,
		},
		"composite, no secret": {
			reason: "a proposed namespace alone makes no reference",
			kind:   legacy,
			opts:   two,
			page: `{title: Composition, description: How the XWidget is made, type: string, enum: [large, small]}, compositionUpdatePolicy: ` + policy +
				`}, connectionSecret: ` + secret +
				`, connectionSecretNamespace: {title: Connection secret namespace, description: Namespace of that Secret, type: string, default: team-a}`,
			values: `{connectionSecretNamespace: team-a, size: 1}`,
			want:   `{size: 1}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := compileSpec(t, tc.kind, sized, tc.opts)
			want := ""
			if tc.page != "" {
				want = text(yaml(t, flat(`{title: Composition, properties: {composition: `+tc.page+`}}`)))
			}
			got := ""
			if i := pageTitled(f.Form, "Composition"); i >= 0 {
				got = text(f.Pages.Items[i])
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: page: -want +got:\n%s", tc.reason, diff)
			}
			checkFilled(t, tc.reason, f, tc.values, flat(tc.want))
			for _, refused := range tc.refused {
				if err := f.validate(withMetadata(yaml(t, refused))); err == nil {
					t.Errorf("%s: the pages accept %s", tc.reason, refused)
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
			"an enforced composition is stated, not asked",
			`{type: object, description: A widget., properties: {size: {type: integer}}}`,
			`{description: "A widget.\nMade by the Composition the-one.", properties: {size: {title: Size, type: integer}}}`, `{size: 1}`,
		},
		"without fields": {
			"even when there is nothing else to say",
			`{type: object, properties: {crossplane: {type: object}}}`,
			`{description: Made by the Composition the-one., properties: {}}`, `{}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := compileSpec(t, enforced, tc.spec, Options{Compositions: []string{"other", "the-one"}})
			if diff := cmp.Diff(text(yaml(t, tc.page)), kindPage(f.Form)); diff != "" {
				t.Errorf("%s: page: -want +got:\n%s", tc.reason, diff)
			}
			if pageTitled(f.Form, "Composition") >= 0 {
				t.Errorf("%s: there is a page about it", tc.reason)
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
		"apply":               {"apply directly asks nothing about a repository", `{delivery: apply}`, false},
		"change":              {"a change request names host, repository, path and branch", `{delivery: change-request, ` + git + `}`, false},
		"change of mind":      {"answers about a repository do not hurt when it is not used", `{delivery: apply, gitHost: github.com}`, false},
		"no repository":       {"a change request needs all four", `{delivery: change-request}`, true},
		"half a repository":   {"a change request needs each of the four", `{delivery: change-request, gitHost: github.com, gitRepository: a/b, gitPath: c}`, true},
		"an empty repository": {"an empty answer is none", `{delivery: change-request, gitHost: "", gitRepository: "", gitPath: "", gitBranch: ""}`, true},
		"undecided":           {"one of the two must be chosen", `{}`, true},
		"other":               {"there is no third way", `{delivery: email}`, true},
	}
	f := compileSpec(t, modern, sized, Options{GitOps: true})
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			values := withMetadata(yaml(t, tc.values))
			err := f.validate(values)
			if (err != nil) != tc.refused {
				t.Errorf("%s: got %v", tc.reason, err)
			}
			if diff := cmp.Diff("{}\n", text(rendered(t, f.Form, values).Get("spec"))); diff != "" {
				t.Errorf("%s: delivery is no part of the manifest: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
	if pageTitled(compileSpec(t, modern, sized, Options{}).Form, "Delivery") >= 0 {
		t.Error("Delivery: only with addGitOpsActions")
	}
}

func TestDeliveryDefaults(t *testing.T) {
	cases := map[string]struct {
		reason                                 string
		repository, path                       string
		delivery, host, wantRepository, folder string
	}{
		"nothing":    {"without a repository, applying is proposed", "", "", "apply", "", "", ""},
		"https":      {"a URL", "https://github.com/platform/resources", "clusters/a", "change-request", "github.com", "platform/resources", "clusters/a"},
		"git":        {"a URL that ends in .git", "https://git.example.org/a/b/c.git", "/x/", "change-request", "git.example.org", "a/b/c", "x"},
		"ssh":        {"the short form of SSH", "git@github.com:platform/resources.git", "", "change-request", "github.com", "platform/resources", ""},
		"ssh url":    {"the long form of SSH", "ssh://git@github.com/platform/resources", "", "change-request", "github.com", "platform/resources", ""},
		"host":       {"without a scheme", "gitlab.com/a/b", "", "change-request", "gitlab.com", "a/b", ""},
		"port":       {"a port belongs to the host", "https://git.example.org:8443/a/b/", "", "change-request", "git.example.org:8443", "a/b", ""},
		"short host": {"a host needs no dot", "http://gitea/a/b@c", "", "change-request", "gitea", "a/b@c", ""},
		"no host":    {"owner and name alone", "platform/resources", "", "change-request", "", "platform/resources", ""},
		"credential": {"a credential is never shown", "https://user:secret@github.com/a/b", "", "change-request", "github.com", "a/b", ""},
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
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
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
		t.Errorf("Compositions of the composite's group and kind, each once, in order: -want +got:\n%s", diff)
	}
}
