package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/source"
)

// making sets each key of templates, tasks and integrations to a value that is
// not the default.
const making = `composerIngestor:
  clusters:
    - { name: one, kubeconfig: kube/config }
    - { name: two, kubeconfig: kube/config, context: two }
scaffolder:
  concurrentTasksLimit: 3
  limits: { openTasks: 7, runningTasks: 2, eventStreams: 9 }
  taskTimeout: { hours: 1 }
  keepTasks: { days: 0 }
  workingDirectory: work
  secretKey: ${KEY}
  defaultAuthor: { name: Platform, email: platform@example.org }
  branchPrefix: forms/new
  clusters: [two]
  defaultCluster: two
  defaultNamespace: sandbox
  waitTimeout: PT30S
integrations:
  github:
    - { token: "${ONE}" }
    - { host: GHE.example.org, tokenFile: secrets/ghe, apiBaseUrl: "https://ghe.example.org/api/v3", caFile: ca.pem }
  gitlab:
    - { host: "gitlab.example.org:443", token: "${ONE}", baseUrl: "https://gitlab.example.org/git", apiBaseUrl: "https://gitlab.example.org/git/api/v4", skipTLSVerify: true }
  gitea:
    - { host: "git.example.org:8443", username: me, password: "${ONE}", baseUrl: "https://git.example.org:8443" }
  forgejo:
    - { host: codeberg.org, token: "${ONE}", apiBaseUrl: "https://codeberg.org/api/v1" }
  git:
    - { host: ssh.example.org, url: "ssh://git@ssh.example.org:2222", sshKeyFile: secrets/key, passphrase: "${ONE}", knownHostsFile: /etc/known }
    - { host: keys.example.org, url: "ssh://git@keys.example.org", sshKeyFile: secrets/key, hostKey: "SHA256:abc" }
    - { host: here, url: "file:///srv/git" }
`

var makingSecrets = vars{"KEY": "0123456789abcdef", "ONE": "t-one"}

func TestMaking(t *testing.T) {
	want := defaults()
	want.Composer.Enabled = true
	want.Composer.Clusters = []source.Cluster{{Name: "one", Kubeconfig: "conf/kube/config"}, {Name: "two", Kubeconfig: "conf/kube/config", Context: "two"}}
	want.Auth.Guest.Enabled, want.Auth.Guest.OwnershipRefs = true, []string{want.Auth.Guest.UserRef}
	want.Scaffolder = Scaffolder{
		Workers: 3, Limits: Limits{OpenTasks: 7, RunningTasks: 2, EventStreams: 9}, TaskTimeout: time.Hour, WorkingDirectory: "conf/work", SecretKey: "0123456789abcdef",
		Author: "Platform", Email: "platform@example.org", BranchPrefix: "forms/new",
		Clusters: []string{"two"}, DefaultCluster: "two", DefaultNamespace: "sandbox", WaitTimeout: 30 * time.Second,
	}
	want.Integrations.Hosts = []Host{
		{Kind: "github", Name: "github.com", Token: "t-one"},
		{Kind: "github", Name: "ghe.example.org", TokenFile: "conf/secrets/ghe", API: "https://ghe.example.org/api/v3", CAFile: "conf/ca.pem"},
		{Kind: "gitlab", Name: "gitlab.example.org", Token: "t-one", URL: "https://gitlab.example.org/git", API: "https://gitlab.example.org/git/api/v4", SkipTLSVerify: true},
		{Kind: "gitea", Name: "git.example.org:8443", Username: "me", Token: "t-one", URL: "https://git.example.org:8443"},
		{Kind: "forgejo", Name: "codeberg.org", Token: "t-one", API: "https://codeberg.org/api/v1"},
		{Kind: "git", Name: "ssh.example.org", URL: "ssh://git@ssh.example.org:2222", SSHKeyFile: "conf/secrets/key", Passphrase: "t-one", KnownHostsFile: "/etc/known"},
		{Kind: "git", Name: "keys.example.org", URL: "ssh://git@keys.example.org", SSHKeyFile: "conf/secrets/key", HostKey: "SHA256:abc"},
		{Kind: "git", Name: "here", URL: "file:///srv/git"},
	}
	want.Backend.Database.Path = "conf/data/portal.sqlite"
	got, fs := Load([]string{"conf/a.yaml"}, Options{Lookup: makingSecrets.lookup, ReadFile: disk{"conf/a.yaml": making}.read, Sections: PortalSections})
	if found := lines(fs); len(found) > 0 {
		t.Fatalf("findings are %q, want none", found)
	}
	if d := diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestMakingDefaults checks that tasks run without a configuration.
func TestMakingDefaults(t *testing.T) {
	c := mustLoad(t, "", nil)
	want := Scaffolder{Workers: 10, Limits: Limits{OpenTasks: 100, RunningTasks: 5, EventStreams: 50}, TaskTimeout: 24 * time.Hour, KeepTasks: 30 * 24 * time.Hour, BranchPrefix: "portal", DefaultNamespace: "default", WaitTimeout: 10 * time.Minute}
	if diff := cmp.Diff(want, c.Scaffolder); diff != "" || len(c.Integrations.Hosts) != 0 {
		t.Errorf("%d hosts (-want +got):\n%s", len(c.Integrations.Hosts), diff)
	}
}

// TestRunningTasks checks that a caller may use half of the workers by default.
func TestRunningTasks(t *testing.T) {
	cases := map[string]struct {
		reason, text string
		want         int
	}{
		"Default": {"The default is half of the default workers.", "", 5},
		"Half":    {"The default is half of the configured workers.", "concurrentTasksLimit: 7", 3},
		"One":     {"The default is at least one.", "concurrentTasksLimit: 1", 1},
		"Given":   {"A configured limit is used.", "concurrentTasksLimit: 4, limits: { runningTasks: 4 }", 4},
		"Others":  {"Other limits do not matter.", "concurrentTasksLimit: 4, limits: { openTasks: 4 }", 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := mustLoad(t, "scaffolder: { "+tc.text+" }\n", nil).Scaffolder.Limits.RunningTasks; got != tc.want {
				t.Errorf("%s: limit is %d", tc.reason, got)
			}
		})
	}
}

func TestWritableClusters(t *testing.T) {
	const clusters = `orchestrator:
  serviceLocatorMethod: { type: multiTenant }
  clusterLocatorMethods: [ { type: config, clusters: [ { name: a, kubeconfig: x }, { name: b, kubeconfig: y } ] } ]
`
	cases := map[string]struct {
		reason, text string
		want         []string
	}{
		"All":  {"Without a list all configured clusters are writable.", "", []string{"a", "b"}},
		"Some": {"Only listed clusters are writable.", "scaffolder: { clusters: [b] }\n", []string{"b"}},
		"None": {"With an empty list no cluster is writable.", "scaffolder: { clusters: [] }\n", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, c := range mustLoad(t, clusters+tc.text, nil).WritableClusters() {
				got = append(got, c.Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestMakingMistakes(t *testing.T) {
	cases := map[string]struct {
		reason, text string
		env          vars
		want         []string
	}{
		"Bounds": {
			reason: "Limits and durations have minimums and maximums.",
			text:   "scaffolder:\n  concurrentTasksLimit: 0\n  taskTimeout: 5ms\n  keepTasks: { days: 400 }\n  waitTimeout: 0s\n",
			want: []string{
				"a.yaml:2:25: CONF005 scaffolder.concurrentTasksLimit: want a number from 1 to 1000, found 0",
				"a.yaml:3:16: CONF005 scaffolder.taskTimeout: want at least 1s, found less",
				"a.yaml:4:14: CONF005 scaffolder.keepTasks: want at most 366d, found more",
				"a.yaml:5:16: CONF005 scaffolder.waitTimeout: want at least 1s, found less",
			},
		},
		"ShortKey": {
			reason: "A weak key is refused, and not shown.",
			text:   "scaffolder:\n  secretKey: ${KEY}\n",
			env:    vars{"KEY": "short"},
			want: []string{
				"a.yaml:2:14: CONF005 scaffolder.secretKey: want at least 16 characters, so that it cannot be guessed | generate one with: openssl rand -base64 24",
			},
		},
		"Functions": {
			reason: "A function is written once for each cluster, and needs a certificate for TLS.",
			text:   "composerIngestor: { clusters: [ { name: prod, kubeconfig: x } ] }\nplan:\n  functions:\n  - { name: f, endpoint: a:1 }\n  - { name: f, endpoint: a:1, cluster: prod }\n  - { name: h, endpoint: 'unix:///x', cluster: prd }\n  - { name: f, endpoint: a }\n  - { name: g, endpoint: b:2, tls: true }\n",
			want: []string{
				`a.yaml:6:48: CONF005 plan.functions[2].cluster: want the name of a configured cluster, found "prd" | did you mean prod?`,
				"a.yaml:7:13: CONF010 plan.functions[3].name is already configured, at a.yaml:4:13 | write each function once for each cluster",
				`a.yaml:7:26: CONF005 plan.functions[3].endpoint: want host:port, or unix:///path, found "a"`,
				"a.yaml:8:36: CONF007 plan.functions[4].tls needs a client certificate from files | set plan.clientCertificate.certFile, keyFile and caFile",
			},
		},
		"NoKey": {
			reason: "A missing variable of a key is reported.",
			text:   "scaffolder: { secretKey: '${KEY}' }\n",
			want:   []string{"a.yaml:1:26: CONF008 scaffolder.secretKey needs the environment variable KEY, which is not set | set it"},
		},
		"Names": {
			reason: "Invalid authors, prefixes and namespaces are reported.",
			text:   "scaffolder:\n  defaultAuthor: { name: 'A <a@b>', mail: x }\n  branchPrefix: a b\n  defaultNamespace: A\n",
			want: []string{
				`a.yaml:2:26: CONF005 scaffolder.defaultAuthor.name: want one line without < and >, found "A <a@b>"`,
				`a.yaml:2:37: CONF003 scaffolder.defaultAuthor has no key "mail" | did you mean email? known keys: name and email`,
				`a.yaml:3:17: CONF005 scaffolder.branchPrefix: want the name of a branch, found "a b"`,
				`a.yaml:4:21: CONF005 scaffolder.defaultNamespace: want the name of a namespace (lower-case letters, digits and dashes, at most 63), found "A"`,
			},
		},
		"Clusters": {
			reason: "Unknown clusters are reported.",
			text:   "composerIngestor: { clusters: [ { name: prod, kubeconfig: x }, { name: stage, kubeconfig: y } ] }\nscaffolder:\n  clusters: [prd, stage]\n  defaultCluster: prod\n",
			want: []string{
				`a.yaml:3:14: CONF005 scaffolder.clusters[0]: want the name of a configured cluster, found "prd" | did you mean prod?`,
				`a.yaml:4:19: CONF005 scaffolder.defaultCluster: want one of the clusters that steps may write to, found "prod" | add it to scaffolder.clusters`,
			},
		},
		"NoCluster": {
			reason: "A default cluster needs configured clusters.",
			text:   "scaffolder: { defaultCluster: prod }\n",
			want:   []string{`a.yaml:1:31: CONF005 scaffolder.defaultCluster: want the name of a configured cluster, found "prod" | configure it under composerIngestor.clusters`},
		},
		"Backstage": {
			reason: "Unsupported keys of Backstage are reported.",
			text:   "scaffolder: { defaultCommitMessage: x, defaultEnvironment: { parameters: {} } }\nintegrations:\n  azure: [ { host: dev.azure.com } ]\n  github: [ { rawBaseUrl: 'https://x', apps: [] } ]\n",
			want: []string{
				"a.yaml:1:15: CONF013 scaffolder.defaultCommitMessage has no effect here | remove it, unless a portal that shares the file uses it",
				"a.yaml:1:40: CONF012 scaffolder.defaultEnvironment is not supported | write the values into the templates, or let the form ask for them",
				"a.yaml:3:3: CONF013 integrations.azure has no effect here | remove it, unless a portal that shares the file uses it",
				"a.yaml:4:15: CONF013 integrations.github[0].rawBaseUrl has no effect here | remove it, unless a portal that shares the file uses it",
				"a.yaml:4:40: CONF012 integrations.github[0].apps is not supported | write a token, for example of a service account",
			},
		},
		"Twice": {
			reason: "A host is configured once, in any spelling.",
			text:   "integrations:\n  github:\n    - token: a\n    - host: GitHub.com\n  git:\n    - { host: x:443 }\n    - { host: X }\n    - { host: 'x:80' }\n",
			want: []string{
				"a.yaml:4:13: CONF010 integrations.github[1] is the same server as at a.yaml:3:7 | keep one of the two",
				"a.yaml:7:15: CONF010 integrations.git[1] is the same server as at a.yaml:6:15 | keep one of the two",
			},
		},
		"Host": {
			reason: "A host is a name, not a URL.",
			text:   "integrations:\n  gitlab: [ { host: 'https://x' }, { host: '*.x' } ]\n  gitea: [ {} ]\n",
			want: []string{
				`a.yaml:2:21: CONF005 integrations.gitlab[0].host: want the name of a host such as git.example.org or git.example.org:8443, without a scheme and a path, found "https://x"`,
				`a.yaml:2:44: CONF005 integrations.gitlab[1].host: want the name of a host such as git.example.org or git.example.org:8443, without a scheme and a path, found "*.x"`,
				"a.yaml:3:12: CONF006 integrations.gitea[0] has no host | write the name of the server, such as git.example.org",
			},
		},
		"Together": {
			reason: "Only one way of authentication can be configured.",
			text:   "integrations:\n  gitea: [ { host: x, token: a, password: b } ]\n  git: [ { host: y, knownHostsFile: a, hostKey: b, url: 'ssh://y', caFile: c }, { host: z, sshKeyFile: k }, { host: w, url: 'file:///w', username: me } ]\n",
			want: []string{
				"a.yaml:2:33: CONF007 integrations.gitea[0].password cannot be used with token at a.yaml:2:23 | keep one of the two",
				"a.yaml:3:40: CONF007 integrations.git[0].hostKey cannot be used with knownHostsFile at a.yaml:3:21 | keep one of the two",
				"a.yaml:3:68: CONF007 integrations.git[0].caFile cannot be used with a server accessed over SSH | remove it, or write a url that begins with https://",
				"a.yaml:3:92: CONF007 integrations.git[1].sshKeyFile cannot be used with a server accessed over HTTP | remove it, or write a url that begins with ssh://",
				"a.yaml:3:138: CONF007 integrations.git[2].username cannot be used with repositories on this machine | remove it",
			},
		},
		"Exposed": {
			reason: "Plain HTTP and credentials in URLs are reported.",
			text:   "integrations:\n  gitlab: [ { host: x, token: a, baseUrl: 'http://x', apiBaseUrl: 'http://127.0.0.1' } ]\n  git: [ { host: y, url: 'https://me:pw@y' }, { host: z, url: z/y } ]\n",
			want: []string{
				"a.yaml:2:43: CONF011 integrations.gitlab[0].baseUrl would send the token over plain HTTP | use https",
				"a.yaml:3:26: CONF011 integrations.git[0].url contains credentials, which would be logged | remove everything before the @",
				"a.yaml:3:63: CONF005 integrations.git[1].url: want the base address of repositories | write it as in https://git.example.org, ssh://git@git.example.org or file:///srv/git",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, fs := load(tc.text, tc.env)
			got := lines(fs)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
			for _, secret := range tc.env {
				if strings.Contains(strings.Join(got, "\n"), secret) {
					t.Error("finding contains a secret")
				}
			}
		})
	}
}
