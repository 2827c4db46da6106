package transform

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/engine/folder"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/pipeline"
	"example.dev/ingestor/template/builtin"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/lint"
	"example.dev/ingestor/xrd/structural"
)

// openFolder opens a user's template folder. Paths cannot escape it, not even by a
// link.
func openFolder(dir string) (*os.Root, error) {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, flags.Usagef(fmt.Sprintf("check the spelling, or create one with %s init %s", Name, dir), "template folder %q not found", dir)
	case err != nil:
		return nil, flags.Usage(fmt.Errorf("cannot open template folder %q: %w", dir, bare(err)), "")
	case !info.IsDir():
		return nil, flags.Usagef("specify the folder that contains portal/, wizard/ and steps/", "cannot use %q as a template folder: not a directory", dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, flags.Usage(fmt.Errorf("cannot open template folder %q: %w", dir, bare(err)), "")
	}
	return root, nil
}

// templateSet is the built-in folder overlaid with the user's.
type templateSet struct {
	folder *folder.Folder
	// dir is the user's folder, and root the opened folder; empty and nil if there
	// is none.
	dir  string
	root *os.Root
}

// close must be called after all rendering: templates are read lazily.
func (t *templateSet) close() {
	if t.root != nil {
		_ = t.root.Close()
	}
}

// openFolders opens the built-in folder and the user's, if one is named. Problems
// with its content are returned as findings, and the set is nil then.
func openFolders(dir string) (*templateSet, []finding.Finding, error) {
	layers := []fs.FS{builtin.Files()}
	t := &templateSet{dir: dir}
	if dir != "" {
		root, err := openFolder(dir)
		if err != nil {
			return nil, nil, err
		}
		t.root, layers = root, append(layers, root.FS())
	}
	f, err := folder.Open(layers...)
	if err == nil {
		t.folder = f
		return t, nil, nil
	}
	t.close()
	var found []finding.Finding
	for _, e := range output.Each(err) {
		known, ok := errors.AsType[*folder.Error](e)
		if !ok {
			return nil, nil, flags.Usage(fmt.Errorf("cannot use template folder %q: %w", dir, e), "")
		}
		at := shown(known)
		at.File = filepath.Join(dir, filepath.FromSlash(at.File))
		found = append(found, at)
	}
	return nil, found, nil
}

// shown returns the finding of an error with its code excerpt.
func shown(e *folder.Error) finding.Finding {
	f := e.Finding
	if e.Text != "" {
		f.Hint = strings.TrimSuffix(e.Text+"\n"+f.Hint, "\n")
	}
	return f
}

// tellTemplates prints, with --verbose, which templates are used.
func tellTemplates(v *output.Output, dir string) {
	if dir == "" {
		v.Reading("built-in templates", "no folder is named")
		return
	}
	v.Reading(dir, "templates that override the built-in ones")
}

// openTemplates opens the folders for commands that need valid templates.
func openTemplates(v *output.Output, dir string) (*templateSet, error) {
	tellTemplates(v, dir)
	t, found, err := openFolders(dir)
	if err != nil {
		return nil, err
	}
	if t == nil {
		if err := v.Report(output.Report{Findings: found}); err != nil {
			return nil, err
		}
		return nil, &app.Exit{Code: app.ExitUsage}
	}
	return t, nil
}

// open opens the templates and creates an engine according to the flags.
func (r *rendering) open(v *output.Output) (*maker, error) {
	t, err := openTemplates(v, r.templates)
	if err != nil {
		return nil, err
	}
	return r.maker(t), nil
}

func (r *rendering) maker(t *templateSet) *maker {
	m := &maker{templateSet: t, engine: engine.New(engine.Concept, engine.Options{
		Owner: r.Owner, System: r.System, Namespace: r.Namespace, Tags: r.Tags, Words: r.words,
	}, r.extension.Hooks), onError: r.onError, extension: r.extension}
	return m.with(r.values)
}

// maker makes entities with templates. It is safe for concurrent use.
type maker struct {
	*templateSet
	engine      *engine.Engine
	onError     folder.OnError
	transformer *engine.Templated
	// extension is third-party code; around is its replacement of the transformer,
	// nil if there is none.
	extension engine.Extension
	around    engine.Transformer
}

// with returns a maker with values for the templates, which override those of
// metadata.yaml.
func (m *maker) with(values *tree.Node) *maker {
	own := *m
	own.transformer = m.engine.Templated(m.folder, engine.TemplateOptions{Values: overlay(m.folder.Values(), values), OnError: m.onError})
	if own.extension.Transformer != nil {
		own.around = own.extension.Around(own.transformer)
	}
	return &own
}

// overlay merges values over those below, map by map, and returns the keys of
// values.
func overlay(below, values *tree.Node) map[string]any {
	out := make(map[string]any, values.Len())
	for _, f := range values.Fields {
		out[f.Key] = merge(below.Get(f.Key), f.Value)
	}
	return out
}

func merge(below, over *tree.Node) *tree.Node {
	if !below.IsMap() || !over.IsMap() {
		return over
	}
	for _, f := range over.Fields {
		below.Set(f.Key, merge(below.Get(f.Key), f.Value))
	}
	return below
}

func (m *maker) input(f xrd.Found) engine.Input {
	in := engine.Input{Definition: f.Definition, Context: f.Record.Metadata}
	if c := f.Definition.Origin.Cluster; c != "" {
		in.Clusters = []string{c}
	}
	return in
}

// transform makes the entities of a definition. A panic in a hook fails only that
// definition.
func (m *maker) transform(ctx context.Context, f xrd.Found) (res engine.Result, err error) {
	if m.extension.Hooks.PreProcess != nil || m.extension.Hooks.PostProcess != nil || m.around != nil {
		defer func() {
			if p := recover(); p != nil {
				res, err = engine.Result{}, fmt.Errorf("code around the templates panicked: %v", p)
			}
		}()
	}
	if m.around != nil {
		return m.around.Transform(m.input(f))
	}
	return m.transformer.TransformContext(ctx, m.input(f))
}

// make makes the entities of a definition, and validates both.
func (m *maker) make(ctx context.Context, f xrd.Found) made {
	res, err := m.transform(ctx, f)
	out := made{entities: res.Entities, findings: m.placed(res.Findings)}
	if err != nil {
		out.findings = append(out.findings, m.failure(err, f.Definition))
	}
	if finding.Count(out.findings, finding.Error) > 0 {
		out.entities = taken(out.entities)
	}
	out.findings = append(out.findings, lint.Definition(f.Definition, lint.Options{Schemas: structural.Checker{}})...)
	return out
}

// makeWith is make with the given template files instead of those that the
// definition chooses.
func (m *maker) makeWith(ctx context.Context, f xrd.Found, c folder.Choice) made {
	d := *f.Definition
	d.Annotations = maps.Clone(d.Annotations)
	if d.Annotations == nil {
		d.Annotations = map[string]string{}
	}
	d.Annotations[words.AnnotationTemplate] = c.Portal.Name
	d.Annotations[words.AnnotationWizard] = c.Wizard.Name
	d.Annotations[words.AnnotationSteps] = c.Steps.Name
	f.Definition = &d
	return m.make(ctx, f)
}

// taken returns the entities that a catalog would accept. Problems of the others
// were already reported.
func taken(entities []*entity.Entity) []*entity.Entity {
	names := map[string]bool{}
	return slices.DeleteFunc(entities, func(e *entity.Entity) bool {
		twice := names[e.Key()]
		names[e.Key()] = true
		return twice || finding.Count(entity.Check(e), finding.Error) > 0
	})
}

// failure converts the error of a definition to a finding.
func (m *maker) failure(err error, d *xrd.Definition) finding.Finding {
	if e, ok := errors.AsType[*folder.Error](err); ok {
		return m.placed([]finding.Finding{shown(e)})[0]
	}
	return finding.Finding{
		Rule: pipeline.RuleInternal, Severity: finding.Error, Object: d.Name, File: d.Origin.File, Pos: d.Node.At(),
		Message: "cannot transform the definition: " + err.Error(), Hint: "other definitions are not affected",
	}
}

// placed sets the full path in findings about the user's templates.
func (m *maker) placed(found []finding.Finding) []finding.Finding {
	for i, f := range found {
		if m.dir != "" && f.File != "" && fs.ValidPath(f.File) && m.folder.Layer(f.File) > 0 {
			found[i].File = filepath.Join(m.dir, filepath.FromSlash(f.File))
		}
	}
	return found
}

// inFolder is the inverse of placed: it returns the path in the folder.
func (m *maker) inFolder(path string) string {
	if m.dir == "" {
		return path
	}
	if below, err := filepath.Rel(m.dir, path); err == nil && filepath.IsLocal(below) {
		return filepath.ToSlash(below)
	}
	return path
}

// seen is what debug shows of a definition.
type seen struct {
	choice  folder.Choice
	context *tree.Node
	text    string
}

// look returns the context of the templates of a definition or, if text is set,
// their output; nil if that failed.
func (m *maker) look(ctx context.Context, f xrd.Found, text bool) (*seen, []finding.Finding) {
	in := m.input(f)
	s := &seen{}
	var found []finding.Finding
	var err error
	if s.choice, found, err = m.transformer.Choose(in); err == nil && text {
		s.text, err = m.transformer.Text(ctx, in)
	} else if err == nil {
		s.context, err = m.transformer.See(in)
	}
	if err != nil {
		return nil, append(found, m.failure(err, f.Definition))
	}
	return s, found
}

// isBroken reports whether a finding means that a template failed, as opposed to
// its output being wrong.
func isBroken(f finding.Finding) bool {
	switch f.Rule {
	case folder.RuleFolder, folder.RuleChoice, folder.RuleTemplate, folder.RuleOutput, pipeline.RuleInternal:
		return f.Severity == finding.Error
	}
	return false
}
