package postgres

import (
	"net"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/test/process"
)

// ask returns the result of a query.
func ask(t *testing.T, s *Server, url, query string) string {
	t.Helper()
	out, err := s.Command(t.Context(), "psql", "-XAtc", query, url)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

func TestServer(t *testing.T) {
	s := Start(t)
	one, two := s.Database(t), s.Database(t)

	t.Run("Databases", func(t *testing.T) {
		ask(t, s, one, "create table kept as select 1 as n")
		if got := ask(t, s, two, "select count(*) from pg_tables where tablename = 'kept'"); got != "0" {
			t.Error("table of one database exists in another")
		}
	})
	t.Run("TextSortsAsEnglish", func(t *testing.T) {
		got := ask(t, s, one, "select string_agg(v, ' ' order by v) from (values ('b'), ('B'), ('a')) t(v)")
		if diff := cmp.Diff("a b B", got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("PasswordIsNeeded", func(t *testing.T) {
		_, err := s.Command(t.Context(), "psql", "-XAtc", "select 1", strings.Replace(one, s.Password, "wrong", 1))
		if err == nil || !strings.Contains(err.Error(), "password authentication failed") {
			t.Errorf("connection with a wrong password returned %v, want an authentication error", err)
		}
	})
	t.Run("OutlivesKill", func(t *testing.T) {
		s.Kill()
		if c, err := net.Dial("tcp", s.Address()); err == nil {
			_ = c.Close()
			t.Error("killed server listens")
		}
		s.Restart(t)
		if got := ask(t, s, one, "select n from kept"); got != "1" {
			t.Errorf("table has %q after a crash, want 1", got)
		}
	})
	t.Run("RestartsWhileItRuns", func(t *testing.T) {
		s.Restart(t)
		if got := ask(t, s, one, "select n from kept"); got != "1" {
			t.Errorf("table has %q after a restart, want 1", got)
		}
	})
}

func TestStopLeavesNothing(t *testing.T) {
	if os.Getenv(Off) != "" {
		t.Skip(ErrOff)
	}
	s, err := Run(Options{Durable: true, Settings: []string{"max_connections=7"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := ask(t, s, s.Database(t), "select current_setting('max_connections') || current_setting('fsync')"); got != "7on" {
		t.Errorf("settings are %q, want 7on", got)
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.Dir); !os.IsNotExist(err) {
		t.Errorf("folder was not removed: %v", err)
	}
}

func TestRunSaysWhy(t *testing.T) {
	if os.Getenv(Off) != "" {
		t.Skip(ErrOff)
	}
	_, err := Run(Options{Settings: []string{"no_such_setting=1"}})
	if err == nil || !strings.Contains(err.Error(), "no_such_setting") {
		t.Errorf("unknown setting returned %v, want an error that names it", err)
	}
}

func TestDiesWithParent(t *testing.T) {
	if os.Getenv(Off) != "" {
		t.Skip(ErrOff)
	}
	process.DiesWithParent(t, func() (address, dir string) {
		s := Start(t)
		return s.Address(), s.Dir
	})
}
