// Package change implements ingestor-cli diff, which compares definitions, classifies
// what changed, and counts the live resources that a change concerns.
package change

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/clusters"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/report"
)

// markdown is the format of a comment, beside those of reports.
const markdown = "markdown"

// Formats are the output formats.
var Formats = append(slices.Clone(report.Formats), markdown)

// The values of --fail-on.
const (
	failBreaking = "breaking"
	failWarning  = "warning"
	failNever    = "never"
)

const long = `Compares definitions, and classifies each change: an error breaks existing
resources or manifests, a warning may surprise, and the rest is compatible.

OLD and NEW are files, directories, - for standard input, or REVISION:PATH in the
Git repository of the working directory, with the path from its root. With --base
the working tree is compared with the commit at which it left a branch; the
arguments are the paths to compare, by default the whole repository.

With --cluster, --context or --kubeconfig the live resources of the clusters are
validated against the new definitions, and with --portal those that a portal reads.
"Would be refused" means: when the resource is created again, or when the field is
changed. Existing objects stay as they are.

Exit codes: 0 nothing breaking, 1 failure, 2 breaking changes, unreadable
definitions, or resources that would be refused (or warnings with --strict),
3 nothing to compare, 4 invalid flags or configuration, 5 no cluster could be reached.`

const examples = `  # Two files
  ingestor-cli diff old/database.yaml new/database.yaml

  # A pull request, as a comment
  ingestor-cli diff --base main --output-format markdown > comment.md

  # A release against the working tree
  ingestor-cli diff v1.2.0:xrds xrds --recursive

  # Whose resources would be refused, in all clusters of the configuration
  ingestor-cli diff --base main xrds/ --config app-config.yaml --cluster all

  # The same, as the portal sees it
  ingestor-cli diff --base main xrds/ --portal https://portal.example.org`

// options are the flags.
type options struct {
	output.Output
	clusters.Flags
	extension engine.Extension

	base                      string
	recursive, followSymlinks bool
	outputFormat, failOn      string
	strict                    bool
	portal, tokenFile         string
	portalTimeout             time.Duration
	given                     map[string]bool
	args                      []string
}

// NewCommand returns the command diff of a program.
func NewCommand(env *app.Env, program string, x engine.Extension) *cobra.Command {
	o := &options{Output: output.Output{Program: program, Env: env}, extension: x}
	cmd := &cobra.Command{
		Use:     "diff [options] OLD NEW | --base REVISION [paths...]",
		Short:   "Find breaking changes of definitions, and the resources they break",
		Long:    long,
		Example: examples,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.args, o.given = args, flags.Given(cmd.Flags())
			if err := o.check(cmd); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
		ValidArgsFunction: flags.CompleteFiles,
	}
	f := cmd.Flags()
	f.StringVar(&o.base, "base", "", "compare the working tree with where it left this `revision`, such as main")
	f.BoolVar(&o.recursive, "recursive", false, "read subdirectories")
	f.BoolVar(&o.followSymlinks, "follow-symlinks", false, "follow symbolic links in directories; if one side is a commit, exactly those inside the repository are followed")
	f.StringVar(&o.outputFormat, "output-format", report.Text, "`format` of the result: "+strings.Join(Formats, ", "))
	f.BoolVar(&o.strict, "strict", false, "fail on warnings, as --fail-on warning does")
	f.StringVar(&o.failOn, "fail-on", failBreaking, "exit with 2 on `changes`: breaking, warning or never")
	o.Flags.Bind(f)
	f.StringVar(&o.portal, "portal", "", "`address` of a portal that knows the resources, such as https://portal.example.org")
	f.StringVar(&o.tokenFile, "token-file", "", "`file` with the portal's token (default: the token in "+envToken+")")
	f.DurationVar(&o.portalTimeout, "portal-timeout", 5*time.Minute, "timeout of the request to the portal")
	o.Output.Bind(f)
	flags.Complete(cmd, map[string][]string{"output-format": Formats, "fail-on": {failBreaking, failWarning, failNever}})
	return cmd
}

// check validates the flags.
func (o *options) check(cmd *cobra.Command) error {
	if err := cmp.Or(
		flags.Together(o.given, "quiet", "verbose"), flags.Together(o.given, "quiet", "debug"),
		flags.Together(o.given, "strict", "fail-on"),
		flags.Together(o.given, "portal", "cluster"), flags.Together(o.given, "portal", "context"), flags.Together(o.given, "portal", "kubeconfig"),
		flags.Together(o.given, "portal", "config"),
		o.Flags.Check(),
	); err != nil {
		return err
	}
	if o.strict {
		o.failOn = failWarning
	}
	switch {
	case !slices.Contains(Formats, o.outputFormat):
		return flags.Usagef(flags.Help(cmd), "cannot use output format %q: want %s", o.outputFormat, strings.Join(Formats, ", "))
	case !slices.Contains([]string{failBreaking, failWarning, failNever}, o.failOn):
		return flags.Usagef(flags.Help(cmd), "cannot use --fail-on %q: want %s, %s or %s", o.failOn, failBreaking, failWarning, failNever)
	case slices.Contains(o.args, ""):
		return flags.Usagef("check for an empty shell variable", "an input is the empty string")
	case o.given["base"] && o.base == "":
		return flags.Usagef("check for an empty shell variable", "--base is the empty string")
	case o.base == "" && len(o.args) != 2:
		return flags.Usagef("pass the old and the new definitions, or --base; "+flags.Help(cmd), "want OLD and NEW, got %d arguments", len(o.args))
	case o.base == "" && o.args[0] == stdin && o.args[1] == stdin:
		return flags.Usagef("write one of the two to a file", "standard input cannot be both OLD and NEW")
	case o.portalTimeout <= 0:
		return flags.Usagef("use a duration such as 30s or 2m", "cannot use portal timeout %v", o.portalTimeout)
	case o.given["config"] && !o.live():
		return flags.Usagef("add --cluster NAME, or --cluster all", "--config needs --cluster")
	case o.given["token-file"] && o.portal == "":
		return flags.Usagef("add --portal", "--token-file needs --portal")
	}
	return nil
}

// live reports whether resources of clusters are validated.
func (o *options) live() bool {
	return o.given["cluster"] || o.given["context"] || o.given["kubeconfig"]
}
