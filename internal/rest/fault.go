package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"example.dev/ingestor/internal/db"
)

// Fault is an error as the portal's clients know it.
type Fault struct {
	Status int
	// Name is the kind of error clients branch on, such as NotFoundError.
	Name    string
	Message string
	// RetryAfter, if not zero, tells the client how long to wait.
	RetryAfter time.Duration
	// Err is the cause. It is logged, and never shown.
	Err error
}

// Error returns the message.
func (f *Fault) Error() string { return f.Message }

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Err }

// The names of faults, and their statuses.
func fault(status int, name, format string, args []any) *Fault {
	return &Fault{Status: status, Name: name, Message: fmt.Sprintf(format, args...)}
}

// Input is a request that says something wrong.
func Input(format string, args ...any) *Fault {
	return fault(http.StatusBadRequest, "InputError", format, args)
}

// Unauthenticated is a request that does not say who asks.
func Unauthenticated(format string, args ...any) *Fault {
	return fault(http.StatusUnauthorized, "AuthenticationError", format, args)
}

// BadToken is a request that says who asks and cannot prove it. The contract
// answers it with 403, and a 403 has one name.
func BadToken(format string, args ...any) *Fault { return NotAllowed(format, args...) }

// NotAllowed is a request that the caller may not make.
func NotAllowed(format string, args ...any) *Fault {
	return fault(http.StatusForbidden, "NotAllowedError", format, args)
}

// NotFound is a request for something that is not there.
func NotFound(format string, args ...any) *Fault {
	return fault(http.StatusNotFound, "NotFoundError", format, args)
}

// Conflict is a request that something else stands against.
func Conflict(format string, args ...any) *Fault {
	return fault(http.StatusConflict, "ConflictError", format, args)
}

// TooLarge is a request with more than is accepted.
func TooLarge(format string, args ...any) *Fault {
	return fault(http.StatusRequestEntityTooLarge, "PayloadTooLargeError", format, args)
}

// Unsupported is a request in a form that is not understood.
func Unsupported(format string, args ...any) *Fault {
	return fault(http.StatusUnsupportedMediaType, "UnsupportedMediaTypeError", format, args)
}

// TooMany is a client that asks too often.
func TooMany(wait time.Duration) *Fault {
	f := fault(http.StatusTooManyRequests, "TooManyRequestsError", "Too many requests, try again later", nil)
	f.RetryAfter = wait
	return f
}

// OverLimit is a caller who has as much as one may have at once.
func OverLimit(wait time.Duration, format string, args ...any) *Fault {
	f := fault(http.StatusTooManyRequests, "TooManyRequestsError", format, args)
	f.RetryAfter = wait
	return f
}

// Unavailable is a request that may succeed later.
func Unavailable(err error, format string, args ...any) *Fault {
	f := fault(http.StatusServiceUnavailable, "ServiceUnavailableError", format, args)
	f.RetryAfter, f.Err = 5*time.Second, err
	return f
}

// FaultOf returns err as clients are told of it.
func FaultOf(err error) *Fault {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f
	}
	if tooBig, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return TooLarge("The body has more than %d bytes", tooBig.Limit)
	}
	if errors.Is(err, db.ErrUnavailable) {
		return Unavailable(err, "The database is not available, try again later")
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return Unavailable(err, "The request took too long, try again later")
	}
	return internal(err)
}

// internal is an error that is nobody's fault but the server's.
func internal(err error) *Fault {
	f := fault(http.StatusInternalServerError, "InternalServerError", "Something went wrong here; the log says what, under the request id of the response", nil)
	f.Err = err
	return f
}

// faultBody is an error as it is written.
type faultBody struct {
	Error struct {
		Name    string `json:"name"`
		Message string `json:"message"`
	} `json:"error"`
	Request struct {
		Method string `json:"method"`
		URL    string `json:"url"`
	} `json:"request"`
	Response struct {
		StatusCode int `json:"statusCode"`
	} `json:"response"`
}

// body returns the fault as the answer to a request.
func (f *Fault) body(r *http.Request) *faultBody {
	var b faultBody
	b.Error.Name, b.Error.Message = f.Name, f.Message
	b.Request.Method, b.Request.URL = r.Method, URL(r)
	b.Response.StatusCode = f.Status
	return &b
}
