package git

import (
	"bytes"
	"context"
	"errors"

	nodes "example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/git/remote"
	"example.dev/ingestor/xrd"
)

// Walk hands out what is in the files, in the order of their paths, and holds no
// more than one file at a time beside what Git keeps of the repository. Records
// know the repository, the branch, tag or commit that was asked for, and the
// commit it led to.
func (s *Source) Walk(ctx context.Context, yield func(xrd.Found) bool) error {
	enough := false
	budget := nodes.NewBudget(maxDocuments)
	err := s.readAll(ctx, func(ctx context.Context, d document) error {
		err := d.each(ctx, budget, func(f xrd.Found) bool {
			// A file may hold records, which say themselves where they are from.
			if f.Definition != nil && f.Definition.Origin == d.origin {
				meta := f.Record.Metadata
				meta["repository"], meta["ref"], meta["commit"] = s.Repository(), d.ref, d.commit
			}
			enough = !yield(f)
			return !enough
		})
		if enough {
			return errEnough
		}
		return err
	})
	if enough {
		return nil
	}
	return err
}

// errEnough ends a walk that nobody wants more of.
var errEnough = errors.New("enough was read")

// maxDocuments is how many documents, empty ones included, all files of a
// repository may have.
const maxDocuments = 250_000

// isOver reports whether err says that there are too many documents, so that
// nothing more is read.
func isOver(err error) bool {
	_, over := errors.AsType[*nodes.Error](err)
	return over
}

// over gives the error of reading a file the file's name if there are too many
// documents.
func (d document) over(err error) error {
	if isOver(err) {
		return wrong("name the folder the definitions are in", "%s: %w", d.origin.File, err)
	}
	return err
}

// each hands out what is in a file.
func (d document) each(ctx context.Context, budget *nodes.Budget, yield func(xrd.Found) bool) error {
	if bad := d.pointer(); bad != nil {
		yield(xrd.Found{Finding: bad})
		return nil
	}
	return d.over(xrd.EachWithin(remote.Reader{Ctx: ctx, ReadSeeker: bytes.NewReader(d.text)}, d.origin, budget, yield))
}

// readAll calls take for each file, and notes the commit if all could be read.
func (s *Source) readAll(ctx context.Context, take func(context.Context, document) error) error {
	return s.open(ctx, func(ctx context.Context, r *remote.Repository) error {
		commit, err := s.read(ctx, r, take)
		if err == nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.commit = commit
		}
		return err
	})
}
