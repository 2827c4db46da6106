package remote

import (
	"bytes"
	"cmp"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"strings"

	gitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"
	"golang.org/x/crypto/ssh"

	"example.dev/ingestor/internal/secret"
)

// Auth is how to prove who one is, and how the server does. What stands here
// goes before what stands in the address.
type Auth struct {
	// Username goes with the token or the key. Empty means the one in the
	// address, else what the host is known to expect beside a token, or "git".
	Username string
	// Token is a token or password for HTTP. TokenFile is a file that holds it
	// instead, read again each time.
	Token     secret.Text
	TokenFile string

	// SSHKey is a private key in PEM. SSHKeyFile is a file that holds it
	// instead, read again each time. Passphrase unlocks it.
	SSHKey     secret.Text
	SSHKeyFile string
	Passphrase secret.Text
	// KnownHostsFile is a known_hosts file that the host must be in. HostKey
	// names the key of the host instead: "ssh-ed25519 AAAA…", or "SHA256:…",
	// its fingerprint. A key that nobody named is refused.
	KnownHostsFile string
	HostKey        string

	// CAFile or CAData, in PEM, is the authority that signed the server's
	// certificate; without either it is one the system knows.
	CAFile string
	CAData []byte
	// SkipTLSVerify believes any certificate.
	SkipTLSVerify bool
}

// anybody is who one is if nothing else is known.
const anybody = "git"

// Credentials are what one proves oneself with, once.
type Credentials struct {
	user, password string
	// lone is a user name of a web address without a password, which is how
	// some write a token.
	lone bool
	key  ssh.Signer
}

// Credentials reads them, from files too.
func (a Auth) Credentials(at Address) (Credentials, error) {
	c := Credentials{user: cmp.Or(a.Username, at.User.Reveal()), password: at.Password.Reveal()}
	if at.URL == nil {
		return c, nil
	}
	if at.URL.Scheme == Shell {
		c.user = cmp.Or(c.user, anybody)
		text, err := given("SSH key", a.SSHKey, a.SSHKeyFile)
		if err != nil || len(text) == 0 {
			return c, err
		}
		keys, err := gitssh.NewPublicKeys(c.user, text, a.Passphrase.Reveal())
		if err != nil {
			// The library's words may quote the key.
			return c, Wrong("it begins with a line such as -----BEGIN OPENSSH PRIVATE KEY-----; if it is locked, give its passphrase",
				"the SSH key is no private key in PEM, or the passphrase does not fit")
		}
		c.key = keys.Signer
		return c, nil
	}
	token, err := given("token", a.Token, a.TokenFile)
	c.password = cmp.Or(strings.TrimSpace(string(token)), c.password)
	c.lone = a.Username == "" && c.user != "" && c.password == ""
	if c.user == "" && c.password != "" {
		c.user = usernameAt(at.URL.Hostname())
	}
	return c, err
}

// usernameAt returns what a host expects beside a token.
func usernameAt(host string) string {
	host = strings.ToLower(host)
	switch {
	case strings.Contains(host, "github"):
		return "x-access-token"
	case strings.Contains(host, "gitlab"):
		return "oauth2"
	case strings.Contains(host, "bitbucket"):
		return "x-token-auth"
	}
	return anybody
}

// given returns a value, or what is in the file that was named instead.
func given[T ~string | ~[]byte](what string, value T, path string) ([]byte, error) {
	if len(value) > 0 || path == "" {
		return []byte(value), nil
	}
	text, err := os.ReadFile(path)
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	if err != nil {
		return nil, Wrong("check the path, and that it may be read", "the %s file %q cannot be read: %w", what, path, err)
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, Wrong("put a "+what+" into it", "the %s file %q is empty", what, path)
	}
	return text, nil
}

// roots returns the authorities, or nil for those the system knows.
func (a Auth) roots() (*x509.CertPool, error) {
	text, err := given("certificate", a.CAData, a.CAFile)
	if err != nil || len(text) == 0 {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, Wrong("it begins with the line -----BEGIN CERTIFICATE-----", "the authority is not a certificate in PEM")
	}
	return pool, nil
}

// secrets are all forms in which they could come back in a message.
func (c Credentials) secrets() []string {
	plain := []string{c.password}
	if c.lone {
		plain = append(plain, c.user)
	}
	var all []string
	for _, p := range plain {
		if p != "" {
			for _, form := range []string{p, c.user + ":" + c.password} {
				all = append(all, form, url.QueryEscape(form), url.PathEscape(form), base64.StdEncoding.EncodeToString([]byte(form)))
			}
		}
	}
	return all
}

// Clean takes secrets out of a message, should somebody, such as a server that
// repeats what it was sent, have put them into it.
func (c Credentials) Clean(p *Problem) *Problem {
	text := p.Err.Error()
	clean := text
	for _, s := range c.secrets() {
		clean = strings.ReplaceAll(clean, s, secret.Text(s).String())
	}
	if clean == text {
		return p
	}
	return &Problem{Err: errors.New(clean), Hint: p.Hint}
}
