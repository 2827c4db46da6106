package jobs

import (
	"context"
	"database/sql"
	"sync"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riversqlite"
)

// local is the SQLite driver for a single process. River's own driver polls the
// database twenty times a second for notifications, since other processes have no other
// way to send them. Here there are no other processes, so that notifications are sent
// in memory.
type local struct {
	*riversqlite.Driver
	news *news
}

func newLocal(db *sql.DB) local {
	return local{Driver: riversqlite.New(db), news: &news{lanes: map[string]bool{}, some: make(chan struct{}, 1)}}
}

// tell notifies listeners that there may be a job in a lane.
func (l local) tell(_ context.Context, lane string) error {
	l.news.put(lane)
	return nil
}

// SupportsListenNotify makes River write no notifications into the database.
func (local) SupportsListenNotify() bool { return false }

// GetListener returns the listener that receives the notifications of tell.
func (l local) GetListener(*riverdriver.GetListenenerParams) riverdriver.Listener {
	return listener{news: l.news}
}

// news are the lanes in which there may be a job.
type news struct {
	mu    sync.Mutex
	lanes map[string]bool
	// some has a value if lanes may not be empty.
	some chan struct{}
}

func (n *news) put(lane string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lanes[lane] = true
	n.say()
}

func (n *news) say() {
	select {
	case n.some <- struct{}{}:
	default:
	}
}

// take removes and returns one lane, and signals if there are more.
func (n *news) take() (lane string, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for lane = range n.lanes {
		delete(n.lanes, lane)
		ok = true
		break
	}
	if len(n.lanes) > 0 {
		n.say()
	}
	return lane, ok
}

// listener receives notifications of new jobs. It has no connection.
type listener struct{ news *news }

// Close does nothing.
func (listener) Close(context.Context) error { return nil }

// Connect does nothing.
func (listener) Connect(context.Context) error { return nil }

// Listen does nothing: there is only one topic.
func (listener) Listen(context.Context, string) error { return nil }

// Ping does nothing.
func (listener) Ping(context.Context) error { return nil }

// Schema returns nothing.
func (listener) Schema() string { return "" }

// SetAfterConnectExec does nothing.
func (listener) SetAfterConnectExec(string) {}

// Unlisten does nothing.
func (listener) Unlisten(context.Context, string) error { return nil }

// WaitForNotification waits for a notification.
func (l listener) WaitForNotification(ctx context.Context) (*riverdriver.Notification, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-l.news.some:
		}
		if lane, ok := l.news.take(); ok {
			return &riverdriver.Notification{Topic: inserted, Payload: payload(lane)}, nil
		}
	}
}
