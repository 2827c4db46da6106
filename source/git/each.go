package git

import (
	"bytes"
	"context"
	"errors"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/internal/git/remote"
	"example.dev/ingestor/xrd"
)

// Walk passes the contents of the files to yield, in the order of their paths, and
// holds no more than one file at a time in addition to the fetched repository.
// Records contain the repository, the requested branch, tag or commit, and the commit
// it resolved to.
func (s *Source) Walk(ctx context.Context, yield func(xrd.Found) bool) error {
	enough := false
	budget := parser.NewBudget(maxDocuments)
	err := s.readAll(ctx, func(ctx context.Context, d document) error {
		err := d.each(ctx, budget, func(f xrd.Found) bool {
			// A file may contain records, which have their own origin.
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

// errEnough ends a walk when yield wants no more.
var errEnough = errors.New("stopped reading")

// maxDocuments is the maximum number of documents, including empty ones, in all files
// of a repository.
const maxDocuments = 250_000

// isOver reports whether err says that there are too many documents, so that reading
// stops.
func isOver(err error) bool {
	_, over := errors.AsType[*parser.Error](err)
	return over
}

// over adds the name of the file to an error about too many documents.
func (d document) over(err error) error {
	if isOver(err) {
		return wrong("set the path to the folder with the definitions", "%s: %w", d.origin.File, err)
	}
	return err
}

// each passes the contents of a file to yield.
func (d document) each(ctx context.Context, budget *parser.Budget, yield func(xrd.Found) bool) error {
	if bad := d.pointer(); bad != nil {
		yield(xrd.Found{Finding: bad})
		return nil
	}
	return d.over(xrd.EachWithin(remote.Reader{Ctx: ctx, ReadSeeker: bytes.NewReader(d.text)}, d.origin, budget, yield))
}

// readAll calls take for each file, and records the commit if all could be read.
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
