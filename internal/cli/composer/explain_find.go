package composer

import (
	"slices"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/internal/cli/composer/explanation"
	"example.dev/ingestor/internal/pipeline"
	"example.dev/ingestor/xrd"
)

// explanation collects what is known about a definition that was found.
func (s *session) explanation(name string, in *inputs, r *pipeline.Report) *explanation.Explanation {
	x := &explanation.Explanation{Name: name, By: r.TakenBy[name], Values: values(r.Sources[name])}
	if x.Name == "" {
		x.Name = (&xrd.Definition{}).Label()
	}
	for i, v := range in.variants {
		if in.fleet != nil {
			break
		}
		for _, def := range in.sets[i].Definitions {
			if def.Name == name {
				x.Copies = append(x.Copies, explanation.Sighting{Place: def.Origin.File, File: def.Origin.File, Found: true, Verdicts: explanation.Ask(v.asks, def)})
			}
		}
	}
	if in.fleet != nil {
		x.Copies = in.look(name)
	}
	x.Used = in.used(name, x.By)
	x.Differ = slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return f.Rule == xrd.RuleConflict && f.Object == name })
	for _, e := range r.Entities {
		if definitionOf(e) == name {
			x.Entities = append(x.Entities, e)
		}
	}
	return x
}

// used returns the location of the copy that the entities of a definition are made
// from.
func (in *inputs) used(name, by string) string {
	for i, v := range in.variants {
		if by != "" && v.name != by {
			continue
		}
		same := slices.DeleteFunc(slices.Clone(in.sets[i].Definitions), func(d *xrd.Definition) bool { return d.Name != name })
		// Selected copies take precedence over refused ones.
		taken, refused, _ := xrd.Select(same, v.asks.Refusal)
		for _, d := range append(taken, refused...) {
			if d.Origin.Cluster != "" {
				return "cluster " + d.Origin.Cluster
			}
			return d.Origin.File
		}
	}
	return ""
}

// notFound returns the explanation of a definition that was not found.
func (in *inputs) notFound(name string) *explanation.Explanation {
	return &explanation.Explanation{Name: name, Copies: in.look(name)}
}

// look searches for a definition in every cluster.
func (in *inputs) look(name string) []explanation.Sighting {
	var out []explanation.Sighting
	for _, m := range in.fleet.members() {
		at := explanation.Sighting{Place: m.Title(), Cluster: m.Status.Cluster, URL: m.Status.URL, Ingestor: m.variant.name, Unread: !m.Status.Known}
		for _, def := range in.sets[slices.Index(in.variants, m.variant)].Definitions {
			if def.Name == name && def.Origin.Cluster == m.Status.Cluster {
				at.Found, at.Verdicts = true, explanation.Ask(m.variant.asks, def)
			}
		}
		out = append(out, at)
	}
	return out
}
