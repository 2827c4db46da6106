// Package app is the process: its arguments, environment, streams, clock,
// signals and exit codes. Nothing else in the repository touches them.
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
	"syscall"
	"time"

	"golang.org/x/term"
)

// Version is the version of the build, set by the linker.
var Version = ""

// BuildVersion returns the version of the build, as far as it is known.
func BuildVersion() string {
	if Version != "" {
		return Version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

// Identity returns a name for this build of the program, which another build does
// not have: a hash of the executable.
func Identity() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("cannot tell this build from others: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("cannot tell this build from others: %w", err)
	}
	defer func() { _ = f.Close() }() // It was only read.
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("cannot tell this build from others: %w", err)
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

// Env is everything a program takes from the process it runs in.
type Env struct {
	Args   []string
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// Getenv returns an environment variable, "" if it is not set.
	Getenv func(string) string
	Now    func() time.Time
	// StdoutTerminal and StderrTerminal tell whether somebody is looking.
	StdoutTerminal, StderrTerminal bool
}

// Program is the body of a command: it returns an error that Main shows, or
// nil. An *Exit chooses the exit code.
type Program func(ctx context.Context, env *Env) error

// Exit is an error with an exit code and a way out.
type Exit struct {
	Code int
	// Err is shown after the program's name; nil shows nothing, for programs
	// that have said all there is to say.
	Err error
	// Hint, if not empty, is shown on the next line.
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

// Main runs a program in this process and ends it.
func Main(name string, run Program) {
	if os.Getenv("GOGC") == "" {
		// Some memory for less collecting: a command lives for a second, and what
		// a server's ingestion reads lives for a moment.
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

// Run runs a program in env, shows its error, and returns the exit code. A
// panic is shown as a bug with a stack, never as a success.
func Run(ctx context.Context, name string, env *Env, run Program) (code int) {
	defer func() {
		if r := recover(); r != nil {
			_, _ = fmt.Fprintf(env.Stderr, "%s: internal error: %v\nThis is a bug; nothing more was written.\n%s", name, r, debug.Stack())
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
