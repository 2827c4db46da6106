package permission

import (
	"testing"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/identity/auth"
)

// TestSeveralTeams holds the policy of the handbook against what the handbook
// says it does.
func TestSeveralTeams(t *testing.T) {
	variables := map[string]string{
		"POSTGRES_URL": "postgres://portal:pw@db.example.org/portal?sslmode=verify-full", "OIDC_CLIENT_SECRET": "s",
		"CI_TOKEN": "Zk3vQ8xT1mN7pR4sW9yB2cD5", "SESSION_SECRET": "q8LmX2vT7nR4kW9sB3yD6fH1", "TASK_KEY": "h5JwP9zK2xC7vM4nQ8rT3bG6",
	}
	c, found := config.Load([]string{"../../../examples/config/several-teams.yaml"}, config.Options{Lookup: func(name string) (string, bool) {
		value, ok := variables[name]
		return value, ok
	}})
	for _, f := range append(found, c.Production()...) {
		if f.Severity == finding.Error {
			t.Fatalf("the example is wrong, or weak: %v", f)
		}
	}
	p := New(c.Permission, c.Auth.Membership...)
	user := func(name string, groups ...string) auth.Caller {
		c := auth.Caller{Kind: auth.User, Subject: "user:default/" + name, Ownership: []string{"user:default/" + name}}
		for _, g := range groups {
			c.Ownership = append(c.Ownership, "group:default/"+g)
		}
		return c
	}
	shop, operator, ci := user("ada", "shop"), user("olivia", "platform"), auth.Caller{Kind: auth.Service, Subject: "ci"}
	resource := func(namespace, owner, origin string) *Resource {
		return &Resource{
			Ref: "Bucket x", Action: "cluster:apply", Template: "template:default/buckets", Origin: origin,
			Cluster: "development", Namespace: namespace, Kind: "Bucket", Owners: []string{owner},
		}
	}
	repository := func(origin, name, branch string) *Resource {
		return &Resource{Ref: name, Action: "publish:change-request", Origin: origin, Repository: name, Branch: branch}
	}
	entity := &Resource{Ref: "component:default/cart", Kind: "component", Namespace: "default", Owners: []string{"group:default/shop"}}
	theirs := &Resource{Ref: "component:default/pay", Kind: "component", Namespace: "default", Owners: []string{"group:default/pay"}}
	cases := map[string]struct {
		reason     string
		caller     auth.Caller
		permission string
		resource   *Resource
		want       bool
	}{
		"OwnNamespace":   {"a team creates in its namespace", shop, ResourceCreate, resource("shop", "group:default/shop", OriginDefinition), true},
		"OtherNamespace": {"and not in another's", shop, ResourceCreate, resource("pay", "group:default/pay", OriginDefinition), false},
		"System":         {"nor in the cluster's own", shop, ResourceCreate, resource("kube-system", "group:default/shop", OriginDefinition), false},
		"Inline":         {"a Template of one's own does nothing in clusters", shop, ResourceCreate, resource("shop", "group:default/shop", OriginInline), false},
		"OperatorInline": {"an operator tries one out", operator, ResourceCreate, resource("shop", "group:default/shop", OriginInline), true},
		"OperatorDelete": {"without deleting anything", operator, ResourceDelete, resource("shop", "group:default/shop", OriginInline), false},
		"TakeOver":       {"what kubectl made stays with kubectl", shop, ResourceTakeOver, resource("shop", "group:default/shop", OriginDefinition), false},
		"Push":           {"CI's Templates push to the platform's repositories", shop, RepositoryWrite, repository("push:ci", "git.example.org/platform/live", "portal/x"), true},
		"PushElsewhere":  {"and to no others", shop, RepositoryWrite, repository("push:ci", "git.example.org/pay/live", "portal/x"), false},
		"PushMain":       {"on branches of the portal", shop, RepositoryWrite, repository("push:ci", "git.example.org/platform/live", "main"), false},
		"Pipeline":       {"without touching CI definitions", shop, PipelineWrite, repository("push:ci", "git.example.org/platform/live", "portal/x"), false},
		"OwnEntity":      {"a team deletes its entities", shop, EntityDelete, entity, true},
		"OtherEntity":    {"and not another's", shop, EntityDelete, theirs, false},
		"Location":       {"locations are the operators'", shop, LocationCreate, nil, false},
		"OperatorLoc":    {"who register them", operator, LocationCreate, nil, true},
		"Ingestion":      {"so is ingestion", shop, IngestionManage, nil, false},
		"OperatorScan":   {"who scan", operator, IngestionManage, nil, true},
		"Identity":       {"CI says nothing of who is in which group", ci, IdentityWrite, &Resource{Ref: "user:default/eve", Provider: "ci"}, false},
		"CI":             {"CI pushes entities", ci, EntityCreate, theirs, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := p.Decide(tc.caller, tc.permission, tc.resource); got != tc.want {
				t.Errorf("%s: %s for %+v is %v", tc.reason, tc.permission, tc.resource, got)
			}
		})
	}
}
