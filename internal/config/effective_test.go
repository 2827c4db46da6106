package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source"
)

// TestEffective checks that the printed configuration is equivalent, apart from
// secrets.
func TestEffective(t *testing.T) {
	env := vars{"PG": "postgres://me:s3cr3t4@db/portal", "PASSWORD": "s3cr3t5 x", "CI": "s3cr3t6-0123456789", "OIDC": "s3cr3t7", "SESSION": "s3cr3t8-0123456789", "REDIS": "rediss://me:s3cr3t9@redis/2", "ONE": "s3cr3t1", "THREE": "s3cr3t2", "ORCHESTRATOR_API_URL": "https://six", "ORCHESTRATOR_CLUSTER_NAME": "six", "ORCHESTRATOR_SERVICE_ACCOUNT_TOKEN": "s3cr3t3", "ORCHESTRATOR_CA_FILE": "/six.pem", "KEY": "s3cr3t10-0123456789", "OTLP": "s3cr3t11"}
	for name, text := range map[string]string{"Defaults": "", "Everything": everything, "Upstream": upstream(everything), "Portal": portal, "PortalURL": portalURL, "Making": making, "NobodySignsIn": "auth: { providers: {} }"} {
		t.Run(name, func(t *testing.T) {
			first := mustLoad(t, text, env)
			printed := string(tree.AppendYAML(nil, first.Effective()))
			if strings.Contains(printed, "s3cr3t") {
				t.Fatalf("output contains a secret:\n%s", printed)
			}
			printed = strings.ReplaceAll(printed, "store: redis\n    connection: \"********\"", "store: redis\n    connection: redis://hidden")
			printed = strings.ReplaceAll(printed, `connection: "********"`, "connection: postgres://hidden")
			again := mustLoad(t, strings.ReplaceAll(printed, `"********"`, "hidden-from-everybody"), nil)
			if d := diff(masked(first), masked(again)); d != "" {
				t.Errorf("configurations differ (-first +again):\n%s\n%s", d, printed)
			}
		})
	}
}

// masked sets all secrets to the same value.
func masked(c *Config) *Config {
	for _, list := range [][]source.Cluster{c.Composer.Clusters, c.Orchestrator.Clusters} {
		for i := range list {
			hide(&list[i].Token, &list[i].OIDC.ClientSecret)
		}
	}
	for i := range c.Composer.Sources {
		hide(&c.Composer.Sources[i].Token)
	}
	for i := range c.Backend.ExternalAccess {
		hide(&c.Backend.ExternalAccess[i].Token)
	}
	for name := range c.Backend.Telemetry.Headers {
		c.Backend.Telemetry.Headers[name] = "hidden"
	}
	for i := range c.Integrations.Hosts {
		hide(&c.Integrations.Hosts[i].Token, &c.Integrations.Hosts[i].Passphrase)
	}
	hide(&c.Scaffolder.SecretKey, &c.Backend.Database.URL, &c.Backend.Cache.Connection, &c.Auth.OIDC.ClientSecret, &c.Auth.SessionSecret)
	return c
}

func hide(secrets ...*source.Secret) {
	for _, secret := range secrets {
		if *secret != "" {
			*secret = "hidden"
		}
	}
}

// TestEffectiveText checks the printed text.
func TestEffectiveText(t *testing.T) {
	c, _ := Load([]string{"conf/a.yaml"}, Options{
		ReadFile: disk{"conf/a.yaml": "crossplaneIngestor:\n  clusters:\n    - { name: a, url: 'https://x', token: abc, caFile: ca.pem }\n"}.read,
		Sections: []string{SectionComposer},
	})
	want := `words: auto
composerIngestor:
  enabled: true
  defaultOwner: platform-team
  defaultSystem: platform
  schedule:
    frequency: 5m
    timeout: 2m
  watch: true
  clusters:
    - name: a
      url: https://x
      authProvider: serviceAccount
      token: "********"
      skipTLSVerify: false
      caFile: conf/ca.pem
`
	got := string(tree.AppendYAML(nil, c.Effective()))
	if !strings.HasPrefix(got, want) {
		t.Error(cmp.Diff(want, got))
	}
}

// TestEffectiveUnread checks that nothing is printed if the configuration cannot
// be read.
func TestEffectiveUnread(t *testing.T) {
	c, fs := Load([]string{"nowhere.yaml"}, Options{ReadFile: disk{}.read})
	if finding.Count(fs, finding.Error) != 1 || c.Effective().Len() != 0 {
		t.Errorf("findings are %q, configuration is %s", lines(fs), tree.AppendYAML(nil, c.Effective()))
	}
}
