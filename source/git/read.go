package git

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/internal/git/remote"
	"example.dev/ingestor/xrd"
)

// document is a file of the repository.
type document struct {
	text        []byte
	origin      xrd.Origin
	ref, commit string
}

// tooMuch is the hint for a repository that exceeds the limits.
const tooMuch = "set the path to the folder with the definitions, or raise the limit"

// read calls take for each file that Ref and Path select, and returns the commit.
func (s *Source) read(ctx context.Context, r *remote.Repository, take func(context.Context, document) error) (string, error) {
	t, err := resolve(r.Refs, s.opts.Ref)
	if err != nil {
		return "", err
	}
	if err := r.Fetch(ctx, t.want); err != nil {
		return "", err
	}
	commit, err := commitOf(r.Objects, t.want)
	if err != nil {
		return "", err
	}
	files, err := find(ctx, r.Objects, commit.TreeHash, s.opts)
	if err != nil {
		return "", err
	}
	slices.SortFunc(files, func(a, b node) int { return strings.Compare(a.path, b.path) })
	left := remote.NewBudget(s.opts.MaxBytes, tooMuch)
	var errs []error
	for _, f := range files {
		text, err := readFile(r.Objects, f, left)
		if err == nil {
			err = take(ctx, document{text: text, origin: s.origin(t, f.path), ref: t.name, commit: commit.Hash.String()})
		}
		if ctx.Err() != nil || errors.Is(err, remote.ErrTooMuch) || errors.Is(err, errEnough) || isOver(err) {
			return "", errors.Join(append(errs, err)...)
		}
		if err != nil {
			errs = append(errs, unreadable(f.path, err))
		}
	}
	return commit.Hash.String(), errors.Join(errs...)
}

// objects is the storage of a repository's objects.
type objects = storer.EncodedObjectStorer

// commitOf returns the commit that a hash refers to, through annotated tags.
func commitOf(in objects, h plumbing.Hash) (*object.Commit, error) {
	for range 10 {
		tag, err := object.GetTag(in, h)
		if err != nil {
			break
		}
		h = tag.Target
	}
	c, err := object.GetCommit(in, h)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return nil, wrong("set a branch, a tag or a commit; a clone that uses alternates cannot be read", "%s is not a commit, or does not exist", h)
	}
	return c, err
}

// pointer is the prefix of a Git LFS pointer file.
const pointer = "version https://git-lfs.github.com/spec/"

// readFile reads one file.
func readFile(in objects, f node, left *remote.Budget) ([]byte, error) {
	n, err := in.EncodedObjectSize(f.hash)
	if err != nil {
		return nil, err
	}
	if err := left.Take(n); err != nil {
		return nil, err
	}
	return content(in, f.hash)
}

// pointer returns a finding if the file is a Git LFS pointer; nil if it is not.
func (d document) pointer() *finding.Finding {
	if !bytes.HasPrefix(d.text, []byte(pointer)) {
		return nil
	}
	return &finding.Finding{
		Rule: xrd.RuleSyntax, Severity: finding.Error, File: d.origin.File,
		Message: "cannot read the document: Git LFS pointer, whose content is not in the repository",
		Hint:    "keep definitions out of Git LFS",
	}
}

// content returns the content of a file.
func content(in objects, h plumbing.Hash) ([]byte, error) {
	o, err := in.EncodedObject(plumbing.BlobObject, h)
	if err != nil {
		return nil, err
	}
	r, err := o.Reader()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, o.Size()))
}

// unreadable returns the error for an object that is missing or corrupt.
func unreadable(at string, err error) error {
	return wrong("check the repository; it may be corrupt, or a partial clone", "cannot read %q: %w", readablePath(at), err)
}
