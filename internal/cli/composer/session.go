package composer

import (
	"cmp"
	"context"
	"time"

	"github.com/spf13/cobra"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/finding"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/voice"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/words"
)

// common are the flags that every subcommand has.
type common struct {
	voice.Voice
	picked, configs, contexts []string
	kubeconfig                string
	timeout                   time.Duration
	wordsName                 string
}

const defaultTimeout = 30 * time.Second

func (c *common) bind(root *cobra.Command) {
	f := root.PersistentFlags()
	f.SortFlags = false
	f.StringArrayVar(&c.picked, "cluster", nil, "read the cluster of this `name`, or all; may be given several times")
	f.StringArrayVar(&c.configs, "config", nil, "configuration `file`; several are merged, the last one wins")
	f.StringVar(&c.kubeconfig, "kubeconfig", "", "kubeconfig `file`, whose contexts are clusters")
	f.StringArrayVar(&c.contexts, "context", nil, "read the cluster of this `context` of the kubeconfig; may be given several times")
	f.DurationVar(&c.timeout, "timeout", defaultTimeout, "how long one call of a cluster may take")
	flags.BindWords(f, &c.wordsName)
	c.Voice.Bind(f)
	flags.Complete(root, map[string][]string{"words": flags.WordsNames})
}

// session is one run of a subcommand.
type session struct {
	*common
	// given are the flags that were.
	given map[string]bool
	words words.Choice
	// config is the configuration, or what holds without one; configured tells
	// which.
	config     *config.Config
	configured bool
}

// run returns the body of a subcommand: it settles the flags that all of them
// have, then does its work.
func (c *common) run(work func(ctx context.Context, s *session, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		s := &session{common: c, given: flags.Given(cmd.Flags())}
		if err := s.settle(); err != nil {
			return err
		}
		return work(cmd.Context(), s, args)
	}
}

func (s *session) settle() (err error) {
	if err := cmp.Or(
		flags.Together(s.given, "quiet", "verbose"),
		flags.Together(s.given, "quiet", "debug"),
	); err != nil {
		return err
	}
	if s.timeout <= 0 {
		return flags.Usagef("give a time such as 10s or 1m", "cannot use timeout %v", s.timeout)
	}
	s.words, err = flags.Words(s.wordsName, Name)
	return err
}

// useClusters reports whether flags say that clusters are read, where files
// could be.
func (s *session) useClusters() bool { return s.given["cluster"] || s.given["context"] }

// configure reads the configuration. A command that reads no clusters needs
// none of what only they need.
func (s *session) configure(clusters bool) error {
	s.configured = len(s.configs) > 0
	opts := config.Options{Sections: []string{config.SectionComposer, config.SectionOrchestrator}, UseCluster: s.picks}
	if !clusters {
		opts.UseCluster = func(string) bool { return false }
	}
	if s.configured {
		opts.Lookup = s.lookup
	}
	var found []finding.Finding
	s.config, found = config.Load(s.configs, opts)
	if err := s.Misconfigured(found); err != nil {
		return err
	}
	if !s.given["words"] {
		s.words = s.config.Words
	}
	return nil
}

func (s *session) lookup(name string) (string, bool) {
	v := s.Env.Getenv(name)
	return v, v != ""
}

// engineOptions are what the service would tell its engine.
func (s *session) engineOptions(p engine.Profile) engine.Options {
	var o engine.Options
	if s.configured {
		o = s.config.EngineOptions(p)
	}
	o.Words = s.words
	return o
}
