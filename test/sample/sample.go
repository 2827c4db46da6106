// Package sample generates definitions for tests and benchmarks: each has 61
// leaf fields and about 7 KB, the size of a large real definition.
package sample

import (
	"fmt"
	"strings"
)

// Leaves is the number of leaf fields of a Definition.
const Leaves = 61

// Definition returns the i-th definition as YAML. All have the same shape and
// different names.
func Definition(i int) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `apiVersion: apiextensions.crossplane.io/v1
kind: CompositeResourceDefinition
metadata:
  name: xsamples%[1]d.platform.example.org
  labels:
    openportal.dev/ingest: "true"
  annotations:
    backstage.io/template-title: Sample %[1]d
    backstage.io/template-tags: sample,benchmark
    backstage.io/owner: team-platform
spec:
  group: platform.example.org
  names:
    kind: XSample%[1]d
    plural: xsamples%[1]d
  claimNames:
    kind: Sample%[1]d
    plural: samples%[1]d
  versions:
  - name: v1alpha1
    served: true
    referenceable: true
    schema:
      openAPIV3Schema:
        type: object
        description: A sample of what a platform offers.
        properties:
          spec:
            type: object
            required: [region, size]
            properties:
              region:
                type: string
                description: Region the resource is created in.
                enum: [eu-central-1, eu-west-1, us-east-1]
              size:
                type: string
                description: Size of the resource. Larger ones cost more.
                enum: [small, medium, large]
                default: small
              tags:
                type: object
                description: Tags of the resource.
                additionalProperties:
                  type: string
`, i)
	// 3 leaves above; the rest in groups of four kinds of field.
	leaf := 3
	for group := 0; leaf < Leaves; group++ {
		fmt.Fprintf(&b, `              group%c:
                type: object
                required: [name0]
                properties:
`, 'A'+group)
		for n := 0; n < 10 && leaf < Leaves; n++ {
			leaf++
			switch n % 4 {
			case 0:
				fmt.Fprintf(&b, `                  name%d:
                    type: string
                    description: Name of it.
`, n)
			case 1:
				fmt.Fprintf(&b, `                  count%d: {type: integer, minimum: 0, default: 1}
`, n)
			case 2:
				fmt.Fprintf(&b, `                  enabled%d: {type: boolean, default: false}
`, n)
			case 3:
				fmt.Fprintf(&b, `                  items%d: {type: array, items: {type: string}}
`, n)
			}
		}
	}
	b.WriteString(`          status:
            type: object
            properties:
              endpoint:
                type: string
`)
	return []byte(b.String())
}
