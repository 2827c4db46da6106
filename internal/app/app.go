// Package app gives access to the process: its arguments, environment, streams,
// clock, signals and exit codes. No other package uses them directly.
package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"
)

// A release sets these with the linker.
var (
	// Version is the version of the build.
	Version = ""
	// Commit is the commit that it was built from, and Date the day of the commit.
	Commit = ""
	Date   = ""
)

// BuildText returns version, commit and date, as --version prints them: "v1.2.3 (commit
// 0123456789ab, 2026-01-31)". Commit and date are left out if they are unknown.
func BuildText() string {
	commit, date := Commit, Date
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision" && commit == "":
				commit = s.Value
			case s.Key == "vcs.time" && date == "":
				date, _, _ = strings.Cut(s.Value, "T")
			}
		}
	}
	if commit == "" {
		return BuildVersion()
	}
	text := BuildVersion() + " (commit " + commit[:min(12, len(commit))]
	if date != "" {
		text += ", " + date
	}
	return text + ")"
}

// BuildVersion returns the version of the build, or "unknown".
func BuildVersion() string {
	if Version != "" {
		return Version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

// Identity returns an identifier that is unique to this build of the program: a
// hash of the executable.
func Identity() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("cannot identify this build: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("cannot identify this build: %w", err)
	}
	defer func() { _ = f.Close() }() // It was only read.
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("cannot identify this build: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}

// Exit codes, the same for all programs.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitInvalid     = 2
	ExitNothing     = 3
	ExitUsage       = 4
	ExitUnreachable = 5
)

// Env is everything that a program takes from its process.
type Env struct {
	Args   []string
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// Getenv returns an environment variable, "" if it is not set.
	Getenv func(string) string
	Now    func() time.Time
	// StdoutTerminal and StderrTerminal report whether the streams are terminals.
	StdoutTerminal, StderrTerminal bool
}

// Program is the body of a command: it returns an error that Main prints, or nil.
// An *Exit sets the exit code.
type Program func(ctx context.Context, env *Env) error

// Exit is an error with an exit code and a hint.
type Exit struct {
	Code int
	// Err is printed after the program's name; nil prints nothing, for programs that
	// have already printed the error.
	Err error
	// Hint, if not empty, is printed on the next line.
	Hint string
}

// Error returns the message.
func (e *Exit) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns the cause.
func (e *Exit) Unwrap() error { return e.Err }

// Main runs a program in this process and exits.
func Main(name string, run Program) {
	if os.Getenv("GOGC") == "" {
		// Trade memory for fewer collections: a command runs for a second, and what a
		// server's ingestion reads is short-lived.
		debug.SetGCPercent(200)
	}
	withoutLimits()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	env := &Env{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, Now: time.Now,
		StdoutTerminal: isTerminal(os.Stdout), StderrTerminal: isTerminal(os.Stderr),
	}
	code := Run(ctx, name, env, run)
	stop()
	os.Exit(code)
}

// Run runs a program in env, prints its error, and returns the exit code. A panic
// is printed as a bug with a stack trace, and fails the run.
func Run(ctx context.Context, name string, env *Env, run Program) (code int) {
	defer func() {
		if r := recover(); r != nil {
			_, _ = fmt.Fprintf(env.Stderr, "%s: internal error: %v\nThis is a bug. Nothing more was written.\n%s", name, r, debug.Stack())
			code = ExitFailed
		}
	}()
	err := run(ctx, env)
	if err == nil {
		return ExitOK
	}
	code = ExitFailed
	hint := ""
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		_, _ = fmt.Fprintf(env.Stderr, "%s: interrupted\n", name)
		return code
	}
	if e, ok := errors.AsType[*Exit](err); ok {
		code, hint = e.Code, e.Hint
		if e.Err == nil {
			return code
		}
	}
	_, _ = fmt.Fprintf(env.Stderr, "%s: %v\n", name, err)
	if hint != "" {
		_, _ = fmt.Fprintf(env.Stderr, "  %s\n", hint)
	}
	return code
}

func isTerminal(f *os.File) bool {
	return term.IsTerminal(int(f.Fd()))
}
