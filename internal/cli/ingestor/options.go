package ingestor

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/report"
	"example.dev/ingestor/sink"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// The environment variables that set defaults.
const (
	envOwner  = "INGESTOR_DEFAULT_OWNER"
	envDebug  = "INGESTOR_DEBUG"
	envOutput = "INGESTOR_OUTPUT_DIR"
)

const defaultOutput = "./catalog-entities"

// options are the flags as they were given, and what they mean.
type options struct {
	paths                     []string
	recursive, followSymlinks bool

	output, format               string
	singleFile, stdout, organize bool

	owner, namespace, system, domain string
	tags                             []string
	wordsName, profileName           string

	preview, validate, strict, skipValidation bool
	outputFormat                              string

	kinds, apiVersions         []string
	namePattern, labelSelector string

	quiet, verbose, debug, noColor bool

	settled
}

// settled is what the flags mean.
type settled struct {
	sinkFormat sink.Format
	words      words.Choice
	profile    engine.Profile
	filter     xrd.Filter
}

func (o *options) bind(cmd *cobra.Command, env *app.Env) {
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&o.recursive, "recursive", false, "descend into directories")
	f.BoolVar(&o.followSymlinks, "follow-symlinks", false, "follow links found in directories")

	f.StringVarP(&o.output, "output", "o", orDefault(env.Getenv(envOutput), defaultOutput), "output `directory` (with --single-file, the file)")
	f.StringVarP(&o.format, "format", "f", "yaml", "`format` of the entities: yaml or json")
	f.BoolVar(&o.singleFile, "single-file", false, "write all entities to one file")
	f.BoolVar(&o.stdout, "stdout", false, "write to standard output: YAML documents, or a JSON object a line")
	f.BoolVar(&o.organize, "organize", false, "write <output>/<Kind>/<name>.yaml, and the System and Domain too")

	f.StringVar(&o.owner, "owner", env.Getenv(envOwner), "`owner` of the entities (default \"platform-team\")")
	f.StringVar(&o.namespace, "namespace", entity.DefaultNamespace, "`namespace` of the entities")
	f.StringSliceVar(&o.tags, "tags", nil, "`tags` to add, separated by commas")
	f.StringVar(&o.system, "system", "", "`system` the entities belong to (default \"platform\")")
	f.StringVar(&o.domain, "domain", "", "`domain` the system belongs to")
	f.StringVar(&o.wordsName, "words", "auto", "`vocabulary` of the entities: auto, portal or upstream")
	f.StringVar(&o.profileName, "profile", engine.CLI.Name, "`profile`: "+profileNames())

	f.BoolVarP(&o.preview, "preview", "p", false, "show what would be written, write nothing")
	f.BoolVarP(&o.validate, "validate", "v", false, "validate only")
	f.BoolVar(&o.strict, "strict", false, "fail on warnings")
	f.BoolVar(&o.skipValidation, "skip-validation", false, "do not validate definitions and entities")
	f.StringVar(&o.outputFormat, "output-format", report.Text, "`format` of the findings: "+strings.Join(report.Formats, ", "))

	f.StringSliceVar(&o.kinds, "kind", nil, "only these `kinds` (XRD, Composition, or the kind a definition defines)")
	f.StringSliceVar(&o.apiVersions, "api-version", nil, "only these API `versions`, such as v2 or apiextensions.crossplane.io/v2")
	f.StringVar(&o.namePattern, "name-pattern", "", "only definitions whose name matches the `regular expression`")
	f.StringVar(&o.labelSelector, "label-selector", "", "only definitions whose labels match the `selector`")

	f.BoolVar(&o.quiet, "quiet", false, "show only errors")
	f.BoolVar(&o.verbose, "verbose", false, "show details")
	f.BoolVar(&o.debug, "debug", false, "show debug information")
	f.BoolVar(&o.noColor, "no-color", false, "use no colour")
	completions(cmd)
}

func completions(cmd *cobra.Command) {
	for flag, values := range map[string][]string{
		"format":        {"yaml", "json"},
		"output-format": report.Formats,
		"words":         {"auto", "portal", "upstream"},
		"profile":       strings.Split(profileNames(), ", "),
	} {
		// It fails only for a flag that does not exist, which a test rules out.
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
}

func profileNames() string {
	var names []string
	for _, p := range engine.Profiles {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}

func orDefault(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

// settle checks the flags and works out what they mean.
func (o *options) settle(flags *pflag.FlagSet, env *app.Env, args []string) error {
	o.paths = args
	if len(args) == 0 {
		return usagef("name files or directories, or - for standard input; see "+Name+" --help", "no input given")
	}
	if slices.Contains(args, "") {
		return usagef("an empty shell variable, perhaps?", "an input is the empty string")
	}
	given := map[string]bool{}
	flags.Visit(func(f *pflag.Flag) { given[f.Name] = f.Value.String() != "false" })
	if err := cmp.Or(
		together(given, "preview", "validate", "stdout"),
		together(given, "validate", "skip-validation"),
		together(given, "quiet", "verbose"),
		together(given, "quiet", "debug"),
		together(given, "single-file", "organize"),
		together(given, "stdout", "single-file"),
		together(given, "stdout", "output"),
	); err != nil {
		return err
	}
	if debug, err := strconv.ParseBool(env.Getenv(envDebug)); err == nil && debug && !o.quiet {
		o.debug = true
	}
	return o.parse()
}

func (o *options) parse() (err error) {
	if o.sinkFormat, err = sink.ParseFormat(o.format); err != nil {
		return usage(err, "--format yaml or --format json")
	}
	if _, err = report.ParseFormat(o.outputFormat); err != nil {
		return usage(err, "see --output-format in "+Name+" --help")
	}
	if o.words, err = words.ParseChoice(o.wordsName); err != nil {
		return usage(err, "see --words in "+Name+" --help")
	}
	if o.profile, err = engine.ProfileNamed(o.profileName); err != nil {
		return usage(err, "see --profile in "+Name+" --help")
	}
	for _, r := range []struct{ flag, value, kind string }{
		{"--owner", o.owner, "Group"}, {"--system", o.system, entity.KindSystem}, {"--domain", o.domain, entity.KindDomain},
	} {
		if r.value == "" {
			continue
		}
		if _, err := entity.ParseExisting(r.value, r.kind, entity.DefaultNamespace); err != nil {
			return usage(err, r.flag+" takes name, namespace/name or kind:namespace/name")
		}
	}
	if ns, changed := entity.Namespace(o.namespace); changed || o.namespace == "" {
		return usagef("use lower-case letters, digits and dashes, such as "+orDefault(ns, "default"), "cannot use namespace %q", o.namespace)
	}
	if o.filter.Labels, err = xrd.ParseSelector(o.labelSelector); err != nil {
		return usage(err, "for example --label-selector 'team=payments,env in (dev, test),!legacy'")
	}
	if o.namePattern != "" {
		if o.filter.Name, err = regexp.Compile(o.namePattern); err != nil {
			return usagef("--name-pattern takes a regular expression of RE2", "cannot use name pattern %q: %w", o.namePattern, err)
		}
	}
	o.filter.Kinds, o.filter.APIVersions = o.kinds, o.apiVersions
	return nil
}
