package plan

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd/composed"
)

// TestUnauthored checks which fields of a live object stay if a manifest leaves them out.
func TestUnauthored(t *testing.T) {
	const object = `{
		metadata: {labels: {team: a, tier: b}, managedFields: [
			{manager: kubectl, operation: Apply, fieldsV1: {"f:metadata": {"f:labels": {"f:team": {}}}, "f:spec": {"f:size": {}, "f:shared": {}, "f:tags": {}, "f:network": {".": {}, "f:zone": {}}, "f:backup": {"f:days": {}}, "f:crossplane": {"f:compositionUpdatePolicy": {}}}}},
			{manager: crossplane, operation: Update, fieldsV1: {"f:spec": {"f:shared": {}, "f:crossplane": {"f:resourceRefs": {}}}}},
			{manager: kubectl, operation: Update, subresource: status, fieldsV1: {"f:spec": {"f:odd": {}}}}
		]},
		spec: {size: 3, shared: 1, defaulted: x, odd: 1, tags: [a], network: {zone: b}, backup: {days: 1, at: night}, crossplane: {compositionUpdatePolicy: Manual, resourceRefs: []}},
	}`
	cases := map[string]struct {
		reason string
		live   string
		author func(string) bool
		want   string
	}{
		"Author": {
			"What only the author set is removed: what others set too, what has no manager, and the rest of a map, and Crossplane's fields stay.", object, byOthers,
			`{labels: {tier: b}, spec: {shared: 1, defaulted: x, odd: 1, backup: {at: night}, crossplane: {compositionUpdatePolicy: Manual, resourceRefs: []}}}`,
		},
		"Other":   {"Fields of other managers stay.", object, byClaims, `{labels: {team: a, tier: b}, spec: {size: 3, shared: 1, defaulted: x, odd: 1, tags: [a], network: {zone: b}, backup: {days: 1, at: night}, crossplane: {compositionUpdatePolicy: Manual, resourceRefs: []}}}`},
		"Nothing": {"Without managed fields all fields stay.", `{metadata: {name: a}, spec: {size: 3}}`, byOthers, `{spec: {size: 3}}`},
		"All":     {"A spec without fields is an empty one.", `{metadata: {managedFields: [{manager: a, fieldsV1: {"f:spec": {"f:size": {}}}}]}, spec: {size: 3}}`, byOthers, `{spec: {}}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			live := parse(t, tc.live)
			before := string(tree.AppendJSON(nil, live, ""))
			n := unauthored(live, tc.author)
			got := tree.Obj(tree.F("labels", n.Get("metadata", "labels")), tree.F("spec", n.Get("spec")))
			if diff := cmp.Diff(parse(t, tc.want).Any(), got.Any()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if after := string(tree.AppendJSON(nil, live, "")); after != before {
				t.Errorf("the live object was changed to %s", after)
			}
		})
	}
}

// one is a source with one object.
type one struct{ *tree.Node }

// Kind implements Source.
func (one) Kind(context.Context, string, string) (string, bool, error) { return "", true, nil }

// Get implements Source.
func (o one) Get(context.Context, composed.Ref) (*tree.Node, error) { return o.Node, nil }

// List implements Source.
func (o one) List(context.Context, string, string, string, map[string]string, int) ([]*tree.Node, error) {
	return nil, nil
}

// TestBound checks that a claim cannot name the composite of another one to read it.
func TestBound(t *testing.T) {
	deny := func(context.Context, composed.Ref) error { return errors.New("denied") }
	cases := map[string]struct {
		reason    string
		live      string
		authorize func(context.Context, composed.Ref) error
		refused   bool
	}{
		"Own":     {"The composite of the claim is read.", "{spec: {claimRef: {kind: Store, namespace: team, name: a}}}", deny, false},
		"Other":   {"That of another claim is refused, even if the caller may read it.", "{spec: {claimRef: {kind: Store, namespace: other, name: a}}}", nil, true},
		"Name":    {"The name counts.", "{spec: {claimRef: {kind: Store, namespace: team, name: b}}}", nil, true},
		"Kind":    {"The kind counts.", "{spec: {claimRef: {kind: Shop, namespace: team, name: a}}}", nil, true},
		"Free":    {"A composite without a claim can be bound by a caller who may read it.", "{spec: {}}", nil, false},
		"Foreign": {"Other callers are refused.", "{spec: {}}", deny, true},
		"None":    {"One that does not exist is created.", "", deny, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			live := parse(t, tc.live)
			j := &job{Request: Request{Authorize: tc.authorize}, source: one{live}}
			got, err := j.bound(t.Context(), composed.Ref{APIVersion: "a.b/v1", Kind: "XStore", Name: "x"}, composed.Ref{APIVersion: "a.b/v1", Kind: "Store", Namespace: "team", Name: "a"})
			if (err != nil) != tc.refused || err == nil && got != live {
				t.Errorf("%s: got %v, %v", tc.reason, got, err)
			}
		})
	}
}
