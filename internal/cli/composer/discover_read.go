package composer

import (
	"context"
	"slices"

	"example.dev/ingestor/internal/cli/composer/discovery"
	"example.dev/ingestor/internal/cli/composer/selection"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/term"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd"
)

// discover reads the clusters and selects as the service does: the second ingestor
// skips the definitions that the first one takes.
func (f *fleet) discover(ctx context.Context, o *discoverOptions) (*discovery.Discovery, error) {
	d := discovery.New(len(f.variants) > 1, o.composites)
	claimed := map[string]*variant{}
	for _, v := range f.variants {
		wanted := append(slices.Clone(v.asks), selection.Filter{Admit: func(def *xrd.Definition) (bool, string) {
			by := claimed[def.Name]
			if by == nil || by == v {
				return true, ""
			}
			return false, "ingested by " + by.name
		}})
		wanted = append(wanted, selection.Split("--", selection.FlagNames, o.filter)...)
		set, _ := f.source(v, o.reads(v, wanted)).Read(ctx)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for _, def := range set.Definitions {
			if claimed[def.Name] == nil && v.takes(def) {
				claimed[def.Name] = v
			}
		}
		d.Add(v.name, set, wanted)
	}
	d.Settle()
	return d, nil
}

// reads returns what is read for an ingestor with the wanted definitions.
func (o *discoverOptions) reads(v *variant, wanted selection.Selection) cluster.ReadOptions {
	read := cluster.ReadOptions{NoCompositions: true}
	if !o.all {
		// Objects that labels exclude need not be read, unless they are shown.
		read.Labels = v.filter.Labels.And(o.filter.Labels)
	}
	if o.composites {
		// Metadata is sufficient for counting.
		read.Composites, read.Metadata, read.Namespaces = wanted.Takes, true, v.namespaces
	}
	return read
}

// sayRefused prints how many definitions are not taken.
func (s *session) sayRefused(d *discovery.Discovery, o *discoverOptions) {
	if len(d.Refused) == 0 || len(d.Taken) == 0 || s.Quiet || o.all {
		return
	}
	first := d.Refused[0]
	s.Sayf("%s not selected (%s: %s; see --all or explain)", output.Count(len(d.Refused), "definition", "definitions"), term.Safe(first.Label()), term.Safe(d.Why[first]))
	if s.Detailed() {
		for _, def := range d.Refused {
			s.Sayf("  %s: %s", term.Safe(def.Label()), term.Safe(d.Why[def]))
		}
	}
}
