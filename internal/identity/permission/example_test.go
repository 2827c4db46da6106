package permission

import (
	"testing"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/config/production"
	"example.dev/ingestor/internal/identity/auth"
)

// TestSeveralTeams checks that the example policy of the handbook does what the
// handbook says.
func TestSeveralTeams(t *testing.T) {
	variables := map[string]string{
		"POSTGRES_URL": "postgres://portal:pw@db.example.org/portal?sslmode=verify-full", "OIDC_CLIENT_SECRET": "s",
		"CI_TOKEN": "Zk3vQ8xT1mN7pR4sW9yB2cD5", "SESSION_SECRET": "q8LmX2vT7nR4kW9sB3yD6fH1", "TASK_KEY": "h5JwP9zK2xC7vM4nQ8rT3bG6",
	}
	c, found := config.Load([]string{"../../../examples/config/several-teams.yaml"}, config.Options{Lookup: func(name string) (string, bool) {
		value, ok := variables[name]
		return value, ok
	}})
	for _, f := range append(found, production.Check(c)...) {
		if f.Severity == finding.Error {
			t.Fatalf("example has an error: %v", f)
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
		"OwnNamespace":   {"A team creates resources in its namespace.", shop, ResourceCreate, resource("shop", "group:default/shop", OriginDefinition), true},
		"OtherNamespace": {"A team creates nothing in the namespace of another team.", shop, ResourceCreate, resource("pay", "group:default/pay", OriginDefinition), false},
		"System":         {"A team creates nothing in system namespaces.", shop, ResourceCreate, resource("kube-system", "group:default/shop", OriginDefinition), false},
		"Inline":         {"An inline Template of a team creates nothing in clusters.", shop, ResourceCreate, resource("shop", "group:default/shop", OriginInline), false},
		"OperatorInline": {"An operator may run an inline Template.", operator, ResourceCreate, resource("shop", "group:default/shop", OriginInline), true},
		"OperatorDelete": {"An inline Template of an operator deletes nothing.", operator, ResourceDelete, resource("shop", "group:default/shop", OriginInline), false},
		"TakeOver":       {"A team does not take over resources that kubectl created.", shop, ResourceTakeOver, resource("shop", "group:default/shop", OriginDefinition), false},
		"Push":           {"Templates pushed by CI write to the platform's repositories.", shop, RepositoryWrite, repository("push:ci", "git.example.org/platform/live", "portal/x"), true},
		"PushElsewhere":  {"Templates pushed by CI write to no other repository.", shop, RepositoryWrite, repository("push:ci", "git.example.org/pay/live", "portal/x"), false},
		"PushMain":       {"Templates pushed by CI write to branches of the portal only.", shop, RepositoryWrite, repository("push:ci", "git.example.org/platform/live", "main"), false},
		"Pipeline":       {"Templates pushed by CI do not change CI definitions.", shop, PipelineWrite, repository("push:ci", "git.example.org/platform/live", "portal/x"), false},
		"OwnEntity":      {"A team deletes its entities.", shop, EntityDelete, entity, true},
		"OtherEntity":    {"A team does not delete entities of another team.", shop, EntityDelete, theirs, false},
		"Location":       {"A team does not register locations.", shop, LocationCreate, nil, false},
		"OperatorLoc":    {"An operator registers locations.", operator, LocationCreate, nil, true},
		"Ingestion":      {"A team does not manage ingestion.", shop, IngestionManage, nil, false},
		"OperatorScan":   {"An operator manages ingestion.", operator, IngestionManage, nil, true},
		"Identity":       {"CI does not write users and groups.", ci, IdentityWrite, &Resource{Ref: "user:default/eve", Provider: "ci"}, false},
		"CI":             {"CI pushes entities.", ci, EntityCreate, theirs, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := p.Decide(tc.caller, tc.permission, tc.resource); got != tc.want {
				t.Errorf("%s: decision about %s for %+v is %v", tc.reason, tc.permission, tc.resource, got)
			}
		})
	}
}
