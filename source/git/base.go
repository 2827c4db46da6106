package git

import (
	"context"
	"errors"
	"path/filepath"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Base is a commit to compare a work tree with.
type Base struct {
	// Root is the folder of the work tree.
	Root string
	// Commit is the hash of the commit.
	Commit string
}

// hintShallow is the hint for a clone without the history.
const hintShallow = "fetch the history: git fetch --unshallow, or fetch-depth: 0 in a workflow"

// Resolve returns the commit of a revision, such as main, v1.2 or HEAD~1, in the
// repository that dir is in. A branch that exists only at origin is found too.
func Resolve(dir, revision string) (Base, error) {
	_, b, err := revise(dir, revision)
	return b, err
}

// MergeBase returns the commit at which the current commit of the repository that dir is
// in left a revision, as git diff revision... does.
func MergeBase(ctx context.Context, dir, revision string) (Base, error) {
	r, b, err := revise(dir, revision)
	if err != nil {
		return b, err
	}
	fail := func(hint string, err error) (Base, error) { return b, &Error{Repository: b.Root, Err: err, Hint: hint} }
	head, err := r.Head()
	if err != nil {
		return fail("commit something first", err)
	}
	ours, err := r.CommitObject(head.Hash())
	if err != nil {
		return fail(hintShallow, err)
	}
	theirs, err := r.CommitObject(plumbing.NewHash(b.Commit))
	if err != nil {
		return fail(hintShallow, err)
	}
	if ctx.Err() != nil {
		return b, ctx.Err()
	}
	bases, err := ours.MergeBase(theirs)
	if errors.Is(err, plumbing.ErrObjectNotFound) || err == nil && len(bases) == 0 {
		return fail(hintShallow, wrong("", "the current commit and %q have no common ancestor", revision))
	}
	if err != nil {
		return fail("", err)
	}
	b.Commit = bases[0].Hash.String()
	return b, nil
}

// revise opens the repository that dir is in, and resolves a revision.
func revise(dir, revision string) (*gogit.Repository, Base, error) {
	b := Base{Root: dir}
	r, err := gogit.PlainOpenWithOptions(dir, &gogit.PlainOpenOptions{DetectDotGit: true, EnableDotGitCommonDir: true})
	if err != nil {
		return nil, b, &Error{Repository: dir, Err: err, Hint: "run the command in a clone of the repository"}
	}
	tree, err := r.Worktree()
	if err != nil {
		return nil, b, &Error{Repository: dir, Err: err, Hint: "run the command in a work tree"}
	}
	b.Root = filepath.Clean(tree.Filesystem.Root())
	for _, name := range []string{revision, "refs/remotes/origin/" + revision} {
		hash, err := r.ResolveRevision(plumbing.Revision(name))
		if err != nil {
			continue
		}
		var c *object.Commit
		if c, err = commitOf(r.Storer, *hash); err != nil {
			return nil, b, &Error{Repository: b.Root, Err: err, Hint: hintShallow}
		}
		b.Commit = c.Hash.String()
		return r, b, nil
	}
	return nil, b, &Error{Repository: b.Root, Err: wrong("", "no branch, tag or commit %q", revision), Hint: "fetch it first: git fetch origin " + revision}
}
