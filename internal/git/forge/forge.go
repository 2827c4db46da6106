// Package forge opens change requests: pull requests at GitHub, Gitea and
// Forgejo, merge requests at GitLab. One that is open for the same branches is
// found again and updated. A few calls each, over plain HTTP, bounded, and with
// errors that say the way out and hold no secret.
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

// The defaults of Server.
const (
	DefaultTimeout = 2 * time.Minute
	DefaultPause   = time.Second
)

// Server is where change requests are opened, and how to get in.
type Server struct {
	// Kind is what the server is; empty means that its name tells, or that it
	// is asked.
	Kind Kind
	// Address is where people find it: https://github.com. API is where
	// programs do; empty means where that Kind usually has it.
	Address, API string
	// Token is a token. TokenFile is a file that holds it instead, read again
	// each time.
	Token     secret.Text
	TokenFile string
	// CAFile or CAData, in PEM, is the authority that signed the server's
	// certificate; without either it is one the system knows.
	CAFile string
	CAData []byte
	// SkipTLSVerify believes any certificate.
	SkipTLSVerify bool
	// Timeout is how long it may take in all. Zero means DefaultTimeout.
	Timeout time.Duration
	// Pause is waited before the second try when the server has troubles of its
	// own, and longer before each. Zero means DefaultPause.
	Pause time.Duration
}

// Request is a change request that should be open.
type Request struct {
	Server Server
	// Repository is owner/name; at GitLab the owner may be several groups.
	Repository string
	// Source is the branch that is proposed, and Target the one it is proposed
	// for; empty means the one the repository itself thinks of first.
	Source, Target string
	Title, Body    string
	Labels         []string
	Draft          bool
}

// Change is a change request that is open.
type Change struct {
	URL    string
	Number int64
	// Target is the branch it is proposed for.
	Target string
	// Existed says that it was open before, and now has the title and the body.
	Existed bool
	// Remarks are what did not work beside, such as labels.
	Remarks []string
}

// tries is how often a server that has troubles of its own is asked.
const tries = 4

// Open has the change request be open. An error is an *Error.
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

// IsOpen tells whether there is a change request for the branches of r. An error
// is an *Error.
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

// limit bounds how long it may take.
func (s Server) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	most := cmp.Or(s.Timeout, DefaultTimeout)
	return context.WithTimeoutCause(ctx, most, wrong(ErrUnavailable, "the server or the way to it may be slow; try again later",
		"not done after %v", most))
}

// patiently does something until it works, it is known why not, or the server
// had troubles too often.
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

// found is a change request as its server tells it.
type found struct {
	number           int64
	url, title, body string
}

// forge is one kind of server.
type forge interface {
	// check returns an error about a name that no repository can have.
	check(repository string) error
	// target asks for the branch the repository itself thinks of first.
	target(ctx context.Context, repository string) (string, error)
	// find returns the request that is open for the branches, or nil.
	find(ctx context.Context, r Request) (*found, error)
	create(ctx context.Context, r Request) (*found, error)
	// update gives it the title and the body.
	update(ctx context.Context, r Request, number int64) error
	label(ctx context.Context, r Request, number int64) error
	// draft returns the title of a request that is not to be taken yet.
	draft(title string) string
}

// prepare finds out what is asked, and completes the request.
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
		return Change{}, wrong(ErrRefused, "propose another branch than the one it is proposed for",
			"the branch %q cannot be proposed for %q", r.Source, r.Target)
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
			// The request is there, and that is what counts.
			out.Remarks = append(out.Remarks, "the labels are not on it: "+c.clean(err.Error()))
		}
	}
	return out, nil
}
