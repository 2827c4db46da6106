package ingestor

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/report"
	"example.dev/ingestor/sink"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/selector"
)

// Environment variables that set defaults.
const (
	envOwner  = "INGESTOR_DEFAULT_OWNER"
	envDebug  = "INGESTOR_DEBUG"
	envOutput = "INGESTOR_OUTPUT_DIR"
)

const defaultOutput = "./catalog-entities"

// options are the flags as given, and their parsed values.
type options struct {
	paths, configs            []string
	recursive, followSymlinks bool

	output, format               string
	singleFile, stdout, organize bool

	flags.Entities
	wordsName, profileName string

	preview, validate, strict, skipValidation bool
	// oldValidate reports whether the short form of --validate was used.
	oldValidate  func() bool
	outputFormat string

	kinds, apiVersions         []string
	namePattern, labelSelector string

	output.Output
	settled
	extension engine.Extension
}

// settled are the parsed flags.
type settled struct {
	sinkFormat sink.Format
	words      words.Choice
	profile    engine.Profile
	filter     xrd.Filter
	// config is the configuration; nil if none was named.
	config *config.Config
	engine engine.Options
}

func (o *options) bind(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.recursive, "recursive", false, "read subdirectories")
	f.BoolVar(&o.followSymlinks, "follow-symlinks", false, "follow symbolic links in directories")
	f.StringArrayVar(&o.configs, "config", nil, "configuration `file` of the service; later files override earlier ones")

	f.StringVarP(&o.output, "output", "o", orDefault(o.Env.Getenv(envOutput), defaultOutput), "output `directory` (with --single-file, the file)")
	f.StringVarP(&o.format, "format", "f", "yaml", "`format` of the entities: yaml or json")
	f.BoolVar(&o.singleFile, "single-file", false, "write all entities to one file")
	f.BoolVar(&o.stdout, "stdout", false, "write to standard output: YAML documents, or one JSON object per line")
	f.BoolVar(&o.organize, "organize", false, "write <output>/<Kind>/<name>.yaml, including the System and Domain")

	o.Entities.Bind(f, o.Env.Getenv(envOwner))
	f.StringVar(&o.Domain, "domain", "", "`domain` the system belongs to")
	flags.BindWords(f, &o.wordsName)
	f.StringVar(&o.profileName, "profile", engine.CLI.Name, "`profile`: "+profileNames())

	f.BoolVarP(&o.preview, "preview", "p", false, "show what would be written without writing")
	f.BoolVarP(&o.validate, "validate", "v", false, "validate only: definitions, and composite resources against them; -v does the same, with a warning")
	o.oldValidate = flags.Deprecate(f, "validate")
	f.BoolVar(&o.strict, "strict", false, "fail on warnings")
	f.BoolVar(&o.skipValidation, "skip-validation", false, "do not validate definitions and entities")
	f.StringVar(&o.outputFormat, "output-format", report.Text, "`format` of the findings: "+strings.Join(report.Formats, ", "))

	f.StringSliceVar(&o.kinds, "kind", nil, "only these `kinds`: XRD or the kind a definition defines, and optionally Composition")
	f.StringSliceVar(&o.apiVersions, "api-version", nil, "only these API `versions`, such as v2 or apiextensions.crossplane.io/v2")
	f.StringVar(&o.namePattern, "name-pattern", "", "only definitions whose name matches the `regular expression`")
	f.StringVar(&o.labelSelector, "label-selector", "", "only definitions whose labels match the `selector`")

	o.Output.Bind(f)
	flags.Complete(cmd, map[string][]string{
		"format":        {"yaml", "json"},
		"output-format": report.Formats,
		"words":         flags.WordsNames,
		"profile":       strings.Split(profileNames(), ", "),
	})
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

// settle validates and parses the flags.
func (o *options) settle(set *pflag.FlagSet, args []string) error {
	o.paths = args
	if len(args) == 0 && len(o.configs) == 0 {
		return flags.Usagef("pass files or directories, or - for standard input; see "+Name+" --help", "no input given")
	}
	if slices.Contains(args, "") {
		return flags.Usagef("check for an empty shell variable", "an input is the empty string")
	}
	given := flags.Given(set)
	if err := cmp.Or(
		flags.Together(given, "preview", "validate", "stdout"),
		flags.Together(given, "validate", "skip-validation"),
		flags.Together(given, "quiet", "verbose"),
		flags.Together(given, "quiet", "debug"),
		flags.Together(given, "single-file", "organize"),
		flags.Together(given, "stdout", "single-file"),
		flags.Together(given, "stdout", "output"),
	); err != nil {
		return err
	}
	if o.oldValidate() && !o.Quiet {
		o.Sayf("%s: warning: -v means --validate here, and --verbose in the other programs; write --validate, or --verbose for details", Name)
	}
	if debug, err := strconv.ParseBool(o.Env.Getenv(envDebug)); err == nil && debug && !o.Quiet {
		o.Debug = true
	}
	if err := o.parse(); err != nil {
		return err
	}
	if err := o.configure(set); err != nil {
		return err
	}
	o.tellEngine(set)
	return nil
}

func (o *options) parse() (err error) {
	if o.sinkFormat, err = sink.ParseFormat(o.format); err != nil {
		return flags.Usage(err, "--format yaml or --format json")
	}
	if _, err = report.ParseFormat(o.outputFormat); err != nil {
		return flags.Usage(err, "see --output-format in "+Name+" --help")
	}
	if o.words, err = flags.Words(o.wordsName, Name); err != nil {
		return err
	}
	if o.profile, err = engine.ProfileNamed(o.profileName); err != nil {
		return flags.Usage(err, "see --profile in "+Name+" --help")
	}
	if err = o.Entities.Check(); err != nil {
		return err
	}
	if o.filter.Labels, err = selector.Parse(o.labelSelector); err != nil {
		return flags.Usage(err, "for example --label-selector 'team=payments,env in (dev, test),!legacy'")
	}
	if o.filter.Name, err = flags.Pattern("--name-pattern", o.namePattern); err != nil {
		return err
	}
	o.filter.Kinds, o.filter.APIVersions = o.kinds, o.apiVersions
	return nil
}
