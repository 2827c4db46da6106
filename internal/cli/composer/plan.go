package composer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/composer/planning"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/plan"
	"example.dev/ingestor/internal/plan/render"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/source/cluster/live"
	"example.dev/ingestor/source/file"
	"example.dev/ingestor/xrd/composed"
)

// asMarkdown is the format for the text of a change request.
const asMarkdown = "markdown"

var planForms = []string{asText, asJSON, asYAML, asMarkdown}

// planOptions are the flags of plan.
type planOptions struct {
	namespace, output, program string
	functions                  []string
	timeout                    time.Duration
}

func newPlan(c *common) *cobra.Command {
	var o planOptions
	cmd := &cobra.Command{
		Use:   "plan FILE|KIND/NAME [options]",
		Short: "Show what a composite resource would create, change and delete",
		Long: `Shows what Crossplane would create, change and delete if the composite resource or
claim in a file were applied, or what it would do next with one that exists. Nothing
is written to the cluster: Crossplane's own program renders the objects, and calls
the functions where they run in the cluster, or where --function says.

Exit codes: 0 success, 1 no plan could be made, 2 a function reports a fatal result
or the cluster would reject the manifest, 3 the object or its Composition does not
exist, 4 wrong arguments, 5 the cluster cannot be read.`,
		Example: `  # Before you apply a file
  composer-ingestor plan database.yaml --crossplane /usr/local/bin/crossplane

  # With a function that runs on your machine
  composer-ingestor plan database.yaml --function function-patch-and-transform=localhost:9443`,
		Args: cobra.ArbitraryArgs,
		RunE: c.run(func(ctx context.Context, s *session, args []string) error { return s.plan(ctx, args, o) }),
	}
	f := cmd.Flags()
	f.StringVarP(&o.namespace, "namespace", "n", "default", "`namespace` of the object, if its kind has namespaces and the file has none")
	f.StringVar(&o.program, "crossplane", "crossplane", "`program` crossplane of Crossplane 2.4 or later")
	f.StringArrayVar(&o.functions, "function", nil, "call a function at another endpoint without TLS, as `NAME=HOST:PORT`. May be given several times")
	f.DurationVar(&o.timeout, "timeout", 30*time.Second, "how long the plan may take")
	f.StringVarP(&o.output, "output", "o", asText, "`format` of the result: "+strings.Join(planForms, ", "))
	flags.Complete(cmd, map[string][]string{"output": planForms})
	return cmd
}

func (s *session) plan(ctx context.Context, args []string, o planOptions) error {
	if err := oneOf("output", o.output, planForms); err != nil {
		return err
	}
	if len(args) != 1 || args[0] == "" {
		return flags.Usagef("write one FILE or KIND/NAME; see "+Name+" plan --help", "cannot plan %d objects", len(args))
	}
	if o.timeout < time.Second {
		return flags.Usagef("write at least 1s", "cannot make a plan within %s", o.timeout)
	}
	opts := plan.Options{Render: render.New(render.Options{Program: o.program, Timeout: o.timeout})}
	for _, text := range o.functions {
		name, endpoint, ok := strings.Cut(text, "=")
		if !ok || name == "" || endpoint == "" {
			return flags.Usagef("write NAME=HOST:PORT", "cannot read --function %q", text)
		}
		opts.Functions = append(opts.Functions, plan.Endpoint{Name: name, Address: endpoint})
	}
	on, err := s.oneCluster()
	if err != nil {
		return err
	}
	kinds := live.NewKinds(s.Env.Now)
	objects := live.NewObjects(on, kinds)
	manifest, err := s.manifest(ctx, on, objects, args[0], o.namespace)
	if err != nil {
		return explained(err)
	}
	made, err := plan.New(opts).Plan(ctx, plan.Request{
		Cluster: on.Name(), Manifest: manifest, Source: objects, Machine: plan.ClusterMachine(on, kinds, nil, plan.DefaultSecret),
	})
	if err != nil {
		return planError(err)
	}
	if err := s.showPlan(made, o.output); err != nil {
		return err
	}
	if made.Fatal != "" {
		return &app.Exit{Code: app.ExitInvalid}
	}
	return nil
}

// oneCluster returns the cluster that the flags select.
func (s *session) oneCluster() (*cluster.Cluster, error) {
	fleet, err := s.connect()
	if err != nil {
		return nil, err
	}
	var on *cluster.Cluster
	for _, m := range fleet.members() {
		switch {
		case m.Cluster == nil || on != nil && on.Name() == m.Cluster.Name():
		case on != nil:
			return nil, flags.Usagef("select one with --cluster or --context", "cannot make a plan for several clusters, such as %s and %s", on.Name(), m.Cluster.Name())
		default:
			on = m.Cluster
		}
	}
	return on, nil
}

// mostManifest is the size limit of a manifest, in bytes.
const mostManifest = 1 << 20

// manifest returns the composite or claim of a file, or the one that a cluster has.
func (s *session) manifest(ctx context.Context, on *cluster.Cluster, objects *live.Objects, arg, namespace string) (*tree.Node, error) {
	if !isFile(arg) || !isManifest(arg) {
		return liveManifest(ctx, on, objects, arg, namespace)
	}
	n, err := s.readManifest(arg)
	if err != nil {
		return nil, err
	}
	_, namespaced, err := objects.Kind(ctx, n.Get("apiVersion").Str(), n.Get("kind").Str())
	if err != nil {
		return nil, err
	}
	if namespaced && n.Get("metadata", "namespace").Str() == "" {
		meta := n.Get("metadata").Clone()
		if !meta.IsMap() {
			meta = tree.Obj()
		}
		meta.Set("namespace", tree.Str(namespace))
		n.Set("metadata", meta)
	}
	return n, nil
}

// isManifest reports whether an argument with a slash is a file: KIND/NAME has one slash
// and no extension.
func isManifest(arg string) bool {
	ext := filepath.Ext(arg)
	return arg == file.Stdin || ext == ".yaml" || ext == ".yml" || ext == ".json" || strings.Count(arg, "/") != 1 || strings.HasPrefix(arg, "/") || strings.HasPrefix(arg, ".")
}

// liveManifest returns an object of the cluster as the manifest of a plan.
func liveManifest(ctx context.Context, on *cluster.Cluster, objects *live.Objects, arg, namespace string) (*tree.Node, error) {
	kind, name, _ := strings.Cut(arg, "/")
	if kind == "" || name == "" {
		return nil, flags.Usagef("write a FILE, or KIND/NAME such as database/invoices", "cannot read the object %q", arg)
	}
	k, err := live.Resolve(ctx, on, kind)
	if err != nil {
		return nil, err
	}
	ref := composed.Ref{APIVersion: k.APIVersion, Kind: k.Kind, Namespace: namespace, Name: name}
	if !k.Namespaced {
		ref.Namespace = ""
	}
	n, err := objects.Get(ctx, ref)
	if err == nil && n == nil {
		return nil, &app.Exit{Code: app.ExitNothing, Err: fmt.Errorf("cannot find %s in cluster %s", ref, on.Name()), Hint: "check kind and name, --namespace and --cluster"}
	}
	return n, err
}

// readManifest reads a file with one document.
func (s *session) readManifest(path string) (*tree.Node, error) {
	in := s.Env.Stdin
	if path != file.Stdin {
		f, err := os.Open(path)
		if err != nil {
			return nil, &app.Exit{Code: app.ExitNothing, Err: fmt.Errorf("cannot read the manifest: %w", err), Hint: "check the path"}
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, mostManifest+1))
	if err == nil && len(data) > mostManifest {
		err = fmt.Errorf("more than %d bytes", mostManifest)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the manifest: %w", err)
	}
	docs, errs := parser.DecodeBytes(data)
	switch {
	case len(errs) > 0:
		return nil, &app.Exit{Code: app.ExitInvalid, Err: fmt.Errorf("cannot parse %s: %w", path, errs[0])}
	case len(docs) != 1:
		return nil, flags.Usagef("write one composite resource or claim into the file", "cannot plan %s: it has %d documents", path, len(docs))
	}
	return docs[0], nil
}

// planError adds the exit code and the hints of an error.
func planError(err error) error {
	e, ok := errors.AsType[*plan.Error](err)
	if !ok {
		return explained(err)
	}
	code := app.ExitFailed
	switch e.Reason {
	case plan.Program:
		code = app.ExitUsage
	case plan.Invalid, plan.NotComposite:
		code = app.ExitInvalid
	case plan.Forbidden:
		code = app.ExitUnreachable
	case plan.NoComposition:
		code = app.ExitNothing
	}
	return &app.Exit{Code: code, Err: fmt.Errorf("cannot make a plan: %w", err), Hint: cmp.Or(planHint(e), e.Hint)}
}

// planHint returns the hint for an error whose own hint is for users of a portal; empty for
// others.
func planHint(e *plan.Error) string {
	if e.Reason == plan.Program {
		return "pass the program crossplane of Crossplane 2.4 or later with --crossplane"
	}
	if e.Reason == plan.Certificate {
		return "let your account read the Secret, or pass --function NAME=HOST:PORT for each function"
	}
	if r, ok := errors.AsType[*render.Error](e); ok {
		return renderHints[r.Reason]
	}
	return ""
}

// renderHints are the hints for errors of the renderer.
var renderHints = map[render.Reason]string{
	render.Unreachable: "check that the pod of the function runs and that its Service can be reached from here, or pass --function NAME=HOST:PORT",
	render.Hung:        "check the log of the function, or pass a longer --timeout",
	render.Timeout:     "pass a longer --timeout",
	render.Crashed:     "check the log of the function; --function uses no TLS",
	render.TooMuch:     "check what the function composes for this composite",
	render.Memory:      "compose fewer objects",
	render.Failed:      "correct the Composition; the log of the function may say more",
}

// showPlan writes a plan.
func (s *session) showPlan(p *plan.Plan, format string) error {
	switch format {
	case asMarkdown:
		return s.print([]byte(p.Markdown()))
	case asText:
		return s.print([]byte(planning.Text(p, s.Out())))
	}
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	if format == asYAML {
		n, err := wire.Decoder{}.Decode(text)
		if err != nil {
			return err
		}
		return s.print(tree.AppendYAML(nil, n))
	}
	return s.print(append(text, '\n'))
}
