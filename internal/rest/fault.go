package rest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"example.dev/ingestor/internal/db"
)

// Fault is an error in the format of the portal's clients.
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

// fault returns a Fault with a status, a name and a formatted message.
func fault(status int, name, format string, args []any) *Fault {
	return &Fault{Status: status, Name: name, Message: fmt.Sprintf(format, args...)}
}

// Input is the fault for an invalid request.
func Input(format string, args ...any) *Fault {
	return fault(http.StatusBadRequest, "InputError", format, args)
}

// Unauthenticated is the fault for a request without credentials.
func Unauthenticated(format string, args ...any) *Fault {
	return fault(http.StatusUnauthorized, "AuthenticationError", format, args)
}

// BadToken is the fault for a request with invalid credentials. The API contract
// requires 403 for it, and a 403 has one name.
func BadToken(format string, args ...any) *Fault { return NotAllowed(format, args...) }

// NotAllowed is the fault for a request that the caller may not make.
func NotAllowed(format string, args ...any) *Fault {
	return fault(http.StatusForbidden, "NotAllowedError", format, args)
}

// NotFound is the fault for a request for something that does not exist.
func NotFound(format string, args ...any) *Fault {
	return fault(http.StatusNotFound, "NotFoundError", format, args)
}

// Conflict is the fault for a request that conflicts with the current state.
func Conflict(format string, args ...any) *Fault {
	return fault(http.StatusConflict, "ConflictError", format, args)
}

// TooLarge is the fault for a request that exceeds a size limit.
func TooLarge(format string, args ...any) *Fault {
	return fault(http.StatusRequestEntityTooLarge, "PayloadTooLargeError", format, args)
}

// Unsupported is the fault for a request in an unsupported format.
func Unsupported(format string, args ...any) *Fault {
	return fault(http.StatusUnsupportedMediaType, "UnsupportedMediaTypeError", format, args)
}

// TooMany is the fault for a client that exceeds its rate limit.
func TooMany(wait time.Duration) *Fault {
	f := fault(http.StatusTooManyRequests, "TooManyRequestsError", "Too many requests, try again later", nil)
	f.RetryAfter = wait
	return f
}

// OverLimit is the fault for a caller who has reached a limit of concurrent use.
func OverLimit(wait time.Duration, format string, args ...any) *Fault {
	f := fault(http.StatusTooManyRequests, "TooManyRequestsError", format, args)
	f.RetryAfter = wait
	return f
}

// Unavailable is the fault for a request that may succeed later.
func Unavailable(err error, format string, args ...any) *Fault {
	f := fault(http.StatusServiceUnavailable, "ServiceUnavailableError", format, args)
	f.RetryAfter, f.Err = 5*time.Second, err
	return f
}

// FaultOf converts err into the fault for the client.
func FaultOf(err error) *Fault {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f
	}
	if tooBig, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return TooLarge("The body has more than %d bytes", tooBig.Limit)
	}
	if errors.Is(err, db.ErrFull) {
		return Unavailable(err, "The disk of the database is full, and nothing was stored; free disk space, then try again")
	}
	if errors.Is(err, db.ErrUnavailable) {
		return Unavailable(err, "The database is not available, try again later")
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return Unavailable(err, "The request took too long, try again later")
	}
	return internal(err)
}

// internal is the fault for an internal server error.
func internal(err error) *Fault {
	f := fault(http.StatusInternalServerError, "InternalServerError", "Internal server error; see the server log for the request id of this response", nil)
	f.Err = err
	return f
}

// faultBody is the JSON of a fault.
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

// body returns the fault as the response to a request.
func (f *Fault) body(r *http.Request) *faultBody {
	var b faultBody
	b.Error.Name, b.Error.Message = f.Name, f.Message
	b.Request.Method, b.Request.URL = r.Method, URL(r)
	b.Response.StatusCode = f.Status
	return &b
}

var bearerHeader = []string{"Bearer"}

// Write responds with the fault to a request. It removes headers that a handler has set
// for its own response.
func (f *Fault) Write(w http.ResponseWriter, r *http.Request) error {
	h := w.Header()
	for _, name := range []string{"Content-Length", "Content-Encoding", "Etag", "Cache-Control", "Last-Modified", "Link"} {
		delete(h, name)
	}
	if f.RetryAfter > 0 {
		h["Retry-After"] = []string{strconv.Itoa(int(math.Ceil(f.RetryAfter.Seconds())))}
	}
	if f.Status == http.StatusUnauthorized {
		h["Www-Authenticate"] = bearerHeader
	}
	return WriteJSON(w, r, f.Status, f.body(r))
}
