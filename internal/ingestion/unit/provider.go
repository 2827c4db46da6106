package unit

import (
	"strings"

	"example.dev/ingestor/internal/ingestion/object"
)

// providerDefinition is the prefix of the provider of a definition's entities; the name
// of the definition follows. The provider of workloads has the name of their unit.
const providerDefinition = "definition:"

func provider(unit string) string {
	if strings.HasPrefix(unit, object.UnitWorkload) {
		return unit
	}
	return providerDefinition + unit
}

// ProviderPrefixes returns the name prefixes of the service's providers.
func ProviderPrefixes() []string { return []string{providerDefinition, object.UnitWorkload} }

// Provides reports whether a provider belongs to the service.
func Provides(provider string) bool {
	return strings.HasPrefix(provider, providerDefinition) || strings.HasPrefix(provider, object.UnitWorkload)
}

// Of returns the unit of one of the service's providers.
func Of(provider string) string { return strings.TrimPrefix(provider, providerDefinition) }
