package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestClusterMistakes holds what can be wrong with a cluster. Each text is an
// entry of a list.
func TestClusterMistakes(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		env    vars
		want   []string
	}{
		"Nothing": {
			reason: "a cluster has a name and an address",
			text:   "{}",
			want: []string{
				"a.yaml:3:7: CONF006 composerIngestor.clusters[0] has no name | give it a name",
				"a.yaml:3:7: CONF006 composerIngestor.clusters[0] has neither url nor kubeconfig | write the address of its API server, or kubeconfig, the path of a file that has it",
			},
		},
		"NameForm": {
			reason: "a name stands on a line of a terminal",
			text:   "{ name: \"a\\nb\", url: 'https://x' }",
			want: []string{
				`a.yaml:3:15: CONF005 composerIngestor.clusters[0].name: want a name without control characters and without spaces around it, found "a\nb"`,
			},
		},
		"NameSpaces": {
			reason: "nobody sees a space",
			text:   "{ name: 'a ', url: 'https://x' }",
			want: []string{
				`a.yaml:3:15: CONF005 composerIngestor.clusters[0].name: want a name without control characters and without spaces around it, found "a "`,
			},
		},
		"NameAll": {
			reason: "the command line has another meaning for it",
			text:   "{ name: all, url: 'https://x' }",
			want: []string{
				`a.yaml:3:15: CONF005 composerIngestor.clusters[0].name: "all" means every cluster on the command line | choose another name`,
			},
		},
		"NameTwice": {
			reason: "people choose by name",
			text:   "{ name: a, url: 'https://x' }\n    - { name: a, url: 'https://y' }",
			want: []string{
				`a.yaml:4:15: CONF010 composerIngestor.clusters[1].name: "a" is the name of another one, at a.yaml:3:15 | rename or remove one of the two`,
			},
		},
		"NameTwiceHidden": {
			reason: "a name out of the environment is not shown",
			text:   "{ name: '${N}', url: 'https://x' }\n    - { name: '${N}', url: 'https://x' }",
			env:    vars{"N": "s3cr3t"},
			want: []string{
				"a.yaml:4:15: CONF010 composerIngestor.clusters[1].name: what the environment variable N holds is the name of another one, at a.yaml:3:15 | rename or remove one of the two",
			},
		},
		"URLScheme": {
			reason: "an address of another kind",
			text:   "{ name: a, url: 'ftp://x' }",
			want: []string{
				"a.yaml:3:23: CONF005 composerIngestor.clusters[0].url: want an address that begins with https:// or http://, and a host | write it as in https://10.0.0.1:6443",
			},
		},
		"URLBare": {
			reason: "an address without a scheme",
			text:   "{ name: a, url: 10.0.0.1:6443 }",
			want: []string{
				"a.yaml:3:23: CONF005 composerIngestor.clusters[0].url: want an address that begins with https:// or http://, and a host | write it as in https://10.0.0.1:6443",
			},
		},
		"URLHost": {
			reason: "an address without a host",
			text:   "{ name: a, url: 'https://:6443' }",
			want: []string{
				"a.yaml:3:23: CONF005 composerIngestor.clusters[0].url: want an address that begins with https:// or http://, and a host | write it as in https://10.0.0.1:6443",
			},
		},
		"URLPort": {
			reason: "a port that does not exist",
			text:   "{ name: a, url: 'https://x:66666' }",
			want: []string{
				"a.yaml:3:23: CONF005 composerIngestor.clusters[0].url: want an address that begins with https:// or http://, and a host | write it as in https://10.0.0.1:6443",
			},
		},
		"URLCredentials": {
			reason: "credentials are not taken, and not shown",
			text:   "{ name: a, url: 'https://me:s3cr3t@x' }",
			want: []string{
				"a.yaml:3:23: CONF011 composerIngestor.clusters[0].url has credentials in it, where they end in logs | remove what stands before the @, and give the credentials by keys of their own",
			},
		},
		"URLCredentialsMalformed": {
			reason: "not even if the rest is wrong",
			text:   "{ name: a, url: 'https://me:s3cr3t@x:port/%zz' }",
			want: []string{
				"a.yaml:3:23: CONF005 composerIngestor.clusters[0].url: want an address that begins with https:// or http://, and a host | write it as in https://10.0.0.1:6443",
			},
		},
		"URLQuery": {
			reason: "a query would be lost, and may hold a token",
			text:   "{ name: a, url: 'https://x?token=s3cr3t' }",
			want: []string{
				"a.yaml:3:23: CONF005 composerIngestor.clusters[0].url: want an address without a query | remove what stands after the ? or #",
			},
		},
		"PlainToken": {
			reason: "a token is not sent in the clear",
			text:   "{ name: a, url: 'http://x', serviceAccountToken: t }",
			want: []string{
				"a.yaml:3:23: CONF011 composerIngestor.clusters[0].url would carry the token over plain HTTP | use https",
			},
		},
		"PlainTokenFile": {
			reason: "nor one from a file",
			text:   "{ name: a, url: 'http://10.0.0.1', authProvider: token, tokenFile: t }",
			want: []string{
				"a.yaml:3:23: CONF011 composerIngestor.clusters[0].url would carry the token over plain HTTP | use https",
			},
		},
		"PlainLoopback": {
			reason: "a tunnel on this machine is fine",
			text: "{ name: a, url: 'http://localhost:8001', token: t }\n    - { name: b, url: 'http://127.0.0.2', token: t }\n" +
				"    - { name: c, url: 'http://[::1]:1', token: t }\n    - { name: d, url: 'http://x.localhost', token: t }",
		},
		"PlainWithoutToken": {
			reason: "a token that is not written here would come from elsewhere",
			text:   "{ name: a, url: 'http://x' }\n    - { name: b, url: 'http://x', authProvider: serviceAccount }\n    - { name: c, url: 'http://localhost:8001' }",
			want: []string{
				"a.yaml:3:23: CONF011 composerIngestor.clusters[0].url would carry the token over plain HTTP | use https",
				"a.yaml:4:23: CONF011 composerIngestor.clusters[1].url would carry the token over plain HTTP | use https",
			},
		},
		"PlainUnknown": {
			reason: "a way that is wrong has no token of its own",
			text:   "{ name: a, url: 'http://x', authProvider: magic }\n    - { name: b, url: 'http://x', authProvider: magic, token: t }",
			want: []string{
				`a.yaml:3:49: CONF005 composerIngestor.clusters[0].authProvider: want serviceAccount, oidc or token, found "magic"`,
				"a.yaml:4:23: CONF011 composerIngestor.clusters[1].url would carry the token over plain HTTP | use https",
				`a.yaml:4:49: CONF005 composerIngestor.clusters[1].authProvider: want serviceAccount, oidc or token, found "magic"`,
			},
		},
		"LoopbackLookalike": {
			reason: "a name that begins like an address of this machine",
			text:   "{ name: a, url: 'http://127.0.0.1.example.org', token: t }",
			want: []string{
				"a.yaml:3:23: CONF011 composerIngestor.clusters[0].url would carry the token over plain HTTP | use https",
			},
		},
		"AuthUnknown": {
			reason: "one of three, and nothing else is wrong because of it",
			text:   "{ name: a, url: 'https://x', authProvider: serviceaccount, oidc: { issuer: 'https://i', clientId: c, clientSecret: s } }",
			want: []string{
				`a.yaml:3:50: CONF005 composerIngestor.clusters[0].authProvider: want serviceAccount, oidc or token, found "serviceaccount" | did you mean serviceAccount?`,
			},
		},
		"AuthForeign": {
			reason: "what Backstage has and we do not",
			text:   "{ name: a, url: 'https://x', authProvider: googleServiceAccount }",
			want: []string{
				"a.yaml:3:50: CONF012 composerIngestor.clusters[0].authProvider: googleServiceAccount is not supported | use a service account's token, or a kubeconfig that runs the provider's command",
			},
		},
		"TokenMissing": {
			reason: "authProvider token needs one",
			text:   "{ name: a, url: 'https://x', authProvider: token }",
			want: []string{
				"a.yaml:3:36: CONF006 composerIngestor.clusters[0] has authProvider token, but no token | write token: ${NAME}, or tokenFile",
			},
		},
		"TokenTwice": {
			reason: "all keys but the first are too many",
			text:   "{ name: a, url: 'https://x', token: s3cr3t, tokenFile: t, serviceAccountToken: s3cr3t }",
			want: []string{
				"a.yaml:3:65: CONF007 composerIngestor.clusters[0].serviceAccountToken cannot be used together with token at a.yaml:3:36 | keep one of the two",
				"a.yaml:3:65: CONF007 composerIngestor.clusters[0].serviceAccountToken cannot be used together with tokenFile at a.yaml:3:51 | keep one of the two",
			},
		},
		"TokenType": {
			reason: "a token is never shown, whatever it is",
			text:   "{ name: a, url: 'https://x', token: 31337 }\n    - { name: b, url: 'https://x', token: { s3cr3t: x } }\n    - { name: c, url: 'https://x', token: ['s3cr3t'] }",
			want: []string{
				"a.yaml:3:43: CONF004 composerIngestor.clusters[0].token: want text, found a number | put it in quotes",
				"a.yaml:4:43: CONF004 composerIngestor.clusters[1].token: want text, found a map",
				"a.yaml:5:43: CONF004 composerIngestor.clusters[2].token: want text, found a list",
			},
		},
		"TokenForm": {
			reason: "a token with a space or a line break is refused by every server",
			text:   "{ name: a, url: 'https://x', token: Bearer s3cr3t }\n    - { name: b, url: 'https://x', token: \"s3\\ncr3t\" }\n    - { name: c, url: 'https://x', token: '${T}' }",
			env:    vars{"T": "s3cr3t "},
			want: []string{
				"a.yaml:3:43: CONF005 composerIngestor.clusters[0].token holds a character that no secret can have, at position 7 | remove spaces and line breaks; a file must hold the secret alone",
				"a.yaml:4:43: CONF005 composerIngestor.clusters[1].token holds a character that no secret can have, at position 3 | remove spaces and line breaks; a file must hold the secret alone",
				"a.yaml:5:43: CONF005 composerIngestor.clusters[2].token holds a character that no secret can have, at position 7 of the environment variable T | remove spaces and line breaks; a file must hold the secret alone",
			},
		},
		"TokenEmpty": {
			reason: "an empty variable is a mistake in the environment",
			text:   "{ name: a, url: 'https://x', token: '${T}' }\n    - { name: b, url: 'https://x', token: '' }",
			env:    vars{"T": ""},
			want: []string{
				"a.yaml:3:43: CONF005 composerIngestor.clusters[0].token is empty, because the environment variable T is | write a value, or remove it",
				"a.yaml:4:43: CONF005 composerIngestor.clusters[1].token is empty | write a value, or remove it",
			},
		},
		"TokenUnset": {
			reason: "the variable is named",
			text:   "{ name: a, url: 'https://x', authProvider: token, token: '${T}' }",
			want: []string{
				"a.yaml:3:64: CONF008 composerIngestor.clusters[0].token needs the environment variable T, which is not set | set it",
			},
		},
		"OIDCAndToken": {
			reason: "oidc gets its own token",
			text:   "{ name: a, url: 'https://x', authProvider: oidc, token: t, oidc: { issuer: 'https://i', clientId: c, clientSecret: s } }",
			want: []string{
				"a.yaml:3:56: CONF007 composerIngestor.clusters[0].token cannot be used together with authProvider oidc, which gets its own token | remove it, or write authProvider: token",
			},
		},
		"OIDCMissing": {
			reason: "oidc needs to know where",
			text:   "{ name: a, url: 'https://x', authProvider: oidc }",
			want: []string{
				"a.yaml:3:36: CONF006 composerIngestor.clusters[0] has authProvider oidc, but no oidc | write oidc with issuer, clientId, and clientSecret or refreshToken",
			},
		},
		"OIDCEmpty": {
			reason: "oidc needs an issuer, a client and a secret",
			text:   "{ name: a, url: 'https://x', authProvider: oidc, oidc: {} }",
			want: []string{
				"a.yaml:3:62: CONF006 composerIngestor.clusters[0].oidc has no clientId | write the name under which the issuer knows this program",
				"a.yaml:3:62: CONF006 composerIngestor.clusters[0].oidc has neither clientSecret nor refreshToken | write clientSecret: ${NAME}, refreshToken: ${NAME}, or clientSecretFile or refreshTokenFile",
				"a.yaml:3:62: CONF006 composerIngestor.clusters[0].oidc has no issuer | write the address of the issuer",
			},
		},
		"OIDCTwice": {
			reason: "two spellings, two ways",
			text:   "{ name: a, url: 'https://x', authProvider: oidc, oidc: { issuer: 'https://i', issuerUrl: 'https://i', clientId: c, clientSecret: s, clientSecretFile: f, refreshToken: s, refreshTokenFile: f } }",
			want: []string{
				"a.yaml:3:85: CONF007 composerIngestor.clusters[0].oidc.issuerUrl cannot be used together with issuer at a.yaml:3:64 | keep one of the two",
				"a.yaml:3:139: CONF007 composerIngestor.clusters[0].oidc.clientSecretFile cannot be used together with clientSecret at a.yaml:3:122 | keep one of the two",
				`a.yaml:3:157: CONF009 composerIngestor.clusters[0].oidc.clientSecretFile: cannot read the file "f": there is no such file | check the spelling`,
				"a.yaml:3:177: CONF007 composerIngestor.clusters[0].oidc.refreshTokenFile cannot be used together with refreshToken at a.yaml:3:160 | keep one of the two",
				`a.yaml:3:195: CONF009 composerIngestor.clusters[0].oidc.refreshTokenFile: cannot read the file "f": there is no such file | check the spelling`,
			},
		},
		"OIDCPlain": {
			reason: "an issuer is asked over https, as is the cluster",
			text:   "{ name: a, url: 'http://x', authProvider: oidc, oidc: { issuerUrl: 'http://i', clientId: c, refreshToken: s } }",
			want: []string{
				"a.yaml:3:23: CONF011 composerIngestor.clusters[0].url would carry the token over plain HTTP | use https",
				"a.yaml:3:74: CONF011 composerIngestor.clusters[0].oidc.issuerUrl would carry credentials over plain HTTP | use https",
			},
		},
		"OIDCUnused": {
			reason: "settings that nobody reads",
			text:   "{ name: a, url: 'https://x', oidc: { issuer: 'https://i', clientId: c, clientSecret: s } }",
			want: []string{
				"a.yaml:3:36: CONF007 composerIngestor.clusters[0].oidc has no meaning with authProvider serviceAccount | write authProvider: oidc, or remove it",
			},
		},
		"OIDCUnknown": {
			reason: "strict here too",
			text:   "{ name: a, url: 'https://x', authProvider: oidc, oidc: { issuer: 'https://i', clientID: c, clientId: c, clientSecret: s, scopes: openid } }",
			want: []string{
				`a.yaml:3:85: CONF003 composerIngestor.clusters[0].oidc has no key "clientID" | did you mean clientId? it has issuerUrl, issuer, clientId, clientSecret, clientSecretFile, refreshToken, refreshTokenFile, scopes, audience, caFile and caData`,
				`a.yaml:3:136: CONF004 composerIngestor.clusters[0].oidc.scopes: want a list, found "openid" | write [ ] around it, or each entry on a line of its own that begins with a dash`,
			},
		},
		"OIDCFile": {
			reason: "a secret in a file that is not there, and one that is no secret",
			text:   "{ name: a, url: 'https://x', authProvider: oidc, oidc: { issuer: 'https://i', clientId: c, clientSecretFile: none, refreshTokenFile: two-lines } }",
			want: []string{
				`a.yaml:3:116: CONF009 composerIngestor.clusters[0].oidc.clientSecretFile: cannot read the file "none": there is no such file | check the spelling`,
				`a.yaml:3:140: CONF005 composerIngestor.clusters[0].oidc.refreshTokenFile holds a character that no secret can have, at position 3 of the file "two-lines" | remove spaces and line breaks; a file must hold the secret alone`,
			},
		},
		"OIDCFileHidden": {
			reason: "whoever puts the secret where its file belongs does not see it again",
			text:   "{ name: a, url: 'https://x', authProvider: oidc, oidc: { issuer: 'https://i', clientId: c, clientSecretFile: '${S}', refreshToken: { $file: '${S}' } } }",
			env:    vars{"S": "s3cr3t"},
			want: []string{
				"a.yaml:3:116: CONF009 composerIngestor.clusters[0].oidc.clientSecretFile: cannot read the file that the environment variable S names: there is no such file | check the spelling",
				"a.yaml:3:138: CONF009 composerIngestor.clusters[0].oidc.refreshToken: cannot read the file that the environment variable S names: there is no such file | check the spelling",
			},
		},
		"KubeconfigNothing": {
			reason: "a list of paths without a path",
			text:   "{ name: a, kubeconfig: '::' }",
			want:   []string{`a.yaml:3:30: CONF005 composerIngestor.clusters[0].kubeconfig: want a path, found "::"`},
		},
		"Authority": {
			reason: "an authority is a certificate, given once, and asked",
			text: "{ name: a, url: 'https://x', caData: bm90IFBFTQ== }\n    - { name: b, url: 'https://x', caData: '%%%' }\n" +
				"    - { name: c, url: 'https://x', caFile: f, caData: '-----BEGIN CERTIFICATE-----' }\n    - { name: d, url: 'https://x', caFile: f, skipTLSVerify: true }",
			want: []string{
				"a.yaml:3:44: CONF005 composerIngestor.clusters[0].caData: want certificates in PEM | write the text of the PEM file, or that text in base64",
				"a.yaml:4:44: CONF005 composerIngestor.clusters[1].caData: want certificates in PEM | write the text of the PEM file, or that text in base64",
				"a.yaml:5:47: CONF007 composerIngestor.clusters[2].caData cannot be used together with caFile at a.yaml:5:36 | keep one of the two",
				"a.yaml:5:55: CONF005 composerIngestor.clusters[2].caData: want certificates in PEM | write the text of the PEM file, or that text in base64",
				"a.yaml:6:47: CONF007 composerIngestor.clusters[3].skipTLSVerify cannot be used together with the authority of a certificate, which it would not ask | remove skipTLSVerify: the certificate is checked then",
			},
		},
		"Kubeconfig": {
			reason: "a kubeconfig says the rest itself",
			text:   "{ name: a, kubeconfig: k, url: 'https://x', token: t, skipTLSVerify: false }",
			want: []string{
				"a.yaml:3:33: CONF007 composerIngestor.clusters[0].url cannot be used together with kubeconfig at a.yaml:3:18 | keep one of the two",
				"a.yaml:3:51: CONF007 composerIngestor.clusters[0].token cannot be used together with kubeconfig at a.yaml:3:18 | keep one of the two",
				"a.yaml:3:61: CONF007 composerIngestor.clusters[0].skipTLSVerify cannot be used together with kubeconfig at a.yaml:3:18 | keep one of the two",
			},
		},
		"KubeconfigOIDC": {
			reason: "and each mistake is told once",
			text:   "{ name: a, kubeconfig: k, authProvider: oidc, oidc: { issuer: 'https://i', clientId: c, clientSecret: s } }",
			want: []string{
				"a.yaml:3:33: CONF007 composerIngestor.clusters[0].authProvider cannot be used together with kubeconfig at a.yaml:3:18 | keep one of the two",
				"a.yaml:3:53: CONF007 composerIngestor.clusters[0].oidc cannot be used together with kubeconfig at a.yaml:3:18 | keep one of the two",
			},
		},
		"Home": {
			reason: "only a shell knows the tilde",
			text:   "{ name: a, kubeconfig: ~/.kube/config }",
			want: []string{
				`a.yaml:3:30: CONF005 composerIngestor.clusters[0].kubeconfig: want a path, found "~/.kube/config" | write ${HOME} for ~, which only a shell knows`,
			},
		},
		"ContextAlone": {
			reason: "a context is in a kubeconfig",
			text:   "{ name: a, url: 'https://x', context: c }",
			want: []string{
				"a.yaml:3:36: CONF007 composerIngestor.clusters[0].context has no meaning without kubeconfig | write kubeconfig, the path of the file that has the context",
			},
		},
		"Unknown": {
			reason: "keys that Backstage has for its pages are not offered",
			text:   "{ name: a, url: 'https://x', skipTlsVerify: true, title: t, dashboardUrl: d, authMetadata: {} }",
			want: []string{
				`a.yaml:3:36: CONF003 composerIngestor.clusters[0] has no key "skipTlsVerify" | did you mean skipTLSVerify? it has name, url, authProvider, serviceAccountToken, serviceAccountTokenFile, token, tokenFile, oidc, skipTLSVerify, caFile, caData, kubeconfig, context, impersonate, impersonateUserPrefix and impersonateGroupPrefix`,
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			files := disk{"a.yaml": "composerIngestor:\n  clusters:\n    - " + tc.text + "\n", "two-lines": "s3\ncr3t\n"}
			_, fs := Load([]string{"a.yaml"}, Options{Lookup: tc.env.lookup, ReadFile: files.read})
			got := lines(fs)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
			for _, line := range got {
				if strings.Contains(line, "s3cr3t") || strings.Contains(line, "31337") {
					t.Errorf("%s\na secret is shown: %s", tc.reason, line)
				}
			}
		})
	}
}
