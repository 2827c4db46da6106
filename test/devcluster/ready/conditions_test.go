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

// boat is an object with the conditions, written by somebody.
func boat(conditions []any, by string) *unstructured.Unstructured {
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

// pair is the conditions of an object that was made at one moment, and has been
// as it is since another.
func pair(made time.Time, ready, reason string, since time.Time) []any {
	return []any{condition("Synced", "True", "ReconcileSuccess", made), condition("Ready", ready, reason, since)}
}

func TestNext(t *testing.T) {
	const after = 5 * time.Second
	going := boat(nil, "")
	going.SetDeletionTimestamp(&metav1.Time{Time: noon})
	broken := pair(noon, "False", creating, noon)
	find(broken, "Ready")["lastTransitionTime"] = "yesterday"
	// Whose field managers are there, but not for the conditions.
	taken := boat(pair(noon, "False", creating, noon.Add(-time.Minute)), manager)
	fields := taken.GetManagedFields()
	fields[1].FieldsV1 = metav1.NewFieldsV1(`{"f:status":{}}`)
	taken.SetManagedFields(fields)

	cases := map[string]struct {
		reason string
		object *unstructured.Unstructured
		want   []any
		again  time.Duration
	}{
		"New":       {"something new is being made", boat(nil, ""), pair(noon, "False", creating, noon), after},
		"Empty":     {"no conditions are as good as none", boat([]any{}, "anybody"), pair(noon, "False", creating, noon), after},
		"Early":     {"it takes its time", boat(pair(noon, "False", creating, noon.Add(-2*time.Second)), manager), nil, 3 * time.Second},
		"Due":       {"and then it is there", boat(pair(noon.Add(-after), "False", creating, noon.Add(-after)), manager), pair(noon.Add(-after), "True", available, noon), 0},
		"Broken":    {"a moment that is none is over", boat(broken, manager), pair(noon, "True", available, noon), 0},
		"Available": {"what is ready stays so", boat(pair(noon, "True", available, noon.Add(-time.Hour)), manager), nil, 0},
		"Theirs":    {"what a manifest or a test says stays", boat(pair(noon, "False", creating, noon.Add(-time.Hour)), "somebody"), nil, 0},
		"Taken":     {"also when it was written here at first", taken, nil, 0},
		"Going":     {"what is being deleted is left alone", going, nil, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, again := next(tc.object, noon, after)
			if diff := cmp.Diff(tc.want, got); diff != "" || again != tc.again {
				t.Errorf("%s: again after %v, want %v (-want +got):\n%s", tc.reason, again, tc.again, diff)
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
		"Stored":    {"the version that is stored costs no conversion", []any{version("v1alpha1", true, false), version("v1", true, true)}, "v1"},
		"NotServed": {"unless nobody can ask for it", []any{version("v2", false, true), version("v1", true, false)}, "v1"},
		"None":      {"a kind without versions is not watched", nil, ""},
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
