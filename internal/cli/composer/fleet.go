package composer

import (
	"context"
	"errors"
	"slices"
	"strings"

	"example.dev/ingestor/internal/cli/clusters"
	"example.dev/ingestor/internal/cli/voice"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd"
)

// fleet is the clusters of a run, in order, and what became of each.
type fleet struct {
	*session
	*clusters.Fleet
}

// connect reads the configuration and prepares to reach the clusters that are
// chosen. Settings that cannot be used are the trouble of one cluster, unless
// all have it.
func (s *session) connect() (*fleet, error) {
	if err := s.configure(true); err != nil {
		return nil, err
	}
	all, err := s.choice.Connect()
	if err != nil {
		return nil, err
	}
	if c := s.config.Composer; len(c.Clusters) > 0 && !c.Enabled && !s.Quiet {
		s.Sayf("composerIngestor.enabled is false: this is what the service would do")
	}
	if n := len(s.config.Composer.Sources); n > 0 && !s.Quiet {
		s.Sayf("%s of the configuration not read: only clusters are", voice.Count(n, "source", "sources"))
	}
	return &fleet{session: s, Fleet: all}, nil
}

// source reads all clusters at once.
func (f *fleet) source(opts cluster.ReadOptions) source.Source {
	return source.Func(func(ctx context.Context) (*xrd.Set, error) {
		progress := f.Progress("reading", "clusters")
		defer progress.Done()
		usable, errs := f.Usable()
		ready := 0
		set, err := cluster.New(usable, opts, func(st cluster.Status) {
			f.Note(st)
			ready++
			progress.Update(ready, len(usable))
		}).Read(ctx)
		if len(opts.Names) > 0 || !opts.Labels.Empty() {
			dropStrangers(set)
		}
		return set, errors.Join(append(errs, err)...)
	})
}

// dropStrangers leaves out the Compositions of definitions that were not asked
// for, so that nobody misses their definitions.
func dropStrangers(set *xrd.Set) {
	set.Compositions = slices.DeleteFunc(set.Compositions, func(c *xrd.Composition) bool {
		return !slices.ContainsFunc(set.Definitions, c.For)
	})
}

// tell says how each cluster was read, and what was wrong.
func (f *fleet) tell() {
	if !f.Quiet {
		for _, m := range f.Members {
			f.Sayf("%s: %s", m.Title(), outcome(m.Status))
		}
	}
	f.Fleet.Complain()
}

func outcome(st cluster.Status) string {
	if st.Lists == 0 && st.Err != nil {
		return "not read"
	}
	parts := []string{voice.Count(st.Definitions, "definition", "definitions")}
	if st.Compositions > 0 {
		parts = append(parts, voice.Count(st.Compositions, "Composition", "Compositions"))
	}
	if st.Composites > 0 {
		parts = append(parts, voice.Count(st.Composites, "composite or claim", "composites and claims"))
	}
	text := strings.Join(parts, ", ")
	if st.Err != nil {
		text += ", but not all could be read"
	}
	return text
}

// complete reports whether everything that was asked of a cluster was read, and
// failed whether something was not. A cluster that was not asked is neither.
func (f *fleet) complete(name string) (complete, failed bool) {
	for _, m := range f.Members {
		if m.Status.Cluster == name {
			return m.Status.Err == nil, m.Status.Err != nil
		}
	}
	return false, false
}
