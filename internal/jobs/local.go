package jobs

import (
	"context"
	"database/sql"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riversqlite"
)

// inserted is where River tells replicas of new jobs, and anyInserted what it
// says there.
const (
	inserted    = "river_insert"
	anyInserted = `{"queue":"` + river.QueueDefault + `"}`
)

// local is SQLite for one process. River's own driver asks the database twenty
// times a second whether there is news, for other processes have no other way
// to tell. There are none, so who adds a job says so by itself.
type local struct {
	*riversqlite.Driver
	news chan struct{}
}

func newLocal(db *sql.DB) local {
	return local{Driver: riversqlite.New(db), news: make(chan struct{}, 1)}
}

// tell says that there may be a job to do.
func (l local) tell(context.Context) error {
	select {
	case l.news <- struct{}{}:
	default:
	}
	return nil
}

// SupportsListenNotify tells River to write no news into the database.
func (local) SupportsListenNotify() bool { return false }

// GetListener returns who hears what tell says.
func (l local) GetListener(*riverdriver.GetListenenerParams) riverdriver.Listener {
	return listener{news: l.news}
}

// listener hears of new jobs. There is nothing to connect.
type listener struct{ news <-chan struct{} }

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
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.news:
		return &riverdriver.Notification{Topic: inserted, Payload: anyInserted}, nil
	}
}
