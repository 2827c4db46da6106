package cluster_test

import (
	"errors"
	"testing"
	"time"

	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/issuer"
)

// TestOIDC reads from a real API server that trusts a real issuer, with the
// token of a signed-in user: first without, then with a role.
func TestOIDC(t *testing.T) {
	i := issuer.Start(t, issuer.Options{Groups: []string{"portal"}})
	s := apiserver.Start(t, apiserver.Options{Args: []string{
		"--oidc-issuer-url=" + i.URL, "--oidc-ca-file=" + i.CAFile, "--oidc-client-id=" + i.ClientID,
		"--oidc-username-prefix=oidc:", "--oidc-groups-claim=groups", "--oidc-groups-prefix=oidc:",
	}})
	s.Apply(t, definition(crossplaneV2, "lambdas.six.example.org", ""))
	c, err := cluster.Connect(source.Cluster{
		Name: "signed-in", URL: s.URL, CAData: s.CA, Auth: source.AuthOIDC,
		OIDC: source.OIDC{
			Issuer: i.URL, ClientID: i.ClientID, ClientSecret: source.Secret(i.ClientSecret),
			RefreshToken: source.Secret(i.RefreshToken(t)), CAData: i.CA,
		},
	}, cluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	who := func() (name string) {
		c.Check(t.Context(), cluster.CheckOptions{}, func(k cluster.Check) {
			if k.Name == "authentication" {
				name = string(k.Result) + " " + k.Detail
			}
		})
		return name
	}
	// The server discovers the issuer in the background and rejects its tokens
	// until then.
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		got, want := who(), "ok oidc:"+i.Subject
		if got == want {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("server authenticates us as %q, want %q", got, want)
		}
	}
	_, err = c.Read(t.Context(), cluster.ReadOptions{})
	if e, ok := errors.AsType[*cluster.Error](err); !ok || e.Reason != cluster.Forbidden {
		t.Errorf("read without a role returned %v", err)
	}
	s.Apply(t, `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: portal}
rules:
  - apiGroups: ["apiextensions.crossplane.io"]
    resources: ["compositeresourcedefinitions", "compositions"]
    verbs: ["list"]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: portal}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: portal}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: "oidc:portal"}]
`)
	set, err := c.Read(t.Context(), cluster.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := names(set); len(got) != 1 || got[0] != "lambdas.six.example.org" {
		t.Errorf("member of the group reads %v", got)
	}
}
