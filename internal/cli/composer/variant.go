package composer

import (
	"slices"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/cli/clusters"
	"example.dev/ingestor/internal/cli/composer/selection"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/pipeline"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd"
)

// variant is one of the service's two ingestors, as configured.
type variant struct {
	// name is its section in the configuration.
	name    string
	profile engine.Profile
	options engine.Options
	// extension is third-party code that extends the engine.
	extension engine.Extension
	// asks is its conditions on definitions.
	asks selection.Selection
	// filter is the part of asks that does not come from the profile.
	filter xrd.Filter
	// namespaces are the namespaces whose composites and claims it reads; none means
	// all.
	namespaces []string
	// on reports whether the service runs it. definitions and workloads are what it
	// reads.
	on, definitions, workloads bool
	// clusters are the clusters that the configuration gives it, and fleet those
	// that are read.
	clusters []source.Cluster
	fleet    *clusters.Fleet
}

// variants returns the service's ingestors, in the order in which they take
// definitions. Without a configuration there is only the default one.
func (s *session) variants() []*variant {
	c := s.config
	profile, filter := c.Selection(engine.ComposerIngestor)
	a := &variant{
		name: config.SectionComposer, extension: s.extension, profile: profile, filter: filter, options: s.engineOptions(profile),
		asks:       append(selection.OfProfile(profile), selection.Split("xrdFilters.", selection.ConfigNames, filter)...),
		namespaces: c.Composer.Namespaces, clusters: c.Composer.Clusters,
		on: c.Composer.Enabled || !s.choice.Configured, definitions: true,
	}
	if !s.choice.Configured {
		return []*variant{a}
	}
	profile, filter = c.Selection(engine.ClusterIngestor)
	b := &variant{
		name: config.SectionClusterIngestor, extension: s.extension, profile: profile, filter: filter, options: s.engineOptions(profile),
		asks:     append(selection.OfProfile(profile), selection.Split("", selection.IngestAllNames, filter)...),
		clusters: c.Orchestrator.Clusters, definitions: c.ClusterIngestor.XRDs.Enabled, workloads: c.ClusterIngestor.Components.Enabled,
	}
	b.on = c.ClusterIngestor.Enabled && (b.definitions || b.workloads)
	return []*variant{a, b}
}

// running returns the ingestors that the service runs; if it runs none, the first
// one, as a preview.
func running(all []*variant) []*variant {
	out := slices.DeleteFunc(slices.Clone(all), func(v *variant) bool { return !v.on })
	if len(out) == 0 {
		return all[:1]
	}
	return out
}

// takes reports whether the variant takes a definition that no earlier one takes.
func (v *variant) takes(d *xrd.Definition) bool { return v.asks.Takes(d) }

// reads returns opts with the variant's settings of what to read.
func (v *variant) reads(opts cluster.ReadOptions) cluster.ReadOptions {
	opts.NoDefinitions, opts.Workloads = !v.definitions, v.workloads
	return opts
}

// part returns the variant as a part of a pipeline run.
func (v *variant) part(from source.Source) pipeline.Part {
	e, t := v.extension.Engine(v.profile, v.options)
	return pipeline.Part{Name: v.name, Options: pipeline.Options{
		Source: from, Filter: v.filter, Words: v.options.Words, Engine: e, Transformer: t,
	}}
}
