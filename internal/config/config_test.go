package config

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/engine/form"
	"example.dev/ingestor/source"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/selector"
)

// TestDefaults checks the defaults of the contract.
func TestDefaults(t *testing.T) {
	c := mustLoad(t, "composerIngestor: {}\nclusterIngestor: {}\n", nil)
	cases := map[string]struct {
		reason    string
		got, want any
	}{
		"Frequency":     {"The frequency of variant A is 5 minutes.", c.Composer.Schedule.Frequency, 5 * time.Minute},
		"Timeout":       {"The timeout of variant A is 2 minutes.", c.Composer.Schedule.Timeout, 2 * time.Minute},
		"TTL":           {"The cache TTL of variant A is 300 seconds.", c.Composer.Caching.TTL, 300 * time.Second},
		"MaxSize":       {"The cache of variant A has 100 entries.", c.Composer.Caching.MaxSize, 100},
		"BatchSize":     {"The batch size is 10.", c.Composer.Processing.BatchSize, 10},
		"Parallelism":   {"The parallelism is 3.", c.Composer.Processing.Parallelism, 3},
		"RetryAttempts": {"The number of retries is 2.", c.Composer.Processing.RetryAttempts, 2},
		"RetryDelay":    {"The retry delay is 1000 ms.", c.Composer.Processing.RetryDelay, 1000 * time.Millisecond},
		"Workloads":     {"The workload scan of variant B runs every 10 seconds.", c.ClusterIngestor.Components.Frequency, 10 * time.Second},
		"XRDs":          {"The XRD scan of variant B runs every 600 seconds.", c.ClusterIngestor.XRDs.Frequency, 600 * time.Second},
		"Owner":         {"The owner is the default of the command line.", c.Composer.DefaultOwner, "platform-team"},
		"System":        {"The system is the default of the command line.", c.Composer.DefaultSystem, "platform"},
		"Method":        {"Change detection uses the cheapest method.", c.Composer.ChangeDetection.Method, "resourceVersion"},
		"Storage":       {"Change detection survives a restart.", c.Composer.ChangeDetection.Storage, "database"},
		"Level":         {"The log level is info.", c.Composer.Logging.Level, slog.LevelInfo},
		"Words":         {"Each definition keeps its vocabulary.", c.Words, words.Choice{}},
		"WatchA":        {"Variant A watches for changes.", c.Composer.Watch, true},
		"WatchB":        {"Variant B watches for changes.", c.ClusterIngestor.Watch, true},
		"Cache":         {"The cache needs no server.", c.Backend.Cache, Cache{Store: "memory"}},
		"A":             {"An existing section of variant A is enabled.", c.Composer.Enabled, true},
		"B":             {"An existing section of variant B is enabled.", c.ClusterIngestor.Enabled && c.ClusterIngestor.Components.Enabled && c.ClusterIngestor.XRDs.Enabled, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.got); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestAbsent checks that nothing is enabled without a section.
func TestAbsent(t *testing.T) {
	for name, text := range map[string]string{"Empty": "", "Foreign": "app: {}\n", "Null": "composerIngestor:\nclusterIngestor: ~\n"} {
		c := mustLoad(t, text, nil)
		if c.Composer.Enabled || c.ClusterIngestor.Enabled || len(c.Clusters()) > 0 {
			t.Errorf("%s: configuration has something enabled: %+v", name, c)
		}
		if c.Composer.Processing.BatchSize != 10 {
			t.Errorf("%s: defaults are missing", name)
		}
	}
}

// everything sets each key of the contract to a value that is not the default.
const everything = `words: portal
composerIngestor:
  enabled: false
  defaultOwner: group:default/data
  defaultSystem: storage
  schedule:
    frequency: { minutes: 7, seconds: 30 }
    timeout: PT1M
  watch: false
  clusters:
    - name: one
      url: https://one.example.org:6443/
      authProvider: serviceAccount
      serviceAccountToken: ${ONE}
    - name: two
      url: https://two.example.org
      authProvider: token
      tokenFile: secrets/two
      skipTLSVerify: true
    - name: three
      url: https://three.example.org
      authProvider: oidc
      caFile: /etc/ca.pem
      oidc:
        issuerUrl: https://login.example.org
        clientId: ingestor
        clientSecret: { $env: THREE }
        scopes: [openid, groups]
        audience: clusters
        caFile: ca.pem
    - name: four
      kubeconfig: kube/config
      context: dev
  sources:
    - { name: here, type: file, path: xrds, recursive: false }
    - { name: there, type: git, repo: "git@example.org:a/b", branch: main, path: ./apis/, username: me, sshKeyFile: secrets/key, knownHostsFile: /etc/known }
    - { name: web, type: git, repo: "https://example.org/a/b", token: "${ONE}", caFile: ca.pem }
    - { name: file, type: git, repo: "https://example.org/a/b", tokenFile: secrets/token }
  xrdFilters:
    labelSelector: a=b
    annotationSelector: c=d e
    groups: [platform.io]
    exclude: [x.platform.io]
    namespaces: [team-a, team-b]
  templateGeneration:
    generateApiEntities: false
    includeCompositionDetails: false
    addGitOpsActions: true
    gitProvider: gitlab
    defaultNamespace: sandbox
  generateDayTwoTemplates: true
  ingestAll: true
  composites: { enabled: false }
  caching: { enabled: false, ttl: 1, maxSize: 2 }
  processing: { batchSize: 3, parallelism: 4, retryAttempts: 0, retryDelay: 5 }
  changeDetection: { enabled: false, method: hash, storage: redis }
  massRemoval: { percent: 60, minimum: 7, wait: 90s }
  logging: { level: debug, includeStackTraces: true, logRequests: true }
clusterIngestor:
  enabled: true
  watch: false
  components: { enabled: false, taskRunner: { frequency: 20 } }
  compositions: { enabled: false }
  composer: { enabled: true, xrds: { enabled: true, ingestAllXRDs: false, generateDayTwoTemplates: true, taskRunner: { frequency: 30 } } }
orchestrator:
  serviceLocatorMethod: { type: multiTenant }
  clusterLocatorMethods:
    - type: config
      clusters:
        - { url: "https://five.example.org", name: five, authProvider: serviceAccount, skipTLSVerify: true, serviceAccountToken: "${ONE}" }
`

var tokens = vars{"ONE": "t-one", "THREE": "s-three"}

func selecting(t *testing.T, parse func(string) (selector.Selector, error), text string) selector.Selector {
	t.Helper()
	s, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestEverything checks that each key of the contract is read.
func TestEverything(t *testing.T) {
	portal := words.Portal
	want := &Config{
		Words: words.Choice{Fixed: &portal},
		Composer: Composer{
			DefaultOwner:  "group:default/data",
			DefaultSystem: "storage",
			Schedule:      Schedule{Frequency: 7*time.Minute + 30*time.Second, Timeout: time.Minute},
			Clusters: []source.Cluster{
				{Name: "one", URL: "https://one.example.org:6443/", Auth: "serviceAccount", Token: "t-one"},
				{Name: "two", URL: "https://two.example.org", Auth: "token", TokenFile: "conf/secrets/two", SkipTLSVerify: true},
				{Name: "three", URL: "https://three.example.org", Auth: "oidc", CAFile: "/etc/ca.pem", OIDC: source.OIDC{
					Issuer: "https://login.example.org", ClientID: "ingestor", ClientSecret: "s-three",
					Scopes: []string{"openid", "groups"}, Audience: "clusters", CAFile: "conf/ca.pem",
				}},
				{Name: "four", Kubeconfig: "conf/kube/config", Context: "dev"},
			},
			Sources: []Source{
				{Name: "here", Type: "file", Path: "conf/xrds"},
				{Name: "there", Type: "git", Repo: "git@example.org:a/b", Branch: "main", Path: "apis", Recursive: true, Username: "me", SSHKeyFile: "conf/secrets/key", KnownHostsFile: "/etc/known"},
				{Name: "web", Type: "git", Repo: "https://example.org/a/b", Recursive: true, Token: "t-one", CAFile: "conf/ca.pem"},
				{Name: "file", Type: "git", Repo: "https://example.org/a/b", Recursive: true, TokenFile: "conf/secrets/token"},
			},
			Filter: xrd.Filter{
				Labels: selecting(t, selector.Parse, "a=b"), Annotations: selecting(t, selector.ParseAnnotations, "c=d e"),
				Groups: []string{"platform.io"}, Exclude: []string{"x.platform.io"},
			},
			Namespaces:      []string{"team-a", "team-b"},
			Templates:       TemplateGeneration{AddGitOpsActions: true, DefaultNamespace: "sandbox", Delivery: DeliveryPortal, GitProvider: form.GitLab},
			DayTwo:          true,
			IngestAll:       true,
			Tracking:        Tracking{Compositions: true},
			Caching:         Caching{TTL: time.Second, MaxSize: 2},
			Processing:      Processing{BatchSize: 3, Parallelism: 4, RetryDelay: 5 * time.Millisecond},
			ChangeDetection: ChangeDetection{Method: "hash", Storage: "redis"},
			MassRemoval:     MassRemoval{Percent: 60, Minimum: 7, Wait: 90 * time.Second},
			Logging:         Logging{Level: slog.LevelDebug, IncludeStackTraces: true, LogRequests: true},
		},
		ClusterIngestor: ClusterIngestor{
			Enabled:    true,
			Components: Components{Frequency: 20 * time.Second},
			XRDs:       XRDs{Enabled: true, DayTwo: true, Frequency: 30 * time.Second},
			Tracking:   Tracking{Composites: true},
		},
		Orchestrator: Orchestrator{
			ServiceLocator: "multiTenant",
			Clusters:       []source.Cluster{{Name: "five", URL: "https://five.example.org", Auth: "serviceAccount", SkipTLSVerify: true, Token: "t-one"}},
		},
	}
	rest := defaults()
	want.App, want.Backend, want.Auth, want.Permission, want.Catalog = rest.App, rest.Backend, rest.Auth, rest.Permission, rest.Catalog
	want.Scaffolder, want.Audit, want.Plan = rest.Scaffolder, rest.Audit, rest.Plan
	got, fs := Load([]string{"conf/a.yaml"}, Options{
		Lookup: tokens.lookup, ReadFile: disk{"conf/a.yaml": everything}.read,
		Sections: []string{SectionComposer, SectionClusterIngestor, SectionOrchestrator},
	})
	if d := cmp.Diff([]string(nil), lines(fs)); d != "" {
		t.Fatal(d)
	}
	if d := diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// upstream returns a configuration in the upstream vocabulary.
func upstream(text string) string {
	return strings.NewReplacer("composerIngestor:", "crossplaneIngestor:", "clusterIngestor:", "kubernetesIngestor:",
		"orchestrator:", "kubernetes:", "  composer:", "  crossplane:").Replace(text)
}

// TestVocabularies checks that both vocabularies are equivalent, in files and in
// output.
func TestVocabularies(t *testing.T) {
	other := upstream(everything)
	if strings.Contains(other, "omposer") || strings.Contains(other, "orchestrator") {
		t.Fatal("not all words are translated")
	}
	a, b := mustLoad(t, everything, tokens), mustLoad(t, other, tokens)
	if d := diff(a, b); d != "" {
		t.Errorf("configurations differ (-portal +upstream):\n%s", d)
	}
	if d := cmp.Diff(string(tree.AppendYAML(nil, a.Effective())), string(tree.AppendYAML(nil, b.Effective()))); d != "" {
		t.Errorf("printed configurations differ (-portal +upstream):\n%s", d)
	}
}

// TestJSON checks that a file can be JSON.
func TestJSON(t *testing.T) {
	c := mustLoad(t, `{"composerIngestor": {"caching": {"ttl": 7}, "clusters": [{"name": "a", "url": "https://x", "token": "${T}"}]}}`, vars{"T": "t"})
	if c.Composer.Caching.TTL != 7*time.Second || c.Clusters()[0].Token.Reveal() != "t" {
		t.Errorf("configuration is %+v", c.Composer)
	}
	_, fs := load("{\n  \"composerIngestor\": {\n    \"caching\": {\"tll\": 7}\n  }\n}\n", nil)
	want := []string{`a.yaml:3:17: CONF003 composerIngestor.caching has no key "tll" | did you mean ttl? known keys: enabled, ttl and maxSize`}
	if d := cmp.Diff(want, lines(fs)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestEngineOptions(t *testing.T) {
	portal, five := words.Portal, []string{"one", "two", "three", "four", "five"}
	cases := map[string]struct {
		reason  string
		text    string
		profile engine.Profile
		want    engine.Options
	}{
		"Defaults": {
			reason: "Without a configuration the options are defaults.", profile: engine.ComposerIngestor,
			want: engine.Options{Owner: "platform-team", System: "platform", ResourceNamespace: "default"},
		},
		"A": {
			reason: "Variant A has its options.", text: everything, profile: engine.ComposerIngestor,
			want: engine.Options{
				Owner: "group:default/data", System: "storage", Words: words.Choice{Fixed: &portal}, ResourceNamespace: "sandbox",
				NoAPI: true, NoCompositionDetails: true, GitOps: true, DayTwo: true, Clusters: five,
			},
		},
		"B": {
			reason: "Variant B does not use the keys of variant A.", text: everything, profile: engine.ClusterIngestor,
			want: engine.Options{Words: words.Choice{Fixed: &portal}, DayTwo: true, Clusters: five},
		},
		"Writable": {
			reason: "A form offers only clusters that steps may write to.", text: everything + "\nscaffolder: { clusters: [one, three] }\n",
			profile: engine.ClusterIngestor, want: engine.Options{Words: words.Choice{Fixed: &portal}, DayTwo: true, Clusters: []string{"one", "three"}},
		},
		"DefaultCluster": {
			reason: "A form offers no cluster if there is a default.", text: everything + "\nscaffolder: { defaultCluster: two }\n",
			profile: engine.ClusterIngestor, want: engine.Options{Words: words.Choice{Fixed: &portal}, DayTwo: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := mustLoad(t, tc.text, tokens).EngineOptions(tc.profile)
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, d)
			}
		})
	}
}

// TestSwitches checks that either switch disables definitions of variant B.
func TestSwitches(t *testing.T) {
	for _, text := range []string{"enabled: false", "xrds: { enabled: false }"} {
		c := mustLoad(t, "clusterIngestor: { composer: { "+text+" } }", nil)
		if c.ClusterIngestor.XRDs.Enabled || !c.ClusterIngestor.Enabled {
			t.Errorf("%s: configuration is %+v", text, c.ClusterIngestor)
		}
	}
}

// TestSections checks that sections that were not requested are ignored.
func TestSections(t *testing.T) {
	text := "composerIngestor: { caching: { ttl: 5 } }\nkubernetes: { nonsense: '${NOT_SET}' }\nclusterIngestor: 7\n"
	c, fs := Load([]string{"a.yaml"}, Options{ReadFile: disk{"a.yaml": text}.read, Sections: []string{SectionComposer}})
	if len(fs) > 0 || c.Composer.Caching.TTL != 5*time.Second {
		t.Errorf("findings are %q, configuration is %+v", lines(fs), c)
	}
	if _, fs = load(text, nil); len(fs) != 2 {
		t.Errorf("findings with all sections are %q, want 2", lines(fs))
	}
}

// TestRedisElsewhere checks that a program that does not read backend does not
// require its keys.
func TestRedisElsewhere(t *testing.T) {
	text := "composerIngestor: { changeDetection: { storage: redis } }"
	_, fs := Load([]string{"a.yaml"}, Options{ReadFile: disk{"a.yaml": text}.read, Sections: []string{SectionComposer}})
	if len(fs) > 0 {
		t.Errorf("findings are %q, want none", lines(fs))
	}
}

// TestUseCluster checks that secrets of unused clusters are not required.
func TestUseCluster(t *testing.T) {
	text := `composerIngestor:
  clusters:
    - { name: dev, url: "${DEV_URL}", authProvider: token, token: "${DEV}" }
    - { name: prod, url: "${PROD_URL}", authProvider: oidc, oidc: { issuer: "https://i", clientId: "${ID}", clientSecretFile: nowhere } }
    - { name: test, url: "https://test", token: { $file: nowhere }, nonsense: 1 }
`
	opts := Options{Lookup: vars{"DEV": "t", "DEV_URL": "https://dev"}.lookup, ReadFile: disk{"a.yaml": text}.read}
	opts.UseCluster = func(name string) bool { return name == "dev" }
	c, fs := Load([]string{"a.yaml"}, opts)
	if got := lines(fs); len(got) != 1 || !strings.Contains(got[0], "nonsense") {
		t.Errorf("findings are %q, want one about nonsense", got)
	}
	if all := c.Clusters(); len(all) != 3 || all[0].Token.Reveal() != "t" || all[1].Auth != "oidc" {
		t.Errorf("clusters are %+v", all)
	}
	opts.UseCluster = nil
	if _, fs = Load([]string{"a.yaml"}, opts); finding.Count(fs, finding.Error) != 5 {
		t.Errorf("findings are %q, want five errors", lines(fs))
	}
}

// TestUseSource checks that variables of unused sources are not required.
func TestUseSource(t *testing.T) {
	text := `composerIngestor:
  sources:
    - { name: here, type: file, path: "${HERE}" }
    - { name: there, type: git, repo: "${THERE}", branch: "${BRANCH}" }
`
	opts := Options{Lookup: vars{"HERE": "/x"}.lookup, ReadFile: disk{"a.yaml": text}.read}
	opts.UseSource = func(name string) bool { return name == "here" }
	c, fs := Load([]string{"a.yaml"}, opts)
	if len(fs) > 0 || len(c.Composer.Sources) != 2 || c.Composer.Sources[0].Path != "/x" {
		t.Errorf("findings are %q, sources are %+v", lines(fs), c.Composer.Sources)
	}
	opts.UseSource = nil
	if _, fs = Load([]string{"a.yaml"}, opts); finding.Count(fs, finding.Error) != 2 {
		t.Errorf("findings are %q, want two errors", lines(fs))
	}
}
