// Package chart tests the Helm chart with Helm's own library: lint, rendered manifests,
// values that the schema refuses, and a portal that runs as its manifests say.
//
// Run the tests with -update to rewrite deploy/manifests and testdata.
package chart

import (
	"context"
	"errors"
	"flag"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/portal"
)

var update = flag.Bool("update", false, "rewrite deploy/manifests and testdata")

const chartDir = "../../deploy/chart"

// values are the cases: the values of an installation, where its rendered manifests are,
// and whether they are fit for production.
var values = map[string]struct {
	reason     string
	values     string
	golden     string
	production bool
}{
	"SQLite": {"The defaults, with guests: one replica and a volume.", `
auth: { guest: true }
rbac: { apiGroups: [platform.example.org] }
`, "../../deploy/manifests/sqlite.yaml", false},
	"PostgreSQL": {"Several replicas behind an ingress, with sign-in.", `
baseUrl: https://portal.example.org
replicas: 3
database: { client: pg, postgres: { host: db.example.org } }
secret: { existing: portal }
auth: { oidc: { issuer: "https://login.example.org/realms/company" } }
ingress: { enabled: true, className: nginx, host: portal.example.org, tlsSecret: portal-tls }
rbac: { apiGroups: [platform.example.org], write: true }
config:
  permission:
    rules:
      - { who: ["group:default/platform"], permissions: ["catalog.ingestion.*", "scaffolder.task.*"], result: allow }
      - { permissions: ["catalog.ingestion.*"], result: deny }
`, "../../deploy/manifests/postgres.yaml", true},
	"Everything": {"All that can be switched on.", `
baseUrl: https://portal.example.org
replicas: 2
image: { repository: registry.example.org/portal, digest: "sha256:0000000000000000000000000000000000000000000000000000000000000000", pullSecrets: [{ name: pull }] }
database: { client: pg, postgres: { host: db.example.org } }
redis: { enabled: true }
secret: { values: { POSTGRES_PASSWORD: "p4ssw0rd-of-the-database", TASK_KEY: "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=", SESSION_SECRET: "kV3vYw0pQ8sT2nZ6xC9bL4mR7dF1hJ5g", OIDC_CLIENT_SECRET: "aB3dE5gH7jK9mN1pQ3sT5vX7zC9bD1fG", REDIS_URL: "rediss://redis.example.org:6379/0", METRICS_TOKEN: "qW2eR4tY6uI8oP0aS1dF3gH5jK7lZ9xC" } }
auth: { oidc: { issuer: "https://login.example.org/realms/company" } }
cluster: { name: here, ingestAll: true, impersonate: user }
rbac: { apiGroups: [platform.example.org], composed: [{ apiGroups: [rds.example.org], resources: ["*"] }, { apiGroups: [""], resources: [configmaps] }], workloads: { enabled: true, logs: true }, plan: { enabled: true }, impersonate: { enabled: true, groups: [shop-team] } }
gateway: { enabled: true, host: portal.example.org, parentRefs: [{ name: public, namespace: gateways }] }
metrics: { serviceMonitor: { enabled: true, labels: { release: prometheus } } }
networkPolicy: { enabled: true, from: [{ namespaceSelector: {} }], to: [{ ipBlock: { cidr: 10.0.0.0/8 } }] }
serviceAccount: { annotations: { example.org/role: portal } }
podAnnotations: { example.org/a: b }
podLabels: { example.org/c: d }
nodeSelector: { kubernetes.io/os: linux }
tolerations: [{ key: portal, operator: Exists }]
topologySpreadConstraints: [{ maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: { matchLabels: { app.kubernetes.io/name: ingestor } } }]
priorityClassName: portals
extraEnv: [{ name: HTTPS_PROXY, value: "http://proxy.example.org:3128" }]
extraVolumes: [{ name: tokens, secret: { secretName: tokens } }]
extraVolumeMounts: [{ name: tokens, mountPath: /tokens, readOnly: true }]
config:
  permission:
    rules:
      - { who: ["group:default/platform"], permissions: ["catalog.ingestion.*", "scaffolder.task.*"], result: allow }
      - { permissions: ["catalog.ingestion.*"], result: deny }
  app: { title: Company portal }
  crossplaneIngestor: { generateDayTwoTemplates: true }
`, "testdata/everything.yaml", true},
}

// parse reads values.
func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	v, err := loader.LoadValues(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// render renders the chart with values as release "portal" in namespace "portal", and
// returns the files of its templates.
func render(t *testing.T, text string) (map[string]string, error) {
	t.Helper()
	c, err := loader.Load(chartDir)
	if err != nil {
		t.Fatal(err)
	}
	v, err := util.ToRenderValues(c, parse(t, text), common.ReleaseOptions{Name: "portal", Namespace: "portal", Revision: 1, IsInstall: true}, nil)
	if err != nil {
		return nil, err
	}
	return engine.Render(c, v)
}

// manifests returns the rendered objects as one stream, without the notes.
func manifests(t *testing.T, text string) string {
	t.Helper()
	files, err := render(t, text)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if content := strings.TrimSpace(files[name]); content != "" && strings.HasSuffix(name, ".yaml") {
			b.WriteString("---\n" + strings.TrimPrefix(content, "---\n") + "\n")
		}
	}
	return b.String()
}

func TestLint(t *testing.T) {
	for name, tc := range values {
		for _, m := range lint.RunAll(chartDir, parse(t, tc.values), "portal").Messages {
			if m.Severity > support.InfoSev {
				t.Errorf("%s: lint reports %v", name, m)
			}
		}
	}
}

func TestRender(t *testing.T) {
	for name, tc := range values {
		t.Run(name, func(t *testing.T) {
			got := "# Rendered from deploy/chart; `make manifests` writes it.\n" + manifests(t, tc.values)
			if *update {
				if err := os.MkdirAll(filepath.Dir(tc.golden), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(tc.golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(tc.golden)
			if err != nil {
				t.Fatalf("%v; run make manifests", err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s (-%s +got):\n%s\nif it is meant to change, run make manifests", tc.reason, tc.golden, diff)
			}
		})
	}
}

// TestConfig checks the rendered configuration with the program that reads it.
func TestConfig(t *testing.T) {
	for name, tc := range values {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "app-config.yaml")
			if err := os.WriteFile(file, []byte(appConfig(t, manifests(t, tc.values))), 0o600); err != nil {
				t.Fatal(err)
			}
			args := []string{"config", "check", "--config", file}
			if tc.production {
				args = append(args, "--production")
			}
			secrets := map[string]string{}
			for k, v := range parse(t, values["Everything"].values)["secret"].(map[string]any)["values"].(map[string]any) {
				secrets[k] = v.(string)
			}
			var out strings.Builder
			env := &app.Env{
				Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out,
				Getenv: func(k string) string { return secrets[k] }, Now: time.Now,
			}
			if code := app.Run(context.Background(), portal.Name, env, portal.Run); code != 0 {
				t.Errorf("%s: config check exits with %d:\n%s", tc.reason, code, out.String())
			}
		})
	}
}

// objects returns the objects of a stream.
func objects(t *testing.T, stream string) []map[string]any {
	t.Helper()
	var all []map[string]any
	d := yaml.NewDecoder(strings.NewReader(stream))
	for {
		var o map[string]any
		err := d.Decode(&o)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if o != nil {
			all = append(all, o)
		}
	}
}

// appConfig returns the configuration in the ConfigMap of a stream.
func appConfig(t *testing.T, stream string) string {
	t.Helper()
	for _, o := range objects(t, stream) {
		if o["kind"] == "ConfigMap" {
			return o["data"].(map[string]any)["app-config.yaml"].(string)
		}
	}
	t.Fatal("manifests have no ConfigMap")
	return ""
}

func TestRefused(t *testing.T) {
	cases := map[string]struct {
		reason string
		values string
		want   string
	}{
		"UnknownKey":     {"A key that does not exist is named.", "replicaCount: 2", "replicaCount"},
		"UnknownNested":  {"Also below another.", "database: { engine: pg }", "engine"},
		"Misspelt":       {"A misspelt key does not go unnoticed.", "ingress: { hosts: [a.example.org] }", "hosts"},
		"ReplicasText":   {"A number is not a text.", `replicas: "3"`, "/replicas"},
		"ReplicasMinus":  {"There are no negative replicas.", "replicas: -1", "/replicas"},
		"BaseURL":        {"A URL needs a scheme.", "baseUrl: portal.example.org", "/baseUrl"},
		"BaseURLPath":    {"A URL must not have a path.", "baseUrl: https://example.org/portal", "/baseUrl"},
		"Client":         {"Databases are SQLite and PostgreSQL.", "database: { client: mysql }", "/database/client"},
		"Size":           {"A size is a quantity.", "database: { sqlite: { size: 5 GB } }", "/database/sqlite/size"},
		"Port":           {"A port is at most 65535.", "database: { postgres: { port: 70000 } }", "/database/postgres/port"},
		"Digest":         {"A digest is complete.", "image: { digest: sha256:abc }", "/image/digest"},
		"PullPolicy":     {"Pull policies are those of Kubernetes.", "image: { pullPolicy: Sometimes }", "/image/pullPolicy"},
		"SecretKey":      {"A secret is an environment variable.", `secret: { values: { "a-b": x } }`, "a-b"},
		"SecretNumber":   {"A secret is a text.", "secret: { values: { TASK_KEY: 12 } }", "/secret/values/TASK_KEY"},
		"Issuer":         {"An issuer is a URL.", "auth: { oidc: { issuer: login.example.org } }", "/auth/oidc/issuer"},
		"Impersonate":    {"Who acts is none or user.", "cluster: { impersonate: admin }", "/cluster/impersonate"},
		"APIGroups":      {"API groups are a list.", "rbac: { apiGroups: platform.example.org }", "/rbac/apiGroups"},
		"ServiceType":    {"Service types are those of Kubernetes.", "service: { type: Public }", "/service/type"},
		"Host":           {"A host has no scheme.", "ingress: { host: https://portal.example.org }", "/ingress/host"},
		"Interval":       {"An interval has a unit.", `metrics: { serviceMonitor: { interval: "30" } }`, "/metrics/serviceMonitor/interval"},
		"ParentRef":      {"A Gateway has a name.", "gateway: { parentRefs: [{ namespace: a }] }", "/gateway/parentRefs/0"},
		"Guest":          {"A switch is not a text.", `auth: { guest: "yes" }`, "/auth/guest"},
		"SQLiteReplicas": {"SQLite has one replica.", "replicas: 2", "replicas: more than one needs database.client: pg"},
		"NoHost":         {"PostgreSQL has a host.", "{ database: { client: pg }, secret: { existing: x } }", "database.postgres.host: required"},
		"NoSecret":       {"PostgreSQL needs a secret.", "database: { client: pg, postgres: { host: db } }", "secret.existing: required"},
		"OIDCNoSecret":   {"Sign-in needs a secret.", `auth: { oidc: { issuer: "https://login.example.org" } }`, "secret.existing: required with auth.oidc.issuer"},
		"RedisNoSecret":  {"Redis needs a secret.", "redis: { enabled: true }", "secret.existing: required with redis.enabled"},
		"MonitorNoToken": {"A monitor signs in.", "metrics: { serviceMonitor: { enabled: true } }", "secret.existing: required with metrics.serviceMonitor.enabled"},
		"GatewayNowhere": {"A route has a Gateway.", "gateway: { enabled: true }", "gateway.parentRefs: required"},
		"NoImpersonator": {"Impersonation needs its role.", "cluster: { impersonate: user }", "rbac.impersonate.enabled: required"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := render(t, tc.values)
			if err == nil {
				t.Fatalf("%s: values were accepted", tc.reason)
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: error does not contain %q: %v", tc.reason, tc.want, err)
			}
		})
	}
}

// TestNotes checks that the notes say what is left to do.
func TestNotes(t *testing.T) {
	cases := map[string]struct {
		reason string
		values string
		want   []string
		not    []string
	}{
		"Defaults": {"No user can sign in and nothing leads to the portal.", "",
			[]string{"No user can sign in", "port-forward service/portal-ingestor", "kubectl label xrd", "rbac.apiGroups"}, nil},
		"Complete": {"Nothing is left to do.", values["PostgreSQL"].values,
			[]string{"https://portal.example.org"}, []string{"No user can sign in", "port-forward", "rbac.apiGroups"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			files, err := render(t, tc.values)
			if err != nil {
				t.Fatal(err)
			}
			notes := files["ingestor/templates/NOTES.txt"]
			for _, w := range tc.want {
				if !strings.Contains(notes, w) {
					t.Errorf("%s: notes do not contain %q:\n%s", tc.reason, w, notes)
				}
			}
			for _, n := range tc.not {
				if strings.Contains(notes, n) {
					t.Errorf("%s: notes contain %q:\n%s", tc.reason, n, notes)
				}
			}
		})
	}
}
