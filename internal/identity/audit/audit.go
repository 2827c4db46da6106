// Package audit writes the audit log: one line of JSON for each sign-in, refused
// permission, catalog write, task, cluster write and Git push. It records who did
// what to which target, and the result, but never the values.
//
// Record writes before it returns. A line that cannot be written is lost: it is
// counted and logged, and the request continues, because a full disk must not stop
// the portal. Reads are not recorded, so that they do not wait for the log.
package audit

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/identity/auth"
	"example.dev/ingestor/internal/rest"
)

// Result is the result of an operation.
type Result string

// Results of operations.
const (
	Success Result = "success"
	// Failure is an operation that was allowed and could not be carried out.
	Failure Result = "failure"
	// Denied is an operation that the actor may not do.
	Denied Result = "denied"
)

// Actor is the caller who caused an event.
type Actor struct {
	// Kind is guest, user, service, or anonymous for a caller without a valid
	// token.
	Kind    string `json:"kind"`
	Subject string `json:"subject,omitempty"`
	// Via is the name of the Backstage through which the caller came.
	Via string `json:"via,omitempty"`
}

// anonymous is the kind of callers without a valid token.
const anonymous = "anonymous"

// ActorOf returns a caller as an actor.
func ActorOf(c auth.Caller) Actor {
	if c.Kind == auth.Anonymous {
		return Actor{Kind: anonymous}
	}
	return Actor{Kind: c.Kind.String(), Subject: c.Subject, Via: c.Via}
}

// Event is an event to record. Its texts are truncated, and every character that
// could be taken for the end of a line is escaped.
type Event struct {
	// Name is one of the constants.
	Name   string
	Result Result
	// Actor is who caused the event; nil means the caller of the context.
	Actor *Actor
	// Target is what was acted on, by type: entity, provider, task. Empty values are
	// left out. Form values and contents of entities must not be in it, nor in Reason.
	Target map[string]string
	// Counts are numbers, such as how many entities were added.
	Counts map[string]int
	// Reason says why the operation did not succeed.
	Reason string
}

// Options configure New. Now is required, and Stdout if the log is written there.
type Options struct {
	Config config.Audit
	Stdout io.Writer
	Now    func() time.Time
	// Log receives write failures; nil discards them.
	Log *slog.Logger
	// Registry receives the metrics, unless it is nil.
	Registry prometheus.Registerer
}

// Log is the audit log. A nil Log records nothing. All methods may be called
// concurrently.
type Log struct {
	now     func() time.Time
	log     *slog.Logger
	out     *output
	flood   *flood
	metrics *metrics
}

// New returns the configured log, nil if there is none. The error is an *OpenError.
func New(opts Options) (*Log, error) {
	l := &Log{now: opts.Now, log: opts.Log}
	if l.log == nil {
		l.log = slog.New(slog.DiscardHandler)
	}
	switch opts.Config.To {
	case config.AuditFile:
		out, err := openFile(opts.Config.File, opts.Now())
		if err != nil {
			return nil, err
		}
		l.out = out
	case config.AuditStdout:
		if opts.Stdout == nil {
			return nil, &OpenError{Path: config.AuditStdout, Err: errors.New("the program has no standard output"), Hint: "set audit.to: " + config.AuditFile}
		}
		l.out = &output{to: opts.Stdout}
	default:
		return nil, nil
	}
	l.metrics = newMetrics(opts.Registry)
	l.flood = &flood{suppressed: l.suppressed}
	return l, nil
}

// Close writes pending lines and closes the file.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	l.flood.flush()
	return l.out.close()
}

// Record writes an event. The request id and the client address are those of the
// context.
func (l *Log) Record(ctx context.Context, e Event) {
	if l == nil {
		return
	}
	line := lineOf(e)
	line.Client, line.RequestID = rest.Client(ctx), rest.RequestID(ctx)
	if e.Actor == nil {
		line.Actor = ActorOf(auth.From(ctx)).bounded()
	}
	if line.limited() && !l.flood.admit(floodKey{e.Name, line.Result, line.Actor, network(line.Client)}) {
		l.metrics.dropped(e.Name)
		return
	}
	l.write(line)
}

// Done records an event with the result that corresponds to err. A refused permission
// is not recorded, because the policy has already recorded it.
func (l *Log) Done(ctx context.Context, e Event, err error) {
	if l == nil || err != nil && rest.FaultOf(err).Status == http.StatusForbidden {
		return
	}
	e.Result = Success
	if err != nil {
		e.Result, e.Reason = Failure, Reason(err)
	}
	l.Record(ctx, e)
}

// Reason returns why a request failed without quoting the request: a problem with its
// body is reduced to the kind of the error.
func Reason(err error) string {
	switch f := rest.FaultOf(err); f.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusServiceUnavailable:
		return f.Message
	default:
		return f.Name
	}
}

// suppressed records how many events of a kind were not written.
func (l *Log) suppressed(k floodKey, n int) {
	line := lineOf(Event{
		Name: Suppressed, Result: k.result, Actor: &k.actor,
		Target: map[string]string{"event": k.event}, Counts: map[string]int{"suppressed": n},
	})
	line.Client = k.client
	l.write(line)
}

// write writes a line. A failure is logged once, until a write succeeds again.
func (l *Log) write(line line) {
	now := l.now()
	line.Time = now.UTC().Format(timeFormat)
	failure, recovered := l.out.write(line.encode(), now)
	if failure != nil {
		l.metrics.failed()
		if failure.first {
			l.log.Error("audit log write failed", "error", failure.err)
		}
		return
	}
	if recovered > 0 {
		l.log.Info("audit log write resumed", "lost", recovered)
	}
	l.metrics.wrote(line.Event, line.Result)
}
