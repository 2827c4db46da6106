package xrd

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"example.dev/ingestor/words"
)

// shortDefinition is what people call a definition.
const shortDefinition = "XRD"

// Filter chooses what is worked on. Every field narrows the choice; a zero
// field does not.
type Filter struct {
	// Labels and Annotations choose definitions by their metadata.
	Labels, Annotations Selector
	// Groups are the API groups whose definitions are chosen.
	Groups []string
	// Exclude are the names of definitions that are not.
	Exclude []string
	// Kinds are the kinds of objects that are chosen, in any case: a
	// definition by its own kind or XRD, or by the kind of its composites or
	// claims; anything else by its kind.
	Kinds []string
	// APIVersions are the versions objects are written in, with the group in
	// either vocabulary, or without one ("v1").
	APIVersions []string
	// Name must match somewhere in the name of a definition.
	Name *regexp.Regexp
}

// Admit reports whether the filter chooses d. If not, it says why.
func (f *Filter) Admit(d *Definition) (ok bool, why string) {
	if slices.Contains(f.Exclude, d.Name) {
		return false, fmt.Sprintf("its name %q is excluded", d.Name)
	}
	if f.Name != nil && !f.Name.MatchString(d.Name) {
		return false, fmt.Sprintf("its name %q does not match %q", d.Name, f.Name)
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
	if t, no := f.Labels.refusal(d.Labels); no {
		return false, t.refuses("label", d.Labels)
	}
	if t, no := f.Annotations.refusal(d.Annotations); no {
		return false, t.refuses("annotation", d.Annotations)
	}
	return true, ""
}

// AdmitObject reports whether the filter chooses an object that is not a
// definition: a Composition, a composite, a claim. Only Kinds and APIVersions
// speak of those.
func (f *Filter) AdmitObject(o *Object) bool {
	if len(f.Kinds) > 0 && !f.hasKind(o.Kind) {
		return false
	}
	ok, _ := f.admitVersion(o)
	return ok
}

// hasKind reports whether one of the kinds is chosen.
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
		return fmt.Sprintf("its %s %q is not %q", what, saw, want[0])
	}
	return fmt.Sprintf("its %s %q is none of %q", what, saw, want)
}

// refuses says why the term does not hold.
func (t term) refuses(what string, set map[string]string) string {
	value, ok := set[t.key]
	if !ok {
		return fmt.Sprintf("it has no %s %q, which %q asks for", what, t.key, t)
	}
	return fmt.Sprintf("its %s %q is %q, which %q does not allow", what, t.key, value, t)
}
