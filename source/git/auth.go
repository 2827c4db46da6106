package git

import "example.dev/ingestor/source"

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
