package ingestor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"syscall"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/engine/form"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/finding"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/pipeline"
	"example.dev/ingestor/internal/report"
	"example.dev/ingestor/internal/term"
	"example.dev/ingestor/sink"
	"example.dev/ingestor/sink/dir"
	"example.dev/ingestor/sink/stream"
	"example.dev/ingestor/source/file"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/lint"
)

// session is one run of the command.
type session struct {
	*options
	env    *app.Env
	files  int // written
	report *pipeline.Report
	// out and note style standard output and standard error.
	out, note term.Style
}

func run(ctx context.Context, env *app.Env, o *options) error {
	plain := o.noColor || env.Getenv("NO_COLOR") != ""
	s := &session{
		options: o, env: env,
		out:  term.Style{Color: env.StdoutTerminal && !plain},
		note: term.Style{Color: env.StderrTerminal && !plain},
	}
	var err error
	s.report, err = s.pipeline(ctx)
	if err != nil {
		return s.failed(err)
	}
	return s.conclude()
}

// pipeline reads, transforms and writes as the flags say.
func (s *session) pipeline(ctx context.Context) (*pipeline.Report, error) {
	watched := s.env.StderrTerminal && !s.quiet && !s.debug
	reading := term.NewProgress(s.env.Stderr, watched, s.env.Now, "reading", "files")
	defer reading.Done()
	working := term.NewProgress(s.env.Stderr, watched, s.env.Now, "transforming", "definitions")
	defer working.Done()
	return pipeline.Run(ctx, pipeline.Options{
		Source: file.New(s.paths, file.Options{
			Recursive: s.recursive, FollowSymlinks: s.followSymlinks, Stdin: s.env.Stdin,
			Skipped: s.skipped, Progress: reading.Update,
		}),
		Engine: engine.New(s.profile, engine.Options{
			Owner: s.owner, System: s.system, Domain: s.domain, Namespace: s.namespace, Tags: s.tags, Words: s.words,
		}, engine.Hooks{}),
		Sink:           s.sink(),
		Discard:        s.validate,
		Filter:         s.filter,
		SkipValidation: s.skipValidation,
		Surroundings:   s.organize,
		Words:          s.words,
		Progress:       working.Update,
		Log:            s.logger(),
	})
}

func (s *session) logger() *slog.Logger {
	if !s.debug {
		return nil
	}
	return slog.New(slog.NewTextHandler(s.env.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// skipped says what was passed over while reading.
func (s *session) skipped(path, why string) {
	if s.verbose || s.debug {
		s.sayf("passed over %s: %s", term.Safe(path), why)
	}
}

// sink is where the entities go; nil for modes that write none.
func (s *session) sink() sink.Sink {
	switch {
	case s.validate, s.preview:
		return nil
	case s.stdout:
		return stream.New(s.env.Stdout, s.sinkFormat)
	}
	layout := dir.PerKind
	switch {
	case s.singleFile:
		layout = dir.SingleFile
	case s.organize:
		layout = dir.PerEntity
	}
	return dir.New(s.output, dir.Options{Format: s.sinkFormat, Layout: layout, Wrote: func(path string, n int) {
		s.files++
		if s.verbose || s.debug {
			s.sayf("wrote %s (%s)", term.Safe(path), count(n, "entity", "entities"))
		}
	}})
}

// failed explains why the run did not finish.
func (s *session) failed(err error) error {
	// Whoever read the output has seen enough.
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	if s.report != nil {
		_ = s.findings()
	}
	if e, ok := errors.AsType[*dir.Error](err); ok {
		return &app.Exit{Code: app.ExitFailed, Err: err, Hint: e.Hint}
	}
	return err
}

// conclude shows the results and settles the exit code.
func (s *session) conclude() error {
	if s.preview {
		s.show(s.env.Stdout)
	}
	if err := s.findings(); err != nil {
		return err
	}
	s.summary()
	return s.verdict()
}

// findings writes the findings: to standard output if they are the result,
// else to standard error.
func (s *session) findings() error {
	w, style := s.env.Stderr, s.note
	if s.validate || s.outputFormat != report.Text && !s.stdout && !s.preview {
		w, style = s.env.Stdout, s.out
	}
	return report.Write(w, s.outputFormat, s.report.Findings, report.Options{
		Tool: Name, Version: app.BuildVersion(), Rules: Rules(), Objects: s.report.Definitions,
		Min: s.least(), Color: style.Color, Strict: s.strict,
	})
}

// least is the least severity that is shown. Machines get everything.
func (s *session) least() finding.Severity {
	switch {
	case s.quiet:
		return finding.Error
	case s.verbose, s.debug, s.outputFormat != report.Text:
		return finding.Info
	}
	return finding.Warning
}

// verdict is the exit code, with a message where nothing was said yet.
func (s *session) verdict() error {
	r := s.report
	failed := finding.Count(r.Findings, finding.Error)
	warned := finding.Count(r.Findings, finding.Warning)
	switch {
	case r.ReadErr != nil:
		return s.unread(r.ReadErr)
	case failed > 0, s.strict && warned > 0:
		return &app.Exit{Code: app.ExitInvalid}
	case len(r.Definitions) == 0:
		return &app.Exit{Code: app.ExitNothing, Err: errors.New("nothing matched"), Hint: s.whyNothing()}
	}
	return nil
}

// unread shows every input that could not be read.
func (s *session) unread(err error) error {
	var all []error
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	} else {
		all = []error{err}
	}
	for _, e := range all {
		fmt.Fprintf(s.env.Stderr, "%s: %s\n", Name, term.Safe(e.Error()))
		if fe, ok := errors.AsType[*file.Error](e); ok && fe.Hint != "" {
			fmt.Fprintf(s.env.Stderr, "  %s\n", fe.Hint)
		}
	}
	return &app.Exit{Code: app.ExitFailed}
}

func (s *session) whyNothing() string {
	r := s.report
	switch {
	case len(r.Refused) > 0:
		first := r.Refused[0]
		return fmt.Sprintf("%s found, none selected: %s because %s", count(len(r.Refused), "definition", "definitions"), first.Name, first.Why)
	case r.Documents > 0:
		return fmt.Sprintf("%s read, no %s among them", count(r.Documents, "document", "documents"), xrd.KindDefinition)
	case slices.Equal(s.paths, []string{file.Stdin}):
		return "standard input is empty"
	case !s.recursive && slices.ContainsFunc(s.paths, isDir):
		return "the input holds no documents; use --recursive to look below directories"
	}
	return "the input holds no documents"
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// sayf writes a line to standard error.
func (s *session) sayf(format string, args ...any) {
	fmt.Fprintf(s.env.Stderr, format+"\n", args...)
}

// count says "1 entity" or "2 entities".
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Rules are all rules a run can report, in the order of their ids.
func Rules() []finding.Rule {
	var all []finding.Rule
	all = append(all, xrd.Rules...)
	all = append(all, lint.Rules...)
	all = append(all, pipeline.Rules...)
	all = append(all, engine.Rules...)
	all = append(all, form.Rules...)
	all = append(all, entity.Rules...)
	return all
}
