package config

import (
	"example.dev/ingestor/engine"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// Selection returns how definitions are chosen for a profile: the profile as
// the configuration has it, and what chooses among those it takes.
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
		// The label is enough, whatever it says but no.
		p.RequiredLabel = ""
		// It is the contract's, so it can be read.
		labels, _ := xrd.ParseSelector(words.LabelGenerateForm + "," + words.LabelGenerateForm + "!=false")
		return p, xrd.Filter{Labels: labels}
	}
	return p, xrd.Filter{}
}
