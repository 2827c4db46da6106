package transform

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/report"
	"example.dev/ingestor/internal/term"
	"example.dev/ingestor/xrd"
)

// run transforms all inputs once, or repeatedly with --watch.
func (o *options) run(ctx context.Context) error {
	if o.watch {
		return o.follow(ctx)
	}
	maker, err := o.open(o.Output)
	if err != nil {
		return err
	}
	defer maker.close()
	p := &run{options: o, maker: maker}
	if o.output == "" {
		p.out = newStream(o.Env.Stdout, o.format)
	}
	if o.output != "" {
		p.out = newFiles(o.output, o.format, p.wrote)
	}
	if err := p.all(ctx); err != nil {
		return output.Failure(err)
	}
	return p.conclude()
}

// run is one pass over all inputs.
type run struct {
	*options
	maker *maker
	out   resultWriter
	tally
	progress *term.Progress
	// unread joins the read errors.
	unread error
}

// tally counts the records processed so far.
type tally struct {
	// documents counts all objects, definitions the definitions, and failed the
	// documents with errors.
	documents, definitions, failed int
	files                          int
	kinds                          map[string]int
	references                     references
	// errors and warnings count findings, and broken those about a template that
	// failed, as opposed to its output.
	errors, warnings, broken int
	// first is the first error, and firstWarning the first warning, for the failure
	// record.
	first, firstWarning string
	// incomplete are the messages of failure records.
	incomplete []string
	// findings and names are kept if they are shown at the end.
	findings []finding.Finding
	names    []string
}

// all reads, renders and writes. The error is one that prevented completion.
func (r *run) all(ctx context.Context) (err error) {
	r.kinds, r.references = map[string]int{}, references{}
	// Output to a terminal shows the progress itself.
	if r.output != "" || !r.Env.StdoutTerminal {
		r.progress = r.Progress("transforming", "definitions")
	}
	defer r.progress.Done()
	r.unread, err = flow(ctx,
		func(ctx context.Context, take func(xrd.Found) bool) error { return r.each(ctx, r.Output, take) },
		r.work, func(s *step, idle bool) error { return r.take(ctx, s, idle) })
	if err == nil {
		return r.out.end(ctx, r.failure())
	}
	if ctx.Err() != nil {
		// The reader of the output must not take it for complete.
		message := Name + " was interrupted"
		if r.partial {
			message = ""
		}
		_ = r.out.end(ctx, message)
	}
	return err
}

// work renders a record. It may be called concurrently.
func (r *run) work(ctx context.Context, f xrd.Found) made {
	m := r.maker.make(ctx, f)
	r.render(&m)
	return m
}

// render formats the entities, if the output is a stream.
func (r *run) render(m *made) {
	m.text = m.text[:0]
	if r.output != "" {
		return
	}
	for _, e := range m.entities {
		m.text = appendEntity(m.text, e, r.format)
	}
}

// take processes a rendered record, in order.
func (r *run) take(ctx context.Context, s *step, idle bool) error {
	r.documents++
	found := s.made.findings
	switch {
	case s.found.Definition != nil:
		r.definitions++
		r.name(s.found.Definition.Name)
	case s.found.Failed:
		r.incomplete = append(r.incomplete, s.found.Failure)
		if r.outputFormat != report.Text {
			r.findings = append(r.findings, incomplete(s.found.Failure))
		}
	case s.found.Finding != nil:
		found = []finding.Finding{*s.found.Finding}
	case s.found.Other != nil && r.Detailed():
		other := s.found.Other
		r.progress.Clear()
		r.Sayf("skipped %s %q: not a definition", term.Safe(other.Kind), term.Safe(other.Name))
	}
	// A record without a place in the output is omitted as a whole.
	if f, ok := r.out.(*files); !ok || !f.isTaken(s) {
		found = append(found, r.repeated(s)...)
	}
	twice, err := r.out.write(ctx, s, idle)
	if err != nil {
		return err
	}
	if twice != nil {
		found, s.made.entities = append(found, *twice), nil
	}
	for _, e := range s.made.entities {
		r.kinds[e.Kind]++
	}
	r.progress.Update(r.definitions, 0)
	return r.note(found)
}

// repeated removes the entities of a record whose reference an entity of an
// earlier record has, and reports each: a catalog would accept only one of them.
func (r *run) repeated(s *step) []finding.Finding {
	var all []finding.Finding
	d := s.found.Definition
	kept := make([]*entity.Entity, 0, len(s.made.entities))
	for _, e := range s.made.entities {
		sum := sha256.Sum256([]byte(e.Key()))
		if key := [16]byte(sum[:16]); !r.references.add(key) {
			all = append(all, finding.Finding{
				Rule: entity.RuleDuplicate, Severity: finding.Error, Object: e.Key(), Path: "metadata.name", File: d.Origin.File, Pos: d.Node.At(),
				Message: fmt.Sprintf("entity %s of definition %q skipped: another definition has an entity of that name", e.Key(), d.Name),
				Hint:    "remove the duplicate definition, or change the template that gives the same name",
			})
			continue
		}
		kept = append(kept, e)
	}
	if len(all) > 0 {
		s.made.entities = kept
		r.render(&s.made)
	}
	return all
}

// references are hashes of the references that were written, because there may be
// a million of them.
type references map[[16]byte]struct{}

// add adds a reference, and reports whether it is new.
func (r references) add(key [16]byte) bool {
	_, old := r[key]
	r[key] = struct{}{}
	return !old
}

// incomplete returns the finding about a failure record.
func incomplete(why string) finding.Finding {
	return finding.Finding{
		Rule: xrd.RuleIncomplete, Severity: finding.Error,
		Message: "the input is not complete: " + cmp.Or(why, "no reason given"),
		Hint:    "fix the errors of the program that wrote it",
	}
}

// name keeps the name of a definition for reports that list all definitions.
func (r *run) name(name string) {
	if r.outputFormat == report.JUnit {
		r.names = append(r.names, name)
	}
}

// note counts the findings about one document, and prints them, or keeps them for
// a report at the end.
func (r *run) note(found []finding.Finding) error {
	errs := finding.Count(found, finding.Error)
	r.errors += errs
	r.warnings += finding.Count(found, finding.Warning)
	if errs > 0 {
		r.failed++
	}
	for _, f := range found {
		switch {
		case isBroken(f):
			r.broken++
			fallthrough
		case f.Severity == finding.Error:
			r.first = cmp.Or(r.first, said(f))
		case f.Severity == finding.Warning:
			r.firstWarning = cmp.Or(r.firstWarning, said(f))
		}
	}
	if r.outputFormat != report.Text {
		r.findings = append(r.findings, found...)
		return nil
	}
	found = slices.DeleteFunc(slices.Clone(found), func(f finding.Finding) bool { return f.Severity < r.Least(report.Text, r.strict) })
	if len(found) == 0 {
		return nil
	}
	r.progress.Clear()
	return r.Report(output.Report{Findings: found})
}

// said returns a finding on one line.
func said(f finding.Finding) string {
	if where := f.Where(); where != "" {
		return where + ": " + f.Message
	}
	return f.Message
}

func (r *run) wrote(path string, n int) {
	r.files++
	if r.Detailed() {
		r.progress.Clear()
		r.Sayf("wrote %s (%s)", term.Safe(path), output.Count(n, "entity", "entities"))
	}
}

// failure returns the message of the failure record at the end of the output;
// empty if the output is complete, or with --partial.
func (r *run) failure() string {
	if r.partial {
		return ""
	}
	var parts []string
	parts = append(parts, r.incomplete...)
	for i, p := range parts {
		if p == "" {
			parts[i] = "the input is not complete"
		}
	}
	if r.unread != nil {
		parts = append(parts, Name+": "+output.Each(r.unread)[0].Error())
	}
	switch {
	case r.failed > 0:
		parts = append(parts, fmt.Sprintf("%s: %d of %s failed: %s", Name, r.failed, output.Count(r.documents-len(r.incomplete), "document", "documents"), r.first))
	case r.strict && r.warnings > 0:
		parts = append(parts, fmt.Sprintf("%s: %s with --strict: %s", Name, output.Count(r.warnings, "warning", "warnings"), r.firstWarning))
	}
	return strings.Join(parts, "; ")
}

// conclude prints the findings, and determines the exit code.
func (r *run) conclude() error {
	if r.outputFormat != report.Text {
		err := r.Report(output.Report{
			Findings: r.findings, Format: r.outputFormat, Objects: r.names, Strict: r.strict, Result: r.output != "",
		})
		if err != nil {
			return output.Failure(err)
		}
	}
	// A machine-readable report must not be mixed with other text.
	if r.definitions > 0 && !r.Quiet && r.outputFormat == report.Text {
		r.Sayf("%s", r.summary())
	}
	return r.verdict()
}

// summary returns what was made: "3 entities from 1 definition (1 Template, 1 API,
// 1 Resource) in 3 files under out".
func (r *run) summary() string {
	n, kinds := 0, []*entity.Entity{}
	for kind, count := range r.kinds {
		n += count
		kinds = append(kinds, &entity.Entity{Kind: kind})
	}
	entity.Sort(kinds)
	text := output.Count(n, "entity", "entities") + " from " + output.Count(r.definitions, "definition", "definitions")
	var parts []string
	for _, k := range kinds {
		parts = append(parts, fmt.Sprintf("%d %s", r.kinds[k.Kind], k.Kind))
	}
	if len(parts) > 0 {
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	if r.output != "" {
		text += fmt.Sprintf(" in %s under %s", output.Count(r.files, "file", "files"), term.Safe(r.output))
	}
	return text
}

// verdict returns the exit code, with a message where none was printed yet.
func (r *run) verdict() error {
	for _, why := range r.incomplete {
		if r.outputFormat != report.Text {
			break
		}
		f := incomplete(why)
		r.Complain(errors.New(f.Message), f.Hint)
	}
	switch {
	case r.unread != nil:
		return r.Unread(r.unread)
	case len(r.incomplete) > 0, r.broken > 0:
		return &app.Exit{Code: app.ExitFailed}
	case r.errors > 0, r.strict && r.warnings > 0:
		return &app.Exit{Code: app.ExitInvalid}
	case r.definitions == 0:
		return &app.Exit{Code: app.ExitNothing, Err: errors.New("nothing matched"), Hint: r.empty()}
	}
	return nil
}
