package xrd

import (
	"strings"

	"example.dev/ingestor/document/tree"
)

// The names of Crossplane's field managers: its bookkeeping, and its apply of composed
// objects, which is followed by a hash.
const (
	managerCrossplane = "crossplane"
	managerPrefix     = "apiextensions.crossplane.io/"
	managerComposed   = managerPrefix + "composed"
)

// Written returns the API version in which the spec of a composite or claim was last
// written: an object is stored and read in one version, however it was sent. It reports
// true if a Composition writes the object, because it is part of another composite. The
// version is empty if the managed fields do not say it.
func Written(metadata *tree.Node) (version string, composed bool) {
	var own, parent, at string
	for _, m := range metadata.Get("managedFields").List() {
		_, v, _ := strings.Cut(m.Get("apiVersion").Str(), "/")
		manager := m.Get("manager").Str()
		switch {
		case m.Get("subresource").Str() != "" || !m.Get("fieldsV1").Has("f:spec"):
		case strings.HasPrefix(manager, managerComposed):
			parent = v
		case manager == managerCrossplane || strings.HasPrefix(manager, managerPrefix):
		case own == "" || m.Get("time").Str() >= at:
			own, at = v, m.Get("time").Str()
		}
	}
	if own == "" {
		return parent, parent != ""
	}
	return own, false
}

// OfClaim reports whether an object is the composite of a claim, by its labels.
func OfClaim(metadata *tree.Node) bool {
	return metadata.Get("labels", "crossplane.io/claim-name").Str() != ""
}
