package postgres

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
)

// Shared is one server for all tests of a package, each of which has its own
// database. The first test that needs it starts it. The zero Shared is ready
// for use.
type Shared struct {
	once   sync.Once
	server *Server
	err    error
}

// Database creates an empty database, and returns its URL.
func (s *Shared) Database(tb testing.TB) string {
	tb.Helper()
	s.once.Do(func() {
		// Some tests check that nothing is written, so background writes of the
		// server are disabled.
		s.server, s.err = Run(Options{Settings: []string{"autovacuum=off"}})
	})
	if errors.Is(s.err, ErrOff) {
		tb.Skip(s.err)
	}
	if s.err != nil {
		tb.Fatal(s.err)
	}
	return s.server.Database(tb)
}

// End stops the server if it was started. TestMain calls it last, and exits
// with the code that it returns.
func (s *Shared) End(code int) int {
	if s.server == nil {
		return code
	}
	if err := s.server.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}
