package service_test

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"maps"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/source"
)

// revealed is a cluster with its secrets as plain text, for comparison.
type revealed struct {
	source.Cluster
	Token, ClientSecret, RefreshToken string
}

func reveal(c source.Cluster) revealed {
	out := revealed{c, c.Token.Reveal(), c.OIDC.ClientSecret.Reveal(), c.OIDC.RefreshToken.Reveal()}
	out.Cluster.Token, out.OIDC.ClientSecret, out.OIDC.RefreshToken = "", "", ""
	return out
}

// TestConnectionKeys checks that every key of a cluster reaches the cluster
// client, from both lists of clusters. The tests named in connection check what
// each key does.
func TestConnectionKeys(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	put(t, secret, "from-file\n")
	farm := httptest.NewTLSServer(nil)
	farm.Close()
	ca, authority := bytes.TrimSpace(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: farm.Certificate().Raw})), filepath.Join(dir, "ca.pem")
	put(t, authority, string(ca))
	oidc := func(more sections) sections {
		out := sections{"issuer": "https://login.example.org", "clientId": "robot", "clientSecret": "s"}
		maps.Copy(out, more)
		maps.DeleteFunc(out, func(_ string, v any) bool { return v == nil })
		return sections{"authProvider": "oidc", "oidc": out}
	}
	person := func(more source.OIDC) source.Cluster {
		c := source.Cluster{Auth: "oidc", OIDC: source.OIDC{Issuer: "https://login.example.org", ClientID: "robot", ClientSecret: "s"}}
		c.OIDC.Scopes, c.OIDC.Audience, c.OIDC.CAFile, c.OIDC.CAData = more.Scopes, more.Audience, more.CAFile, more.CAData
		return c
	}
	token := func(key string) sections { return sections{"authProvider": "token", key: "t"} }
	cases := map[string]struct {
		settings sections
		want     source.Cluster
	}{
		"url":                     {sections{}, source.Cluster{Auth: "serviceAccount"}},
		"authProvider":            {token("token"), source.Cluster{Auth: "token", Token: "t"}},
		"serviceAccountToken":     {sections{"serviceAccountToken": "t"}, source.Cluster{Auth: "serviceAccount", Token: "t"}},
		"serviceAccountTokenFile": {sections{"serviceAccountTokenFile": secret}, source.Cluster{Auth: "serviceAccount", TokenFile: secret}},
		"token":                   {token("token"), source.Cluster{Auth: "token", Token: "t"}},
		"tokenFile":               {sections{"authProvider": "token", "tokenFile": secret}, source.Cluster{Auth: "token", TokenFile: secret}},
		"skipTLSVerify":           {sections{"skipTLSVerify": true}, source.Cluster{Auth: "serviceAccount", SkipTLSVerify: true}},
		"caFile":                  {sections{"caFile": authority}, source.Cluster{Auth: "serviceAccount", CAFile: authority}},
		"caData":                  {sections{"caData": string(ca)}, source.Cluster{Auth: "serviceAccount", CAData: ca}},
		"context":                 {sections{"url": nil, "kubeconfig": secret, "context": "dev"}, source.Cluster{Kubeconfig: secret, Context: "dev"}},
		"impersonate":             {sections{"impersonate": "user"}, source.Cluster{Auth: "serviceAccount", Impersonate: true}},
		"impersonateUserPrefix":   {sections{"impersonate": "user", "impersonateUserPrefix": "sso:"}, source.Cluster{Auth: "serviceAccount", Impersonate: true, UserPrefix: "sso:"}},
		"impersonateGroupPrefix":  {sections{"impersonate": "user", "impersonateGroupPrefix": "sso:"}, source.Cluster{Auth: "serviceAccount", Impersonate: true, GroupPrefix: "sso:"}},
		"oidc.issuer":             {oidc(nil), person(source.OIDC{})},
		"oidc.issuerUrl":          {oidc(sections{"issuer": nil, "issuerUrl": "https://login.example.org"}), person(source.OIDC{})},
		"oidc.clientId":           {oidc(nil), person(source.OIDC{})},
		"oidc.clientSecret":       {oidc(nil), person(source.OIDC{})},
		"oidc.clientSecretFile": {
			oidc(sections{"clientSecret": nil, "clientSecretFile": secret}),
			source.Cluster{Auth: "oidc", OIDC: source.OIDC{Issuer: "https://login.example.org", ClientID: "robot", ClientSecret: "from-file"}},
		},
		"oidc.refreshToken": {
			oidc(sections{"clientSecret": nil, "refreshToken": "r"}),
			source.Cluster{Auth: "oidc", OIDC: source.OIDC{Issuer: "https://login.example.org", ClientID: "robot", RefreshToken: "r"}},
		},
		"oidc.refreshTokenFile": {
			oidc(sections{"clientSecret": nil, "refreshTokenFile": secret}),
			source.Cluster{Auth: "oidc", OIDC: source.OIDC{Issuer: "https://login.example.org", ClientID: "robot", RefreshToken: "from-file"}},
		},
		"oidc.scopes":   {oidc(sections{"scopes": []any{"openid", "groups"}}), person(source.OIDC{Scopes: []string{"openid", "groups"}})},
		"oidc.audience": {oidc(sections{"audience": "clusters"}), person(source.OIDC{Audience: "clusters"})},
		"oidc.caFile":   {oidc(sections{"caFile": authority}), person(source.OIDC{CAFile: authority})},
		"oidc.caData":   {oidc(sections{"caData": string(ca)}), person(source.OIDC{CAData: ca})},
	}
	for key := range connection {
		tc, ok := cases[key]
		if !ok {
			t.Errorf("no row covers %s", key)
			continue
		}
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			settings := sections{"name": "prod", "url": "https://prod.example.org"}
			maps.Copy(settings, tc.settings)
			maps.DeleteFunc(settings, func(_ string, v any) bool { return v == nil })
			tc.want.Name = "prod"
			tc.want.URL, _ = settings["url"].(string)
			list := []any{settings}
			data, err := json.Marshal(sections{
				"composerIngestor": sections{"clusters": list},
				"orchestrator": sections{
					"serviceLocatorMethod": sections{"type": "multiTenant"}, "clusterLocatorMethods": []any{sections{"type": "config", "clusters": list}},
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "app-config.yaml")
			put(t, path, string(data))
			c, findings := config.Load([]string{path}, config.Options{})
			if finding.Count(findings, finding.Error) > 0 {
				t.Fatal(findings)
			}
			for name, got := range map[string][]source.Cluster{"variant A": c.Composer.Clusters, "variant B": c.Orchestrator.Clusters} {
				if len(got) != 1 {
					t.Fatalf("%s has %d clusters, want 1", name, len(got))
				}
				if diff := cmp.Diff(reveal(tc.want), reveal(got[0])); diff != "" {
					t.Errorf("%s: %s", name, diff)
				}
			}
		})
	}
}
