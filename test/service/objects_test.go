package service_test

import (
	"fmt"
	"strings"
)

// group is the API group of the tests' definitions.
const group = "platform.example.org"

// definition returns a definition that variant A ingests, with one field.
func definition(plural, field string) string {
	return labelled(plural, field, "openportal.dev/ingest", "true")
}

// labelled returns a definition with a label.
func labelled(plural, field, label, value string) string {
	kind := "X" + strings.TrimSuffix(plural, "s")
	return fmt.Sprintf(`apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata:
  name: %[1]s.%[2]s
  labels: {%[5]s: %[6]q}
spec:
  scope: Namespaced
  group: %[2]s
  names: {kind: %[3]s, plural: %[1]s}
  versions:
    - name: v1
      served: true
      referenceable: true
      schema:
        openAPIV3Schema:
          type: object
          description: Something of the tests.
          properties:
            spec:
              type: object
              properties:
                %[4]s: {type: string, description: A field.}
            status:
              type: object
              x-kubernetes-preserve-unknown-fields: true
`, plural, group, kind, field, label, value)
}

// composition returns a Composition for a definition.
func composition(name, plural string) string {
	return fmt.Sprintf(`apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: %s}
spec:
  compositeTypeRef: {apiVersion: %s/v1, kind: X%s}
  mode: Pipeline
  pipeline: [{step: one, functionRef: {name: function-one}}]
`, name, group, strings.TrimSuffix(plural, "s"))
}

// composite returns a composite of a definition.
func composite(name, plural string) string {
	return fmt.Sprintf(`apiVersion: %s/v1
kind: X%s
metadata: {name: %s, namespace: default}
spec: {}
`, group, strings.TrimSuffix(plural, "s"), name)
}

// template, api and resource return the references of a definition's entities.
func template(plural string) string { return "template:default/" + plural + "." + group }
func api(plural string) string      { return "api:default/" + plural + "." + group + "-api" }
func resource(plural string) string { return "resource:default/" + plural + "." + group + "-xrd" }

// entities returns the references of all entities of definitions that have no
// Compositions or composites.
func entities(plurals ...string) []string {
	var out []string
	for _, p := range plurals {
		out = append(out, template(p), api(p), resource(p))
	}
	return out
}
