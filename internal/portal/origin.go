package portal

import (
	"example.dev/ingestor/internal/pipeline/ingest"
	"example.dev/ingestor/internal/portal/generated"
	"example.dev/ingestor/internal/portal/intake"
	"example.dev/ingestor/internal/portal/permission"
	"example.dev/ingestor/internal/store"
)

// originOf returns where entities of a provider come from.
func originOf(provider string) string {
	switch {
	case ingest.Provides(provider):
		return permission.OriginDefinition
	case provider == generated.Provider:
		return permission.OriginGenerated
	case intake.IsConfigured(provider):
		return permission.OriginConfig
	case store.IsLocationProvider(provider):
		return permission.OriginRegistered
	}
	return permission.OriginPush + provider
}
