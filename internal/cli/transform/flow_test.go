package transform

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/test/size"
	"example.dev/ingestor/xrd"
)

// numbered returns n definitions that are named by their number.
func numbered(n int, out *atomic.Int64) func(context.Context, func(xrd.Found) bool) error {
	return func(_ context.Context, take func(xrd.Found) bool) error {
		for i := range n {
			out.Add(1)
			d := &xrd.Definition{}
			d.Name = fmt.Sprint(i)
			if !take(xrd.Found{Definition: d}) {
				break
			}
		}
		return errors.New("the end")
	}
}

// TestFlow checks that records stay in order, however long each takes, and that
// few of them are in memory.
func TestFlow(t *testing.T) {
	var read atomic.Int64
	most, next := int64(0), 0
	unread, err := flow(t.Context(), numbered(500, &read), func(_ context.Context, f xrd.Found) made {
		if f.Definition.Name[len(f.Definition.Name)-1] == '7' {
			time.Sleep(time.Millisecond)
		}
		return made{text: []byte(f.Definition.Name)}
	}, func(s *step, _ bool) error {
		if got, want := string(s.made.text), fmt.Sprint(next); got != want {
			t.Fatalf("record is %s, want %s", got, want)
		}
		next++
		most = max(most, read.Load()-int64(next))
		return nil
	})
	if err != nil || unread == nil || unread.Error() != "the end" || next != 500 {
		t.Errorf("%d records were written, read returned %v, error %v", next, unread, err)
	}
	if bound := int64(4*runtime.GOMAXPROCS(0) + 4); most > bound {
		t.Errorf("%d records are in memory, want at most %d", most, bound)
	}
}

// TestFlowEnds checks that a failing output and a cancelled context end the
// flow, and that a panic is passed on.
func TestFlowEnds(t *testing.T) {
	var read atomic.Int64
	nothing := func(context.Context, xrd.Found) made { return made{} }
	if _, err := flow(t.Context(), numbered(100_000, &read), nothing, func(*step, bool) error { return io.ErrShortWrite }); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("error is %v, want that of the output", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stuck := func(context.Context, func(xrd.Found) bool) error { stop(); select {} }
	if _, err := flow(ctx, stuck, nothing, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want that of the context", err)
	}
	for name, parts := range map[string]struct {
		read func(context.Context, func(xrd.Found) bool) error
		work func(context.Context, xrd.Found) made
	}{
		"Read": {func(context.Context, func(xrd.Found) bool) error { panic("a bug") }, nothing},
		"Work": {numbered(3, &read), func(context.Context, xrd.Found) made { panic("a bug") }},
	} {
		func() {
			defer func() {
				if p := recover(); p == nil || !strings.HasPrefix(fmt.Sprint(p), "a bug\n") {
					t.Errorf("%s: panic is %v, want that of the bug", name, p)
				}
			}()
			_, _ = flow(t.Context(), parts.read, parts.work, func(*step, bool) error { return nil })
		}()
	}
}

// TestFilesTwice checks that a file of one record is not overwritten by another.
func TestFilesTwice(t *testing.T) {
	out := newFiles(t.TempDir(), 0, nil)
	d := &xrd.Definition{}
	d.Name = "as.example.org"
	for i, want := range []bool{false, true} {
		s := samplesStep(t, d)
		got, err := out.write(t.Context(), s, false)
		if err != nil || (got != nil) != want {
			t.Errorf("write %d returned %v, %v; want it refused: %v", i, got, err, want)
		}
		if got != nil && got.Severity != finding.Error {
			t.Errorf("severity is %v, want error", got.Severity)
		}
	}
	if err := out.end(t.Context(), ""); err != nil {
		t.Error(err)
	}
}

func samplesStep(t *testing.T, d *xrd.Definition) *step {
	t.Helper()
	s := samples()[0]
	o := &rendering{values: tree.Obj()}
	m, err := o.open(&output.Output{})
	if err != nil {
		t.Fatal(err)
	}
	made := m.make(t.Context(), s.found)
	if len(made.entities) == 0 {
		t.Fatalf("sample %q has no entities: %v", s.name, made.findings)
	}
	return &step{found: xrd.Found{Definition: d}, made: made}
}

// records is a stream of n records that are generated while reading.
type records struct {
	n    int
	rest []byte
	seen func(n int)
}

func (r *records) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		if r.n == 0 {
			return 0, io.EOF
		}
		r.seen(r.n)
		r.rest = []byte(record(fmt.Sprintf("a%d", r.n)))
		r.n--
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// lines counts lines.
type lines struct{ n int }

func (l *lines) Write(p []byte) (int, error) {
	l.n += strings.Count(string(p), "\n")
	return len(p), nil
}

// TestStream pipes many records through the command, and checks that memory use
// is constant.
func TestStream(t *testing.T) {
	many := size.Of(5_000, 20_000)
	if testing.Short() {
		many = 2_000
	}
	dir := t.TempDir()
	place(t, filepath.Join(dir, "portal", "default.eta"), small)
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var early, late uint64
	in := &records{n: many, seen: func(left int) {
		switch left {
		case many * 9 / 10:
			early = heap()
		case many / 100:
			late = heap()
		}
	}}
	out := &lines{}
	c := &call{stdin: in, stdout: out}
	if code := c.run(t.Context(), "--format", "ndjson", "--quiet", "--templates", dir); code != app.ExitOK {
		t.Fatalf("exit code is %d: %s", code, c.stderr.String())
	}
	if out.n != many {
		t.Errorf("%d entities were written, want %d", out.n, many)
	}
	if late > early+4<<20 {
		t.Errorf("%d bytes are in use near the end, %d near the beginning: memory grows with the input", late, early)
	}
}
