package composer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/composer/status"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/source/cluster/live"
	"example.dev/ingestor/xrd/composed"
)

var statusForms = []string{asText, asJSON}

// statusOptions are the flags of status.
type statusOptions struct {
	namespace, output string
	watch             bool
	every             time.Duration
}

func newStatus(c *common) *cobra.Command {
	var o statusOptions
	cmd := &cobra.Command{
		Use:   "status KIND/NAME [options]",
		Short: "Show what a composite resource consists of, and why it is not ready",
		Long: `Shows the objects that a composite resource or claim composes, to any depth, and
in one sentence why it is not ready. Objects are read with the permissions of your
account; those that you may not read are shown as such.

Exit codes: 0 ready, 2 not ready, 3 not found, 4 wrong arguments, 5 the cluster
cannot be read.`,
		Example: `  # Why is it not ready?
  composer-ingestor status database/invoices --namespace team-a

  # Wait until it is
  composer-ingestor status database.platform.example.org/invoices --namespace team-a --watch`,
		Args: cobra.ArbitraryArgs,
		RunE: c.run(func(ctx context.Context, s *session, args []string) error { return s.status(ctx, args, o) }),
	}
	f := cmd.Flags()
	f.StringVarP(&o.namespace, "namespace", "n", "default", "`namespace` of the object, if its kind has namespaces")
	f.BoolVarP(&o.watch, "watch", "w", false, "show it again when it changes, until it is ready")
	f.DurationVar(&o.every, "interval", 2*time.Second, "how often --watch looks")
	f.StringVarP(&o.output, "output", "o", asText, "`format` of the result: "+strings.Join(statusForms, ", "))
	flags.Complete(cmd, map[string][]string{"output": statusForms})
	return cmd
}

func (s *session) status(ctx context.Context, args []string, o statusOptions) error {
	if err := oneOf("output", o.output, statusForms); err != nil {
		return err
	}
	kind, name := "", ""
	if len(args) == 1 {
		kind, name, _ = strings.Cut(args[0], "/")
	}
	if kind == "" || name == "" || strings.Contains(name, "/") {
		return flags.Usagef("write KIND/NAME, such as database/invoices; see "+Name+" status --help", "cannot read the object %q", strings.Join(args, " "))
	}
	if o.every < 100*time.Millisecond {
		return flags.Usagef("write at least 100ms", "cannot look every %s", o.every)
	}
	fleet, err := s.connect()
	if err != nil {
		return err
	}
	kinds := live.NewKinds(s.Env.Now)
	read := func(ctx context.Context) ([]status.Result, error) {
		return readStatus(ctx, fleet, kinds, kind, o.namespace, name)
	}
	if !o.watch {
		found, err := read(ctx)
		if err != nil {
			return explained(err)
		}
		if err := s.showStatus(found, o); err != nil {
			return err
		}
		return statusVerdict(found)
	}
	return s.watchStatus(ctx, read, o)
}

// readStatus reads the object in every cluster that has it.
func readStatus(ctx context.Context, f *fleet, kinds *live.Kinds, kind, namespace, name string) ([]status.Result, error) {
	var out []status.Result
	var failed, absent error
	seen := map[string]bool{}
	for _, m := range f.members() {
		if m.Cluster == nil || seen[m.Cluster.Name()] {
			continue
		}
		seen[m.Cluster.Name()] = true
		tree, err := readTree(ctx, m.Cluster, kinds, kind, namespace, name)
		switch e, ok := errors.AsType[*cluster.Error](err); {
		case ok && e.Reason == cluster.Absent:
			absent = err
		case err != nil:
			failed = errors.Join(failed, err)
		case tree.State == composed.Missing:
			absent = fmt.Errorf("cannot find %s in cluster %s", tree.Ref, m.Cluster.Name())
			if tree.Ref.Namespace != "" {
				absent = fmt.Errorf("cannot find %s in namespace %s of cluster %s", tree.Ref, tree.Ref.Namespace, m.Cluster.Name())
			}
		default:
			out = append(out, status.New(m.Cluster.Name(), tree))
		}
	}
	if len(out) == 0 && failed == nil {
		return nil, &app.Exit{Code: app.ExitNothing, Err: absent, Hint: "check kind and name, --namespace and --cluster"}
	}
	if len(out) == 0 {
		return nil, failed
	}
	return out, nil
}

// readTree reads the tree of an object.
func readTree(ctx context.Context, on *cluster.Cluster, kinds *live.Kinds, kind, namespace, name string) (*composed.Node, error) {
	k, err := live.Resolve(ctx, on, kind)
	if err != nil {
		return nil, err
	}
	return composed.Build(ctx, live.NewReader(on, kinds), composed.Ref{APIVersion: k.APIVersion, Kind: k.Kind, Namespace: namespace, Name: name}, composed.Options{})
}

// showStatus writes the results.
func (s *session) showStatus(found []status.Result, o statusOptions) error {
	if o.output == asJSON {
		text, err := json.MarshalIndent(map[string]any{"clusters": found}, "", "  ")
		if err != nil {
			return err
		}
		return s.print(append(text, '\n'))
	}
	var b strings.Builder
	for i, r := range found {
		if i > 0 {
			b.WriteByte('\n')
		}
		if len(found) > 1 {
			fmt.Fprintf(&b, "%s\n", s.Out().Bold("cluster "+r.Cluster))
		}
		b.WriteString(r.Text(s.Env.Now(), s.Out()))
	}
	return s.print([]byte(b.String()))
}

// watchStatus shows the results when they change, until the object is ready everywhere.
// A cluster that cannot be read is reported once, and read again.
func (s *session) watchStatus(ctx context.Context, read func(context.Context) ([]status.Result, error), o statusOptions) error {
	last := ""
	for {
		found, err := read(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		now := fmt.Sprint(err)
		if err == nil {
			text, err := json.Marshal(found)
			if err != nil {
				return err
			}
			now = string(text)
		}
		if now != last {
			if err != nil {
				s.Complain(err, "")
			} else if err := s.showStatus(found, o); err != nil {
				return err
			}
			last = now
		}
		if err == nil && statusVerdict(found) == nil {
			return nil
		}
		select {
		case <-time.After(o.every):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// statusVerdict returns the exit code: 2 if an object is not ready, or a change was not
// applied.
func statusVerdict(found []status.Result) error {
	for _, r := range found {
		if r.Reason != nil {
			return &app.Exit{Code: app.ExitInvalid}
		}
	}
	return nil
}

// explained adds the exit code and the hint of a cluster's error.
func explained(err error) error {
	if _, ok := errors.AsType[*app.Exit](err); ok {
		return err
	}
	if e, ok := errors.AsType[*cluster.Error](err); ok {
		code := app.ExitUnreachable
		if e.Reason == cluster.Settings {
			code = app.ExitUsage
		}
		return &app.Exit{Code: code, Err: err, Hint: e.Hint}
	}
	return err
}
