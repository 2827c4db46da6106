package jobs

import (
	"context"
	"database/sql"
	"sync"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riversqlite"
)

// local is SQLite for one process. River's own driver asks the database twenty
// times a second whether there is news, for other processes have no other way
// to tell. There are none, so who adds a job says so by itself.
type local struct {
	*riversqlite.Driver
	news *news
}

func newLocal(db *sql.DB) local {
	return local{Driver: riversqlite.New(db), news: &news{lanes: map[string]bool{}, some: make(chan struct{}, 1)}}
}

// tell says that there may be a job to do in a lane.
func (l local) tell(_ context.Context, lane string) error {
	l.news.put(lane)
	return nil
}

// SupportsListenNotify tells River to write no news into the database.
func (local) SupportsListenNotify() bool { return false }

// GetListener returns who hears what tell says.
func (l local) GetListener(*riverdriver.GetListenenerParams) riverdriver.Listener {
	return listener{news: l.news}
}

// news are the lanes in which there may be a job to do.
type news struct {
	mu    sync.Mutex
	lanes map[string]bool
	// some has a value if there may be news.
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

// take returns one lane, and says so if there are more.
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

// listener hears of new jobs. There is nothing to connect.
type listener struct{ news *news }

// Close does nothing.
func (listener) Close(context.Context) error { return nil }

// Connect does nothing.
func (listener) Connect(context.Context) error { return nil }

// Listen does nothing: there is one kind of news.
func (listener) Listen(context.Context, string) error { return nil }

// Ping does nothing.
func (listener) Ping(context.Context) error { return nil }

// Schema returns nothing.
func (listener) Schema() string { return "" }

// SetAfterConnectExec does nothing.
func (listener) SetAfterConnectExec(string) {}

// Unlisten does nothing.
func (listener) Unlisten(context.Context, string) error { return nil }

// WaitForNotification waits for news.
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
