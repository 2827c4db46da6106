import { texts } from "../text";

// Example is an example definition.
export type Example = { name: string; text: string };

const database = `# Type or paste your own definition. The preview updates
# as you type.
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
                  description: Database engine.
                  enum: [postgresql, mysql]
                  default: postgresql
                storageGB:
                  type: integer
                  description: Disk size. It can be increased later, but not reduced.
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

const mistakes = `# This definition has several errors. See Findings.
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

// examples are the examples of the menu. The first is the default.
export const examples: readonly [Example, ...Example[]] = [
  { name: texts.playground.exampleNames.database, text: database },
  { name: texts.playground.exampleNames.mistakes, text: mistakes },
];
