package clusters

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/output"
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
		flags  Flags
		env    map[string]string
		want   []string
		err    string // a part of the error and its hint
	}{
		"Config":           {reason: "all of a configuration's", flags: Flags{Configs: []string{config}}, env: tokens, want: []string{"east", "west"}},
		"ConfigPicked":     {reason: "the one picked, and nothing is needed of the other", flags: Flags{Configs: []string{config}, Picked: []string{"west"}}, env: map[string]string{"TOKEN_WEST": "y"}, want: []string{"west"}},
		"ConfigOrder":      {reason: "in the order picked, each once", flags: Flags{Configs: []string{config}, Picked: []string{"west", "east", "west"}}, env: tokens, want: []string{"west", "east"}},
		"ConfigAll":        {reason: "all is all", flags: Flags{Configs: []string{config}, Picked: []string{"all"}}, env: tokens, want: []string{"east", "west"}},
		"ConfigUnknown":    {reason: "a name that there is not is told with those there are", flags: Flags{Configs: []string{config}, Picked: []string{"north"}}, env: tokens, err: `there is no cluster "north"|there are "east", "west"`},
		"ConfigMerged":     {reason: "the last file wins", flags: Flags{Configs: []string{none, config}}, env: tokens, want: []string{"east", "west"}},
		"ConfigNone":       {reason: "a configuration without clusters is no use", flags: Flags{Configs: []string{none}}, err: "the configuration names no cluster"},
		"ConfigEnv":        {reason: "the environment adds to a configuration", flags: Flags{Configs: []string{none}}, env: map[string]string{"ORCHESTRATOR_API_URL": "https://env.example.org", "ORCHESTRATOR_CLUSTER_NAME": "env"}, want: []string{"env"}},
		"Kubeconfig":       {reason: "the current context", flags: Flags{Kubeconfig: current}, want: []string{"dev"}},
		"KubeconfigAll":    {reason: "all contexts are clusters", flags: Flags{Kubeconfig: current, Picked: []string{"all"}}, want: []string{"dev", "prod"}},
		"KubeconfigPick":   {reason: "a cluster is called as its context", flags: Flags{Kubeconfig: without, Picked: []string{"prod"}}, want: []string{"prod"}},
		"KubeconfigNoCur":  {reason: "without a current one it must be named", flags: Flags{Kubeconfig: without}, err: `no current context|there are "dev", "prod"`},
		"KubeconfigEmpty":  {reason: "a file without contexts is no use", flags: Flags{Kubeconfig: empty}, err: "no contexts"},
		"KubeconfigGone":   {reason: "a file that is not there is told", flags: Flags{Kubeconfig: filepath.Join(home, "gone")}, err: "cannot read the kubeconfig"},
		"Contexts":         {reason: "the contexts named", flags: Flags{Kubeconfig: current, Contexts: []string{"prod", "dev"}}, want: []string{"prod", "dev"}},
		"ContextUnknown":   {reason: "a context that there is not is told with those there are", flags: Flags{Kubeconfig: current, Contexts: []string{"stage"}}, err: `there is no context "stage"|there are "dev", "prod"`},
		"ContextPicked":    {reason: "only those named are there to be picked", flags: Flags{Kubeconfig: current, Contexts: []string{"dev"}, Picked: []string{"prod"}}, err: `there is no cluster "prod"|there are "dev"`},
		"ContextHome":      {reason: "contexts are looked for where kubectl does", flags: Flags{Contexts: []string{"dev"}}, env: map[string]string{"HOME": home}, want: []string{"dev"}},
		"ContextNoFile":    {reason: "without a file there are none", flags: Flags{Contexts: []string{"dev"}}, err: "no kubeconfig"},
		"Both":             {reason: "a configuration's and the context", flags: Flags{Configs: []string{config}, Contexts: []string{"prod"}, Kubeconfig: current}, env: tokens, want: []string{"east", "west", "prod"}},
		"Environment":      {reason: "the cluster the environment describes", env: map[string]string{"ORCHESTRATOR_API_URL": "https://env.example.org", "ORCHESTRATOR_CLUSTER_NAME": "env", "HOME": home}, want: []string{"env"}},
		"EnvironmentName":  {reason: "it needs no name", env: map[string]string{"ORCHESTRATOR_API_URL": "https://env.example.org", "ORCHESTRATOR_SERVICE_ACCOUNT_TOKEN": "hunter2"}, want: []string{"default"}},
		"EnvironmentWrong": {reason: "an address that is none is told", env: map[string]string{"ORCHESTRATOR_API_URL": "env.example.org"}, err: "exit code 4"},
		"KUBECONFIG":       {reason: "then the kubeconfig of the environment", env: map[string]string{"KUBECONFIG": current, "HOME": home}, want: []string{"dev"}},
		"Home":             {reason: "then the one at home", env: map[string]string{"HOME": home, "KUBERNETES_SERVICE_HOST": "10.0.0.1"}, want: []string{"prod"}},
		"Inside":           {reason: "then the cluster this runs in", env: map[string]string{"HOME": t.TempDir(), "KUBERNETES_SERVICE_HOST": "10.0.0.1"}, want: []string{"in-cluster"}},
		"Nothing":          {reason: "else all the ways are named", err: "no cluster is known|--config|--kubeconfig|--context|ORCHESTRATOR_API_URL|KUBECONFIG|~/.kube/config|inside a cluster"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var notes strings.Builder
			tc.flags.Timeout = defaultTimeout
			c := &Choice{Flags: &tc.flags, Output: &output.Output{
				Program: "prog", Env: &app.Env{Stderr: &notes, Getenv: func(k string) string { return tc.env[k] }},
			}}
			var got []source.Cluster
			err := c.Configure(true)
			if err == nil {
				got, err = c.Choose()
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

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
