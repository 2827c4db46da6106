// Package forge opens change requests: pull requests at GitHub, Gitea and Forgejo,
// merge requests at GitLab. An open one for the same branches is found and updated.
// It uses a few plain HTTP calls, with limits, and its errors have hints and contain
// no secrets.
package forge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"example.dev/ingestor/internal/secret"
)

// Defaults of Server.
const (
	DefaultTimeout = 2 * time.Minute
	DefaultPause   = time.Second
)

// Server is a server for change requests, with the credentials.
type Server struct {
	// Kind is the kind of the server; empty means that it is detected by the name of the
	// server or by requests to it.
	Kind Kind
	// Address is the web URL: https://github.com. API is the URL of the API; empty means
	// the default for the Kind.
	Address, API string
	// Token is a token. TokenFile is a file that holds the token instead; it is read for
	// each operation.
	Token     secret.Text
	TokenFile string
	// CAFile or CAData, in PEM, is the authority that signed the server's certificate;
	// if both are empty, those of the system are used.
	CAFile string
	CAData []byte
	// SkipTLSVerify accepts any certificate.
	SkipTLSVerify bool
	// Timeout is the overall timeout. Zero means DefaultTimeout.
	Timeout time.Duration
	// Pause is the delay before the first retry after a server error; it grows with each
	// retry. Zero means DefaultPause.
	Pause time.Duration
}

// Request is a change request to open.
type Request struct {
	Server Server
	// Repository is owner/name; at GitLab the owner may be a path of groups.
	Repository string
	// Source is the branch to merge, and Target the branch to merge it into; empty means
	// the default branch.
	Source, Target string
	Title, Body    string
	Labels         []string
	Draft          bool
}

// Change is an open change request.
type Change struct {
	URL    string
	Number int64
	// Target is the branch to merge into.
	Target string
	// Existed says that the change request was already open; its title and body have
	// been updated.
	Existed bool
	// Remarks are minor failures, such as labels that could not be set.
	Remarks []string
}

// tries is how often a request is attempted after server errors.
const tries = 4

// Open opens the change request, or updates the one that is open. The error is an
// *Error.
func Open(ctx context.Context, r Request) (Change, error) {
	ctx, cancel := r.Server.limit(ctx)
	defer cancel()
	c, err := r.Server.connect()
	if err != nil {
		return Change{}, r.fail(ctx, c, err)
	}
	defer c.close()
	var change Change
	err = c.patiently(ctx, func() error {
		change, err = open(ctx, c, r)
		return err
	})
	if err != nil {
		return Change{}, r.fail(ctx, c, err)
	}
	return change, nil
}

// IsOpen reports whether there is an open change request for the branches of r. The
// error is an *Error.
func IsOpen(ctx context.Context, r Request) (bool, error) {
	ctx, cancel := r.Server.limit(ctx)
	defer cancel()
	c, err := r.Server.connect()
	if err != nil {
		return false, r.fail(ctx, c, err)
	}
	defer c.close()
	var was *found
	err = c.patiently(ctx, func() error {
		f, err := c.prepare(ctx, &r)
		if err == nil {
			was, err = f.find(ctx, r)
		}
		return err
	})
	if err != nil {
		return false, r.fail(ctx, c, err)
	}
	return was != nil, nil
}

// limit applies the overall timeout.
func (s Server) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	most := cmp.Or(s.Timeout, DefaultTimeout)
	return context.WithTimeoutCause(ctx, most, wrong(ErrUnavailable, "the server or the network may be slow; try again later",
		"overall timeout of %v exceeded", most))
}

// patiently calls do until it succeeds, fails with an error that a retry cannot
// solve, or has been tried often enough.
func (c *client) patiently(ctx context.Context, do func() error) error {
	for i := 1; ; i++ {
		err := do()
		p, ok := errors.AsType[*problem](err)
		if !ok || !p.again || i == tries {
			return err
		}
		wait := max(p.after, c.pause*time.Duration(i))
		if end, ok := ctx.Deadline(); ok && p.after > 0 && p.after > time.Until(end) { //nolint:forbidigo // the context's own clock
			return wrong(p.why, fmt.Sprintf("try again in %v", p.after), "%s", p.text)
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

// found is a change request as returned by the server.
type found struct {
	number           int64
	url, title, body string
}

// forge is the client for one kind of server.
type forge interface {
	// check returns an error for an invalid repository name.
	check(repository string) error
	// target returns the default branch of the repository.
	target(ctx context.Context, repository string) (string, error)
	// find returns the open request for the branches, or nil.
	find(ctx context.Context, r Request) (*found, error)
	create(ctx context.Context, r Request) (*found, error)
	// update sets the title and the body.
	update(ctx context.Context, r Request, number int64) error
	label(ctx context.Context, r Request, number int64) error
	// draft returns the title of a draft.
	draft(title string) string
}

// prepare determines the kind of the server, and completes the request.
func (c *client) prepare(ctx context.Context, r *Request) (forge, error) {
	kind, err := c.kind(ctx)
	if err != nil {
		return nil, err
	}
	f, err := c.forge(kind)
	if err != nil {
		return nil, err
	}
	r.Repository = strings.TrimSuffix(strings.Trim(r.Repository, "/"), ".git")
	if err := f.check(r.Repository); err != nil {
		return nil, err
	}
	if r.Target == "" {
		r.Target, err = f.target(ctx, r.Repository)
	}
	return f, err
}

// open opens the request, or updates the one that is open.
func open(ctx context.Context, c *client, r Request) (Change, error) {
	f, err := c.prepare(ctx, &r)
	if err != nil {
		return Change{}, err
	}
	if r.Source == "" || r.Source == r.Target {
		return Change{}, wrong(ErrRefused, "use a source branch that differs from the target branch",
			"cannot propose branch %q for branch %q", r.Source, r.Target)
	}
	if r.Draft {
		r.Title = f.draft(r.Title)
	}
	was, err := f.find(ctx, r)
	if err != nil {
		return Change{}, err
	}
	out := Change{Target: r.Target, Existed: was != nil}
	if was == nil {
		if was, err = f.create(ctx, r); err != nil {
			return Change{}, err
		}
	} else if was.title != r.Title || was.body != r.Body {
		if err := f.update(ctx, r, was.number); err != nil {
			return Change{}, err
		}
	}
	out.URL, out.Number = was.url, was.number
	if len(r.Labels) > 0 {
		if err := f.label(ctx, r, was.number); err != nil {
			// The request is open, which is what counts.
			out.Remarks = append(out.Remarks, "cannot add labels: "+c.clean(err.Error()))
		}
	}
	return out, nil
}
