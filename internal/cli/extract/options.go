package extract

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.dev/ingestor/internal/cli/clusters"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/source"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/selector"
)

// sourceNames are the values of --source.
var sourceNames = []string{xrd.SourceCluster, xrd.SourceFile, xrd.SourceGit}

// Formats of records.
const (
	asNDJSON = "ndjson"
	asYAML   = "yaml"
)

// envToken is the environment variable that holds the token of a repository.
const envToken = "GIT_TOKEN"

// options are the flags as given, and their parsed values.
type options struct {
	from                      string
	paths                     []string
	recursive, followSymlinks bool

	repo, ref, branch                                  string
	username, tokenFile, sshKey, knownHosts, authority string

	clusters.Flags

	labels, labelSelector, namePattern string
	filter                             xrd.Filter

	output, format string
	partial        bool

	output.Output
}

func (o *options) bind(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.from, "source", "", "`source` to read: "+strings.Join(sourceNames, ", ")+" (default: derived from the other flags, else file)")
	f.StringArrayVar(&o.paths, "path", nil, "`path` of a file or directory, or a pattern (*, ?, [a-z], ** for any number of folders), local\nor in the repository; - is standard input. May be given several times")
	f.BoolVar(&o.recursive, "recursive", false, "read subdirectories; always on for a repository")
	f.BoolVar(&o.followSymlinks, "follow-symlinks", false, "follow symbolic links in directories")

	f.StringVar(&o.repo, "repo", "", "Git repository: a `URL`, user@host:path, or a path")
	f.StringVar(&o.ref, "ref", "", "`branch`, tag or commit (default: the repository's HEAD)")
	f.StringVar(&o.branch, "branch", "", "`branch`; same as --ref")
	f.StringVar(&o.username, "username", "", "user `name` for the token or key of a repository")
	f.StringVar(&o.tokenFile, "token-file", "", "`file` with the token or password of a repository (default: "+envToken+")")
	f.StringVar(&o.sshKey, "ssh-key-file", "", "`file` with a private SSH key for a repository")
	f.StringVar(&o.knownHosts, "known-hosts", "", "known_hosts `file` with the key of the repository's host")
	f.StringVar(&o.authority, "ca-file", "", "`file` with the certificate authority of the repository's server")

	o.Flags.Bind(f)

	f.StringVar(&o.labels, "labels", "", "only definitions whose labels match the `selector`")
	f.StringVar(&o.labelSelector, "label-selector", "", "same as --labels, with the `selector`")
	f.StringVar(&o.namePattern, "name-pattern", "", "only definitions whose name matches the `regular expression`")
	f.StringSliceVar(&o.filter.Groups, "group", nil, "only definitions of this API `group`; may be given several times")

	f.StringVarP(&o.output, "output", "o", "", "`directory` to write one file per definition to, <name>.json or <name>.yaml (default: standard output)")
	f.StringVarP(&o.format, "format", "f", asNDJSON, "`format` of records: "+asNDJSON+" (.json files with --output) or "+asYAML)
	f.BoolVar(&o.partial, "partial", false, "omit the failure record when something could not be read")
	o.Output.Bind(f)
	flags.Complete(cmd, map[string][]string{"source": sourceNames, "format": {asNDJSON, asYAML}})
	// It fails only for a flag that does not exist.
	_ = cmd.MarkFlagDirname("output")
}

// ofSource are the flags that belong to one source.
var ofSource = map[string][]string{
	xrd.SourceGit:     {"repo", "ref", "branch", "username", "token-file", "ssh-key-file", "known-hosts", "ca-file"},
	xrd.SourceCluster: {"cluster", "config", "kubeconfig", "context", "timeout"},
	// Repositories are always read at any depth.
	xrd.SourceFile: {"follow-symlinks"},
}

// settle validates and parses the flags.
func (o *options) settle(set *pflag.FlagSet, args []string) (err error) {
	given := flags.Given(set)
	if err := cmp.Or(
		flags.Together(given, "quiet", "verbose"),
		flags.Together(given, "quiet", "debug"),
		flags.Together(given, "ref", "branch"),
		flags.Together(given, "labels", "label-selector"),
		o.Flags.Check(),
	); err != nil {
		return err
	}
	o.paths = append(o.paths, args...)
	if slices.Contains(o.paths, "") || given["output"] && o.output == "" || given["repo"] && o.repo == "" {
		return flags.Usagef("check for an empty shell variable", "a path is the empty string")
	}
	if err := o.settleSource(given); err != nil {
		return err
	}
	if o.format != asNDJSON && o.format != asYAML {
		return flags.Usagef("--format "+asNDJSON+" or --format "+asYAML, "cannot use format %q", o.format)
	}
	o.ref = cmp.Or(o.ref, o.branch)
	if o.filter.Labels, err = selector.Parse(cmp.Or(o.labels, o.labelSelector)); err != nil {
		return flags.Usage(err, "for example --labels 'team=payments,env in (dev, test),!legacy'")
	}
	o.filter.Name, err = flags.Pattern("--name-pattern", o.namePattern)
	return err
}

// settleSource determines the source, and refuses flags of other sources.
func (o *options) settleSource(given map[string]bool) error {
	speaks := func(name string) string {
		for _, flag := range ofSource[name] {
			if given[flag] {
				return flag
			}
		}
		return ""
	}
	switch {
	case o.from == "cluster":
		o.from = xrd.SourceCluster
	case given["source"] && !slices.Contains(sourceNames, o.from):
		return flags.Usagef("--source "+strings.Join(sourceNames, ", "), "cannot read from source %q", o.from)
	case o.from == "" && speaks(xrd.SourceGit) != "":
		o.from = xrd.SourceGit
	case o.from == "" && speaks(xrd.SourceCluster) != "":
		o.from = xrd.SourceCluster
	case o.from == "":
		o.from = xrd.SourceFile
	}
	for _, name := range sourceNames {
		if flag := speaks(name); flag != "" && name != o.from {
			return flags.Usagef("remove it, or use --source "+name, "cannot use --%s with source %s", flag, o.from)
		}
	}
	switch {
	case o.from == xrd.SourceGit && o.repo == "":
		return flags.Usagef("set --repo", "no repository given")
	case o.from == xrd.SourceGit && slices.Contains(o.paths, "-"):
		return flags.Usagef("paths are those in the repository", "cannot read standard input from a repository")
	case o.from == xrd.SourceCluster && len(o.paths) > 0:
		return flags.Usagef("remove it, or use --source file", "cannot read %q from a cluster", o.paths[0])
	}
	for _, p := range o.paths {
		if _, err := source.ParsePattern(p); err != nil && source.IsPattern(p) && o.from == xrd.SourceGit {
			return flags.Usagef("escape literal characters with a backslash", "cannot use pattern %q: %w", p, err)
		}
	}
	return nil
}
