package permission

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/identity/auth"
)

// TestRefused checks that denials of Require are recorded with target and
// reason, and that allowed requests are not.
func TestRefused(t *testing.T) {
	deny := config.PermissionRule{Permissions: []string{EntityDelete}}
	cases := map[string]struct {
		reason     string
		rules      []config.PermissionRule
		caller     auth.Caller
		permission string
		resource   *Resource
		want       []string
	}{
		"Allowed": {"An allowed request is not recorded.", nil, ada, EntityDelete, ours, nil},
		"General": {"A permission without a resource has no target.", nil, guest, LocationCreate, nil,
			[]string{"user:development/guest catalog.location.create map[] Missing permission catalog.location.create: guests may only read; sign in"}},
		"Entity": {"An entity is recorded by its reference.", []config.PermissionRule{deny}, ada, EntityDelete, ours,
			[]string{"user:default/ada catalog.entity.delete map[entity:" + ours.Ref + "] Missing permission catalog.entity.delete for " + ours.Ref + ": rule 1 of permission.rules denies it"}},
		"Workloads": {"Workloads are recorded with their entity and cluster.", nil, ada, KubernetesLogs, workloads(OriginRegistered, false),
			[]string{"user:default/ada kubernetes.logs.read map[cluster:prod entity:component:default/ours] Missing permission kubernetes.logs.read for component:default/ours: the entity comes from registered, which is not trusted to select what the portal's account reads. A rule that allows it: { permissions: [kubernetes.logs.read], providers: [\"registered\"], clusters: [\"prod\"], result: allow }"}},
		"Pod": {"A pod is recorded with its cluster.", nil, ada, KubernetesProxy, &Resource{Ref: "Pod shop/web", Kind: "Pod", Namespace: "shop", Cluster: "prod"},
			[]string{"user:default/ada kubernetes.proxy map[cluster:prod kind:Pod name:Pod shop/web namespace:shop] Missing permission kubernetes.proxy for Pod shop/web: the cluster does not authorize each user itself, and the request names no entity. A rule that allows it: { permissions: [kubernetes.proxy], clusters: [\"prod\"], result: allow }"}},
		"Task": {"A task is recorded by its id.", nil, ada, TaskCancel, byBob,
			[]string{"user:default/ada scaffolder.task.cancel map[task:43] Missing permission scaffolder.task.cancel for 43: you are not the owner, and no rule allows it"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := New(config.Permission{Enabled: true, Rules: tc.rules})
			ctx := auth.With(t.Context(), tc.caller)
			before := p.Require(ctx, tc.permission, tc.resource)
			var got []string
			p.Refused = func(ctx context.Context, permission string, target map[string]string, reason string) {
				got = append(got, fmt.Sprint(auth.From(ctx).Subject, " ", permission, " ", target, " ", reason))
			}
			after := p.Require(ctx, tc.permission, tc.resource)
			p.Decide(tc.caller, tc.permission, tc.resource)
			if fmt.Sprint(before) != fmt.Sprint(after) {
				t.Errorf("error without a recorder is %v, with one %v", before, after)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
