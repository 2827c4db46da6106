// Package integration converts the configured repository servers to hosts that steps
// may write to.
package integration

import (
	"strings"

	"example.dev/ingestor/action/publish"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/sink/git"
)

// Hosts returns the servers of a configuration, by name. Names are case-insensitive,
// and the port of https may be left out.
func Hosts(c config.Integrations) publish.Hosts {
	all := make(map[string]publish.Host, len(c.Hosts))
	for _, h := range c.Hosts {
		all[canonical(h.Name)] = publish.Host{
			Kind: h.Kind, URL: h.URL, API: h.API,
			Auth: git.Auth{
				Username: h.Username, Token: h.Token, TokenFile: h.TokenFile,
				SSHKeyFile: h.SSHKeyFile, Passphrase: h.Passphrase,
				KnownHostsFile: h.KnownHostsFile, HostKey: h.HostKey,
				CAFile: h.CAFile, CAData: h.CAData, SkipTLSVerify: h.SkipTLSVerify,
			},
		}
	}
	return publish.HostsFunc(func(name string) (publish.Host, bool) {
		h, ok := all[canonical(name)]
		return h, ok
	})
}

func canonical(name string) string { return strings.TrimSuffix(strings.ToLower(name), ":443") }
