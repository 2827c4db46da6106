package form

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
)

// formCase is one row of the contract: the schema of a spec, its page, and the
// manifest of a filled form.
type formCase struct {
	reason string
	// kind is the definition around the schema; empty means modern.
	kind string
	// spec is the schema.
	spec string
	// page is the page of the kind without its title; "none" means that there
	// is no such page.
	page string
	// values fill in the form, in addition to the name and the namespace, and make
	// want, the spec of the manifest; an empty want means exactly the values.
	// Empty values leave every field empty.
	values, want string
	// refused are values that the pages must not accept.
	refused []string
	// rules are the findings.
	rules []string
}

func runForms(t *testing.T, cases map[string]formCase) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			kind := tc.kind
			if kind == "" {
				kind = modern
			}
			f := compileSpec(t, kind, tc.spec, Options{})
			if diff := cmp.Diff(text(yaml(t, dedent(tc.page))), kindPage(f.Form)); diff != "" {
				t.Errorf("%s\npage: -want +got:\n%s", tc.reason, diff)
			}
			checkFilled(t, tc.reason, f, tc.values, tc.want)
			for _, refused := range tc.refused {
				if err := f.validate(withMetadata(yaml(t, dedent(refused)))); err == nil {
					t.Errorf("%s\npages accept %s", tc.reason, refused)
				}
			}
			if diff := cmp.Diff(tc.rules, rulesOf(f.Form)); diff != "" {
				t.Errorf("%s\nfindings: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// kindPage returns the second page as text, without its title.
func kindPage(f *Form) string {
	if len(f.Pages.Items) < 2 {
		return "none\n"
	}
	page := f.Pages.Items[1].Clone()
	page.Delete("title")
	return text(page)
}

// checkFilled fills in a form, and checks the spec and the way back to the
// values.
func checkFilled(t *testing.T, reason string, f *checked, values, want string) {
	t.Helper()
	filled := withMetadata(yaml(t, dedent(values)))
	if err := f.validate(filled); err != nil {
		t.Errorf("%s\n%v", reason, err)
		return
	}
	if want == "" {
		want = values
	}
	if want == "" {
		want = "{}"
	}
	spec := rendered(t, f.Form, filled).Get("spec")
	if diff := cmp.Diff(normal(yaml(t, dedent(want))), normal(spec)); diff != "" {
		t.Errorf("%s\nspec: -want +got:\n%s", reason, diff)
	}
	back := f.Values(spec)
	for _, field := range filled.Fields {
		if !isOwn(field.Key) && !field.Value.Equal(back.Get(field.Key)) {
			t.Errorf("%s\nvalue of %q is lost on the way back", reason, field.Key)
		}
	}
}

// isOwn reports whether a parameter is bound to no part of spec by a binding.
func isOwn(param string) bool { return param != paramSpec && slices.Contains(ownParams, param) }

// normal returns a value in a canonical text.
func normal(n *tree.Node) string {
	if n == nil {
		return ""
	}
	return text(n.Sorted())
}

func rulesOf(f *Form) []string {
	var out []string
	for _, found := range f.Findings {
		out = append(out, found.Rule)
	}
	return out
}
