package ready

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// manager is the field manager of the conditions written here.
const manager = "devcluster-ready"

// Reasons of Crossplane's conditions.
const (
	creating  = "Creating"
	available = "Available"
)

// next returns the conditions to write to an object now, none if its conditions
// are right or owned by another client. It also returns the time until the next
// check, zero if none is needed.
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
	// Other conditions keep their times.
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

// ours reports whether the conditions were last written by this controller.
func ours(o *unstructured.Unstructured) bool {
	for _, f := range o.GetManagedFields() {
		if f.Manager == manager && f.Operation == metav1.ManagedFieldsOperationUpdate && f.Subresource == "status" && f.FieldsV1 != nil {
			return strings.Contains(f.FieldsV1.GetRawString(), `"f:conditions"`)
		}
	}
	return false
}
