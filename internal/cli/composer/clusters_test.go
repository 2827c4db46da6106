package composer

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/voice"
	"example.dev/ingestor/source"
)

const kubeconfig = `apiVersion: v1
kind: Config
current-context: %s
clusters:
  - {name: one, cluster: {server: "https://one.example.org"}}
contexts:
  - {name: dev, context: {cluster: one}}
  - {name: prod, context: {cluster: one}}
`

const twoClusters = `composerIngestor:
  clusters:
    - {name: east, url: "https://east.example.org", serviceAccountToken: "${TOKEN_EAST}"}
    - {name: west, url: "https://west.example.org", serviceAccountToken: "${TOKEN_WEST}"}
`

func TestChoose(t *testing.T) {
	current := write(t, "kubeconfig", strings.Replace(kubeconfig, "%s", "dev", 1))
	without := write(t, "kubeconfig", strings.Replace(kubeconfig, "%s", `""`, 1))
	empty := write(t, "kubeconfig", "apiVersion: v1\nkind: Config\n")
	config := write(t, "app-config.yaml", twoClusters)
	none := write(t, "app-config.yaml", "composerIngestor: {}\n")
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, ".kube"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".kube", "config"), []byte(strings.Replace(kubeconfig, "%s", "prod", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	tokens := map[string]string{"TOKEN_EAST": "x", "TOKEN_WEST": "y"}
	cases := map[string]struct {
		reason string
		flags  common
		env    map[string]string
		want   []string
		err    string // a part of the error and its hint
	}{
		"Config":           {reason: "all of a configuration's", flags: common{configs: []string{config}}, env: tokens, want: []string{"east", "west"}},
		"ConfigPicked":     {reason: "the one picked, and nothing is needed of the other", flags: common{configs: []string{config}, picked: []string{"west"}}, env: map[string]string{"TOKEN_WEST": "y"}, want: []string{"west"}},
		"ConfigOrder":      {reason: "in the order picked, each once", flags: common{configs: []string{config}, picked: []string{"west", "east", "west"}}, env: tokens, want: []string{"west", "east"}},
		"ConfigAll":        {reason: "all is all", flags: common{configs: []string{config}, picked: []string{"all"}}, env: tokens, want: []string{"east", "west"}},
		"ConfigUnknown":    {reason: "a name that there is not is told with those there are", flags: common{configs: []string{config}, picked: []string{"north"}}, env: tokens, err: `there is no cluster "north"|there are "east", "west"`},
		"ConfigMerged":     {reason: "the last file wins", flags: common{configs: []string{none, config}}, env: tokens, want: []string{"east", "west"}},
		"ConfigNone":       {reason: "a configuration without clusters is no use", flags: common{configs: []string{none}}, err: "the configuration names no cluster"},
		"ConfigEnv":        {reason: "the environment adds to a configuration", flags: common{configs: []string{none}}, env: map[string]string{"ORCHESTRATOR_API_URL": "https://env.example.org", "ORCHESTRATOR_CLUSTER_NAME": "env"}, want: []string{"env"}},
		"Kubeconfig":       {reason: "the current context", flags: common{kubeconfig: current}, want: []string{"dev"}},
		"KubeconfigAll":    {reason: "all contexts are clusters", flags: common{kubeconfig: current, picked: []string{"all"}}, want: []string{"dev", "prod"}},
		"KubeconfigPick":   {reason: "a cluster is called as its context", flags: common{kubeconfig: without, picked: []string{"prod"}}, want: []string{"prod"}},
		"KubeconfigNoCur":  {reason: "without a current one it must be named", flags: common{kubeconfig: without}, err: `no current context|there are "dev", "prod"`},
		"KubeconfigEmpty":  {reason: "a file without contexts is no use", flags: common{kubeconfig: empty}, err: "no contexts"},
		"KubeconfigGone":   {reason: "a file that is not there is told", flags: common{kubeconfig: filepath.Join(home, "gone")}, err: "cannot read the kubeconfig"},
		"Contexts":         {reason: "the contexts named", flags: common{kubeconfig: current, contexts: []string{"prod", "dev"}}, want: []string{"prod", "dev"}},
		"ContextUnknown":   {reason: "a context that there is not is told with those there are", flags: common{kubeconfig: current, contexts: []string{"stage"}}, err: `there is no context "stage"|there are "dev", "prod"`},
		"ContextPicked":    {reason: "only those named are there to be picked", flags: common{kubeconfig: current, contexts: []string{"dev"}, picked: []string{"prod"}}, err: `there is no cluster "prod"|there are "dev"`},
		"ContextHome":      {reason: "contexts are looked for where kubectl does", flags: common{contexts: []string{"dev"}}, env: map[string]string{"HOME": home}, want: []string{"dev"}},
		"ContextNoFile":    {reason: "without a file there are none", flags: common{contexts: []string{"dev"}}, err: "no kubeconfig"},
		"Both":             {reason: "a configuration's and the context", flags: common{configs: []string{config}, contexts: []string{"prod"}, kubeconfig: current}, env: tokens, want: []string{"east", "west", "prod"}},
		"Environment":      {reason: "the cluster the environment describes", env: map[string]string{"ORCHESTRATOR_API_URL": "https://env.example.org", "ORCHESTRATOR_CLUSTER_NAME": "env", "HOME": home}, want: []string{"env"}},
		"EnvironmentName":  {reason: "it needs no name", env: map[string]string{"ORCHESTRATOR_API_URL": "https://env.example.org", "ORCHESTRATOR_SERVICE_ACCOUNT_TOKEN": secret}, want: []string{"default"}},
		"EnvironmentWrong": {reason: "an address that is none is told", env: map[string]string{"ORCHESTRATOR_API_URL": "env.example.org"}, err: "exit code 4"},
		"KUBECONFIG":       {reason: "then the kubeconfig of the environment", env: map[string]string{"KUBECONFIG": current, "HOME": home}, want: []string{"dev"}},
		"Home":             {reason: "then the one at home", env: map[string]string{"HOME": home, "KUBERNETES_SERVICE_HOST": "10.0.0.1"}, want: []string{"prod"}},
		"Inside":           {reason: "then the cluster this runs in", env: map[string]string{"HOME": t.TempDir(), "KUBERNETES_SERVICE_HOST": "10.0.0.1"}, want: []string{"in-cluster"}},
		"Nothing":          {reason: "else all the ways are named", err: "no cluster is known|--config|--kubeconfig|--context|ORCHESTRATOR_API_URL|KUBECONFIG|~/.kube/config|inside a cluster"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var notes strings.Builder
			c := tc.flags
			c.timeout = defaultTimeout
			c.Voice = voice.Voice{Program: Name, Env: &app.Env{Stderr: &notes, Getenv: func(k string) string { return tc.env[k] }}}
			s := &session{common: &c}
			var got []source.Cluster
			err := s.configure(true)
			if err == nil {
				got, err = s.choose()
			}
			if tc.err != "" {
				e, ok := errors.AsType[*app.Exit](err)
				if !ok || e.Code != app.ExitUsage {
					t.Fatalf("%s: got %v, want wrong usage; standard error %q", tc.reason, err, notes.String())
				}
				for part := range strings.SplitSeq(tc.err, "|") {
					if !strings.Contains(e.Error()+"\n"+e.Hint, part) {
						t.Errorf("%s: want %q in %q, %q", tc.reason, part, e.Error(), e.Hint)
					}
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v; standard error %q", tc.reason, err, notes.String())
			}
			var names []string
			for _, c := range got {
				names = append(names, c.Name)
			}
			if diff := cmp.Diff(tc.want, names); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFlagsWrong wants what is wrong with the flags of every command told
// before anything is done.
func TestFlagsWrong(t *testing.T) {
	config := write(t, "app-config.yaml", "composerIngestor:\n  cluster: []\n")
	cases := map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"Unknown":    {"a flag that there is not", []string{"export", "--frob"}, "unknown flag: --frob\n  see composer-ingestor export --help"},
		"Timeout":    {"no call takes no time", []string{"discover", "--timeout", "0s"}, "cannot use timeout 0s"},
		"Words":      {"no other words", []string{"discover", "--words", "klingon"}, "cannot use words"},
		"Quiet":      {"either quiet or not", []string{"discover", "--quiet", "--debug"}, "cannot use --quiet and --debug together"},
		"Config":     {"a mistake in the configuration has its place", []string{"discover", "--config", config}, config + ":2:3: error: "},
		"ConfigGone": {"one that is not there too", []string{"validate", "--xrd", "x.yaml", "--config", config + "x"}, "cannot read the configuration file"},
		"Format":     {"export has one format", []string{"export", "--format", "json"}, `cannot use --format "json": want catalog`},
		"Selector":   {"a selector is one", []string{"discover", "--selector", "a in b"}, "cannot read selector"},
		"Pattern":    {"a pattern is one", []string{"discover", "--name-pattern", "("}, "cannot use name pattern"},
		"FileThere":  {"files are not in clusters", []string{"validate", "--context", "x", "--xrd", "a.yaml"}, `cannot read "a.yaml" from a cluster`},
		"Explain":    {"one thing is explained", []string{"explain"}, "cannot explain 0 definitions"},
		"ExplainTwo": {"not two", []string{"explain", "a", "b"}, "cannot explain 2 definitions"},
		"Stdout":     {"one place to write to", []string{"transform", "--xrd", "a.yaml", "--stdout", "--output", "x"}, "cannot use --stdout and --output together"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, notes, code := run(t, tc.args...)
			if code != app.ExitUsage || out != "" || !strings.Contains(notes, tc.want) {
				t.Errorf("%s: exit code %d, standard output %q, standard error %q; want %q in it", tc.reason, code, out, notes, tc.want)
			}
		})
	}
}
