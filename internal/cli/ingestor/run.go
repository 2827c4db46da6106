package ingestor

import (
	"context"
	"errors"
	"os"
	"slices"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/pipeline"
	"example.dev/ingestor/internal/report"
	"example.dev/ingestor/internal/term"
	"example.dev/ingestor/sink"
	"example.dev/ingestor/sink/dir"
	"example.dev/ingestor/sink/stream"
	"example.dev/ingestor/source/file"
)

// session is one run of the command.
type session struct {
	*options
	files  int // written
	spill  *pipeline.Spill
	report *pipeline.Report
}

func run(ctx context.Context, o *options) error {
	s := &session{options: o, spill: pipeline.NewSpill(pipeline.DefaultRoom)}
	defer s.spill.Close() //nolint:errcheck // nothing of it is needed any more
	ctx, done := context.WithCancel(ctx)
	defer done()
	go app.BoundMemory(ctx, app.CommandRoom)
	var err error
	s.report, err = s.pipeline(ctx)
	if err != nil {
		return s.failed(err)
	}
	return s.conclude()
}

// pipeline reads, transforms and writes according to the flags.
func (s *session) pipeline(ctx context.Context) (*pipeline.Report, error) {
	reading := s.Progress("reading", "files")
	defer reading.Done()
	working := s.Progress("transforming", "definitions")
	defer working.Done()
	maker, transformer := s.extension.Engine(s.profile, s.engine)
	return pipeline.Run(ctx, pipeline.Options{
		Source:         s.source(reading.Update),
		Engine:         maker,
		Transformer:    transformer,
		Sink:           s.sink(),
		Discard:        s.validate,
		Spill:          s.spill,
		Filter:         s.filter,
		SkipValidation: s.skipValidation,
		Composites:     s.validate,
		Surroundings:   s.organize,
		Words:          s.words,
		Progress:       working.Update,
		Log:            s.Logger(),
	})
}

// skipped reports a file that was skipped.
func (s *session) skipped(path, why string) {
	if s.Detailed() {
		s.Sayf("skipped %s: %s", term.Safe(path), why)
	}
}

// sink returns the sink of the entities; nil for modes that write none.
func (s *session) sink() sink.Sink {
	switch {
	case s.validate, s.preview:
		return nil
	case s.stdout:
		return stream.New(s.Env.Stdout, s.sinkFormat)
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
		if s.Detailed() {
			s.Sayf("wrote %s (%s)", term.Safe(path), output.Count(n, "entity", "entities"))
		}
	}})
}

// failed returns the exit error of a run that did not finish.
func (s *session) failed(err error) error {
	err = output.Failure(err)
	if errors.Is(err, pipeline.ErrTemporary) {
		err = &app.Exit{Code: app.ExitFailed, Err: err, Hint: "set TMPDIR to a writable directory with free space"}
	}
	if err != nil && s.report != nil {
		_ = s.findings()
	}
	return err
}

// conclude prints the results and determines the exit code.
func (s *session) conclude() error {
	if s.preview {
		if err := s.show(s.Env.Stdout); err != nil {
			return err
		}
	}
	if err := s.findings(); err != nil {
		return err
	}
	s.summary()
	return s.verdict()
}

// findings prints the findings: to standard output if they are the result,
// otherwise to standard error.
func (s *session) findings() error {
	return s.Report(output.Report{
		Findings: s.report.Findings, Format: s.outputFormat, Objects: s.report.Definitions, Strict: s.strict,
		Result: s.validate || s.outputFormat != report.Text && !s.stdout && !s.preview,
	})
}

// verdict returns the exit code, with a message where none was printed yet.
func (s *session) verdict() error {
	r := s.report
	switch {
	case r.ReadErr != nil:
		return s.unread(r.ReadErr)
	case output.Failed(r.Findings, s.strict):
		return &app.Exit{Code: app.ExitInvalid}
	case len(r.Definitions) == 0:
		return &app.Exit{Code: app.ExitNothing, Err: errors.New("nothing matched"), Hint: s.whyNothing()}
	}
	return nil
}

func (s *session) whyNothing() string {
	why := output.WhyNothing(s.report)
	switch {
	case why != "":
		return why
	case len(s.paths) == 0:
		return "the sources of the configuration contain no documents"
	case slices.Equal(s.paths, []string{file.Stdin}):
		return "standard input is empty"
	case !s.recursive && slices.ContainsFunc(s.paths, isDir):
		return "the input contains no documents; use --recursive to read subdirectories"
	}
	return "the input contains no documents"
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
