package live

import (
	"regexp"
	"strings"

	"example.dev/ingestor/xrd/composed"
)

var (
	goodVersion   = regexp.MustCompile(`^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
	goodKind      = regexp.MustCompile(`^[A-Za-z][-A-Za-z0-9]{0,62}$`)
	goodNamespace = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
)

// longestName is the length limit of an object's name.
const longestName = 253

// malformed returns the field of a reference that no object has; empty if there is none.
// The author of a composite writes its references: a name such as web/proxy would make the
// API server pass the request on to a service, because it unescapes a path before it reads
// it.
func malformed(ref composed.Ref) string {
	switch {
	case !goodVersion.MatchString(ref.APIVersion):
		return "apiVersion"
	case !goodKind.MatchString(ref.Kind):
		return "kind"
	case ref.Namespace != "" && !goodNamespace.MatchString(ref.Namespace):
		return "namespace"
	case ref.Name == "." || ref.Name == ".." || len(ref.Name) > longestName || strings.ContainsAny(ref.Name, "/%"):
		return "name"
	}
	return ""
}

// shortened returns a malformed reference with fields that are short enough to be shown.
func shortened(ref composed.Ref) composed.Ref {
	short := func(s string) string {
		if len(s) <= longestName {
			return s
		}
		return strings.ToValidUTF8(s[:longestName], "") + "…"
	}
	return composed.Ref{APIVersion: short(ref.APIVersion), Kind: short(ref.Kind), Namespace: short(ref.Namespace), Name: short(ref.Name)}
}
