package extract

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/clusters"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/report"
	"example.dev/ingestor/internal/term"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/source/file"
	"example.dev/ingestor/source/git"
	"example.dev/ingestor/xrd"
)

// session is one run of the command.
type session struct {
	*options
	out      recordWriter
	progress *term.Progress
	// fleet is the clusters that are read; nil for other sources.
	fleet *clusters.Fleet

	// Counts of records written, definitions refused (with the reason of the first),
	// objects of other kinds, and documents with findings that are not errors.
	written, refusedCount int
	refusal               string
	passed, remarks       int
	// Counts of failures to read or write and of invalid documents, and the first
	// error of either.
	failed, invalid int
	first           string
}

func run(ctx context.Context, o *options) error {
	s := &session{options: o, out: &stream{w: o.Env.Stdout, yaml: o.format == asYAML}}
	from, err := s.open(ctx)
	if err != nil && s.output == "" && !s.partial {
		// An empty output would look complete.
		_ = s.out.end(Name + ": " + cmp.Or(s.first, err.Error()))
	}
	if err != nil {
		return err
	}
	if s.output != "" {
		if s.out, err = newFolder(s.output, s.format == asYAML, s.wrote); err != nil {
			return err
		}
	}
	s.progress = s.Progress("extracted", "definitions")
	defer s.progress.Done()
	for record, err := range source.Extract(ctx, from, source.ExtractOptions{
		Filter: s.filter, Now: s.Env.Now, Refused: s.refuse, Remarked: s.remark, Passed: func(*xrd.Object) { s.passed++ },
	}) {
		if err == nil {
			err = s.out.write(record)
		}
		if err != nil {
			if err := s.trouble(ctx, err); err != nil {
				return output.Failure(err)
			}
			continue
		}
		s.written++
		s.progress.Update(s.written, 0)
	}
	s.progress.Done()
	if err := s.out.end(s.failure()); err != nil {
		return output.Failure(err)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.summary()
	return s.verdict()
}

// open returns the source.
func (s *session) open(ctx context.Context) (source.Source, error) {
	switch s.from {
	case xrd.SourceCluster:
		return s.clusters(ctx)
	case xrd.SourceGit:
		auth := git.Auth{
			Username: s.username, TokenFile: s.tokenFile, SSHKeyFile: s.sshKey, KnownHostsFile: s.knownHosts, CAFile: s.authority,
		}
		if s.tokenFile == "" {
			auth.Token = source.Secret(s.Env.Getenv(envToken))
		}
		repository := git.New(s.repo, git.Options{Ref: s.ref, Paths: s.paths, Auth: auth, Skipped: s.skipped})
		s.Reading(repository.Repository(), "named by --repo")
		return repository, nil
	}
	paths, why := s.paths, output.Named
	if len(paths) == 0 {
		paths, why = []string{file.Stdin}, output.Unnamed
	}
	s.ReadingFiles(paths, why)
	return file.New(paths, file.Options{
		Recursive: s.recursive, FollowSymlinks: s.followSymlinks, Patterns: true, Stdin: s.Env.Stdin, Skipped: s.skipped,
	}), nil
}

// clusters returns a source of clusters.
func (s *session) clusters(ctx context.Context) (source.Source, error) {
	choice := &clusters.Choice{Output: &s.Output, Flags: &s.Flags}
	if err := choice.Configure(true); err != nil {
		return nil, err
	}
	fleet, err := choice.Connect()
	if err != nil {
		if e, ok := errors.AsType[*app.Exit](err); ok && e.Err == nil {
			s.first = "cannot connect to any cluster"
		}
		return nil, err
	}
	s.fleet = fleet
	usable, errs := fleet.Usable()
	for _, err := range errs {
		_ = s.trouble(ctx, err)
	}
	return cluster.New(usable, cluster.ReadOptions{Labels: s.filter.Labels}, fleet.Note), nil
}

// skipped reports a file that was skipped.
func (s *session) skipped(path, why string) {
	if s.Detailed() {
		s.Sayf("skipped %s: %s", term.Safe(path), why)
	}
}

func (s *session) wrote(path string) {
	if s.Detailed() {
		s.progress.Clear()
		s.Sayf("wrote %s", term.Safe(path))
	}
}

// refuse records a definition that is not selected.
func (s *session) refuse(d *xrd.Definition, why string) {
	if s.refusedCount++; s.refusedCount == 1 {
		s.refusal = fmt.Sprintf("%s because %s", d.Label(), why)
	}
	if s.Detailed() {
		s.progress.Clear()
		s.Sayf("not selected: %s: %s", term.Safe(d.Label()), term.Safe(why))
	}
}

// remark records a finding that is not an error.
func (s *session) remark(f finding.Finding) {
	s.remarks++
	s.show(f)
}

// show prints a finding.
func (s *session) show(f finding.Finding) {
	if f.Severity < s.Least(report.Text, false) {
		return
	}
	s.progress.Clear()
	_ = s.Report(output.Report{Findings: []finding.Finding{f}})
}

// trouble prints and counts an error, and returns it if the run cannot continue.
func (s *session) trouble(ctx context.Context, err error) error {
	problem, isProblem := errors.AsType[*source.Problem](err)
	refusal, isRefusal := errors.AsType[*refused](err)
	hint, isRead := hintOf(err)
	text := err.Error()
	switch {
	case ctx.Err() != nil:
		// The end of the run reports the interruption.
		text = "interrupted"
		s.failed++
	case isProblem:
		s.show(problem.Finding)
		s.invalid++
	case isRefusal:
		s.show(refusal.finding)
		s.failed++
		text = refusal.finding.Message
	case isRead:
		s.progress.Clear()
		s.Complain(err, hint)
		s.failed++
	default:
		return err
	}
	if s.first == "" {
		s.first = text
	}
	return nil
}

// hintOf returns the hint of a read error; it reports false for other errors.
func hintOf(err error) (hint string, ok bool) {
	if e, ok := errors.AsType[*source.Failure](err); ok {
		return "fix the errors of the program that wrote it", e != nil
	}
	if e, ok := errors.AsType[*file.Error](err); ok {
		return e.Hint, true
	}
	if e, ok := errors.AsType[*git.Error](err); ok {
		return e.Hint, true
	}
	if e, ok := errors.AsType[*cluster.Error](err); ok {
		return e.Hint, true
	}
	return "", false
}

// failure returns the message of the failure record; empty if the output is
// complete, or with --partial.
func (s *session) failure() string {
	n := s.failed + s.invalid
	switch {
	case n == 0 || s.partial:
		return ""
	case n == 1:
		return Name + ": " + s.first
	}
	return fmt.Sprintf("%s: %s (and %d more)", Name, s.first, n-1)
}

// summary prints what was done and what was not.
func (s *session) summary() {
	if s.Quiet {
		return
	}
	if s.written > 0 {
		where := ""
		if s.output != "" {
			where = " to " + term.Safe(s.output)
		}
		s.Sayf("%s extracted%s", output.Count(s.written, "definition", "definitions"), where)
	}
	if s.written > 0 && s.refusedCount > 0 {
		s.Sayf("%s not selected", output.Count(s.refusedCount, "definition", "definitions"))
	}
	if s.passed > 0 {
		s.Sayf("skipped: %s of other kinds", output.Count(s.passed, "object", "objects"))
	}
}

// verdict returns the exit code, with a message where none was printed yet: read
// errors take precedence over invalid documents, and these over an empty result.
func (s *session) verdict() error {
	if s.fleet != nil {
		if err := s.fleet.Verdict(); err != nil {
			return err
		}
	}
	switch {
	case s.failed > 0:
		return &app.Exit{Code: app.ExitFailed}
	case s.invalid > 0:
		return &app.Exit{Code: app.ExitInvalid}
	case s.written == 0:
		return &app.Exit{Code: app.ExitNothing, Err: errors.New("nothing matched"), Hint: term.Safe(s.whyNothing())}
	}
	return nil
}

func (s *session) whyNothing() string {
	switch {
	case s.refusedCount > 0:
		return fmt.Sprintf("%s found, none selected: %s", output.Count(s.refusedCount, "definition", "definitions"), s.refusal)
	case s.from == xrd.SourceCluster:
		return "no definition in the clusters matches the labels"
	case s.remarks > 0 && !s.Detailed():
		return fmt.Sprintf("%s skipped; use --verbose to see why", output.Count(s.remarks, "document", "documents"))
	case s.passed > 0:
		return fmt.Sprintf("%s read, no %s among them", output.Count(s.passed, "object", "objects"), xrd.KindDefinition)
	case s.from == xrd.SourceFile && len(s.paths) == 0:
		return "standard input contains no definition; pass files with --path"
	case s.from == xrd.SourceFile && !s.recursive:
		return "no definition in " + strings.Join(s.paths, ", ") + "; use --recursive to read subdirectories"
	}
	return "no definition in the source"
}
