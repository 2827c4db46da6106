package git

import (
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/storer"

	"example.dev/ingestor/internal/git/remote"
)

// target is what Options.Ref resolves to.
type target struct {
	// kind is branch, tag, commit, or ref for any other reference.
	kind string
	// name is the short name, or the commit.
	name string
	// full is the full reference name, HEAD for a commit.
	full plumbing.ReferenceName
	// want is the hash it points to: of a commit, or of an annotated tag.
	want plumbing.Hash
}

func newTarget(full plumbing.ReferenceName, want plumbing.Hash) target {
	switch {
	case full == plumbing.HEAD:
		return target{"commit", want.String(), full, want}
	case full.IsBranch():
		return target{"branch", full.Short(), full, want}
	case full.IsTag():
		return target{"tag", full.Short(), full, want}
	}
	return target{"ref", full.String(), full, want}
}

// resolve resolves ref.
func resolve(in storer.ReferenceStorer, ref string) (target, error) {
	if plumbing.IsHash(ref) {
		return newTarget(plumbing.HEAD, plumbing.NewHash(ref)), nil
	}
	if ref == "" || ref == plumbing.HEAD.String() {
		r, err := storer.ResolveReference(in, plumbing.HEAD)
		if err != nil {
			return target{}, remote.Missing(in, "no default branch: HEAD does not refer to an existing branch")
		}
		return newTarget(r.Name(), r.Hash()), nil
	}
	for _, prefix := range []string{"", "refs/heads/", "refs/tags/"} {
		full := plumbing.ReferenceName(prefix + ref)
		if r, err := storer.ResolveReference(in, full); err == nil && strings.HasPrefix(full.String(), "refs/") {
			return newTarget(full, r.Hash()), nil
		}
	}
	return target{}, remote.Missing(in, fmt.Sprintf("no branch, tag or commit %q", ref))
}
