package config

import (
	"example.dev/ingestor/engine"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/selector"
)

// Selection returns how definitions are selected for a profile: the profile with the
// configuration applied, and a filter on the definitions it accepts.
func (c *Config) Selection(p engine.Profile) (engine.Profile, xrd.Filter) {
	switch p.Name {
	case engine.ComposerIngestor.Name:
		if c.Composer.IngestAll {
			p.RequiredLabel = ""
		}
		return p, c.Composer.Filter
	case engine.ClusterIngestor.Name:
		if !c.ClusterIngestor.XRDs.IngestAll {
			return p, xrd.Filter{}
		}
		// The label is sufficient, with any value but false.
		p.RequiredLabel = ""
		// The label is that of the contract, so that parsing cannot fail.
		labels, _ := selector.Parse(words.LabelGenerateForm + "," + words.LabelGenerateForm + "!=false")
		return p, xrd.Filter{Labels: labels}
	}
	return p, xrd.Filter{}
}
