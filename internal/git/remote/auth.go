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

// Auth are the credentials, and how to verify the server. They override those in the
// address.
type Auth struct {
	// Username belongs to the token or the key. Empty means the one in the address,
	// otherwise the one that the host expects with a token, or "git".
	Username string
	// Token is a token or password for HTTP. TokenFile is a file that holds it instead;
	// it is read for each connection.
	Token     secret.Text
	TokenFile string

	// SSHKey is a private key in PEM. SSHKeyFile is a file that holds it instead; it is
	// read for each connection. Passphrase decrypts it.
	SSHKey     secret.Text
	SSHKeyFile string
	Passphrase secret.Text
	// KnownHostsFile is a known_hosts file that must contain the host. HostKey is the
	// key of the host instead: "ssh-ed25519 AAAA…", or "SHA256:…", its fingerprint. An
	// unknown host key is refused.
	KnownHostsFile string
	HostKey        string

	// CAFile or CAData, in PEM, is the authority that signed the server's certificate;
	// if both are empty, those of the system are used.
	CAFile string
	CAData []byte
	// SkipTLSVerify accepts any certificate.
	SkipTLSVerify bool
}

// anybody is the default user name.
const anybody = "git"

// Credentials are the credentials of one connection.
type Credentials struct {
	user, password string
	// lone says that a web address has a user name without a password, which some use
	// for a token.
	lone bool
	key  ssh.Signer
}

// Credentials reads the credentials, including those in files.
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
			// go-git's message may quote the key.
			return c, Wrong("the first line must be like -----BEGIN OPENSSH PRIVATE KEY-----; if the key is encrypted, set its passphrase",
				"SSH key is not a private key in PEM format, or the passphrase is wrong")
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

// usernameAt returns the user name that a host expects with a token.
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

// given returns a value, or the contents of the file that was named instead.
func given[T ~string | ~[]byte](what string, value T, path string) ([]byte, error) {
	if len(value) > 0 || path == "" {
		return []byte(value), nil
	}
	text, err := os.ReadFile(path)
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	if err != nil {
		return nil, Wrong("check the path and the file permissions", "cannot read %s file %q: %w", what, path, err)
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, Wrong("write the "+what+" to the file", "%s file %q is empty", what, path)
	}
	return text, nil
}

// roots returns the certificate authorities, or nil for those of the system.
func (a Auth) roots() (*x509.CertPool, error) {
	text, err := given("certificate", a.CAData, a.CAFile)
	if err != nil || len(text) == 0 {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, Wrong("the first line must be -----BEGIN CERTIFICATE-----", "certificate authority is not in PEM format")
	}
	return pool, nil
}

// secrets returns all forms in which the credentials could appear in a message.
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

// Clean redacts secrets in a message, for example from a server that repeats what it
// was sent.
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
