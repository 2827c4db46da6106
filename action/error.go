package action

// Error is why an action failed, with the way out. Whoever runs actions shows
// both; an error of another type has no way out to show.
type Error struct {
	Err error
	// Hint is the way out; it may have several lines.
	Hint string
}

// Error returns the message without the hint.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Denied is a permission that the caller of the task does not have.
type Denied struct {
	// Message says which, for what, and which rule would grant it.
	Message string
	// Cluster is the cluster that refuses it; empty if the portal's policy does.
	Cluster string
}

// Error returns the message.
func (e *Denied) Error() string { return e.Message }
