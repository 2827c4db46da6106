package cluster

import "example.dev/ingestor/action/cluster/internal/refusal"

// Reasons for which an object is refused, in addition to those of reading.
const (
	// Conflict means that another field manager has set a field to another value.
	Conflict = refusal.Conflict
	// Foreign means that the portal did not apply the object.
	Foreign = refusal.Foreign
	// Invalid means that fields break the rules of the kind; see InvalidError.
	Invalid = refusal.Invalid
	// Denied means that an admission rule of the cluster rejects the object.
	Denied = refusal.Denied
	// Missing means that a required object or namespace does not exist.
	Missing = refusal.Missing
	// Late means that an object was not ready, or not gone, in time.
	Late = refusal.Late
)

// Problem is an error in a field.
type Problem = refusal.Problem

// InvalidError lists the invalid fields.
type InvalidError = refusal.InvalidError
