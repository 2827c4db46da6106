package ingestor

import (
	"github.com/spf13/pflag"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/config"
)

// configure reads the configuration, if one is named. Flags override it. Clusters
// are not read, so their settings need not be complete, nor those of sources if
// files are named.
func (o *options) configure(set *pflag.FlagSet) error {
	if len(o.configs) == 0 {
		return nil
	}
	o.ReadingFiles(o.configs, output.NamedConfig)
	c, found := config.Load(o.configs, config.Options{
		Lookup: func(name string) (string, bool) {
			v := o.Env.Getenv(name)
			return v, v != ""
		},
		// The last two sections list the clusters that a form offers.
		Sections: []string{
			config.SectionComposer, config.SectionClusterIngestor, config.SectionOrchestrator, config.SectionScaffolder,
		},
		UseCluster: func(string) bool { return false },
		UseSource:  func(string) bool { return len(o.paths) == 0 },
		NoTasks:    true,
	})
	if err := o.Misconfigured(found); err != nil {
		return err
	}
	if len(o.paths) == 0 && len(c.Composer.Sources) == 0 {
		return flags.Usagef("pass files or directories, or set "+config.SectionComposer+".sources; clusters are read by composer-ingestor export",
			"the configuration has no sources to read")
	}
	o.config = c
	if !set.Changed("words") {
		o.words = c.Words
	}
	profile, f := c.Selection(o.profile)
	f.Labels = f.Labels.And(o.filter.Labels)
	f.Kinds, f.APIVersions, f.Name = o.filter.Kinds, o.filter.APIVersions, o.filter.Name
	o.profile, o.filter = profile, f
	return nil
}

// tellEngine sets the engine's options: those of the service, overridden by the
// flags and the environment, or these alone without a configuration.
func (o *options) tellEngine(set *pflag.FlagSet) {
	mine := engine.Options{Owner: o.Owner, System: o.System, Domain: o.Domain, Namespace: o.Namespace, Tags: o.Tags}
	if o.config != nil {
		mine = o.config.EngineOptions(o.profile)
		mine.Domain, mine.Tags = o.Domain, o.Tags
		for flag, f := range map[string]struct {
			value string
			to    *string
		}{"owner": {o.Owner, &mine.Owner}, "system": {o.System, &mine.System}, "namespace": {o.Namespace, &mine.Namespace}} {
			if set.Changed(flag) && f.value != "" {
				*f.to = f.value
			}
		}
		if !set.Changed("owner") && o.Owner != "" {
			// INGESTOR_DEFAULT_OWNER is the default of the flag.
			mine.Owner = o.Owner
		}
	}
	mine.Words = o.words
	o.engine = mine
}

// idle returns why the service with this configuration would not run the profile
// that is shown; empty if it would.
func (o *options) idle() string {
	switch c := o.config; {
	case c == nil:
	case o.profile.Name == engine.ComposerIngestor.Name && !c.Composer.Enabled:
		return config.SectionComposer + " is missing or disabled"
	case o.profile.Name == engine.ClusterIngestor.Name && !c.ClusterIngestor.Enabled:
		return config.SectionClusterIngestor + " is missing or disabled"
	case o.profile.Name == engine.ClusterIngestor.Name && !c.ClusterIngestor.XRDs.Enabled:
		return config.SectionClusterIngestor + ".composer.xrds is disabled"
	}
	return ""
}
