package form

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
)

// visible counts the visible fields of a page: not in a closed or advanced
// section, and not hidden.
func visible(s *tree.Node) int {
	n := 0
	props := s.Get("properties")
	if !props.IsMap() {
		return 0
	}
	for _, p := range props.Fields {
		options := p.Value.Get("ui:options")
		switch {
		case options.Get("advanced").IsTrue(), options.Get("collapsed").IsTrue(), p.Value.Get("ui:widget").Str() == "hidden":
		case p.Value.Get("properties").Len() > 0 && !p.Value.Has("ui:field"):
			n += visible(p.Value)
		default:
			n++
		}
	}
	return n
}

// TestLargePages checks for every form of the corpus that no page has more than
// 40 visible fields, not counting required ones, and that no two fields of one
// object have the same title.
func TestLargePages(t *testing.T) {
	large, most := 0, 0
	for _, d := range readSet(t, corpus(t), "xrds/*/*").Definitions {
		for _, v := range d.Versions {
			f := Compile(d, v, Options{Namespace: "default", CompositionDetails: true, GitOps: true})
			if isLarge(v.Spec()) {
				large++
			}
			for _, page := range f.Pages.Items {
				n := visible(page)
				most = max(most, n)
				if n > visibleMost {
					t.Errorf("%s, version %s: page %s has %d visible fields", d.Origin.File, v.Name, page.Get("title").Str(), n)
				}
				for _, twice := range sharedTitles(page, nil) {
					t.Errorf("%s, version %s: two fields have the title of %s", d.Origin.File, v.Name, twice)
				}
			}
		}
	}
	if large == 0 {
		t.Error("no form is large, want the corpus to have some")
	}
	t.Logf("%d large forms, at most %d visible fields", large, most)
}

// sharedTitles returns the fields whose title another field of the same object has.
func sharedTitles(s *tree.Node, path []string) (out []string) {
	props := s.Get("properties")
	seen := map[string]bool{}
	for _, p := range fieldsOf(props) {
		title := p.Value.Get("title").Str()
		if seen[title] {
			out = append(out, strings.Join(append(path, p.Key), "."))
		}
		seen[title] = true
		out = append(out, sharedTitles(p.Value, append(slices.Clone(path), p.Key))...)
		out = append(out, sharedTitles(p.Value.Get("items"), append(slices.Clone(path), p.Key))...)
	}
	return out
}

func fieldsOf(n *tree.Node) []tree.Field {
	if !n.IsMap() {
		return nil
	}
	return n.Fields
}

// TestGroups checks the order and the sections of a large page.
func TestGroups(t *testing.T) {
	many := func(prefix string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%s%02d: {type: string}, ", prefix, i)
		}
		return strings.TrimSuffix(b.String(), ", ")
	}
	spec := `{type: object, required: [zone, core], properties: {
		providerConfigRef: {type: object, properties: {name: {type: string}}}, deletionPolicy: {type: string}, managementPolicies: {type: array, items: {type: string}},
		zone: {type: string}, alpha: {type: object, properties: {` + many("a", 30) + `}}, size: {type: integer}, core: {type: object, properties: {` + many("c", 20) + `}},
		beta: {type: object, properties: {inner: {type: object, properties: {` + many("i", 3) + `}}, ` + many("b", 4) + `}}}}`
	f := compileSpec(t, modern, flat(spec), Options{})
	page := f.Pages.Items[1].Get("properties")
	var got []string
	for _, p := range page.Fields {
		note := ""
		if c := p.Value.Get("ui:options", "collapsed"); c != nil {
			note = map[bool]string{true: " closed", false: " open"}[c.IsTrue()]
		}
		got = append(got, p.Key+note)
	}
	want := []string{"zone", "core open", "size", "alpha closed", "beta closed", "deletionPolicy", "managementPolicies", "providerConfigRef closed"}
	slices.Sort(want[:2])
	slices.Sort(got[:2])
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want required fields, single values, a closed section per object, then platform settings: -want +got:\n%s", diff)
	}
	small := compileSpec(t, modern, flat(`{type: object, properties: {providerConfigRef: {type: object, properties: {name: {type: string}}}, z: {type: string}}}`), Options{})
	if small.Pages.Items[1].Get("properties", "providerConfigRef").Has("ui:options") {
		t.Error("small page has sections, want none")
	}
	wide := compileSpec(t, modern, flat(`{type: object, required: [z], properties: {`+many("f", 60)+`, z: {type: string}}}`), Options{})
	if n := visible(wide.Pages.Items[1]); n != visibleMost {
		t.Errorf("%d of 61 single values are visible, want %d", n, visibleMost)
	}
}

// TestTitlesApart checks that two fields of one object never share a title.
func TestTitlesApart(t *testing.T) {
	f := compileSpec(t, modern, `{type: object, properties: {vpcId: {type: string}, vpcID: {type: string}, vpc_id: {type: string}, peerVPCID: {type: string}, cel: {type: string, title: Rule}, rule: {type: string}}}`, Options{})
	var got []string
	for _, p := range f.Pages.Items[1].Get("properties").Fields {
		got = append(got, p.Value.Get("title").Str())
	}
	if diff := cmp.Diff([]string{"Rule (cel)", "Peer VPC ID", "Rule (rule)", "VPC ID (vpcID)", "VPC ID (vpcId)", "VPC ID (vpc_id)"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestPasswords checks which fields are masked.
func TestPasswords(t *testing.T) {
	cases := map[string]struct {
		reason, key, schema string
		want                bool
	}{
		"format":       {"The format password is masked.", "x", `{type: string, format: password}`, true},
		"password":     {"A field named password is masked.", "password", `{type: string}`, true},
		"compound":     {"A name that ends in password is masked.", "adminPassword", `{type: string}`, true},
		"token":        {"A token is masked.", "apiToken", `{type: string}`, true},
		"secret":       {"A secret is masked.", "clientSecret", `{type: string}`, true},
		"private key":  {"A private key is masked.", "privateKey", `{type: string}`, true},
		"secret name":  {"The name of a Secret is not masked.", "secretName", `{type: string}`, false},
		"described":    {"A field described as a name is not masked.", "pullSecret", `{type: string, description: Name of the Secret to pull with.}`, false},
		"reference":    {"A reference is not masked.", "passwordSecretRef", `{type: object, properties: {name: {type: string}}}`, false},
		"number":       {"A number is not masked.", "token", `{type: integer}`, false},
		"choice":       {"A choice is not masked.", "token", `{type: string, enum: [a, b]}`, false},
		"author":       {"A hint of the author overrides the masking.", "password", `{type: string, x-ui-hidden: true}`, false},
		"only related": {"A password policy is not masked.", "passwordPolicy", `{type: string}`, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := compileSpec(t, modern, `{type: object, properties: {`+tc.key+`: `+tc.schema+`, other: {type: string}}}`, Options{})
			if got := f.Pages.Items[1].Get("properties", tc.key, "ui:widget").Str() == "password"; got != tc.want {
				t.Errorf("%s\nmasked: %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}
