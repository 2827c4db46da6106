package integration

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/action/publish"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/sink"
	"example.dev/ingestor/sink/git"
)

// text is a configuration with all keys of a server.
const text = `integrations:
  github:
    - token: t-one
    - { host: GHE.example.org, tokenFile: /secrets/ghe, apiBaseUrl: "https://ghe.example.org/api/v3", caFile: /ca.pem }
  gitea:
    - { host: "git.example.org:8443", username: me, password: t-two, baseUrl: "https://git.example.org:8443/git", skipTLSVerify: true }
  git:
    - { host: ssh.example.org, url: "ssh://git@ssh.example.org", sshKeyFile: /secrets/key, passphrase: t-three, knownHostsFile: /known }
    - { host: keys.example.org, url: "ssh://git@keys.example.org", sshKeyFile: /secrets/key, hostKey: "SHA256:abc" }
`

func TestHosts(t *testing.T) {
	c, found := config.Load([]string{"a.yaml"}, config.Options{
		ReadFile: func(string) ([]byte, error) { return []byte(text), nil },
		Sections: []string{config.SectionIntegrations},
	})
	if len(found) > 0 {
		t.Fatalf("findings are %v, want none", found)
	}
	hosts := Hosts(c.Integrations)
	github := publish.Host{Kind: "github", Auth: git.Auth{Token: "t-one"}}
	gitea := publish.Host{Kind: "gitea", URL: "https://git.example.org:8443/git", Auth: git.Auth{Username: "me", Token: "t-two", SkipTLSVerify: true}}
	cases := map[string]struct {
		reason, name string
		want         publish.Host
		ok           bool
	}{
		"Public":      {"GitHub needs no host.", "github.com", github, true},
		"Case":        {"Hosts are not case-sensitive.", "GitHub.COM", github, true},
		"UsualPort":   {"The default port is ignored.", "github.com:443", github, true},
		"Files":       {"Files and the API URL are used.", "ghe.example.org", publish.Host{Kind: "github", API: "https://ghe.example.org/api/v3", Auth: git.Auth{TokenFile: "/secrets/ghe", CAFile: "/ca.pem"}}, true},
		"Port":        {"A port is part of the host.", "git.example.org:8443", gitea, true},
		"OtherPort":   {"Another port is another host.", "git.example.org:9443", publish.Host{}, false},
		"NoPort":      {"A missing port is another host.", "git.example.org", publish.Host{}, false},
		"SSH":         {"keys", "ssh.example.org", publish.Host{Kind: "git", URL: "ssh://git@ssh.example.org", Auth: git.Auth{SSHKeyFile: "/secrets/key", Passphrase: "t-three", KnownHostsFile: "/known"}}, true},
		"Fingerprint": {"The host key is used.", "keys.example.org", publish.Host{Kind: "git", URL: "ssh://git@keys.example.org", Auth: git.Auth{SSHKeyFile: "/secrets/key", HostKey: "SHA256:abc"}}, true},
		"Stranger":    {"A host that is not configured is unknown.", "evil.example.org", publish.Host{}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok := hosts.Host(tc.name)
			reveal := cmp.Comparer(func(a, b sink.Secret) bool { return a.Reveal() == b.Reveal() })
			if diff := cmp.Diff(tc.want, got, reveal); diff != "" || ok != tc.ok {
				t.Errorf("%s: found %v (-want +got):\n%s", tc.reason, ok, diff)
			}
		})
	}
}

// TestNoHosts checks that a portal without a configuration knows no host.
func TestNoHosts(t *testing.T) {
	if h, ok := Hosts(config.Integrations{}).Host("github.com"); ok {
		t.Errorf("unconfigured host is %+v", h)
	}
}
