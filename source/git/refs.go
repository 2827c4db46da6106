package git

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// refKind is what a name names.
type refKind uint8

const (
	branchRef refKind = iota
	tagRef
	commitRef
	// otherRef is a name outside refs/heads and refs/tags.
	otherRef
)

// String returns the word for it.
func (k refKind) String() string { return [...]string{"branch", "tag", "commit", "ref"}[k] }

// version returns what one host writes before the name.
func (k refKind) version() string { return [...]string{"GB", "GT", "GC", "GB"}[k] }

// target is what Options.Ref names.
type target struct {
	kind refKind
	// name is the short name, or the commit.
	name string
	// full is the name as the server knows it, empty for a commit.
	full string
	// want is what it points at: a commit, or an annotated tag.
	want plumbing.Hash
	// digits are the first of a commit that is still to be found.
	digits string
}

// refs are the names of a repository.
type refs struct {
	// at is what they point at, by full name.
	at map[string]plumbing.Hash
	// head is what HEAD points at, and branch the branch it means, if any.
	head   plumbing.Hash
	branch string
}

const (
	branches = "refs/heads/"
	tags     = "refs/tags/"
)

var (
	hashPattern   = regexp.MustCompile(`^[0-9a-fA-F]{40}$`)
	digitsPattern = regexp.MustCompile(`^[0-9a-fA-F]{4,39}$`)
)

// isHash reports whether ref is a whole commit.
func isHash(ref string) bool { return hashPattern.MatchString(ref) }

// resolve finds what ref names.
func (r *refs) resolve(ref string) (target, error) {
	if isHash(ref) {
		h := plumbing.NewHash(ref)
		return target{kind: commitRef, name: h.String(), want: h}, nil
	}
	if ref == "" || ref == "HEAD" {
		return r.first()
	}
	for _, full := range []string{ref, branches + ref, tags + ref} {
		h, ok := r.at[full]
		if !ok || !strings.HasPrefix(full, "refs/") {
			continue
		}
		t := target{kind: otherRef, name: full, full: full, want: h}
		if name, ok := strings.CutPrefix(full, branches); ok {
			t.kind, t.name = branchRef, name
		}
		if name, ok := strings.CutPrefix(full, tags); ok {
			t.kind, t.name = tagRef, name
		}
		return t, nil
	}
	if digitsPattern.MatchString(ref) {
		return target{digits: strings.ToLower(ref)}, nil
	}
	return target{}, r.missing(ref)
}

// first returns what HEAD points at.
func (r *refs) first() (target, error) {
	switch {
	case len(r.at) == 0 && r.head.IsZero():
		return target{}, errEmpty
	case r.head.IsZero() && r.branch != "":
		return target{}, wrong(r.some(), "its HEAD means the branch %q, which does not exist", strings.TrimPrefix(r.branch, branches))
	case r.head.IsZero():
		return target{}, wrong(r.some(), "its HEAD means no branch that exists")
	}
	if name, ok := strings.CutPrefix(r.branch, branches); ok {
		return target{kind: branchRef, name: name, full: r.branch, want: r.head}, nil
	}
	return target{kind: commitRef, name: r.head.String(), want: r.head}, nil
}

var errEmpty = wrong("commit something first, or check the address", "it has no commits yet")

func (r *refs) missing(ref string) error {
	if len(r.at) == 0 {
		return errEmpty
	}
	return wrong(r.some(), "it has no branch, tag or commit %q", ref)
}

// shownRefs is how many names a hint gives.
const shownRefs = 8

// some names some branches and tags, as a hint.
func (r *refs) some() string {
	var names, later []string
	for full := range r.at {
		if name, ok := strings.CutPrefix(full, branches); ok {
			names = append(names, name)
		}
		if name, ok := strings.CutPrefix(full, tags); ok {
			later = append(later, name)
		}
	}
	slices.Sort(names)
	slices.Sort(later)
	names = append(names, later...)
	if len(names) == 0 {
		return "it has neither branches nor tags; name a commit"
	}
	more := ""
	if rest := len(names) - shownRefs; rest > 0 {
		names, more = names[:shownRefs], fmt.Sprintf(", and %d more", rest)
	}
	return "there are " + strings.Join(names, ", ") + more
}
