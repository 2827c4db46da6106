package input

import "example.dev/ingestor/action"

var applyExamples = []action.Example{
	{Description: "Apply a resource and wait until it is ready", Example: `steps:
  - id: apply
    name: Apply
    action: cluster:apply
    input:
      cluster: production
      wait: {minutes: 5}
      manifest:
        apiVersion: platform.example.org/v1alpha1
        kind: Database
        metadata:
          name: ${{ parameters.name }}
          namespace: ${{ parameters.namespace }}
        spec:
          parameters:
            storageGB: ${{ parameters.storageGB }}
`},
	{Description: "Change a field of a resource that is there, and leave the others as they are", Example: `steps:
  - id: apply
    name: Update
    action: cluster:apply
    input:
      update: true
      manifest:
        apiVersion: platform.example.org/v1alpha1
        kind: Database
        metadata:
          name: ${{ parameters.name }}
          namespace: ${{ parameters.namespace }}
        spec:
          parameters:
            storageGB: ${{ parameters.storageGB }}
`},
	{Description: "Apply several documents of YAML", Example: `steps:
  - id: apply
    name: Apply
    action: cluster:apply
    input:
      namespace: shop
      manifest: |
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: colours}
        data: {sky: blue}
        ---
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: shapes}
        data: {sun: round}
`},
}

var deleteExamples = []action.Example{
	{Description: "Delete a resource and wait until it is gone", Example: `steps:
  - id: delete
    name: Delete
    action: cluster:delete
    input:
      apiVersion: platform.example.org/v1alpha1
      kind: Database
      name: ${{ parameters.name }}
      namespace: ${{ parameters.namespace }}
      wait: true
`},
}
