package xrd

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"example.dev/ingestor/xrd/selector"

	"example.dev/ingestor/words"
)

// shortDefinition is the short name of the definition kind.
const shortDefinition = "XRD"

// Filter selects objects. Every field narrows the selection; a zero field does not.
type Filter struct {
	// Labels and Annotations select definitions by their metadata.
	Labels, Annotations selector.Selector
	// Groups are the API groups of the selected definitions.
	Groups []string
	// Exclude lists the names of excluded definitions.
	Exclude []string
	// Kinds are the kinds of selected objects, case-insensitive: a definition by its own
	// kind or XRD, or by the kind of its composites or claims; anything else by its kind.
	Kinds []string
	// APIVersions are the apiVersions of selected objects, with the group in either
	// vocabulary, or without a group ("v1").
	APIVersions []string
	// Name must match part of the name of a definition.
	Name *regexp.Regexp
}

// Admit reports whether the filter selects d, and if not, why.
func (f *Filter) Admit(d *Definition) (ok bool, why string) {
	if slices.Contains(f.Exclude, d.Name) {
		return false, fmt.Sprintf("name %q is excluded", d.Name)
	}
	if f.Name != nil && !f.Name.MatchString(d.Name) {
		return false, fmt.Sprintf("name %q does not match %q", d.Name, f.Name)
	}
	if len(f.Groups) > 0 && !slices.Contains(f.Groups, d.Group) {
		return false, refused("group", d.Group, f.Groups)
	}
	if len(f.Kinds) > 0 && !f.hasKind(d.Kind, shortDefinition, d.Names.Kind, d.Claim.Kind) {
		return false, refused("kind", cmp.Or(d.Names.Kind, d.Kind), f.Kinds)
	}
	if ok, why := f.admitVersion(&d.Object); !ok {
		return false, why
	}
	why = cmp.Or(f.Labels.Refusal("label", d.Labels), f.Annotations.Refusal("annotation", d.Annotations))
	return why == "", why
}

// AdmitObject reports whether the filter selects an object that is not a definition: a
// Composition, a composite or a claim. Only Kinds and APIVersions apply to those.
func (f *Filter) AdmitObject(o *Object) bool {
	if len(f.Kinds) > 0 && !f.hasKind(o.Kind) {
		return false
	}
	ok, _ := f.admitVersion(o)
	return ok
}

// hasKind reports whether one of the kinds is selected.
func (f *Filter) hasKind(kinds ...string) bool {
	return slices.ContainsFunc(kinds, func(kind string) bool {
		return kind != "" && slices.ContainsFunc(f.Kinds, func(want string) bool { return strings.EqualFold(want, kind) })
	})
}

func (f *Filter) admitVersion(o *Object) (ok bool, why string) {
	if len(f.APIVersions) == 0 {
		return true, ""
	}
	bare := bareVersion(o.APIVersion)
	for _, want := range f.APIVersions {
		if want == bare || words.APIVersionIn(want) == o.APIVersion {
			return true, ""
		}
	}
	return false, refused("apiVersion", o.Words.APIVersionOut(o.APIVersion), f.APIVersions)
}

func refused(what, saw string, want []string) string {
	if len(want) == 1 {
		return fmt.Sprintf("%s %q is not %q", what, saw, want[0])
	}
	return fmt.Sprintf("%s %q is none of %q", what, saw, want)
}
