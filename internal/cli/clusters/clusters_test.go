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
		"Config":           {reason: "All clusters of a configuration are used.", flags: Flags{Configs: []string{config}}, env: tokens, want: []string{"east", "west"}},
		"ConfigPicked":     {reason: "Only the selected cluster is used, and the variables of others are not required.", flags: Flags{Configs: []string{config}, Picked: []string{"west"}}, env: map[string]string{"TOKEN_WEST": "y"}, want: []string{"west"}},
		"ConfigOrder":      {reason: "Clusters are in the selected order, each once.", flags: Flags{Configs: []string{config}, Picked: []string{"west", "east", "west"}}, env: tokens, want: []string{"west", "east"}},
		"ConfigAll":        {reason: "The name all selects all clusters.", flags: Flags{Configs: []string{config}, Picked: []string{"all"}}, env: tokens, want: []string{"east", "west"}},
		"ConfigUnknown":    {reason: "An unknown name is reported with the available ones.", flags: Flags{Configs: []string{config}, Picked: []string{"north"}}, env: tokens, err: `unknown cluster "north"|available: "east", "west"`},
		"ConfigMerged":     {reason: "The last file wins.", flags: Flags{Configs: []string{none, config}}, env: tokens, want: []string{"east", "west"}},
		"ConfigNone":       {reason: "A configuration without clusters is an error.", flags: Flags{Configs: []string{none}}, err: "no cluster in the configuration"},
		"ConfigEnv":        {reason: "The environment adds to a configuration.", flags: Flags{Configs: []string{none}}, env: map[string]string{"ORCHESTRATOR_API_URL": "https://env.example.org", "ORCHESTRATOR_CLUSTER_NAME": "env"}, want: []string{"env"}},
		"Kubeconfig":       {reason: "The current context is used by default.", flags: Flags{Kubeconfig: current}, want: []string{"dev"}},
		"KubeconfigAll":    {reason: "All contexts are clusters.", flags: Flags{Kubeconfig: current, Picked: []string{"all"}}, want: []string{"dev", "prod"}},
		"KubeconfigPick":   {reason: "A cluster has the name of its context.", flags: Flags{Kubeconfig: without, Picked: []string{"prod"}}, want: []string{"prod"}},
		"KubeconfigNoCur":  {reason: "Without a current context one must be named.", flags: Flags{Kubeconfig: without}, err: `no current context|one of "dev", "prod"`},
		"KubeconfigEmpty":  {reason: "A file without contexts is an error.", flags: Flags{Kubeconfig: empty}, err: "no contexts"},
		"KubeconfigGone":   {reason: "A missing file is reported.", flags: Flags{Kubeconfig: filepath.Join(home, "gone")}, err: "cannot read the kubeconfig"},
		"Contexts":         {reason: "The named contexts are used.", flags: Flags{Kubeconfig: current, Contexts: []string{"prod", "dev"}}, want: []string{"prod", "dev"}},
		"ContextUnknown":   {reason: "An unknown context is reported with the available ones.", flags: Flags{Kubeconfig: current, Contexts: []string{"stage"}}, err: `context "stage" not found|available: "dev", "prod"`},
		"ContextPicked":    {reason: "Only the named contexts can be selected.", flags: Flags{Kubeconfig: current, Contexts: []string{"dev"}, Picked: []string{"prod"}}, err: `unknown cluster "prod"|available: "dev"`},
		"ContextHome":      {reason: "Contexts are searched in the same places as by kubectl.", flags: Flags{Contexts: []string{"dev"}}, env: map[string]string{"HOME": home}, want: []string{"dev"}},
		"ContextNoFile":    {reason: "Contexts need a kubeconfig.", flags: Flags{Contexts: []string{"dev"}}, err: "no kubeconfig"},
		"Both":             {reason: "Clusters of a configuration and contexts can be combined.", flags: Flags{Configs: []string{config}, Contexts: []string{"prod"}, Kubeconfig: current}, env: tokens, want: []string{"east", "west", "prod"}},
		"Environment":      {reason: "The environment can describe a cluster.", env: map[string]string{"ORCHESTRATOR_API_URL": "https://env.example.org", "ORCHESTRATOR_CLUSTER_NAME": "env", "HOME": home}, want: []string{"env"}},
		"EnvironmentName":  {reason: "A cluster of the environment needs no name.", env: map[string]string{"ORCHESTRATOR_API_URL": "https://env.example.org", "ORCHESTRATOR_SERVICE_ACCOUNT_TOKEN": "hunter2"}, want: []string{"default"}},
		"EnvironmentWrong": {reason: "An invalid URL is reported.", env: map[string]string{"ORCHESTRATOR_API_URL": "env.example.org"}, err: "exit code 4"},
		"KUBECONFIG":       {reason: "The kubeconfig of the environment is next.", env: map[string]string{"KUBECONFIG": current, "HOME": home}, want: []string{"dev"}},
		"Home":             {reason: "The kubeconfig of the home folder is next.", env: map[string]string{"HOME": home, "KUBERNETES_SERVICE_HOST": "10.0.0.1"}, want: []string{"prod"}},
		"Inside":           {reason: "The surrounding cluster is last.", env: map[string]string{"HOME": t.TempDir(), "KUBERNETES_SERVICE_HOST": "10.0.0.1"}, want: []string{"in-cluster"}},
		"Nothing":          {reason: "Without a cluster all ways are listed.", err: "no cluster specified|--config|--kubeconfig|--context|ORCHESTRATOR_API_URL|KUBECONFIG|~/.kube/config|inside a cluster"},
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
					t.Fatalf("%s: error is %v, want a usage error; standard error is %q", tc.reason, err, notes.String())
				}
				for part := range strings.SplitSeq(tc.err, "|") {
					if !strings.Contains(e.Error()+"\n"+e.Hint, part) {
						t.Errorf("%s: %q is missing in %q, %q", tc.reason, part, e.Error(), e.Hint)
					}
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: clusters returned %v; standard error is %q", tc.reason, err, notes.String())
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
