// Package crossplane runs the real core of Crossplane for tests, with the
// function patch-and-transform, against an API server of test/apiserver. Both
// are separate processes that listen on no port. They end with the test, and
// also if the test process dies.
//
// The programs come from the module in the folder core, which this package
// builds on demand. Make builds them before it runs any test, because the first
// build takes minutes.
package crossplane

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/process"
	"example.dev/ingestor/test/program"
)

// Off is the environment variable that skips tests that need Crossplane if it
// is set, for machines that cannot build it.
const Off = "INGESTOR_NO_CROSSPLANE"

// ErrOff is returned by Run and Build if Off is set, or the variable that
// switches clusters off.
var ErrOff = errors.New(Off + " or " + apiserver.Off + " is set: no Crossplane is started")

func off() bool { return os.Getenv(Off) != "" || os.Getenv(apiserver.Off) != "" }

// Function is the name of the function for the pipelines of compositions, and Ready that
// of the one that says which objects are ready.
const (
	Function = "function-patch-and-transform"
	Ready    = "function-auto-ready"
)

const (
	// startWithin is long, as several servers may start at once on a machine
	// with two CPUs.
	startWithin = 2 * time.Minute
	stopWithin  = 30 * time.Second
	// prefix begins the name of the folder of a Core.
	prefix = "ingestor-crossplane-"
	// namespace is where Crossplane keeps its secrets.
	namespace = "crossplane-system"
	// authority and client are the secrets that the core makes.
	authority = "crossplane-root-ca"
	client    = "crossplane-tls-client"
)

// Core is a running Crossplane.
type Core struct {
	server *apiserver.Server
	// dir has certificates, caches and the socket of the function.
	dir string
	// log is the output of the core, and functionLog that of the function.
	log, functionLog process.Log
	core             *process.Process
	functions        []*process.Process
}

// Start starts Crossplane in a cluster for a test, and stops it with the test.
// The server must have been started with the CRDs "none", as Crossplane
// installs its own. If the test fails, the end of the log is shown.
func Start(tb testing.TB, server *apiserver.Server) *Core {
	tb.Helper()
	c, err := Run(server)
	if errors.Is(err, ErrOff) {
		tb.Skip(err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := c.Stop(); err != nil {
			tb.Error(err)
		}
		if tb.Failed() {
			tb.Logf("the end of Crossplane's log:\n%s", c.log.Tail())
		}
	})
	return c
}

// Run starts Crossplane, which the caller stops before the server.
func Run(server *apiserver.Server) (*Core, error) {
	if off() {
		return nil, ErrOff
	}
	process.RemoveAbandoned(prefix, "")
	dir, err := os.MkdirTemp("", prefix)
	if err != nil {
		return nil, fmt.Errorf("cannot start Crossplane: %w", err)
	}
	c := &Core{server: server, dir: dir}
	if err := c.begin(); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot start Crossplane: %w", err), c.Stop())
	}
	return c, nil
}

// begin initializes the cluster, and starts the function and the core.
func (c *Core) begin() error {
	bin, err := binary()
	if err != nil {
		return err
	}
	if err := c.initialize(bin); err != nil {
		return err
	}
	if err := c.writeCertificates(); err != nil {
		return err
	}
	if err := c.startFunction(); err != nil {
		return err
	}
	if c.core, err = process.Start(c.command(bin, "core", "start")); err != nil {
		return err
	}
	return c.core.Await(&c.log, "controllers run", startWithin)
}

// initialize lets Crossplane create its kinds and secrets. That fails while a
// kind that it has just created is not served, so it is repeated.
func (c *Core) initialize(bin string) error {
	if err := c.apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: " + namespace + "}\n"); err != nil {
		return err
	}
	src, err := program.Folder(module)
	if err != nil {
		return err
	}
	find := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/crossplane/crossplane/v2")
	find.Dir = src
	found, err := find.Output()
	if err != nil {
		return fmt.Errorf("cannot find Crossplane's kinds: %w", err)
	}
	kinds := filepath.Join(strings.TrimSpace(string(found)), "cluster", "crds")
	for range 5 {
		cmd := c.command(bin, "core", "init")
		cmd.Env = append(cmd.Env, "CRDS_PATH="+kinds)
		if err = cmd.Run(); err == nil {
			return nil
		}
	}
	return fmt.Errorf("cannot initialize the cluster: %w\nthe end of its log:\n%s", err, c.log.Tail())
}

// startFunction starts the function, and registers it.
func (c *Core) startFunction() error {
	bin, err := functionBinary()
	if err != nil {
		return err
	}
	endpoint, err := c.launch(Function, bin)
	if err != nil {
		return err
	}
	return c.register(Function, endpoint)
}

// launch starts the program of a function, and returns its endpoint.
func (c *Core) launch(name, bin string) (endpoint string, err error) {
	socket := filepath.Join(c.dir, name+".sock")
	cmd := c.command(bin, "--network=unix", "--address="+socket, "--tls-certs-dir="+filepath.Join(c.dir, serverCerts))
	cmd.Stdout, cmd.Stderr = &c.functionLog, &c.functionLog
	f, err := process.Start(cmd)
	if err != nil {
		return "", err
	}
	c.functions = append(c.functions, f)
	if err := poll(f, func() error { return dial(socket) }); err != nil {
		return "", fmt.Errorf("cannot start %s: %w\nthe end of its log:\n%s", name, err, c.functionLog.Tail())
	}
	return "unix://" + socket, nil
}

// register registers a function as its package would be if it were installed. The
// annotation keeps the package manager from it.
func (c *Core) register(name, endpoint string) error {
	revision := name + "-pinned"
	if err := c.apply(`apiVersion: pkg.crossplane.io/v1
kind: FunctionRevision
metadata:
  name: ` + revision + `
  labels: {pkg.crossplane.io/package: ` + name + `}
  annotations: {crossplane.io/paused: "true"}
spec: {desiredState: Active, revision: 1, image: "example.org/` + name + `:v0"}
`); err != nil {
		return err
	}
	return c.Patch("/apis/pkg.crossplane.io/v1/functionrevisions/"+revision+"/status",
		map[string]any{"status": map[string]any{"endpoint": endpoint, "capabilities": []string{"composition"}}})
}

// Register registers a function that runs at an endpoint; an empty endpoint is that of a
// function whose pod does not run.
func (c *Core) Register(tb testing.TB, name, endpoint string) {
	tb.Helper()
	if err := c.register(name, endpoint); err != nil {
		tb.Fatalf("cannot register function %s: %v", name, err)
	}
}

// Alias registers the function patch-and-transform under another name.
func (c *Core) Alias(tb testing.TB, name string) {
	tb.Helper()
	c.Register(tb, name, "unix://"+filepath.Join(c.dir, Function+".sock"))
}

// StartReady starts the function auto-ready under several names.
func (c *Core) StartReady(tb testing.TB, names ...string) {
	tb.Helper()
	bin, err := readyBinary()
	if err != nil {
		tb.Fatal(err)
	}
	endpoint, err := c.launch(Ready, bin)
	if err != nil {
		tb.Fatal(err)
	}
	for _, name := range names {
		c.Register(tb, name, endpoint)
	}
}

// Certificates returns the folder with the certificate that functions serve with.
func (c *Core) Certificates() string { return filepath.Join(c.dir, serverCerts) }

// dial returns an error unless a process listens at a socket.
func dial(socket string) error {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	return conn.Close()
}

// poll waits until done returns no error. It returns the error if that takes too
// long, or a process ends that it needs.
func poll(needs *process.Process, done func() error) error {
	for end := time.Now().Add(startWithin); ; {
		err := done()
		if err == nil {
			return nil
		}
		select {
		case <-needs.Ended():
			return fmt.Errorf("process ended by itself: %w", err)
		case <-time.After(25 * time.Millisecond):
		}
		if time.Now().After(end) {
			return fmt.Errorf("not after %v: %w", startWithin, err)
		}
	}
}

// command returns a command with the environment of Crossplane and its log.
func (c *Core) command(bin string, args ...string) *exec.Cmd {
	cmd := exec.Command(bin, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.dir, &c.log, &c.log
	cmd.Env = append(os.Environ(),
		"KUBECONFIG="+c.server.Kubeconfig, "POD_NAMESPACE="+namespace, "POD_SERVICE_ACCOUNT=crossplane",
		"ENABLE_WEBHOOKS=false", "TLS_CA_SECRET_NAME="+authority, "TLS_CLIENT_SECRET_NAME="+client,
		"TLS_CLIENT_CERTS_DIR="+filepath.Join(c.dir, clientCerts),
		"XPKG_CACHE_DIR="+filepath.Join(c.dir, "xpkg"), "XFN_CACHE_DIR="+filepath.Join(c.dir, "xfn"))
	return cmd
}

// Stop stops Crossplane. An error means that it did not stop cleanly.
func (c *Core) Stop() error {
	err := c.core.Stop(stopWithin, syscall.SIGTERM)
	for _, f := range c.functions {
		f.Kill()
	}
	return errors.Join(err, os.RemoveAll(c.dir))
}
