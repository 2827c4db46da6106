package remote

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	gitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// sshSession is a connection to a Git service over SSH. go-git's own session reads
// lists of references without a limit, keeps a connection to a silent server forever,
// and uses the host aliases in the user's home folder.
type sshSession struct {
	program string
	client  *ssh.Client
	in      io.WriteCloser
	out     io.Reader
	says    io.Reader
	release func() bool
	most    int64
}

// dialSSH connects and starts the service. The connection ends with ctx.
func dialSSH(ctx context.Context, program string, at Address, way Options, creds Credentials) (session, error) {
	addr := net.JoinHostPort(at.URL.Hostname(), cmp.Or(at.URL.Port(), "22"))
	config, err := way.Auth.sshConfig(addr, creds)
	if err != nil {
		return nil, err
	}
	conn, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	release := context.AfterFunc(ctx, func() { _ = conn.Close() })
	c, channels, requests, err := ssh.NewClientConn(conn, addr, config)
	if err != nil {
		release()
		_ = conn.Close()
		return nil, noEntry(err, config, way.verb())
	}
	s := &sshSession{program: program, client: ssh.NewClient(c, channels, requests), release: release, most: way.MaxBytes + maxRefs}
	if err := s.start(program, at.URL.Path); err != nil {
		release()
		_ = s.client.Close()
		return nil, err
	}
	return s, nil
}

func (s *sshSession) start(program, path string) error {
	run, err := s.client.NewSession()
	if err != nil {
		return err
	}
	var errs [3]error
	s.in, errs[0] = run.StdinPipe()
	s.out, errs[1] = run.StdoutPipe()
	s.says, errs[2] = run.StderrPipe()
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	// Some shells interpret an exclamation mark.
	return run.Start(program + " '" + strings.NewReplacer(`'`, `'\''`, `!`, `'\!'`).Replace(path) + "'")
}

// AdvertisedReferencesContext lists the references.
func (s *sshSession) AdvertisedReferencesContext(context.Context) (*packp.AdvRefs, error) {
	adv := packp.NewAdvRefs()
	err := adv.Decode(io.LimitReader(s.out, maxRefs))
	if errors.Is(err, packp.ErrEmptyInput) {
		// The service ended without output, so the reason is on stderr.
		text, _ := io.ReadAll(io.LimitReader(s.says, 4<<10))
		return nil, wordsOf(string(text))
	}
	if s.program == takes {
		return adv, err
	}
	if errors.Is(err, packp.ErrEmptyAdvRefs) || err == nil && adv.IsEmpty() {
		return nil, ErrEmpty
	}
	return adv, err
}

// UploadPack requests objects, once.
func (s *sshSession) UploadPack(_ context.Context, req *packp.UploadPackRequest) (*packp.UploadPackResponse, error) {
	if err := req.UploadRequest.Encode(s.in); err != nil {
		return nil, err
	}
	if err := pktline.NewEncoder(s.in).EncodeString("done\n"); err != nil {
		return nil, err
	}
	res := packp.NewUploadPackResponse(req)
	return res, res.Decode(io.NopCloser(io.LimitReader(s.out, s.most)))
}

// ReceivePack sends objects, once.
func (s *sshSession) ReceivePack(_ context.Context, req *packp.ReferenceUpdateRequest) (*packp.ReportStatus, error) {
	// The server may respond even if it did not read everything.
	sent := errors.Join(req.Encode(s.in), s.in.Close())
	in := io.LimitReader(s.out, maxRefs)
	if req.Capabilities.Supports(capability.Sideband64k) {
		d := sideband.NewDemuxer(sideband.Sideband64k, in)
		d.Progress = req.Progress
		in = d
	}
	report := packp.NewReportStatus()
	if err := report.Decode(in); err != nil {
		return nil, cmp.Or(sent, err)
	}
	return report, report.Error()
}

// Close ends the service, after a flush packet that says that nothing more is wanted,
// and the connection.
func (s *sshSession) Close() error {
	_, _ = s.in.Write(pktline.FlushPkt)
	s.release()
	return s.client.Close()
}

// noEntry explains why the connection failed.
func noEntry(err error, config *ssh.ClientConfig, verb string) error {
	switch {
	case !strings.Contains(err.Error(), "unable to authenticate"):
		return err
	case len(config.Auth) == 0:
		return Wrong("set an SSH key that may "+verb+" it", "server requires an SSH key")
	}
	return Wrong("check that the key is registered on the server, and the user name, which is often git", "server rejected the SSH credentials of user %q", config.User)
}

// sshConfig returns the client's credentials and how the host key is verified.
func (a Auth) sshConfig(addr string, creds Credentials) (*ssh.ClientConfig, error) {
	config := &ssh.ClientConfig{User: creds.user}
	if creds.key != nil {
		config.Auth = append(config.Auth, ssh.PublicKeys(creds.key))
	}
	if creds.password != "" {
		config.Auth = append(config.Auth, ssh.Password(creds.password))
	}
	check := func(string, net.Addr, ssh.PublicKey) error { return &knownhosts.KeyError{} }
	switch {
	case a.HostKey != "":
		name := strings.TrimSpace(a.HostKey)
		if key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(name)); err == nil {
			name, config.HostKeyAlgorithms = ssh.FingerprintSHA256(key), []string{key.Type()}
			if key.Type() == ssh.KeyAlgoRSA {
				config.HostKeyAlgorithms = []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256}
			}
		} else if !strings.HasPrefix(name, "SHA256:") {
			return nil, Wrong(`write "ssh-ed25519 AAAA…", or "SHA256:…"`, "host key is neither a public key nor a fingerprint")
		}
		check = func(_ string, _ net.Addr, key ssh.PublicKey) error {
			if cert, ok := key.(*ssh.Certificate); ok {
				key = cert.Key
			}
			if ssh.FingerprintSHA256(key) == name {
				return nil
			}
			return &knownhosts.KeyError{Want: []knownhosts.KnownKey{{}}}
		}
	case a.KnownHostsFile != "":
		known, err := gitssh.NewKnownHostsDb(a.KnownHostsFile)
		if err != nil {
			return nil, Wrong("check the path and the content of the file", "cannot read the known_hosts file: %w", err)
		}
		check, config.HostKeyAlgorithms = known.HostKeyCallback(), known.HostKeyAlgorithms(addr)
	}
	config.HostKeyCallback = func(addr string, remote net.Addr, key ssh.PublicKey) error {
		return noTrust(check(addr, remote, key), knownhosts.Normalize(addr), key)
	}
	return config, nil
}

// noTrust explains why a host key is refused.
func noTrust(err error, host string, key ssh.PublicKey) error {
	if err == nil {
		return nil
	}
	shown := key.Type() + " " + ssh.FingerprintSHA256(key)
	if bad, ok := errors.AsType[*knownhosts.KeyError](err); ok && len(bad.Want) == 0 {
		return Wrong("verify the key with the operator of the host, then add it to known_hosts or set it as the host key",
			"unknown host key of %q: %s", host, shown)
	} else if ok {
		return Wrong("if the host has a new key, replace the old one in known_hosts; if not, the connection may be intercepted",
			"host key of %q does not match the known key: got %s", host, shown)
	}
	return Wrong("ask the operator of the host", "cannot trust the host key of %q, %s: %w", host, shown, err)
}
