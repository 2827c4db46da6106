package engine

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine/form"
	"example.dev/ingestor/words"
)

// delivery sets the repository and path that a form offers for change requests. Unusable
// values are reported and left for the form to ask.
func (t *transformation) delivery(o *form.Options) {
	const repo, path = words.AnnotationGitOpsRepo, words.AnnotationGitOpsPath
	given := t.def.Annotations[repo]
	switch usable, wrong := checkRepository(given); {
	case strings.TrimSpace(given) == "":
		t.noRepository()
	case wrong != "":
		t.noteDelivery(repo, wrong, usable, hintRepository)
		if usable {
			o.Repository = given
		}
	default:
		o.Repository = given
	}
	if shown := withoutUser(o.Repository); shown != "" {
		t.source("gitops-repo", shown, FromAnnotation, t.def.Words.Out(words.Key, repo))
	}
	annotations := t.def.Annotations
	if given := annotations[path]; given != "" && !isFolder(given) {
		t.noteDelivery(path, "is not a path in a repository", false, hintPath)
		annotations = nil
	}
	o.Path = t.value("gitops-path", annotations, path, "", "")
}

// The hints of findings about delivery.
const (
	hintRepository = "write https://host/owner/name"
	hintPath       = "write a path from the root of the repository, with slashes, and without .. and .git"
	hintBranch     = "write a branch name, such as main"
)

// noRepository reports that no repository for change requests is configured.
func (t *transformation) noRepository() {
	t.note(RuleNoRepository, firstPlace(t.def.Node.Get("metadata", "annotations"), t.def.Node.Get("metadata"), t.def.Node),
		"no repository is set for change requests, so the form asks for it",
		"set annotation "+t.def.Words.Out(words.Key, words.AnnotationGitOpsRepo))
}

// noteDelivery reports an annotation about delivery. It omits the value: an address may
// contain a password.
func (t *transformation) noteDelivery(annotation, wrong string, usable bool, hint string) {
	key := t.def.Words.Out(words.Key, annotation)
	message := "annotation " + key + " " + wrong
	if !usable {
		message += " and is ignored"
	}
	t.note(RuleDelivery, annotationPos(t.def.Node, key), message, hint)
}

// noteValue reports a delivery value of a template folder or of its options.
func (t *transformation) noteValue(key, wrong, hint string) {
	t.note(RuleDelivery, tree.Pos{}, "value gitops."+key+" of the templates "+wrong+" and is ignored", hint)
}

var (
	repositoryPart = regexp.MustCompile(`^[A-Za-z0-9_.~+][A-Za-z0-9_.~+-]*$`)
	hostPart       = regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$`)
)

// checkRepository returns what is wrong with the address of a repository, and whether
// the address is usable anyway, because the form can ask for the rest.
func checkRepository(address string) (usable bool, wrong string) {
	host, name := form.SplitRepository(address)
	parts := strings.Split(name, "/")
	odd := func(part string) bool { return !repositoryPart.MatchString(part) || strings.Trim(part, ".") == "" }
	whole := strings.HasSuffix(strings.Trim(strings.TrimSpace(address), "/"), ".git")
	switch {
	case host != "" && !hostPart.MatchString(host):
		return false, "has no valid host and repository"
	case name == "":
		return false, "has no repository"
	case slices.ContainsFunc(parts, odd):
		return false, "is not a repository URL"
	case len(parts) == 1 && host == "":
		return false, "lacks the host and the owner or name of the repository"
	case len(parts) == 1 && !whole:
		// A plain Git server may have repositories without an owner.
		return false, "lacks the owner or the name of the repository"
	case host == "":
		return true, "has no host, so the form asks for it"
	}
	return true, ""
}

// isFolder reports whether a path can be the path of a folder in a repository.
func isFolder(path string) bool {
	path = strings.Trim(strings.TrimPrefix(strings.TrimSpace(path), "./"), "/")
	if path == "" || path == "." {
		return true
	}
	if strings.ContainsAny(path, `\:`) || strings.ContainsFunc(path, func(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar }) {
		return false
	}
	return !slices.ContainsFunc(strings.Split(path, "/"), func(part string) bool {
		low := strings.ToLower(strings.TrimRight(part, ". "))
		return low == "" || low == ".git" || low == "git~1"
	})
}

// isBranch reports whether name is a valid branch name.
func isBranch(name string) bool {
	if name == "" || name == "@" || strings.HasPrefix(name, "-") || strings.HasSuffix(name, ".") || strings.Contains(name, "..") || strings.Contains(name, "@{") {
		return false
	}
	if strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`~^:?*[\`, r) }) {
		return false
	}
	return !slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool {
		return part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock")
	})
}
