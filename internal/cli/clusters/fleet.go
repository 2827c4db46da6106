package clusters

import (
	"errors"
	"fmt"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/term"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
)

// Member is one cluster. If the connection could not be set up, Cluster is nil and
// the status has the error.
type Member struct {
	Cluster *cluster.Cluster
	Status  cluster.Status
}

// Title returns the name of a cluster for messages.
func (m *Member) Title() string {
	if m.Status.URL == "" {
		return "cluster " + term.Safe(m.Status.Cluster)
	}
	return fmt.Sprintf("cluster %s (%s)", term.Safe(m.Status.Cluster), term.Safe(m.Status.URL))
}

// Fleet is the clusters of a run, in order, with the status of each.
type Fleet struct {
	Members []*Member
}

// Connect prepares the connections to the selected clusters. Invalid settings
// affect only their cluster, unless all clusters have them.
func (c *Choice) Connect() (*Fleet, error) {
	chosen, err := c.Choose()
	if err != nil {
		return nil, err
	}
	f := c.ConnectTo(chosen)
	if usable, _ := f.Usable(); len(usable) == 0 {
		f.Complain(c.Output)
		return nil, &app.Exit{Code: app.ExitUsage}
	}
	return f, nil
}

// ConnectTo prepares the connections to clusters.
func (c *Choice) ConnectTo(chosen []source.Cluster) *Fleet {
	f := &Fleet{}
	// Share one logger: a logger keeps only its own lines from being interleaved.
	log := c.Logger()
	for _, settings := range chosen {
		k, err := cluster.Connect(settings, cluster.Options{Timeout: c.Timeout, Agent: c.Program + "/" + app.BuildVersion(), Log: log})
		m := &Member{Cluster: k, Status: cluster.Status{Cluster: settings.Name, Err: err}}
		if err == nil {
			m.Status.URL = k.URL()
		}
		f.Members = append(f.Members, m)
	}
	return f
}

// Usable returns the clusters whose connection could be set up, and the errors of
// the others.
func (f *Fleet) Usable() (usable []*cluster.Cluster, errs []error) {
	for _, m := range f.Members {
		if m.Cluster != nil {
			usable = append(usable, m.Cluster)
			continue
		}
		errs = append(errs, m.Status.Err)
	}
	return usable, errs
}

// Note records the status of a cluster.
func (f *Fleet) Note(st cluster.Status) {
	for _, m := range f.Members {
		if m.Status.Cluster == st.Cluster {
			m.Status = st
		}
	}
}

// Complain prints every failure with its hint.
func (f *Fleet) Complain(v *output.Output) {
	for _, m := range f.Members {
		if m.Status.Err == nil {
			continue
		}
		for _, err := range output.Each(m.Status.Err) {
			hint := ""
			if e, ok := errors.AsType[*cluster.Error](err); ok {
				hint = e.Hint
			}
			v.Complain(err, hint)
		}
	}
}

// Verdict returns the exit error of a run that could not read everything, nil
// otherwise. The failures have already been printed.
func (f *Fleet) Verdict() error {
	failed, read := false, false
	for _, m := range f.Members {
		failed = failed || m.Status.Err != nil
		read = read || m.Status.Lists > 0
	}
	switch {
	case !failed:
		return nil
	case !read:
		return &app.Exit{Code: app.ExitUnreachable}
	}
	return &app.Exit{Code: app.ExitFailed}
}
