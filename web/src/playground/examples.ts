// Example is a text to begin with.
export type Example = { name: string; text: string };

const database = `# Type or paste a definition of your own. What the portal
# would make of it is shown as you type.
apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata:
  name: databases.platform.example.org
  labels:
    openportal.dev/ingest: "true"
  annotations:
    backstage.io/template-title: Database
    backstage.io/template-tags: database,sql
spec:
  scope: Namespaced
  group: platform.example.org
  names:
    kind: Database
    plural: databases
  versions:
    - name: v1
      served: true
      referenceable: true
      schema:
        openAPIV3Schema:
          type: object
          description: A database with backups.
          properties:
            spec:
              type: object
              required: [engine, storageGB]
              properties:
                engine:
                  type: string
                  description: Which database it is.
                  enum: [postgresql, mysql]
                  default: postgresql
                storageGB:
                  type: integer
                  description: Size of the disk. It can be made larger later, never smaller.
                  minimum: 10
                  maximum: 4096
                  default: 20
                highlyAvailable:
                  type: boolean
                  description: Whether a second instance stands by.
                  default: false
                backup:
                  type: object
                  description: When backups are made, and how long they are kept.
                  properties:
                    schedule:
                      type: string
                      description: Cron expression in UTC.
                      default: 0 3 * * *
                    retentionDays:
                      type: integer
                      description: Days after which a backup is removed.
                      minimum: 1
                      default: 14
                labels:
                  type: object
                  description: Labels of the database.
                  additionalProperties:
                    type: string
`;

const mistakes = `# Something is wrong here in several places: look at the findings.
apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata:
  name: queues.messaging.example.org
spec:
  scope: Namespaced
  group: messaging.example.org
  names:
    kind: Queue
    plural: queues
  versions:
    - name: v1
      served: true
      referenceable: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              required: [size, color]
              properties:
                size:
                  type: strin
                  enum: [small, large]
                  default: medium
                retries:
                  type: integer
                  minimum: 5
                  maximum: 3
`;

// examples are what can be looked at without a definition of one's own. The first is shown at first.
export const examples: readonly [Example, ...Example[]] = [
  { name: "A database", text: database },
  { name: "With mistakes", text: mistakes },
];
