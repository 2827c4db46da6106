package composer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.dev/ingestor/finding"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/voice"
	"example.dev/ingestor/internal/term"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/tree"
	"example.dev/ingestor/xrd"
)

// discoverOptions are the flags of discover.
type discoverOptions struct {
	output                string
	all, composites       bool
	selector, namePattern string
	filter                xrd.Filter
}

// The forms in which results are shown.
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
		Short: "List the definitions the service takes",
		Long: `Lists the definitions that the service with this configuration takes from the
clusters: those with the label example.dev/ingest (or openportal.dev/ingest)
"true" that pass the configuration's xrdFilters. The flags narrow that.`,
		Example: `  # What the service takes from the clusters of its configuration
  composer-ingestor discover --config app-config.yaml

  # From two contexts of a kubeconfig, as JSON
  composer-ingestor discover --context dev --context prod --output json

  # What is not taken, and why
  composer-ingestor discover --config app-config.yaml --cluster prod --all`,
		Args: flags.NoArguments,
		RunE: c.run(func(ctx context.Context, s *session, _ []string) error { return s.discover(ctx, o) }),
	}
	f := cmd.Flags()
	f.StringVarP(&o.output, "output", "o", asTable, "`form` of the list: "+strings.Join(discoverForms, ", "))
	f.BoolVar(&o.all, "all", false, "also list the definitions that are not taken, and why")
	f.BoolVar(&o.composites, "composites", false, "also count the composite resources and claims of each, in the table")
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
	if o.filter.Labels, err = xrd.ParseSelector(o.selector); err != nil {
		return flags.Usage(err, "for example --selector 'team=payments,env in (dev, test),!legacy'")
	}
	o.filter.Name, err = flags.Pattern("--name-pattern", o.namePattern)
	return err
}

// oneOf returns an error if a flag was given none of its values.
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

// discovery is what was found.
type discovery struct {
	taken, refused []*xrd.Definition
	why            map[*xrd.Definition]string
	// composites are those of the definitions that are taken; nil if nobody
	// asked.
	composites []*xrd.Object
}

func (s *session) discover(ctx context.Context, o *discoverOptions) error {
	if err := o.settle(); err != nil {
		return err
	}
	fleet, err := s.connect()
	if err != nil {
		return err
	}
	read := cluster.ReadOptions{NoCompositions: true}
	if !o.all {
		// What labels refuse need not be read, unless it is to be shown.
		read.Labels = s.config.Composer.Filter.Labels.And(o.filter.Labels)
	}
	wanted := append(s.selection(), parts("--", flagNames, o.filter)...)
	if o.composites {
		// To be counted, their metadata will do.
		read.Composites, read.Metadata, read.Namespaces = wanted.takes, true, s.config.Composer.Namespaces
	}
	set, _ := fleet.source(read).Read(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	d := discovery{why: map[*xrd.Definition]string{}}
	if o.composites {
		d.composites = append([]*xrd.Object{}, set.Others...)
	}
	var conflicts []finding.Finding
	d.taken, d.refused, conflicts = xrd.Select(set.Definitions, wanted.refusal)
	for _, def := range d.refused {
		d.why[def] = wanted.refusal(def)
	}
	if err := d.show(s, o); err != nil {
		return err
	}
	fleet.tell()
	findings := append(set.Findings, conflicts...)
	if err := s.Report(voice.Report{Findings: findings}); err != nil {
		return err
	}
	d.say(s, o)
	return s.end(ending{fleet: fleet, findings: findings, empty: len(d.taken) == 0, why: d.whyNothing})
}

// show writes the list to standard output.
func (d *discovery) show(s *session, o *discoverOptions) error {
	var text []byte
	switch o.output {
	case asTable:
		text = []byte(d.table(s, o.all))
	case asJSON:
		text = append(tree.AppendJSON(nil, d.node(o.all), "  "), '\n')
	case asYAML:
		text = tree.AppendYAML(nil, d.node(o.all))
	case asName:
		for _, def := range d.rows(o.all) {
			text = append(text, term.Safe(def.Name)+"\n"...)
		}
	}
	return s.print(text)
}

// rows are the definitions to list, in order.
func (d *discovery) rows(all bool) []*xrd.Definition {
	rows := slices.Clone(d.taken)
	if all {
		rows = append(rows, d.refused...)
		slices.SortStableFunc(rows, func(a, b *xrd.Definition) int { return strings.Compare(a.Name, b.Name) })
	}
	return rows
}

func (d *discovery) table(s *session, all bool) string {
	header := []string{"NAME", "GROUP", "KIND", "VERSIONS", "CLUSTERS"}
	if d.composites != nil {
		header = append(header, "COMPOSITES")
	}
	if all {
		header = append(header, "NOT TAKEN BECAUSE")
	}
	var rows [][]string
	for _, def := range d.rows(all) {
		row := []string{def.Label(), def.Group, def.Names.Kind, strings.Join(versions(def, true), ","), strings.Join(foundIn(def), ",")}
		if d.composites != nil {
			row = append(row, d.count(def))
		}
		if all {
			row = append(row, d.why[def])
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return ""
	}
	return term.Table(rows, header, s.Out())
}

// count says how many composites and claims there are of a definition that is
// taken.
func (d *discovery) count(def *xrd.Definition) string {
	if d.why[def] != "" {
		return ""
	}
	n := 0
	for _, o := range d.composites {
		if xrd.NewComposite(o, def) != nil {
			n++
		}
	}
	return fmt.Sprint(n)
}

// node is the list as the contract has it. What is not taken stands beside it.
func (d *discovery) node(all bool) *tree.Node {
	items := tree.Arr()
	for _, def := range d.taken {
		names := tree.Arr()
		for _, v := range versions(def, false) {
			names.Items = append(names.Items, tree.Str(v))
		}
		items.Items = append(items.Items, tree.Obj(
			tree.F("apiVersion", tree.Str(def.Node.Get("apiVersion").Str())),
			tree.F("kind", tree.Str(def.Kind)),
			tree.F("metadata", tree.Obj(tree.F("name", tree.Str(def.Name)))),
			tree.F("spec", tree.Obj(tree.F("group", tree.Str(def.Group)), tree.F("versions", names))),
		))
	}
	n := tree.Obj(tree.F("discovered", items), tree.F("count", tree.Number(int64(len(d.taken)))))
	if all {
		refused := tree.Arr()
		for _, def := range d.refused {
			refused.Items = append(refused.Items, tree.Obj(tree.F("name", tree.Str(def.Name)), tree.F("why", tree.Str(d.why[def]))))
		}
		n.Set("refused", refused)
	}
	return n
}

// versions returns the names of a definition's versions: in the order of the
// document, or with the preferred one first.
func versions(d *xrd.Definition, preferred bool) []string {
	var out []string
	for _, v := range d.Versions {
		if preferred && v == d.Preferred() {
			out = slices.Insert(out, 0, v.Name)
			continue
		}
		out = append(out, v.Name)
	}
	return out
}

// foundIn returns the clusters a definition was found in.
func foundIn(d *xrd.Definition) []string {
	var out []string
	for _, o := range append([]xrd.Origin{d.Origin}, d.Also...) {
		out = append(out, o.Cluster)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// say says how many are not taken.
func (d *discovery) say(s *session, o *discoverOptions) {
	if len(d.refused) == 0 || len(d.taken) == 0 || s.Quiet || o.all {
		return
	}
	first := d.refused[0]
	s.Sayf("%s not selected (%s: %s; see --all or explain)", voice.Count(len(d.refused), "definition", "definitions"), term.Safe(first.Label()), term.Safe(d.why[first]))
	if s.Detailed() {
		for _, def := range d.refused {
			s.Sayf("  %s: %s", term.Safe(def.Label()), term.Safe(d.why[def]))
		}
	}
}

// whyNothing says why nothing is taken.
func (d *discovery) whyNothing() string {
	if len(d.refused) == 0 {
		return "the clusters hold no definition that the labels asked for select"
	}
	first := d.refused[0]
	return fmt.Sprintf("%s found, none selected: %s because %s; see --all or explain",
		voice.Count(len(d.refused), "definition", "definitions"), first.Label(), d.why[first])
}
