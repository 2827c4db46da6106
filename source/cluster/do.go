package cluster

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/url"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
)

// Call is a call of the API that none of the other methods makes, such as one that
// changes something.
type Call struct {
	// Doing completes "cannot …".
	Doing string
	// Method is the HTTP method; empty means GET.
	Method string
	// Path begins with a slash, and its names are escaped.
	Path  string
	Query url.Values
	// Body is sent if it is not nil, and Type is its media type; empty means JSON.
	Body []byte
	Type string
	// Accept is the requested media type; empty means JSON.
	Accept string
	// Needs are the required permissions, for the message when they are missing.
	Needs Rule
	// Most is the size limit of the response, in bytes; 0 means 512 MiB.
	Most int64
}

// Do makes a call and returns the response, including managedFields. Temporary
// failures are retried, so the call must be idempotent. The error is an *Error; see
// RefusalOf for the server's message.
func (c *Cluster) Do(ctx context.Context, call Call) (answer *tree.Node, err error) {
	r := request{
		doing: call.Doing, method: call.Method, path: call.Path, query: call.Query,
		body: call.Body, media: call.Type, accept: call.Accept, needs: call.Needs, most: call.Most,
	}
	r.read = func(data []byte) error {
		n, err := wire.Decoder{}.Decode(data)
		answer = n
		return err
	}
	err = c.call(ctx, r)
	return answer, err
}

// Text makes a call whose response is text, such as the log of a container. The text is
// cut off after call.Most bytes.
func (c *Cluster) Text(ctx context.Context, call Call) (text []byte, err error) {
	err = c.call(ctx, request{
		doing: call.Doing, method: call.Method, path: call.Path, query: call.Query, accept: cmp.Or(call.Accept, "*/*"), needs: call.Needs,
		most: call.Most, text: true,
		read: func(data []byte) error {
			text = bytes.Clone(data)
			return nil
		},
	})
	return text, err
}

// Refusal is the server's error response to a call.
type Refusal struct {
	// Code is the HTTP status.
	Code int
	// Reason is a word for it, Message a sentence.
	Reason, Message string
	// Kind and Name identify the object it is about, if there is one; Kind may be its
	// plural.
	Kind, Name string
	Causes     []Cause
}

// Cause is one of several causes.
type Cause struct {
	Reason, Message string
	// Field is the path of a field, such as spec.size.
	Field string
}

// RefusalOf returns the server's error response, if there was a response.
func RefusalOf(err error) (Refusal, bool) {
	s, ok := errors.AsType[*statusError](err)
	if !ok {
		return Refusal{}, false
	}
	return Refusal{Code: s.code, Reason: s.reason, Message: s.message, Kind: s.kind, Name: s.name, Causes: s.causes}, true
}
