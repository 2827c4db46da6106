package auth

import (
	"errors"
	"net/http"

	"example.dev/ingestor/internal/rest"
)

// problem is a sign-in that failed: the error for clients, and what its page says.
type problem struct {
	page pageText
	// quote is a message of the issuer that the page repeats; empty if there is none.
	quote string
	err   error
}

// Error returns the message for clients.
func (p *problem) Error() string { return p.err.Error() }

// Unwrap returns the error for clients.
func (p *problem) Unwrap() error { return p.err }

// pageText is what a page about a failed sign-in says. It is for people who want to sign in: what
// an operator can do is in the log.
type pageText struct {
	// Title is the heading, What says what happened, and Do what to do about it.
	Title, What, Do string
	// Final reports that another attempt would fail too.
	Final bool
}

const askAdministrator = "If it happens again, tell your administrator the request ID below."

// Pages of sign-ins that failed.
var (
	pageNotStarted = pageText{
		Title: "Sign-in was not started in this browser",
		What:  "The cookie of the sign-in is missing: it was started in another browser, it is completed already, or the browser refuses cookies of this site.",
		Do:    "Allow cookies for this site, then try again.",
	}
	pageTooLate = pageText{
		Title: "Sign-in took too long",
		What:  "A sign-in must be completed within ten minutes.",
		Do:    "Try again.",
	}
	pageReplaced = pageText{
		Title: "Sign-in was replaced by another one",
		What:  "Another sign-in was started in this browser, for example in another tab, or this one was completed already.",
		Do:    "Try again, in one tab.",
	}
	pageRefused = pageText{
		Title: "Sign-in was refused",
		What:  "The sign-in provider did not let you in, or the sign-in was cancelled.",
		Do:    "Try again. If you should have access, tell your administrator the request ID below.",
	}
	pageUnknown = pageText{
		Title: "Your account cannot be used here",
		What:  "You are signed in at the sign-in provider, but it did not tell the portal who you are: the name or a verified email address is missing.",
		Do:    "Tell your administrator the request ID below, or try again with another account.",
	}
	pageGroups = pageText{
		Title: "Your account cannot be used here",
		What:  "Your account is in more groups than a session of the portal can hold.",
		Do:    "Tell your administrator the request ID below.",
	}
	pageInvalid = pageText{
		Title: "Sign-in failed",
		What:  "The response of the sign-in provider could not be verified.",
		Do:    "Try again. " + askAdministrator,
	}
	pageAway = pageText{
		Title: "Sign-in is not available",
		What:  "The sign-in provider does not answer at the moment.",
		Do:    "Try again in a few minutes. " + askAdministrator,
	}
	pageBusy = pageText{
		Title: "Too many requests",
		What:  "More requests came from your address than the portal accepts at once.",
		Do:    "Wait a few seconds, then try again.",
	}
	pageLink = pageText{
		Title: "This sign-in link does not work",
		What:  "The address has a part that the portal does not accept.",
		Do:    "Try again.",
	}
	pageNone = pageText{
		Title: "Sign-in is not set up",
		What:  "This portal has no sign-in provider.",
		Do:    "Go back to the portal. If you expected to sign in, tell your administrator.",
		Final: true,
	}
	pageBroken = pageText{
		Title: "Sign-in failed",
		What:  "Something went wrong in the portal.",
		Do:    "Try again. " + askAdministrator,
	}
)

// pageOf returns what the page about an error says, and a message of the issuer.
func pageOf(err error, status int) (page pageText, quote string) {
	if p, ok := errors.AsType[*problem](err); ok {
		return p.page, p.quote
	}
	switch status {
	case http.StatusNotFound:
		return pageNone, ""
	case http.StatusBadRequest:
		return pageLink, ""
	case http.StatusUnauthorized:
		return pageInvalid, ""
	case http.StatusForbidden:
		return pageUnknown, ""
	case http.StatusServiceUnavailable:
		return pageAway, ""
	case http.StatusTooManyRequests:
		return pageBusy, ""
	}
	return pageBroken, ""
}

// staleSignIn is the fault for a response to a sign-in that is not the current one of the
// browser. Its message is the same in all cases, so that clients learn nothing from it.
func staleSignIn(page pageText) error {
	return &problem{page: page, err: rest.Unauthenticated("Sign-in was not started in this browser, or has expired: sign in again")}
}
