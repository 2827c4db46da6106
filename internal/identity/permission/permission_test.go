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

	"example.dev/ingestor/internal/catalog/store"
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
		t.Errorf("names that rules may have, and names that are asked for: -config +permission\n%s", diff)
	}
}

// Tasks, which are owned by whoever asked for them.
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
		"GuestReads":          {"guests look at entities", with(), guest, EntityRead, ours, true},
		"GuestReadsInGeneral": {"and at listings", with(), guest, EntityRead, nil, true},
		"GuestReadsForm":      {"and at forms", with(), guest, TemplateParameterRead, orphan, true},
		"GuestCreates":        {"guests change nothing", with(), guest, EntityCreate, nil, false},
		"GuestDeletes":        {"guests change nothing", with(), guest, EntityDelete, ours, false},
		"GuestTasks":          {"tasks are not for guests", with(), guest, TaskRead, nil, false},
		"GuestAnalyzes":       {"guests do not make the portal fetch", with(), guest, LocationAnalyze, nil, false},
		"GuestUnknown":        {"what is not known is not for guests", with(), guest, "other.thing.read", nil, false},
		"UserUnknown":         {"a name nobody knows is decided as any", with(), ada, "other.thing.read", nil, true},
		"UserDeletes":         {"users may do everything", with(), ada, EntityDelete, theirs, true},
		"ServiceCreates":      {"so may services", with(), pusher, EntityCreate, nil, true},
		"Nobody":              {"who is not known may nothing, not even look", with(), auth.Caller{}, EntityRead, ours, false},
		"NobodyByRule":        {"whatever the rules say", with(config.PermissionRule{Allow: true}), auth.Caller{}, EntityRead, ours, false},
		"Off":                 {"without permissions rules are not looked at", off, ada, EntityDelete, ours, true},
		"OffGuest":            {"guests look all the same", off, guest, EntityRead, ours, true},
		"OffGuestDeletes":     {"and no more", off, guest, EntityDelete, ours, false},

		"OwnTask":        {"people read their own tasks", with(), ada, TaskRead, byAda, true},
		"OtherTask":      {"and no others", with(), ada, TaskRead, byBob, false},
		"NobodysTask":    {"not even those of services", with(), ada, TaskRead, &Resource{Ref: "44"}, false},
		"CancelOther":    {"nor do they cancel them", with(), ada, TaskCancel, byBob, false},
		"TasksInGeneral": {"reading tasks is nothing that they may not do", with(), ada, TaskRead, nil, true},
		"ServiceTask":    {"services read all tasks", with(), pusher, TaskRead, byBob, true},
		"OffTask":        {"without permissions everybody does", off, ada, TaskRead, byBob, true},
		"Administrator": {"a rule makes it all",
			with(config.PermissionRule{Who: []string{"group:default/platform"}, Permissions: []string{"scaffolder.task.*"}, Allow: true}), ada, TaskRead, byBob, true},

		"First": {"the first rule that fits decides",
			with(config.PermissionRule{Allow: true}, config.PermissionRule{}), guest, EntityDelete, ours, true},
		"DenyAll":     {"an empty rule fits everything", with(config.PermissionRule{}), ada, EntityRead, ours, false},
		"Prefix":      {"a star is any ending", with(config.PermissionRule{Permissions: []string{"catalog.entity.*"}}), ada, EntityRead, ours, false},
		"PrefixOther": {"and no other beginning", with(config.PermissionRule{Permissions: []string{"catalog.entity.*"}}), ada, LocationRead, nil, true},
		"WholeName": {"without a star the name is whole",
			with(config.PermissionRule{Permissions: []string{"catalog.entity"}}), ada, EntityRead, ours, true},
		"Group": {"a rule may be about a group",
			with(config.PermissionRule{Who: []string{"Group:default/Platform"}}), ada, EntityRead, ours, false},
		"Subject": {"or about a service",
			with(config.PermissionRule{Who: []string{"pusher"}}), pusher, EntityRead, ours, false},
		"NamedLikeKind": {"a service that is called user is not one",
			with(config.PermissionRule{Who: []string{"user"}}), auth.Caller{Kind: auth.Service, Subject: "user"}, EntityRead, ours, true},
		"Kind":      {"case does not matter in kinds", with(config.PermissionRule{Kinds: []string{"COMPONENT"}}), ada, EntityRead, ours, false},
		"OtherKind": {"another kind is not meant", with(config.PermissionRule{Kinds: []string{"Component"}}), ada, EntityRead, theirs, true},
		"Namespace": {"a rule may be about a namespace", with(config.PermissionRule{Namespaces: []string{"shop"}}), ada, EntityRead, theirs, false},
		"Owner": {"a rule may be about an owner",
			with(config.PermissionRule{Owners: []string{"group:default/shop"}}), ada, EntityRead, theirs, false},
		"EveryPart": {"all parts of a rule must fit",
			with(config.PermissionRule{Kinds: []string{"API"}, Namespaces: []string{"default"}}), ada, EntityRead, theirs, true},
		"Own":            {"a team edits what it owns", with(editOwn...), ada, EntityDelete, ours, true},
		"NotOwn":         {"and nothing else", with(editOwn...), ada, EntityDelete, theirs, false},
		"Orphan":         {"what nobody owns is nobody's own", with(editOwn...), ada, EntityDelete, orphan, false},
		"InGeneral":      {"a rule about entities says nothing in general", with(editOwn...), ada, EntityDelete, nil, false},
		"DeleteLocation": {"nor what comes from a location, all at once", with(editOwn...), ada, LocationDelete, nil, false},
		"DeleteProvider": {"nor what a provider has", with(editOwn...), ada, IngestionManage, nil, false},
		"CreateLocation": {"but it may bring anything", with(editOwn...), ada, LocationCreate, nil, true},
		"CreateLocationOwn": {"unless it brings what it owns alone",
			with(config.PermissionRule{Permissions: []string{EntityCreate}, Kinds: []string{"Group"}}), ada, LocationCreate, nil, false},
		"DeleteLocationByRule": {"a rule for locations counts",
			with(append([]config.PermissionRule{{Permissions: []string{LocationDelete}, Allow: true}}, editOwn...)...), ada, LocationDelete, nil, true},
		"ServiceOwn": {"a service owns nothing",
			with(config.PermissionRule{Owners: []string{config.Own}}), pusher, EntityRead, orphan, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := New(tc.config).Decide(tc.caller, tc.permission, tc.resource); got != tc.want {
				t.Errorf("%s: got %t", tc.reason, got)
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
		"Allowed": {"nothing is missing", ada, EntityDelete, ours, ""},
		"Rule": {"the rule that decided is named", ada, EntityDelete, theirs,
			"Missing permission catalog.entity.delete for api:shop/theirs: rule 2 of permission.rules denies it"},
		"Wholesale": {"so is what must be had besides", ada, LocationDelete, nil,
			"Missing permission catalog.location.delete: who does not have catalog.entity.delete for all entities needs a rule for it"},
		"Guest":  {"a guest is told the way out", guest, LocationCreate, nil, "Missing permission catalog.location.create: guests may only read; sign in"},
		"Task":   {"so is somebody who has other tasks", ada, TaskCancel, byBob, "Missing permission scaffolder.task.cancel for 43: it is not yours, and for the others a rule is needed"},
		"Nobody": {"who is not known is not told more", auth.Caller{}, TaskRead, nil, "Missing permission scaffolder.task.read"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := policy.Require(auth.With(context.Background(), tc.caller), tc.permission, tc.resource)
			got := ""
			if err != nil {
				got = err.Error()
				f, ok := errors.AsType[*rest.Fault](err)
				if !ok || f.Status != http.StatusForbidden || f.Name != "NotAllowedError" {
					t.Errorf("%s: %#v", tc.reason, err)
				}
			}
			if got != tc.want {
				t.Errorf("%s:\n got %s\nwant %s", tc.reason, got, tc.want)
			}
		})
	}
}

func TestFilterIsShort(t *testing.T) {
	own := store.In("relations.ownedBy", "group:default/platform", "user:default/ada")
	cases := map[string]struct {
		reason string
		rules  []config.PermissionRule
		caller auth.Caller
		want   store.Filter
	}{
		"Default": {"without rules a listing costs nothing", nil, guest, store.Filter{Op: store.OpTrue}},
		"Nobody":  {"who is not known sees nothing", nil, auth.Caller{}, store.Filter{Op: store.OpFalse}},
		"OtherCaller": {"rules about others leave no trace",
			[]config.PermissionRule{{Who: []string{"service"}, Kinds: []string{"API"}}}, ada, store.Filter{Op: store.OpTrue}},
		"OnlyOwn": {"one condition is no list",
			[]config.PermissionRule{{Owners: []string{config.Own}, Allow: true}, {}}, ada, own},
		"NotKind": {"a denial is a not",
			[]config.PermissionRule{{Kinds: []string{"API"}}}, ada, store.Not(store.In("kind", "api"))},
		"NothingOwned": {"who owns nothing is not asked for",
			[]config.PermissionRule{{Owners: []string{config.Own}, Allow: true}, {}}, pusher, store.Filter{Op: store.OpFalse}},
		"Idle": {"a rule that changes nothing is left out",
			[]config.PermissionRule{{Kinds: []string{"API"}, Allow: true}}, ada, store.Filter{Op: store.OpTrue}},
		"Nested": {"the first rule is the outermost",
			[]config.PermissionRule{{Kinds: []string{"API"}}, {Owners: []string{config.Own}, Allow: true}, {}}, ada,
			store.All(store.Not(store.In("kind", "api")), own)},
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

// passes evaluates a filter as the store does, on what a filter of this package
// can ask for.
func passes(f store.Filter, r *Resource) bool {
	one := func(f store.Filter) bool { return passes(f, r) }
	switch f.Op {
	case store.OpTrue:
		return true
	case store.OpAll:
		return !slices.ContainsFunc(f.Filters, func(f store.Filter) bool { return !one(f) })
	case store.OpAny:
		return slices.ContainsFunc(f.Filters, one)
	case store.OpNot:
		return !one(f.Filters[0])
	case store.OpIn:
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
			Kind:      rapid.SampledFrom([]auth.Kind{auth.Nobody, auth.Guest, auth.User, auth.Service}).Draw(t, "kind"),
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
			// What has no kind and namespace is asked for by its owner.
			owned := &Resource{Owners: rapid.SampledFrom([][]string{nil, {refs[0]}, {refs[1]}, {"user:default/BOB"}, {"user:x/y"}}).Draw(t, "owner")}
			if decided, had := policy.Decide(caller, name, owned), policy.Owners(caller, name).Has(strings.Join(owned.Owners, "")); decided != had {
				t.Fatalf("Decide says %t, Owners %t of %+v", decided, had, owned)
			}
			if decided, passed := policy.Decide(caller, name, r), passes(filter, r); decided != passed {
				t.Fatalf("Decide says %t, Filter %t of %+v\n%s", decided, passed, r, fmt.Sprintf("%+v", filter))
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
