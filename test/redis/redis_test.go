package redis

import (
	"bufio"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/test/process"
)

// ask sends commands on one connection, and returns the first line of each
// response, or the text after it.
func ask(t *testing.T, s *Server, commands ...string) []string {
	t.Helper()
	c, err := net.Dial("tcp", s.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewReader(c)
	var out []string
	for _, command := range commands {
		if _, err := io.WriteString(c, command+"\r\n"); err != nil {
			t.Fatal(err)
		}
		line, err := answers.ReadString('\n')
		if err == nil && line[0] == '$' && line[1] != '-' {
			line, err = answers.ReadString('\n')
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, strings.TrimSpace(line))
	}
	return out
}

func TestServer(t *testing.T) {
	s := StartWith(t, Options{Durable: true})
	login := "AUTH " + s.Password

	t.Run("PasswordIsNeeded", func(t *testing.T) {
		got := ask(t, s, "GET kept")
		if !strings.HasPrefix(got[0], "-NOAUTH") {
			t.Errorf("command without a password returned %q, want NOAUTH", got)
		}
	})
	t.Run("OutlivesKill", func(t *testing.T) {
		ask(t, s, login, "SET kept 1")
		s.Kill()
		if c, err := net.Dial("tcp", s.Address()); err == nil {
			_ = c.Close()
			t.Error("killed server listens")
		}
		s.Restart(t)
		if diff := cmp.Diff([]string{"+OK", "1"}, ask(t, s, login, "GET kept")); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("RestartsWhileItRuns", func(t *testing.T) {
		s.Restart(t)
		if diff := cmp.Diff([]string{"+OK", "1"}, ask(t, s, login, "GET kept")); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("EndsWhilePaused", func(t *testing.T) {
		s.Pause()
		s.Restart(t)
		ask(t, s, login)
	})
}

func TestForgetsUnlessDurable(t *testing.T) {
	s := StartWith(t, Options{Settings: []string{"databases 3"}})
	login := "AUTH " + s.Password
	if diff := cmp.Diff([]string{"+OK", "+OK", "+OK"}, ask(t, s, login, "SELECT 2", "SET kept 1")); diff != "" {
		t.Fatal(diff)
	}
	s.Restart(t)
	got := ask(t, s, login, "SELECT 2", "GET kept", "SELECT 3")
	if diff := cmp.Diff([]string{"+OK", "+OK", "$-1", "-ERR DB index is out of range"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestStopLeavesNothing(t *testing.T) {
	if os.Getenv(Off) != "" {
		t.Skip(ErrOff)
	}
	s, err := Run(Options{})
	if err != nil {
		t.Fatal(err)
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
	_, err := Run(Options{Settings: []string{"no-such-setting 1"}})
	if err == nil || !strings.Contains(err.Error(), "no-such-setting") {
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
