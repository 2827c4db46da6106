// Package postgres starts real PostgreSQL servers for tests. Each is a separate
// process on the loopback interface, empty at first, ready in about two
// seconds. It ends with the test, and also if the test process dies. By default
// its text has an English collation, so that tests notice a missing COLLATE.
//
// The server is that of the system, such as Debian's package postgresql; make
// installs it before it runs any test.
package postgres

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"example.dev/ingestor/test/process"
)

// Off is the environment variable that skips tests that need a server if it is
// set, for machines without PostgreSQL.
const Off = "INGESTOR_NO_POSTGRES"

// ErrOff is returned by Run if Off is set.
var ErrOff = errors.New(Off + " is set: no PostgreSQL is started")

// superuser owns the databases.
const superuser = "ingestor"

const (
	// startWithin is long, as several servers may start at once on a machine
	// with two CPUs.
	startWithin = 2 * time.Minute
	stopWithin  = 30 * time.Second
)

// folder is the prefix of the name of a server's folder.
const folder = "ingestor-postgres-"

// ready is the log message of a server that is ready.
const ready = "database system is ready to accept connections"

// commandWithin is the timeout of commands such as createdb.
const commandWithin = 2 * time.Minute

// Options are the settings of a Server. The zero Options are valid.
type Options struct {
	// Durable syncs each transaction to the disk, as production servers do.
	// Without it a crash of the machine, but not of the server, loses data.
	Durable bool
	// Settings are additional settings of the server, such as
	// "max_connections=5".
	Settings []string
}

// Server is a running PostgreSQL. Database and Command can be called
// concurrently, its other methods cannot; the server itself can be used
// concurrently.
type Server struct {
	// Dir is the folder with all of its state.
	Dir string
	// Password is the password of the user that owns the databases. It is
	// random, so that a test can search for it where it must not be.
	Password string

	bin       string
	port      int
	opts      Options
	owner     *owner
	process   *process.Process
	databases atomic.Int64
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
	bin, err := Binaries()
	if err != nil {
		return nil, err
	}
	owner, err := findOwner()
	if err != nil {
		return nil, err
	}
	process.RemoveAbandoned(folder, filepath.Join("data", "postmaster.pid"))
	dir, err := os.MkdirTemp("", folder+"*")
	if err != nil {
		return nil, fmt.Errorf("cannot start PostgreSQL: %w", err)
	}
	s := &Server{Dir: dir, Password: rand.Text(), bin: bin, opts: opts, owner: owner}
	if err := s.begin(); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// begin initializes the data folder and starts the server for the first time.
func (s *Server) begin() error {
	if err := s.initialise(); err != nil {
		return err
	}
	var err error
	// Another process may take the port before the server does.
	for range 5 {
		if s.port, err = process.FreePort(); err != nil {
			return fmt.Errorf("cannot start PostgreSQL: %w", err)
		}
		if err = s.serve(); err == nil || !strings.Contains(err.Error(), "Address already in use") {
			return err
		}
	}
	return err
}

// initialise creates the data folder.
func (s *Server) initialise() error {
	secret := filepath.Join(s.Dir, "password")
	err := os.WriteFile(secret, []byte(s.Password), 0o600)
	if err == nil {
		err = s.owner.give(s.Dir, secret)
	}
	if err != nil {
		return fmt.Errorf("cannot prepare PostgreSQL: %w", err)
	}
	defer func() { _ = os.Remove(secret) }()
	_, err = s.Command(context.Background(), "initdb", "--pgdata="+s.data(), "--username="+superuser, "--pwfile="+secret,
		"--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en",
		"--no-sync", "--no-instructions")
	return err
}

// serve starts the process.
func (s *Server) serve() error {
	args := []string{"-D", s.data(), "-p", strconv.Itoa(s.port)}
	set := func(settings ...string) {
		for _, setting := range settings {
			args = append(args, "-c", setting)
		}
	}
	set("listen_addresses=127.0.0.1", "unix_socket_directories=", "shared_buffers=64MB",
		"dynamic_shared_memory_type=mmap", "lc_messages=C", "log_line_prefix=%m ")
	if !s.opts.Durable {
		set("fsync=off", "full_page_writes=off")
	}
	set(s.opts.Settings...)
	log := &process.Log{}
	cmd := exec.Command(filepath.Join(s.bin, "postgres"), args...)
	cmd.Dir, cmd.Stderr = s.Dir, log
	cmd.Env = append(environ(), "LC_ALL=C.UTF-8")
	s.owner.run(cmd)
	// If this process dies, the server shuts down immediately, with all its
	// processes.
	cmd.SysProcAttr.Pdeathsig = syscall.SIGQUIT
	var err error
	if s.process, err = process.Start(cmd); err == nil {
		err = s.process.Await(log, ready, startWithin)
	}
	if err != nil {
		return fmt.Errorf("cannot start PostgreSQL: %w", err)
	}
	return nil
}

// Database creates an empty database, and returns its URL with user and
// password.
func (s *Server) Database(tb testing.TB) string {
	tb.Helper()
	at, err := s.Create(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return at
}

// Create does the same as Database, outside of tests.
func (s *Server) Create(ctx context.Context) (string, error) {
	name := fmt.Sprintf("test%d", s.databases.Add(1))
	_, err := s.Command(ctx, "createdb", name)
	return s.address(name), err
}

// Address returns host and port of the server. They do not change on a Restart.
func (s *Server) Address() string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port))
}

func (s *Server) address(database string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(superuser, s.Password), Host: s.Address(), Path: "/" + database,
		RawQuery: "sslmode=disable"}
	return u.String()
}

// Command runs a program of PostgreSQL, such as psql, with the connection
// settings in its environment, and returns its output.
func (s *Server) Command(ctx context.Context, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, name), args...)
	cmd.Dir = s.Dir
	cmd.Env = append(environ(), "PGUSER="+superuser, "PGPASSWORD="+s.Password, "LC_ALL=C.UTF-8")
	if s.port != 0 {
		cmd.Env = append(cmd.Env, "PGHOST=127.0.0.1", "PGPORT="+strconv.Itoa(s.port))
	}
	s.owner.run(cmd)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("cannot run %s: %w: %s", name, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return string(out), nil
}

// Kill kills the server, like a crash.
func (s *Server) Kill() { s.process.Kill() }

// Stall stops all processes of the server, as if their disk did not respond, or
// continues them.
func (s *Server) Stall(still bool) error {
	signal := syscall.SIGCONT
	if still {
		signal = syscall.SIGSTOP
	}
	// The first process starts the others, and starts no more once it is
	// stopped.
	first := s.process.PID()
	if err := syscall.Kill(first, signal); err != nil {
		return fmt.Errorf("cannot stall PostgreSQL: %w", err)
	}
	others, err := os.ReadFile(fmt.Sprintf("/proc/%[1]d/task/%[1]d/children", first))
	if err != nil {
		return fmt.Errorf("cannot find the processes of PostgreSQL: %w", err)
	}
	for _, other := range strings.Fields(string(others)) {
		if pid, err := strconv.Atoi(other); err == nil {
			_ = syscall.Kill(pid, signal)
		}
	}
	return nil
}

// Restart starts the server again after a Kill, with the same address and
// contents; if it still runs, it is stopped first.
func (s *Server) Restart(tb testing.TB) {
	tb.Helper()
	if err := s.end(); err != nil {
		tb.Fatal(err)
	}
	// Processes of a killed server that served a connection may take a moment
	// to end, and prevent a start until then.
	deadline := time.Now().Add(startWithin)
	for {
		err := s.serve()
		if err == nil {
			return
		}
		if !strings.Contains(err.Error(), "still in use") || time.Now().After(deadline) {
			tb.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// Stop stops the server and removes its folder. An error means that it did not
// stop cleanly.
func (s *Server) Stop() error {
	return errors.Join(s.end(), os.RemoveAll(s.Dir))
}

// end shuts the process down in fast mode, in which the server closes
// connections.
func (s *Server) end() error {
	if err := s.process.Stop(stopWithin, syscall.SIGINT); err != nil {
		return fmt.Errorf("cannot stop PostgreSQL: %w", err)
	}
	return nil
}

// environ returns the environment without variables for PostgreSQL's programs.
func environ() []string {
	return slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "PG") })
}

func (s *Server) data() string { return filepath.Join(s.Dir, "data") }
