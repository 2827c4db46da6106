// Package rest has the building blocks of HTTP handlers: routes, bodies, parameters,
// responses and streams, and errors in the format of the portal's clients.
package rest

import (
	"net/http"
	"time"
)

// Handler handles a request, or returns the error to respond with: a *Fault, or any
// other error for an internal server error. A handler that returns an error has written
// nothing, or aborts a response that it has begun.
type Handler func(w http.ResponseWriter, r *http.Request) error

// Route is one endpoint of a plugin.
type Route struct {
	Method string
	// Path is relative to the plugin's, in the syntax of http.ServeMux, such as
	// "/entities/by-name/{kind}/{namespace}/{name}".
	Path   string
	Handle Handler
	// Refuse, if set, responds to a request that exceeds the rate limit, or returns an error
	// to respond with.
	Refuse func(http.ResponseWriter, *http.Request, error) error
	// Public reports that callers need no credentials.
	Public bool
	// Guests reports that callers without credentials count as guests, where guests are
	// allowed: another portal that reads the feed has no token.
	Guests bool
	// MaxBody is the maximum size of a body, in bytes; 0 means the server's default.
	MaxBody int64
	// Timeout is how long the request may take; 0 means a minute, or longer if MaxBody is
	// large. A negative Timeout means until the server stops: requests that would not end
	// by themselves are not waited for.
	Timeout time.Duration
}

// Plugin is a part of the portal, below /api/<name>.
type Plugin struct {
	// Names are its name and its aliases.
	Names  []string
	Routes []Route
}
