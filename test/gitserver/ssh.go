package gitserver

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

// Passphrase unlocks encrypted keys, and Password is accepted by SSH in place
// of a key.
const (
	Passphrase = "0pen-sesame"
	Password   = "s3cr3t-word"
)

// Key is a key pair, with the private key in PEM.
type Key struct {
	ssh.Signer
	PEM string
}

// NewKey creates a key pair. A locked one is encrypted with Passphrase.
func NewKey(tb testing.TB, locked bool) Key {
	tb.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		tb.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if locked {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(private, "", []byte(Passphrase))
	}
	if err != nil {
		tb.Fatal(err)
	}
	return Key{signer, string(pem.EncodeToMemory(block))}
}

// Authorized returns the public key in the format of authorized_keys.
func (k Key) Authorized() string { return string(ssh.MarshalAuthorizedKey(k.PublicKey())) }

// Fingerprint returns the fingerprint of the public key.
func (k Key) Fingerprint() string { return ssh.FingerprintSHA256(k.PublicKey()) }

// SSH is a real SSH server that runs git for clients with the key Me. In
// addition to the repository it has secret.git, which prints an error with a
// secret, and silent.git, which ends without a message.
type SSH struct {
	// URL is the URL of the repository, Addr host and port of the server.
	URL, Addr string
	Host, Me  Key
	// Hang, if not nil, is called instead of git.
	Hang func()

	dir string
}

// ServeSSH serves a repository over SSH until the end of the test.
func ServeSSH(tb testing.TB, dir string) *SSH {
	tb.Helper()
	Need(tb)
	s := &SSH{Host: NewKey(tb, false), Me: NewKey(tb, false), dir: filepath.Dir(dir)}
	config := &ssh.ServerConfig{
		PublicKeyCallback: func(_ ssh.ConnMetadata, k ssh.PublicKey) (*ssh.Permissions, error) {
			if !bytes.Equal(s.Me.PublicKey().Marshal(), k.Marshal()) {
				return nil, errors.New("unknown key")
			}
			return nil, nil
		},
		PasswordCallback: func(_ ssh.ConnMetadata, password []byte) (*ssh.Permissions, error) {
			if string(password) != Password {
				return nil, errors.New("wrong password")
			}
			return nil, nil
		},
	}
	config.AddHostKey(s.Host)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = l.Close() })
	s.Addr = l.Addr().String()
	s.URL = "ssh://git@" + s.Addr + "/" + filepath.Base(dir)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(tb.Context(), conn, config)
		}
	}()
	return s
}

// serve handles one connection.
func (s *SSH) serve(ctx context.Context, conn net.Conn, config *ssh.ServerConfig) {
	defer func() { _ = conn.Close() }()
	_, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for c := range channels {
		channel, requests, err := c.Accept()
		if err != nil {
			return
		}
		go func() {
			for req := range requests {
				_ = req.Reply(req.Type == "exec", nil)
				if req.Type == "exec" {
					status := s.run(ctx, string(req.Payload[4:]), channel)
					_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{status}))
					_ = channel.Close()
				}
			}
		}()
	}
}

// run runs git, and returns its exit status.
func (s *SSH) run(ctx context.Context, command string, channel ssh.Channel) uint32 {
	if s.Hang != nil {
		s.Hang()
		Silent(ctx, channel)
		return 1
	}
	program, path, _ := strings.Cut(strings.TrimPrefix(command, "git-"), " '/")
	path = strings.TrimSuffix(path, "'")
	switch {
	case program != "upload-pack" && program != "receive-pack":
		fmt.Fprintf(channel.Stderr(), "no such command: %s\n", command)
		return 127
	case path == "secret.git":
		fmt.Fprintf(channel.Stderr(), "remote: \nremote: =====\nERROR: go away, %s\x1b[0m\n", Password)
		return 1
	case path == "silent.git":
		return 1
	}
	cmd := exec.CommandContext(ctx, "git", "-c", "safe.directory=*", "-c", "receive.fsckObjects=true", program, filepath.Join(s.dir, path))
	cmd.Stdout, cmd.Stderr = channel, channel.Stderr()
	in, err := cmd.StdinPipe()
	if err != nil {
		return 127
	}
	go func() {
		// The copy ends with the channel, not with the program.
		_, _ = io.Copy(in, channel)
		_ = in.Close()
	}()
	if cmd.Run() != nil {
		return 128
	}
	return 0
}

// Silent reads until the other side closes, or the context ends.
func Silent(ctx context.Context, c io.ReadCloser) {
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	_, _ = io.Copy(io.Discard, c)
}
