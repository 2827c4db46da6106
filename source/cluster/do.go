package cluster

import (
	"context"
	"errors"
	"net/url"

	"example.dev/ingestor/document/tree"
)

// Call is a call of the API that none of the other methods makes, such as one
// that changes something.
type Call struct {
	// Doing completes "cannot …".
	Doing string
	// Method is that of HTTP; empty means GET.
	Method string
	// Path begins with a slash, and has its names escaped.
	Path  string
	Query url.Values
	// Body is sent if it is not nil, and Type is its media type; empty means
	// JSON.
	Body []byte
	Type string
	// Needs are the permissions it takes, to be named when they are missing.
	Needs Rule
}

// Do makes a call and returns the answer, with everything the server keeps for
// its bookkeeping. A failure that may pass is tried again, so the call must be
// one that can be made twice. The error is an *Error; see RefusalOf for what the
// server said.
func (c *Cluster) Do(ctx context.Context, call Call) (answer *tree.Node, err error) {
	r := request{
		doing: call.Doing, method: call.Method, path: call.Path, query: call.Query,
		body: call.Body, media: call.Type, needs: call.Needs,
	}
	r.read = func(data []byte) error {
		n, err := tree.Wire{}.Decode(data)
		answer = n
		return err
	}
	err = c.call(ctx, r)
	return answer, err
}

// Refusal is what a server says of a call it did not do.
type Refusal struct {
	// Code is that of HTTP.
	Code int
	// Reason is a word for it, Message a sentence.
	Reason, Message string
	// Kind and Name are the object it speaks of, if it does of one; Kind may be
	// its plural.
	Kind, Name string
	Causes     []Cause
}

// Cause is one of several things that are wrong.
type Cause struct {
	Reason, Message string
	// Field is the path of a field, such as spec.size.
	Field string
}

// RefusalOf returns what the server said, if it answered at all.
func RefusalOf(err error) (Refusal, bool) {
	s, ok := errors.AsType[*statusError](err)
	if !ok {
		return Refusal{}, false
	}
	return Refusal{Code: s.code, Reason: s.reason, Message: s.message, Kind: s.kind, Name: s.name, Causes: s.causes}, true
}
