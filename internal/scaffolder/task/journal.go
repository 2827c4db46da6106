package task

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"example.dev/ingestor/internal/scaffolder/mask"
	"example.dev/ingestor/internal/scaffolder/step"
	"example.dev/ingestor/internal/scaffolder/taskstore"
)

const (
	// flushAfter is how long an event waits to be written together with others, and
	// flushSoon how long the first one after a pause waits: a user may be watching.
	flushAfter = 50 * time.Millisecond
	flushSoon  = 10 * time.Millisecond
	// batch is how many bytes are written at once, and the most that are buffered.
	batch = 64 << 10
	// longest is the length limit of a message.
	longest = 64 << 10
	// mostLogged is the limit of what a task may log, in bytes.
	mostLogged = 64 << 20
	// writeWithin is the timeout of one attempt to write.
	writeWithin = 20 * time.Second
	longestWait = 2 * time.Second
)

// journal writes the events of a run. Events are batched for a short time, since each
// write is expensive; their order is kept. All methods may be called concurrently.
type journal struct {
	tasks *Tasks
	id    string
	run   int64
	mask  *mask.Mask
	// stopping ends with the process. After that, a write is attempted only once more.
	stopping context.Context
	// lost is called when another run has taken over the task.
	lost func()

	// writing is held during a write, so that the order is kept.
	writing sync.Mutex

	mu     sync.Mutex
	events []taskstore.TaskEvent
	size   int
	timer  *time.Timer
	closed bool
	// flushed is the time of the last write.
	flushed time.Time
	// logged is how many bytes all runs have logged.
	logged int64
}

// Log records an event of a step. It blocks while the buffer is full.
func (j *journal) Log(e step.Event) {
	full := j.note(e)
	if full {
		// If the write fails, the commit at the end of the step reports it.
		_ = j.commit(taskstore.TaskChange{})
	}
}

// note buffers an event for the next write, and reports whether the buffer is full.
func (j *journal) note(e step.Event) (full bool) {
	e.Message = cut(j.mask.Text(e.Message))
	made := taskstore.TaskEvent{Type: taskstore.EventLog, Body: body(e), Created: j.tasks.opts.Now()}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return false
	}
	if e.Status == "" && j.logged > mostLogged {
		return false
	}
	before := j.logged
	j.logged += int64(len(made.Body))
	if e.Status == "" && before <= mostLogged && j.logged > mostLogged {
		e.Message = fmt.Sprintf("The rest of the log is dropped: the task has written more than %d MiB", mostLogged>>20)
		made.Body = body(e)
	}
	j.events = append(j.events, made)
	j.size += len(made.Body)
	if j.timer == nil {
		after := max(flushSoon, flushAfter-j.tasks.opts.Now().Sub(j.flushed))
		j.timer = time.AfterFunc(after, func() { _ = j.commit(taskstore.TaskChange{}) })
	}
	return j.size >= batch
}

// total returns how many bytes all runs have logged.
func (j *journal) total() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.logged
}

// commit writes the buffered events, followed by c, in one transaction. It retries
// while the database is unavailable. The error is ErrTaskLost if another run has
// taken over the task.
func (j *journal) commit(c taskstore.TaskChange) error {
	j.writing.Lock()
	defer j.writing.Unlock()
	j.mu.Lock()
	if j.timer != nil {
		j.timer.Stop()
		j.timer = nil
	}
	c.Events = append(j.events, c.Events...)
	closed := j.closed
	j.events, j.size = nil, 0
	j.closed = j.closed || c.Status != ""
	j.flushed = j.tasks.opts.Now()
	j.mu.Unlock()
	if closed {
		return taskstore.ErrTaskLost
	}
	if len(c.Events) == 0 && c.State == nil && c.Status == "" {
		return nil
	}
	err := j.write(c)
	if err != nil {
		j.close()
	}
	if errors.Is(err, taskstore.ErrTaskLost) {
		j.lost()
	}
	if err == nil && len(c.Events) > 0 {
		j.tasks.hub.wake(j.id)
	}
	return err
}

// write retries until it succeeds or the process stops.
func (j *journal) write(c taskstore.TaskChange) error {
	const first = 20 * time.Millisecond
	for pause := first; ; pause = min(2*pause, longestWait) {
		stopping := j.stopping.Err() != nil
		once, cancel := context.WithTimeout(context.WithoutCancel(j.stopping), writeWithin)
		_, err := j.tasks.opts.Store.WriteTask(once, j.id, j.run, c)
		cancel()
		if err == nil || errors.Is(err, taskstore.ErrTaskLost) || stopping {
			return err
		}
		if pause == first {
			j.tasks.log.Warn("task write failed, retrying", "task", j.id, "error", err)
		}
		wait(j.stopping, pause)
	}
}

// close drops the buffered events and all later ones.
func (j *journal) close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed, j.events, j.size = true, nil, 0
	if j.timer != nil {
		j.timer.Stop()
		j.timer = nil
	}
}

// wait waits for a duration, or until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// cut truncates a message that is too long.
func cut(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= longest {
		return s
	}
	end := longest
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return fmt.Sprintf("%s… (%d more bytes omitted)", s[:end], len(s)-end)
}

// field is an additional field of an event's body.
type field struct {
	key   string
	value json.RawMessage
}

// body returns the body of an event, as clients see it.
func body(e step.Event, more ...field) []byte {
	all := []field{{"message", quote(e.Message)}}
	if e.Step != "" {
		all = append(all, field{"stepId", quote(e.Step)})
	}
	if e.Status != "" {
		all = append(all, field{"status", quote(e.Status)})
	}
	return object(append(all, more...))
}

// object returns a JSON object with the fields in the given order.
func object(fields []field) []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range fields {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(quote(f.key))
		b.WriteByte(':')
		b.Write(f.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// quote encodes a string as JSON the way JavaScript does.
func quote(s string) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return json.RawMessage(`""`)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
