package location

import (
	"context"
	"crypto/sha256"
)

// Memo contains the hashes of the files and pages of a location as they were read, but
// not their content.
type Memo struct{ entries []entry }

// entry is one address of a location.
type entry struct {
	typ, target string
	// etag and modified are the validators that the server sent.
	etag, modified string
	// sum is the hash of the page, or of the files and their names.
	sum [sha256.Size]byte
}

// same reports whether nothing has changed. If that cannot be determined, the following
// read reports why.
func (r *Reader) same(ctx context.Context, t Target) bool {
	files := r.scopeOf(t)
	for i := range t.Since.entries {
		e := &t.Since.entries[i]
		if e.typ == TypeFile && !r.sameFiles(ctx, files, e) || e.typ == TypeURL && !r.samePage(ctx, e) {
			return false
		}
	}
	return true
}

func (r *Reader) sameFiles(ctx context.Context, files scope, e *entry) bool {
	f, p := files.open(ctx, e.target)
	if p != nil {
		return false
	}
	defer f.close()
	sum, err := f.sum(ctx, r.opts.Config.MaxSize)
	return err == nil && sum == e.sum
}

func (r *Reader) samePage(ctx context.Context, e *entry) bool {
	u, p := parseURL(e.target)
	if p != nil {
		return false
	}
	now, p := r.fetch(ctx, u, e)
	return p == nil && (now.same || sha256.Sum256(now.body) == e.sum)
}
