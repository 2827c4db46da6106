package config

import "time"

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

func (c *ClusterIngestor) read(o *object) {
	c.Enabled = o.given()
	o.flag("enabled", &c.Enabled)
	o.flag("watch", &c.Watch)
	o.object("components", func(o *object) {
		o.flag("enabled", &c.Components.Enabled)
		o.taskRunner(&c.Components.Frequency)
		o.noEffect("ingestAsResources", "onlyIngestAnnotatedResources", "excludedNamespaces", "customWorkloadTypes", "disableDefaultWorkloadTypes")
	})
	c.Tracking.read(o)
	// The framework's own name, in the vocabulary of the section.
	o.also("composer", "crossplane")
	o.object("composer", func(o *object) {
		whole := true
		o.flag("enabled", &whole)
		o.object("xrds", func(o *object) {
			o.flag("enabled", &c.XRDs.Enabled)
			o.flag("ingestAllXRDs", &c.XRDs.IngestAll)
			o.flag("generateDayTwoTemplates", &c.XRDs.DayTwo)
			o.taskRunner(&c.XRDs.Frequency)
			o.noEffect("ingestOnlyAsAPI", "convertDefaultValuesToPlaceholders", "publishPhase")
		})
		c.XRDs.Enabled = c.XRDs.Enabled && whole
		o.noEffect("claims")
	})
	o.noEffect("annotationPrefix", "defaultOwner", "ingestAPIsAsCRDs", "allowAllClusters", "allowedClusterNames",
		"clusterNameMapping", "argoIntegration", "mappings", "kro", "genericCRDTemplates")
}

// taskRunner reads the scan interval.
func (o *object) taskRunner(frequency *time.Duration) {
	o.object("taskRunner", func(o *object) {
		o.units("frequency", frequency, time.Second, 1, 366*day)
		o.noEffect("timeout")
	})
}
