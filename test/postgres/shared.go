package postgres

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
)

// Shared is one server for all tests of a package, each of which has a database
// of its own. It is started by the first that needs it. The zero Shared is good.
type Shared struct {
	once   sync.Once
	server *Server
	err    error
}

// Database makes a new, empty database, and returns its address.
func (s *Shared) Database(tb testing.TB) string {
	tb.Helper()
	s.once.Do(func() {
		// Some tests want to see that nothing is written: the server must not
		// write of its own accord.
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

// End stops the server, if it was needed. It is the last thing a TestMain does,
// and returns the code to exit with.
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
