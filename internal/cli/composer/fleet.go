package composer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/voice"
	"example.dev/ingestor/internal/term"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd"
)

// fleet is the clusters of a run, in order, and what became of each.
type fleet struct {
	*session
	members []*member
}

// member is one cluster. If it could not be connected to, cluster is nil and
// the status says why.
type member struct {
	cluster *cluster.Cluster
	status  cluster.Status
}

// title names a cluster for people.
func (m *member) title() string {
	if m.status.URL == "" {
		return "cluster " + term.Safe(m.status.Cluster)
	}
	return fmt.Sprintf("cluster %s (%s)", term.Safe(m.status.Cluster), term.Safe(m.status.URL))
}

// connect reads the configuration and prepares to reach the clusters that are
// chosen. Settings that cannot be used are the trouble of one cluster, unless
// all have it.
func (s *session) connect() (*fleet, error) {
	if err := s.configure(true); err != nil {
		return nil, err
	}
	chosen, err := s.choose()
	if err != nil {
		return nil, err
	}
	f := &fleet{session: s}
	// One logger for all, because each keeps its own lines whole and no other's.
	log := s.Logger()
	usable := 0
	for _, settings := range chosen {
		c, err := cluster.Connect(settings, cluster.Options{Timeout: s.timeout, Agent: Name + "/" + app.BuildVersion(), Log: log})
		m := &member{cluster: c, status: cluster.Status{Cluster: settings.Name, Err: err}}
		if err == nil {
			m.status.URL = c.URL()
			usable++
		}
		f.members = append(f.members, m)
	}
	if usable == 0 {
		f.complain()
		return nil, &app.Exit{Code: app.ExitUsage}
	}
	if c := s.config.Composer; len(c.Clusters) > 0 && !c.Enabled && !s.Quiet {
		s.Sayf("composerIngestor.enabled is false: this is what the service would do")
	}
	if n := len(s.config.Composer.Sources); n > 0 && !s.Quiet {
		s.Sayf("%s of the configuration not read: only clusters are", voice.Count(n, "source", "sources"))
	}
	return f, nil
}

// source reads all clusters at once.
func (f *fleet) source(opts cluster.ReadOptions) source.Source {
	return source.Func(func(ctx context.Context) (*xrd.Set, error) {
		progress := f.Progress("reading", "clusters")
		defer progress.Done()
		var usable []*cluster.Cluster
		var errs []error
		byName := map[string]*member{}
		for _, m := range f.members {
			byName[m.status.Cluster] = m
			if m.cluster != nil {
				usable = append(usable, m.cluster)
				continue
			}
			errs = append(errs, m.status.Err)
		}
		ready := 0
		set, err := cluster.New(usable, opts, func(st cluster.Status) {
			byName[st.Cluster].status = st
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
		for _, m := range f.members {
			f.Sayf("%s: %s", m.title(), outcome(m.status))
		}
	}
	f.complain()
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

// complain shows every failure with its way out.
func (f *fleet) complain() {
	for _, m := range f.members {
		if m.status.Err == nil {
			continue
		}
		for _, err := range voice.Each(m.status.Err) {
			hint := ""
			if e, ok := errors.AsType[*cluster.Error](err); ok {
				hint = e.Hint
			}
			f.Complain(err, hint)
		}
	}
}

// complete reports whether everything that was asked of a cluster was read, and
// failed whether something was not. A cluster that was not asked is neither.
func (f *fleet) complete(name string) (complete, failed bool) {
	for _, m := range f.members {
		if m.status.Cluster == name {
			return m.status.Err == nil, m.status.Err != nil
		}
	}
	return false, false
}

// verdict is how a run ends that could not read everything: nil if it could.
// What is wrong has been said.
func (f *fleet) verdict() error {
	failed, read := false, false
	for _, m := range f.members {
		failed = failed || m.status.Err != nil
		read = read || m.status.Lists > 0
	}
	switch {
	case !failed:
		return nil
	case !read:
		return &app.Exit{Code: app.ExitUnreachable}
	}
	return &app.Exit{Code: app.ExitFailed}
}
