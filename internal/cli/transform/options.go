package transform

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/engine/folder"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/report"
	"example.dev/ingestor/sink"
	"example.dev/ingestor/source/file"
	"example.dev/ingestor/words"
)

// formats are the output formats. The last two are the same; other programs use
// either name.
var formats = []string{"yaml", "ndjson", "json"}

// onErrors are the policies for a definition whose chosen template is missing or
// fails.
var onErrors = []string{folder.Fail.String(), folder.UseDefault.String()}

// rendering holds the flags of every command that renders.
type rendering struct {
	flags.Entities
	templates, templateDir string
	onErrorName, wordsName string
	sets                   []string

	words   words.Choice
	onError folder.OnError
	// values are the values of --set.
	values *tree.Node
	// extension is third-party code that extends the templates.
	extension engine.Extension
}

func (r *rendering) bindTemplates(f *pflag.FlagSet) {
	f.StringVar(&r.templates, "templates", "", "template `folder`, which overrides the built-in one")
	f.StringVar(&r.templateDir, "template-dir", "", "same as --templates")
}

func (r *rendering) bind(f *pflag.FlagSet) {
	r.bindTemplates(f)
	f.StringArrayVar(&r.sets, "set", nil, "a `value` for the templates, as key=value, available as metadata.values.key; dots in the key\nnest, and numbers, true, false, [lists] and {maps} are parsed as YAML")
	f.StringVar(&r.onErrorName, "on-error", onErrors[0], "what to do if a chosen template is missing or fails: fail, or warn and use the `default` one")
	r.Entities.Bind(f, "")
	flags.BindWords(f, &r.wordsName)
}

// settle validates and parses the flags.
func (r *rendering) settle(given map[string]bool) (err error) {
	if err := r.settleTemplates(given); err != nil {
		return err
	}
	if r.onError, err = folder.ParseOnError(r.onErrorName); err != nil {
		return flags.Usage(err, "--on-error fail or --on-error default")
	}
	if err := r.Entities.Check(); err != nil {
		return err
	}
	if r.values, err = parseSets(r.sets); err != nil {
		return err
	}
	r.words, err = flags.Words(r.wordsName, Name)
	return err
}

func (r *rendering) settleTemplates(given map[string]bool) error {
	if err := flags.Together(given, "templates", "template-dir"); err != nil {
		return err
	}
	if (given["templates"] || given["template-dir"]) && r.templates+r.templateDir == "" {
		return flags.Usagef("check for an empty shell variable", "template folder is the empty string")
	}
	r.templates = cmp.Or(r.templates, r.templateDir)
	return nil
}

// parseSets parses the values of --set.
func parseSets(sets []string) (*tree.Node, error) {
	all := tree.Obj()
	for _, s := range sets {
		key, text, ok := strings.Cut(s, "=")
		path := strings.Split(key, ".")
		if !ok || slices.Contains(path, "") {
			return nil, flags.Usagef("for example --set region=eu or --set 'clusters=[dev, prod]'", "cannot use value %q: want key=value", s)
		}
		at := all
		for _, k := range path[:len(path)-1] {
			next := at.Get(k)
			if !next.IsMap() {
				next = tree.Obj()
				at.Set(k, next)
			}
			at = next
		}
		at.Set(path[len(path)-1], parseValue(text))
	}
	return all, nil
}

// parseValue parses a value as YAML, or otherwise as text.
func parseValue(text string) *tree.Node {
	docs, errs := parser.DecodeBytes([]byte(text))
	if len(docs) != 1 || len(errs) > 0 {
		return tree.Str(text)
	}
	value := docs[0]
	if written := strings.TrimSpace(text); (value.IsMap() || value.IsList()) && written[0] != '{' && written[0] != '[' {
		return tree.Str(text)
	}
	return value
}

// inputs holds the flags of every command that reads definitions.
type inputs struct {
	paths     []string
	recursive bool
}

func (in *inputs) bind(f *pflag.FlagSet) {
	f.StringArrayVarP(&in.paths, "input", "i", nil, "`file` or directory of records or definitions, or - for standard input; may be given several times")
	f.BoolVar(&in.recursive, "recursive", false, "read subdirectories")
}

// settle adds the arguments to the inputs, as a shell leaves them after expanding
// a pattern.
func (in *inputs) settle(args []string) error {
	in.paths = append(in.paths, args...)
	if slices.Contains(in.paths, "") {
		return flags.Usagef("check for an empty shell variable", "an input is the empty string")
	}
	return nil
}

// options holds the flags of the program itself.
type options struct {
	*output.Output
	inputs
	rendering
	output, formatName     string
	outputFormat           string
	strict, partial, watch bool

	format sink.Format
}

func (o *options) bind(cmd *cobra.Command) {
	f := cmd.Flags()
	o.inputs.bind(f)
	f.StringVarP(&o.output, "output", "o", "", "output `directory` (default standard output)")
	f.StringVarP(&o.formatName, "format", "f", formats[0], "`format` of the entities: yaml, or json, which is one JSON object per line on standard output\nand also called ndjson")
	o.rendering.bind(f)
	f.BoolVar(&o.watch, "watch", false, "render again whenever an input or a template changes; needs --input and --output")
	f.BoolVar(&o.partial, "partial", false, "omit the failure record at the end of an incomplete output")
	f.BoolVar(&o.strict, "strict", false, "fail on warnings")
	bindOutputFormat(f, &o.outputFormat)
}

func bindOutputFormat(f *pflag.FlagSet, to *string) {
	f.StringVar(to, "output-format", report.Text, "`format` of the findings: "+strings.Join(report.Formats, ", "))
}

func checkOutputFormat(format string) error {
	if _, err := report.ParseFormat(format); err != nil {
		return flags.Usage(err, "see --output-format in "+Name+" --help")
	}
	return nil
}

func quietOrLoud(given map[string]bool) error {
	return cmp.Or(flags.Together(given, "quiet", "verbose"), flags.Together(given, "quiet", "debug"))
}

// settle validates and parses the flags.
func (o *options) settle(given map[string]bool, args []string) error {
	if err := cmp.Or(quietOrLoud(given), o.inputs.settle(args), checkOutputFormat(o.outputFormat), o.rendering.settle(given)); err != nil {
		return err
	}
	if given["output"] && o.output == "" {
		return flags.Usagef("check for an empty shell variable", "output directory is the empty string")
	}
	if o.output == file.Stdin {
		o.output = ""
	}
	switch o.formatName {
	case "yaml":
	case "json", "ndjson":
		o.format = sink.JSON
	default:
		return flags.Usage(fmt.Errorf("cannot use format %q: want yaml, json or ndjson", o.formatName), "--format yaml or --format ndjson")
	}
	if !o.watch {
		return nil
	}
	switch {
	case len(o.paths) == 0 || slices.Contains(o.paths, file.Stdin):
		return flags.Usagef("pass files or directories with --input", "cannot watch standard input: it can be read only once")
	case o.output == "":
		return flags.Usagef("set --output to a directory", "cannot use --watch without --output")
	case o.outputFormat != report.Text:
		return flags.Usagef("remove one of them", "cannot use --watch and --output-format together")
	}
	return nil
}
