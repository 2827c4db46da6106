package store

import (
	"errors"
	"net/url"
	"testing"
	"time"

	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/test/database"
	"example.dev/ingestor/test/proxy"
)

// TestHungDatabase stops a PostgreSQL process: calls end at their timeout, and
// succeed once it continues.
func TestHungDatabase(t *testing.T) {
	address, err := url.Parse(database.Postgres(t).URL)
	if err != nil {
		t.Fatal(err)
	}
	p := proxy.Start(t, address.Host)
	address.Host = p.Address()
	const answer = 500 * time.Millisecond
	s := opener(t, db.Options{Client: db.Postgres, URL: address.String(), Now: time.Now, Answer: answer})()
	push(t, s, write.Change{Provider: "p", Full: true, Put: []write.Document{component(t, "a")}})
	calls := map[string]func() error{
		"Query":    func() error { _, err := s.Query(t.Context(), Query{Limit: 1}); return err },
		"Get":      func() error { _, err := s.Get(t.Context(), "component:default/a"); return err },
		"Revision": func() error { _, err := s.Revision(t.Context()); return err },
		"Sync": func() error {
			_, err := s.Sync(t.Context(), write.Change{Provider: "p", Put: []write.Document{component(t, "b")}})
			return err
		},
		"Fence": func() error { _, err := s.Fence(t.Context(), "x"); return err },
	}
	p.Hang()
	t.Run("Hung", func(t *testing.T) {
		for name, call := range calls {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				begun := time.Now()
				err := call()
				if !errors.Is(err, db.ErrUnavailable) {
					t.Errorf("call on a hung database returned %v, want db.ErrUnavailable", err)
				}
				// It may take a new connection to detect this.
				if took := time.Since(begun); took > 4*answer+5*time.Second {
					t.Errorf("call on a hung database took %v", took)
				}
			})
		}
	})
	p.Pass()
	for name, call := range calls {
		if err := call(); err != nil {
			t.Errorf("%s returned %v after the database continued", name, err)
		}
	}
}
