// Package output prints what commands write to standard error: messages, findings,
// and errors with hints, with verbosity and colour. Results go to standard output.
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
	"example.dev/ingestor/source/file"
)

// Output is the terminal output of one command.
type Output struct {
	// Program is the command's name, the prefix of its errors.
	Program string
	Env     *app.Env

	Quiet, Verbose, Debug, NoColor bool
}

// Bind defines the flags for verbosity and colour.
func (v *Output) Bind(f *pflag.FlagSet) {
	f.BoolVar(&v.Quiet, "quiet", false, "show only what fails the run")
	v.BindVerbose(f)
	f.BoolVar(&v.Debug, "debug", false, "show debug information")
	f.BoolVar(&v.NoColor, "no-color", false, "disable colour")
}

// BindVerbose defines the flag --verbose, and -v unless the program has another flag of that
// short form.
func (v *Output) BindVerbose(f *pflag.FlagSet) {
	short := "v"
	if f.ShorthandLookup(short) != nil {
		short = ""
	}
	f.BoolVarP(&v.Verbose, "verbose", short, false, "show details: what is read and why, what is skipped")
}

// Detailed reports whether details are printed.
func (v *Output) Detailed() bool { return v.Verbose || v.Debug }

// Reading prints, with --verbose, what is read and why.
func (v *Output) Reading(what, why string) {
	if v.Detailed() {
		v.Sayf("reading %s: %s", term.Safe(what), why)
	}
}

// ReadingFiles prints, with --verbose, which files are read and why; - is standard input.
func (v *Output) ReadingFiles(paths []string, why string) {
	for _, path := range paths {
		if path == file.Stdin {
			path = file.StdinName
		}
		v.Reading(path, why)
	}
}

// Reasons why files are read.
const (
	// Named is the reason for files that are arguments.
	Named = "named on the command line"
	// NamedConfig is the reason for configuration files that --config names.
	NamedConfig = "configuration, named by --config"
	// Unnamed is the reason for standard input if no file is named.
	Unnamed = "no file is named"
)

// Out returns the style of standard output.
func (v *Output) Out() term.Style { return term.Style{Color: v.Env.StdoutTerminal && !v.plain()} }

// Note returns the style of standard error.
func (v *Output) Note() term.Style { return term.Style{Color: v.Env.StderrTerminal && !v.plain()} }

func (v *Output) plain() bool { return v.NoColor || v.Env.Getenv("NO_COLOR") != "" }

// Sayf writes a line to standard error.
func (v *Output) Sayf(format string, args ...any) {
	fmt.Fprintf(v.Env.Stderr, format+"\n", args...)
}

// Progress returns a progress line, which is shown only on a terminal.
func (v *Output) Progress(verb, noun string) *term.Progress {
	return term.NewProgress(v.Env.Stderr, v.Env.StderrTerminal && !v.Quiet && !v.Debug, v.Env.Now, verb, noun)
}

// Logger returns the logger for debug information; nil without --debug.
func (v *Output) Logger() *slog.Logger {
	if !v.Debug {
		return nil
	}
	return slog.New(slog.NewTextHandler(v.Env.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// Complain prints an error, and below it the hint, which may have several lines.
func (v *Output) Complain(err error, hint string) {
	v.Sayf("%s: %s", v.Program, term.Safe(err.Error()))
	if hint == "" {
		return
	}
	for line := range strings.SplitSeq(term.SafeLines(hint), "\n") {
		v.Sayf("  %s", line)
	}
}

// Each returns the errors that err joins, including nested ones.
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

// Failure returns the exit error of a run that could not be completed.
func Failure(err error) error {
	// The reader of the output closed the pipe, which is not an error.
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	if e, ok := errors.AsType[*dir.Error](err); ok {
		return &app.Exit{Code: app.ExitFailed, Err: err, Hint: e.Hint}
	}
	return err
}
