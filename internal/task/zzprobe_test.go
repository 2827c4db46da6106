package task

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.dev/ingestor/action"
	"example.dev/ingestor/internal/task/mask"
	"example.dev/ingestor/internal/secret"
	"example.dev/ingestor/tree"
)

func peak(do func()) (uint64, time.Duration) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	base := m.HeapAlloc
	var max atomic.Uint64
	done := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				if m.HeapAlloc > max.Load() {
					max.Store(m.HeapAlloc)
				}
			}
		}
	}()
	t := time.Now()
	do()
	took := time.Since(t)
	close(done)
	<-stopped
	if max.Load() < base {
		return 0, took
	}
	return (max.Load() - base) >> 20, took
}

func TestProbeEach(t *testing.T) {
	w := open(t, onSQLite(t), Options{Actions: dryActions()})
	data := `{"l":[` + strings.Repeat("0,", 1_000_000) + `0]}`
	var vals *tree.Node
	mb, took := peak(func() { vals, _ = tree.Wire{}.Decode([]byte(data)) })
	t.Logf("decode of %d MB takes %d MB, %s", len(data)>>20, mb, took)
	o := order(t, `{steps: [{id: a, action: test:say, each: "${{ parameters.l }}", if: false, input: {text: x}}]}`, `{}`)
	o.Values = vals
	mb, took = peak(func() {
		_, err := w.tasks.DryRun(t.Context(), DryOrder{Order: o})
		t.Log(err)
	})
	t.Logf("dry run takes %d MB, %s", mb, took)
}

func TestProbePages(t *testing.T) {
	w := open(t, onSQLite(t), Options{Actions: dryActions()})
	page := `{properties: {a: {allOf: [` + strings.Repeat(`{pattern: "^(?=(a+)+$)(a+)+$X"},`, 3) + `{}]}}}`
	o := order(t, `{steps: [], parameters: [`+strings.Repeat(page+",", 6)+page+`]}`, `{a: `+strings.Repeat("a", 60)+`!}`)
	start := time.Now()
	ctx, c := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer c()
	_, err := w.tasks.DryRun(ctx, DryOrder{Order: o})
	t.Logf("%v after %s", err, time.Since(start))
}

func TestProbeRetryLeak(t *testing.T) {
	at := onSQLite(t)
	fail := true
	w := start(t, at, Options{Key: key, Actions: []action.Action{say(), does("test:fail", func(context.Context, *action.Call) error {
		if fail {
			fail = false
			return errors.New("no")
		}
		return nil
	})}})
	o := order(t, `{steps: [{id: a, action: test:say, input: {text: "${{ secrets.token }}"}}, {id: f, action: test:fail}, {id: b, action: test:say, input: {text: "got ${{ steps.a.output.said }}"}}]}`, `{}`)
	o.Secrets = hunter
	id := w.create(o)
	w.over(id)
	ok, err := w.tasks.Retry(t.Context(), id, nil)
	t.Log(ok, err)
	w.over(id)
	w.eventually("x", func() bool { return w.over(id).Status == "completed" })
	for _, e := range w.events(id) {
		t.Log(e)
	}
}

func TestProbeSave(t *testing.T) {
	at := onSQLite(t)
	var n atomic.Int32
	w := start(t, at, Options{Key: key, Actions: []action.Action{say(), does("test:rm", func(context.Context, *action.Call) error {
		n.Add(1)
		all, _ := filepath.Glob(filepath.Join(at.dir, "work", "process-*", "*"))
		for _, a := range all {
			os.RemoveAll(a)
		}
		return nil
	})}})
	id := w.create(order(t, `{steps: [{id: a, action: test:rm}, {id: b, action: test:say, input: {text: x}}]}`, `{}`))
	time.Sleep(8 * time.Second)
	got, _ := w.store.Task(t.Context(), id)
	t.Log(got.Status, n.Load())
	for _, e := range w.events(id) {
		t.Log(e)
	}
	t.Log(w.log.text())
}

func TestProbeMask(t *testing.T) {
	m := mask.New(map[string]secret.Text{"a": "aaa"})
	s := strings.Repeat("a", 16<<20)
	mb, took := peak(func() { m.Text(s) })
	t.Logf("%d MB %s", mb, took)
	many := map[string]secret.Text{}
	for i := range 200_000 {
		many[fmt.Sprint(i)] = secret.Text(fmt.Sprintf("secret-%d", i))
	}
	var mm *mask.Mask
	mb, took = peak(func() { mm = mask.New(many) })
	t.Logf("new: %d MB %s", mb, took)
	s = strings.Repeat("hello world ", 5000)
	mb, took = peak(func() { mm.Text(s) })
	t.Logf("one message of 60 KB: %d MB %s", mb, took)
}
