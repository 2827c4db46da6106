package folder

import (
	"fmt"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/text"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// OnError says what to do when a template cannot be used.
type OnError uint8

// The values of OnError.
const (
	// Fail makes no entities from the definition.
	Fail OnError = iota
	// UseDefault warns and uses the default template.
	UseDefault
)

// ParseOnError parses fail or default.
func ParseOnError(s string) (OnError, error) {
	switch s {
	case "fail", "":
		return Fail, nil
	case Default:
		return UseDefault, nil
	}
	return Fail, fmt.Errorf("cannot use error mode %q: must be fail or default", s)
}

// String returns the spelling of the flag.
func (o OnError) String() string { return [...]string{"fail", Default}[o] }

// Choice holds the file of each group that is used for a definition.
type Choice struct {
	Portal, Wizard, Steps File
}

func (c *Choice) at(group string) *File {
	switch group {
	case Portal:
		return &c.Portal
	case Wizard:
		return &c.Wizard
	}
	return &c.Steps
}

// annotations are the annotations that select the file of a group.
var annotations = map[string]string{
	Portal: words.AnnotationTemplate, Wizard: words.AnnotationWizard, Steps: words.AnnotationSteps,
}

// Fallback returns the default choice.
func (f *Folder) Fallback() Choice {
	var c Choice
	for _, group := range Groups {
		*c.at(group), _ = f.file(group, f.metadata.defaults[group])
	}
	return c
}

// Choose returns the files for a definition: those named by its annotations, else those
// of metadata.yaml, else the defaults. A name that does not exist gives an *Error or,
// with UseDefault, a finding and the default.
func (f *Folder) Choose(d *xrd.Definition, on OnError) (Choice, []finding.Finding, error) {
	c := f.Fallback()
	var found []finding.Finding
	for _, group := range Groups {
		name := strings.TrimSpace(d.Annotations[annotations[group]])
		if name == "" {
			continue
		}
		if file, ok := f.file(group, strings.TrimSuffix(name, ext)); ok {
			*c.at(group) = file
			continue
		}
		key := WrittenKey(d, annotations[group])
		missing := finding.Finding{
			Rule: RuleChoice, Severity: finding.Error, Object: d.Label(), File: d.Origin.File,
			Pos: d.Node.Get("metadata", "annotations", key).At(), Path: "metadata.annotations[" + fmt.Sprintf("%q", key) + "]",
			Message: fmt.Sprintf("%s template %q does not exist", group, shorten(name)), Hint: f.offer(group, name),
		}
		if on == Fail {
			return Choice{}, nil, &Error{Finding: missing}
		}
		missing.Severity = finding.Warning
		missing.Message += fmt.Sprintf(", so %q is used", c.at(group).Name)
		found = append(found, missing)
	}
	return c, found, nil
}

// WrittenKey returns the key of an annotation as the definition spells it, in either
// vocabulary.
func WrittenKey(d *xrd.Definition, key string) string {
	if d.Node.Get("metadata", "annotations", key) != nil {
		return key
	}
	return d.Words.Out(words.Key, key)
}

// Pick returns the choice of files by their names; an empty name selects the default.
func (f *Folder) Pick(portal, wizard, steps string) (Choice, error) {
	c := f.Fallback()
	for i, name := range []string{portal, wizard, steps} {
		if name == "" {
			continue
		}
		file, ok := f.file(Groups[i], name)
		if !ok {
			return Choice{}, &Error{Finding: finding.Finding{
				Rule: RuleChoice, Severity: finding.Error,
				Message: fmt.Sprintf("%s template %q does not exist", Groups[i], shorten(name)), Hint: f.offer(Groups[i], name),
			}}
		}
		*c.at(Groups[i]) = file
	}
	return c, nil
}

// offer returns a hint that lists the files of a group and suggests the closest name.
func (f *Folder) offer(group, name string) string {
	files := f.In(group)
	names := make([]string, len(files))
	lines := make([]string, len(files))
	for i, x := range files {
		names[i], lines[i] = x.Name, "  "+x.Name
		if x.Description != "" {
			lines[i] += ": " + x.Description
		}
	}
	head := "available templates:"
	if near := nearest(name, names); near != "" {
		head = "did you mean " + near + "? " + head
	}
	return head + "\n" + strings.Join(lines, "\n")
}

// node returns the paths of the chosen files.
func (c Choice) node() *tree.Node {
	return tree.Obj(
		tree.F(Portal, tree.Str(c.Portal.Path)),
		tree.F(Wizard, tree.Str(c.Wizard.Path)),
		tree.F(Steps, tree.Str(c.Steps.Path)),
	)
}

// nearest returns the word most similar to s, or "" if none is similar.
func nearest(s string, all []string) string {
	best, least := "", len(s)/3+2
	for _, w := range all {
		if len(s) > longest || len(w) > longest {
			continue
		}
		if d := text.Distance(strings.ToLower(s), strings.ToLower(w)); d < least {
			best, least = w, d
		}
	}
	return best
}

// longest is the maximum length of words for which a suggestion is searched.
const longest = 64

// shorten shortens text for a message.
func shorten(s string) string { return text.Shorten(s, 80) }
