package git

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"net"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// knownHosts are the keys that hosts are known by. The library reads such lines
// from files only, and these may come as values.
type knownHosts struct {
	addr string
	// given is a key, and print a fingerprint, that was named outright.
	given ssh.PublicKey
	print string
	// keys are those of the host, authorities those that may sign for it, and
	// revoked those nobody may use.
	keys, authorities, revoked []ssh.PublicKey
}

// hosts reads what is known of the host.
func (a Auth) hosts(addr string) (*knownHosts, error) {
	h := &knownHosts{addr: addr}
	if key := strings.TrimSpace(a.HostKey); key != "" {
		if strings.HasPrefix(key, "SHA256:") {
			h.print = strings.TrimRight(key, "=")
			return h, nil
		}
		var err error
		if h.given, _, _, _, err = ssh.ParseAuthorizedKey([]byte(key)); err != nil {
			return nil, wrong(`write "ssh-ed25519 AAAA…", or "SHA256:…"`, "the host key is neither a public key nor a fingerprint")
		}
		return h, nil
	}
	h.read(a.KnownHosts)
	if a.KnownHostsFile != "" {
		text, err := readFile("known_hosts", a.KnownHostsFile)
		if err != nil {
			return nil, err
		}
		h.read(text)
	}
	return h, nil
}

// read takes the lines about the host. Like other programs it passes over lines
// it cannot read.
func (h *knownHosts) read(text []byte) {
	for line := range bytes.Lines(text) {
		// The library takes a remark of several words for a mistake.
		fields := bytes.Fields(line)
		n := 3
		if bytes.HasPrefix(bytes.TrimSpace(line), []byte("@")) {
			n++
		}
		fields = fields[:min(n, len(fields))]
		marker, hosts, key, _, _, err := ssh.ParseKnownHosts(bytes.Join(fields, []byte(" ")))
		if err != nil || !matchHosts(hosts, knownhosts.Normalize(h.addr)) {
			continue
		}
		switch marker {
		case "":
			h.keys = append(h.keys, key)
		case "cert-authority":
			h.authorities = append(h.authorities, key)
		case "revoked":
			h.revoked = append(h.revoked, key)
		}
	}
}

// matchHosts reports whether a list of patterns fits a host. One that begins
// with an exclamation mark and fits rules it out.
func matchHosts(patterns []string, host string) bool {
	found := false
	for _, p := range patterns {
		name, not := strings.CutPrefix(p, "!")
		if !matchHost(name, host) {
			continue
		}
		if not {
			return false
		}
		found = true
	}
	return found
}

func matchHost(pattern, host string) bool {
	if !strings.HasPrefix(pattern, "|1|") {
		return matchWild(strings.ToLower(pattern), strings.ToLower(host))
	}
	salt, sum, _ := strings.Cut(strings.TrimPrefix(pattern, "|1|"), "|")
	key, err := base64.StdEncoding.DecodeString(salt)
	want, e := base64.StdEncoding.DecodeString(sum)
	if err != nil || e != nil {
		return false
	}
	mac := hmac.New(sha1.New, key)
	_, _ = mac.Write([]byte(host))
	return hmac.Equal(mac.Sum(nil), want)
}

// matchWild matches * and ?. There are no other special characters: brackets
// surround a host with a port.
func matchWild(pattern, text string) bool {
	for pattern != "" {
		if pattern[0] == '*' {
			for i := range len(text) + 1 {
				if matchWild(pattern[1:], text[i:]) {
					return true
				}
			}
			return false
		}
		if text == "" || pattern[0] != '?' && pattern[0] != text[0] {
			return false
		}
		pattern, text = pattern[1:], text[1:]
	}
	return text == ""
}

// check is asked for the key that a host shows.
func (h *knownHosts) check(addr string, remote net.Addr, key ssh.PublicKey) error {
	cert, ok := key.(*ssh.Certificate)
	if !ok {
		return h.plain(key)
	}
	if !among(h.authorities, cert.SignatureKey) {
		// The key in it may be known by itself.
		return h.plain(cert.Key)
	}
	checker := ssh.CertChecker{
		IsHostAuthority: func(by ssh.PublicKey, _ string) bool { return among(h.authorities, by) },
		IsRevoked:       func(c *ssh.Certificate) bool { return among(h.revoked, c.Key) || among(h.revoked, c.SignatureKey) },
	}
	err := checker.CheckHostKey(addr, remote, key)
	if err == nil {
		return nil
	}
	return wrong("check the certificate of the host, and the authority in known_hosts", "the host key of %q cannot be trusted: %w", h.name(), err)
}

func (h *knownHosts) plain(key ssh.PublicKey) error {
	shown := ssh.FingerprintSHA256(key)
	switch {
	case among(h.revoked, key):
		return wrong("ask whoever runs the host", "the host key of %q, %s, was revoked", h.name(), shown)
	case h.print != "" && h.print == shown, h.given != nil && among([]ssh.PublicKey{h.given}, key), among(h.keys, key):
		return nil
	case h.print == "" && h.given == nil && len(h.keys) == 0:
		return wrong("ask whoever runs the host whether it is theirs, then add it to known_hosts or name it as the host key",
			"the host key of %q, %s %s, is not known", h.name(), key.Type(), shown)
	}
	return wrong("if the host was given a new key, replace the old one in known_hosts; if not, somebody may be listening",
		"the host key of %q is not the one that is known: it shows %s %s", h.name(), key.Type(), shown)
}

func (h *knownHosts) name() string { return knownhosts.Normalize(h.addr) }

func among(keys []ssh.PublicKey, key ssh.PublicKey) bool {
	return slices.ContainsFunc(keys, func(k ssh.PublicKey) bool { return bytes.Equal(k.Marshal(), key.Marshal()) })
}

// algorithms are those of the keys that are known, so that a host with several
// shows one of them; nil means any.
func (h *knownHosts) algorithms() []string {
	keys := h.keys
	if h.given != nil {
		keys = []ssh.PublicKey{h.given}
	}
	var all []string
	for _, k := range keys {
		if k.Type() == ssh.KeyAlgoRSA {
			all = append(all, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256)
			continue
		}
		all = append(all, k.Type())
	}
	if len(h.authorities) > 0 {
		// The certificate may be for a key of any kind.
		return nil
	}
	return all
}
