// Package clusters selects the clusters that a command reads, by its flags, the
// configuration and the environment, and keeps the status of each.
package clusters

import (
	"time"

	"github.com/spf13/pflag"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/config"
)

// Flags are the flags that select clusters.
type Flags struct {
	// Picked are the names of the clusters to read; Configs the configuration files,
	// and Contexts contexts of the kubeconfig.
	Picked, Configs, Contexts []string
	Kubeconfig                string
	// Timeout is the timeout of one request.
	Timeout time.Duration
}

const defaultTimeout = 30 * time.Second

// Bind defines the flags.
func (f *Flags) Bind(set *pflag.FlagSet) {
	set.StringArrayVar(&f.Picked, "cluster", nil, "read the cluster of this `name`, or all; may be given several times")
	set.StringArrayVar(&f.Configs, "config", nil, "configuration `file`; later files override earlier ones")
	set.StringVar(&f.Kubeconfig, "kubeconfig", "", "kubeconfig `file`, whose contexts are clusters")
	set.StringArrayVar(&f.Contexts, "context", nil, "read the cluster of this `context` of the kubeconfig; may be given several times")
	set.DurationVar(&f.Timeout, "timeout", defaultTimeout, "timeout of one request to a cluster")
}

// Check validates the flags.
func (f *Flags) Check() error {
	if f.Timeout <= 0 {
		return flags.Usagef("use a duration such as 10s or 1m", "cannot use timeout %v", f.Timeout)
	}
	return nil
}

// Choice selects the clusters of a run.
type Choice struct {
	*output.Output
	*Flags
	// Config is the configuration, or the defaults without one; Configured reports
	// which. Configure sets both.
	Config     *config.Config
	Configured bool
}

// Configure reads the configuration. A command that reads no clusters does not
// need the settings for clusters.
func (c *Choice) Configure(clusters bool) error {
	c.Configured = len(c.Configs) > 0
	opts := config.Options{
		// The scaffolder section lists the clusters that a form offers.
		Sections:   []string{config.SectionComposer, config.SectionClusterIngestor, config.SectionOrchestrator, config.SectionScaffolder},
		UseCluster: c.picks, NoTasks: true,
	}
	if !clusters {
		opts.UseCluster = func(string) bool { return false }
	}
	if c.Configured {
		opts.Lookup = c.lookup
	}
	c.ReadingFiles(c.Configs, output.NamedConfig)
	var found []finding.Finding
	c.Config, found = config.Load(c.Configs, opts)
	return c.Misconfigured(found)
}

func (c *Choice) lookup(name string) (string, bool) {
	v := c.Env.Getenv(name)
	return v, v != ""
}
