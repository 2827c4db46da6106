package clusters

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/term"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster/access"
)

const (
	// everyCluster is the name that selects all clusters.
	everyCluster = "all"
	// unnamed is the name of a cluster that the environment describes without a
	// name, and inside that of the cluster in which this process runs.
	unnamed = "default"
	inside  = "in-cluster"
)

const noCluster = `specify clusters in a configuration (--config), or with --kubeconfig or --context;
or set ORCHESTRATOR_API_URL, ORCHESTRATOR_SERVICE_ACCOUNT_TOKEN and
ORCHESTRATOR_CA_FILE, or KUBECONFIG, or create ~/.kube/config;
inside a cluster nothing is needed`

// Choose returns the clusters to read, in order.
func (c *Choice) Choose() ([]source.Cluster, error) {
	chosen, err := c.choose()
	for _, k := range chosen {
		c.Reading("cluster "+k.Name, c.why(k))
	}
	return chosen, err
}

// why returns where the settings of a cluster come from.
func (c *Choice) why(k source.Cluster) string {
	switch {
	case k.Context != "" && k.Kubeconfig != "":
		return fmt.Sprintf("context %s of %s", term.Safe(k.Context), term.Safe(k.Kubeconfig))
	case c.Configured:
		return "a cluster of the configuration"
	case k.InCluster:
		return "this process runs in it"
	}
	return "the cluster of ORCHESTRATOR_API_URL"
}

func (c *Choice) choose() ([]source.Cluster, error) {
	all, usual, err := c.known()
	switch {
	case err != nil:
		return nil, err
	case len(c.Picked) == 0:
		return usual, nil
	case slices.Contains(c.Picked, everyCluster):
		return all, nil
	}
	var out []source.Cluster
	for _, name := range c.Picked {
		i := slices.IndexFunc(all, func(k source.Cluster) bool { return k.Name == name })
		if i < 0 {
			return nil, flags.Usagef("available: "+namesOf(all), "unknown cluster %q", name)
		}
		if !slices.ContainsFunc(out, func(k source.Cluster) bool { return k.Name == name }) {
			out = append(out, all[i])
		}
	}
	return out, nil
}

// picks reports whether a cluster of the configuration is read.
func (c *Choice) picks(name string) bool {
	return len(c.Picked) == 0 || slices.Contains(c.Picked, everyCluster) || slices.Contains(c.Picked, name)
}

func namesOf(clusters []source.Cluster) string {
	names := make([]string, len(clusters))
	for i, c := range clusters {
		names[i] = fmt.Sprintf("%q", c.Name)
	}
	return strings.Join(names, ", ")
}

// known returns all known clusters, and the default selection. If two have the
// same name, the one of the configuration is used.
func (c *Choice) known() (all, usual []source.Cluster, err error) {
	if !c.Configured && c.Kubeconfig == "" && len(c.Contexts) == 0 {
		return c.environment()
	}
	if c.Configured {
		all = c.Config.Clusters()
		usual = all
	}
	if c.Kubeconfig != "" || len(c.Contexts) > 0 {
		named, current, err := c.fromKubeconfig()
		if err != nil {
			return nil, nil, err
		}
		all, usual = join(all, named), join(usual, current)
	}
	if len(all) == 0 {
		return nil, nil, flags.Usagef("add composerIngestor.clusters, or use --kubeconfig or --context", "no cluster in the configuration")
	}
	return all, usual, nil
}

// join adds clusters whose names are not in the list yet.
func join(to, more []source.Cluster) []source.Cluster {
	to = slices.Clone(to)
	for _, c := range more {
		if !slices.ContainsFunc(to, func(o source.Cluster) bool { return o.Name == c.Name }) {
			to = append(to, c)
		}
	}
	return to
}

// environment returns the clusters that are known without any flag: the one that
// the environment describes, otherwise those of the default kubeconfig, otherwise
// the one in which this process runs.
func (c *Choice) environment() (all, usual []source.Cluster, err error) {
	described, found := config.Load(nil, config.Options{Sections: []string{config.SectionOrchestrator}, Lookup: c.lookupNamed})
	if err := c.Misconfigured(found); err != nil {
		return nil, nil, err
	}
	switch clusters := described.Clusters(); {
	case len(clusters) > 0:
		return clusters, clusters, nil
	case c.usualKubeconfig() != "":
		return c.fromKubeconfig()
	case c.Env.Getenv("KUBERNETES_SERVICE_HOST") != "":
		in := []source.Cluster{{Name: inside, InCluster: true}}
		return in, in, nil
	}
	return nil, nil, flags.Usage(errors.New("no cluster specified"), strings.ReplaceAll(noCluster, "\n", "\n  "))
}

// lookupNamed is lookup with a default for the name of a cluster.
func (c *Choice) lookupNamed(name string) (string, bool) {
	v, ok := c.lookup(name)
	if !ok && strings.HasSuffix(name, "_CLUSTER_NAME") {
		return unnamed, true
	}
	return v, ok
}

// usualKubeconfig returns the path of kubectl's default configuration; empty if
// there is none.
func (c *Choice) usualKubeconfig() string {
	if path := c.Env.Getenv("KUBECONFIG"); path != "" {
		return path
	}
	home := c.Env.Getenv("HOME")
	if home == "" {
		return ""
	}
	path := filepath.Join(home, ".kube", "config")
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// fromKubeconfig returns the contexts of the kubeconfig as clusters, and the
// default selection: the named ones, otherwise the current one.
func (c *Choice) fromKubeconfig() (all, usual []source.Cluster, err error) {
	path := c.Kubeconfig
	if path == "" {
		path = c.usualKubeconfig()
	}
	if path == "" {
		return nil, nil, flags.Usagef("set --kubeconfig or KUBECONFIG", "no kubeconfig to read contexts from")
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
		found := source.Cluster{Name: name, Kubeconfig: path, Context: name}
		all = append(all, found)
		if name == current {
			usual = []source.Cluster{found}
		}
	}
	if len(all) == 0 {
		return nil, nil, flags.Usagef("check the file, for example with kubectl config view", "kubeconfig %q has no contexts", path)
	}
	if len(c.Contexts) > 0 {
		return c.named(all, path)
	}
	if len(usual) == 0 && len(c.Picked) == 0 {
		return nil, nil, flags.Usagef("set --context to one of "+namesOf(all), "kubeconfig %q has no current context", path)
	}
	return all, usual, nil
}

// named returns the contexts that flags name.
func (c *Choice) named(all []source.Cluster, path string) (chosen, usual []source.Cluster, err error) {
	for _, name := range c.Contexts {
		i := slices.IndexFunc(all, func(k source.Cluster) bool { return k.Name == name })
		if i < 0 {
			return nil, nil, flags.Usagef("available: "+namesOf(all), "context %q not found in kubeconfig %q", name, path)
		}
		chosen = join(chosen, all[i:i+1])
	}
	return chosen, chosen, nil
}
