package file

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

func TestWatchErrors(t *testing.T) {
	if err := New([]string{"a", "-"}, Options{}).Watch(t.Context(), func() { t.Error("called") }); err == nil || !strings.Contains(err.Error(), "standard input") {
		t.Errorf("watch of standard input: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := New([]string{t.TempDir()}, Options{}).Watch(ctx, func() { t.Error("called") }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestWatchMissed checks lost events.
func TestWatchMissed(t *testing.T) {
	t.Chdir(t.TempDir())
	do(t, "write a.yaml one")
	broken := errors.New("broken")
	many := make([]fsnotify.Event, maxEvents+1)
	for i := range many {
		many[i] = fsnotify.Event{Name: filepath.Join("/nowhere", fmt.Sprint(i)), Op: fsnotify.Write}
	}
	cases := map[string]struct {
		reason string
		events []fsnotify.Event
		errs   []error
		calls  int
		err    error
	}{
		"Overflow": {"An overflow of the event queue is a change.", nil, []error{fsnotify.ErrEventOverflow}, 1, nil},
		"Flood":    {"More events than fit in the queue are a change.", many, nil, 1, nil},
		"Others":   {"Events of irrelevant files are ignored.", many[:10], nil, 0, nil},
		"Broken":   {"An error of the watcher ends the watch.", nil, []error{broken}, 0, broken},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			events, errs := make(chan fsnotify.Event), make(chan error)
			in := newInbox()
			done := make(chan struct{})
			go func() {
				defer close(done)
				in.fill(events, errs)
			}()
			for _, e := range tc.events {
				events <- e
			}
			for _, err := range tc.errs {
				errs <- err
			}
			close(events)
			close(errs)
			<-done
			notify, err := fsnotify.NewWatcher()
			if err != nil {
				t.Fatal(err)
			}
			defer notify.Close() //nolint:errcheck // the test is over
			limit := 30 * time.Second
			if tc.calls == 0 && tc.err == nil {
				limit = 10 * short
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			calls := 0
			w := &watching{source: New([]string{"a.yaml"}, Options{Settle: short}), notify: notify, changed: func() {
				calls++
				cancel()
			}}
			if err := w.look(ctx); err != nil {
				t.Fatal(err)
			}
			err = w.run(ctx, in)
			if calls != tc.calls || tc.err != nil && !errors.Is(err, tc.err) || tc.err == nil && !errors.Is(err, ctx.Err()) {
				t.Errorf("%s\nrun: %d calls, %v", tc.reason, calls, err)
			}
		})
	}
}
