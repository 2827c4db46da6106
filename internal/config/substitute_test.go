package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSubstitute holds what becomes of text, read as the context of a
// kubeconfig, which may be any.
func TestSubstitute(t *testing.T) {
	env := vars{"A": "a", "EMPTY": "", "_x1": "under", "DOLLAR": "${A}"}
	cases := map[string]struct {
		reason string
		text   string
		want   string
	}{
		"Plain":         {"text without variables stays", `'$A {A} $ {A}'`, "$A {A} $ {A}"},
		"Whole":         {"a variable alone", `'${A}'`, "a"},
		"Inside":        {"variables inside text", `'x${A}y${_x1}z'`, "xayunderz"},
		"Spaces":        {"white space around the name", `'${ A }'`, "a"},
		"Escaped":       {"a second dollar sign makes text", `'$${A}'`, "${A}"},
		"EscapedTwice":  {"of more dollar signs the last two count", `'$$${A}'`, "$${A}"},
		"Default":       {"a default if it is not set", `'${NOT:-d:-e}'`, "d:-e"},
		"DefaultEmpty":  {"or if it is set to nothing", `'${EMPTY:-d}'`, "d"},
		"DefaultUnused": {"and not if it is set", `'${A:-d}'`, "a"},
		"DefaultNone":   {"a default may be empty", `'x${NOT:-}'`, "x"},
		"EmptyInside":   {"a variable that is set to nothing is nothing", `'x${EMPTY}'`, "x"},
		"NoRecursion":   {"what a variable holds is text", `'${DOLLAR}'`, "${A}"},
		"Expression":    {"expressions of templates are not ours", `'${{ parameters.x }}'`, "${{ parameters.x }}"},
		"Env":           {"as an object", `{ $env: A }`, "a"},
		"EnvText":       {"as an object, without recursion", `{ $env: DOLLAR }`, "${A}"},
		"File":          {"a file, without the line ends behind it", `{ $file: dir/file }`, "line 1\nline 2"},
		"FileAbsolute":  {"an absolute path", `{ $file: /abs }`, "abs"},
		"FileVariable":  {"the name of a file may hold variables", `{ $file: "${A}.txt" }`, "${A}"},
		"Quoted":        {"a number in quotes is text", `"12"`, "12"},
		"Filled":        {"a number out of a variable is text where text is wanted", `'${N:-12}'`, "12"},
	}
	files := disk{"conf/dir/file": "line 1\nline 2\r\n\n", "/abs": "abs", "conf/a.txt": "${A}\n"}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			files["conf/a.yaml"] = "composerIngestor: { clusters: [ { name: a, kubeconfig: k, context: " + tc.text + " } ] }"
			c, fs := Load([]string{"conf/a.yaml"}, Options{Lookup: env.lookup, ReadFile: files.read})
			if found := lines(fs); len(found) > 0 {
				t.Fatalf("%s\nfound %q", tc.reason, found)
			}
			if diff := cmp.Diff(tc.want, c.Clusters()[0].Context); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFilledTypes wants text out of variables to be what the key asks for.
func TestFilledTypes(t *testing.T) {
	c := mustLoad(t, `composerIngestor:
  enabled: ${OFF}
  caching: { ttl: "${TTL}", maxSize: "${MAX:-7}" }
  schedule: { frequency: "${F}", timeout: { seconds: "${TTL}" } }
  changeDetection: { method: { $env: METHOD } }
`, vars{"OFF": "false", "TTL": "60", "F": "1h", "METHOD": "timestamp"})
	got := []string{showDuration(c.Composer.Caching.TTL), showDuration(c.Composer.Schedule.Frequency), showDuration(c.Composer.Schedule.Timeout), c.Composer.ChangeDetection.Method}
	if diff := cmp.Diff([]string{"1m", "1h", "1m", "timestamp"}, got); diff != "" || c.Composer.Enabled || c.Composer.Caching.MaxSize != 7 {
		t.Errorf("(-want +got):\n%s\nconfig %+v", diff, c.Composer)
	}
}

// TestPaths wants paths to be relative to the file they are written in.
func TestPaths(t *testing.T) {
	files := disk{
		"base/a.yaml": "composerIngestor: { sources: [ { name: s, type: file, path: xrds } ] }",
		"local/b.yaml": "composerIngestor: { clusters: [ { name: k, kubeconfig: 'one:/two' }, { name: t, url: 'https://x', serviceAccountTokenFile: ../t } ," +
			" { name: o, url: 'https://x', authProvider: oidc, oidc: { issuer: 'https://i', clientId: c, clientSecretFile: s, refreshTokenFile: '${R}' } } ] }",
		"local/s": "s1\n", "/r": "r1",
	}
	c, fs := Load([]string{"base/a.yaml", "local/b.yaml"}, Options{Lookup: vars{"R": "/r"}.lookup, ReadFile: files.read})
	if found := lines(fs); len(found) > 0 {
		t.Fatalf("found %q", found)
	}
	all := c.Clusters()
	got := []string{c.Composer.Sources[0].Path, all[0].Kubeconfig, all[1].TokenFile, all[2].OIDC.ClientSecret.Reveal(), all[2].OIDC.RefreshToken.Reveal()}
	if diff := cmp.Diff([]string{"base/xrds", "local/one:/two", "t", "s1", "r1"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAuthority reads certificates, plain and in base64.
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
