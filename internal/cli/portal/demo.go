package portal

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/source/cluster/access"
)

const demoLong = `Starts a portal for one cluster without a configuration file: the current context
of your kubeconfig, all of its XRDs, labelled or not, with your own permissions.
It listens on this machine only, and guests need no sign-in.

It only reads the cluster. With --allow-writes, forms also create, change and
delete resources in it.

The portal keeps its database, and the configuration that it starts with, in a
folder of your cache directory. Copy that configuration to start your own.`

const demoExamples = `  # The current context
  portal-backend demo

  # Another context, where Templates may create resources
  portal-backend demo --context kind-dev --allow-writes`

// demoHeader is how the configuration begins: a file that begins otherwise is not
// overwritten.
const demoHeader = "# Written by portal-backend demo at each start."

// demo is the subcommand demo.
type demo struct {
	*serving
	kubeconfig, context, dir, listen, logLevel string
	writes                                     bool
}

func newDemo(s *serving) *cobra.Command {
	d := &demo{serving: s}
	cmd := &cobra.Command{
		Use:     "demo [options]",
		Short:   "Start a portal for a cluster of your kubeconfig, without a configuration",
		Long:    demoLong,
		Example: demoExamples,
		Args:    flags.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if s.voice.Verbose && !cmd.Flags().Changed("log-level") {
				d.logLevel = ""
			}
			return d.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVar(&d.kubeconfig, "kubeconfig", "", "kubeconfig `file` (default: KUBECONFIG, else ~/.kube/config)")
	f.StringVar(&d.context, "context", "", "context of the kubeconfig (default: the current one)")
	f.BoolVar(&d.writes, "allow-writes", false, "let forms create, change and delete resources in the cluster")
	f.StringVar(&d.listen, "listen", "localhost:7007", "address to listen on, of this machine")
	f.StringVar(&d.dir, "data", "", "`folder` for the database and the configuration (default: in the cache directory)")
	f.StringVar(&d.logLevel, "log-level", "warn", "log level: "+strings.Join(levels, ", "))
	return cmd
}

func (d *demo) run(ctx context.Context) error {
	if len(d.config) > 0 {
		return flags.Usagef("start portal-backend without demo to use a configuration", "cannot use --config with demo")
	}
	if err := d.settle(); err != nil {
		return err
	}
	file := filepath.Join(d.dir, "app-config.yaml")
	if old, err := os.ReadFile(file); err == nil && !strings.HasPrefix(string(old), demoHeader) {
		return flags.Usagef("choose another folder with --data, or start portal-backend in that folder without demo", "cannot overwrite %s: portal-backend demo did not write it", file)
	}
	err := os.MkdirAll(d.dir, 0o700)
	if err == nil {
		err = os.WriteFile(file, []byte(d.text()), 0o600)
	}
	if err != nil {
		return &app.Exit{Code: app.ExitFailed, Err: fmt.Errorf("cannot write the configuration of the demo: %w", err), Hint: "choose another folder with --data"}
	}
	mode := "It only reads the cluster; --allow-writes lets forms change it."
	if d.writes {
		mode = "Forms may change the cluster with your permissions."
	}
	fmt.Fprintf(d.voice.Env.Stdout, "Context %s. %s\nThe configuration is %s.\n", d.context, mode, file)
	d.config, d.level = []string{file}, d.logLevel
	return d.serving.run(ctx)
}

// settle finds the kubeconfig, the context and the folder.
func (d *demo) settle() error {
	host, _, err := net.SplitHostPort(d.listen)
	if ip := net.ParseIP(host); err != nil || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return flags.Usagef("use an address such as localhost:7008; to serve others, write a configuration", "cannot use --listen %q: a demo needs no sign-in and must stay on this machine", d.listen)
	}
	env := d.voice.Env
	if d.kubeconfig == "" {
		d.kubeconfig = env.Getenv("KUBECONFIG")
	}
	if d.kubeconfig == "" {
		d.kubeconfig = filepath.Join(home(env), ".kube", "config")
	}
	var files []string
	for _, file := range filepath.SplitList(d.kubeconfig) {
		abs, err := filepath.Abs(file)
		if err != nil {
			return fmt.Errorf("cannot find the kubeconfig: %w", err)
		}
		files = append(files, abs)
	}
	d.kubeconfig = strings.Join(files, string(os.PathListSeparator))
	names, current, err := access.Contexts(d.kubeconfig)
	if err != nil {
		return &app.Exit{Code: app.ExitUsage, Err: err, Hint: "set KUBECONFIG or --kubeconfig to the kubeconfig of your cluster; without a cluster, start portal-backend with a configuration"}
	}
	if d.context == "" {
		d.context = current
	}
	if !slices.Contains(names, d.context) {
		return flags.Usagef("contexts: "+strings.Join(names, ", "), "cannot find context %q in %s", d.context, d.kubeconfig)
	}
	if d.dir == "" {
		cache := env.Getenv("XDG_CACHE_HOME")
		if cache == "" {
			cache = filepath.Join(home(env), ".cache")
		}
		d.dir = filepath.Join(cache, "ingestor", "demo-"+notInName.ReplaceAllString(d.context, "-"))
	}
	if d.dir, err = filepath.Abs(d.dir); err != nil {
		return errors.Join(fmt.Errorf("cannot find folder %s", d.dir), err)
	}
	return nil
}

func home(env *app.Env) string {
	if h := env.Getenv("HOME"); h != "" {
		return h
	}
	return env.Getenv("USERPROFILE")
}

// notInName matches what a cluster's name and a folder should not contain.
var notInName = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// text is the configuration.
func (d *demo) text() string {
	permissions := "catalog.ingestion.read"
	if d.writes {
		permissions += `, "scaffolder.*", "cluster.*"`
	}
	return demoHeader + fmt.Sprintf(` Copy it to start your own; docs/configuration.md lists all keys.
backend:
  baseUrl: %s
  listen: %s
  database: { client: sqlite, connection: { filename: %s } }

auth:
  # Everyone on this machine is a guest.
  providers: { guest: {} }

permission:
  rules:
    - { who: [guest], permissions: [%s], result: allow }

crossplaneIngestor:
  # Every XRD, not only those with the label openportal.dev/ingest: "true".
  ingestAll: true
  generateDayTwoTemplates: %t
  clusters:
    - name: %s
      kubeconfig: %s
      context: %s
`, strconv.Quote("http://"+d.listen), strconv.Quote(d.listen), strconv.Quote(filepath.Join(d.dir, "portal.sqlite")), permissions, d.writes,
		strconv.Quote(notInName.ReplaceAllString(d.context, "-")), strconv.Quote(d.kubeconfig), strconv.Quote(d.context))
}
