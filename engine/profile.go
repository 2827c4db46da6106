package engine

import (
	"fmt"
	"slices"
	"strings"

	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// Profile holds the differences between the callers of the engine: data, no code.
type Profile struct {
	// Name is the profile's name.
	Name string
	// Naming is how the base name is derived from the definition's name.
	Naming Naming
	// TemplateType is spec.type of Templates. With TypeFromLabel, the template-type label
	// of the definition overrides it.
	TemplateType  string
	TypeFromLabel bool
	// EveryVersion makes a Template and an API for each served version instead of only for
	// the preferred one.
	EveryVersion bool
	// RequiredLabel, if not empty, must be "true" on a definition.
	RequiredLabel string
	// Modern accepts only v2 definitions: those whose composites are not LegacyCluster. An
	// API server serves each definition in both versions, so the scope distinguishes them,
	// not the apiVersion.
	Modern bool
}

// Naming selects how a base name is derived from a definition's name.
type Naming uint8

// The naming schemes, with the result for databases.platform.io.
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

// ProfileNamed returns the profile with the given name, in either vocabulary.
func ProfileNamed(name string) (Profile, error) {
	own := words.In(words.Root, name)
	i := slices.IndexFunc(Profiles, func(p Profile) bool { return p.Name == own })
	if i < 0 {
		return Profile{}, fmt.Errorf("cannot use profile %q: must be cli, composerIngestor, clusterIngestor or concept", name)
	}
	return Profiles[i], nil
}

// Admit reports whether the profile accepts the definition, and if not, why.
func (p Profile) Admit(d *xrd.Definition) (ok bool, why string) {
	switch {
	case !p.Modern || d.Modern():
	case d.APIVersion == words.DefinitionV2:
		return false, fmt.Sprintf("scope %s is not a scope of %s", d.Scope, d.Words.APIVersionOut(words.DefinitionV2))
	default:
		return false, fmt.Sprintf("apiVersion is not %s", d.Words.APIVersionOut(words.DefinitionV2))
	}
	if p.RequiredLabel != "" && d.Labels[p.RequiredLabel] != "true" {
		return false, Unlabelled(d.Words, p.RequiredLabel)
	}
	return true, ""
}

// Unlabelled returns the reason why a profile rejects a definition that lacks the
// required label.
func Unlabelled(speaks words.Vocabulary, label string) string {
	return fmt.Sprintf("label %s: \"true\" is missing", speaks.Out(words.Key, label))
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
