package composer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster/access"
)

const (
	// everyCluster is the name that picks all.
	everyCluster = "all"
	// unnamed is the cluster the environment describes without a name, and
	// inside the one this runs in.
	unnamed = "default"
	inside  = "in-cluster"
)

const noCluster = `name them in a configuration (--config), or by --kubeconfig or --context;
or set ORCHESTRATOR_API_URL, ORCHESTRATOR_SERVICE_ACCOUNT_TOKEN and
ORCHESTRATOR_CA_FILE, or KUBECONFIG, or make ~/.kube/config;
inside a cluster nothing is needed`

// choose returns the clusters to read, in order.
func (s *session) choose() ([]source.Cluster, error) {
	all, usual, err := s.known()
	switch {
	case err != nil:
		return nil, err
	case len(s.picked) == 0:
		return usual, nil
	case slices.Contains(s.picked, everyCluster):
		return all, nil
	}
	var out []source.Cluster
	for _, name := range s.picked {
		i := slices.IndexFunc(all, func(c source.Cluster) bool { return c.Name == name })
		if i < 0 {
			return nil, flags.Usagef("there are "+namesOf(all), "there is no cluster %q", name)
		}
		if !slices.ContainsFunc(out, func(c source.Cluster) bool { return c.Name == name }) {
			out = append(out, all[i])
		}
	}
	return out, nil
}

// picks reports whether a cluster of the configuration is read.
func (s *session) picks(name string) bool {
	return len(s.picked) == 0 || slices.Contains(s.picked, everyCluster) || slices.Contains(s.picked, name)
}

func namesOf(clusters []source.Cluster) string {
	names := make([]string, len(clusters))
	for i, c := range clusters {
		names[i] = fmt.Sprintf("%q", c.Name)
	}
	return strings.Join(names, ", ")
}

// known returns all clusters there are, and those that are meant when none is
// picked. Of two with the same name the configuration's counts.
func (s *session) known() (all, usual []source.Cluster, err error) {
	if !s.configured && s.kubeconfig == "" && len(s.contexts) == 0 {
		return s.environment()
	}
	if s.configured {
		all = s.config.Clusters()
		usual = all
	}
	if s.kubeconfig != "" || len(s.contexts) > 0 {
		named, current, err := s.fromKubeconfig()
		if err != nil {
			return nil, nil, err
		}
		all, usual = join(all, named), join(usual, current)
	}
	if len(all) == 0 {
		return nil, nil, flags.Usagef("add composerIngestor.clusters, or use --kubeconfig or --context", "the configuration names no cluster")
	}
	return all, usual, nil
}

// join adds clusters whose names are not there yet.
func join(to, more []source.Cluster) []source.Cluster {
	to = slices.Clone(to)
	for _, c := range more {
		if !slices.ContainsFunc(to, func(o source.Cluster) bool { return o.Name == c.Name }) {
			to = append(to, c)
		}
	}
	return to
}

// environment returns the clusters that are known without any flag: the one
// the environment describes, else those of the usual kubeconfig, else the one
// this runs in.
func (s *session) environment() (all, usual []source.Cluster, err error) {
	described, found := config.Load(nil, config.Options{Sections: []string{config.SectionOrchestrator}, Lookup: s.lookupNamed})
	if err := s.Misconfigured(found); err != nil {
		return nil, nil, err
	}
	switch clusters := described.Clusters(); {
	case len(clusters) > 0:
		return clusters, clusters, nil
	case s.usualKubeconfig() != "":
		return s.fromKubeconfig()
	case s.Env.Getenv("KUBERNETES_SERVICE_HOST") != "":
		in := []source.Cluster{{Name: inside, InCluster: true}}
		return in, in, nil
	}
	return nil, nil, flags.Usage(errors.New("no cluster is known"), strings.ReplaceAll(noCluster, "\n", "\n  "))
}

// lookupNamed is lookup that names a cluster nobody named.
func (s *session) lookupNamed(name string) (string, bool) {
	v, ok := s.lookup(name)
	if !ok && strings.HasSuffix(name, "_CLUSTER_NAME") {
		return unnamed, true
	}
	return v, ok
}

// usualKubeconfig returns where kubectl looks for its configuration; empty if
// there is none.
func (s *session) usualKubeconfig() string {
	if path := s.Env.Getenv("KUBECONFIG"); path != "" {
		return path
	}
	home := s.Env.Getenv("HOME")
	if home == "" {
		return ""
	}
	path := filepath.Join(home, ".kube", "config")
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// fromKubeconfig returns the contexts of the kubeconfig as clusters, and those
// that are meant: the ones named, else the current one.
func (s *session) fromKubeconfig() (all, usual []source.Cluster, err error) {
	path := s.kubeconfig
	if path == "" {
		path = s.usualKubeconfig()
	}
	if path == "" {
		return nil, nil, flags.Usagef("name it with --kubeconfig, or set KUBECONFIG", "there is no kubeconfig to look for contexts in")
	}
	names, current, err := access.Contexts(path)
	if err != nil {
		hint := ""
		if a, ok := errors.AsType[*access.Error](err); ok {
			hint = a.Hint
		}
		return nil, nil, flags.Usage(err, hint)
	}
	for _, name := range names {
		c := source.Cluster{Name: name, Kubeconfig: path, Context: name}
		all = append(all, c)
		if name == current {
			usual = []source.Cluster{c}
		}
	}
	if len(all) == 0 {
		return nil, nil, flags.Usagef("check the file, for example with kubectl config view", "kubeconfig %q has no contexts", path)
	}
	if len(s.contexts) > 0 {
		return s.named(all, path)
	}
	if len(usual) == 0 && len(s.picked) == 0 {
		return nil, nil, flags.Usagef("name one with --context: there are "+namesOf(all), "kubeconfig %q has no current context", path)
	}
	return all, usual, nil
}

// named returns the contexts that flags name.
func (s *session) named(all []source.Cluster, path string) (chosen, usual []source.Cluster, err error) {
	for _, name := range s.contexts {
		i := slices.IndexFunc(all, func(c source.Cluster) bool { return c.Name == name })
		if i < 0 {
			return nil, nil, flags.Usagef("there are "+namesOf(all), "there is no context %q in kubeconfig %q", name, path)
		}
		chosen = join(chosen, all[i:i+1])
	}
	return chosen, chosen, nil
}
