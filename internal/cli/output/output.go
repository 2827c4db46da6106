// Package output is how commands speak: what goes to standard error and how
// much of it, colour, findings, failures with their way out. Results go to
// standard output; everything else is said here.
package output

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/term"
	"example.dev/ingestor/sink/dir"
)

// Output is how one command speaks.
type Output struct {
	// Program is the command's name, which stands before its errors.
	Program string
	Env     *app.Env

	Quiet, Verbose, Debug, NoColor bool
}

// Bind makes the flags that say how much is said.
func (v *Output) Bind(f *pflag.FlagSet) {
	f.BoolVar(&v.Quiet, "quiet", false, "show only what fails the run")
	f.BoolVar(&v.Verbose, "verbose", false, "show details")
	f.BoolVar(&v.Debug, "debug", false, "show debug information")
	f.BoolVar(&v.NoColor, "no-color", false, "use no colour")
}

// Detailed reports whether details are wanted.
func (v *Output) Detailed() bool { return v.Verbose || v.Debug }

// Out is the style of standard output, Note that of standard error.
func (v *Output) Out() term.Style { return term.Style{Color: v.Env.StdoutTerminal && !v.plain()} }

// Note is the style of standard error.
func (v *Output) Note() term.Style { return term.Style{Color: v.Env.StderrTerminal && !v.plain()} }

func (v *Output) plain() bool { return v.NoColor || v.Env.Getenv("NO_COLOR") != "" }

// Sayf writes a line to standard error.
func (v *Output) Sayf(format string, args ...any) {
	fmt.Fprintf(v.Env.Stderr, format+"\n", args...)
}

// Progress returns a line that shows how far work has come, for somebody who
// is looking.
func (v *Output) Progress(verb, noun string) *term.Progress {
	return term.NewProgress(v.Env.Stderr, v.Env.StderrTerminal && !v.Quiet && !v.Debug, v.Env.Now, verb, noun)
}

// Logger returns where debug information goes; nil if nobody wants it.
func (v *Output) Logger() *slog.Logger {
	if !v.Debug {
		return nil
	}
	return slog.New(slog.NewTextHandler(v.Env.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// Complain shows an error, and the way out below it, which may have several
// lines.
func (v *Output) Complain(err error, hint string) {
	v.Sayf("%s: %s", v.Program, term.Safe(err.Error()))
	if hint == "" {
		return
	}
	for line := range strings.SplitSeq(term.SafeLines(hint), "\n") {
		v.Sayf("  %s", line)
	}
}

// Each returns the errors that err joins, those inside others included.
func Each(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, Each(e)...)
	}
	return all
}

// Failure returns what a run ends with that could not be finished.
func Failure(err error) error {
	// Whoever read the output has seen enough.
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	if e, ok := errors.AsType[*dir.Error](err); ok {
		return &app.Exit{Code: app.ExitFailed, Err: err, Hint: e.Hint}
	}
	return err
}
