package apiserver

import (
	"fmt"
	"strings"
)

// CRD returns the manifest of a CustomResourceDefinition with the version v1, whose
// objects may have any fields. scope is Namespaced or Cluster.
func CRD(group, kind, plural, scope string) string {
	return fmt.Sprintf(`---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[3]s.%[1]s}
spec:
  group: %[1]s
  scope: %[4]s
  names: {kind: %[2]s, plural: %[3]s, singular: %[5]s, listKind: %[2]sList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`, group, kind, plural, scope, strings.ToLower(kind))
}
