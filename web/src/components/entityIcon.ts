import { specText } from "../api/entity";
import type { EntityPart } from "../api/types";
import type { IconName } from "./Icon";

const kinds: Record<string, IconName> = {
  api: "api",
  component: "component",
  domain: "domain",
  group: "group",
  location: "location",
  resource: "resource",
  system: "system",
  template: "template",
  user: "user",
};

// Types that the ingestors give to entities of Crossplane.
const types: Record<string, IconName> = { "crossplane-xrd": "definition", "crossplane-composition": "composition", composition: "composition", xrd: "definition" };

// Words that say what a resource is. The first match wins; short words match as whole words only.
const words: [IconName, RegExp][] = [
  ["cache", /cache|redis|valkey/],
  ["database", /database|postgres|mysql|mariadb|mongo|dynamo|cosmosdb|spanner|firestore|warehouse|bigquery|snowflake|cassandra|\b(x?db|x?sql|x?rds|aurora)\b|sqlinstance|dbinstance/],
  ["queue", /queue|pubsub|kafka|rabbit|kinesis|servicebus|eventhub|eventbus|\b(topics?|sqs|sns|nats|mq|streams?)\b/],
  ["bucket", /bucket|objectstor|\b(s3|gcs|blob)\b|storageaccount/],
  ["dns", /\b(x?dns|zones?|records?|recordsets?)\b|dnszone|dnsrecord|hostedzone/],
  ["network", /network|subnet|loadbalancer|firewall|gateway|ingress|\b(x?vpcs?|vnets?|routes?|peerings?|cdn)\b|routetable/],
  ["cluster", /cluster|kubernetes|nodepool|nodegroup|\b(x?eks|x?gke|x?aks|k8s)\b/],
  ["certificate", /certificate|\b(certs?|tls|acme)\b/],
  ["lambda", /lambda|\bfunctions?\b|cloudrun/],
  ["identity", /\b(x?iam|roles?|polic(y|ies)|accounts?|users?|serviceaccounts?|permissions?|tenants?)\b|iamrole|iamuser|iampolicy/],
  ["secret", /secret|vault|password|\b(kms|keys?|tokens?)\b/],
  ["repository", /repositor|\b(x?git|repos?|registry|registries)\b/],
  ["monitor", /monitor|alert|dashboard|grafana|prometheus|observab|logging|metric/],
  ["volume", /\b(volumes?|disks?|filesystems?|efs|nfs|pvcs?)\b|filestore/],
  ["machine", /instance|machine|compute|\b(x?vms?|ec2|servers?)\b/],
  ["app", /\b(x?apps?|applications?|deployments?|websites?|services?)\b|webapp/],
];

// iconOf returns the icon of an entity: by what it is, if its type, title, name or else its tags tell; by its kind otherwise.
export function iconOf(entity: EntityPart): IconName {
  const kind = (entity.kind ?? "").toLowerCase();
  const type = specText(entity, "type").toLowerCase();
  const byType = types[type];
  if (byType) {
    return byType;
  }
  if (kind === "resource" || kind === "template" || kind === "component") {
    // XPostgreSQLInstance is one word; x-postgresql-instance and buckets.storage.example.org are several.
    // Tags say more than that: a certificate may have the tag network.
    for (const texts of [[type, entity.metadata?.title, entity.metadata?.name], entity.metadata?.tags ?? []]) {
      const text = texts.join(" ").toLowerCase();
      const found = words.find(([, pattern]) => pattern.test(text));
      if (found) {
        return found[0];
      }
    }
  }
  return kinds[kind] ?? "unknown";
}
