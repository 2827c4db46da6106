package composer

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/cli/clusters"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/words"
)

// common holds the flags that every subcommand has.
type common struct {
	output.Output
	clusters.Flags
	wordsName string
	extension engine.Extension
}

func (c *common) bind(root *cobra.Command) {
	f := root.PersistentFlags()
	f.SortFlags = false
	c.Flags.Bind(f)
	flags.BindWords(f, &c.wordsName)
	c.Output.Bind(f)
	flags.Complete(root, map[string][]string{"words": flags.WordsNames})
}

// session is one run of a subcommand.
type session struct {
	*common
	// given are the flags that were set.
	given map[string]bool
	words words.Choice
	// choice selects the clusters, from the configuration in config, or by default
	// rules without one.
	choice *clusters.Choice
	config *config.Config
}

// run returns the body of a subcommand: it parses the common flags, then does its
// work.
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
	if err := s.Flags.Check(); err != nil {
		return err
	}
	s.words, err = flags.Words(s.wordsName, Name)
	return err
}

// useClusters reports whether flags select clusters where files are possible too.
func (s *session) useClusters() bool { return s.given["cluster"] || s.given["context"] }

// configure reads the configuration. A command that reads no clusters does not
// need the settings for clusters.
func (s *session) configure(read bool) error {
	s.choice = &clusters.Choice{Output: &s.Output, Flags: &s.Flags}
	err := s.choice.Configure(read)
	s.config = s.choice.Config
	if err != nil {
		return err
	}
	if !s.given["words"] {
		s.words = s.config.Words
	}
	return nil
}

// engineOptions returns the options that the service would pass to its engine.
func (s *session) engineOptions(p engine.Profile) engine.Options {
	var o engine.Options
	if s.choice.Configured {
		o = s.config.EngineOptions(p)
	}
	o.Words = s.words
	return o
}
