package permission

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/identity/auth"
)

// TestRefused wants what Require refuses to be recorded, with what it was asked
// for and why, and what it or Decide allows not.
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
		"Allowed": {"what is allowed is not recorded", nil, ada, EntityDelete, ours, nil},
		"General": {"a permission in general has no target", nil, guest, LocationCreate, nil,
			[]string{"user:development/guest catalog.location.create map[] Missing permission catalog.location.create: guests may only read; sign in"}},
		"Entity": {"an entity is named by its reference", []config.PermissionRule{deny}, ada, EntityDelete, ours,
			[]string{"user:default/ada catalog.entity.delete map[entity:" + ours.Ref + "] Missing permission catalog.entity.delete for " + ours.Ref + ": rule 1 of permission.rules denies it"}},
		"Task": {"a task by its id", nil, ada, TaskCancel, byBob,
			[]string{"user:default/ada scaffolder.task.cancel map[task:43] Missing permission scaffolder.task.cancel for 43: it is not yours, and for the others a rule is needed"}},
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
				t.Errorf("without a record it is %v, with one %v", before, after)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
