// Package apiserver starts real Kubernetes API servers for tests. Each is a
// separate process, empty at first, ready in seconds, on the loopback
// interface. It ends with the test, and also if the test process dies. No pods
// are scheduled and no Crossplane runs; Options select which of its effects are
// simulated, and test/crossplane runs a real one.
//
// The server is the program in test/devcluster, which this package builds on
// demand. Make builds it before it runs any test, because the first build takes
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

// Off is the environment variable that skips tests that need an API server if
// it is set, for machines that cannot build one.
const Off = "INGESTOR_NO_CLUSTER"

// ErrOff is returned by Run if Off is set.
var ErrOff = errors.New(Off + " is set: no cluster is started")

// Options are the settings of a Server.
type Options struct {
	// CRDs selects the vocabulary of the CustomResourceDefinitions for
	// definitions and compositions: "crossplane", "composer", "both" or "none".
	// Empty means crossplane.
	CRDs string
	// Apply are initial objects: each is the path of a file or folder or, if it
	// has more than one line, YAML or JSON itself.
	Apply []string
	// XRCRDs creates the kinds that definitions describe whenever a definition
	// is applied, as Crossplane does.
	XRCRDs bool
	// ReadyAfter is the time after which composites and claims become ready, as
	// their controller would do. Zero leaves them unchanged.
	ReadyAfter time.Duration
	// Args are further arguments of kube-apiserver, such as
	// "--request-timeout=5s".
	Args []string
}

// Server is a running API server. Its methods must not be called concurrently;
// the server itself can be used concurrently.
type Server struct {
	// Dir is the folder with all of its state.
	Dir string
	// Kubeconfig is the path of a kubeconfig with all permissions.
	Kubeconfig string
	// URL is the address, and CA the authority of the certificate in PEM.
	// Kubeconfig, URL and CA do not change on a Restart.
	URL string
	CA  []byte

	bin     string
	opts    Options
	client  *http.Client
	process *process
}

// marker is the file that tells devcluster that a folder was created for it and
// can be removed with its contents.
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

// Run starts a server, which the caller stops, such as in a TestMain.
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
	// The folder may already contain manifests.
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

// learn reads the address and the credentials from the server's folder.
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
		return fmt.Errorf("cannot read the credentials of the cluster: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.CA)
	s.client = &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}},
	}}
	return nil
}

// Client returns a client whose certificate has all permissions, for paths
// below URL.
func (s *Server) Client() *http.Client { return s.client }

// Apply creates or changes objects; each manifest is like one of Options.Apply.
// Missing namespaces are created.
func (s *Server) Apply(tb testing.TB, manifests ...string) {
	tb.Helper()
	if err := s.change("apply", manifests); err != nil {
		tb.Fatal(err)
	}
}

// Delete deletes the objects that Apply created from the same manifests, and
// waits until they are gone.
func (s *Server) Delete(tb testing.TB, manifests ...string) {
	tb.Helper()
	if err := s.change("delete", manifests); err != nil {
		tb.Fatal(err)
	}
}

// Token returns a token of a service account. The account and its namespace are
// created if they are missing; it has no permissions until a role is bound to
// it.
func (s *Server) Token(tb testing.TB, namespace, name string) string {
	tb.Helper()
	out, err := s.Do("token", "--namespace", namespace, "--service-account", name)
	if err != nil {
		tb.Fatal(err)
	}
	return strings.TrimSpace(out)
}

// Do runs a command of the program devcluster against the server, and returns
// its output.
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

// Kill kills the server, like a crash.
func (s *Server) Kill() { s.process.kill() }

// Restart starts the server again after a Kill, with the same address and
// contents; if it still runs, it is stopped first. Additional arguments of
// kube-apiserver are kept for later restarts.
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

// change applies or deletes manifests.
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

// files returns the paths of manifests. Those that are text are written to
// files, which remove removes.
func (s *Server) files(manifests []string) (paths []string, remove func(), err error) {
	var made []string
	for _, m := range manifests {
		if !strings.Contains(m, "\n") {
			paths = append(paths, m)
			continue
		}
		f, err := os.CreateTemp(s.Dir, "manifest-*.yaml")
		if err != nil {
			return nil, nil, fmt.Errorf("cannot write a manifest: %w", err)
		}
		made = append(made, f.Name())
		_, err = f.WriteString(m)
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, nil, fmt.Errorf("cannot write a manifest: %w", err)
		}
		paths = append(paths, f.Name())
	}
	return paths, func() {
		for _, name := range made {
			_ = os.Remove(name)
		}
	}, nil
}
