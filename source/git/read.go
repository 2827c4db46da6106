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

	"example.dev/ingestor/finding"
	"example.dev/ingestor/xrd"
)

// read reads what Ref and Path name into set, and returns the commit.
func (s *Source) read(ctx context.Context, r *repository, set *xrd.Set) (string, error) {
	t, err := resolve(r.refs, s.opts.Ref)
	if err != nil {
		return "", err
	}
	if err := r.fetch(ctx, t.want); err != nil {
		return "", err
	}
	commit, err := commitOf(r.objects, t.want)
	if err != nil {
		return "", err
	}
	files, err := find(ctx, r.objects, commit.TreeHash, s.opts)
	if err != nil {
		return "", err
	}
	slices.SortFunc(files, func(a, b node) int { return strings.Compare(a.path, b.path) })
	left := &budget{s.opts.MaxBytes, s.opts.MaxBytes}
	var errs []error
	for _, f := range files {
		err := readFile(ctx, r.objects, f, left, s.origin(t, f.path), set)
		if ctx.Err() != nil || errors.Is(err, errTooMuch) {
			return "", errors.Join(append(errs, err)...)
		}
		if err != nil {
			errs = append(errs, unreadable(f.path, err))
		}
	}
	return commit.Hash.String(), errors.Join(errs...)
}

// commitOf returns the commit that a hash leads to, through annotated tags.
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
		return nil, wrong("name a branch, a tag or a commit; a clone that borrows the objects of another cannot be read", "%s is no commit, or is not there", h)
	}
	return c, err
}

// pointer is how a file begins that stands for one kept elsewhere.
const pointer = "version https://git-lfs.github.com/spec/"

// readFile reads one file into set.
func readFile(ctx context.Context, in objects, f node, left *budget, origin xrd.Origin, set *xrd.Set) error {
	n, err := in.EncodedObjectSize(f.hash)
	if err != nil {
		return err
	}
	if err := left.take(n); err != nil {
		return err
	}
	text, err := content(in, f.hash)
	if err != nil {
		return err
	}
	if bytes.HasPrefix(text, []byte(pointer)) {
		set.Documents++
		set.Findings = append(set.Findings, finding.Finding{
			Rule: xrd.RuleSyntax, Severity: finding.Error, File: origin.File,
			Message: "cannot read the document: it is a pointer of Git LFS, and what it stands for is not in the repository",
			Hint:    "keep definitions out of Git LFS",
		})
		return nil
	}
	return set.Read(reader{ctx, bytes.NewReader(text)}, origin)
}

// content returns what is in a file.
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

// unreadable is an object that is missing or broken.
func unreadable(at string, err error) error {
	return wrong("the repository may be broken, or a clone that was made without all of it", "%q cannot be read: %w", readablePath(at), err)
}
