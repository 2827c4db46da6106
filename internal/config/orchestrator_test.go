package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/source"
)

// TestOrchestratorMistakes checks the findings of the clusters of variant B.
func TestOrchestratorMistakes(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		env    vars
		want   []string
	}{
		"NoService": {
			reason: "A serviceLocatorMethod is required.",
			text:   "orchestrator:\n  clusterLocatorMethods:\n    - { type: config, clusters: [] }\n",
			want: []string{
				"a.yaml:2:3: CONF006 orchestrator has clusterLocatorMethods but no serviceLocatorMethod.type | write serviceLocatorMethod: { type: multiTenant }",
			},
		},
		"NoServiceType": {
			reason: "An empty serviceLocatorMethod is missing.",
			text:   "kubernetes:\n  serviceLocatorMethod: {}\n  clusterLocatorMethods: [ { type: config, clusters: [] } ]\n",
			want: []string{
				"a.yaml:3:3: CONF006 kubernetes has clusterLocatorMethods but no serviceLocatorMethod.type | write serviceLocatorMethod: { type: multiTenant }",
			},
		},
		"ServiceForeign": {
			reason: "A serviceLocatorMethod of Backstage that is not supported is named.",
			text:   "orchestrator:\n  serviceLocatorMethod: { type: singleTenant }\n",
			want: []string{
				"a.yaml:2:33: CONF012 orchestrator.serviceLocatorMethod.type: singleTenant is not supported | write multiTenant",
			},
		},
		"ServiceUnknown": {
			reason: "An unknown serviceLocatorMethod is reported.",
			text:   "orchestrator:\n  serviceLocatorMethod: { type: multitenant }\n  clusterLocatorMethods: [ { type: config, clusters: [] } ]\n",
			want: []string{
				`a.yaml:2:33: CONF005 orchestrator.serviceLocatorMethod.type: want multiTenant, found "multitenant" | did you mean multiTenant?`,
			},
		},
		"ServiceNotMap": {
			reason: "One mistake is reported once.",
			text:   "orchestrator:\n  serviceLocatorMethod: multiTenant\n  clusterLocatorMethods: [ { type: config, clusters: [] } ]\n",
			want: []string{
				`a.yaml:2:25: CONF004 orchestrator.serviceLocatorMethod: want a map, found "multiTenant" | write its keys below it, indented`,
			},
		},
		"LocatorForeign": {
			reason: "Clusters from other locators are reported, without their keys.",
			text: "orchestrator:\n  serviceLocatorMethod: { type: multiTenant }\n  clusterLocatorMethods:\n    - { type: catalog }\n" +
				"    - { type: localKubectlProxy }\n    - { type: gke, projectId: x }\n    - { type: other }\n    - {}\n    - { type: config }\n",
			want: []string{
				"a.yaml:4:15: CONF012 orchestrator.clusterLocatorMethods[0].type: clusters of type catalog are not supported | write type: config with a list of clusters; kubeconfig can take the place of a url",
				"a.yaml:5:15: CONF012 orchestrator.clusterLocatorMethods[1].type: clusters of type localKubectlProxy are not supported | write type: config with a list of clusters; kubeconfig can take the place of a url",
				"a.yaml:6:15: CONF012 orchestrator.clusterLocatorMethods[2].type: clusters of type gke are not supported | write type: config with a list of clusters; kubeconfig can take the place of a url",
				`a.yaml:7:15: CONF005 orchestrator.clusterLocatorMethods[3].type: want config, found "other"`,
				"a.yaml:8:7: CONF006 orchestrator.clusterLocatorMethods[4] has no type | write type: config",
				"a.yaml:9:7: CONF006 orchestrator.clusterLocatorMethods[5] has no clusters | write a list of clusters, each with a name and a url",
			},
		},
		"TwiceInSection": {
			reason: "One name in two lists is a conflict.",
			text: "orchestrator:\n  serviceLocatorMethod: { type: multiTenant }\n  clusterLocatorMethods:\n" +
				"    - { type: config, clusters: [ { name: a, url: 'https://x' } ] }\n    - { type: config, clusters: [ { name: a, url: 'https://x' } ] }\n",
			want: []string{
				`a.yaml:5:43: CONF010 orchestrator.clusterLocatorMethods[1].clusters[0].name: "a" is already used at a.yaml:4:43 | rename or remove one of the two`,
			},
		},
		"SameInBoth": {
			reason: "The same cluster in two sections is one.",
			text: "composerIngestor:\n  clusters: [ { name: a, url: 'https://x' } ]\norchestrator:\n  serviceLocatorMethod: { type: multiTenant }\n  clusterLocatorMethods:\n" +
				"    - { type: config, clusters: [ { name: a, url: 'https://x/' } ] }\n",
		},
		"OtherInBoth": {
			reason: "Two clusters with one name are a conflict.",
			text: "composerIngestor:\n  clusters: [ { name: a, url: 'https://x' } ]\norchestrator:\n  serviceLocatorMethod: { type: multiTenant }\n  clusterLocatorMethods:\n" +
				"    - { type: config, clusters: [ { name: a, url: 'https://y' } ] }\n",
			want: []string{
				"a.yaml:6:43: CONF010 orchestrator.clusterLocatorMethods[0].clusters[0].name: the cluster of that name at a.yaml:2:23 has a different address | use the same address for both, or different names",
			},
		},
		"EnvironmentNameless": {
			reason: "A cluster of the environment needs a name.",
			env:    vars{"ORCHESTRATOR_API_URL": "https://x"},
			want: []string{
				"environment: CONF006 the environment variable ORCHESTRATOR_API_URL is set, but ORCHESTRATOR_CLUSTER_NAME is not | set ORCHESTRATOR_CLUSTER_NAME",
			},
		},
		"EnvironmentHome": {
			reason: "A tilde is refused, and values of variables are not shown.",
			env:    vars{"ORCHESTRATOR_API_URL": "https://x", "ORCHESTRATOR_CLUSTER_NAME": "x", "ORCHESTRATOR_CA_FILE": "~/ca.pem"},
			want: []string{
				"environment: CONF005 environment.caFile: want a path, found the value of the environment variable ORCHESTRATOR_CA_FILE | write ${HOME} instead of ~, which is not expanded",
			},
		},
		"EnvironmentWrong": {
			reason: "The environment has the same rules as files.",
			env:    vars{"KUBERNETES_API_URL": "http://x", "KUBERNETES_CLUSTER_NAME": "all", "KUBERNETES_SERVICE_ACCOUNT_TOKEN": "s3cr3t"},
			want: []string{
				`environment: CONF005 environment.name: "all" means every cluster on the command line | choose another name`,
				"environment: CONF011 environment.url would send the token over plain HTTP | use https",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, fs := load(tc.text, tc.env)
			if diff := cmp.Diff(tc.want, lines(fs)); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestEnvironment checks that the environment can describe a cluster like a
// file.
func TestEnvironment(t *testing.T) {
	env := vars{"ORCHESTRATOR_API_URL": "https://env", "ORCHESTRATOR_CLUSTER_NAME": "env", "ORCHESTRATOR_SERVICE_ACCOUNT_TOKEN": "t"}
	fromEnv := source.Cluster{Name: "env", URL: "https://env", Auth: source.AuthServiceAccount, Token: "t"}
	locator := "orchestrator:\n  serviceLocatorMethod: { type: multiTenant }\n  clusterLocatorMethods: [ { type: config, clusters: [ "
	cases := map[string]struct {
		reason string
		text   string
		env    vars
		opts   Options
		want   []source.Cluster
	}{
		"Alone": {reason: "No file is needed.", env: env, want: []source.Cluster{fromEnv}},
		"Upstream": {
			reason: "The other vocabulary can be used, without a token.",
			env:    vars{"KUBERNETES_API_URL": "https://env", "KUBERNETES_CLUSTER_NAME": "env"},
			want:   []source.Cluster{{Name: "env", URL: "https://env", Auth: source.AuthServiceAccount}},
		},
		"Authority": {
			reason: "A CA file is relative to the working directory.",
			env:    vars{"ORCHESTRATOR_API_URL": "https://env", "ORCHESTRATOR_CLUSTER_NAME": "env", "ORCHESTRATOR_SERVICE_ACCOUNT_TOKEN": "t", "ORCHESTRATOR_CA_FILE": "pki/ca.pem"},
			want:   []source.Cluster{{Name: "env", URL: "https://env", Auth: source.AuthServiceAccount, Token: "t", CAFile: "pki/ca.pem"}},
		},
		"AuthorityUpstream": {
			reason: "The other vocabulary ignores variables of the first one.",
			env: vars{
				"KUBERNETES_API_URL": "https://env", "KUBERNETES_CLUSTER_NAME": "env", "KUBERNETES_CA_FILE": "/pki/ca.pem",
				"ORCHESTRATOR_CA_FILE": "/other.pem",
			},
			want: []source.Cluster{{Name: "env", URL: "https://env", Auth: source.AuthServiceAccount, CAFile: "/pki/ca.pem"}},
		},
		"Beside": {
			reason: "The environment adds to the clusters of a file.",
			text:   locator + "{ name: file, url: 'https://file' } ] } ]", env: env,
			want: []source.Cluster{{Name: "file", URL: "https://file", Auth: source.AuthServiceAccount}, fromEnv},
		},
		"FileWins": {
			reason: "A cluster of a file has precedence.",
			text:   locator + "{ name: '${ORCHESTRATOR_CLUSTER_NAME}', url: '${ORCHESTRATOR_API_URL}', skipTLSVerify: true } ] } ]", env: env,
			want: []source.Cluster{{Name: "env", URL: "https://env", Auth: source.AuthServiceAccount, SkipTLSVerify: true}},
		},
		"OtherSectionWins": {
			reason: "A cluster of any section has precedence.",
			text:   "composerIngestor: { clusters: [ { name: env, url: 'https://other' } ] }", env: env,
			want: []source.Cluster{{Name: "env", URL: "https://other", Auth: source.AuthServiceAccount}},
		},
		"NotAsked": {
			reason: "A program that does not read the section has no cluster of the environment.",
			env:    env, opts: Options{Sections: []string{SectionComposer}},
		},
		"Empty": {reason: "An empty variable is unset.", env: vars{"ORCHESTRATOR_API_URL": ""}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.opts.Lookup, tc.opts.ReadFile = tc.env.lookup, disk{"a.yaml": tc.text}.read
			c, fs := Load([]string{"a.yaml"}, tc.opts)
			if found := lines(fs); len(found) > 0 {
				t.Fatalf("%s\nfindings are %q, want none", tc.reason, found)
			}
			if d := diff(&Config{Composer: Composer{Clusters: tc.want}}, &Config{Composer: Composer{Clusters: c.Clusters()}}); d != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, d)
			}
		})
	}
}

// TestBackstage checks that keys for the pages of Backstage are ignored with a
// remark.
func TestBackstage(t *testing.T) {
	_, fs := load(`kubernetes:
  frontend: { podDelete: { enabled: true } }
  serviceLocatorMethod: { type: multiTenant }
  customResources: [ { group: argoproj.io, apiVersion: v1alpha1, plural: rollouts } ]
  clusterLocatorMethods:
    - type: config
      clusters:
        - url: https://x
          name: x
          title: Production
          authProvider: serviceAccount
          skipMetricsLookup: true
          authMetadata: { kubernetes.io/x-k8s-aws-id: x }
          dashboardUrl: https://dashboard
          dashboardApp: standard
          customResources: []
`, nil)
	var got []string
	for _, f := range fs {
		got = append(got, f.Where()+" "+f.Severity.String()+" "+f.Rule+" "+f.Path)
	}
	cluster := "kubernetes.clusterLocatorMethods[0].clusters[0]."
	want := []string{
		"a.yaml:2:3 info CONF014 kubernetes.frontend",
		"a.yaml:4:3 info CONF014 kubernetes.customResources",
		"a.yaml:10:11 info CONF014 " + cluster + "title",
		"a.yaml:12:11 info CONF014 " + cluster + "skipMetricsLookup",
		"a.yaml:13:11 info CONF014 " + cluster + "authMetadata",
		"a.yaml:14:11 info CONF014 " + cluster + "dashboardUrl",
		"a.yaml:15:11 info CONF014 " + cluster + "dashboardApp",
		"a.yaml:16:11 info CONF014 " + cluster + "customResources",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
