package composer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/term"
	"example.dev/ingestor/source/cluster"
)

var connectionForms = []string{asText, asJSON}

func newConnection(c *common) *cobra.Command {
	var output string
	var composites bool
	cmd := &cobra.Command{
		Use:   "test-connection [options]",
		Short: "Check that clusters can be read, and show what is missing",
		Long: `Checks the connection to each cluster step by step: its address, its certificate,
the user, the served APIs, and every permission that the service needs. Failures
are shown with a hint; missing permissions are shown as the rules to add to a
ClusterRole.`,
		Example: `  # All clusters of the configuration
  composer-ingestor test-connection --config app-config.yaml

  # One of them, with the permissions to read composite resources and claims
  composer-ingestor test-connection --config app-config.yaml --cluster prod --composites`,
		Args: flags.NoArguments,
		RunE: c.run(func(ctx context.Context, s *session, _ []string) error {
			return s.testConnection(ctx, output, composites)
		}),
	}
	f := cmd.Flags()
	f.StringVarP(&output, "output", "o", asText, "`format` of the result: "+strings.Join(connectionForms, ", "))
	f.BoolVar(&composites, "composites", false, "also check the permissions to read composite resources and claims")
	flags.Complete(cmd, map[string][]string{"output": connectionForms})
	return cmd
}

// connection is the result of checking one cluster.
type connection struct {
	member
	checks []cluster.Check
	done   chan struct{}
}

func (s *session) testConnection(ctx context.Context, output string, composites bool) error {
	if err := oneOf("output", output, connectionForms); err != nil {
		return err
	}
	fleet, err := s.connect()
	if err != nil {
		return err
	}
	var all []*connection
	for _, m := range fleet.members() {
		opts := m.variant.checks(composites)
		c := &connection{member: m, done: make(chan struct{})}
		all = append(all, c)
		go func() {
			defer close(c.done)
			c.take(ctx, opts)
		}()
	}
	if err := s.showConnections(all, output); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return judge(all)
}

// checks returns the checks for what the ingestor needs from a cluster.
func (v *variant) checks(composites bool) cluster.CheckOptions {
	opts := cluster.CheckOptions{Watch: true, NoDefinitions: !v.definitions}
	if composites && v.definitions {
		opts.Composites, opts.Namespaces = v.takes, v.namespaces
	}
	if v.workloads {
		opts.Workloads = cluster.Workloads(nil)
	}
	return opts
}

// take runs the checks of the cluster.
func (c *connection) take(ctx context.Context, opts cluster.CheckOptions) {
	if c.Cluster != nil {
		c.Cluster.Check(ctx, opts, func(k cluster.Check) { c.checks = append(c.checks, k) })
		return
	}
	k := cluster.Check{Name: "settings", Result: cluster.Failed, Detail: c.Status.Err.Error()}
	if e, ok := errors.AsType[*cluster.Error](c.Status.Err); ok {
		k.Detail, k.Hint = e.Err.Error(), e.Hint
	}
	c.checks = []cluster.Check{k}
}

// showConnections writes the result of each cluster, in order, as soon as it and
// all earlier ones are complete.
func (s *session) showConnections(all []*connection, output string) error {
	items := tree.Arr()
	for _, c := range all {
		<-c.done
		if output == asJSON {
			items.Items = append(items.Items, c.node())
			continue
		}
		if err := s.print([]byte(c.text(s.Out()))); err != nil {
			return err
		}
	}
	if output != asJSON {
		return nil
	}
	return s.print(append(tree.AppendJSON(nil, tree.Obj(tree.F("clusters", items)), "  "), '\n'))
}

// ok reports whether no check failed.
func (c *connection) ok() bool {
	return !slices.ContainsFunc(c.checks, func(k cluster.Check) bool { return k.Result == cluster.Failed })
}

// readable reports whether anything could be read from the cluster.
func (c *connection) readable() bool {
	return slices.ContainsFunc(c.checks, func(k cluster.Check) bool { return k.Result == cluster.OK && strings.HasPrefix(k.Name, "list ") })
}

// missing returns the RBAC rules to add.
func (c *connection) missing() []cluster.Rule {
	var rules []cluster.Rule
	for _, k := range c.checks {
		if isMissing(k) {
			rules = append(rules, k.Missing)
		}
	}
	return cluster.Merge(rules)
}

func isMissing(k cluster.Check) bool { return len(k.Missing.Resources) > 0 }

func (c *connection) text(style term.Style) string {
	colors := map[cluster.Result]func(string) string{cluster.OK: style.Green, cluster.Failed: style.Red, cluster.Skipped: style.Dim}
	var b strings.Builder
	fmt.Fprintln(&b, style.Bold(c.Title()))
	for _, k := range c.checks {
		fmt.Fprintf(&b, "  %s%s %s", colors[k.Result](string(k.Result)), strings.Repeat(" ", len(cluster.Skipped)-len(k.Result)), term.Safe(k.Name))
		if k.Detail != "" {
			fmt.Fprintf(&b, ": %s", term.Safe(k.Detail))
		}
		fmt.Fprintln(&b)
		// A missing permission is among the rules below.
		if k.Hint != "" && !isMissing(k) {
			fmt.Fprintln(&b, indent(term.SafeLines(k.Hint), "          "))
		}
	}
	if rules := c.missing(); len(rules) > 0 {
		fmt.Fprintln(&b, "  add these rules to the ClusterRole of its account:")
		for _, r := range rules {
			fmt.Fprintln(&b, indent(term.SafeLines(r.YAML()), "    "))
		}
	}
	return b.String()
}

// indent indents every line.
func indent(text, by string) string { return by + strings.ReplaceAll(text, "\n", "\n"+by) }

func (c *connection) node() *tree.Node {
	steps, rules := tree.Arr(), tree.Arr()
	for _, k := range c.checks {
		steps.Items = append(steps.Items, tree.Obj(
			tree.F("name", tree.Str(k.Name)), tree.F("result", tree.Str(string(k.Result))),
			tree.F("detail", tree.OptStr(k.Detail)), tree.F("hint", tree.OptStr(k.Hint)),
		))
	}
	for _, r := range c.missing() {
		rules.Items = append(rules.Items, tree.Obj(
			tree.F("apiGroups", tree.Strs(r.Groups)), tree.F("resources", tree.Strs(r.Resources)), tree.F("verbs", tree.Strs(r.Verbs)),
		))
	}
	return tree.Obj(
		tree.F("name", tree.Str(c.Status.Cluster)), tree.F("ingestor", tree.Str(c.variant.name)), tree.F("url", tree.OptStr(c.Status.URL)),
		tree.F("ok", tree.Boolean(c.ok())), tree.F("checks", steps), tree.F("missing", rules),
	)
}

// judge returns the exit code: 5 if nothing could be read from any cluster, 1 if a
// check failed.
func judge(all []*connection) error {
	switch {
	case !slices.ContainsFunc(all, (*connection).readable):
		return &app.Exit{Code: app.ExitUnreachable}
	case slices.ContainsFunc(all, func(c *connection) bool { return !c.ok() }):
		return &app.Exit{Code: app.ExitFailed}
	}
	return nil
}
