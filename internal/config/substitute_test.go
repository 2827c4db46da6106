package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSubstitute checks substitution in text, read as the context of a
// kubeconfig, which may be any text.
func TestSubstitute(t *testing.T) {
	env := vars{"A": "a", "EMPTY": "", "_x1": "under", "DOLLAR": "${A}"}
	cases := map[string]struct {
		reason string
		text   string
		want   string
	}{
		"Plain":         {"Text without variables is unchanged.", `'$A {A} $ {A}'`, "$A {A} $ {A}"},
		"Whole":         {"A variable is replaced.", `'${A}'`, "a"},
		"Inside":        {"Variables within text are replaced.", `'x${A}y${_x1}z'`, "xayunderz"},
		"Spaces":        {"White space around the name is ignored.", `'${ A }'`, "a"},
		"Escaped":       {"A second dollar sign escapes the variable.", `'$${A}'`, "${A}"},
		"EscapedTwice":  {"The last two of several dollar signs count.", `'$$${A}'`, "$${A}"},
		"Default":       {"A default applies if the variable is not set.", `'${NOT:-d:-e}'`, "d:-e"},
		"DefaultEmpty":  {"A default applies if the variable is empty.", `'${EMPTY:-d}'`, "d"},
		"DefaultUnused": {"A default does not apply if the variable is set.", `'${A:-d}'`, "a"},
		"DefaultNone":   {"A default may be empty.", `'x${NOT:-}'`, "x"},
		"EmptyInside":   {"An empty variable is replaced by nothing.", `'x${EMPTY}'`, "x"},
		"NoRecursion":   {"The value of a variable is not substituted again.", `'${DOLLAR}'`, "${A}"},
		"Expression":    {"Template expressions are unchanged.", `'${{ parameters.x }}'`, "${{ parameters.x }}"},
		"Env":           {"A variable can be an object.", `{ $env: A }`, "a"},
		"EnvText":       {"A variable as an object is not substituted again.", `{ $env: DOLLAR }`, "${A}"},
		"File":          {"A file is read without trailing line ends.", `{ $file: dir/file }`, "line 1\nline 2"},
		"FileAbsolute":  {"A file may have an absolute path.", `{ $file: /abs }`, "abs"},
		"FileVariable":  {"The name of a file may contain variables.", `{ $file: "${A}.txt" }`, "${A}"},
		"Quoted":        {"A quoted number is text.", `"12"`, "12"},
		"Filled":        {"A number from a variable is text where text is expected.", `'${N:-12}'`, "12"},
	}
	files := disk{"conf/dir/file": "line 1\nline 2\r\n\n", "/abs": "abs", "conf/a.txt": "${A}\n"}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			files["conf/a.yaml"] = "composerIngestor: { clusters: [ { name: a, kubeconfig: k, context: " + tc.text + " } ] }"
			c, fs := Load([]string{"conf/a.yaml"}, Options{Lookup: env.lookup, ReadFile: files.read})
			if found := lines(fs); len(found) > 0 {
				t.Fatalf("%s\nfindings are %q, want none", tc.reason, found)
			}
			if diff := cmp.Diff(tc.want, c.Clusters()[0].Context); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFilledTypes checks that text from variables is converted to the type of
// the key.
func TestFilledTypes(t *testing.T) {
	c := mustLoad(t, `composerIngestor:
  enabled: ${OFF}
  caching: { ttl: "${TTL}", maxSize: "${MAX:-7}" }
  schedule: { frequency: "${F}", timeout: { seconds: "${TTL}" } }
  changeDetection: { method: { $env: METHOD } }
`, vars{"OFF": "false", "TTL": "60", "F": "1h", "METHOD": "timestamp"})
	got := []string{c.Composer.Caching.TTL.String(), c.Composer.Schedule.Frequency.String(), c.Composer.Schedule.Timeout.String(), c.Composer.ChangeDetection.Method}
	if diff := cmp.Diff([]string{"1m0s", "1h0m0s", "1m0s", "timestamp"}, got); diff != "" || c.Composer.Enabled || c.Composer.Caching.MaxSize != 7 {
		t.Errorf("(-want +got):\n%s\nconfig %+v", diff, c.Composer)
	}
}

// TestPaths checks that paths are relative to their file.
func TestPaths(t *testing.T) {
	files := disk{
		"base/a.yaml": "composerIngestor: { sources: [ { name: s, type: file, path: xrds } ] }",
		"local/b.yaml": "composerIngestor: { clusters: [ { name: k, kubeconfig: 'one:/two' }, { name: t, url: 'https://x', serviceAccountTokenFile: ../t } ," +
			" { name: o, url: 'https://x', authProvider: oidc, oidc: { issuer: 'https://i', clientId: c, clientSecretFile: s, refreshTokenFile: '${R}' } } ] }",
		"local/s": "s1\n", "/r": "r1",
	}
	c, fs := Load([]string{"base/a.yaml", "local/b.yaml"}, Options{Lookup: vars{"R": "/r"}.lookup, ReadFile: files.read})
	if found := lines(fs); len(found) > 0 {
		t.Fatalf("findings are %q, want none", found)
	}
	all := c.Clusters()
	got := []string{c.Composer.Sources[0].Path, all[0].Kubeconfig, all[1].TokenFile, all[2].OIDC.ClientSecret.Reveal(), all[2].OIDC.RefreshToken.Reveal()}
	if diff := cmp.Diff([]string{"base/xrds", "local/one:/two", "t", "s1", "r1"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAuthority reads certificates, in PEM and in base64.
func TestAuthority(t *testing.T) {
	pem, encoded := testCertificate(t)
	indented := strings.ReplaceAll(pem, "\n", "\n          ")
	c := mustLoad(t, "composerIngestor:\n  clusters:\n    - name: a\n      url: https://x\n      caData: |\n          "+indented+
		"\n    - { name: b, url: 'https://x', caData: "+encoded+" }\n", nil)
	for _, cluster := range c.Clusters() {
		if diff := cmp.Diff(strings.TrimSpace(pem), string(cluster.CAData)); diff != "" {
			t.Errorf("cluster %s (-want +got):\n%s", cluster.Name, diff)
		}
	}
}
