package composer

import (
	"context"
	"errors"
	"slices"
	"strings"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/clusters"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd"
)

// fleet is the clusters of a run, grouped by the ingestor that reads them.
type fleet struct {
	*session
	variants []*variant
}

// member is a cluster that an ingestor reads.
type member struct {
	*clusters.Member
	variant *variant
	// alone reports that no other ingestor reads clusters.
	alone bool
}

// Title returns the name of the cluster, with the ingestor if there are several.
func (m member) Title() string {
	if m.alone {
		return m.Member.Title()
	}
	return m.variant.name + ", " + m.Member.Title()
}

// members returns the clusters of all ingestors, in order.
func (f *fleet) members() []member {
	var out []member
	for _, v := range f.variants {
		for _, m := range v.fleet.Members {
			out = append(out, member{m, v, len(f.variants) == 1})
		}
	}
	return out
}

// connect reads the configuration and prepares the connections to the selected
// clusters of each ingestor. Invalid settings affect only their cluster, unless
// all clusters have them.
func (s *session) connect() (*fleet, error) {
	if err := s.configure(true); err != nil {
		return nil, err
	}
	chosen, err := s.choice.Choose()
	if err != nil {
		return nil, err
	}
	f := &fleet{session: s, variants: s.share(chosen)}
	usable := 0
	for _, v := range f.variants {
		v.fleet = s.choice.ConnectTo(v.clusters)
		connected, _ := v.fleet.Usable()
		usable += len(connected)
	}
	if usable == 0 {
		f.complain()
		return nil, &app.Exit{Code: app.ExitUsage}
	}
	if n := len(s.config.Composer.Sources); n > 0 && !s.Quiet {
		s.Sayf("%s of the configuration skipped: only clusters are read", output.Count(n, "source", "sources"))
	}
	return f, nil
}

// share gives each ingestor its clusters among the chosen ones. A cluster that
// only a kubeconfig or the environment names is given to every running ingestor.
// If no running ingestor has a cluster, the ones that the service does not run are
// shown as a preview.
func (s *session) share(chosen []source.Cluster) []*variant {
	all := s.variants()
	named := s.config.Clusters()
	run := running(all)
	for _, v := range all {
		own := v.clusters
		v.clusters = nil
		for _, c := range chosen {
			i := slices.IndexFunc(own, func(o source.Cluster) bool { return o.Name == c.Name })
			configured := slices.ContainsFunc(named, func(o source.Cluster) bool { return o.Name == c.Name })
			switch {
			case i >= 0 && s.choice.Configured:
				v.clusters = append(v.clusters, own[i])
			case (!configured || !s.choice.Configured) && slices.Contains(run, v):
				v.clusters = append(v.clusters, c)
			}
		}
	}
	with := slices.DeleteFunc(all, func(v *variant) bool { return len(v.clusters) == 0 })
	shown := slices.DeleteFunc(slices.Clone(with), func(v *variant) bool { return !v.on })
	for _, v := range with {
		switch {
		case v.on || s.Quiet:
		case len(shown) == 0:
			s.Sayf("%s: showing what the service would do if enabled", v.off(s.config))
		default:
			s.Sayf("%s: its clusters are skipped", v.off(s.config))
		}
	}
	if len(shown) == 0 {
		return with
	}
	return shown
}

// off says why the service does not run the ingestor.
func (v *variant) off(c *config.Config) string {
	switch {
	case v.name == config.SectionComposer:
		return v.name + ".enabled is false"
	case c.ClusterIngestor.Enabled:
		return v.name + " has components and composer.xrds disabled"
	}
	return v.name + " is missing or disabled"
}

// source returns a source that reads all clusters of an ingestor concurrently.
func (f *fleet) source(v *variant, opts cluster.ReadOptions) source.Source {
	return source.Func(func(ctx context.Context) (*xrd.Set, error) {
		progress := f.Progress("reading", "clusters")
		defer progress.Done()
		usable, errs := v.fleet.Usable()
		ready := 0
		set, err := cluster.New(usable, v.reads(opts), func(st cluster.Status) {
			v.fleet.Note(st)
			ready++
			progress.Update(ready, len(usable))
		}).Read(ctx)
		if len(opts.Names) > 0 || !opts.Labels.Empty() {
			dropStrangers(set)
		}
		return set, errors.Join(append(errs, err)...)
	})
}

// dropStrangers removes the Compositions of definitions that were not requested,
// so that they are not reported as lacking a definition.
func dropStrangers(set *xrd.Set) {
	set.Compositions = slices.DeleteFunc(set.Compositions, func(c *xrd.Composition) bool {
		return !slices.ContainsFunc(set.Definitions, c.For)
	})
}

// tell prints how each cluster was read, and the errors.
func (f *fleet) tell() {
	if !f.Quiet {
		for _, m := range f.members() {
			f.Sayf("%s: %s", m.Title(), outcome(m.Status, m.variant))
		}
	}
	f.complain()
}

// complain prints every failure with its hint, once if several ingestors have the
// same one.
func (f *fleet) complain() {
	all := &clusters.Fleet{}
	said := map[string]bool{}
	for _, m := range f.members() {
		if m.Status.Err != nil && !said[m.Status.Err.Error()] {
			said[m.Status.Err.Error()] = true
			all.Members = append(all.Members, m.Member)
		}
	}
	all.Complain(&f.Output)
}

// verdict returns the exit error of a run that could not read everything, nil
// otherwise.
func (f *fleet) verdict() error {
	all := &clusters.Fleet{}
	for _, m := range f.members() {
		all.Members = append(all.Members, m.Member)
	}
	return all.Verdict()
}

func outcome(st cluster.Status, v *variant) string {
	if st.Lists == 0 && st.Err != nil {
		return "not read"
	}
	var parts []string
	if v.definitions {
		parts = append(parts, output.Count(st.Definitions, "definition", "definitions"))
	}
	if st.Compositions > 0 {
		parts = append(parts, output.Count(st.Compositions, "Composition", "Compositions"))
	}
	if st.Composites > 0 {
		parts = append(parts, output.Count(st.Composites, "composite or claim", "composites and claims"))
	}
	if v.workloads {
		parts = append(parts, output.Count(st.Workloads, "workload with an id", "workloads with an id"))
	}
	text := strings.Join(parts, ", ")
	if st.Err != nil {
		text += ", but some objects could not be read"
	}
	return text
}

// complete reports whether everything requested from a cluster was read, and
// failed whether something could not be read. Both are false for a cluster that
// was not read.
func (f *fleet) complete(name string) (complete, failed bool) {
	for _, m := range f.members() {
		if m.Status.Cluster == name {
			complete, failed = true, failed || m.Status.Err != nil
		}
	}
	return complete && !failed, failed
}
