// Package portal implements the command portal-backend, which runs the portal's
// backend, prints and checks its configuration, and maintains its database.
package portal

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"example.dev/ingestor/action"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/output"
)

// Name is the program's name.
const Name = "portal-backend"

const long = `Serves a developer portal's catalog, scaffolder, authentication and permissions
over HTTP, until it is stopped (Ctrl-C, SIGTERM); then it finishes running
requests.

The configuration is read from app-config.yaml and app-config.local.yaml in the
working directory, if they exist, or from the files of --config. Later files
override earlier ones.

Exit codes: 0 stopped on request, 1 failure, 4 invalid flags or configuration.`

const examples = `  # Look at the cluster of your kubeconfig, without a configuration
  portal-backend demo

  # Start it with app-config.yaml
  portal-backend

  # Check and show the configuration
  portal-backend config check
  portal-backend config print

  # Back up the database, and run health checks, while the server runs
  portal-backend backup /backup/portal.sqlite
  portal-backend doctor`

// Run runs the command.
func Run(ctx context.Context, env *app.Env) error {
	return flags.Execute(ctx, env, newCommand(env, &serving{}))
}

// With returns Run for a portal with additional actions, or with an extension of
// the engine. Entities that another build of the program made are built again.
func With(actions []action.Action, x engine.Extension) app.Program {
	return func(ctx context.Context, env *app.Env) error {
		if x.Version == "" {
			var err error
			if x.Version, err = app.Identity(); err != nil {
				return &app.Exit{Code: app.ExitFailed, Err: err, Hint: "set Version in the options"}
			}
		}
		return flags.Execute(ctx, env, newCommand(env, &serving{actions: actions, extension: x}))
	}
}

func newCommand(env *app.Env, s *serving) *cobra.Command {
	v := &output.Output{Program: Name, Env: env}
	s.voice = v
	root := &cobra.Command{
		Use:     Name,
		Short:   "Serve a developer portal's catalog and scaffolder",
		Long:    long,
		Example: examples,
		Args:    flags.Subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if flags.OnlyV(env) {
				return flags.Usagef("write --version for the version, or --verbose to start with debug logs", "cannot tell what -v alone means: it printed the version before, and is --verbose now")
			}
			return s.run(cmd.Context())
		},
	}
	all := root.PersistentFlags()
	all.SortFlags = false
	all.StringArrayVar(&s.config, "config", nil, "configuration file; repeat it for several (default: app-config.yaml and app-config.local.yaml)")
	v.BindVerbose(all)
	all.Lookup("verbose").Usage = "show details: which configuration is read and why; the server logs at level " + levels[0]
	all.BoolVar(&v.NoColor, "no-color", false, "disable colour")
	own := root.Flags()
	own.StringVar(&s.level, "log-level", "", "log level: "+strings.Join(levels, ", ")+" (default: backend.logger.level of the configuration, else info)")
	own.StringVar(&s.format, "log-format", "auto", "log format: "+strings.Join(formats, ", ")+"; auto is text on a terminal, else json")
	root.AddCommand(newConfig(v, &s.config), newBackup(v, &s.config), newDoctor(v, &s.config), newDemo(s))
	return flags.Program(root)
}
