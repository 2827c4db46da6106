package ready

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// manager owns the conditions that are written here.
const manager = "devcluster-ready"

// The reasons are those Crossplane gives.
const (
	creating  = "Creating"
	available = "Available"
)

// next returns the conditions that an object is to have now, or none if those
// it has are right or somebody else's, and after how long it is worth another
// look, zero if it is not.
func next(o *unstructured.Unstructured, now time.Time, after time.Duration) (conditions []any, again time.Duration) {
	if o.GetDeletionTimestamp() != nil {
		return nil, 0
	}
	all, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	if len(all) == 0 {
		return []any{condition("Synced", "True", "ReconcileSuccess", now), condition("Ready", "False", creating, now)}, after
	}
	ready := find(all, "Ready")
	if !ours(o) || ready["reason"] != creating {
		return nil, 0
	}
	text, _ := ready["lastTransitionTime"].(string)
	since, err := time.Parse(time.RFC3339, text)
	if left := since.Add(after).Sub(now); err == nil && left > 0 {
		return nil, left
	}
	// What else was said of it is as old as it was.
	for i, c := range all {
		if c, ok := c.(map[string]any); ok && c["type"] == "Ready" {
			all[i] = condition("Ready", "True", available, now)
		}
	}
	return all, 0
}

func condition(kind, status, reason string, since time.Time) map[string]any {
	return map[string]any{"type": kind, "status": status, "reason": reason, "lastTransitionTime": since.UTC().Format(time.RFC3339)}
}

func find(conditions []any, kind string) map[string]any {
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == kind {
			return c
		}
	}
	return nil
}

// ours tells whether the conditions were written here, and by nobody since.
func ours(o *unstructured.Unstructured) bool {
	for _, f := range o.GetManagedFields() {
		if f.Manager == manager && f.Operation == metav1.ManagedFieldsOperationUpdate && f.Subresource == "status" && f.FieldsV1 != nil {
			return strings.Contains(f.FieldsV1.GetRawString(), `"f:conditions"`)
		}
	}
	return false
}
