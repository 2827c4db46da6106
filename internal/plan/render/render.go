// Package render runs Crossplane's own reconciler on values: one process of
// "crossplane internal render" for each rendering, which reads nothing from a cluster and
// writes nothing to one. Functions are called through proxies on the loopback interface
// that end with the session.
package render

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"
)

// Options configure a Renderer. All but Program have defaults.
type Options struct {
	// Program is the path or name of the program crossplane; required.
	Program string
	// Timeout is how long a session may take, default 30 seconds.
	Timeout time.Duration
	// Memory is the limit of a process in bytes, default 1 GiB. It is enforced on Linux, and
	// elsewhere only known to the process.
	Memory int64
	// Concurrency is how many sessions there are at once, each with one process at most,
	// default 4.
	Concurrency int
}

const (
	defaultTimeout     = 30 * time.Second
	defaultMemory      = 1 << 30
	defaultConcurrency = 4
	// mostOutput is the size limit of the response of a process, and mostAnswered that of
	// everything that functions answer in a session, in bytes.
	mostOutput   = 32 << 20
	mostAnswered = 16 << 20
	// queueFor is how long a session waits for others.
	queueFor = 5 * time.Second
	// killDelay is how long a process that was killed may keep its output open.
	killDelay = time.Second
	// fatalCode is the exit code for the fatal result of a function.
	fatalCode = 3
)

// Renderer starts processes. It is safe for concurrent use.
type Renderer struct {
	opts  Options
	slots chan struct{}
}

// New returns a Renderer.
func New(opts Options) *Renderer {
	opts.Timeout = cmp.Or(opts.Timeout, defaultTimeout)
	opts.Memory = cmp.Or(opts.Memory, defaultMemory)
	opts.Concurrency = cmp.Or(opts.Concurrency, defaultConcurrency)
	return &Renderer{opts: opts, slots: make(chan struct{}, opts.Concurrency)}
}

// Timeout returns how long a session may take.
func (r *Renderer) Timeout() time.Duration { return r.opts.Timeout }

// Session renders several times within one timeout, with the same functions. It is not
// safe for concurrent use.
type Session struct {
	of      *Renderer
	ctx     context.Context //nolint:containedctx // The session is the scope of its timeout and of its proxies.
	stop    context.CancelCauseFunc
	release context.CancelFunc
	proxies map[string]*proxy
	left    budget
	// sent counts what renderers send to functions.
	sent atomic.Int64
}

// Begin begins a session, which the caller must close. It waits if there are too many; the
// error is then an *Error.
func (r *Renderer) Begin(ctx context.Context) (*Session, error) {
	if err := r.enter(ctx); err != nil {
		return nil, err
	}
	ctx, release := context.WithTimeout(ctx, r.opts.Timeout)
	ctx, stop := context.WithCancelCause(ctx)
	s := &Session{of: r, ctx: ctx, stop: stop, release: release, proxies: map[string]*proxy{}}
	s.left.Store(mostAnswered)
	return s, nil
}

// Close ends the proxies, and waits for them.
func (s *Session) Close() {
	s.stop(context.Canceled)
	s.release()
	for _, p := range s.proxies {
		p.close()
	}
	<-s.of.slots
}

// Context returns the context of the session, which ends with its timeout.
func (s *Session) Context() context.Context { return s.ctx }

// Render renders a composite. The error is an *Error.
func (s *Session) Render(in Input) (*Output, error) {
	for _, f := range in.Functions {
		if s.proxies[f.Name] != nil {
			continue
		}
		p, err := listen(s, f)
		if err != nil {
			return nil, &Error{Reason: Failed, Err: fmt.Errorf("cannot listen on the loopback interface: %w", err)}
		}
		s.proxies[f.Name] = p
	}
	request, err := in.encode(func(name string) string { return s.proxies[name].address() })
	if err != nil {
		return nil, &Error{Reason: Failed, Err: fmt.Errorf("cannot encode the request of the renderer: %w", err)}
	}
	return s.run(request)
}

// enter waits for a slot.
func (r *Renderer) enter(ctx context.Context) error {
	busy := time.NewTimer(queueFor)
	defer busy.Stop()
	select {
	case r.slots <- struct{}{}:
		return nil
	case <-busy.C:
		return &Error{Reason: Busy, Err: errors.New("too many plans are made at once"), Hint: "try again in a few seconds"}
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run runs a process.
func (s *Session) run(request []byte) (*Output, error) {
	before := s.sent.Load()
	ctx, kill := context.WithCancel(s.ctx)
	defer kill()
	cmd := exec.CommandContext(ctx, s.of.opts.Program, "internal", "render", "--timeout="+s.of.opts.Timeout.String()) //nolint:gosec // The program is that of the configuration.
	stdout := &bounded{most: mostOutput, full: kill}
	stderr := &ends{}
	// The environment of the portal may have secrets, and proxies that would be used.
	cmd.Env = limits(s.of.opts.Memory)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = stdout, stderr, killDelay
	input, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, &Error{Reason: Program, Err: fmt.Errorf("cannot start %s: %w", s.of.opts.Program, err), Public: programPublic, Hint: programHint}
	}
	// The process has no work before it gets the request.
	if err := limit(cmd.Process.Pid, s.of.opts.Memory); err != nil {
		kill()
		_ = cmd.Wait()
		return nil, &Error{Reason: Failed, Err: fmt.Errorf("cannot limit the memory of the renderer: %w", err)}
	}
	// The error of a process that ended early is that of Wait.
	_, _ = input.Write(request)
	_ = input.Close()
	err = cmd.Wait()
	exit, _ := errors.AsType[*exec.ExitError](err)
	if err == nil || exit != nil && exit.ExitCode() == fatalCode && !stdout.over && s.ctx.Err() == nil {
		out, bad := decode(stdout.data.Bytes())
		if bad != nil {
			return nil, &Error{Reason: Program, Err: fmt.Errorf("cannot read the response of %s: %w", s.of.opts.Program, bad), Public: programPublic, Hint: programHint}
		}
		if err != nil {
			out.Fatal = fatalMessage(stderr.text())
		}
		return out, nil
	}
	return nil, s.explain(err, stdout.over, stderr.text(), before)
}

// bounded keeps what is written to it, up to a limit, and then calls full.
type bounded struct {
	data bytes.Buffer
	most int
	over bool
	full func()
}

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if b.data.Len()+len(p) > b.most {
		b.over = true
		b.full()
		return 0, errors.New("response is too large")
	}
	return b.data.Write(p)
}

// ends keeps the begin and the end of what is written to it: the begin of a crash of the Go
// runtime says why, and the last line of everything else.
type ends struct{ head, tail []byte }

// mostHead and mostTail are how much of the error output is kept, in bytes.
const (
	mostHead = 2 << 10
	mostTail = 8 << 10
)

// Write implements io.Writer.
func (e *ends) Write(p []byte) (int, error) {
	written := len(p)
	if room := mostHead - len(e.head); room > 0 {
		n := min(room, len(p))
		e.head, p = append(e.head, p[:n]...), p[n:]
	}
	e.tail = append(e.tail, p...)
	if extra := len(e.tail) - mostTail; extra > 0 {
		e.tail = append(e.tail[:0], e.tail[extra:]...)
	}
	return written, nil
}

func (e *ends) text() string { return string(e.head) + string(e.tail) }

var marshal = proto.MarshalOptions{Deterministic: true}
