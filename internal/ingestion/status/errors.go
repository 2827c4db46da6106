package status

import (
	"context"
	"errors"

	"example.dev/ingestor/source/cluster"
)

// Reason classifies an error in one word.
func Reason(err error) string {
	if e, ok := errors.AsType[*cluster.Error](err); ok && e.Reason != cluster.Canceled {
		return string(e.Reason)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return string(cluster.Timeout)
	}
	return ReasonFailed
}

// ReasonFailed is the reason of errors that have no better one.
const ReasonFailed = "failed"

// Hint returns how to fix an error; empty if that is unknown.
func Hint(err error) string {
	if e, ok := errors.AsType[*cluster.Error](err); ok {
		return e.Hint
	}
	return ""
}

// Text returns the text of an error; empty if it is nil.
func Text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
