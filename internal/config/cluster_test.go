package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestClusterMistakes checks the findings of a cluster. Each text is an entry of
// a list.
func TestClusterMistakes(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		env    vars
		want   []string
	}{
		"Nothing": {
			reason: "A cluster needs a name and a URL.",
			text:   "{}",
			want: []string{
				"a.yaml:3:7: CONF006 composerIngestor.clusters[0] has no name | write a name",
				"a.yaml:3:7: CONF006 composerIngestor.clusters[0] has neither url nor kubeconfig | write the address of its API server, or kubeconfig, the path of a file that has it",
			},
		},
		"NameForm": {
			reason: "A name has no control characters.",
			text:   "{ name: \"a\\nb\", url: 'https://x' }",
			want: []string{
				`a.yaml:3:15: CONF005 composerIngestor.clusters[0].name: want a name without control characters and without leading or trailing spaces, found "a\nb"`,
			},
		},
		"NameSpaces": {
			reason: "A name has no surrounding spaces, which are invisible.",
			text:   "{ name: 'a ', url: 'https://x' }",
			want: []string{
				`a.yaml:3:15: CONF005 composerIngestor.clusters[0].name: want a name without control characters and without leading or trailing spaces, found "a "`,
			},
		},
		"NameAll": {
			reason: "The name all has another meaning on the command line.",
			text:   "{ name: all, url: 'https://x' }",
			want: []string{
				`a.yaml:3:15: CONF005 composerIngestor.clusters[0].name: "all" means every cluster on the command line | choose another name`,
			},
		},
		"NameTwice": {
			reason: "Names are unique.",
			text:   "{ name: a, url: 'https://x' }\n    - { name: a, url: 'https://y' }",
			want: []string{
				`a.yaml:4:15: CONF010 composerIngestor.clusters[1].name: "a" is already used at a.yaml:3:15 | rename or remove one of the two`,
			},
		},
		"NameTwiceHidden": {
			reason: "A name from the environment is not shown.",
			text:   "{ name: '${N}', url: 'https://x' }\n    - { name: '${N}', url: 'https://x' }",
			env:    vars{"N": "s3cr3t"},
			want: []string{
				"a.yaml:4:15: CONF010 composerIngestor.clusters[1].name: the value of the environment variable N is already used at a.yaml:3:15 | rename or remove one of the two",
			},
		},
		"URLScheme": {
			reason: "A URL of another scheme is refused.",
			text:   "{ name: a, url: 'ftp://x' }",
			want: []string{
				"a.yaml:3:23: CONF005 composerIngestor.clusters[0].url: want an address that begins with https:// or http://, and a host | write it as in https://10.0.0.1:6443",
			},
		},
		"URLBare": {
			reason: "A URL needs a scheme.",
			text:   "{ name: a, url: 10.0.0.1:6443 }",
			want: []string{
				"a.yaml:3:23: CONF005 composerIngestor.clusters[0].url: want an address that begins with https:// or http://, and a host | write it as in https://10.0.0.1:6443",
			},
		},
		"URLHost": {
			reason: "A URL needs a host.",
			text:   "{ name: a, url: 'https://:6443' }",
			want: []string{
				"a.yaml:3:23: CONF005 composerIngestor.clusters[0].url: want an address that begins with https:// or http://, and a host | write it as in https://10.0.0.1:6443",
			},
		},
		"URLPort": {
			reason: "A port out of range is refused.",
			text:   "{ name: a, url: 'https://x:66666' }",
			want: []string{
				"a.yaml:3:23: CONF005 composerIngestor.clusters[0].url: want an address that begins with https:// or http://, and a host | write it as in https://10.0.0.1:6443",
			},
		},
		"URLCredentials": {
			reason: "Credentials in a URL are refused, and not shown.",
			text:   "{ name: a, url: 'https://me:s3cr3t@x' }",
			want: []string{
				"a.yaml:3:23: CONF011 composerIngestor.clusters[0].url contains credentials, which would be logged | remove everything before the @, and write the credentials under their own keys",
			},
		},
		"URLCredentialsMalformed": {
			reason: "Credentials in an invalid URL are not shown.",
			text:   "{ name: a, url: 'https://me:s3cr3t@x:port/%zz' }",
			want: []string{
				"a.yaml:3:23: CONF005 composerIngestor.clusters[0].url: want an address that begins with https:// or http://, and a host | write it as in https://10.0.0.1:6443",
			},
		},
		"URLQuery": {
			reason: "A query is refused, as it would be lost and may contain a token.",
			text:   "{ name: a, url: 'https://x?token=s3cr3t' }",
			want: []string{
				"a.yaml:3:23: CONF005 composerIngestor.clusters[0].url: want an address without a query | remove everything after the ? or #",
			},
		},
		"PlainToken": {
			reason: "A token is not sent over plain HTTP.",
			text:   "{ name: a, url: 'http://x', serviceAccountToken: t }",
			want: []string{
				"a.yaml:3:23: CONF011 composerIngestor.clusters[0].url would send the token over plain HTTP | use https",
			},
		},
		"PlainTokenFile": {
			reason: "A token from a file is not sent over plain HTTP.",
			text:   "{ name: a, url: 'http://10.0.0.1', authProvider: token, tokenFile: t }",
			want: []string{
				"a.yaml:3:23: CONF011 composerIngestor.clusters[0].url would send the token over plain HTTP | use https",
			},
		},
		"PlainLoopback": {
			reason: "A token may be sent over plain HTTP to this machine.",
			text: "{ name: a, url: 'http://localhost:8001', token: t }\n    - { name: b, url: 'http://127.0.0.2', token: t }\n" +
				"    - { name: c, url: 'http://[::1]:1', token: t }\n    - { name: d, url: 'http://x.localhost', token: t }",
		},
		"PlainWithoutToken": {
			reason: "A token from elsewhere is not sent over plain HTTP.",
			text:   "{ name: a, url: 'http://x' }\n    - { name: b, url: 'http://x', authProvider: serviceAccount }\n    - { name: c, url: 'http://localhost:8001' }",
			want: []string{
				"a.yaml:3:23: CONF011 composerIngestor.clusters[0].url would send the token over plain HTTP | use https",
				"a.yaml:4:23: CONF011 composerIngestor.clusters[1].url would send the token over plain HTTP | use https",
			},
		},
		"PlainUnknown": {
			reason: "An unknown authProvider has no token of its own.",
			text:   "{ name: a, url: 'http://x', authProvider: magic }\n    - { name: b, url: 'http://x', authProvider: magic, token: t }",
			want: []string{
				`a.yaml:3:49: CONF005 composerIngestor.clusters[0].authProvider: want serviceAccount, oidc or token, found "magic"`,
				"a.yaml:4:23: CONF011 composerIngestor.clusters[1].url would send the token over plain HTTP | use https",
				`a.yaml:4:49: CONF005 composerIngestor.clusters[1].authProvider: want serviceAccount, oidc or token, found "magic"`,
			},
		},
		"LoopbackLookalike": {
			reason: "A name with a loopback address as prefix is not this machine.",
			text:   "{ name: a, url: 'http://127.0.0.1.example.org', token: t }",
			want: []string{
				"a.yaml:3:23: CONF011 composerIngestor.clusters[0].url would send the token over plain HTTP | use https",
			},
		},
		"AuthUnknown": {
			reason: "An unknown authProvider causes no other findings.",
			text:   "{ name: a, url: 'https://x', authProvider: serviceaccount, oidc: { issuer: 'https://i', clientId: c, clientSecret: s } }",
			want: []string{
				`a.yaml:3:50: CONF005 composerIngestor.clusters[0].authProvider: want serviceAccount, oidc or token, found "serviceaccount" | did you mean serviceAccount?`,
			},
		},
		"AuthForeign": {
			reason: "An authProvider of Backstage that is not supported is named.",
			text:   "{ name: a, url: 'https://x', authProvider: googleServiceAccount }",
			want: []string{
				"a.yaml:3:50: CONF012 composerIngestor.clusters[0].authProvider: googleServiceAccount is not supported | use a service account's token, or a kubeconfig that runs the provider's command",
			},
		},
		"TokenMissing": {
			reason: "The authProvider token needs a token.",
			text:   "{ name: a, url: 'https://x', authProvider: token }",
			want: []string{
				"a.yaml:3:36: CONF006 composerIngestor.clusters[0] has authProvider token, but no token | write token: ${NAME}, or tokenFile",
			},
		},
		"TokenTwice": {
			reason: "Only one key for a token can be used.",
			text:   "{ name: a, url: 'https://x', token: s3cr3t, tokenFile: t, serviceAccountToken: s3cr3t }",
			want: []string{
				"a.yaml:3:65: CONF007 composerIngestor.clusters[0].serviceAccountToken cannot be used with token at a.yaml:3:36 | keep one of the two",
				"a.yaml:3:65: CONF007 composerIngestor.clusters[0].serviceAccountToken cannot be used with tokenFile at a.yaml:3:51 | keep one of the two",
			},
		},
		"TokenType": {
			reason: "A token is never shown, whatever its type.",
			text:   "{ name: a, url: 'https://x', token: 31337 }\n    - { name: b, url: 'https://x', token: { s3cr3t: x } }\n    - { name: c, url: 'https://x', token: ['s3cr3t'] }",
			want: []string{
				"a.yaml:3:43: CONF004 composerIngestor.clusters[0].token: want text, found a number | put it in quotes",
				"a.yaml:4:43: CONF004 composerIngestor.clusters[1].token: want text, found a map",
				"a.yaml:5:43: CONF004 composerIngestor.clusters[2].token: want text, found a list",
			},
		},
		"TokenForm": {
			reason: "A token with a space or a line break is refused.",
			text:   "{ name: a, url: 'https://x', token: Bearer s3cr3t }\n    - { name: b, url: 'https://x', token: \"s3\\ncr3t\" }\n    - { name: c, url: 'https://x', token: '${T}' }",
			env:    vars{"T": "s3cr3t "},
			want: []string{
				"a.yaml:3:43: CONF005 composerIngestor.clusters[0].token contains an invalid character at position 7 | remove spaces and line breaks; a file must contain only the secret",
				"a.yaml:4:43: CONF005 composerIngestor.clusters[1].token contains an invalid character at position 3 | remove spaces and line breaks; a file must contain only the secret",
				"a.yaml:5:43: CONF005 composerIngestor.clusters[2].token contains an invalid character at position 7 of the environment variable T | remove spaces and line breaks; a file must contain only the secret",
			},
		},
		"TokenEmpty": {
			reason: "An empty variable is a mistake in the environment.",
			text:   "{ name: a, url: 'https://x', token: '${T}' }\n    - { name: b, url: 'https://x', token: '' }",
			env:    vars{"T": ""},
			want: []string{
				"a.yaml:3:43: CONF005 composerIngestor.clusters[0].token is empty, because the environment variable T is empty | write a value, or remove it",
				"a.yaml:4:43: CONF005 composerIngestor.clusters[1].token is empty | write a value, or remove it",
			},
		},
		"TokenUnset": {
			reason: "A missing variable is named.",
			text:   "{ name: a, url: 'https://x', authProvider: token, token: '${T}' }",
			want: []string{
				"a.yaml:3:64: CONF008 composerIngestor.clusters[0].token needs the environment variable T, which is not set | set it",
			},
		},
		"OIDCAndToken": {
			reason: "The authProvider oidc needs no token.",
			text:   "{ name: a, url: 'https://x', authProvider: oidc, token: t, oidc: { issuer: 'https://i', clientId: c, clientSecret: s } }",
			want: []string{
				"a.yaml:3:56: CONF007 composerIngestor.clusters[0].token cannot be used with authProvider oidc, which gets its own token | remove it, or write authProvider: token",
			},
		},
		"OIDCMissing": {
			reason: "The authProvider oidc needs a section oidc.",
			text:   "{ name: a, url: 'https://x', authProvider: oidc }",
			want: []string{
				"a.yaml:3:36: CONF006 composerIngestor.clusters[0] has authProvider oidc, but no oidc | write oidc with issuer, clientId, and clientSecret or refreshToken",
			},
		},
		"OIDCEmpty": {
			reason: "The section oidc needs an issuer, a client and a secret.",
			text:   "{ name: a, url: 'https://x', authProvider: oidc, oidc: {} }",
			want: []string{
				"a.yaml:3:62: CONF006 composerIngestor.clusters[0].oidc has no clientId | write the client id of this program at the issuer",
				"a.yaml:3:62: CONF006 composerIngestor.clusters[0].oidc has neither clientSecret nor refreshToken | write clientSecret: ${NAME}, refreshToken: ${NAME}, or clientSecretFile or refreshTokenFile",
				"a.yaml:3:62: CONF006 composerIngestor.clusters[0].oidc has no issuer | write the address of the issuer",
			},
		},
		"OIDCTwice": {
			reason: "Keys with the same meaning cannot be used together.",
			text:   "{ name: a, url: 'https://x', authProvider: oidc, oidc: { issuer: 'https://i', issuerUrl: 'https://i', clientId: c, clientSecret: s, clientSecretFile: f, refreshToken: s, refreshTokenFile: f } }",
			want: []string{
				"a.yaml:3:85: CONF007 composerIngestor.clusters[0].oidc.issuerUrl cannot be used with issuer at a.yaml:3:64 | keep one of the two",
				"a.yaml:3:139: CONF007 composerIngestor.clusters[0].oidc.clientSecretFile cannot be used with clientSecret at a.yaml:3:122 | keep one of the two",
				`a.yaml:3:157: CONF009 composerIngestor.clusters[0].oidc.clientSecretFile: cannot read the file "f": file not found | check the spelling`,
				"a.yaml:3:177: CONF007 composerIngestor.clusters[0].oidc.refreshTokenFile cannot be used with refreshToken at a.yaml:3:160 | keep one of the two",
				`a.yaml:3:195: CONF009 composerIngestor.clusters[0].oidc.refreshTokenFile: cannot read the file "f": file not found | check the spelling`,
			},
		},
		"OIDCPlain": {
			reason: "Issuer and cluster need https.",
			text:   "{ name: a, url: 'http://x', authProvider: oidc, oidc: { issuerUrl: 'http://i', clientId: c, refreshToken: s } }",
			want: []string{
				"a.yaml:3:23: CONF011 composerIngestor.clusters[0].url would send the token over plain HTTP | use https",
				"a.yaml:3:74: CONF011 composerIngestor.clusters[0].oidc.issuerUrl would send credentials over plain HTTP | use https",
			},
		},
		"OIDCUnused": {
			reason: "Unused settings are reported.",
			text:   "{ name: a, url: 'https://x', oidc: { issuer: 'https://i', clientId: c, clientSecret: s } }",
			want: []string{
				"a.yaml:3:36: CONF007 composerIngestor.clusters[0].oidc cannot be used with authProvider serviceAccount | write authProvider: oidc, or remove it",
			},
		},
		"OIDCUnknown": {
			reason: "Unknown keys of the section oidc are reported.",
			text:   "{ name: a, url: 'https://x', authProvider: oidc, oidc: { issuer: 'https://i', clientID: c, clientId: c, clientSecret: s, scopes: openid } }",
			want: []string{
				`a.yaml:3:85: CONF003 composerIngestor.clusters[0].oidc has no key "clientID" | did you mean clientId? known keys: issuerUrl, issuer, clientId, clientSecret, clientSecretFile, refreshToken, refreshTokenFile, scopes, audience, caFile and caData`,
				`a.yaml:3:136: CONF004 composerIngestor.clusters[0].oidc.scopes: want a list, found "openid" | write [ ] around it, or each entry on its own line after a dash`,
			},
		},
		"OIDCFile": {
			reason: "A missing secret file and an invalid one are reported.",
			text:   "{ name: a, url: 'https://x', authProvider: oidc, oidc: { issuer: 'https://i', clientId: c, clientSecretFile: none, refreshTokenFile: two-lines } }",
			want: []string{
				`a.yaml:3:116: CONF009 composerIngestor.clusters[0].oidc.clientSecretFile: cannot read the file "none": file not found | check the spelling`,
				`a.yaml:3:140: CONF005 composerIngestor.clusters[0].oidc.refreshTokenFile contains an invalid character at position 3 of the file "two-lines" | remove spaces and line breaks; a file must contain only the secret`,
			},
		},
		"OIDCFileHidden": {
			reason: "A secret in place of its file name is not shown.",
			text:   "{ name: a, url: 'https://x', authProvider: oidc, oidc: { issuer: 'https://i', clientId: c, clientSecretFile: '${S}', refreshToken: { $file: '${S}' } } }",
			env:    vars{"S": "s3cr3t"},
			want: []string{
				"a.yaml:3:116: CONF009 composerIngestor.clusters[0].oidc.clientSecretFile: cannot read the file named by the environment variable S: file not found | check the spelling",
				"a.yaml:3:138: CONF009 composerIngestor.clusters[0].oidc.refreshToken: cannot read the file named by the environment variable S: file not found | check the spelling",
			},
		},
		"KubeconfigNothing": {
			reason: "A list of empty paths is refused.",
			text:   "{ name: a, kubeconfig: '::' }",
			want:   []string{`a.yaml:3:30: CONF005 composerIngestor.clusters[0].kubeconfig: want a path, found "::"`},
		},
		"Authority": {
			reason: "A certificate authority is a certificate, given once, and used.",
			text: "{ name: a, url: 'https://x', caData: bm90IFBFTQ== }\n    - { name: b, url: 'https://x', caData: '%%%' }\n" +
				"    - { name: c, url: 'https://x', caFile: f, caData: '-----BEGIN CERTIFICATE-----' }\n    - { name: d, url: 'https://x', caFile: f, skipTLSVerify: true }",
			want: []string{
				"a.yaml:3:44: CONF005 composerIngestor.clusters[0].caData: want certificates in PEM | write the text of the PEM file, or that text in base64",
				"a.yaml:4:44: CONF005 composerIngestor.clusters[1].caData: want certificates in PEM | write the text of the PEM file, or that text in base64",
				"a.yaml:5:47: CONF007 composerIngestor.clusters[2].caData cannot be used with caFile at a.yaml:5:36 | keep one of the two",
				"a.yaml:5:55: CONF005 composerIngestor.clusters[2].caData: want certificates in PEM | write the text of the PEM file, or that text in base64",
				"a.yaml:6:47: CONF007 composerIngestor.clusters[3].skipTLSVerify cannot be used with a certificate authority, which it would ignore | remove skipTLSVerify, so that the certificate is verified",
			},
		},
		"Kubeconfig": {
			reason: "A kubeconfig cannot be combined with other settings.",
			text:   "{ name: a, kubeconfig: k, url: 'https://x', token: t, skipTLSVerify: false }",
			want: []string{
				"a.yaml:3:33: CONF007 composerIngestor.clusters[0].url cannot be used with kubeconfig at a.yaml:3:18 | keep one of the two",
				"a.yaml:3:51: CONF007 composerIngestor.clusters[0].token cannot be used with kubeconfig at a.yaml:3:18 | keep one of the two",
				"a.yaml:3:61: CONF007 composerIngestor.clusters[0].skipTLSVerify cannot be used with kubeconfig at a.yaml:3:18 | keep one of the two",
			},
		},
		"KubeconfigOIDC": {
			reason: "Each mistake of a kubeconfig is reported once.",
			text:   "{ name: a, kubeconfig: k, authProvider: oidc, oidc: { issuer: 'https://i', clientId: c, clientSecret: s } }",
			want: []string{
				"a.yaml:3:33: CONF007 composerIngestor.clusters[0].authProvider cannot be used with kubeconfig at a.yaml:3:18 | keep one of the two",
				"a.yaml:3:53: CONF007 composerIngestor.clusters[0].oidc cannot be used with kubeconfig at a.yaml:3:18 | keep one of the two",
			},
		},
		"Home": {
			reason: "A tilde is refused, as only a shell expands it.",
			text:   "{ name: a, kubeconfig: ~/.kube/config }",
			want: []string{
				`a.yaml:3:30: CONF005 composerIngestor.clusters[0].kubeconfig: want a path, found "~/.kube/config" | write ${HOME} instead of ~, which is not expanded`,
			},
		},
		"ContextAlone": {
			reason: "A context needs a kubeconfig.",
			text:   "{ name: a, url: 'https://x', context: c }",
			want: []string{
				"a.yaml:3:36: CONF007 composerIngestor.clusters[0].context cannot be used without kubeconfig | write kubeconfig, the path of the file that has the context",
			},
		},
		"Unknown": {
			reason: "Keys for the pages of Backstage are not suggested.",
			text:   "{ name: a, url: 'https://x', skipTlsVerify: true, title: t, dashboardUrl: d, authMetadata: {} }",
			want: []string{
				`a.yaml:3:36: CONF003 composerIngestor.clusters[0] has no key "skipTlsVerify" | did you mean skipTLSVerify? known keys: name, url, authProvider, serviceAccountToken, serviceAccountTokenFile, token, tokenFile, oidc, skipTLSVerify, caFile, caData, kubeconfig, context, impersonate, impersonateUserPrefix and impersonateGroupPrefix`,
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
					t.Errorf("%s\nfinding contains a secret: %s", tc.reason, line)
				}
			}
		})
	}
}
