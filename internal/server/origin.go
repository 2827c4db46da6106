package server

import (
	"example.dev/ingestor/internal/catalog/provider"
	"example.dev/ingestor/internal/catalog/provider/definition"
	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/ingestion/unit"
)

// originOf returns where entities of a provider come from.
func originOf(name string) string {
	switch {
	case unit.Provides(name):
		return permission.OriginDefinition
	case name == definition.Provider:
		return permission.OriginGenerated
	case provider.IsConfigured(name):
		return permission.OriginConfig
	case store.IsLocationProvider(name):
		return permission.OriginRegistered
	}
	return permission.OriginPush + name
}
