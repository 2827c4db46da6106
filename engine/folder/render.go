package folder

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/template/eta"
	"example.dev/ingestor/xrd"
)

// Context is the input of a render.
type Context struct {
	// Definition is the definition to make entities from; templates see it as xrd.
	Definition *xrd.Definition
	// Found is what an extract record says about where the definition was found.
	Found map[string]string
	// Facts are the values computed for the definition, such as its owner. Templates see
	// them in metadata, where they override all other values.
	Facts *tree.Node
	// Values override the values of metadata.yaml, key by key.
	Values map[string]any
	// Functions are added to the helpers.
	Functions map[string]eta.Func
}

// seen returns the metadata that a template sees.
func (f *Folder) seen(c Choice, in *Context) (*tree.Node, error) {
	out := tree.Obj()
	if in.Facts.IsMap() {
		out.Fields = slices.Clone(in.Facts.Fields)
	}
	found := tree.Obj()
	for _, key := range slices.Sorted(maps.Keys(in.Found)) {
		v := tree.Str(in.Found[key])
		found.Fields = append(found.Fields, tree.F(key, v))
		if !out.Has(key) {
			out.Fields = append(out.Fields, tree.F(key, v))
		}
	}
	values := tree.Obj()
	values.Fields = slices.Clone(f.metadata.values.Fields)
	for _, key := range slices.Sorted(maps.Keys(in.Values)) {
		v, err := tree.From(in.Values[key])
		if err != nil {
			return nil, fmt.Errorf("cannot use value %q: %w", key, err)
		}
		values.Set(key, v)
	}
	out.Set("context", found)
	out.Set("files", c.node())
	out.Set("values", values)
	return out, nil
}

// See returns the data that a template sees as a document: xrd, metadata, and the names
// of the helpers.
func (f *Folder) See(c Choice, in Context) (*tree.Node, error) {
	m, err := f.seen(c, &in)
	if err != nil {
		return nil, err
	}
	return tree.Obj(
		tree.F("xrd", in.Definition.Node),
		tree.F("metadata", m),
		tree.F("helpers", tree.Strs(slices.Sorted(maps.Keys((&scope{}).helpers(in.Functions))))),
	), nil
}

// Document is one document of a template's output.
type Document struct {
	// Node is the document as written, with positions in the output.
	Node *tree.Node
	// Entity is the parsed entity.
	Entity *entity.Entity
}

// Rendered is the result of rendering a template.
type Rendered struct {
	// Choice holds the files that were rendered.
	Choice Choice
	// Text is the output.
	Text string
	// Documents are the entities in the output.
	Documents []Document
	// Findings are the errors in the output, and the warnings of templates.
	Findings []finding.Finding
}

// Text renders the chosen files. The error is an *Error.
func (f *Folder) Text(ctx context.Context, c Choice, in Context) (string, error) {
	s := newScope(in.Definition)
	defer s.close()
	return f.text(ctx, c, &in, s)
}

func (f *Folder) text(ctx context.Context, c Choice, in *Context, s *scope) (string, error) {
	m, err := f.seen(c, in)
	if err != nil {
		return "", &Error{Err: err, Finding: finding.Finding{Rule: RuleTemplate, Severity: finding.Error, Object: in.Definition.Label(), Message: err.Error()}}
	}
	text, err := f.set.Render(ctx, c.Portal.Path, eta.Data{"xrd": in.Definition.Node, "metadata": m, "helpers": s.helpers(in.Functions)})
	if err != nil {
		e := failed(err, c.Portal.Path)
		e.Finding.Object = in.Definition.Label()
		return "", e
	}
	return text, nil
}

// Render renders the chosen files and parses the entities in their output. A template
// that fails gives an *Error; invalid output gives a finding, and the rest of the output
// is parsed.
func (f *Folder) Render(ctx context.Context, c Choice, in Context) (Rendered, error) {
	s := newScope(in.Definition)
	defer s.close()
	text, err := f.text(ctx, c, &in, s)
	if err != nil {
		return Rendered{}, err
	}
	r := Rendered{Choice: c, Text: text, Findings: s.warnings}
	docs, bad := decode(text, s.written)
	for _, e := range bad {
		message := "the output is not YAML: " + e.Msg
		if e.Kept {
			message = "the output is invalid: " + e.Msg
		}
		r.note(in.Definition, RuleOutput, e.Pos, message, e.Hint)
	}
	for _, n := range docs {
		if !n.IsMap() {
			r.note(in.Definition, RuleEntity, n.Pos, "the output has "+kindNames[n.Kind]+" instead of an entity",
				"write an entity as a map of apiVersion, kind, metadata and spec, and put --- between two")
			continue
		}
		e, err := entity.Parse(n)
		if err != nil {
			at, hint := n.Pos, ""
			if p, ok := errors.AsType[*entity.ParseError](err); ok {
				hint = p.Hint
				if p.Pos.Line > 0 {
					at = p.Pos
				}
			}
			r.note(in.Definition, RuleEntity, at, err.Error(), hint)
			continue
		}
		r.Documents = append(r.Documents, Document{Node: n, Entity: e})
	}
	if len(docs) == 0 && len(bad) == 0 {
		r.note(in.Definition, RuleEntity, tree.Pos{}, "the output has no entities", "write at least one document")
	}
	return r, nil
}

// kindNames are the names of value kinds in messages.
var kindNames = [...]string{
	tree.Null: "nothing", tree.Bool: "a boolean", tree.Int: "a number", tree.Float: "a number",
	tree.String: "text", tree.List: "a list", tree.Map: "a map",
}

// note adds a finding about a position in the output and shows the line there.
func (r *Rendered) note(d *xrd.Definition, rule string, at tree.Pos, message, hint string) {
	r.Findings = append(r.Findings, r.finding(d, rule, at, message, hint))
}

func (r *Rendered) finding(d *xrd.Definition, rule string, at tree.Pos, message, hint string) finding.Finding {
	if at.Line > 0 {
		line := strings.TrimSpace(lineOf(r.Text, int(at.Line)))
		message += fmt.Sprintf(" (line %d of the output: %s)", at.Line, shorten(line))
	}
	return finding.Finding{
		Rule: rule, Severity: severityOf(rule), Object: d.Label(), File: r.Choice.Portal.Path, Message: message, Hint: hint,
	}
}
