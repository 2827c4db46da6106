package git

import "example.dev/ingestor/source"

// Auth are the credentials, and how to verify the server. They override those in the
// address.
type Auth struct {
	// Username belongs to the token or the key. Empty means the one in the address,
	// otherwise the one that the host expects with a token, or "git".
	Username string
	// Token is a token or password for HTTP. TokenFile is a file that holds it instead;
	// it is read for each connection.
	Token     source.Secret
	TokenFile string

	// SSHKey is a private key in PEM. SSHKeyFile is a file that holds it instead; it is
	// read for each connection. Passphrase decrypts it.
	SSHKey     source.Secret
	SSHKeyFile string
	Passphrase source.Secret
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
