package engine

import (
	"fmt"
	"slices"
	"strings"

	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// Profile is what differs between the callers of the engine: data, no code.
type Profile struct {
	// Name is the profile's name.
	Name string
	// Naming says how the base name is made of the definition's.
	Naming Naming
	// TemplateType is spec.type of Templates. With TypeFromLabel the
	// template-type label of the definition goes before it.
	TemplateType  string
	TypeFromLabel bool
	// EveryVersion makes a Template and an API for each served version
	// instead of for the preferred one.
	EveryVersion bool
	// RequiredLabel must be "true" on a definition, if it is not empty.
	RequiredLabel string
	// Modern takes definitions of version v2 only: those whose composites are
	// not LegacyCluster. A server hands out each definition in both versions,
	// so that its scope tells them apart and its apiVersion does not.
	Modern bool
}

// Naming is a way to make a base name of a definition's name.
type Naming uint8

// The ways of naming, for databases.platform.io.
const (
	// NameFull gives databases.platform.io.
	NameFull Naming = iota
	// NameShort gives databases.
	NameShort
	// NameSlug gives databases-platform-io.
	NameSlug
)

// The profiles.
var (
	// CLI is the profile of ingestor-cli.
	CLI = Profile{Name: "cli", Naming: NameShort, TemplateType: words.TypeXRD}
	// ComposerIngestor is the service's variant A.
	ComposerIngestor = Profile{Name: "composerIngestor", TemplateType: "infrastructure", TypeFromLabel: true, RequiredLabel: words.LabelIngest}
	// ClusterIngestor is the service's variant B.
	ClusterIngestor = Profile{Name: "clusterIngestor", TemplateType: "infrastructure", EveryVersion: true, RequiredLabel: words.LabelGenerateForm, Modern: true}
	// Concept is the profile of the three small tools.
	Concept = Profile{Name: "concept", Naming: NameSlug, TemplateType: words.TypeResource}
)

// Profiles are all profiles.
var Profiles = []Profile{CLI, ComposerIngestor, ClusterIngestor, Concept}

// ProfileNamed returns the profile with a name, in either vocabulary.
func ProfileNamed(name string) (Profile, error) {
	own := words.In(words.Root, name)
	i := slices.IndexFunc(Profiles, func(p Profile) bool { return p.Name == own })
	if i < 0 {
		return Profile{}, fmt.Errorf("cannot use profile %q: want cli, composerIngestor, clusterIngestor or concept", name)
	}
	return Profiles[i], nil
}

// Admit reports whether the profile takes the definition, and if not, why.
func (p Profile) Admit(d *xrd.Definition) (ok bool, why string) {
	switch {
	case !p.Modern || d.Modern():
	case d.APIVersion == words.DefinitionV2:
		return false, fmt.Sprintf("its scope %s is not one of %s", d.Scope, d.Words.APIVersionOut(words.DefinitionV2))
	default:
		return false, fmt.Sprintf("its apiVersion is not %s", d.Words.APIVersionOut(words.DefinitionV2))
	}
	if p.RequiredLabel != "" && d.Labels[p.RequiredLabel] != "true" {
		return false, Unlabelled(d.Words, p.RequiredLabel)
	}
	return true, ""
}

// Unlabelled is why a profile does not take a definition that lacks the label it
// requires.
func Unlabelled(speaks words.Vocabulary, label string) string {
	return fmt.Sprintf("it has no label %s: \"true\"", speaks.Out(words.Key, label))
}

// Base returns the base name for a definition.
func (p Profile) Base(d *xrd.Definition) string {
	switch p.Naming {
	case NameShort:
		short, _, _ := strings.Cut(d.Name, ".")
		return short
	case NameSlug:
		return strings.Trim(strings.Map(slugRune, strings.ToLower(d.Name)), "-")
	}
	return d.Name
}

func slugRune(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
		return r
	}
	return '-'
}
