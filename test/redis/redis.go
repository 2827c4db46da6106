// Package redis starts real Redis servers for tests. Each is a separate process
// on the loopback interface, empty at first, ready in a moment. It ends with
// the test, and also if the test process dies.
//
// The server is that of the system, such as Debian's package redis-server; make
// installs it before it runs any test.
package redis

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.dev/ingestor/test/process"
)

// Off is the environment variable that skips tests that need a server if it is
// set, for machines without Redis.
const Off = "INGESTOR_NO_REDIS"

// ErrOff is returned by Run if Off is set.
var ErrOff = errors.New(Off + " is set: no Redis is started")

const (
	// startWithin is long, as several servers may start at once on a machine
	// with two CPUs.
	startWithin = time.Minute
	stopWithin  = 30 * time.Second
)

// folder is the prefix of the name of a server's folder.
const folder = "ingestor-redis-"

// ready is the log message of a server that is ready.
const ready = "Ready to accept connections"

// Options are the settings of a Server. The zero Options are valid.
type Options struct {
	// Durable writes each change to the disk, so that it survives Kill and
	// Restart. Without it a server starts empty each time.
	Durable bool
	// CertFile and KeyFile, if set, enable TLS and disable plain connections.
	CertFile, KeyFile string
	// Settings are additional settings of the server, such as "maxclients 5".
	Settings []string
}

// Server is a running Redis. Its methods must not be called concurrently; the
// server itself can be used concurrently.
type Server struct {
	// Dir is the folder with all of its state.
	Dir string
	// Password is the password for clients. It is random, so that a test can
	// search for it where it must not be.
	Password string

	bin     string
	port    int
	opts    Options
	process *process.Process
}

// Start starts a server for a test, and stops it with the test.
func Start(tb testing.TB) *Server {
	tb.Helper()
	return StartWith(tb, Options{})
}

// StartWith starts a server with options.
func StartWith(tb testing.TB, opts Options) *Server {
	tb.Helper()
	s, err := Run(opts)
	if errors.Is(err, ErrOff) {
		tb.Skip(err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Stop(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// Run starts a server, which the caller stops, such as in a TestMain.
func Run(opts Options) (*Server, error) {
	if os.Getenv(Off) != "" {
		return nil, ErrOff
	}
	bin, err := Binary()
	if err != nil {
		return nil, err
	}
	// No test runs for that long.
	process.RemoveAbandoned(folder, "")
	dir, err := os.MkdirTemp("", folder+"*")
	if err != nil {
		return nil, fmt.Errorf("cannot start Redis: %w", err)
	}
	s := &Server{Dir: dir, Password: rand.Text(), bin: bin, opts: opts}
	if err := s.begin(); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// begin starts the server for the first time.
func (s *Server) begin() error {
	var err error
	// Another process may take the port before the server does.
	for range 5 {
		if s.port, err = process.FreePort(); err != nil {
			return fmt.Errorf("cannot start Redis: %w", err)
		}
		if err = s.serve(); err == nil || !strings.Contains(err.Error(), "Address already in use") {
			return err
		}
	}
	return err
}

// serve starts the process. Its settings are in a file, which hides the
// password from the process list.
func (s *Server) serve() error {
	port := strconv.Itoa(s.port)
	settings := []string{
		"bind 127.0.0.1", `save ""`, "requirepass " + s.Password, "dir " + strconv.Quote(s.Dir), "daemonize no",
	}
	if s.opts.CertFile == "" {
		settings = append(settings, "port "+port)
	} else {
		settings = append(settings, "port 0", "tls-port "+port, "tls-auth-clients no",
			"tls-cert-file "+strconv.Quote(s.opts.CertFile), "tls-key-file "+strconv.Quote(s.opts.KeyFile))
	}
	if s.opts.Durable {
		settings = append(settings, "appendonly yes", "appendfsync always")
	}
	file := filepath.Join(s.Dir, "redis.conf")
	text := strings.Join(append(settings, s.opts.Settings...), "\n") + "\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return fmt.Errorf("cannot start Redis: %w", err)
	}
	log := &process.Log{}
	cmd := exec.Command(s.bin, file)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.Dir, log, log
	var err error
	if s.process, err = process.Start(cmd); err == nil {
		err = s.process.Await(log, ready, startWithin)
	}
	if err != nil {
		return fmt.Errorf("cannot start Redis: %w", err)
	}
	return nil
}

// URL returns the URL of the server with the password and the number of a
// database, of which there are sixteen. It does not change on a Restart.
func (s *Server) URL(database int) string {
	u := url.URL{Scheme: "redis", User: url.UserPassword("", s.Password), Host: s.Address(), Path: "/" + strconv.Itoa(database)}
	if s.opts.CertFile != "" {
		u.Scheme = "rediss"
	}
	return u.String()
}

// Address returns host and port of the server. They do not change on a Restart.
func (s *Server) Address() string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port))
}

// Kill kills the server, like a crash.
func (s *Server) Kill() { s.process.Kill() }

// Pause stops the process of the server, with its connections open, until
// Resume.
func (s *Server) Pause() { s.process.Signal(syscall.SIGSTOP) }

// Resume continues the process of the server.
func (s *Server) Resume() { s.process.Signal(syscall.SIGCONT) }

// Restart starts the server again at the same address after a Kill; if it still
// runs, it is stopped first. Its contents are kept only if it is Durable.
func (s *Server) Restart(tb testing.TB) {
	tb.Helper()
	if err := s.end(); err != nil {
		tb.Fatal(err)
	}
	if err := s.serve(); err != nil {
		tb.Fatal(err)
	}
}

// Stop stops the server and removes its folder. An error means that it did not
// stop cleanly.
func (s *Server) Stop() error {
	return errors.Join(s.end(), os.RemoveAll(s.Dir))
}

// end ends the process. A paused process is continued first, as it would not
// handle the signal.
func (s *Server) end() error {
	if err := s.process.Stop(stopWithin, syscall.SIGCONT, syscall.SIGTERM); err != nil {
		return fmt.Errorf("cannot stop Redis: %w", err)
	}
	return nil
}
