package git

import (
	"cmp"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"golang.org/x/crypto/ssh"

	"example.dev/ingestor/source"
)

// Auth is how to prove who one is, and how the server does. What stands here
// goes before what stands in the address.
type Auth struct {
	// Username goes with the token or the key. Empty means the one in the
	// address, else what the host is known to expect beside a token, or "git".
	Username string
	// Token is a token or password for HTTP. TokenFile is a file that holds it
	// instead, read again each time.
	Token     source.Secret
	TokenFile string

	// SSHKey is a private key in PEM. SSHKeyFile is a file that holds it
	// instead, read again each time. Passphrase unlocks it.
	SSHKey     source.Secret
	SSHKeyFile string
	Passphrase source.Secret
	// KnownHosts are lines of a known_hosts file, and KnownHostsFile is such a
	// file; a host must be in one of them. HostKey names the key of the host
	// instead of both: "ssh-ed25519 AAAA…", or "SHA256:…", its fingerprint. A
	// key that nobody named is refused.
	KnownHosts     []byte
	KnownHostsFile string
	HostKey        string

	// CAFile or CAData, in PEM, is the authority that signed the server's
	// certificate; without either it is one the system knows.
	CAFile string
	CAData []byte
	// SkipTLSVerify believes any certificate.
	SkipTLSVerify bool
}

// usernames are what hosts expect beside a token, by a part of their name.
var usernames = []struct{ host, user string }{
	{"github", "x-access-token"},
	{"gitlab", "oauth2"},
	{"bitbucket", "x-token-auth"},
}

const anybody = "git"

// credentials are what one Read or Head proves itself with.
type credentials struct {
	user, password string
	// lone is a user name of a web address without a password, which is how
	// some write a token.
	lone bool
	key  ssh.Signer
}

// credentials reads them, from files too.
func (a Auth) credentials(at address) (credentials, error) {
	c := credentials{user: cmp.Or(a.Username, at.user.Reveal()), password: at.password.Reveal()}
	var err error
	switch at.kind {
	case shell:
		c.user = cmp.Or(c.user, anybody)
		c.key, err = a.signer()
	case web:
		var token string
		token, err = a.token()
		c.password = cmp.Or(token, c.password)
		c.lone = a.Username == "" && c.user != "" && c.password == ""
		if c.user == "" && c.password != "" {
			c.user = usernameAt(at.url.Hostname())
		}
	}
	return c, err
}

// token returns the token, or "" if there is none.
func (a Auth) token() (string, error) {
	if a.Token != "" || a.TokenFile == "" {
		return a.Token.Reveal(), nil
	}
	text, err := readFile("token", a.TokenFile)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(text))
	if token == "" {
		return "", wrong("put a token into it", "the token file %q is empty", a.TokenFile)
	}
	return token, nil
}

func usernameAt(host string) string {
	for _, u := range usernames {
		if strings.Contains(strings.ToLower(host), u.host) {
			return u.user
		}
	}
	return anybody
}

// signer returns the key, or nil if there is none.
func (a Auth) signer() (ssh.Signer, error) {
	text, what := []byte(a.SSHKey.Reveal()), "the SSH key"
	if len(text) == 0 && a.SSHKeyFile == "" {
		return nil, nil
	}
	if len(text) == 0 {
		var err error
		if text, err = readFile("SSH key", a.SSHKeyFile); err != nil {
			return nil, err
		}
		what = "the SSH key file " + a.SSHKeyFile
	}
	key, err := ssh.ParsePrivateKey(text)
	if _, ok := errors.AsType[*ssh.PassphraseMissingError](err); ok {
		if a.Passphrase == "" {
			return nil, wrong("give its passphrase, or a key without one", "%s is locked", what)
		}
		key, err = ssh.ParsePrivateKeyWithPassphrase(text, []byte(a.Passphrase.Reveal()))
	}
	if errors.Is(err, x509.IncorrectPasswordError) {
		return nil, wrong("check the passphrase", "%s is locked, and the passphrase does not fit", what)
	}
	if err != nil {
		// The library's words may quote the key.
		return nil, wrong("it begins with a line such as -----BEGIN OPENSSH PRIVATE KEY-----", "%s is not a private key in PEM", what)
	}
	return key, nil
}

// readFile reads a small file that was named in the options.
func readFile(what, path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	if err != nil {
		return nil, wrong("check the path, and that it may be read", "the %s file %q cannot be read: %w", what, path, err)
	}
	return text, nil
}

// secrets are all forms in which they could come back in a message.
func (c credentials) secrets() []string {
	var all []string
	plain := []string{c.password}
	if c.lone {
		plain = append(plain, c.user)
	}
	for _, p := range plain {
		if p != "" {
			all = append(all, p, url.QueryEscape(p), url.PathEscape(p), base64.StdEncoding.EncodeToString([]byte(p)))
		}
	}
	if len(all) > 0 {
		all = append(all, base64.StdEncoding.EncodeToString([]byte(c.user+":"+c.password)))
	}
	return all
}
