package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/memory"

	"example.dev/ingestor/internal/git/remote"
)

const (
	// pause is the approximate delay before the third try; it grows by pause with
	// each further try, up to maxPause. The second try has no delay.
	pause    = 50 * time.Millisecond
	maxPause = time.Second
	// patience is how long to retry while the branch is locked and does not move. It
	// is longer than the lock of a killed process lasts.
	patience = 15 * time.Second
)

// attempt is a commit that was made but could not be pushed.
type attempt struct {
	result Result
	err    error
	// old is the previous head of the branch, and made the commit.
	old, made plumbing.Hash
}

// commit retries until the files are pushed, or a permanent error occurs. If
// another process moved the branch, it retries until the timeout, because each
// conflict means that another process has made progress, and it takes turns with
// other commits of this process.
func (s *Sink) commit(ctx context.Context, files map[string][]byte, open func() (*remote.Repository, error)) (Result, error) {
	by := s.signature()
	var last attempt
	var locked time.Duration
	for try := 0; ; try++ {
		if try == 1 {
			leave, err := contended.enter(ctx, s.at.Shown+" "+s.opts.Branch)
			if err != nil {
				return Result{}, last.late(ctx, try)
			}
			defer leave()
		}
		waited, err := wait(ctx, try)
		if err != nil {
			return Result{}, last.late(ctx, try)
		}
		r, err := open()
		if ctx.Err() != nil {
			if err == nil {
				r.Close()
			}
			return Result{}, last.late(ctx, try)
		}
		if err != nil {
			return Result{}, cmp.Or(last.err, err)
		}
		next, err := s.attempt(ctx, r, files, by, last)
		r.Close()
		if err != nil && ctx.Err() != nil {
			return Result{}, last.late(ctx, try)
		}
		if err != nil || next.err == nil {
			return next.result, err
		}
		if locked += waited; next.old != last.old {
			locked = 0
		}
		if locked >= patience {
			return Result{}, next.err
		}
		last = next
	}
}

// late returns the error of commits that were retried until the timeout.
func (a attempt) late(ctx context.Context, tries int) error {
	if a.err == nil || !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return ctx.Err()
	}
	if remote.IsBusy(a.err) {
		return outOfTime{a.err}
	}
	return outOfTime{remote.Wrong("try again when fewer processes write to the branch", "%w (%d attempts)", a.err, tries)}
}

// outOfTime is a timeout error with a more specific message.
type outOfTime struct{ error }

// Unwrap returns the error.
func (o outOfTime) Unwrap() error { return o.error }

// wait waits before a try, longer before each further try, and returns how long.
// The delay is randomized so that concurrent writers do not retry in step.
func wait(ctx context.Context, try int) (time.Duration, error) {
	most := min(time.Duration(try-1)*pause, maxPause)
	if most > 0 {
		most = most/2 + rand.N(most)
	}
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(max(0, most)):
		return most, nil
	}
}

// attempt makes a commit on top of the current head and pushes it.
func (s *Sink) attempt(ctx context.Context, r *remote.Repository, files map[string][]byte, by object.Signature, last attempt) (attempt, error) {
	to, err := s.resolve(r)
	if err != nil {
		return attempt{}, err
	}
	switch {
	case last.err == nil:
	case to.old == last.made:
		// The commit was pushed, and only the response was lost.
		last.result.Pushed, last.err = true, nil
		return last, nil
	case to.old == last.old && !remote.IsBusy(last.err) && !errors.Is(last.err, remote.ErrMoved):
		return attempt{}, last.err
	}
	parent, tree, err := s.parent(ctx, r, to.parent)
	if err != nil {
		return attempt{}, err
	}
	made := memory.NewStorage()
	top := openFolder(r.Objects, made, tree)
	res, err := s.change(top, files)
	if err != nil {
		return attempt{}, err
	}
	res.Branch = to.branch.Short()
	if !to.old.IsZero() {
		res.Tip = to.old.String()
	}
	root, err := top.write()
	if err != nil || root == tree || tree.IsZero() && len(top.entries) == 0 {
		return attempt{result: res}, err
	}
	res.Created = to.old.IsZero()
	if s.opts.Approve != nil {
		if err := s.opts.Approve(res); err != nil {
			return attempt{}, disapproval{err}
		}
	}
	if s.opts.DryRun {
		return attempt{result: res}, nil
	}
	committer := by
	committer.Name, committer.Email = cmp.Or(strings.TrimSpace(s.opts.Committer), by.Name), cmp.Or(strings.TrimSpace(s.opts.CommitterEmail), by.Email)
	c := &object.Commit{Author: by, Committer: committer, Message: s.message(res), TreeHash: root}
	if !parent.IsZero() {
		c.ParentHashes = []plumbing.Hash{parent}
	}
	hash, err := store(made, c)
	if err != nil {
		return attempt{}, err
	}
	res.Commit, res.Tip = hash.String(), hash.String()
	err = r.Push(ctx, remote.Update{Branch: to.branch, Old: to.old, New: hash, Objects: made})
	if ctx.Err() != nil {
		return attempt{}, ctx.Err()
	}
	res.Pushed = err == nil
	return attempt{result: res, err: err, old: to.old, made: hash}, nil
}

// target is where the commit goes.
type target struct {
	branch plumbing.ReferenceName
	// old is the head of the branch, zero if the branch does not exist, and parent
	// the parent of the commit, zero if it is the first.
	old, parent plumbing.Hash
}

// first is the default branch of an empty repository that names none.
const first = "main"

// branchName returns the full reference name of a branch.
func branchName(name string) plumbing.ReferenceName {
	return plumbing.NewBranchReferenceName(strings.TrimPrefix(name, "refs/heads/"))
}

// resolve finds the branch and the parent of the commit.
func (s *Sink) resolve(r *remote.Repository) (target, error) {
	to := target{branch: branchName(s.opts.Branch)}
	head, headErr := r.Refs.Reference(plumbing.HEAD)
	switch {
	case s.opts.Branch != "":
	case headErr != nil:
		to.branch = plumbing.NewBranchReferenceName(first)
	case head.Type() == plumbing.SymbolicReference && head.Target().IsBranch():
		to.branch = head.Target()
	default:
		return to, remote.Missing(r.Refs, "no default branch, and no branch is set")
	}
	if ref, err := storer.ResolveReference(r.Refs, to.branch); err == nil {
		to.old, to.parent = ref.Hash(), ref.Hash()
		return to, nil
	}
	base, err := s.base(r)
	if err != nil {
		// A local repository is not read atomically: another process may have created
		// the branch since the lookup.
		if ref, now := storer.ResolveReference(r.Refs, to.branch); now == nil {
			to.old, to.parent = ref.Hash(), ref.Hash()
			return to, nil
		}
	}
	to.parent = base
	return to, err
}

// base finds the start point of a new branch.
func (s *Sink) base(r *remote.Repository) (plumbing.Hash, error) {
	if s.opts.Base == "" {
		ref, err := storer.ResolveReference(r.Refs, plumbing.HEAD)
		if err == nil {
			return ref.Hash(), nil
		}
		err = remote.Missing(r.Refs, "no default branch, so a base must be set")
		if errors.Is(err, remote.ErrEmpty) {
			return plumbing.ZeroHash, nil
		}
		return plumbing.ZeroHash, err
	}
	for _, prefix := range []string{"refs/heads/", "refs/tags/"} {
		name := plumbing.ReferenceName(prefix + strings.TrimPrefix(s.opts.Base, prefix))
		ref, err := storer.ResolveReference(r.Refs, name)
		if err != nil {
			continue
		}
		if to, ok := r.Peeled[name.String()]; ok {
			return to, nil
		}
		return ref.Hash(), nil
	}
	if plumbing.IsHash(s.opts.Base) {
		return plumbing.NewHash(s.opts.Base), nil
	}
	return plumbing.ZeroHash, remote.Missing(r.Refs, fmt.Sprintf("no branch or tag %q to start from", s.opts.Base))
}

// parent fetches the commit that a hash refers to, and returns it and its tree.
func (s *Sink) parent(ctx context.Context, r *remote.Repository, h plumbing.Hash) (commit, tree plumbing.Hash, err error) {
	if h.IsZero() {
		return h, h, nil
	}
	if err := r.Fetch(ctx, h); err != nil {
		return h, h, err
	}
	if tag, err := object.GetTag(r.Objects, h); err == nil {
		h = tag.Target
	}
	c, err := object.GetCommit(r.Objects, h)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return h, h, remote.Wrong("set a branch, a tag or a commit", "%s is not a commit, or does not exist", h)
	}
	if err != nil {
		return h, h, err
	}
	return c.Hash, c.TreeHash, nil
}

// signature returns the author and the time of the commit.
func (s *Sink) signature() object.Signature {
	return object.Signature{
		Name: cmp.Or(strings.TrimSpace(s.opts.Author), DefaultAuthor), Email: cmp.Or(strings.TrimSpace(s.opts.Email), DefaultEmail),
		When: s.opts.Now(),
	}
}

// message returns the commit message, terminated by a line break.
func (s *Sink) message(r Result) string {
	text := strings.TrimSpace(s.opts.Message)
	if text == "" {
		text = "Update entities" + r.counts(": ")
	}
	return text + "\n"
}

// counts returns the number of changes after a prefix, or nothing.
func (r Result) counts(prefix string) string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{len(r.Added), "added"}, {len(r.Changed), "changed"}, {len(r.Removed), "removed"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return prefix + strings.Join(parts, ", ")
}
