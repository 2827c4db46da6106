package provide

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/report"
	"example.dev/ingestor/internal/term"
	"example.dev/ingestor/sink/spool"
	"example.dev/ingestor/source/file"
)

// common holds what every command of the program has: output, and the reading of
// entities.
type common struct {
	output.Output
	followSymlinks, strict, partial, allowEmpty bool
	// undone is the message if the entities cannot be used, such as "nothing was
	// pushed".
	undone string
	// findingsFormat is the format of findings; empty means text on standard error.
	findingsFormat string
}

func newCommon(env *app.Env, undone string) *common {
	return &common{Output: output.Output{Program: Name, Env: env}, undone: undone}
}

// bind defines the flags for reading. The output flags are bound last, by
// Output.Bind.
func (c *common) bind(f *pflag.FlagSet) {
	f.BoolVar(&c.followSymlinks, "follow-symlinks", false, "follow symbolic links in directories")
	f.BoolVar(&c.strict, "strict", false, "fail on warnings")
}

// settle validates the flags for reading and output.
func (c *common) settle(given map[string]bool, paths []string) error {
	if slices.Contains(paths, "") {
		return flags.Usagef("check for an empty shell variable", "an input is the empty string")
	}
	return cmp.Or(
		flags.Together(given, "quiet", "verbose"),
		flags.Together(given, "quiet", "debug"),
	)
}

// files returns the source of the inputs; without paths it is standard input.
func (c *common) files(paths []string) *file.Source {
	if len(paths) == 0 {
		paths = []string{file.Stdin}
	}
	return file.New(paths, file.Options{
		Recursive: true, FollowSymlinks: c.followSymlinks, Stdin: c.Env.Stdin,
		Skipped: func(path, why string) {
			if c.Detailed() {
				c.Sayf("skipped %s: %s", term.Safe(path), why)
			}
		},
	})
}

// gather reads all entities from files, directories and standard input, and
// reports problems. If the entities can be used it returns them, and the caller
// must close the Spool; otherwise the error is the exit error of the command.
// Incomplete entities, because a file cannot be read or an upstream program
// failed, can be used only with --partial: then the Spool's Failure is set.
func (c *common) gather(ctx context.Context, paths []string, opts spool.Options) (*spool.Spool, error) {
	if len(paths) == 0 {
		c.ReadingFiles([]string{file.Stdin}, output.Unnamed)
	}
	c.ReadingFiles(paths, output.Named)
	reading := c.Progress("reading", "entities")
	opts.Progress = func(n int) { reading.Update(n, 0) }
	s, err := spool.New(opts)
	if err != nil {
		return nil, err
	}
	unread, err := c.fill(ctx, s, c.files(paths))
	reading.Done()
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if len(unread) > 0 {
		_ = c.Unread(errors.Join(unread...))
		s.Fail(unread[0].Error())
	}
	if err := c.judge(s, paths); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// fill reads the files into s, and returns the errors of unreadable files. The
// error err is fatal.
func (c *common) fill(ctx context.Context, s *spool.Spool, from *file.Source) (unread []error, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	files, err := from.Files(ctx)
	if files == nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		unread = output.Each(err)
	}
	for _, path := range files {
		in := pump(ctx, func() (io.ReadCloser, error) { return c.open(path) })
		if err := s.Read(in, path); err != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			unread = append(unread, &file.Error{Path: path, Err: err})
		}
	}
	return unread, nil
}

func (c *common) open(path string) (io.ReadCloser, error) {
	if path == file.StdinName {
		return io.NopCloser(c.Env.Stdin), nil
	}
	return os.Open(path)
}

// judge reports the findings, and returns an error if the entities cannot be used.
func (c *common) judge(s *spool.Spool, paths []string) error {
	bad := s.Unkept(finding.Error) > 0 || c.strict && s.Unkept(finding.Warning) > 0 || output.Failed(s.Findings(), c.strict)
	if err := c.show(s, bad); err != nil {
		return err
	}
	if why, ok := s.Failure(); ok && !c.partial {
		return &app.Exit{
			Code: app.ExitFailed, Err: fmt.Errorf("%s: the input is not complete: %s", c.undone, orUnknown(why)), Hint: "fix the errors of the program that wrote it, or the files that cannot be read",
		}
	}
	switch {
	case bad:
		return &app.Exit{Code: app.ExitInvalid, Err: errors.New(c.undone + ": not all entities are valid")}
	case s.Len() == 0 && !c.allowEmpty:
		hint := "the input contains no documents; check the previous program in the pipe"
		if len(paths) > 0 {
			hint = "the files contain no documents or were skipped; use --verbose to see why"
		}
		return &app.Exit{Code: app.ExitNothing, Err: errors.New(c.undone + ": no entities found"), Hint: hint}
	}
	return nil
}

func orUnknown(why string) string {
	if why == "" {
		return "no reason given"
	}
	return term.Safe(why)
}

// show reports the findings. In SARIF and JUnit they are the result, on standard
// output; in JSON only if they are fatal, because then there is no other result.
func (c *common) show(s *spool.Spool, bad bool) error {
	text := c.findingsFormat == "" || c.findingsFormat == report.Text || c.findingsFormat == report.JSON && !bad
	r := output.Report{Findings: slices.Clone(s.Findings()), Format: c.findingsFormat, Result: !text, Strict: c.strict}
	if text {
		r.Format = report.Text
	}
	if err := c.Report(r); err != nil {
		return output.Failure(err)
	}
	if more := s.Unkept(finding.Error) + s.Unkept(finding.Warning); more > 0 {
		c.Sayf("%s more", output.Count(more, "finding", "findings"))
	}
	return nil
}
