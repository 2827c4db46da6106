package composer

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/cli/composer/discovery"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/term"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/selector"
)

// discoverOptions are the flags of discover.
type discoverOptions struct {
	output                string
	all, composites       bool
	selector, namePattern string
	filter                xrd.Filter
}

// Output formats.
const (
	asTable = "table"
	asText  = "text"
	asJSON  = "json"
	asYAML  = "yaml"
	asName  = "name"
)

var discoverForms = []string{asTable, asJSON, asYAML, asName}

func newDiscover(c *common) *cobra.Command {
	o := &discoverOptions{}
	cmd := &cobra.Command{
		Use:   "discover [options]",
		Short: "List the definitions that the service ingests",
		Long: `Lists the definitions that the service with this configuration ingests from the
clusters: those with the label example.dev/ingest (or openportal.dev/ingest)
"true" that pass the configuration's xrdFilters and, from the clusters of
orchestrator, what clusterIngestor also ingests: v2 definitions with the label
vendor.portal.io/generate-form, and workloads with an id. The flags filter the
definitions.`,
		Example: `  # What the service ingests from the clusters of its configuration
  composer-ingestor discover --config app-config.yaml

  # From two contexts of a kubeconfig, as JSON
  composer-ingestor discover --context dev --context prod --output json

  # Also list what is skipped, and why
  composer-ingestor discover --config app-config.yaml --cluster prod --all`,
		Args: flags.NoArguments,
		RunE: c.run(func(ctx context.Context, s *session, _ []string) error { return s.discover(ctx, o) }),
	}
	f := cmd.Flags()
	f.StringVarP(&o.output, "output", "o", asTable, "`format` of the list: "+strings.Join(discoverForms, ", "))
	f.BoolVar(&o.all, "all", false, "also list the definitions that are skipped, and why")
	f.BoolVar(&o.composites, "composites", false, "also count the composite resources and claims of each definition in the table")
	f.StringVar(&o.selector, "selector", "", "only definitions whose labels match the `selector`")
	f.StringSliceVar(&o.filter.Groups, "group", nil, "only definitions of this API `group`; may be given several times")
	f.StringVar(&o.namePattern, "name-pattern", "", "only definitions whose name matches the `regular expression`")
	flags.Complete(cmd, map[string][]string{"output": discoverForms})
	return cmd
}

func (o *discoverOptions) settle() (err error) {
	if err := oneOf("output", o.output, discoverForms); err != nil {
		return err
	}
	if o.filter.Labels, err = selector.Parse(o.selector); err != nil {
		return flags.Usage(err, "for example --selector 'team=payments,env in (dev, test),!legacy'")
	}
	o.filter.Name, err = flags.Pattern("--name-pattern", o.namePattern)
	return err
}

// oneOf returns an error if the value of a flag is not among its values.
func oneOf(flag, value string, values []string) error {
	if slices.Contains(values, value) {
		return nil
	}
	last := len(values) - 1
	want := values[last]
	if last > 0 {
		want = strings.Join(values[:last], ", ") + " or " + want
	}
	return flags.Usagef("", "cannot use --%s %q: want %s", flag, value, want)
}

func (s *session) discover(ctx context.Context, o *discoverOptions) error {
	if err := o.settle(); err != nil {
		return err
	}
	fleet, err := s.connect()
	if err != nil {
		return err
	}
	d, err := fleet.discover(ctx, o)
	if err != nil {
		return err
	}
	if err := s.show(d, o); err != nil {
		return err
	}
	fleet.tell()
	if err := s.Report(output.Report{Findings: d.Findings}); err != nil {
		return err
	}
	s.sayRefused(d, o)
	return s.end(ending{fleet: fleet, findings: d.Findings, empty: len(d.Taken)+len(d.Components) == 0, why: d.WhyNothing})
}

// show writes the list to standard output.
func (s *session) show(d *discovery.Discovery, o *discoverOptions) error {
	var text []byte
	switch o.output {
	case asTable:
		text = []byte(d.Table(s.Out(), o.all) + d.ComponentTable(s.Out()))
	case asJSON:
		text = append(tree.AppendJSON(nil, d.Node(o.all), "  "), '\n')
	case asYAML:
		text = tree.AppendYAML(nil, d.Node(o.all))
	case asName:
		for _, def := range d.Rows(o.all) {
			text = append(text, term.Safe(def.Name)+"\n"...)
		}
	}
	return s.print(text)
}
