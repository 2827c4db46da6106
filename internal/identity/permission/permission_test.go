package permission

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/identity/auth"
	"example.dev/ingestor/internal/rest"
)

var (
	guest   = auth.Caller{Kind: auth.Guest, Subject: "user:development/guest", Ownership: []string{"user:development/guest"}}
	ada     = auth.Caller{Kind: auth.User, Subject: "user:default/ada", Ownership: []string{"user:default/ada", "group:default/platform"}}
	pusher  = auth.Caller{Kind: auth.Service, Subject: "pusher"}
	ours    = &Resource{Ref: "component:default/ours", Kind: "Component", Namespace: "default", Owners: []string{"group:default/platform"}}
	theirs  = &Resource{Ref: "api:shop/theirs", Kind: "API", Namespace: "shop", Owners: []string{"group:default/shop"}}
	orphan  = &Resource{Ref: "template:default/orphan", Kind: "Template", Namespace: "default"}
	editOwn = []config.PermissionRule{
		{Who: []string{"user"}, Permissions: []string{EntityDelete, EntityRefresh}, Owners: []string{config.Own}, Allow: true},
		{Who: []string{"user"}, Permissions: []string{EntityDelete, EntityRefresh}},
	}
)

func TestNames(t *testing.T) {
	if diff := cmp.Diff(config.Permissions, Names); diff != "" {
		t.Errorf("names of permissions differ: -config +permission\n%s", diff)
	}
}

// workloads returns an entity of an origin in a cluster.
func workloads(origin string, impersonated bool) *Resource {
	return &Resource{Ref: "component:default/ours", Kind: "component", Namespace: "default", Origin: origin, Cluster: "prod", Impersonated: impersonated}
}

func TestDecideWorkloads(t *testing.T) {
	pod := &Resource{Ref: "Pod shop/web", Kind: "Pod", Namespace: "shop", Cluster: "prod"}
	own := *pod
	own.Impersonated = true
	users := config.PermissionRule{Who: []string{"user"}, Permissions: []string{"kubernetes.*"}, Allow: true}
	cases := map[string]struct {
		reason     string
		rules      []config.PermissionRule
		caller     auth.Caller
		permission string
		resource   *Resource
		want       bool
	}{
		"Trusted":         {"Entities that the operator chose select workloads.", nil, ada, KubernetesResources, workloads(OriginDefinition, false), true},
		"TrustedLogs":     {"And their logs.", nil, ada, KubernetesLogs, workloads(OriginConfig, false), true},
		"Guest":           {"Guests see workloads.", nil, guest, KubernetesResources, workloads(OriginDefinition, false), true},
		"GuestLogs":       {"But no logs.", nil, guest, KubernetesLogs, workloads(OriginDefinition, false), false},
		"GuestAs":         {"A cluster that impersonates knows no guests.", nil, guest, KubernetesResources, workloads(OriginDefinition, true), false},
		"Registered":      {"The author of a registered entity does not select what the portal's account reads.", nil, ada, KubernetesResources, workloads(OriginRegistered, false), false},
		"RegisteredLogs":  {"Nor its logs.", nil, ada, KubernetesLogs, workloads(OriginRegistered, false), false},
		"Pushed":          {"Nor does the author of a pushed one.", nil, pusher, KubernetesResources, workloads(OriginPush+"ci", false), false},
		"NoOrigin":        {"An unknown origin is not trusted.", nil, ada, KubernetesResources, workloads("", false), false},
		"RegisteredAs":    {"In a cluster that impersonates, the cluster decides.", nil, ada, KubernetesLogs, workloads(OriginRegistered, true), true},
		"Rule":            {"A rule about users does not consider what others register.", []config.PermissionRule{users}, ada, KubernetesResources, workloads(OriginRegistered, false), false},
		"RuleOfOrigin":    {"A rule that names the origin does.", []config.PermissionRule{{Permissions: []string{KubernetesResources}, Providers: []string{OriginRegistered}, Allow: true}}, ada, KubernetesResources, workloads(OriginRegistered, false), true},
		"RuleOfCluster":   {"A rule can deny a cluster.", []config.PermissionRule{{Permissions: []string{KubernetesResources}, Clusters: []string{"pro*"}}}, ada, KubernetesResources, workloads(OriginDefinition, true), false},
		"Proxy":           {"Any pod requires a rule.", nil, ada, KubernetesProxy, pod, false},
		"ProxyService":    {"For services too.", nil, pusher, KubernetesProxy, pod, false},
		"ProxyRule":       {"The rule allows it.", []config.PermissionRule{users}, ada, KubernetesProxy, pod, true},
		"ProxyAs":         {"In a cluster that impersonates, the cluster decides.", nil, ada, KubernetesProxy, &own, true},
		"ProxyGuest":      {"Guests may not.", nil, guest, KubernetesProxy, pod, false},
		"ProxyInGeneral":  {"Pages may show what a cluster may allow.", nil, ada, KubernetesProxy, nil, true},
		"ClustersOfGuest": {"Guests list clusters.", nil, guest, KubernetesClusters, nil, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := New(config.Permission{Enabled: true, Rules: tc.rules}).Decide(tc.caller, tc.permission, tc.resource); got != tc.want {
				t.Errorf("%s: decision is %t", tc.reason, got)
			}
		})
	}
}

// Tasks, which are owned by their creators.
var (
	byAda = &Resource{Ref: "42", Owners: []string{"user:default/ada"}}
	byBob = &Resource{Ref: "43", Owners: []string{"user:default/bob"}}
)

func TestDecide(t *testing.T) {
	off := config.Permission{Rules: []config.PermissionRule{{}}}
	with := func(rules ...config.PermissionRule) config.Permission {
		return config.Permission{Enabled: true, Rules: rules}
	}
	cases := map[string]struct {
		reason     string
		config     config.Permission
		caller     auth.Caller
		permission string
		resource   *Resource
		want       bool
	}{
		"GuestReads":          {"Guests read entities.", with(), guest, EntityRead, ours, true},
		"GuestReadsInGeneral": {"Guests read lists.", with(), guest, EntityRead, nil, true},
		"GuestReadsForm":      {"Guests read forms.", with(), guest, TemplateParameterRead, orphan, true},
		"GuestCreates":        {"Guests create nothing.", with(), guest, EntityCreate, nil, false},
		"GuestDeletes":        {"Guests delete nothing.", with(), guest, EntityDelete, ours, false},
		"GuestTasks":          {"Guests read no tasks.", with(), guest, TaskRead, nil, false},
		"GuestAnalyzes":       {"Guests do not make the portal fetch URLs.", with(), guest, LocationAnalyze, nil, false},
		"GuestUnknown":        {"Guests have no unknown permissions.", with(), guest, "other.thing.read", nil, false},
		"UserUnknown":         {"An unknown permission is decided like any other.", with(), ada, "other.thing.read", nil, true},
		"UserDeletes":         {"Users have all permissions by default.", with(), ada, EntityDelete, theirs, true},
		"ServiceCreates":      {"Services have all permissions by default.", with(), pusher, EntityCreate, nil, true},
		"Anonymous":           {"A caller without credentials has no permissions.", with(), auth.Caller{}, EntityRead, ours, false},
		"NobodyByRule":        {"A caller without credentials has no permissions whatever the rules say.", with(config.PermissionRule{Allow: true}), auth.Caller{}, EntityRead, ours, false},
		"Off":                 {"Without permissions enabled, rules are ignored.", off, ada, EntityDelete, ours, true},
		"OffGuest":            {"Without permissions enabled, guests read entities.", off, guest, EntityRead, ours, true},
		"OffGuestDeletes":     {"Without permissions enabled, guests delete nothing.", off, guest, EntityDelete, ours, false},

		"OwnTask":        {"Users read their own tasks.", with(), ada, TaskRead, byAda, true},
		"OtherTask":      {"Users do not read tasks of others.", with(), ada, TaskRead, byBob, false},
		"NobodysTask":    {"Users do not read tasks of services.", with(), ada, TaskRead, &Resource{Ref: "44"}, false},
		"CancelOther":    {"Users do not cancel tasks of others.", with(), ada, TaskCancel, byBob, false},
		"TasksInGeneral": {"Users may read tasks in general.", with(), ada, TaskRead, nil, true},
		"ServiceTask":    {"Services read all tasks.", with(), pusher, TaskRead, byBob, true},
		"OffTask":        {"Without permissions enabled, users read all tasks.", off, ada, TaskRead, byBob, true},
		"Administrator": {"A rule can allow all tasks.",
			with(config.PermissionRule{Who: []string{"group:default/platform"}, Permissions: []string{"scaffolder.task.*"}, Allow: true}), ada, TaskRead, byBob, true},

		"First": {"The first matching rule decides.",
			with(config.PermissionRule{Allow: true}, config.PermissionRule{}), guest, EntityDelete, ours, true},
		"DenyAll":     {"An empty rule matches everything.", with(config.PermissionRule{}), ada, EntityRead, ours, false},
		"Prefix":      {"A star matches any suffix.", with(config.PermissionRule{Permissions: []string{"catalog.entity.*"}}), ada, EntityRead, ours, false},
		"PrefixOther": {"A star does not match another prefix.", with(config.PermissionRule{Permissions: []string{"catalog.entity.*"}}), ada, LocationRead, nil, true},
		"WholeName": {"Without a star the whole name must match.",
			with(config.PermissionRule{Permissions: []string{"catalog.entity"}}), ada, EntityRead, ours, true},
		"Group": {"A rule can select a group.",
			with(config.PermissionRule{Who: []string{"Group:default/Platform"}}), ada, EntityRead, ours, false},
		"Subject": {"A rule can select a service.",
			with(config.PermissionRule{Who: []string{"pusher"}}), pusher, EntityRead, ours, false},
		"NamedLikeKind": {"A service with the name user is not a user.",
			with(config.PermissionRule{Who: []string{"user"}}), auth.Caller{Kind: auth.Service, Subject: "user"}, EntityRead, ours, true},
		"Kind":      {"Kinds are not case-sensitive.", with(config.PermissionRule{Kinds: []string{"COMPONENT"}}), ada, EntityRead, ours, false},
		"OtherKind": {"A rule for one kind does not match another.", with(config.PermissionRule{Kinds: []string{"Component"}}), ada, EntityRead, theirs, true},
		"Namespace": {"A rule can select a namespace.", with(config.PermissionRule{Namespaces: []string{"shop"}}), ada, EntityRead, theirs, false},
		"Owner": {"A rule can select an owner.",
			with(config.PermissionRule{Owners: []string{"group:default/shop"}}), ada, EntityRead, theirs, false},
		"EveryPart": {"All conditions of a rule must match.",
			with(config.PermissionRule{Kinds: []string{"API"}, Namespaces: []string{"default"}}), ada, EntityRead, theirs, true},
		"Own":            {"A team may change its own entities.", with(editOwn...), ada, EntityDelete, ours, true},
		"NotOwn":         {"A team may not change other entities.", with(editOwn...), ada, EntityDelete, theirs, false},
		"Orphan":         {"An entity without an owner is owned by no caller.", with(editOwn...), ada, EntityDelete, orphan, false},
		"InGeneral":      {"A rule about owned entities does not match in general.", with(editOwn...), ada, EntityDelete, nil, false},
		"DeleteLocation": {"A caller limited to owned entities may not remove locations.", with(editOwn...), ada, LocationDelete, nil, false},
		"DeleteProvider": {"A caller limited to owned entities may not manage providers.", with(editOwn...), ada, IngestionManage, nil, false},
		"CreateLocation": {"A caller who may create all entities may register locations.", with(editOwn...), ada, LocationCreate, nil, true},
		"CreateLocationOwn": {"A caller who may not create all entities may not register locations.",
			with(config.PermissionRule{Permissions: []string{EntityCreate}, Kinds: []string{"Group"}}), ada, LocationCreate, nil, false},
		"DeleteLocationByRule": {"A rule for locations has precedence.",
			with(append([]config.PermissionRule{{Permissions: []string{LocationDelete}, Allow: true}}, editOwn...)...), ada, LocationDelete, nil, true},
		"ServiceOwn": {"A service owns nothing.",
			with(config.PermissionRule{Owners: []string{config.Own}}), pusher, EntityRead, orphan, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := New(tc.config).Decide(tc.caller, tc.permission, tc.resource); got != tc.want {
				t.Errorf("%s: decision is %t", tc.reason, got)
			}
		})
	}
}

func TestRequire(t *testing.T) {
	policy := New(config.Permission{Enabled: true, Rules: editOwn})
	cases := map[string]struct {
		reason     string
		caller     auth.Caller
		permission string
		resource   *Resource
		want       string
	}{
		"Allowed": {"An allowed request has no error.", ada, EntityDelete, ours, ""},
		"Rule": {"The error names the rule that decided.", ada, EntityDelete, theirs,
			"Missing permission catalog.entity.delete for api:shop/theirs: rule 2 of permission.rules denies it"},
		"Wholesale": {"The error names the other permission that is required.", ada, LocationDelete, nil,
			"Missing permission catalog.location.delete: requires a rule, because you do not have catalog.entity.delete for all entities"},
		"Guest":     {"The error tells a guest to sign in.", guest, LocationCreate, nil, "Missing permission catalog.location.create: guests may only read; sign in"},
		"Task":      {"The error tells a user that they are not the owner.", ada, TaskCancel, byBob, "Missing permission scaffolder.task.cancel for 43: you are not the owner, and no rule allows it"},
		"Anonymous": {"The error tells an unknown caller nothing else.", auth.Caller{}, TaskRead, nil, "Missing permission scaffolder.task.read"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := policy.Require(auth.With(context.Background(), tc.caller), tc.permission, tc.resource)
			got := ""
			if err != nil {
				got = err.Error()
				f, ok := errors.AsType[*rest.Fault](err)
				if !ok || f.Status != http.StatusForbidden || f.Name != "NotAllowedError" {
					t.Errorf("%s: error is %#v", tc.reason, err)
				}
			}
			if got != tc.want {
				t.Errorf("%s:\n got %s\nwant %s", tc.reason, got, tc.want)
			}
		})
	}
}

func TestFilterIsShort(t *testing.T) {
	own := filter.In("relations.ownedBy", "group:default/platform", "user:default/ada")
	cases := map[string]struct {
		reason string
		rules  []config.PermissionRule
		caller auth.Caller
		want   filter.Filter
	}{
		"Default":   {"Without rules the filter matches everything.", nil, guest, filter.Filter{Op: filter.OpTrue}},
		"Anonymous": {"For an unknown caller the filter matches nothing.", nil, auth.Caller{}, filter.Filter{Op: filter.OpFalse}},
		"OtherCaller": {"Rules about other callers are left out.",
			[]config.PermissionRule{{Who: []string{"service"}, Kinds: []string{"API"}}}, ada, filter.Filter{Op: filter.OpTrue}},
		"OnlyOwn": {"A single condition is not wrapped.",
			[]config.PermissionRule{{Owners: []string{config.Own}, Allow: true}, {}}, ada, own},
		"NotKind": {"A denial becomes a negation.",
			[]config.PermissionRule{{Kinds: []string{"API"}}}, ada, filter.Not(filter.In("kind", "api"))},
		"NothingOwned": {"A caller who owns nothing has no condition on owners.",
			[]config.PermissionRule{{Owners: []string{config.Own}, Allow: true}, {}}, pusher, filter.Filter{Op: filter.OpFalse}},
		"Idle": {"A rule without effect is left out.",
			[]config.PermissionRule{{Kinds: []string{"API"}, Allow: true}}, ada, filter.Filter{Op: filter.OpTrue}},
		"Nested": {"The first rule is the outermost.",
			[]config.PermissionRule{{Kinds: []string{"API"}}, {Owners: []string{config.Own}, Allow: true}, {}}, ada,
			filter.All(filter.Not(filter.In("kind", "api")), own)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := New(config.Permission{Enabled: true, Rules: tc.rules}).Filter(tc.caller, EntityRead)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
		})
	}
}

// passes evaluates a filter as the store does, for the conditions of this
// package.
func passes(f filter.Filter, r *Resource) bool {
	one := func(f filter.Filter) bool { return passes(f, r) }
	switch f.Op {
	case filter.OpTrue:
		return true
	case filter.OpAll:
		return !slices.ContainsFunc(f.Filters, func(f filter.Filter) bool { return !one(f) })
	case filter.OpAny:
		return slices.ContainsFunc(f.Filters, one)
	case filter.OpNot:
		return !one(f.Filters[0])
	case filter.OpIn:
		values := map[string][]string{"kind": {r.Kind}, "metadata.namespace": {r.Namespace}, "relations.ownedBy": r.Owners}[f.Key]
		return slices.ContainsFunc(values, func(v string) bool {
			return slices.ContainsFunc(f.Values, func(want string) bool { return strings.EqualFold(v, want) })
		})
	}
	return false
}

func TestFilterAgreesWithDecide(t *testing.T) {
	var (
		kinds      = []string{"Component", "api", "Template"}
		namespaces = []string{"default", "Shop"}
		refs       = []string{"user:default/ada", "group:default/platform", "group:default/shop", "Group:Default/Shop"}
		names      = []string{EntityRead, EntityDelete, LocationDelete, TaskRead, "other.name"}
	)
	some := func(from ...string) *rapid.Generator[[]string] { return rapid.SliceOfN(rapid.SampledFrom(from), 0, 2) }
	rules := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) config.PermissionRule {
		return config.PermissionRule{
			Who:         some(append(refs, "guest", "user", "service", "pusher")...).Draw(t, "who"),
			Permissions: some(append(names, "catalog.*", "*")...).Draw(t, "permissions"),
			Kinds:       some(kinds...).Draw(t, "kinds"),
			Namespaces:  some(namespaces...).Draw(t, "namespaces"),
			Owners:      some(append(refs, config.Own)...).Draw(t, "owners"),
			Allow:       rapid.Bool().Draw(t, "allow"),
		}
	}), 0, 5)
	rapid.Check(t, func(t *rapid.T) {
		policy := New(config.Permission{Enabled: rapid.Bool().Draw(t, "enabled"), Rules: rules.Draw(t, "rules")})
		caller := auth.Caller{
			Kind:      rapid.SampledFrom([]auth.Kind{auth.Anonymous, auth.Guest, auth.User, auth.Service}).Draw(t, "kind"),
			Subject:   rapid.SampledFrom([]string{"", "pusher", "user:default/ada", "User:default/Bob"}).Draw(t, "subject"),
			Ownership: some(refs...).Draw(t, "ownership"),
		}
		name := rapid.SampledFrom(names).Draw(t, "name")
		filter := policy.Filter(caller, name)
		for range 8 {
			r := &Resource{
				Kind:      rapid.SampledFrom(kinds).Draw(t, "of kind"),
				Namespace: rapid.SampledFrom(namespaces).Draw(t, "in namespace"),
				Owners:    some(refs...).Draw(t, "owned by"),
			}
			// A resource without kind and namespace is selected by its owner.
			owned := &Resource{Owners: rapid.SampledFrom([][]string{nil, {refs[0]}, {refs[1]}, {"user:default/BOB"}, {"user:x/y"}}).Draw(t, "owner")}
			if decided, had := policy.Decide(caller, name, owned), policy.Owners(caller, name).Has(strings.Join(owned.Owners, "")); decided != had {
				t.Fatalf("Decide returned %t, Owners %t for %+v", decided, had, owned)
			}
			if decided, passed := policy.Decide(caller, name, r), passes(filter, r); decided != passed {
				t.Fatalf("Decide returned %t, Filter %t for %+v\n%s", decided, passed, r, fmt.Sprintf("%+v", filter))
			}
		}
	})
}

func BenchmarkDecide(b *testing.B) {
	policy := New(config.Permission{Enabled: true, Rules: editOwn})
	b.ReportAllocs()
	for b.Loop() {
		if !policy.Decide(ada, EntityRead, ours) {
			b.Fatal("denied")
		}
	}
}
