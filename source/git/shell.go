package git

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"golang.org/x/crypto/ssh"
)

const sshPort = "22"

// shellWire speaks Git's protocol over SSH. The library has its own way to do
// so, but that one cannot be cancelled while it connects, and looks into the
// environment and the home folder for keys, hosts and other names for them.
type shellWire struct {
	at     address
	addr   string
	config *ssh.ClientConfig
	// session is the one whose refs were read and that waits for a request.
	session *session
}

func newShell(at address, auth Auth, creds credentials) (*shellWire, error) {
	port := at.port
	if port == "" {
		port = sshPort
	}
	w := &shellWire{at: at, addr: net.JoinHostPort(at.host, port)}
	hosts, err := auth.hosts(w.addr)
	if err != nil {
		return nil, err
	}
	w.config = &ssh.ClientConfig{User: creds.user, HostKeyCallback: hosts.check, HostKeyAlgorithms: hosts.algorithms()}
	if creds.key != nil {
		w.config.Auth = append(w.config.Auth, ssh.PublicKeys(creds.key))
	}
	if creds.password != "" {
		w.config.Auth = append(w.config.Auth, ssh.Password(creds.password))
	}
	return w, nil
}

// session is a program that runs at the other end.
type session struct {
	client *ssh.Client
	run    *ssh.Session
	in     io.WriteCloser
	out    io.Reader
	says   says
	// release lets go of the context.
	release func() bool
}

// Close ends the program and the connection.
func (s *session) Close() error {
	s.release()
	_ = s.run.Close()
	return s.client.Close()
}

// Read reads what the program writes.
func (s *session) Read(p []byte) (int, error) { return s.out.Read(p) }

// says keeps the beginning of what a program complains of.
type says struct {
	mu   sync.Mutex
	text []byte
}

// Write keeps some of p and says that it has all.
func (s *says) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	const most = 4 << 10
	s.text = append(s.text, p[:min(len(p), most-len(s.text))]...)
	return len(p), nil
}

// String returns the first line that says something.
func (s *says) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for line := range strings.Lines(string(s.text)) {
		line = said(strings.TrimLeft(strings.TrimPrefix(line, "remote:"), " ="))
		if line != "" {
			return line
		}
	}
	return ""
}

// start connects and runs the program. When ctx ends, the connection does.
func (w *shellWire) start(ctx context.Context) (*session, error) {
	conn, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", w.addr)
	if err != nil {
		return nil, err
	}
	release := context.AfterFunc(ctx, func() { _ = conn.Close() })
	c, channels, requests, err := ssh.NewClientConn(conn, w.addr, w.config)
	if err != nil {
		release()
		_ = conn.Close()
		return nil, w.refused(err)
	}
	s := &session{client: ssh.NewClient(c, channels, requests), release: release}
	if err := s.begin(service + " " + quote(w.at.path)); err != nil {
		s.release()
		_ = s.client.Close()
		return nil, err
	}
	return s, nil
}

func (s *session) begin(command string) (err error) {
	if s.run, err = s.client.NewSession(); err != nil {
		return err
	}
	if s.in, err = s.run.StdinPipe(); err != nil {
		return err
	}
	if s.out, err = s.run.StdoutPipe(); err != nil {
		return err
	}
	s.run.Stderr = &s.says
	return s.run.Start(command)
}

// refused explains why no connection came about.
func (w *shellWire) refused(err error) error {
	if !strings.Contains(err.Error(), "unable to authenticate") {
		return err
	}
	if len(w.config.Auth) == 0 {
		return wrong("give an SSH key that may read it", "the server asks for a key")
	}
	return wrong("check that the key is one the server knows, and the user name, which is often git", "the server does not accept the key of %q", w.config.User)
}

// advertise asks what there is.
func (w *shellWire) advertise(ctx context.Context) (*packp.AdvRefs, error) {
	w.close()
	s, err := w.start(ctx)
	if err != nil {
		return nil, err
	}
	refs, err := decodeRefs(s)
	if err == nil {
		w.session = s
		return refs, nil
	}
	if errors.Is(err, packp.ErrEmptyInput) {
		// The program ended without a word here, so it said why elsewhere.
		_ = s.run.Wait()
		err = notThere(s.says.String())
	}
	_ = s.Close()
	return nil, err
}

// notThere explains what a server says instead of an answer.
func notThere(text string) error {
	lower := strings.ToLower(text)
	for _, sign := range []string{"not found", "does not exist", "does not appear to be a git repository", "no such", "not exist", "could not be found", "not a git repository"} {
		if strings.Contains(lower, sign) {
			return wrong("check the spelling, and that the credentials may see it", "there is no such repository (the server says %q)", text)
		}
	}
	if text == "" {
		return wrong("check the address, and that the credentials may see it", "the server ends the connection without a word")
	}
	return wrong("check the address, and that the credentials may see it", "the server says %q", text)
}

// send sends a request for objects.
func (w *shellWire) send(ctx context.Context, request []byte) (io.ReadCloser, error) {
	if w.session == nil {
		// A program answers one request.
		if _, err := w.advertise(ctx); err != nil {
			return nil, err
		}
	}
	s := w.session
	w.session = nil
	_, err := s.in.Write(request)
	if err == nil {
		err = s.in.Close()
	}
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

func (w *shellWire) close() {
	if w.session == nil {
		return
	}
	// The program is told that nothing is wanted, so that it ends well.
	_, _ = w.session.in.Write(pktline.FlushPkt)
	_ = w.session.Close()
	w.session = nil
}

// quote quotes a path for the shell at the other end, also for those shells
// that read something into an exclamation mark.
func quote(path string) string {
	return "'" + strings.NewReplacer(`'`, `'\''`, `!`, `'\!'`).Replace(path) + "'"
}
