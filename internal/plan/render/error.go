package render

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
)

// Reason is the kind of failure of an Error.
type Reason string

// Reasons of failures.
const (
	// Program means that the program is missing, or is not a Crossplane that renders.
	Program Reason = "program"
	// Busy means that too many plans are made at once.
	Busy Reason = "busy"
	// Timeout means that rendering took too long, and no function is known to be the cause.
	Timeout Reason = "timeout"
	// Memory means that the process reached its memory limit.
	Memory Reason = "memory"
	// Failed means that the reconciler returned an error.
	Failed Reason = "failed"

	// Unreachable means that no connection to a function could be made.
	Unreachable Reason = "function unreachable"
	// Hung means that a function did not answer in time.
	Hung Reason = "function hung"
	// Crashed means that a function closed its connection before it answered.
	Crashed Reason = "function crashed"
	// TooMuch means that functions answered too much.
	TooMuch Reason = "function answered too much"
)

// Error is a failure of a rendering.
type Error struct {
	Reason Reason
	// Function is the function that is the cause; empty if none is.
	Function string
	Err      error
	// Public is the cause without addresses and paths; empty if Err has none.
	Public string
	// Hint says how to solve the problem.
	Hint string
}

// Error returns the cause.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// programPublic is the cause of failures of the program, without its path.
const programPublic = "the program crossplane of the portal cannot render"

const (
	programHint     = "install the program crossplane of Crossplane 2.4 or later, the one of its image, and set plan.program to its path"
	unreachableHint = "check that the pod of the function runs and that it can be reached from here, or set its endpoint in plan.functions"
	hungHint        = "check the log of the function, or set a longer plan.timeout"
	timeoutHint     = "set a longer plan.timeout"
	failedHint      = "correct the Composition; the log of the function may say more"
	killedHint      = "give the portal the memory of plan.memory times plan.concurrency in addition to its own, or lower them"
	lostHint        = "check the log of the function; if it requires TLS, set plan.functions[].tls"
	crashedHint     = "check the log of the function"
	tooMuchHint     = "check what the function composes for this composite"
	memoryHint      = "set a higher plan.memory, or compose fewer objects"
)

// Err returns why the session has ended.
func (s *Session) Err() error { return s.ended("") }

// ended returns the error of a session that has ended while a function was called.
func (s *Session) ended(function string) error {
	if e, ok := errors.AsType[*Error](context.Cause(s.ctx)); ok {
		return e
	}
	if !errors.Is(s.ctx.Err(), context.DeadlineExceeded) {
		return s.ctx.Err()
	}
	if function != "" {
		return &Error{Reason: Hung, Function: function, Err: fmt.Errorf("function %s did not answer within %v", function, s.of.opts.Timeout), Hint: hungHint}
	}
	return &Error{Reason: Timeout, Err: fmt.Errorf("the plan took longer than %v", s.of.opts.Timeout), Hint: timeoutHint}
}

// called returns the function that a renderer called last; empty if it called none. The
// steps of a pipeline run one after another, so it is the one that the renderer waits for.
// before is how much had been sent to functions when the renderer started.
func (s *Session) called(before int64) string {
	name, last := "", before
	for _, p := range s.proxies {
		if asked := p.asked.Load(); asked > last {
			name, last = p.function.Name, asked
		}
	}
	return name
}

// explain returns the error for a process that failed.
func (s *Session) explain(err error, over bool, stderr string, before int64) error {
	text := s.mask(stderr)
	exit, exited := errors.AsType[*exec.ExitError](err)
	switch {
	case over:
		return &Error{Reason: TooMuch, Err: fmt.Errorf("the rendered objects have more than %d MiB", mostOutput>>20), Hint: tooMuchHint}
	case s.ctx.Err() != nil:
		return s.ended(s.called(before))
	case outOfMemory(stderr):
		return &Error{Reason: Memory, Err: fmt.Errorf("rendering needs more than %d MiB of memory", s.of.opts.Memory>>20), Hint: memoryHint}
	case strings.Contains(stderr, "ResourceExhausted") && strings.Contains(stderr, "larger than max"):
		name := s.called(before)
		return &Error{Reason: TooMuch, Function: name, Err: fmt.Errorf("function %s answered more than Crossplane accepts: %s", name, text), Hint: tooMuchHint}
	case exited && stderr == "" && killed(exit.ProcessState):
		return &Error{Reason: Memory, Err: errors.New("the process of the renderer was killed, probably because the machine has too little memory"), Hint: killedHint}
	case !strings.Contains(stderr, renderError) && (wrongProgram.MatchString(stderr) || !strings.Contains(stderr, kongError) && !strings.Contains(stderr, "panic:")):
		return &Error{Reason: Program, Err: fmt.Errorf("%s cannot render: %s", s.of.opts.Program, text), Public: programPublic, Hint: programHint}
	}
	for name, p := range s.proxies {
		if p.lost.Load() > 0 {
			return &Error{Reason: Crashed, Function: name, Err: fmt.Errorf("function %s closed the connection before it answered: %s", name, text), Hint: crashedHint}
		}
	}
	if exited && text == "" {
		text = exit.String()
	}
	if text == "" {
		text = err.Error()
	}
	return &Error{Reason: Failed, Err: errors.New(text), Hint: failedHint}
}

// wrongProgram matches what programs say that do not know the command.
var wrongProgram = regexp.MustCompile(`(?i)unexpected argument internal|unexpected argument render|unknown (sub)?command|unknown flag --timeout|flag provided but not defined|usage:`)

// noMemory matches what the Go runtime of the process says if it cannot get memory.
var noMemory = regexp.MustCompile(`(?m)^fatal error: .*(out of memory|cannot allocate memory)`)

// outOfMemory reports whether the process could not get memory. What a function says is in
// the message of the command-line parser.
func outOfMemory(stderr string) bool {
	return !strings.Contains(stderr, kongError) && noMemory.MatchString(stderr)
}

// keys matches private keys and credentials, which no message of the renderer should
// have.
var keys = regexp.MustCompile(`(?s)-----BEGIN [A-Z ]+-----.*?(-----END [A-Z ]+-----|$)|(?i)(bearer|basic) +[a-z0-9._~+/=-]{8,}`)

// mostText limits an error in bytes.
const mostText = 2000

// mask returns the last line of an error output, without addresses of proxies and
// credentials.
func (s *Session) mask(stderr string) string {
	text := lastLine(stderr)
	for name, p := range s.proxies {
		text = strings.ReplaceAll(text, p.address(), name)
	}
	text = keys.ReplaceAllString(text, "********")
	if len(text) > mostText {
		text = strings.ToValidUTF8(text[:mostText], "") + "…"
	}
	return text
}

// kongError precedes the message of Crossplane's command-line parser, and renderError the
// one of its reconciler, which may have the text of a function.
const (
	kongError   = ": error: "
	renderError = kongError + "cannot render composite resource: "
)

// lastLine returns the message of the command-line parser, or the last line.
func lastLine(stderr string) string {
	if _, after, ok := strings.Cut(stderr, kongError); ok {
		return strings.TrimSpace(after)
	}
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// fatalMessage returns the message of a fatal result.
func fatalMessage(stderr string) string {
	text := keys.ReplaceAllString(lastLine(stderr), "********")
	text = strings.TrimPrefix(text, "cannot render composite resource: ")
	return strings.TrimPrefix(text, "cannot compose resources: ")
}
