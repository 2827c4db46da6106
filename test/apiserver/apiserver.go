// Package apiserver gives tests a real Kubernetes API server. Each is a process
// of its own, empty at first, ready in seconds, on the loopback interface; it
// ends with the test, and also if the process that runs the test dies. Nothing
// in it schedules pods, and no Crossplane reconciles; Options say what part of
// that is played.
//
// The server is the program in test/devcluster, which this package builds when it
// is needed; make does so before it runs any test, because the first time takes
// minutes.
package apiserver

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Off is the environment variable that, set to anything, skips tests that need
// a server, for machines that cannot build one.
const Off = "INGESTOR_NO_CLUSTER"

// ErrOff is returned by Run if Off is set.
var ErrOff = errors.New(Off + " is set: no cluster is started")

// Options are what a Server begins with.
type Options struct {
	// CRDs says under which words there are definitions and compositions:
	// "crossplane", "composer", "both" or "none". Empty means crossplane.
	CRDs string
	// Apply are objects to begin with: each is the path of a file or folder or,
	// if it has more than one line, YAML or JSON itself.
	Apply []string
	// XRCRDs makes the kinds that definitions describe, as Crossplane would,
	// whenever a definition is applied.
	XRCRDs bool
	// ReadyAfter is how long after they were made composites and claims become
	// ready, as their controller would make them. Zero leaves them alone.
	ReadyAfter time.Duration
	// Args are further arguments of kube-apiserver, such as
	// "--request-timeout=5s".
	Args []string
}

// Server is a running API server. Its methods are for one goroutine at a time;
// the server itself is for any number.
type Server struct {
	// Dir is the folder with all of its state.
	Dir string
	// Kubeconfig is the path of a kubeconfig whose user may do everything.
	Kubeconfig string
	// URL is its address, and CA the authority of its certificate, in PEM. All
	// three stay the same over a Restart.
	URL string
	CA  []byte

	bin     string
	opts    Options
	client  *http.Client
	process *process
}

// marker is the file that tells devcluster that a folder was made for it, and
// can be removed with all that is in it.
const marker = "devcluster.temporary"

// Start starts a server for a test, and stops it with the test.
func Start(tb testing.TB, opts Options) *Server {
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

// Run starts a server for whoever stops it, such as a TestMain.
func Run(opts Options) (*Server, error) {
	if os.Getenv(Off) != "" {
		return nil, ErrOff
	}
	bin, err := Binary()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "ingestor-cluster-")
	if err != nil {
		return nil, fmt.Errorf("cannot start a cluster: %w", err)
	}
	s := &Server{Dir: dir, bin: bin, opts: opts}
	// Manifests may lie there before it begins.
	err = os.WriteFile(filepath.Join(dir, marker), nil, 0o600)
	if err == nil {
		err = s.begin()
	}
	if err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// begin starts the server for the first time.
func (s *Server) begin() error {
	crds := s.opts.CRDs
	if crds == "" {
		crds = "crossplane"
	}
	args := []string{"--crds", crds}
	files, _, err := s.files(s.opts.Apply)
	if err != nil {
		return err
	}
	for _, f := range files {
		args = append(args, "--apply", f)
	}
	if s.opts.XRCRDs {
		args = append(args, "--xr-crds")
	}
	if err := s.serve(args...); err != nil {
		return err
	}
	return s.learn()
}

// serve starts the process.
func (s *Server) serve(args ...string) error {
	args = append([]string{"serve", "--dir", s.Dir, "--temporary", "--ready-after", s.opts.ReadyAfter.String()}, args...)
	for _, arg := range s.opts.Args {
		args = append(args, "--apiserver-arg", arg)
	}
	var err error
	s.process, err = start(s.bin, args, filepath.Join(s.Dir, "devcluster.log"))
	return err
}

// learn reads what the server has written down about itself.
func (s *Server) learn() error {
	var errs []error
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(s.Dir, name))
		errs = append(errs, err)
		return data
	}
	s.Kubeconfig = filepath.Join(s.Dir, "kubeconfig")
	s.URL = "https://127.0.0.1:" + strings.TrimSpace(string(read("port")))
	s.CA = read("pki/ca.crt")
	pair, err := tls.X509KeyPair(read("pki/admin.crt"), read("pki/admin.key"))
	if err := errors.Join(append(errs, err)...); err != nil {
		return fmt.Errorf("cannot learn the way to the cluster: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.CA)
	s.client = &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}},
	}}
	return nil
}

// Client returns a client whose certificate may do everything, for calls to
// paths below URL.
func (s *Server) Client() *http.Client { return s.client }

// Apply creates or changes objects; each manifest is one of Options.Apply.
// Missing namespaces are made.
func (s *Server) Apply(tb testing.TB, manifests ...string) {
	tb.Helper()
	if err := s.change("apply", manifests); err != nil {
		tb.Fatal(err)
	}
}

// Delete deletes the objects that Apply made of the same manifests, and waits
// until they are gone.
func (s *Server) Delete(tb testing.TB, manifests ...string) {
	tb.Helper()
	if err := s.change("delete", manifests); err != nil {
		tb.Fatal(err)
	}
}

// Token returns a token of a service account. The account and its namespace
// are made if they are missing; it may do nothing until a role is bound to it.
func (s *Server) Token(tb testing.TB, namespace, name string) string {
	tb.Helper()
	out, err := s.Do("token", "--namespace", namespace, "--service-account", name)
	if err != nil {
		tb.Fatal(err)
	}
	return strings.TrimSpace(out)
}

// Do runs a command of the program devcluster against the server, and returns
// what it prints.
func (s *Server) Do(command string, args ...string) (string, error) {
	cmd := exec.Command(s.bin, append([]string{command}, args...)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+s.Kubeconfig)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", errors.New(strings.TrimSpace(stderr.String() + "\n" + err.Error()))
	}
	return string(out), nil
}

// Kill ends the server as a crash would.
func (s *Server) Kill() { s.process.kill() }

// Restart starts the server again, at the same address and with everything
// that was in it, after a Kill; if it still runs, it is stopped first. Further
// arguments of kube-apiserver are kept for later restarts.
func (s *Server) Restart(tb testing.TB, args ...string) {
	tb.Helper()
	if err := s.process.stop(); err != nil {
		tb.Fatal(err)
	}
	s.opts.Args = append(s.opts.Args, args...)
	if err := s.serve("--crds", "none"); err != nil {
		tb.Fatal(err)
	}
}

// Stop stops the server and removes its folder. An error means that it did not
// stop cleanly.
func (s *Server) Stop() error {
	if s.client != nil {
		s.client.CloseIdleConnections()
	}
	return errors.Join(s.process.stop(), os.RemoveAll(s.Dir))
}

// change applies or deletes.
func (s *Server) change(command string, manifests []string) error {
	files, remove, err := s.files(manifests)
	if err != nil {
		return err
	}
	defer remove()
	if s.opts.XRCRDs {
		files = append([]string{"--xr-crds"}, files...)
	}
	_, err = s.Do(command, files...)
	return err
}

// files returns the paths of manifests. Those that are text become files, for
// the program to read and for remove to take away.
func (s *Server) files(manifests []string) (paths []string, remove func(), err error) {
	var made []string
	for _, m := range manifests {
		if !strings.Contains(m, "\n") {
			paths = append(paths, m)
			continue
		}
		f, err := os.CreateTemp(s.Dir, "manifest-*.yaml")
		if err != nil {
			return nil, nil, fmt.Errorf("cannot keep a manifest: %w", err)
		}
		made = append(made, f.Name())
		_, err = f.WriteString(m)
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, nil, fmt.Errorf("cannot keep a manifest: %w", err)
		}
		paths = append(paths, f.Name())
	}
	return paths, func() {
		for _, name := range made {
			_ = os.Remove(name)
		}
	}, nil
}
