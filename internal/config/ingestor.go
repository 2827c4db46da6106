package config

import (
	"time"

	"example.dev/ingestor/internal/config/keys"
)

// ClusterIngestor is the section clusterIngestor: variant B of the service.
type ClusterIngestor struct {
	// Enabled is true if the section exists and does not disable it.
	Enabled bool
	// Watch enables watches in addition to scans.
	Watch      bool
	Components Components
	XRDs       XRDs
	Tracking   Tracking
}

// Components configures whether workloads with the label become Components.
type Components struct {
	Enabled bool
	// Frequency is the time between two scans.
	Frequency time.Duration
}

// XRDs configures whether definitions with the label become Templates.
type XRDs struct {
	// Enabled is true if neither composer nor composer.xrds is disabled.
	Enabled bool
	// IngestAll generates Templates for all definitions that have the label with any value
	// but "false". Otherwise the value must be "true".
	IngestAll bool
	// DayTwo generates Templates that update and delete existing resources.
	DayTwo bool
	// Frequency is the time between two scans.
	Frequency time.Duration
}

func (c *ClusterIngestor) read(m *keys.Map) {
	c.Enabled = m.Given()
	m.Flag("enabled", &c.Enabled)
	m.Flag("watch", &c.Watch)
	m.Map("components", func(m *keys.Map) {
		m.Flag("enabled", &c.Components.Enabled)
		readTaskRunner(m, &c.Components.Frequency)
		m.NoEffect("ingestAsResources", "onlyIngestAnnotatedResources", "excludedNamespaces", "customWorkloadTypes", "disableDefaultWorkloadTypes")
	})
	c.Tracking.read(m)
	// The framework's own name, in the vocabulary of the section.
	m.Also("composer", "crossplane")
	m.Map("composer", func(m *keys.Map) {
		whole := true
		m.Flag("enabled", &whole)
		m.Map("xrds", func(m *keys.Map) {
			m.Flag("enabled", &c.XRDs.Enabled)
			m.Flag("ingestAllXRDs", &c.XRDs.IngestAll)
			m.Flag("generateDayTwoTemplates", &c.XRDs.DayTwo)
			readTaskRunner(m, &c.XRDs.Frequency)
			m.NoEffect("ingestOnlyAsAPI", "convertDefaultValuesToPlaceholders", "publishPhase")
		})
		c.XRDs.Enabled = c.XRDs.Enabled && whole
		m.NoEffect("claims")
	})
	m.NoEffect("annotationPrefix", "defaultOwner", "ingestAPIsAsCRDs", "allowAllClusters", "allowedClusterNames",
		"clusterNameMapping", "argoIntegration", "mappings", "kro", "genericCRDTemplates")
}

// readTaskRunner reads the scan interval.
func readTaskRunner(m *keys.Map, frequency *time.Duration) {
	m.Map("taskRunner", func(m *keys.Map) {
		m.Seconds("frequency", frequency, 1, 366*day)
		m.NoEffect("timeout")
	})
}
