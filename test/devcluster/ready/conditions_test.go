package ready

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var noon = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

// objectWith returns an object with conditions, written by a field manager.
func objectWith(conditions []any, by string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"length": int64(30)}}}
	if conditions == nil {
		return o
	}
	o.Object["status"] = map[string]any{"conditions": conditions}
	o.SetManagedFields([]metav1.ManagedFieldsEntry{
		{Manager: "portal", Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1(`{"f:spec":{}}`)},
		{Manager: by, Operation: metav1.ManagedFieldsOperationUpdate, Subresource: "status",
			FieldsV1: metav1.NewFieldsV1(`{"f:status":{"f:conditions":{}}}`)},
	})
	return o
}

// pair returns the conditions of an object that was created at one time and
// last changed at another.
func pair(made time.Time, ready, reason string, since time.Time) []any {
	return []any{condition("Synced", "True", "ReconcileSuccess", made), condition("Ready", ready, reason, since)}
}

func TestNext(t *testing.T) {
	const after = 5 * time.Second
	going := objectWith(nil, "")
	going.SetDeletionTimestamp(&metav1.Time{Time: noon})
	broken := pair(noon, "False", creating, noon)
	find(broken, "Ready")["lastTransitionTime"] = "yesterday"
	// The field manager exists, but does not own the conditions.
	taken := objectWith(pair(noon, "False", creating, noon.Add(-time.Minute)), manager)
	fields := taken.GetManagedFields()
	fields[1].FieldsV1 = metav1.NewFieldsV1(`{"f:status":{}}`)
	taken.SetManagedFields(fields)

	cases := map[string]struct {
		reason string
		object *unstructured.Unstructured
		want   []any
		again  time.Duration
	}{
		"New":       {"A new object gets the condition Creating.", objectWith(nil, ""), pair(noon, "False", creating, noon), after},
		"Empty":     {"An object with an empty list of conditions counts as new.", objectWith([]any{}, "anybody"), pair(noon, "False", creating, noon), after},
		"Early":     {"An object is not ready before its time.", objectWith(pair(noon, "False", creating, noon.Add(-2*time.Second)), manager), nil, 3 * time.Second},
		"Due":       {"An object becomes ready at its time.", objectWith(pair(noon.Add(-after), "False", creating, noon.Add(-after)), manager), pair(noon.Add(-after), "True", available, noon), 0},
		"Broken":    {"An invalid time counts as elapsed.", objectWith(broken, manager), pair(noon, "True", available, noon), 0},
		"Available": {"A ready object stays ready.", objectWith(pair(noon, "True", available, noon.Add(-time.Hour)), manager), nil, 0},
		"Theirs":    {"Conditions of a manifest or a test are kept.", objectWith(pair(noon, "False", creating, noon.Add(-time.Hour)), "another"), nil, 0},
		"Taken":     {"Conditions that another client has taken over are kept.", taken, nil, 0},
		"Going":     {"An object that is being deleted is left unchanged.", going, nil, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, again := next(tc.object, noon, after)
			if diff := cmp.Diff(tc.want, got); diff != "" || again != tc.again {
				t.Errorf("%s: next check after %v, want %v (-want +got):\n%s", tc.reason, again, tc.again, diff)
			}
		})
	}
}

func TestStored(t *testing.T) {
	version := func(name string, served, storage bool) any {
		return map[string]any{"name": name, "served": served, "storage": storage}
	}
	cases := map[string]struct {
		reason   string
		versions []any
		want     string
	}{
		"Stored":    {"The storage version is watched, as it needs no conversion.", []any{version("v1alpha1", true, false), version("v1", true, true)}, "v1"},
		"NotServed": {"Another version is watched if the storage version is not served.", []any{version("v2", false, true), version("v1", true, false)}, "v1"},
		"None":      {"A kind without versions is not watched.", nil, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			crd := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
				"group": "example.org", "names": map[string]any{"plural": "boats"}, "versions": tc.versions,
			}}}
			want := schema.GroupVersionResource{}
			if tc.want != "" {
				want = schema.GroupVersionResource{Group: "example.org", Version: tc.want, Resource: "boats"}
			}
			if got, ok := stored(crd); got != want || ok != (tc.want != "") {
				t.Errorf("%s: got %v, %v, want %v", tc.reason, got, ok, want)
			}
		})
	}
}
