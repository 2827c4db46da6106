package crossplane

import _ "embed" // The manifests are files, so that other tools can apply them too.

// Definitions are XRDs, which the portal ingests, with their Compositions.
//
//   - Website composes two ConfigMaps; without a title one of them is left out.
//   - Quota composes a ResourceQuota, which the API server refuses if the number
//     of pods is negative.
//   - Shop composes a Website and a Quota.
//   - Backup composes an object whose kind the cluster does not serve.
//
//go:embed manifests/definitions.yaml
var Definitions string

// Resources are composites of Definitions, in the namespace shops. The Websites
// docs and untitled and the Shop books become ready; the Quota negative, the Shop
// records and the Backup nightly do not. Three pods correct the Quota and the
// Shop.
//
//go:embed manifests/resources.yaml
var Resources string
